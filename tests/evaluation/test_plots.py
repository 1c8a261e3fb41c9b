"""The picture: in both formats, for one configuration and for two, from little and from nothing."""

from __future__ import annotations

import builtins
from pathlib import Path

import numpy as np
import pytest

from localcrag.errors import EvaluationError, UsageError
from localcrag.evaluation.measures import Cutoffs
from localcrag.evaluation.observations import Observation
from localcrag.evaluation.plots import plot, precision_recall, recall_curve, require_plots
from localcrag.evaluation.results import Result, result_of
from localcrag.evaluation.run import Run
from localcrag.evaluation.statistics import Pairs
from tests.evaluation.test_measures import ALL
from tests.evaluation.values import observation

pytest.importorskip("matplotlib")


def result(name: str, observations: list[Observation]) -> Result:
    return result_of(name, "kb", Run(observations), Cutoffs((1,), (1,)))


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PNG", b"\x89PNG")])
def test_by_the_ending_of_the_file(tmp_path: Path, ending: str, magic: bytes) -> None:
    path = tmp_path / f"plot.{ending}"
    plot([result("one", ALL)], path)
    assert path.read_bytes().startswith(magic)


def test_two_configurations_are_named_in_one_picture(tmp_path: Path) -> None:
    path = tmp_path / "plot.svg"
    plot([result("first", ALL), result("second", ALL[:2])], path)
    text = path.read_text()
    for title in ("Are the grades to be believed?", "How the answers stand"):
        assert title in text
    assert "first: precision" in text and "second: search" in text


def test_without_any_label_there_is_still_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "plot.png"
    plot([result("bare", [observation(answerable=None)])], path)
    assert path.stat().st_size > 10_000


def test_precision_and_recall_at_every_threshold() -> None:
    pairs = Pairs(np.array([0.2, 0.9, 0.9, 0.5]), np.array([1.0, 1.0, 0.0, 0.0]), np.arange(4))
    assert precision_recall(pairs) == ([0.2, 0.5, 0.9], [0.5, pytest.approx(1 / 3), 0.5], [1.0, 0.5, 0.5])


def test_the_recall_curve_rises_with_k() -> None:
    assert recall_curve([(1,), (3,), (None,)], 3) == [
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    ]


@pytest.mark.parametrize("name", ["plot.pdf", "plot", "plot.svg.gz"])
def test_another_ending_is_a_usage_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"must be \.png or \.svg"):
        require_plots(tmp_path / name)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="there is no folder"):
        require_plots(tmp_path / "absent" / "plot.png")


def test_without_matplotlib_the_hint_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: object, **named: object) -> object:
        if name.startswith("matplotlib"):
            raise ImportError("No module named 'matplotlib'")
        return real(name, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(EvaluationError, match="plots need matplotlib") as caught:
        require_plots(tmp_path / "plot.png")
    assert "localcrag[plots]" in caught.value.hint
