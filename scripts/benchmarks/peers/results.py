"""From single queries to medians, ratios and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.picture import Chart, Line
from benchmarks.report import Figure, Report

if TYPE_CHECKING:
    from benchmarks.peers import Run
    from benchmarks.peers.wire import Cost

NAMES = {
    "plain": "plain RAG",
    "plain-kept": "plain RAG, kept only",
    "langgraph": "LangGraph",
    "llamaindex": "LlamaIndex",
    "yesno": "localcrag",
    "yesno-joint": "localcrag joint",
    "cascade": "localcrag cascade",
    "cascade-joint": "localcrag cascade joint",
}
WANTED = {
    ("yesno", "langgraph"): "≤ 0.75",
    ("yesno-joint", "plain"): "≤ 1.15",
    ("cascade", "plain"): "≤ 0.65",
    ("cascade", "langgraph"): "≤ 0.4",
    ("cascade-joint", "plain"): "≤ 0.65",
    ("cascade-joint", "langgraph"): "≤ 0.4",
}
"""Bounds on ratios of tokens through the language model."""
FASTER = {"cascade": "≥ 2.5", "cascade-joint": "≥ 2.5"}
"""Bounds on how many times as fast as the LangGraph loop, evaluator included."""
Value = Callable[["Cost"], float]


def tokens(cost: Cost) -> float:
    return cost.tokens


def seconds(cost: Cost) -> float:
    return cost.seconds


def report(runs: Sequence[Run]) -> Report:
    """Medians over the rounds; a ratio is taken in each round, over the same question, before its median."""
    figures: list[Figure] = []
    charts: list[Chart] = []
    for model in dict.fromkeys(run.model for run in runs):
        own = [run for run in runs if run.model == model]
        table = Table(model, own)
        figures += [*table.costs(), *table.ratios()]
        charts += table.charts()
    return Report(tuple(figures), tuple(charts))


class Table:
    """The queries of one model, by contender and round."""

    def __init__(self, model: str, runs: Sequence[Run]) -> None:
        self._model = model
        self._costs: dict[str, dict[int, Cost]] = {}
        for run in runs:
            self._costs.setdefault(run.contender, {})[run.round] = run.cost
        self._contenders = [name for name in NAMES if name in self._costs]

    def median(self, contender: str, value: Value) -> float:
        return median(map(value, self._costs[contender].values()))

    def ratio(self, first: str, second: str, value: Value) -> float:
        """The median of first / second over the rounds that both have."""
        one, other = self._costs[first], self._costs[second]
        return median(value(one[number]) / value(other[number]) for number in one.keys() & other.keys())

    def costs(self) -> Iterator[Figure]:
        for contender in self._contenders:
            name = f"{self._model}: {NAMES[contender]}"
            yield Figure(name, self.median(contender, lambda cost: cost.evaluated), "tokens evaluated")
            yield Figure(name, self.median(contender, lambda cost: cost.generated), "tokens generated")
            if beside := self.median(contender, lambda cost: cost.evaluator):
                yield Figure(f"{name}, evaluator", beside, "tokens evaluated")
            yield Figure(name, self.median(contender, seconds), "s")

    def ratios(self) -> Iterator[Figure]:
        for other in ("plain", "langgraph"):
            for contender in self._contenders:
                if other not in self._costs or contender in (other, "plain", "plain-kept"):
                    continue
                name = f"{self._model}: {NAMES[contender]} / {NAMES[other]}"
                wanted = WANTED.get((contender, other), "")
                yield Figure(name, self.ratio(contender, other, tokens), "ratio of tokens", wanted)
                yield Figure(name, self.ratio(contender, other, seconds), "ratio of seconds")
        if "langgraph" in self._costs:
            for contender in (name for name in FASTER if name in self._costs):
                name = f"{self._model}: LangGraph / {NAMES[contender]}, evaluator included"
                faster = self.ratio("langgraph", contender, seconds)
                yield Figure(name, faster, "times as fast", FASTER[contender])

    def charts(self) -> Iterator[Chart]:
        labels = tuple(NAMES[name] for name in self._contenders)

        def line(name: str, value: Value) -> Line:
            return Line(name, tuple((i, self.median(c, value)) for i, c in enumerate(self._contenders)))

        read = line("read", lambda cost: cost.evaluated), line("written", lambda cost: cost.generated)
        title = f"A query over 8 passages, 2 of them kept ({self._model})"
        yield Chart(f"peers-tokens-{self._model}", title, "", "tokens of the language model", read, labels)
        yield Chart(f"peers-seconds-{self._model}", title, "", "seconds", (line("seconds", seconds),), labels)
