"""What comes out at the same model: right, wrong and withheld answers of plain RAG, two peers and localcrag.

Labelled questions about a folder of documents, as `scripts/train sets` writes them; the eight passages are
those of the product's own hybrid search, the same for all, and the verdicts are each contender's own. An
answer is right if a gold answer is in it. A question is withheld if nothing is kept, or if the answer says
that the documents have none. The peers and plain RAG run the chat model as it comes, with prompts of their
own; localcrag runs it with the adapter and the evaluator that travel with it.

Options: ``--set questions=FOLDER`` (with documents/ and questions.jsonl), ``--set limit=N``,
``--set skip=N`` (go on after the first N),
``--set contenders=…``, ``--set peers=PYTHON``, ``--set answers=FILE`` to keep every answer, one a line as it
comes, and ``--set earlier=FILE`` to report the answers that another run has kept as well (its seconds too: do
not compare those of two runs).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.peers import ANSWER_TOKENS, PEERS, default_threads, environment, turned
from benchmarks.peers.wire import Cost, Setup, Worker
from benchmarks.picture import Chart, Line
from benchmarks.report import Figure, Report, Room
from localcrag import open as open_kb
from localcrag.crag.answering.answer_form import declines
from localcrag.evaluation.text_overlap import holds
from localcrag.settings import ModelSettings, Settings

CONTEXT, PASSAGES = 4096, 8
OWN = ("plain", "localcrag", "localcrag-write")
NAMES = {
    "plain": "plain RAG",
    "langgraph": "LangGraph",
    "llamaindex": "LlamaIndex",
    "localcrag": "localcrag",
    "localcrag-write": "localcrag, written",
}
SAMPLE = (
    ("The Orlan bridge opened in 1921 and is 300 metres long.", "When did the Orlan bridge open?", ("1921",)),
    ("The library in Dask has 40,000 books and two cats.", "How many cats has the library?", ("two cats",)),
    ("The mill stands by the river since 1704.", "Who built the cathedral?", ()),
)
"""For ``--quick``: a passage, a question, and its answers; none if no passage answers it."""

Row = tuple[str, tuple[str, ...]]
"""A question and its gold answers; none if no document answers it."""


@dataclass(frozen=True)
class Question:
    """A labelled question with the passages that were found; ``answers`` is empty if nothing answers it."""

    text: str
    answers: tuple[str, ...]
    passages: tuple[str, ...]

    def request(self, contender: str) -> dict[str, object]:
        """What a worker is sent: no labels and no script, so that verdicts and words are its own."""
        return {
            "contender": contender,
            "text": self.text,
            "passages": self.passages,
            "labels": [],
            "answer": None,
            "tokens": ANSWER_TOKENS,
        }


@dataclass(frozen=True)
class Outcome:
    """One answer of one contender."""

    contender: str
    question: Question
    cost: Cost

    @property
    def withheld(self) -> bool:
        """Whether no answer was given."""
        said = self.cost.text.strip()
        return not self.cost.kept or not said or declines(said, self.question.passages)

    @property
    def right(self) -> bool:
        """Whether a gold answer is in the answer."""
        return not self.withheld and holds(self.cost.text, self.question.answers)

    @property
    def rightly_cited(self) -> bool:
        """Whether a cited passage has a gold answer in it."""
        texts = [self.question.passages[place] for place in self.cost.kept]
        return any(holds(text, self.question.answers) for text in texts)


def measure(room: Room) -> Report:
    names = room.options.get("contenders", ",".join([*OWN, *PEERS])).split(",")
    if room.quick and "contenders" not in room.options:
        names = ["plain", "localcrag"]
    questions = _questions(room)
    outcomes: list[Outcome] = []
    with ExitStack() as stack:
        workers = _workers(room, stack, names)
        for number, question in enumerate(questions):
            for name in turned(list(workers), number):
                outcomes.append(Outcome(name, question, workers[name].ask(question.request(name))))
                _keep(outcomes[-1], room.options.get("answers"))
            print(f"bench: {number + 1} of {len(questions)} questions", file=sys.stderr)
    earlier = room.options.get("earlier")
    return report([*outcomes, *(kept_in(Path(earlier)) if earlier else ())])


def _keep(outcome: Outcome, file: str | None) -> None:
    if file:
        with Path(file).open("a", encoding="utf-8") as kept:
            print(json.dumps(asdict(outcome)), file=kept)


def kept_in(file: Path) -> Iterator[Outcome]:
    """The answers that another run has kept."""
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        asked, cost = row["question"], row["cost"]
        question = Question(asked["text"], tuple(asked["answers"]), tuple(asked["passages"]))
        yield Outcome(row["contender"], question, Cost(**{**cost, "kept": tuple(cost["kept"])}))


def _workers(room: Room, stack: ExitStack, names: Sequence[str]) -> dict[str, Worker]:
    from localcrag.llm.registry import Registry

    model = Registry(room.scratch).resolve("smollm2-135m-instruct")
    threads = int(room.options.get("threads", "0")) or default_threads()
    setup = Setup(str(model), CONTEXT, threads, 512)
    workers: dict[str, Worker] = {}

    def worker(python: Path, module: str) -> Worker:
        made = Worker(python, module, setup, room.scratch / f"{module}.log")
        stack.callback(made.close)
        return made

    if own := [name for name in OWN if name in names]:
        workers |= dict.fromkeys(own, worker(Path(sys.executable), "benchmarks.peers.asked"))
    if wanted := [name for name in PEERS if name in names]:
        given = room.options.get("peers")
        python = Path(given) if given else environment.python(room.cache, make=True)
        assert python is not None
        workers |= {name: worker(python, PEERS[name]) for name in wanted}
    return workers


def _questions(room: Room) -> list[Question]:
    """The questions with the passages that the product's hybrid search finds for them."""
    documents, rows = labelled(room, "accuracy")
    chosen = rows[int(room.options.get("skip", 0)) : int(room.options.get("limit", len(rows)))]
    home = room.scratch / "home"
    settings = Settings(home=home, model=ModelSettings(evaluator="none"))
    with open_kb(home=home, settings=settings) as base:
        base.ingest(documents)
        found = []
        for text, answers in chosen:
            hits = base.search(text, k=PASSAGES)
            found.append(Question(text, answers, tuple(hit.passage.text for hit in hits)))
    return found


