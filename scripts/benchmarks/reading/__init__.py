"""What a user gets from a folder of mixed documents: right, on the right page, sure of it, and readable.

Some thirty documents of seventeen kinds are made from the sources beside this module, and a few that
installed packages carry lie among them. They tell of similar things, so that a wrong neighbour is easy to
pick. Each is asked about in words that are not its own; one in eight questions has no answer in any document.
A new knowledge base reads the folder, and is asked with the defaults.

An answer is right if a gold answer is in the text that is shown; its page is right if that page of that
document is cited. It is wrong if it is shown and is not right. The rules by which an answer is hard to read
are those of :mod:`benchmarks.reading.readability`.

Options: ``--set answers=FILE`` to keep every answer, one a line as it comes; ``--set kinds=pdf,docx`` to ask
about those only (all documents are read), ``--set limit=N`` for N questions from all of them, and
``--set earlier=FILE`` to judge the answers that another run has kept instead of asking.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.picture import Chart, Line
from benchmarks.reading.documents import Document, documents, write
from benchmarks.reading.questions import (
    Outcome,
    Question,
    keep,
    kept_in,
    outcome,
    packages,
    questions,
    spread,
)
from benchmarks.reading.readability import FLAWS, flaws
from benchmarks.report import Figure, Report, Room
from localcrag import open as open_kb
from localcrag.settings import Settings
from localcrag.types import Status

QUICK_KINDS = ("minutes", "csv")
QUICK_QUESTIONS = 4
Judged = tuple[Outcome, tuple[str, ...]]
"""An outcome with its flaws."""


def measure(room: Room) -> Report:
    found = documents()
    if room.quick:
        found = [document for document in found if document.kind in QUICK_KINDS]
    else:
        found += packages()
    by_file = {document.file_name: document for document in found}
    if earlier := room.options.get("earlier"):
        return report([(each, flaws(each, by_file)) for each in kept_in(Path(earlier))])
    return report(list(_asked(room, found, by_file)))


def _asked(room: Room, found: list[Document], by_file: Mapping[str, Document]) -> Iterator[Judged]:
    """Read the documents, ask the questions, and keep the answers if a file for them is given."""
    rows = chosen(room, found)
    home = room.scratch / "home"
    with open_kb(home=home, settings=Settings(home=home)) as base:
        skipped = base.ingest(write(found, room.scratch / "documents")).skipped
        for each in skipped:
            print(f"bench: reading: {each}", file=sys.stderr)
        for number, (question, document) in enumerate(rows, start=1):
            shown = outcome(question, document.kind, base.ask(question.question))
            judged = flaws(shown, by_file)
            if file := room.options.get("answers"):
                keep(shown, Path(file), judged)
            yield shown, judged
            if number % 10 == 0 or number == len(rows):
                print(f"bench: {number} of {len(rows)} questions", file=sys.stderr)


def chosen(room: Room, found: Sequence[Document]) -> list[tuple[Question, Document]]:
    """The questions that the options ask for."""
    rows = questions(found)
    if kinds := room.options.get("kinds"):
        rows = [row for row in rows if row[1].kind in kinds.split(",")]
    return spread(rows, int(room.options.get("limit", QUICK_QUESTIONS if room.quick else len(rows))))


def report(judged: Sequence[Judged]) -> Report:
    """The shares over all questions, then those of each kind, with a chart of the kinds."""
    kinds: dict[str, list[Judged]] = {}
    for each in judged:
        if each[0].question.answers:
            kinds.setdefault(each[0].kind, []).append(each)
    by_kind = {kind: _of_kind(kinds[kind]) for kind in sorted(kinds)}
    figures = [
        Figure(f"{kind}: {what}", value, "questions" if what == "questions" else "share")
        for kind, shares in by_kind.items()
        for what, value in shares.items()
    ]
    return Report((*_overall(judged), *figures), tuple(_chart(by_kind)))


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


def _of_kind(judged: Sequence[Judged]) -> dict[str, float]:
    right = [each for each, _ in judged if each.right]
    return {
        "questions": float(len(judged)),
        "right": len(right) / len(judged),
        "right ones: answered": _mean(each.answered for each in right),
        "hard to read": _mean(bool(found) for each, found in judged if each.found),
    }


def _share(all_of_them: Sequence[Outcome], some: Sequence[Outcome]) -> float:
    return len(some) / len(all_of_them) if all_of_them else 0.0


def _mean(values: Iterator[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0


def _chart(by_kind: Mapping[str, Mapping[str, float]]) -> Iterator[Chart]:
    def line(name: str) -> Line:
        return Line(name, tuple((at, shares[name]) for at, shares in enumerate(by_kind.values())))

    lines = line("right"), line("hard to read")
    yield Chart("reading", "Answers from mixed documents", "", "share", lines, tuple(by_kind))
