"""Ctrl-C while a model begins its first computation."""

from __future__ import annotations

import threading

import pytest

from localcrag.llm.evaluator import LlamaCppEvaluator
from localcrag.llm.registry import embedded_folder


def test_the_helper_thread_runs_before_anything_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt in the start of a pool's thread would leave a computation that nobody waits for."""
    with LlamaCppEvaluator(next(embedded_folder().glob("localcrag-evaluator-*.gguf"))) as evaluator:
        evaluator.load()

        def interrupted(_: threading.Thread) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", interrupted)
            (score,) = evaluator.score("what is blue", ["the sky is blue"])
    assert 0 <= score <= 1
