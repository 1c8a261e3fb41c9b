"""Tables where the evidence is not sure: rules and the language model are asked, and heard together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import pytest

from localcrag.calibration.scale import Scale
from localcrag.crag.answering.presumed_tables import presumed
from localcrag.crag.answering.unsure_tables import AGREED, compute_unsure, confirmed
from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.crag.state import QuestionState
from localcrag.events import Degraded
from localcrag.filters import Filter, matches, parse
from localcrag.protocols import PassageReader
from localcrag.types import Grade, Hit, Passage, Strip, Verdict
from tests.crag.test_aggregation import passages
from tests.crag.test_pipeline import scripted
from tests.crag.values import drained
from tests.crag.world import World
from tests.fakes.llm import ScriptedQueries

if TYPE_CHECKING:
    from localcrag.protocols import Vectors

BATS = [
    "name: Noctule · roost: tree · sleep_total: 19.5 · young: 1 · sleepy: yes",
    "name: Serotine · roost: house · sleep_total: 19.9 · young: 0 · sleepy: yes",
    "name: Barbastelle · roost: tree · sleep_total: 18.2 · young: 2 · sleepy: no",
    "name: Grey bat · roost: cave · sleep_total: 19.1 · young: 2 · sleepy: no",
]
IN_TREES = "SELECT COUNT(*) WHERE \"roost\" = 'tree'"
DOCTORS = "SELECT COUNT(*) WHERE \"role\" = 'doctor'"
IN_HOUSES = "SELECT COUNT(*) WHERE \"roost\" = 'house'"
SPECIES = "How many species of the survey live in a tree?"
WAKEFUL = "How many sleepy species live in a tree?"
AWAKE_IN_TREES = "SELECT COUNT(*) WHERE \"roost\" = 'tree' AND \"sleepy\" = 'yes'"
WEARY = "Which of our animals is the weariest?"
IN_ALL = "What do those in the grotto slumber in total?"
MANY = "How many beasts are there?"
MOST_SLEEP = 'SELECT "name" ORDER BY "sleep_total" DESC LIMIT 1'
NAP = "How long a nap has the Noctule?"
OF_NOCTULE = 'SELECT "sleep_total" WHERE "name" = \'Noctule\''
OF_GREY_BAT = 'SELECT "sleep_total" WHERE "roost" = \'cave\''
OF_GREY, OF_NAME = "How long a nap has the Grey bat?", 'SELECT "sleep_total" WHERE "name" = \'Grey bat\''
MORE_SLEEP, SUBTRACTED = (
    "How much longer is the sleep of a Noctule than its flight?",
    'SELECT "sleep_total" - "young" WHERE "name" = \'Noctule\'',
)
OF_HOURS, BY_HOURS = "Whose nap has 19.9 hours?", 'SELECT "name" WHERE "sleep_total" = 19.9'
IN_TWO_ROWS = 'SELECT "sleep_total" WHERE "roost" = \'tree\''
OF_ONE_ROW = 'SELECT SUM("sleep_total") WHERE "roost" = \'cave\''


@dataclass(frozen=True)
class OneDocument:
    """A store of the passages of one document."""

    of_document: Sequence[Passage]
    others: Sequence[Passage] = ()

    def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        """All of them."""
        every = (*self.of_document, *self.others)
        return [passage for passage in every if passage.source in documents][:limit]

    def search(
        self, text: str, _vector: Vectors, *, k: int, filter: Filter | None = None
    ) -> list[Hit]:  # the words are not heard
        """All passages of the other documents."""
        return [
            Hit(passage, 0.0) for passage in self.others[:k] if filter is None or matches(filter, passage)
        ]


def asked(
    question: str,
    written: tuple[str, float] | None,
    elsewhere: tuple[list[str], str, tuple[str, float]] | None = None,
) -> tuple[QuestionState, list[Strip]]:
    """A question with what a model writes of it, and the rows that were found with little probability.

    ``elsewhere`` are the rows of another document, a word of it, and what the model writes of those.
    """
    world, document = World({"/a.txt": ""}, scripted("x")), passages(BATS)
    others = (
        [replace(each, source="/other.csv", document="o") for each in passages(elsewhere[0])]
        if elsewhere
        else []
    )
    script = {elsewhere[1]: elsewhere[2]} if elsewhere else {}
    model = ScriptedQueries({**script, "Question": written}) if written else None
    store = cast("PassageReader", OneDocument(document, others))
    state = QuestionState(
        replace(world.adapters, store=store, query_model=model), world.options, question, question, None
    )
    rows = [strip_at(document[0], block.start, block.end) for block in document[0].blocks[:2]]
    return state, [replace(row, score=0.1 / place) for place, row in enumerate(rows, 1)]


@pytest.mark.parametrize(
    ("question", "written", "value", "sure"),
    [
        pytest.param(SPECIES, (IN_TREES, 0.4), "2", True, id="both give the same"),
        pytest.param(SPECIES, (IN_TREES, 0.3), "2", True, id="the same, less probable"),
        pytest.param("How many women live in a tree?", (IN_TREES, 0.9), "2", False, id="women are left out"),
        pytest.param(SPECIES, (IN_TREES, 0.1), "2", False, id="the same, too improbable to confirm"),
        pytest.param(SPECIES, (IN_HOUSES, 0.4), "2", False, id="another one, improbable"),
        pytest.param(SPECIES, (IN_HOUSES, 0.7), "1", False, id="another one, probable"),
        pytest.param(SPECIES, (OF_ONE_ROW, 0.7), "2", False, id="a sum of one row, probable"),
        pytest.param(WAKEFUL, (AWAKE_IN_TREES, 0.4), "1", False, id="it asks for what rules leave out"),
        pytest.param(SPECIES, None, "2", False, id="no model"),
        pytest.param(SPECIES, ("NONE", 0.9), "2", False, id="no query"),
        pytest.param(WEARY, (MOST_SLEEP, 0.5), "19.9", False, id="only the model, probable"),
        pytest.param(WEARY, (MOST_SLEEP, 0.95), "19.9", True, id="only the model, sure"),
        pytest.param(WEARY, (MOST_SLEEP, 0.2), None, False, id="only the model, improbable"),
        pytest.param(MANY, ("SELECT COUNT(*)", 0.2), "4", False, id="over all rows, improbable"),
        pytest.param(MANY, ("SELECT COUNT(*)", 0.1), None, False, id="the same, too improbable"),
        pytest.param(WEARY, (OF_ONE_ROW, 0.7), None, False, id="a sum of one row"),
        pytest.param(IN_ALL, (OF_ONE_ROW, 0.95), "19.1", False, id="a sum of one row, sure"),
        pytest.param(
            "What lives in a tree?",
            ('SELECT "name" WHERE "roost" = \'tree\'', 0.9),
            None,
            False,
            id="a look-up of several rows",
        ),
        pytest.param(NAP, (OF_NOCTULE, 0.8), "19.5", True, id="a look-up of the row that was found"),
        pytest.param(NAP, (OF_NOCTULE, 0.6), None, False, id="the same, improbable"),
        pytest.param(NAP, (OF_GREY_BAT, 0.8), None, False, id="a look-up of another row"),
        pytest.param(
            MORE_SLEEP, (SUBTRACTED, 0.8), "18.5", True, id="a difference, of the row that was found"
        ),
        pytest.param(MORE_SLEEP, (SUBTRACTED, 0.3), "18.5", False, id="a difference, less probable"),
        pytest.param(MORE_SLEEP, (SUBTRACTED, 0.2), None, False, id="a difference, improbable"),
        pytest.param(NAP, (SUBTRACTED, 0.6), None, False, id="a difference that is not asked for"),
        pytest.param(OF_GREY, (OF_NAME, 0.8), "19.1", False, id="a look-up of one that is spelled"),
        pytest.param(OF_GREY, (OF_NAME, 0.95), "19.1", True, id="the same, sure"),
        pytest.param(OF_GREY, (OF_NAME, 0.5), "19.1", False, id="the same, less probable"),
        pytest.param(OF_GREY, (OF_NAME, 0.35), None, False, id="the same, improbable"),
        pytest.param(OF_HOURS, (BY_HOURS, 0.7), "Serotine", False, id="a look-up by a number"),
        pytest.param(OF_HOURS, (BY_HOURS, 0.5), None, False, id="the same, improbable"),
        pytest.param(
            "Wie viele Arten der Erhebung leben in einem tree?", (IN_TREES, 0.9), "2", False, id="German"
        ),
    ],
)
def test_rules_and_model_are_heard_together(
    question: str, written: tuple[str, float] | None, value: str | None, sure: bool
) -> None:
    state, rows = asked(question, written)
    _, found = drained(compute_unsure(state, rows))
    assert (found[0].computation.value if found else None) == value
    assert (found is not None and found[1]) is sure


def test_a_model_of_many_languages_is_asked_in_german() -> None:
    state, rows = asked("Wie viele Arten der Erhebung leben in einem tree?", (IN_TREES, 0.9))
    state = replace(state, adapters=replace(state.adapters, reads_all_languages=True))
    _, found = drained(compute_unsure(state, rows))
    assert found and found[0].computation.value == "2" and found[1]


@pytest.mark.parametrize(
    ("scale", "sure"), [(None, False), (Scale(0.5, 1.0), True), (Scale(1.0, 0.5), True), (Scale(2.0), False)]
)
def test_the_probability_of_a_query_is_scaled(scale: Scale | None, sure: bool) -> None:
    state, rows = asked(WEARY, (MOST_SLEEP, 0.65))
    state = replace(state, adapters=replace(state.adapters, query_scale=scale))
    _, found = drained(compute_unsure(state, rows))
    assert found and found[0].computation.value == "19.9" and found[1] is sure


@pytest.mark.parametrize(("scale", "value"), [(None, "1"), (Scale(1.0, 1.0), "4")])
def test_a_trusted_query_is_taken_as_it_is(scale: Scale | None, value: str) -> None:
    """Without a scale what the question says beside it becomes a condition."""
    question = "For how many bats (grey bat included) is there a line?"
    state, rows = asked(question, ("SELECT COUNT(*)", 0.7))
    state = replace(state, adapters=replace(state.adapters, query_scale=scale))
    _, found = drained(compute_unsure(state, rows))
    assert found and found[0].computation.value == value


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("Where does the Noctule nap?", False),
        ("In how many roosts did nobody nap?", True),
        ("Which beasts nap?", True),
        ("Who is the weariest of all?", True),
        ("Dove dorme il pipistrello Noctule durante il giorno?", True),
    ],
)
def test_a_model_is_asked_of_prose_only_if_a_question_goes_over_rows(
    question: str, *, is_asked: bool
) -> None:
    state, rows = asked(question, (OF_NOCTULE, 0.95))
    state = replace(state, adapters=replace(state.adapters, reads_all_languages=True))
    prose = replace(rows[0], text="Bats sleep for long.", start=5, end=9, score=0.3)
    drained(compute_unsure(state, [prose, *rows]))
    model = state.adapters.query_model
    assert isinstance(model, ScriptedQueries) and bool(model.prompts) is is_asked


@pytest.mark.parametrize(("row", "is_asked"), [(True, True), (False, False)])
def test_where_nothing_was_kept_the_nearest_passage_tells(row: bool, *, is_asked: bool) -> None:
    state, _ = asked("And the nap of our grey bat?", (OF_NAME, 0.9))
    nearest = passages(BATS)[0] if row else replace(passages(BATS)[0], blocks=())
    state.grades = [Grade(Hit(nearest, 1.0), Verdict.NO, 0.04)]
    assert (drained(compute_unsure(state, []))[1] is not None) is is_asked


def test_words_that_were_left_out_are_named_unless_the_model_agrees() -> None:
    for probability, are_named in ((0.1, True), (0.4, False)):
        state, rows = asked(SPECIES, (IN_TREES, probability))
        events, _ = drained(compute_unsure(state, rows))
        assert any(isinstance(event, Degraded) for event in events) is are_named


@pytest.mark.parametrize(("score", "sure"), [(0.02, True), (0.08, False)])
def test_a_row_is_not_surely_looked_up_if_another_table_has_one_with_its_cell(
    score: float, *, sure: bool
) -> None:
    state, rows = asked(NAP, (OF_NOCTULE, 0.95))
    other = passages(["name: Noctule · weight: 28", "name: Serotine · weight: 25"])[0]
    rival = strip_at(other, other.blocks[0].start, other.blocks[0].end)
    _, found = drained(compute_unsure(state, [*rows, replace(rival, score=score)]))
    assert found and found[0].computation.value == "19.5" and found[1] is sure


@pytest.mark.parametrize(
    ("written", "sure"),
    [
        ((IN_TREES, 0.4), True),
        ((IN_TREES, 0.2), True),
        ((IN_TREES, 0.1), False),
        ((IN_HOUSES, 0.9), False),
        (("NONE", 0.9), False),
        (None, False),
    ],
)
def test_what_rules_computed_is_confirmed_by_the_same_rows(
    written: tuple[str, float] | None, sure: bool
) -> None:
    state, rows = asked(SPECIES, written)
    computed = presumed(state, rows)
    assert computed is not None
    answer, is_sure = drained(confirmed(state, computed[0]))[1]
    assert is_sure is sure
    assert answer.computation.value == "2"


@pytest.mark.parametrize(
    ("written", "value"), [((OF_NAME, 0.5), "19.1"), ((OF_NAME, 0.35), None), ((IN_TWO_ROWS, 0.9), None)]
)
def test_where_nothing_was_found_the_one_row_of_a_likely_query_is_shown(
    written: tuple[str, float], value: str | None
) -> None:
    state, _ = asked("And the nap of our grey bat?", written)
    state.grades = [Grade(Hit(passages(BATS)[0], 1.0), Verdict.NO, 0.04)]
    _, found = drained(compute_unsure(state, []))
    assert (found[0].computation.value if found else None) == value


def test_the_column_that_numbers_what_is_counted_is_compared_with_nothing() -> None:
    pigs = [f"pen: P{at} · pig: {900 + at} · weight2: {196 + at}" for at in range(1, 9)]
    world, document = World({"/a.txt": ""}, scripted("x")), passages(pigs)
    store = cast("PassageReader", OneDocument(document))
    asked = "How many of the pigs ended up heavier than 200 in the final weighing?"
    state = QuestionState(replace(world.adapters, store=store), world.options, asked, asked, None)
    rows = [strip_at(document[0], block.start, block.end) for block in document[0].blocks[:2]]
    assert presumed(state, [replace(row, score=0.1) for row in rows]) is None


def test_no_table_is_read_through_which_the_filter_cuts() -> None:
    state, rows = asked(WEARY, (MOST_SLEEP, 0.9))
    state.filter = parse("page = 3")
    assert drained(compute_unsure(state, rows))[1] is None


@pytest.mark.parametrize(
    ("question", "written", "other", "value"),
    [
        ("How many doctors are there?", ("SELECT COUNT(*)", 0.5), (DOCTORS, 0.9), "2"),
        ("How many doctors are there?", ("NONE", 0.9), (DOCTORS, 0.5), "2"),
        ("How many doctors are there?", ("NONE", 0.9), (DOCTORS, 0.1), None),
        ("How many doctors are there?", (IN_TREES, 0.5), (DOCTORS, 0.9), "2"),
        ("How many doctors are there?", ("SELECT COUNT(*)", 0.7), (DOCTORS, 0.9), "4"),
        ("How many doctors are there?", ("SELECT COUNT(*)", 0.5), (DOCTORS, 0.4), "2"),
        ("How many doctors are there?", ("SELECT COUNT(*)", 0.5), (DOCTORS, 0.3), "4"),
        (WEARY, ("NONE", 0.9), ("SELECT COUNT(*)", 0.9), None),
        ("Who is a doctor?", ("NONE", 0.9), (DOCTORS, 0.9), None),
    ],
)
def test_a_table_of_another_document_is_read_if_those_that_were_found_do_not_answer(
    question: str, written: tuple[str, float], other: tuple[str, float], value: str | None
) -> None:
    """It is to be checked, and a cell of it stands in the question."""
    staff = ["who: Ann · role: doctor", "who: Bo · role: nurse", "who: Cy · role: doctor"]
    state, _ = asked(question, written, (staff, "role", other))
    rows = [strip_at(passages(BATS)[0], 0, len(BATS[0]))]
    _, found = drained(compute_unsure(state, [replace(row, score=0.1) for row in rows]))
    assert (found[0].computation.value if found else None) == value
    assert not (found and found[1])


def test_tables_are_not_read_where_that_is_switched_off() -> None:
    state, rows = asked(WEARY, (MOST_SLEEP, 0.9))
    state.options = replace(state.options, tables=False)
    assert drained(compute_unsure(state, rows))[1] is None


@pytest.mark.parametrize(
    ("question", "p", "told"),
    [
        ("Which animal slept in a tree?", 0.9, "name: Noctule [1], Barbastelle [2]"),
        ("Which animal slept in a tree?", 0.6, None),
        ("What animal slept in a tree?", 0.9, None),
    ],
)
def test_all_rows_of_a_sure_query_are_told_though_one_is_asked_for(
    question: str, p: float, told: str | None
) -> None:
    state, kept = asked(question, ('SELECT "name" WHERE "roost" = \'tree\'', p))
    _, found = drained(compute_unsure(state, kept))
    assert (found is None) is (told is None)
    assert found is None or found[0].text.startswith(told or "")


@pytest.mark.parametrize(
    ("question", "first", "other", "sure"),
    [
        pytest.param(WEARY, (MOST_SLEEP, 0.5), (MOST_SLEEP, 0.3), True, id="they agree"),
        pytest.param(
            WEARY, (MOST_SLEEP, 0.35), (MOST_SLEEP, 0.9), False, id="they agree, the first unlikely"
        ),
        pytest.param(WEARY, (MOST_SLEEP, 0.5), (IN_TREES, 0.9), False, id="the other gives another answer"),
        pytest.param(WEARY, (MOST_SLEEP, 0.5), ("NONE", 0.9), False, id="the other gives none"),
        pytest.param(WEARY, (MOST_SLEEP, 0.5), None, False, id="there is no other"),
        pytest.param(OF_GREY, (OF_NAME, 0.8), (OF_NAME, 0.8), False, id="they look up one row"),
        pytest.param(
            "Which beast lives longest?", (MOST_SLEEP, 0.5), (MOST_SLEEP, 0.5), False, id="it is doubtful"
        ),
        pytest.param(
            "Welches Tier ist am müdesten?",
            (MOST_SLEEP, 0.5),
            (MOST_SLEEP, 0.5),
            False,
            id="it reads no German",
        ),
    ],
)
def test_a_query_that_is_likely_is_sure_if_a_smaller_model_gives_the_same(
    question: str, first: tuple[str, float], other: tuple[str, float] | None, *, sure: bool
) -> None:
    state, rows = asked(question, first)
    model = ScriptedQueries({"Question": other}) if other else None
    state.adapters = replace(state.adapters, other_query_model=model, reads_all_languages=True)
    _, found = drained(compute_unsure(state, rows))
    assert found is not None and found[1] is sure
    is_asked = first[1] >= AGREED and question == WEARY
    assert bool(model and model.prompts) is bool(other and is_asked), "only where its word counts"
