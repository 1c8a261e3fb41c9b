"""Ctrl-C while a model begins its first computation."""

from __future__ import annotations

import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from localcrag.llm import llama_backend
from localcrag.llm.evaluator import GgufEvaluator
from localcrag.llm.llama_model import Model
from localcrag.llm.registry import embedded_folder


def test_the_helper_thread_runs_before_anything_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt in the start of a pool's thread would leave a computation that nobody waits for."""
    with GgufEvaluator(embedded_folder() / "localcrag-evaluator-v6.gguf") as evaluator:
        evaluator.load()

        def interrupted(_: threading.Thread) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", interrupted)
            (score,) = evaluator.score("what is blue", ["the sky is blue"])
    assert 0 <= score <= 1


def own_evaluator(folder: Path) -> Path:
    """A copy of the evaluator, whose weights no other test has in memory."""
    return Path(shutil.copy(embedded_folder() / "localcrag-evaluator-v6.gguf", folder))


@pytest.mark.parametrize("step", ["llama_model_load_from_file", "llama_init_from_model"])
def test_an_interrupt_while_a_model_is_loaded_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, step: str
) -> None:
    """llama.cpp logs then, and an exception in the callback of the log goes nowhere."""
    make, log = getattr(llama_backend.llama, step), llama_backend._log
    made: list[Any] = []
    freed: list[Any] = []
    free = "llama_model_free" if step == "llama_model_load_from_file" else "llama_free"
    really_free = getattr(llama_backend.llama, free)

    def interrupted(*args: Any) -> Any:
        assert threading.current_thread() is not threading.main_thread()
        signal.raise_signal(signal.SIGINT)
        log(1, b"a line", None)
        made.append(make(*args))
        return made[0]

    def count_and_free(handle: Any) -> None:
        freed.append(handle)
        really_free(handle)

    monkeypatch.setattr(llama_backend.llama, step, interrupted)
    monkeypatch.setattr(llama_backend.llama, free, count_and_free)
    evaluator = GgufEvaluator(own_evaluator(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        evaluator.load()
    monkeypatch.undo()
    assert freed == list(filter(None, made)), "what was made all the same is freed"
    with evaluator:
        evaluator.load()
        assert 0 <= evaluator.score("what is blue", ["the sky is blue"])[0] <= 1


def test_a_loading_that_is_to_end_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The model is told by its own callback; here nothing else can end it."""
    load = llama_backend.llama.llama_model_load_from_file
    ended = []

    def told(path: bytes, params: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        while params.progress_callback(0.5, params.progress_callback_user_data):
            time.sleep(0.01)
        ended.append(load(path, params))
        return None

    monkeypatch.setattr(llama_backend.llama, "llama_model_load_from_file", told)
    with pytest.raises(KeyboardInterrupt):
        Model(own_evaluator(tmp_path))
    assert ended == [None]
