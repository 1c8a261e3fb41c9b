"""How answers look on a terminal, from the values alone."""

from __future__ import annotations

import pytest

from localcrag.cli.render import Steps
from localcrag.types import Action, Answer, Mode, Policy, Status
from tests.crag.values import grade


def shown(capsys: pytest.CaptureFixture[str], status: Status, *confidences: float | None) -> str:
    grades = tuple(grade(p, text=f"text {p}") for p in confidences)
    Steps(trace=False).sources(
        Answer("q?", status, "", Mode.QUOTE, Policy.CRAG, Action.INCORRECT, grades=grades)
    )
    return capsys.readouterr().err


def test_what_came_closest_is_named_where_there_is_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, Status.NOT_FOUND, 0.02, None, 0.09, 0.05, 0.001).splitlines()
    assert lines == ["closest: /a.txt (P=0.09): text 0.09", "closest: /a.txt (P=0.05): text 0.05"]


def test_nothing_is_named_that_is_not_worth_a_look(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, Status.NOT_FOUND, 0.001, None) == ""
    assert "closest" not in shown(capsys, Status.UNSURE, 0.09)
