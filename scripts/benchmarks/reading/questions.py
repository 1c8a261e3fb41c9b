"""The questions about the documents, and what was answered to them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.reading.documents import PACKAGE_MARK, Document, packaged
from localcrag.evaluation.text_overlap import holds
from localcrag.types import Answer, Status


@dataclass(frozen=True)
class Question:
    """A question with its gold answers, of which one stands in the document; each of them, if ``every``.

    None answers a question without gold answers; its document is the one that seems to. ``page`` counts
    from 1, and is None if the format has no pages. ``table`` says that one cell of a table is asked for, and
    ``aggregate`` that the answer goes over all rows of one, and may stand nowhere in the document.
    """

    document: str
    question: str
    answers: tuple[str, ...]
    page: int | None = None
    table: bool = False
    aggregate: bool = False
    every: bool = False

    @property
    def file_name(self) -> str:
        """The name of the file that the document is written to."""
        return self.document.rpartition("/")[2]

    def answered_in(self, text: str) -> bool:
        """Whether the text holds a gold answer, or all of them if every one is asked for."""
        if self.every:
            return bool(self.answers) and all(holds(text, (answer,)) for answer in self.answers)
        return holds(text, self.answers)


@dataclass(frozen=True)
class Cited:
    """A citation: the name of the file, its page, and the quote."""

    document: str
    page: int | None
    quote: str


@dataclass(frozen=True)
class Outcome:
    """A question of one kind of document with the answer that was shown, and what it cost.

    ``collection`` names the collection that was asked, ``confidence`` is the best grade of a passage, and
    ``degraded`` what the answer says of itself.
    """

    question: Question
    kind: str
    status: str
    mode: str
    found: bool
    text: str
    citations: tuple[Cited, ...]
    seconds: float
    tokens: int
    confidence: float = 0.0
    degraded: tuple[str, ...] = ()
    collection: str = ""

    @property
    def right(self) -> bool:
        """Whether a gold answer is in the answer shown."""
        return self.found and self.question.answered_in(self.text)

    @property
    def right_page(self) -> bool:
        """Whether the page with the answer is cited; any of the document, if its format has no pages."""
        name, page = self.question.file_name, self.question.page
        return any(name == cited.document and page in (None, cited.page) for cited in self.citations)

    @property
    def first(self) -> bool:
        """Whether a gold answer is in the first paragraph of the answer."""
        return self.found and self.question.answered_in(self.text.partition("\n\n")[0])

    @property
    def answered(self) -> bool:
        """Whether the answer is shown as a sure one."""
        return self.found and self.status == Status.ANSWERED


def with_documents(rows: Sequence[Question], found: Sequence[Document]) -> list[tuple[Question, Document]]:
    """The questions with their documents, without those that an installed package no longer answers."""
    by_name = {document.name: document for document in found}
    asked: list[tuple[Question, Document]] = []
    for question in rows:
        document = by_name.get(question.document)
        if document and not (question.document.startswith(PACKAGE_MARK) and not _stands(question, document)):
            asked.append((question, document))
    return asked


def packages(rows: Sequence[Question]) -> list[Document]:
    """The documents of installed packages that the questions are about."""
    names = dict.fromkeys(row.document for row in rows if row.document.startswith(PACKAGE_MARK))
    return [document for name in names if (document := packaged(name))]


def spread(rows: Sequence[tuple[Question, Document]], count: int) -> list[tuple[Question, Document]]:
    """So many of the rows, as evenly from all of them as can be."""
    if count >= len(rows):
        return list(rows)
    return [rows[at * len(rows) // count] for at in range(count)]


def outcome(question: Question, kind: str, answer: Answer, collection: str = "") -> Outcome:
    """What is kept of an answer."""
    cited = tuple(Cited(Path(each.source).name, each.page, each.quote) for each in answer.citations)
    tokens = answer.usage.tokens
    return Outcome(
        question,
        kind,
        answer.status.value,
        answer.mode.value,
        answer.found,
        answer.text,
        cited,
        answer.usage.seconds["total"],
        tokens.evaluated + tokens.generated,
        max((grade.confidence or 0.0 for grade in answer.grades), default=0.0),
        answer.degraded,
        collection,
    )


def keep(kept: Outcome, file: Path, flaws: Sequence[str]) -> None:
    """Append an outcome to a JSON Lines file, with the judgement of it, for a person to read."""
    judged = {"right": kept.right, "right_page": kept.right_page, "flaws": list(flaws)}
    with file.open("a", encoding="utf-8") as out:
        print(json.dumps({**asdict(kept), "judged": judged}, ensure_ascii=False), file=out)


def kept_in(file: Path) -> Iterator[Outcome]:
    """The outcomes that another run has kept."""
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        del row["judged"]
        asked, cited = row.pop("question"), row.pop("citations")
        question = Question(**{**asked, "answers": tuple(asked["answers"])})
        row["degraded"] = tuple(row.get("degraded", ()))
        yield Outcome(question=question, citations=tuple(Cited(**each) for each in cited), **row)


def all_questions(file: Path) -> Iterator[Question]:
    """Every question of a JSON Lines file."""
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield Question(**{**row, "answers": tuple(row["answers"])})


def _stands(question: Question, document: Document) -> bool:
    return any(question.answered_in(page) for page in document.pages)
