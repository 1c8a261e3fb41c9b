"""An embedder that hashes words, and a passage store in memory."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from localcrag.errors import DocumentGone
from localcrag.filters import BUILT_IN, FieldType, FieldTypes, Filter, check, is_key, matches, type_of
from localcrag.types import Document, Hit, IndexedDocument, Passage, Skipped, StoreInfo

Vectors = npt.NDArray[np.float32]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@dataclass(frozen=True)
class HashEmbedder:
    """Texts that share words have similar vectors; the same text always has the same one."""

    name: str = "hash"
    dimension: int = 64

    def encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in words(text) or [""]:
                digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
                vector[int.from_bytes(digest[:4], "little") % self.dimension] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if len(texts) else vectors

    def encode_questions(self, texts: Sequence[str]) -> Vectors:
        return self.encode(texts)


@dataclass
class _Held:
    document: Document
    entry: IndexedDocument
    passages: Sequence[Passage]
    vectors: Vectors


@dataclass
class _Asked:
    """The questions of one passage."""

    passage: Passage
    questions: Sequence[str]
    vectors: Vectors


@dataclass
class MemoryStore:
    """A knowledge base that is gone with the process; ``optimized`` counts the calls of optimize."""

    name: str = "memory"
    embedding_model: str = "hash"
    dimension: int = 64
    optimized: int = 0
    _held: dict[str, _Held] = field(default_factory=dict)
    _asked: dict[str, _Asked] = field(default_factory=dict)
    _skips: dict[str, str] = field(default_factory=dict)
    _keys: dict[str, set[FieldType]] = field(default_factory=dict)

    def require_whole(self, *, thorough: bool = False) -> None:
        """What is in memory is whole."""

    def info(self) -> StoreInfo:
        held = list(self._held.values())
        return StoreInfo(
            name=self.name,
            documents=len(held),
            passages=sum(len(item.passages) for item in held),
            embedding_model=self.embedding_model,
            dimension=self.dimension,
            size=sum(len(page.text) for item in held for page in item.document.pages),
            fields=tuple(self._fields),
            vector_index=False,
            questions=sum(len(item.questions) for item in self._asked.values()),
        )

    def indexed(self) -> Mapping[str, IndexedDocument]:
        return {source: item.entry for source, item in self._held.items()}

    def replace(self, batch: Sequence[tuple[Document, IndexedDocument, Sequence[Passage], Vectors]]) -> None:
        for document, *_ in batch:
            for key, value in document.meta.items():
                if is_key(key):
                    self._keys.setdefault(key, set()).add(type_of(value))
        for document, entry, passages, vectors in batch:
            if vectors.shape != (len(passages), self.dimension):
                raise ValueError(f"vectors of shape {vectors.shape}")
            self._held[document.source] = _Held(document, entry, passages, vectors)
            self._forget_questions(document.source)

    def move(self, moves: Sequence[tuple[str, IndexedDocument]]) -> None:
        for former, entry in moves:
            held = self._held.pop(former)
            document = replace(held.document, source=entry.source)
            passages = [replace(passage, source=entry.source) for passage in held.passages]
            self._held[entry.source] = _Held(document, entry, passages, held.vectors)
            for passage in passages:
                if asked := self._asked.get(passage.id):
                    self._asked[passage.id] = replace(asked, passage=passage)

    def add_roots(self, folders: Sequence[str]) -> None:
        """What is in memory is not moved."""

    def skipped(self) -> Sequence[Skipped]:
        return [Skipped(*item) for item in sorted(self._skips.items())]

    def record_skips(self, skipped: Sequence[Skipped], settled: Collection[str]) -> None:
        left = {source: reason for source, reason in self._skips.items() if source not in settled}
        self._skips = left | {item.source: item.reason for item in skipped}

    def remove(self, sources: Sequence[str]) -> int:
        for source in sources:
            self._forget_questions(source)
        return sum(self._held.pop(source, None) is not None for source in sources)

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        if filter is not None:
            check(filter, self._fields)
        wanted = set(words(text))
        scored = []
        for item in list(self._held.values()):
            for passage, own in zip(item.passages, item.vectors, strict=True):
                if filter is None or matches(filter, passage):
                    cosine = float(own @ vector)
                    scores = [
                        self._score(cosine, wanted, f"{passage.title} {passage.heading} {passage.text}")
                    ]
                    if asked := self._asked.get(passage.id):
                        for question, its in zip(asked.questions, asked.vectors, strict=True):
                            scores.append(self._score(float(its @ vector), wanted, question))
                    scored.append(Hit(passage, max(scores), cosine))
        return sorted(scored, key=lambda hit: (-hit.score, hit.passage.id))[:k]

    @staticmethod
    def _score(cosine: float, wanted: set[str], text: str) -> float:
        return (cosine + len(wanted & set(words(text))) / max(1, len(wanted))) / 2

    def questionless(self) -> Iterator[Passage]:
        passages = [p for source in sorted(self._held) for p in self._held[source].passages]
        return iter([passage for passage in passages if passage.id not in self._asked])

    def add_questions(self, batch: Sequence[tuple[Passage, Sequence[str], Vectors]]) -> None:
        for _, questions, vectors in batch:
            if vectors.shape != (len(questions), self.dimension):
                raise ValueError(f"vectors of shape {vectors.shape}")
        for passage, questions, vectors in batch:
            held = self._held.get(passage.source)
            if questions and held is not None and passage in held.passages:
                self._asked[passage.id] = _Asked(passage, questions, vectors)

    def _forget_questions(self, source: str) -> None:
        self._asked = {id: item for id, item in self._asked.items() if item.passage.source != source}

    def neighbours(self, passage: Passage) -> list[Passage]:
        item = self._held.get(passage.source)
        if item is None or item.document.hash != passage.document:
            return []
        return [other for other in item.passages if abs(other.ordinal - passage.ordinal) == 1]

    def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        found = [self._held[source] for source in sorted(documents) if source in self._held]
        current = [item for item in found if item.document.hash == documents[item.document.source]]
        return [passage for item in current for passage in item.passages if passage.ordinal < limit]

    def text(self, document: str, page: int | None, *, source: str | None = None) -> str:
        found = [item.document for item in self._held.values() if item.document.hash == document]
        for candidate in sorted(found, key=lambda document: document.source != source):
            for stored in candidate.pages:
                if stored.number == page:
                    return stored.text
        raise DocumentGone(f"the text of {document} is not held")

    def optimize(self, progress: Callable[[str], None] | None = None) -> None:
        self.optimized += 1
        if progress:
            progress("nothing to do")

    @property
    def _fields(self) -> FieldTypes:
        return {**BUILT_IN, **{key: frozenset(kinds) for key, kinds in sorted(self._keys.items())}}
