"""localcrag itself, and plain RAG with its model and its prompt: the worker of the project's environment.

Everything is put together as for a question that a user asks (the product's own ``PipelineBuilder`` and
``Pipeline``). Only retrieval has happened already, and the verdicts are replaced by the
labels after the model gave them. Plain RAG goes through the same model and the same prompt, so that what
lies between the two is what grading costs, and no difference of libraries or of words.
"""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.peers.given import Given, Still, hits
from benchmarks.peers.wire import Cost, Setup, serve
from localcrag.crag import prompts
from localcrag.crag.judges.graders import Grader
from localcrag.crag.judges.remembering_evaluator import RememberingEvaluator
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.refinement.knowledge_strips import whole
from localcrag.crag.refinement.recomposition import numbered
from localcrag.crag.state import Adapters, PipelineOptions, Query
from localcrag.events import answer_of
from localcrag.llm.decoding import Sampler
from localcrag.llm.language_model import LlamaCppModel
from localcrag.loaded_models import LoadedModels
from localcrag.options import AskOptions
from localcrag.pipeline_builder import PipelineBuilder
from localcrag.settings import ModelSettings, Settings
from localcrag.types import (
    Grade,
    GraderKind,
    Grounding,
    Hit,
    Layout,
    Mode,
    Prompt,
    StripKind,
    Thresholds,
    Verdict,
)

PLAIN, PLAIN_KEPT = "plain", "plain-kept"
LOOPS: Mapping[str, tuple[GraderKind, Layout]] = {
    "yesno": (GraderKind.YESNO, Layout.INDEPENDENT),
    "yesno-joint": (GraderKind.YESNO, Layout.JOINT),
    "cascade": (GraderKind.CASCADE, Layout.INDEPENDENT),
    "cascade-joint": (GraderKind.CASCADE, Layout.JOINT),
}
"""The grader and the layout of each of localcrag's contenders."""


class Rehearsed(LlamaCppModel):
    """A language model that evaluates everything in full, and writes what it was told to.

    What it was told is in no form of an answer; so the loop, which would leave it out, is told that the
    documents do not answer, and ``said`` is what was written.
    """

    script: deque[int] | None = None
    answer = ""
    said = ""

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        parts = self._loaded()
        self.script = deque(parts.model.tokenize_continuation(self.answer, special=False))
        try:
            self.said = "".join(super().stream(prompt, max_tokens=max_tokens))
        finally:
            self.script = None
        yield prompts.NOT_IN_EVIDENCE


def forget(model: LlamaCppModel) -> None:
    """Empty a model's cache, and keep the model loaded."""
    model._loaded().cache.forget()


def rehearse(model: Rehearsed) -> None:
    """From now on a token that is picked is replaced by the next of the model's script, where it has one."""
    pick = Sampler.pick

    def picked(self: Sampler, row: Any, allowed: Any) -> int:
        own = pick(self, row, allowed)
        if not model.script:
            return own
        token = model.script.popleft()
        assert allowed[token], "the constraint forbids what the model is to say"
        return token

    Sampler.pick = picked  # type: ignore[method-assign]


@dataclass(frozen=True)
class Rehearsing(LoadedModels):
    """The models of a configuration, the language model among them rehearsed."""

    @cached_property
    def language(self) -> Rehearsed:
        given = self.settings
        cache = self.home / "cache" / "constraints"
        return Rehearsed(self.language_file, context=given.context, threads=given.threads, cache_dir=cache)


@dataclass(frozen=True)
class Labelled:
    """A grader whose verdicts are replaced by labels, after it made them at full cost."""

    grader: Grader
    relevant: frozenset[str]

    @property
    def kind(self) -> GraderKind:
        return self.grader.kind

    @property
    def thresholds(self) -> Thresholds:
        return self.grader.thresholds

    def grade(self, question: str, hits: Sequence[Hit], *how: Any) -> list[Grade]:
        return [self._labelled(grade) for grade in self.grader.grade(question, hits, *how)]

    def _labelled(self, grade: Grade) -> Grade:
        if grade.hit.passage.text in self.relevant:
            return Grade(grade.hit, Verdict.YES, 0.99)
        return Grade(grade.hit, Verdict.NO, 0.01)


