"""The gold of a question: its labels, resolved against the documents of a knowledge base."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from localcrag._platform import expanded
from localcrag.evaluation.question_set import Broken, Question
from localcrag.evaluation.text_overlap import Words, normalised, overlap
from localcrag.types import Citation, IndexedDocument, Passage

Names = Mapping[str, frozenset[str]]
"""The sources of the documents of each name, in lower case."""


@dataclass(frozen=True, slots=True)
class Labels:
    """The gold items of a question: its passages if they are known, else its documents.

    A hit is right if it is of one of the ``sources`` (of any document if there are none), is on the
    ``page`` (on any if it is None), and overlaps one of the ``passages``; without passages, every passage
    of the sources is right. Each of the ``sources`` is a set, because a file name may mean several
    documents.
    """

    sources: tuple[frozenset[str], ...] = ()
    passages: tuple[Words, ...] = ()
    page: int | None = None

    @property
    def items(self) -> int:
        """The number of gold items."""
        return len(self.passages) or len(self.sources)

    def found(self, passage: Passage) -> frozenset[int]:
        """The numbers of the gold items that this passage is, or is part of."""
        if self.page is not None and passage.page != self.page:
            return frozenset()
        return self._items(passage.source, passage.text)

    def cited(self, citation: Citation) -> bool:
        """Whether a citation points at a gold item."""
        if self.page is not None and citation.page != self.page:
            return False
        return bool(self._items(citation.source, citation.quote))

    def ranks(self, lists: Iterable[Sequence[Passage]]) -> tuple[int | None, ...]:
        """For each gold item, its best rank in one of the lists, from 1; None if no list has it."""
        best: dict[int, int] = {}
        for passages in lists:
            for rank, passage in enumerate(passages, 1):
                for item in self.found(passage):
                    best[item] = min(rank, best.get(item, rank))
        return tuple(best.get(item) for item in range(self.items))

    def _items(self, source: str, text: str) -> frozenset[int]:
        if not self.passages:
            return frozenset(number for number, named in enumerate(self.sources) if source in named)
        if self.sources and not any(source in named for named in self.sources):
            return frozenset()
        words = normalised(text)
        return frozenset(n for n, passage in enumerate(self.passages) if overlap(passage, words))


NOTHING = Labels()
"""The gold of a question that the documents do not answer; no hit is right."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A question with its gold; None if its labels do not tell right hits from wrong ones."""

    question: Question
    gold: Labels | None


def label(
    questions: Sequence[Question], documents: Sequence[IndexedDocument]
) -> tuple[list[Labelled], list[Broken]]:
    """Resolve the labels of questions against the documents of a knowledge base.

    Returns the questions with their gold, and apart from them the questions that name a document which the
    knowledge base does not have.
    """
    names = _names(documents)
    labelled: list[Labelled] = []
    unknown: list[Broken] = []
    for question in questions:
        missing = [name for name in question.sources if not _resolved(name, names)]
        if missing:
            unknown.append(Broken(question.line, f"the knowledge base has no document {missing[0]!r}"))
        else:
            labelled.append(Labelled(question, _gold(question, names)))
    return labelled, unknown


def _gold(question: Question, names: Names) -> Labels | None:
    if question.answerable is False:
        return NOTHING
    if not question.sources and not question.passages:
        return None
    sources = dict.fromkeys(_resolved(name, names) for name in question.sources)
    return Labels(tuple(sources), tuple(normalised(passage) for passage in question.passages), question.page)


def _names(documents: Sequence[IndexedDocument]) -> Names:
    """The sources of the documents by their names: source, file name, file name without suffix, title."""
    called: dict[str, set[str]] = {}
    for document in documents:
        path = PurePath(document.source)
        for name in (document.source, path.name, path.stem, document.title):
            if name:
                called.setdefault(name.casefold(), set()).add(document.source)
    return {name: frozenset(sources) for name, sources in called.items()}


def _absolute(name: str) -> str:
    """A label as an absolute path; a "~" that is nobody's home is part of a file name."""
    return str(expanded(name).absolute())


def _resolved(name: str, names: Names) -> frozenset[str]:
    """The sources that a label means, by a path or a name, else by the end of a path; empty if none."""
    for key in (name.casefold(), _absolute(name).casefold()):
        if key in names:
            return names[key]
    if "/" in name:
        end = "/" + name.casefold().removeprefix("./").lstrip("/")
        return frozenset(source for key, held in names.items() if key.endswith(end) for source in held)
    return frozenset()
