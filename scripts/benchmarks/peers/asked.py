"""localcrag as a user has it, and plain RAG, with verdicts and words of their own: a worker.

The passages are given, as to the peers; from there on localcrag is its own default, with the adapter and the
evaluator that travel with it. Plain RAG is one prompt with all passages, to the model without an adapter.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.peers.given import Given, hits
from benchmarks.peers.own import forget
from benchmarks.peers.wire import Cost, Setup, serve
from localcrag.crag import prompts
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.refinement.knowledge_strips import whole
from localcrag.crag.refinement.recomposition import numbered
from localcrag.crag.state import Query
from localcrag.events import answer_of
from localcrag.llm.language_model import LlamaCppModel
from localcrag.loaded_models import LoadedModels
from localcrag.options import AskOptions
from localcrag.pipeline_builder import PipelineBuilder
from localcrag.settings import ModelSettings, Settings
from localcrag.types import Answer, Mode, Status

PLAIN, WRITTEN = "plain", "localcrag-write"


class Contenders:
    """Plain RAG and localcrag over models that stay loaded; no cache outlives a question."""

    def __init__(self, setup: Setup) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="localcrag-bench-")
        home = Path(self._folder.name)
        named = ModelSettings(context=setup.context, threads=setup.threads)
        self._settings = Settings(home=home, model=named)
        self._models = LoadedModels(named, home)
        self._plain = LlamaCppModel(setup.model, context=setup.context, threads=setup.threads)

    def ask(self, request: Mapping[str, Any]) -> Cost:
        """One question of one contender."""
        forget(self._plain)
        language = self._models.language
        assert isinstance(language, LlamaCppModel), "peers are compared with a model in this process"
        forget(language)
        if request["contender"] == PLAIN:
            return self._by_plain_rag(request)
        return self._by_localcrag(request, Mode.WRITE if request["contender"] == WRITTEN else None)

    def _by_plain_rag(self, request: Mapping[str, Any]) -> Cost:
        before, started = self._plain.tokens, perf_counter()
        evidence = numbered([whole(hit.passage, 1.0) for hit in hits(request["passages"])])
        prompt = prompts.answer(request["text"], evidence)
        text = "".join(self._plain.stream(prompt, max_tokens=request["tokens"]))
        seconds, cost = perf_counter() - started, self._plain.tokens - before
        kept = tuple(range(len(request["passages"])))
        return Cost(cost.evaluated, cost.generated, 0, seconds, kept, text)

    def _by_localcrag(self, request: Mapping[str, Any], mode: Mode | None) -> Cost:
        evaluator = self._models.evaluator
        assert evaluator is not None
        model, found = self._models.language, hits(request["passages"])
        builder = PipelineBuilder(self._settings, self._models, AskOptions(mode=mode))
        adapters = builder.adapters(Given(found), lambda document: [])  # type: ignore[arg-type]
        options = replace(builder.pipeline_options(), corrections=(), answer_tokens=request["tokens"])
        before, judged, started = model.tokens, evaluator.tokens.evaluated, perf_counter()
        answer = answer_of(Pipeline(adapters, options).run(Query(request["text"])))
        seconds, cost = perf_counter() - started, model.tokens - before
        beside = evaluator.tokens.evaluated - judged
        return Cost(cost.evaluated, cost.generated, beside, seconds, _cited(request, answer), answer.text)


def _cited(request: Mapping[str, Any], answer: Answer) -> tuple[int, ...]:
    """The passages that an answer cites, by number; none if it says that it has none."""
    if answer.status is Status.NOT_FOUND:
        return ()
    places = {f"/given/{rank}": rank - 1 for rank in range(1, len(request["passages"]) + 1)}
    return tuple(sorted({places[citation.source] for citation in answer.citations}))


def begin(setup: Setup) -> Callable[[Mapping[str, Any]], Cost]:
    return Contenders(setup).ask


if __name__ == "__main__":
    serve(begin)