def labelled(room: Room, part: str) -> tuple[Path, list[Row]]:
    """The documents of the set that a part was given, and its questions that have short answers, or none.

    With ``--quick`` it is the sample. Raises SystemExit if there is no set.
    """
    if folder := room.options.get("questions"):
        return Path(folder) / "documents", _rows_of(Path(folder) / "questions.jsonl")
    if not room.quick:
        raise SystemExit(f"bench: {part} needs --set questions=FOLDER; `scripts/train sets` writes such")
    return _sample(room.scratch / "documents"), [(question, answers) for _, question, answers in SAMPLE]


def _rows_of(path: Path) -> list[Row]:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    usable = (row for row in rows if row.get("answers") or row.get("answerable") is False)
    return [(row["question"], tuple(row.get("answers", ()))) for row in usable]


def _sample(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for number, (text, _, _) in enumerate(SAMPLE):
        (folder / f"{number}.txt").write_text(text, "utf-8")
    return folder


def report(outcomes: Sequence[Outcome]) -> Report:
    """Shares of all questions, and means of tokens and seconds, by contender."""
    by_name: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_name.setdefault(outcome.contender, []).append(outcome)
    tables = {name: dict(_shares(by_name[name])) for name in NAMES if name in by_name}
    figures = [
        Figure(f"{NAMES[name]}: {what}", value, _unit(what))
        for name, shares in tables.items()
        for what, value in shares.items()
    ]
    return Report((*figures, *_ratios(tables)), tuple(_charts(tables)))


def _shares(outcomes: Sequence[Outcome]) -> Iterator[tuple[str, float]]:
    answerable = [each for each in outcomes if each.question.answers]
    others = [each for each in outcomes if not each.question.answers]
    right = [each for each in answerable if each.right]
    wrong = [each for each in outcomes if not each.withheld and not each.right]
    yield "questions", float(len(outcomes))
    yield "right, of the answerable", len(right) / max(1, len(answerable))
    yield "wrong, of all", len(wrong) / len(outcomes)
    yield "withheld, of the answerable", fmean(each.withheld for each in answerable) if answerable else 0.0
    yield "withheld, of the unanswerable", fmean(each.withheld for each in others) if others else 0.0
    if right and outcomes[0].contender.startswith("localcrag"):
        yield "right ones that cite a passage with the answer", fmean(each.rightly_cited for each in right)
    yield "tokens of the language model", fmean(each.cost.tokens for each in outcomes)
    yield "tokens of the evaluator", fmean(each.cost.evaluator for each in outcomes)
    yield "seconds", fmean(each.cost.seconds for each in outcomes)


def _unit(what: str) -> str:
    if what == "questions":
        return ""
    if what == "seconds":
        return "s a question"
    return "a question" if what.startswith("tokens") else "share"


def _ratios(tables: Mapping[str, Mapping[str, float]]) -> Iterator[Figure]:
    if "localcrag" not in tables:
        return
    own = tables["localcrag"]
    others = [shares for name, shares in tables.items() if name not in ("localcrag", "localcrag-write")]
    if plain := tables.get("plain"):
        share = own["tokens of the language model"] / plain["tokens of the language model"]
        yield Figure("localcrag / plain RAG", share, "ratio of tokens", "≤ 0.35")
    if graph := tables.get("langgraph"):
        yield Figure("LangGraph / localcrag", graph["seconds"] / own["seconds"], "times as fast", "≥ 3")
    if others:
        right, wrong = "right, of the answerable", "wrong, of all"
        best = max(others, key=lambda shares: (shares[right], -shares[wrong]))
        yield Figure(
            "localcrag - best of the others: right", 100 * (own[right] - best[right]), "points", "≥ 5"
        )
        yield Figure(
            "localcrag - best of the others: wrong", 100 * (own[wrong] - best[wrong]), "points", "≤ 0"
        )


def _charts(tables: Mapping[str, Mapping[str, float]]) -> Iterator[Chart]:
    labels = tuple(NAMES[name] for name in tables)

    def line(name: str, what: str) -> Line:
        return Line(name, tuple((at, shares[what]) for at, shares in enumerate(tables.values())))

    shares = line("right", "right, of the answerable"), line("wrong", "wrong, of all")
    yield Chart("accuracy", "Answers with the same model and passages", "", "share", shares, labels)
    seconds = (line("seconds", "seconds"),)
    yield Chart("accuracy-seconds", "What a question takes", "", "seconds", seconds, labels)
