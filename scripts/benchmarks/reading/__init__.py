"""What a user gets from a folder of mixed documents: right, on the right page, sure of it, and readable.

Each collection beside this module has documents of many kinds, made from its sources, and a few that
installed packages carry may lie among them. They tell of similar things, so that a wrong neighbour is easy to
pick. Each is asked about in words that are not its own; one in eight questions has no answer in any document.
A new knowledge base reads a collection, and is asked with the defaults.

An answer is right if a gold answer is in the text that is shown; its page is right if that page of that
document is cited. It is wrong if it is shown and is not right. The rules by which an answer is hard to read
are those of :mod:`benchmarks.reading.readability`.

Options: ``--set answers=FILE`` to keep every answer, one a line as it comes; ``--set collections=a,b`` to ask
those only, ``--set kinds=pdf,docx`` about those only (all documents are read), ``--set limit=N`` for N
questions of each collection, ``--set model=FILE`` for a chat model of your own, with what `localcrag models
check` has measured of it, ``--set mode=write`` or ``quote``, and ``--set earlier=FILE`` to judge the answers
that another run has kept instead of asking.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from benchmarks.picture import Chart, Line
from benchmarks.reading.collection import Collection, collections
from benchmarks.reading.documents import Document, write
from benchmarks.reading.questions import Outcome, Question, keep, kept_in, outcome, spread
from benchmarks.reading.readability import FLAWS, flaws
from benchmarks.report import Figure, Report, Room
from localcrag import open as open_kb
from localcrag.fitness.fitness_results_folder import FOLDER_NAME
from localcrag.settings import LoopSettings, ModelSettings, Settings, load
from localcrag.types import Mode, Status

QUICK_COLLECTION = "neighbourhood"
QUICK_KINDS = ("minutes", "csv")
QUICK_QUESTIONS = 4
Judged = tuple[Outcome, tuple[str, ...]]
"""An outcome with its flaws."""


def measure(room: Room) -> Report:
    found = collections()
    if names := (QUICK_COLLECTION if room.quick else room.options.get("collections")):
        found = [each for each in found if each.name in names.split(",")]
    if earlier := room.options.get("earlier"):
        by_file = {each.name: _by_file(each.documents + each.packages) for each in found}
        return report([(each, flaws(each, by_file[each.collection])) for each in kept_in(Path(earlier))])
    return report([judged for each in found for judged in _asked(room, each)])


def _asked(room: Room, collection: Collection) -> Iterator[Judged]:
    """Read the documents, ask the questions, and keep the answers if a file for them is given."""
    found, rows = collection.documents + collection.packages, chosen(room, collection.asked)
    if room.quick:
        found = [document for document in collection.documents if document.kind in QUICK_KINDS]
    scratch, by_file = room.scratch / collection.name, _by_file(found)
    settings = settings_of(room, scratch / "home", collection.embedding)
    with open_kb(home=settings.home, settings=settings) as base:
        skipped = base.ingest(write(found, scratch / "documents")).skipped
        for each in skipped:
            print(f"bench: reading: {each}", file=sys.stderr)
        for number, (question, document) in enumerate(rows, start=1):
            shown = outcome(question, document.kind, base.ask(question.question), collection.name)
            judged = flaws(shown, by_file)
            if file := room.options.get("answers"):
                keep(shown, Path(file), judged)
            yield shown, judged
            if number % 10 == 0 or number == len(rows):
                print(f"bench: {collection.name}: {number} of {len(rows)} questions", file=sys.stderr)


def settings_of(room: Room, home: Path, embedding: str) -> Settings:
    """The defaults, but for the options; the home gets what checks have measured of the user's own models."""
    model, mode = ModelSettings(embedding=embedding), room.options.get("mode")
    if language := room.options.get("model"):
        model = replace(model, language=language)
        checked = load().home / FOLDER_NAME
        if checked.is_dir():
            shutil.copytree(checked, home / FOLDER_NAME, dirs_exist_ok=True)
    return Settings(home=home, model=model, loop=LoopSettings(mode=Mode(mode) if mode else None))


def chosen(room: Room, rows: Sequence[tuple[Question, Document]]) -> list[tuple[Question, Document]]:
    """Those of the questions that the options ask for."""
    kinds = QUICK_KINDS if room.quick else tuple(filter(None, room.options.get("kinds", "").split(",")))
    rows = [row for row in rows if not kinds or row[1].kind in kinds]
    return spread(rows, int(room.options.get("limit", QUICK_QUESTIONS if room.quick else len(rows))))


def _by_file(found: Sequence[Document]) -> dict[str, Document]:
    return {document.file_name: document for document in found}


