"""Questions over the tables of real files: what is computed, and what is not.

The files are read, split and stored as any others, in a knowledge base on disk. No model is there: a question
that is not computed reaches a grader, which fails the test that expected a computation.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from localcrag.crag.answering.aggregation import compute
from localcrag.crag.answering.unsure_tables import LEFT_OUT, compute_unsure
from localcrag.crag.doubts.sureness import PROBABLE_STRIP
from localcrag.crag.judges.graders import YesNoGrader
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_kinds import first_cell
from localcrag.crag.state import Adapters, ComputedAnswer, PipelineOptions, Query, QuestionState
from localcrag.crag.table_answers.table_questions import recognised
from localcrag.documents import LocalCorpus, LocalFile
from localcrag.events import Computed, Degraded, Event, Graded, answer_of, observed, result_of
from localcrag.filters import parse
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.types import (
    Action,
    Answer,
    Grade,
    Hit,
    IndexedDocument,
    Status,
    Strip,
    StripKind,
    Thresholds,
    Verdict,
)
from tests.documents.builders import Sheet, drawn_pdf, xlsx
from tests.documents.conftest import tokenizer_file
from tests.fakes.llm import ScriptedModel
from tests.fakes.store import HashEmbedder

ISLANDS = """\
Island,Region,Pairs,Area km2,Warden,Counted
Sule Skerry,Orkney,"59,000",0.16,Ann Roe,2023-06-04
Hoy,Orkney,"3,500",143,Ann Roe,2023-06-11
Foula,Shetland,"22,500",12.7,Bo Lind,2022-07-01
Noss,Shetland,"1,200",3.4,Bo Lind,2023-06-20
Fair Isle,Shetland,—,7.7,Bo Lind,2021-05-30
St Kilda,Hebrides,"136,000",8.5,Cy Moor,2022-06-15
Mingulay,Hebrides,"2,600",6.4,Cy Moor,2023-05-28
Total,,"224,800",,,
"""
STAFF = """\
# Harbour office

## Staff

| Name | Role | Office | Salary | Joined |
|------|------|--------|-------:|--------|
| Edda Sorensen | pilot | Noss Bay | €41,000 | 3 May 2019 |
| Ivo Brand | clerk | Noss Bay | €29,500 | 14 January 2021 |
| Mara Oakes | pilot | Cape Pier | €44,250 | 2 March 2015 |
| Ruben Tallis | mechanic | Cape Pier | €35,000 | 30 August 2023 |
| Lea Winter | clerk | Cape Pier | n/a | 1 October 2024 |

The harbour office has a lighthouse with 212 steps. Pilots are on call for twelve hours.
"""
FEES = """\
<html><head><title>Ferry fees</title></head><body><h1>Ferry fees</h1>
<p>Fees hold from May on.</p>
<table><tr><th>Category</th><th>Summer fee</th><th>Winter fee</th><th>Reservation</th></tr>
<tr><td>Foot passenger</td><td>12 EUR</td><td>9 EUR</td><td>no</td></tr>
<tr><td>Motorcycle</td><td>35 EUR</td><td>28 EUR</td><td>no</td></tr>
<tr><td>Car</td><td>60 EUR</td><td>48 EUR</td><td>yes</td></tr>
<tr><td>Lorry</td><td>180 EUR</td><td>150 EUR</td><td>yes</td></tr></table></body></html>
"""
RIVERS = "River,Basin,Length km\nAsk,{0},120\nBrill,{0},85\nCorre,{0},{1}\n"
PROSE = """\
The tallest tower of the country stands in Ellergate and was built in 1931.

