"""Questions about whole documents of many kinds, read and cut by the product itself.

A folder of such documents has ``docs/`` and ``questions.jsonl``, one object a line: ``file`` (below
``docs/``), ``question``, and either ``answer`` with ``evidence``, a list of pieces of text that all stand in
the block that answers (``also``: lists for further blocks that do; ``heading``: the heading that the block
stands below), or ``answer`` null with ``near``, the pieces of a block that tells of the same thing and does
not answer.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_context import headings_above, in_context, judged_text
from localcrag.documents import LocalCorpus
from localcrag.embedding.embedder import SentenceTransformerEmbedder
from localcrag.types import NO_META, Passage, Skipped, Strip

from .data import DataError, Example, Record, read_jsonl
from .groups import MAX_TEXT_CHARACTERS, Embed, Group, Neighbours
from .passage_windows import nearest_window

DOCUMENTS_SET = "documents"
SHIPPED_DOCUMENTS = Path(__file__).parent / "documents"
"""The made documents that travel with the program."""
UNSEEN_DOCUMENTS = Path(__file__).parent / "unseen_documents"
"""Made documents that nothing is ever trained or fitted on: how good the loop is on texts it never saw."""
NEGATIVE_STRIPS, NEGATIVE_PASSAGES = 7, 3
PASSAGE_GROUP_SHARE = 0.4
WINDOW_SHARE = 0.6
"""The share of the groups of passages in which windows around words of the question stand for long ones."""
TITLE_SHARE = 0.7
"""The share of groups whose texts stand below the title of their document."""
OWN_SHARE = 0.5
"""The share of groups that ask about the documents of the data folder, if it has any."""
MIN_TELLING_ANSWER = 3
"""Characters of an answer from which on a strip that holds it is no negative."""


@dataclass(frozen=True)
class ReadDocument:
    """A document as the product reads it: its passages, and the strips of each."""

    name: str
    passages: tuple[Passage, ...]
    strips: tuple[Strip, ...]

    @cached_property
    def plain_strips(self) -> list[tuple[str, str]]:
        """The headings and the text of each strip as they are compared, without regard to case and space."""
        return [(_plain(headings_above(strip)), _plain(strip.text)) for strip in self.strips]


@dataclass(frozen=True)
class DocumentQuestion:
    """A question about a document, with the indices of the strips that answer it and of those that tempt."""

    question: str
    answer: str
    document: ReadDocument
    answering: tuple[int, ...]
    tempting: tuple[int, ...]

    @property
    def held_out(self) -> bool:
        """Whether its document is held out from training."""
        return is_held_out(self.document.name)

    @property
    def fits(self) -> bool:
        """Whether, held out, it is there to fit calibration, not to report."""
        return hashlib.sha256(self.question.encode()).digest()[0] % 2 == 0

    @property
    def answering_passages(self) -> frozenset[str]:
        """The ids of the passages that answer."""
        return frozenset(self.document.strips[at].passage.id for at in self.answering)


def is_held_out(name: str) -> bool:
    """Whether a document is held out from training; the name begins with that of its folder."""
    return Example(DOCUMENTS_SET, name, "", (), (), True).held_out


def document_folders(data: Path) -> list[Path]:
    """The folders of labelled documents: those that travel with the program, and those of a data folder."""
    shipped = [path.parent for path in sorted(SHIPPED_DOCUMENTS.glob("*/questions.jsonl"))]
    return shipped + own_folders(data)


def own_folders(data: Path) -> list[Path]:
    """The folders of labelled documents of a data folder."""
    return [path.parent for path in sorted((data / DOCUMENTS_SET).glob("*/questions.jsonl"))]


def unseen_folders() -> list[Path]:
    """The folders of the documents that nothing is trained or fitted on."""
    return [path.parent for path in sorted(UNSEEN_DOCUMENTS.glob("*/questions.jsonl"))]


def read_labelled_documents(folders: Sequence[Path]) -> list[DocumentQuestion]:
    """The questions of all folders, in order, without those whose evidence the reader cuts apart.

    Those last read are kept, since several stages of one process want them. Raises DataError.
    """
    return _read_folders(tuple(folders))


@lru_cache(maxsize=1)
def _read_folders(folders: tuple[Path, ...]) -> list[DocumentQuestion]:
    corpus = LocalCorpus(SentenceTransformerEmbedder().folder / "tokenizer.json")
    return [question for folder in folders for question in _read_folder(folder, corpus)]


def _read_folder(folder: Path, corpus: LocalCorpus) -> Iterator[DocumentQuestion]:
    documents = {}
    found = [file for file in corpus.discover([str(folder / "docs")]) if not isinstance(file, Skipped)]
    for result in corpus.read_all([(file, NO_META) for file in found]):
        passages = getattr(result, "passages", ())
        if passages:
            name = str(Path(result.source).relative_to(folder.resolve() / "docs"))
            cut = tuple(strip for passage in passages for strip in strips(passage))
            documents[name] = ReadDocument(f"{folder.name}/{name}", tuple(passages), cut)
    for record in read_jsonl(folder / "questions.jsonl"):
        document = documents.get(str(record.get("file")))
        if document is None:
            raise DataError(f"{folder.name}: no document {record.get('file')!r}")
        question = _labelled(record, document)
        if question is not None:
            yield question


def _labelled(record: Record, document: ReadDocument) -> DocumentQuestion | None:
    """A question with its strips; None if the strip that answers is not found."""
    if record.get("answer") is None:
        tempting = _holding(document, record.get("near") or [], "")
        return DocumentQuestion(record["question"], "", document, (), tuple(tempting))
    heading = str(record.get("heading") or "")
    answering = _holding(document, record["evidence"], heading)
    for pieces in record.get("also") or []:
        answering += _holding(document, [pieces] if isinstance(pieces, str) else pieces, "")
    if not answering:
        return None
    return DocumentQuestion(
        record["question"], str(record["answer"]), document, tuple(dict.fromkeys(answering)), ()
    )


def _holding(document: ReadDocument, pieces: Sequence[str], heading: str) -> list[int]:
    """The strips that hold all pieces; else those of such a passage that hold one, or are part of one."""
    wanted = [_plain(piece) for piece in pieces if piece.strip()]
    if not wanted:
        return []
    texts = [text for _, text in document.plain_strips]
    below = [_plain(heading) in headings for headings, _ in document.plain_strips]
    found = [at for at, text in enumerate(texts) if below[at] and all(piece in text for piece in wanted)]
    if found:
        return found
    whole = {passage.id for passage in document.passages if all(p in _plain(passage.text) for p in wanted)}
    return [
        at
        for at, strip in enumerate(document.strips)
        if below[at]
        and strip.passage.id in whole
        and any(piece in texts[at] or (len(texts[at]) > 12 and texts[at] in piece) for piece in wanted)
    ]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


class DocumentGroups:
    """Draws groups of strips and groups of passages of questions about whole documents.

    Negatives stand near: beside the strip that answers, or by the words and the meaning of the question,
    in the same document and in others. A strip that holds the answer as well is none.

    Args:
        questions: what is asked.
        embed: maps texts to unit vectors (n, d), for the neighbours by meaning.
        own: the names of the folders whose questions are drawn for :data:`OWN_SHARE` of the groups.
    """

    def __init__(
        self, questions: Sequence[DocumentQuestion], embed: Embed | None = None, own: Collection[str] = ()
    ) -> None:
        self._questions = questions
        self._own = [at for at, each in enumerate(questions) if each.document.name.split("/")[0] in own]
        documents = list({each.document.name: each.document for each in questions}.values())
        self._strips = [strip for document in documents for strip in document.strips]
        self._passages = [passage for document in documents for passage in document.passages]
        asked = [each.question for each in questions]
        self._near_strips = Neighbours(asked, [judged_strip(each) for each in self._strips], embed)
        self._near_passages = Neighbours(asked, [judged_passage(each) for each in self._passages], embed)

    def draw(self, rng: random.Random) -> Group:
        """One group of either kind."""
        while True:
            at = self._drawn(rng)
            titled = rng.random() < TITLE_SHARE
            make = self._of_passages if rng.random() < PASSAGE_GROUP_SHARE else self._of_strips
            texts, labels = make(at, titled, rng)
            if len(texts) > 1:
                return Group(self._questions[at].question, tuple(texts), tuple(labels))

    def _drawn(self, rng: random.Random) -> int:
        """The index of a question: often one of the data folder's own."""
        if self._own and rng.random() < OWN_SHARE:
            return rng.choice(self._own)
        return rng.randrange(len(self._questions))

    def _of_strips(self, at: int, titled: bool, rng: random.Random) -> tuple[list[str], list[float]]:
        each = self._questions[at]
        cut = each.document.strips
        answering = {place: judged_strip(cut[place], titled) for place in each.answering}
        positives = [answering[rng.choice(each.answering)]] if answering else []
        beside = [
            place + step
            for place in each.answering or each.tempting
            for step in (-2, -1, 1, 2)
            if 0 <= place + step < len(cut)
        ]
        rng.shuffle(beside)
        near = [self._strips[i] for i in self._near_strips.of(at, rng)]
        own = [[cut[place] for place in places] for places in (each.tempting, beside[:2], beside[2:])]
        found = [*own[0], *own[1], *near, *own[2]]
        candidates = [judged_strip(strip, titled) for strip in found]
        return _with_negatives(each, positives, set(answering.values()), candidates, NEGATIVE_STRIPS)

    def _of_passages(self, at: int, titled: bool, rng: random.Random) -> tuple[list[str], list[float]]:
        each = self._questions[at]
        cut = each.document.strips
        asked = terms(each.question) if rng.random() < WINDOW_SHARE else set[str]()
        answering = {_judged_part(cut[place].passage, asked, titled, cut[place]) for place in each.answering}
        tempting = [_judged_part(cut[place].passage, asked, titled) for place in each.tempting]
        positives = [rng.choice(sorted(answering))] if answering else []
        near = [_judged_part(self._passages[i], asked, titled) for i in self._near_passages.of(at, rng)]
        return _with_negatives(each, positives, answering, tempting + near, NEGATIVE_PASSAGES)