def report(judged: Sequence[Judged]) -> Report:
    """The shares over all questions, of each collection and each kind, with a chart of the collections."""
    kinds: dict[str, list[Judged]] = {}
    of_collections: dict[str, list[Judged]] = {}
    for each in judged:
        if each[0].question.answers:
            kinds.setdefault(each[0].kind, []).append(each)
            of_collections.setdefault(each[0].collection, []).append(each)
    by_kind = {kind: _shares(kinds[kind]) for kind in sorted(kinds)}
    by_collection = {name: _shares(of_collections[name]) for name in sorted(of_collections)}
    figures = [
        Figure(f"{name}: {what}", value, "questions" if what == "questions" else "share")
        for name, shares in [*by_collection.items(), *by_kind.items()]
        for what, value in shares.items()
    ]
    return Report(
        (*_overall(judged), *_at_first_sight(by_collection), *figures), tuple(_chart(by_collection))
    )


def _at_first_sight(measured: Iterable[str]) -> Iterator[Figure]:
    """What was measured before the program was mended by the answers, of the collections that were asked."""
    for collection in collections():
        if collection.name in measured:
            for what, value in (collection.first_sight or {}).items():
                yield Figure(f"{collection.name}, at first sight: {what}", value, "share")


def _overall(judged: Sequence[Judged]) -> Iterator[Figure]:
    outcomes = [each for each, _ in judged]
    answerable = [each for each in outcomes if each.question.answers]
    others = [each for each in outcomes if not each.question.answers]
    right = [each for each in answerable if each.right]
    paged = [each for each in right if each.question.page]
    tables = [each for each in answerable if each.question.table]
    shown = [found for each, found in judged if each.found]
    yield Figure("questions that a document answers", len(answerable), "questions")
    yield Figure("questions that none answers", len(others), "questions")
    yield Figure("kinds of document", len({each.kind for each in outcomes}), "kinds")
    yield Figure("right", _share(answerable, right), "share", "≥ 0.93")
    yield Figure("right ones: in the first paragraph", _mean(e.first for e in right), "share")
    cites = [each.right_page for each in right]
    yield Figure("right ones: cite the document, on the right page", _mean(iter(cites)), "share")
    yield Figure("right ones with pages: right page", _mean(e.right_page for e in paged), "share")
    yield Figure("right ones: answered", _mean(e.answered for e in right), "share", "≥ 0.85")
    yield Figure("right ones: unsure", _mean(e.status == Status.UNSURE for e in right), "share")
    yield Figure("right ones: not found", _mean(e.status == Status.NOT_FOUND for e in right), "share")
    wrong = [each for each in answerable if each.found and not each.right]
    yield Figure("wrong", _share(answerable, wrong), "share")
    yield Figure(
        "wrong and answered", _share(answerable, [e for e in wrong if e.answered]), "share", "≤ 0.02"
    )
    yield Figure("withheld", _mean(not e.found for e in answerable), "share")
    yield Figure("cells of tables: right", _mean(e.right for e in tables), "share", "≥ 0.9")
    over_rows = [each for each in answerable if each.question.aggregate]
    yield Figure("over all rows of a table: right", _mean(e.right for e in over_rows), "share")
    yield Figure("not in any document: withheld", _mean(not e.found for e in others), "share")
    unsure = [each for each in others if each.found and not each.answered]
    yield Figure("not in any document: unsure", _share(others, unsure), "share")
    yield Figure("not in any document: answered", _mean(e.answered for e in others), "share")
    yield Figure("hard to read, of those shown", _mean(bool(found) for found in shown), "share", "≤ 0.05")
    for flaw in FLAWS:
        yield Figure(f"hard to read: {flaw}", _mean(flaw in found for found in shown), "share")
    yield Figure("seconds", _mean(each.seconds for each in outcomes), "s a question")
    yield Figure("tokens", _mean(each.tokens for each in outcomes), "a question")


def _shares(judged: Sequence[Judged]) -> dict[str, float]:
    """What came of the questions of one kind or collection that a document answers."""
    right = [each for each, _ in judged if each.right]
    wrong = [each for each, _ in judged if each.answered and not each.right]
    return {
        "questions": float(len(judged)),
        "right": len(right) / len(judged),
        "right ones: answered": _mean(each.answered for each in right),
        "wrong and answered": len(wrong) / len(judged),
        "hard to read": _mean(bool(found) for each, found in judged if each.found),
    }


def _share(all_of_them: Sequence[Outcome], some: Sequence[Outcome]) -> float:
    return len(some) / len(all_of_them) if all_of_them else 0.0


def _mean(values: Iterator[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0


def _chart(by_collection: Mapping[str, Mapping[str, float]]) -> Iterator[Chart]:
    first = {each.name: each.first_sight["right"] for each in collections() if each.first_sight}
    now = tuple((at, shares["right"]) for at, shares in enumerate(by_collection.values()))
    then = tuple((at, first[name]) for at, name in enumerate(by_collection) if name in first)
    lines = Line("right", now), Line("right, at first sight", then)
    yield Chart("reading", "Answers from mixed documents", "", "share", lines, tuple(by_collection))
