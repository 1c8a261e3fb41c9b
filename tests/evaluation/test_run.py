"""Asking: in turns, whatever fails, and until Ctrl-C."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from localcrag.errors import ContextOverflow, ModelError, StoreError
from localcrag.evaluation.labels import Labelled
from localcrag.evaluation.question_set import Question
from localcrag.evaluation.run import QUESTIONS_PER_TURN, measure, turns
from localcrag.events import Event, Finished
from localcrag.types import WebPolicy
from tests.evaluation.values import answer


class Base:
    """A knowledge base that answers, except where a question is on its list of troubles."""

    def __init__(self, name: str, asked: list[str], troubles: dict[str, BaseException] | None = None) -> None:
        self.name, self.asked, self.troubles = name, asked, troubles or {}

    def stream(self, question: str, options: Any) -> Iterator[Event]:
        assert options.web is WebPolicy.NEVER
        self.asked.append(f"{self.name}{question}")
        return self._events(question)

    def _events(self, question: str) -> Iterator[Event]:
        if trouble := self.troubles.get(question):
            raise trouble
        yield Finished(answer(text=question))


def questions(count: int) -> list[Labelled]:
    return [Labelled(Question(number, str(number)), None) for number in range(count)]


def quiet(_done: int, _total: int) -> None:
    pass


def run(*sides: tuple[Base, list[Labelled]]) -> Any:
    return measure(sides, filter=None, progress=quiet)  # type: ignore[arg-type]


def test_two_sides_take_turns_in_blocks_and_each_begins_as_often() -> None:
    order = list(turns([12, 12]))
    turn = QUESTIONS_PER_TURN
    assert [side for side, _ in order] == [0] * turn + [1] * (2 * turn) + [0] * turn + [0, 0, 1, 1]
    for side in (0, 1):
        assert [number for s, number in order if s == side] == list(range(12))


def test_a_shorter_side_is_done_sooner() -> None:
    assert list(turns([1, 2])) == [(0, 0), (1, 0), (1, 1)]


def test_progress_counts_all_questions() -> None:
    seen: list[tuple[int, int]] = []
    asked: list[str] = []
    sides = [(Base("a", asked), questions(2)), (Base("b", asked), questions(2))]
    measure(sides, filter=None, progress=lambda *each: seen.append(each))  # type: ignore[arg-type]
    assert seen == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    assert asked == ["a0", "a1", "b0", "b1"]


def test_a_question_on_which_a_model_fails_is_counted_and_passed_over() -> None:
    base = Base("a", [], {"1": ContextOverflow("too long")})
    [found] = run((base, questions(3)))
    assert [o.question.line for o in found.observations] == [0, 2]
    [failed] = found.failed
    assert (failed.line, failed.reason) == (1, "too long")
    assert not found.partial


def test_where_every_question_fails_the_first_error_is_raised() -> None:
    troubles: dict[str, BaseException] = {"0": ModelError("first"), "1": ModelError("second")}
    with pytest.raises(ModelError, match="first"):
        run((Base("a", [], troubles), questions(2)))


def test_what_is_no_model_failure_is_raised_at_once() -> None:
    with pytest.raises(StoreError):
        run((Base("a", [], {"1": StoreError("gone")}), questions(3)))


def test_ctrl_c_keeps_what_was_measured_of_both() -> None:
    first = Base("a", [])
    second = Base("b", [], {"2": KeyboardInterrupt()})
    one, two = run((first, questions(QUESTIONS_PER_TURN)), (second, questions(QUESTIONS_PER_TURN)))
    assert (len(one.observations), one.partial) == (QUESTIONS_PER_TURN, False)
    assert (len(two.observations), two.partial) == (2, True)


def test_ctrl_c_before_anything_was_measured() -> None:
    with pytest.raises(KeyboardInterrupt):
        run((Base("a", [], {"0": KeyboardInterrupt()}), questions(2)))