def _with_negatives(
    each: DocumentQuestion, positives: list[str], answering: set[str], candidates: Sequence[str], count: int
) -> tuple[list[str], list[float]]:
    told = _plain(each.answer)
    tells = len(told) >= MIN_TELLING_ANSWER
    negatives = [
        text
        for text in dict.fromkeys(candidates)
        if text not in answering and not (tells and told in _plain(text))
    ][:count]
    return [*positives, *negatives], [1.0] * len(positives) + [0.0] * len(negatives)


def as_example(each: DocumentQuestion) -> Example:
    """A question with all strips of its document for sentences, below the title of the document."""
    cut = tuple(judged_strip(strip, titled=True) for strip in each.document.strips)
    return Example(
        DOCUMENTS_SET, each.document.name, each.question, cut, each.answering, bool(each.answering)
    )


def judged_strip(strip: Strip, titled: bool = False) -> str:
    """A strip as the evaluator reads it, with or without the title of its document."""
    return (judged_text(strip) if titled else in_context(strip))[:MAX_TEXT_CHARACTERS]


def _judged_part(passage: Passage, asked: set[str], titled: bool, answer: Strip | None = None) -> str:
    """A passage as it is judged: its window around what is asked, or all of it.

    It is all of it if the window does not hold the `answer`, or if nothing is `asked`.
    """
    nearest = nearest_window(passage, asked)
    if nearest is None or (answer and not nearest.start <= answer.start < answer.end <= nearest.end):
        return judged_passage(passage, titled)
    return judged_strip(nearest, titled)


def judged_passage(passage: Passage, titled: bool = False) -> str:
    """A passage as the evaluator reads it, with or without the title of its document."""
    return (passage.judged if titled else passage.in_context)[:MAX_TEXT_CHARACTERS]
