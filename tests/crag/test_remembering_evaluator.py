"""The evaluator that remembers."""

from __future__ import annotations

from localcrag.crag.judges.remembering_evaluator import RememberingEvaluator
from tests.fakes.llm import ScriptedEvaluator


def test_no_pair_is_read_twice() -> None:
    inner = ScriptedEvaluator(lambda query, text: len(text) / 100)
    evaluator = RememberingEvaluator(inner)
    first = evaluator.score("q", ["aa", "bbb", "aa"])
    again = evaluator.score("q", ["bbb", "cccc"])
    assert (first, again) == ([0.02, 0.03, 0.02], [0.03, 0.04])
    assert inner.asked == [("q", ("aa", "bbb")), ("q", ("cccc",))]
    evaluator.score("another", ["aa"])
    assert inner.asked[-1] == ("another", ("aa",))
