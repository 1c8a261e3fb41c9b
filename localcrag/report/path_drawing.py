"""The way of the loop as a drawing: where its steps, lines, bars and words stand, in pixels.

It is a rail from top to bottom. Corrections stand on a branch beside it, which leaves after the decision that
called for them and comes back to the next one. Below a step stand the grades that were given at it: a bar a
passage, as high as P(it helps).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from localcrag.report.loop_path import PathStep
from localcrag.types import Verdict

WIDTH = 720
_RAIL_X, _BRANCH_X, _TEXT_X = 18, 48, 80
_TOP, _TITLE_HEIGHT, _LINE_HEIGHT, _STEP_GAP = 20, 20, 17, 20
_BAR_WIDTH, _BAR_GAP, MAX_BAR_HEIGHT, _MIN_BAR_HEIGHT = 12, 4, 32.0, 2.0
_ROW_MARGIN, _MAX_BARS = 8, 36
MAX_TITLE_CHARACTERS, MAX_DETAIL_CHARACTERS, MAX_DETAIL_LINES = 76, 92, 3


@dataclass(frozen=True, slots=True)
class Bar:
    """A grade: a bar from ``y`` down to the line that all bars of a row stand on.

    ``words`` say the grade, and ``room`` is the height of a bar for a passage that surely helps.
    """

    x: float
    y: float
    width: float
    height: float
    verdict: Verdict
    words: str
    room: float = MAX_BAR_HEIGHT


@dataclass(frozen=True, slots=True)
class DrawnStep:
    """A step with its mark at ``x``, ``y``, its words, and its bars above ``floor``."""

    step: PathStep
    x: float
    y: float
    title: str
    lines: tuple[tuple[float, str], ...]
    bars: tuple[Bar, ...]
    floor: float

    @property
    def grades_in_words(self) -> str:
        """How many of the graded passages help: "1 of 6 helps"."""
        helping = sum(grade.verdict is Verdict.YES for grade in self.step.grades)
        return f"{helping} of {len(self.step.grades)} help{'s' if helping == 1 else ''}"


@dataclass(frozen=True, slots=True)
class PathDrawing:
    """The whole drawing; ``rails`` are the paths between the steps, as SVG writes them."""

    width: int
    height: int
    steps: tuple[DrawnStep, ...]
    rails: tuple[str, ...]
    text_x: int = _TEXT_X


def path_drawing(steps: Sequence[PathStep]) -> PathDrawing:
    """The drawing of these steps."""
    drawn, y = [], float(_TOP)
    for step in steps:
        drawn.append(_drawn(step, y))
        y = _end_of(drawn[-1]) + _STEP_GAP
    rails = tuple(_rail(before, after) for before, after in pairwise(drawn))
    return PathDrawing(WIDTH, int(y), tuple(drawn), rails)


def _drawn(step: PathStep, y: float) -> DrawnStep:
    detail = textwrap.wrap(
        step.detail,
        MAX_DETAIL_CHARACTERS,
        max_lines=MAX_DETAIL_LINES,
        placeholder=" …",
        break_on_hyphens=False,
    )
    lines = tuple((y + _TITLE_HEIGHT + 3 + number * _LINE_HEIGHT, line) for number, line in enumerate(detail))
    text_end = y + 8 + len(lines) * _LINE_HEIGHT
    floor = text_end + _ROW_MARGIN + MAX_BAR_HEIGHT if step.grades else text_end
    title = textwrap.shorten(step.title, MAX_TITLE_CHARACTERS, placeholder=" …")
    x = _BRANCH_X if step.aside else _RAIL_X
    return DrawnStep(step, x, y, title, lines, tuple(_bars(step, floor)), floor)


def _bars(step: PathStep, floor: float) -> list[Bar]:
    bars = []
    for number, grade in enumerate(step.grades[:_MAX_BARS]):
        share = MAX_BAR_HEIGHT if grade.confidence is None else grade.confidence * MAX_BAR_HEIGHT
        height = max(_MIN_BAR_HEIGHT, round(share, 1))
        chance = "" if grade.confidence is None else f", {grade.confidence:.2f}"
        passage = grade.hit.passage
        words = f"{passage.title or passage.source}: {grade.verdict}{chance}"
        x = _TEXT_X + number * (_BAR_WIDTH + _BAR_GAP)
        bars.append(Bar(x, round(floor - height, 1), _BAR_WIDTH, height, grade.verdict, words))
    return bars


def _end_of(drawn: DrawnStep) -> float:
    return drawn.floor + 4


def _rail(before: DrawnStep, after: DrawnStep) -> str:
    """The line between two steps; from one lane to the other it bends."""
    if before.x == after.x:
        return f"M{before.x} {before.y}V{after.y}"
    down = min(44.0, after.y - before.y)
    if after.x > before.x:
        bend = before.y + down
        return f"M{before.x} {before.y}C{before.x} {bend} {after.x} {bend - down} {after.x} {bend}V{after.y}"
    bend = after.y - down
    return f"M{before.x} {before.y}V{bend}C{before.x} {after.y} {after.x} {bend} {after.x} {after.y}"