Seven islands lie in the bay. Most of the visitors come in June, and the highest count was 340 in one day.
The costs of the bridge have the most influence on the fees.
"""
VISITS = "Visitor,Date,Hours\nAde,05/03/2024,2\nBen,06/04/2024,3\nCara,02/01/2024,4\n"
PARCELS = "Parcel,Weight,Colour\nP-1,300 g,red\nP-2,2 kg,blue\nP-3,1.5 kg,red\n"
RENTALS = "Boat,Customer,Days rented,Rent\nTern,Ade,3,120\nTern,Ben,5,200\nGull,Ade,2,70\nSkua,Cara,4,150\n"


METERS = """\
Flat,Tenant,Cold water m³,Hot water m³,Heating kWh
A-01,Ferreira,41,18,5120
A-02,Nowak,66,31,7480
B-01,Kaplan,38,22,4975
"""
ROOFS = """\
Company,Bid,Guarantee
Dachwerk,"61,400 €",10 years
Alpin,"57,900 €",5 years
Toft,"64,250 €",15 years
"""
LOANS = "Reader,Used,Given\nAde,3,9\nBen,7,2\n"


def _expenses() -> bytes:
    rows: list[list[object]] = [
        ["2024-01-08", "Travel", "Rail", 84.5],
        ["2024-01-19", "Food", "Canteen", 31.2],
        ["2024-02-02", "Travel", "Ferry", 46],
        ["2024-02-14", "Paper", "Nagel", 12.75],
        ["2024-03-05", "Travel", "Rail", 99],
        ["2024-03-21", "Food", "Baker", 18.4],
    ]
    members: list[list[object]] = [["Year", "Members"], [2021, 180], [2022, 195], [2023, 240], [2024, 212]]
    return xlsx({"Expenses": [["Date", "Category", "Payee", "Amount"], *rows], "Members": members})


def _trails() -> bytes:
    from docx import Document

    document = Document()
    document.add_heading("Trails", 1)
    rows = (
        ("Trail", "Length", "Climb", "Dogs", "Difficulty"),
        ("Cliff path", "7.5 km", "310 m", "no", "hard"),
        ("Mill round", "3.2 km", "40 m", "yes", "easy"),
        ("Long ridge", "14.8 km", "760 m", "no", "hard"),
        ("Bay walk", "5.0 km", "15 m", "yes", "easy"),
        ("Moor loop", "9.1 km", "220 m", "yes", "medium"),
    )
    table = document.add_table(rows=0, cols=5)
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _pumps() -> bytes:
    xs, top, pitch = (70, 190, 280, 370, 470), 700.0, 20.0
    rows = (
        ("Pump", "Power", "Weight", "Noise"),
        ("Tarn", "4.1 kW", "58 kg", "41 dB"),
        ("Beck", "6.3 kW", "79 kg", "44 dB"),
        ("Mere", "2.8 kW", "39 kg", "36 dB"),
        ("Force", "9.0 kW", "122 kg", "52 dB"),
    )
    sheet = Sheet().text(70, 780, "Pumps of the season", 20, "Helvetica-Bold")
    sheet.rows([x + 4 for x in xs[:-1]], top, rows, pitch=pitch)
    return drawn_pdf(sheet.grid(xs, [top + 14 - pitch * at for at in range(len(rows) + 1)]))


def _seeds() -> str:
    kinds = ("bean", "pea", "beet")
    lines = (f"Seed {n:03},{kinds[n % 3]},{n * 7 % 501},{1990 + n % 30}" for n in range(1, 241))
    return "Seed,Kind,Grains,Introduced\n" + "\n".join(lines) + "\n"


FILES: dict[str, bytes | str] = {
    "islands.csv": ISLANDS,
    "staff.md": STAFF,
    "fees.html": FEES,
    "accounts.xlsx": _expenses(),
    "trails.docx": _trails(),
    "pumps.pdf": _pumps(),
    "seeds.csv": _seeds(),
    "rivers-north.csv": RIVERS.format("north", 60),
    "rivers-south.csv": RIVERS.format("south", 64),
    "bay.txt": PROSE,
    "visits.csv": VISITS,
    "parcels.csv": PARCELS,
    "rentals.csv": RENTALS,
    "meters.csv": METERS,
    "roofs.csv": ROOFS,
    "loans.csv": LOANS,
    "incidents.jsonl": '{"ticket": "L-1", "cause": "fuse", "minutes": 145}\n'
    '{"ticket": "L-2", "cause": "cable", "minutes": 25}\n{"ticket": "L-3", "cause": "fuse", "minutes": 70}\n',
}
GRAINS = [n * 7 % 501 for n in range(1, 241)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> LanceStore:
    folder, embedder = tmp_path_factory.mktemp("files"), HashEmbedder()
    store = KnowledgeBases(tmp_path_factory.mktemp("home")).create("kb", embedder.name, embedder.dimension)
    corpus = LocalCorpus(tokenizer_file())
    for name, data in FILES.items():
        (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    batch = []
    for found in corpus.discover([str(folder)]):
        assert isinstance(found, LocalFile)
        document = corpus.read(found)
        passages = corpus.split(document)
        entry = IndexedDocument(found.source, document.hash, found.size, found.mtime_ns, len(passages))
        batch.append((document, entry, passages, embedder.encode([p.searchable for p in passages])))
    store.replace(batch)
    return store


@dataclass
class _Asker:
    store: LanceStore
    tables: bool = True

    def events(self, question: str, filter: str | None = None) -> list[Event]:
        model = ScriptedModel(choose=lambda *_: [0.05, 0.95])
        adapters = Adapters(
            store=self.store,
            embedder=HashEmbedder(),
            model=model,
            grader=YesNoGrader(model, Thresholds(0.7, 0.3)),
            split=lambda document: [],
        )
        options = PipelineOptions(
            passages=200, strips=StripKind.NONE, corrections=(), divide=False, tables=self.tables
        )
        query = Query(question, filter=parse(filter) if filter else None)
        return list(Pipeline(adapters, options).run(query))

    def state(self, question: str) -> QuestionState:
        """The state of a question in which every hit is among the best."""
        model = ScriptedModel()
        grader = YesNoGrader(model, Thresholds(0.7, 0.3))
        adapters = Adapters(self.store, HashEmbedder(), model, grader, split=lambda document: [])
        return QuestionState(adapters, PipelineOptions(passages=10_000), question, question)

    def answer(self, question: str, filter: str | None = None) -> Answer:
        return answer_of(self.events(question, filter))


@pytest.fixture
def asker(store: LanceStore) -> _Asker:
    return _Asker(store)


COMPUTED: Sequence[tuple[str, str, str]] = [
    # verbs that say no more than "has", and units of volume and energy
    ("Who used the most hot water?", "31", "Nowak has the most: Hot water m³ 31 (A-02) [1]"),
    ("Which flat needs the most heating?", "7480", "A-02 has the most"),
    ("Which company offers the longest guarantee?", "15 years", "Toft has the longest"),
    # counts
    ("How many islands are there?", "7", "Island: Sule Skerry [1]"),
    ("How many islands are there in Shetland?", "3", "Foula [1], Noss [2], Fair Isle [3]"),
    ("How many islands have more than 3,000 pairs?", "4", "where Pairs more than 3,000"),
    ("How many islands have at least 22,500 pairs?", "3", "Sule Skerry [1], Foula [2], St Kilda [3]"),
    ("How many islands in Shetland have fewer than 2000 pairs?", "1", "Region = Shetland"),
    ("How many regions are there?", "3", "Region: Orkney [1], Shetland [2], Hebrides [3]"),
    ("How many different wardens are listed?", "3", "Ann Roe [1]"),
    ("How many islands does Bo Lind warden?", "3", "Warden = Bo Lind"),
    ("How many islands were counted in 2023?", "4", "Counted in 2023"),
    ("How many islands were counted before 2022?", "1", "Fair Isle [1]"),
    ("How many islands were counted in June 2023?", "3", "Counted in June 2023"),
    ("How many categories have a reservation?", "2", "Car [1], Lorry [2]"),
    ("How many trails are longer than 5 km?", "3", "Cliff path [1], Long ridge [2], Moor loop [3]"),
    ("How many easy trails are there?", "2", "Mill round [1], Bay walk [2]"),
    ("How many pilots are there in the harbour office?", "", ""),
    ("How many seeds are there?", "240", "and 232 more"),
    ("How many seeds of the kind bean are there?", "80", "Kind = bean"),
    ("How many seeds have over 400 grains?", str(sum(g > 400 for g in GRAINS)), "Grains more than 400"),
    ("How many incidents are there?", "3", "L-1 [1], L-2 [2], L-3 [3]"),
    ("How many islands are not in Orkney?", "5", "Region is not Orkney"),
    # lists
    (
        "Which islands have more than 10,000 pairs?",
        "Sule Skerry; Foula; St Kilda",
        "Island: Sule Skerry (59,000) [1]",
    ),
    # the most and the least
    ("Which island has the most pairs?", "136,000", "St Kilda has the most: Pairs 136,000 [1]"),
    (
        "Which island has the second most pairs?",
        "59,000",
        "Sule Skerry has the second most: Pairs 59,000 [1]",
    ),
    ("Which island has the fewest pairs?", "1,200", "Noss has the fewest: Pairs 1,200 [1]"),
    ("Which island in Orkney has the most pairs?", "59,000", "Sule Skerry has the most: Pairs 59,000 [1]"),
    ("Which island is the largest?", "143", "Hoy is the largest: Area km2 143 [1]"),
    ("Which is the smallest island?", "0.16", "Sule Skerry"),
    ("What is the highest number of pairs?", "136,000", "St Kilda"),
    ("Who has the highest salary?", "€44,250", "Mara Oakes has the highest: Salary €44,250 [1]"),
    ("Which clerk has the highest salary?", "", ""),
    ("Who joined most recently?", "1 October 2024", "Lea Winter"),
    ("Who joined first?", "2 March 2015", "Mara Oakes"),
    (
        "Which category has the highest summer fee?",
        "180 EUR",
        "Lorry has the highest: Summer fee 180 EUR [1]",
    ),
    ("Which category has the cheapest winter fee?", "9 EUR", "Foot passenger has the cheapest"),
    ("Which trail is the longest?", "14.8 km", "Long ridge is the longest: Length 14.8 km [1]"),
    ("What is the shortest trail?", "3.2 km", "Mill round is the shortest"),
    ("Which easy trail is the longest?", "5.0 km", "Bay walk is the longest"),
    ("Which trail has the least climb?", "15 m", "Bay walk"),
    ("What are the three longest trails?", "14.8 km; 9.1 km; 7.5 km", "Long ridge: Length 14.8 km [1]"),
    ("Which pump is the heaviest?", "122 kg", "Force is the heaviest: Weight 122 kg [1]"),
    ("Which pump is the quietest?", "", ""),
    ("Which pump has the lowest noise?", "36 dB", "Mere has the lowest: Noise 36 dB [1]"),
    ("Which seed has the most grains?", str(max(GRAINS)), f"Grains {max(GRAINS)}"),
    ("Which incident has the most minutes?", "145", "L-1 (fuse) has the most"),
    ("Which year had the most members?", "240", "Year 2023 has the most: Members 240 [1]"),
    ("Which boat had the longest rent?", "", ""),
    # totals and averages
    ("What is the total number of pairs?", "224,800", "1 row without a value of Pairs, 1 row of totals"),
    ("What is the total number of pairs in Orkney?", "62,500", "Region = Orkney"),
    ("How many pairs are there in total?", "224,800", "column Pairs"),
    ("How much did we spend on travel?", "229.5", "Category = Travel"),
    ("What is the total amount for food?", "49.6", "Category = Food"),
    ("What is the total amount in February 2024?", "58.75", "Date in February 2024"),
    ("How much was spent in total?", "291.85", "column Amount"),
    ("What is the average salary of the pilots?", "", ""),
    ("What is the average salary?", "€37,437.5", "1 row without a value of Salary"),
    ("What is the average length of the hard trails?", "11.15 km", "Difficulty = hard"),
    ("What is the total of the grains?", f"{sum(GRAINS):,}", "column Grains"),
    ("What is the average number of minutes?", "80", "incidents.jsonl"),
]
NOT_COMPUTED = [
    "How many people live in the country with the highest tower?",
    "Which has the most influence on costs?",
    "How many steps does the lighthouse have?",
    "How many hours are pilots on call?",
    "When was the tallest tower built?",
    "What was the highest count of visitors?",
    "Which river is the longest?",
    "How many rivers are there?",
    "How many islands have no warden?",
    "How many islands without pairs are there?",
    "How many islands are there outside of Shetland?",
    "How many islands have a lighthouse?",
    "How many islands in Norway have more than 100 pairs?",
    "How many islands are there in Orkney or Shetland?",
    "Which island has the ninth most pairs?",
    "Which island has more pairs than Hoy?",
    "Which region has the most pairs?",
    "Which warden has the most pairs?",
    "Which region has the most islands?",
    "What is the highest fee?",
    "Which category has the highest fee?",
    "Which category is the cheapest?",
    "What is the average fee per category?",
    "What is the total number of members?",
    "Which visitor came last?",
    "What is the latest date of a visit?",
    "Which parcel is the heaviest?",
    "What is the total weight of the parcels?",
    "Which boat has the highest rent?",
    "How many boats did Ade and Ben rent?",
    "How many pairs are there on Noss?",
    "What is the salary of Mara Oakes?",
    "What is the most important rule of the harbour office?",
    "Why does St Kilda have the most pairs?",
    "How many puffins are there in total?",
    "What share of the pairs is in Orkney?",
    "How many categories are more expensive than a car?",
    "Which island had the most pairs in 1990?",
    "Which island has the most pairs and the largest area?",
    "How many tickets were sold?",
]


@pytest.mark.parametrize(("question", "value", "text"), [row for row in COMPUTED if row[1]])
def test_it_is_computed(asker: _Asker, question: str, value: str, text: str) -> None:
    answer = asker.answer(question)
    assert answer.computed is not None, answer.text
    assert answer.computed.value == value
    assert text in answer.text
    assert (answer.status, answer.action, answer.found) == (Status.ANSWERED, Action.CORRECT, True)
    assert answer.citations and answer.grades == ()
    for citation in answer.citations:
        stored = asker.store.text(_hash(asker.store, citation.source), citation.page, source=citation.source)
        assert stored[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize("question", NOT_COMPUTED)
def test_it_is_not_computed(asker: _Asker, question: str) -> None:
    form = recognised(question)
    sources = {source: entry.hash for source, entry in asker.store.indexed().items()}
    passages = asker.store.passages(sources, limit=1000)
    hits = [Hit(passage, 0.0) for passage in passages[::3] + passages]
    events = form and list(compute(asker.state(question), form, hits))
    assert not events


def test_another_question_goes_its_usual_way(asker: _Asker) -> None:
    for question in ("How many islands have no warden?", "How is the sea?"):
        events = asker.events(question)
        assert not any(isinstance(event, Computed) for event in events)
        assert any(isinstance(event, Graded) for event in events)


def _hash(store: LanceStore, source: str) -> str:
    return store.indexed()[source].hash


def test_no_model_is_asked_and_every_step_is_an_event(asker: _Asker) -> None:
    events = asker.events("Which island has the most pairs?")
    steps = [type(event).__name__ for event in events if type(event).__name__ not in ("Measured", "Delta")]
    assert steps == ["Retrieved", "Computed", "Decided", "Gathered", "Verified", "Finished"]
    answer = answer_of(events)
    assert answer.usage.tokens.evaluated == answer.usage.tokens.generated == 0
    computed = answer.to_dict()["computed"]
    assert isinstance(computed, dict)
    assert Path(computed.pop("source")).name == "islands.csv"
    assert computed == {
        "operation": "highest",
        "column": "Pairs",
        "value": "136,000",
        "conditions": (),
        "rows": 6,
        "table_rows": 8,
        "left_out": ("1 row without a value of Pairs", "1 row of totals"),
        "counted": "row",
        "page": None,
    }


PRESUMED = "How many of the puffin islands of the survey are in Shetland?"


def presumed(state: QuestionState, kept: Sequence[Strip]) -> tuple[ComputedAnswer | None, list[Event]]:
    events: list[Event] = []
    found = result_of(observed(compute_unsure(state, kept), events.append))
    assert found is None or not found[1]
    return found[0] if found else None, events


def test_words_that_no_table_has_are_left_out_if_its_rows_are_not_sure_to_answer(asker: _Asker) -> None:
    source = next(source for source in asker.store.indexed() if source.endswith("islands.csv"))
    (first, *_) = asker.store.passages({source: _hash(asker.store, source)}, limit=10)
    row = replace(strips(first)[2], score=PROBABLE_STRIP - 0.01)
    state = asker.state(PRESUMED)
    found, (computed, told) = presumed(state, [row])
    assert found is not None and found.computation.value == "3"
    assert isinstance(computed, Computed) and isinstance(told, Degraded)
    assert told.reason == LEFT_OUT.format(words="puffin, survey")
    assert presumed(asker.state(PRESUMED), [replace(row, score=PROBABLE_STRIP)])[0] is not None
    named = f"How many {first_cell(row)[1]} islands of the survey are in Shetland?"
    assert presumed(asker.state(named), [replace(row, score=PROBABLE_STRIP)])[0] is None
    assert presumed(asker.state("How is the sea?"), [row])[0] is None
    switched_off = replace(asker.state(PRESUMED), options=replace(state.options, tables=False))
    assert presumed(switched_off, [row])[0] is None


def test_without_a_strip_the_best_passages_must_be_of_one_table(asker: _Asker) -> None:
    source = next(source for source in asker.store.indexed() if source.endswith("seeds.csv"))
    grades = [
        Grade(Hit(passage, 0.0), Verdict.NO, 0.1)
        for passage in asker.store.passages({source: _hash(asker.store, source)}, limit=3)
    ]
    question = "How many plants are of the kind bean?"
    assert presumed(replace(asker.state(question), grades=grades), [])[0] is not None
    assert presumed(replace(asker.state(question), grades=grades[:2]), [])[0] is None
    assert presumed(replace(asker.state(PRESUMED), grades=grades), [])[0] is None


def test_a_filter_says_which_of_two_tables_is_meant(asker: _Asker) -> None:
    question = "Which river is the longest?"
    north = asker.answer(question, 'title = "rivers-north"')
    assert north.computed is not None and north.text.startswith("Ask is the longest: Length km 120 [1]")
    assert asker.answer(question).computed is None
    assert asker.answer("How many islands are there?", 'title = "rivers-north"').computed is None


def test_it_can_be_switched_off(store: LanceStore) -> None:
    answer = _Asker(store, tables=False).answer("Which island has the most pairs?")
    assert answer.computed is None and answer.grades
    assert answer.to_dict()["computed"] is None
