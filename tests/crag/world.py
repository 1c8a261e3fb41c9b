"""A small world for the loop: documents in memory, models that follow a script."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from localcrag.crag.grade import EvaluatorGrader, Grader, YesNoGrader
from localcrag.crag.loop import Loop
from localcrag.crag.parts import Options, Parts, Query
from localcrag.errors import WebError
from localcrag.events import Event, Finished
from localcrag.types import (
    NO_META,
    Answer,
    Document,
    Grounding,
    Indexed,
    Meta,
    Page,
    StripKind,
    Thresholds,
    Turn,
    WebResult,
)
from tests.fakes.corpus import ScriptedCorpus
from tests.fakes.index import HashEmbedder, MemoryStore
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel
from tests.fakes.web import FakeFetcher, FakeSearch

E = TypeVar("E", bound=Event)
BOUNDS = Thresholds(upper=0.7, lower=0.3)


split = ScriptedCorpus().split
"""One passage a paragraph."""


def store_of(documents: Mapping[str, str], meta: Meta = NO_META) -> MemoryStore:
    """A knowledge base of texts by source; a form feed begins a new page."""
    embedder, store = HashEmbedder(), MemoryStore()
    for source, text in documents.items():
        digest = hashlib.sha256(text.encode()).hexdigest()
        pages = text.split("\f")
        numbered = tuple(Page(n if len(pages) > 1 else None, page) for n, page in enumerate(pages, 1))
        document = Document(source, digest, source, "text/plain", numbered, meta)
        passages = split(document)
        entry = Indexed(source, digest, len(text), 1, len(passages))
        store.replace([(document, entry, passages, embedder.encode([p.text for p in passages]))])
    return store


def says(
    *words: str, sure: float = 0.95, unsure: float = 0.05
) -> Callable[[str, Sequence[str]], list[float]]:
    """A grader's rule: yes to a passage that holds one of the words."""

    def choose(prompt: str, options: Sequence[str]) -> list[float]:
        passage = prompt.split("<passage>")[-1]
        p = sure if any(word in passage for word in words) else unsure
        return [p, 1 - p]

    return choose


@dataclass
class World:
    """Everything a question needs; change what a test is about and run it."""

    documents: Mapping[str, str]
    model: ScriptedModel
    evaluator: ScriptedEvaluator | None = None
    found: Mapping[str, Sequence[WebResult] | WebError] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    options: Options = field(
        default_factory=lambda: Options(passages=2, phrasings=2, grounding=Grounding.OFF)
    )
    bounds: Thresholds = BOUNDS
    by_evaluator: bool = False

    def __post_init__(self) -> None:
        self.store = store_of(self.documents)
        self.search = FakeSearch(self.found)
        self.fetcher = FakeFetcher(self.pages)
        if self.evaluator is None:
            self.options = replace(self.options, strips=StripKind.NONE)

    @property
    def grader(self) -> Grader:
        if self.by_evaluator and self.evaluator:
            return EvaluatorGrader(self.evaluator, self.bounds)
        return YesNoGrader(self.model, self.bounds)

    def run(self, question: str, history: Sequence[Turn] = ()) -> list[Event]:
        return self.ask(Query(question, tuple(history)))

    def ask(self, query: Query) -> list[Event]:
        parts = Parts(
            store=self.store,
            embedder=HashEmbedder(),
            model=self.model,
            grader=self.grader,
            split=split,
            evaluator=self.evaluator,
            web=self.search,
            fetcher=self.fetcher,
        )
        return list(Loop(parts, self.options).run(query))

    def with_options(self, **changes: object) -> World:
        self.options = replace(self.options, **changes)  # type: ignore[arg-type]
        return self


def answer(events: Sequence[Event]) -> Answer:
    last = events[-1]
    assert isinstance(last, Finished)
    return last.answer


def of(kind: type[E], events: Sequence[Event]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def names(events: Sequence[Event]) -> Iterator[str]:
    """The names of the events without the measurements and the pieces of text."""
    return (type(e).__name__ for e in events if type(e).__name__ not in ("Measured", "Delta"))
