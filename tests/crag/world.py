"""A small world for the loop: documents in memory, models that follow a script."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from localcrag.crag import prompts
from localcrag.crag.judges.graders import EvaluatorGrader, Grader, RubricAssessment, RubricGrader, YesNoGrader
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.questions.decomposition import Division
from localcrag.crag.state import Adapters, PipelineOptions, Query
from localcrag.errors import WebError
from localcrag.events import Event, Finished
from localcrag.types import (
    NO_META,
    Answer,
    Document,
    Grounding,
    IndexedDocument,
    Meta,
    Page,
    RubricLabel,
    StripKind,
    Thresholds,
    Turn,
    WebResult,
)
from tests.fakes.documents import ScriptedCorpus
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel
from tests.fakes.store import HashEmbedder, MemoryStore
from tests.fakes.web import FakeFetcher, FakeSearch

E = TypeVar("E", bound=Event)
T = TypeVar("T")
BOUNDS = Thresholds(upper=0.7, lower=0.3)
NO_METAS: Mapping[str, Meta] = {}


split = ScriptedCorpus().split
"""One passage a paragraph."""


def store_of(documents: Mapping[str, str], metas: Mapping[str, Meta] = NO_METAS) -> MemoryStore:
    """A knowledge base of texts by source, with what is known of some; a form feed begins a new page."""
    embedder, store = HashEmbedder(), MemoryStore()
    for source, text in documents.items():
        digest = hashlib.sha256(text.encode()).hexdigest()
        pages = text.split("\f")
        numbered = tuple(Page(n if len(pages) > 1 else None, page) for n, page in enumerate(pages, 1))
        document = Document(source, digest, source, "text/plain", numbered, metas.get(source, NO_META))
        passages = split(document)
        entry = IndexedDocument(source, digest, len(text), 1, len(passages))
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


Reply = str | Exception
"""What a model says; an error is raised instead."""


@dataclass(frozen=True)
class Script:
    """What a model says, by what it is asked for.

    Passages and sentences are judged by the first word of the script that they hold: its value is
    P(yes), or the error of the judgement; ``otherwise`` is P(yes) where they hold none of the words.
    ``search`` is the line in the question's own words, ``rewrite`` the one in any.
    """

    grades: Mapping[str, float | Exception] = field(default_factory=dict)
    otherwise: float = 0.05
    labels: Mapping[str, RubricLabel | Exception] = field(default_factory=dict)
    rewrite: Reply = "take nothing new"
    search: Reply = ""
    phrasings: tuple[Reply, ...] = ("other words",)
    hyde: Reply = "a made up passage"
    parts: tuple[str, ...] | Exception = ()
    unfounded: Mapping[str, float | Exception] = field(default_factory=dict)
    disagreeing: float | Exception = 0.05
    answer: Reply = "Yes, it is so. [1]"
    picks: Reply = "1"

    def model(self, context: int = 4096) -> ScriptedModel:
        phrasings = list(self.phrasings)
        lines: Mapping[str, Callable[[], Reply]] = {
            prompts.rewrite("").system: lambda: self.rewrite,
            prompts.phrasing("", ()).system: lambda: phrasings.pop(0) if phrasings[1:] else phrasings[0],
            prompts.hypothesis("").system: lambda: self.hyde,
        }
        return ScriptedModel(
            choose=self._judge,
            lines=lambda prompt: next(say for system, say in lines.items() if prompt.startswith(system))(),
            objects=self._write,
            streams=self._stream,
            context=context,
        )

    def _judge(self, prompt: str, _options: Sequence[str]) -> list[float] | Exception:
        if prompt.startswith(prompts.contradict("", "", "").system):
            p = self.disagreeing
        elif prompt.startswith(prompts.grounded("", ()).system):
            p = first_of(self.unfounded, prompt.split("</passage>")[-1], 0.95)
        else:
            p = first_of(self.grades, prompt.split("<passage>")[-1], self.otherwise)
        return p if isinstance(p, Exception) else [p, 1 - p]

    def _stream(self, prompt: str) -> Reply:
        if prompt.startswith(prompts.rewrite("").system):
            return self.search
        return self.picks if "reply none" in prompt else self.answer

    def _write(self, prompt: str) -> object:
        if prompt.startswith(prompts.divide("").system):
            return self.parts if isinstance(self.parts, Exception) else Division(self.parts)
        label = first_of(self.labels, prompt.split("<passage>")[-1].split("</passage>")[0], RubricLabel.AWFUL)
        return label if isinstance(label, Exception) else RubricAssessment("For a reason.", label)


def first_of(values: Mapping[str, T], text: str, otherwise: T) -> T:
    """The value of the first key that the text holds."""
    return next((value for word, value in values.items() if word in text), otherwise)


@dataclass
class World:
    """Everything a question needs; change what a test is about and run it."""

    documents: Mapping[str, str]
    model: ScriptedModel
    evaluator: ScriptedEvaluator | None = None
    found: Mapping[str, Sequence[WebResult] | WebError] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    options: PipelineOptions = field(
        default_factory=lambda: PipelineOptions(passages=2, phrasings=2, grounding=Grounding.OFF)
    )
    bounds: Thresholds = BOUNDS
    by_evaluator: bool = False
    metas: Mapping[str, Meta] = field(default_factory=dict)
    by_rubric: bool = False

    def __post_init__(self) -> None:
        self.store = store_of(self.documents, self.metas)
        self.search = FakeSearch(self.found)
        self.fetcher = FakeFetcher(self.pages)
        if self.evaluator is None:
            self.options = replace(self.options, strips=StripKind.NONE)

    @property
    def grader(self) -> Grader:
        if self.by_evaluator and self.evaluator:
            return EvaluatorGrader(self.evaluator, self.bounds)
        if self.by_rubric:
            return RubricGrader(self.model)
        return YesNoGrader(self.model, self.bounds)

    def run(self, question: str, history: Sequence[Turn] = ()) -> list[Event]:
        return self.ask(Query(question, tuple(history)))

    def ask(self, query: Query) -> list[Event]:
        return list(Pipeline(self.adapters, self.options).run(query))

    @property
    def adapters(self) -> Adapters:
        return Adapters(
            store=self.store,
            embedder=HashEmbedder(),
            model=self.model,
            grader=self.grader,
            split=split,
            evaluator=self.evaluator,
            web=self.search,
            fetcher=self.fetcher,
        )

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