class Contenders:
    """All of them over the same loaded models."""

    def __init__(self, setup: Setup) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="localcrag-bench-")
        home = Path(self._folder.name)
        named = ModelSettings(language=setup.model, context=setup.context, threads=setup.threads)
        self.settings = Settings(home=home, model=named)
        self.models = Rehearsing(named, home)
        self.model = self.models.language
        rehearse(self.model)

    def ask(self, request: Mapping[str, Any]) -> Cost:
        forget(self.model)
        self.model.answer = request["answer"]
        name = request["contender"]
        run = self.plain if name in (PLAIN, PLAIN_KEPT) else self.loop
        tokens, beside = self.model.tokens, self._evaluated
        started = perf_counter()
        kept, text = run(request)
        seconds = perf_counter() - started
        cost = self.model.tokens - tokens
        return Cost(cost.evaluated, cost.generated, self._evaluated - beside, seconds, kept, text)

    @property
    def _evaluated(self) -> int:
        return self.models.evaluator.tokens.evaluated if self.models.evaluator else 0

    def plain(self, request: Mapping[str, Any]) -> tuple[tuple[int, ...], str]:
        """One prompt over all passages, or over those to be kept, and the answer."""
        everything = request["contender"] == PLAIN
        shown = [n for n, label in enumerate(request["labels"]) if label or everything]
        found = hits([request["passages"][number] for number in shown])
        evidence = numbered([whole(hit.passage, 1.0) for hit in found])
        for _ in self.model.stream(prompts.answer(request["text"], evidence), max_tokens=request["tokens"]):
            pass
        return tuple(shown), self.model.said

    def loop(self, request: Mapping[str, Any]) -> tuple[tuple[int, ...], str]:
        """The whole loop; with the cascade a wide retrieval is reranked by the evaluator first."""
        kind, layout = LOOPS[request["contender"]]
        cascade = kind is GraderKind.CASCADE
        given = AskOptions(
            grader=kind, layout=layout, strips=StripKind.NONE, grounding=Grounding.OFF, mode=Mode.WRITE
        )
        found = hits(request["candidates"] if cascade else request["passages"])
        evaluator = RememberingEvaluator(self.models.evaluator) if self.models.evaluator and cascade else None
        builder = PipelineBuilder(self.settings, self.models, given)
        relevant = [text for text, label in zip(request["passages"], request["labels"], strict=True) if label]
        parts = Adapters(
            store=Given(found),  # type: ignore[arg-type]
            embedder=Still(),
            model=self.model,
            grader=Labelled(builder.grader(evaluator), frozenset(relevant)),
            split=lambda document: [],
            evaluator=evaluator,
        )
        options = self._options(builder.pipeline_options(), request)
        answer = answer_of(Pipeline(parts, options).run(Query(request["text"])))
        places = {text: place for place, text in enumerate(request["passages"])}
        graded = {places[grade.hit.passage.text]: grade.verdict for grade in answer.grades}
        return tuple(sorted(p for p, verdict in graded.items() if verdict is Verdict.YES)), self.model.said

    @staticmethod
    def _options(composed: PipelineOptions, request: Mapping[str, Any]) -> PipelineOptions:
        """The product's options with as many passages, and as long an answer, as all contenders have."""
        return replace(
            composed,
            mode=Mode.WRITE,
            passages=len(request["passages"]),
            candidates=len(request["candidates"]),
            evidence=len(request["passages"]),
            answer_tokens=request["tokens"],
            divide=False,
            contradictions=False,
            corrections=(),
        )


def begin(setup: Setup) -> Callable[[Mapping[str, Any]], Cost]:
    return Contenders(setup).ask


if __name__ == "__main__":
    serve(begin)
