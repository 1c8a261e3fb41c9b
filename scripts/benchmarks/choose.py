"""Tokens and time of one batched choice over 8 passages against 8 choices of their own."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks.material import QUESTION, texts
from benchmarks.report import Figure, Report, Room

if TYPE_CHECKING:
    from localcrag.types import Prompt


def measure(room: Room) -> Report:
    from localcrag.crag import prompts
    from localcrag.loaded_models import models_for
    from localcrag.settings import load

    settings = load(home=room.scratch / "home")
    model = models_for(settings.model, settings.home).language
    passages = [text[2000:3000] for _, text in texts(200_000)][:8]
    asked = [prompts.grade(QUESTION, text, trained=True) for text in passages]

    ratios = []
    for _ in range(room.rounds):
        together, fast = _cost(model, asked)
        each = [_cost(model, [prompt]) for prompt in asked]
        alone, slow = sum(tokens for tokens, _ in each), sum(seconds for _, seconds in each)
        ratios.append(slow / fast)
    return Report(
        (
            Figure("choose over 8 passages", together, "tokens evaluated"),
            Figure("8 prompts of their own", alone, "tokens evaluated"),
            Figure("time of 8 on their own / together", median(ratios), "ratio"),
        )
    )


def _cost(model: Any, asked: Sequence[Prompt]) -> tuple[int, float]:
    """Tokens and seconds of one choice, from an empty cache."""
    model.close()
    model.load()
    before, started = model.tokens, perf_counter()
    model.choose(asked, ("yes", "no"))
    return (model.tokens - before).evaluated, perf_counter() - started
