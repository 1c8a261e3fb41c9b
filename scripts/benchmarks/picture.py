"""A chart as a small SVG file: bars that lie on their side, or curves.

The text stays text, numbers are rounded, and nothing depends on the machine or the day, so that the same
figures always give the same bytes and a change of a figure is a change of a line. The colours follow the
reader's light or dark theme.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH = 640
LEFT, RIGHT, TOP = 165, 70, 62
BAR, GAP = 13, 12
CURVE_HEIGHT = 210
COLOURS = ("#2f6fde", "#e0812b", "#2f9e6e", "#a64fc4")
STYLE = (
    "<style>text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-size:14px;font-weight:600}"
    ".faint{fill:#6e7781}.rule{stroke:#d0d7de}@media(prefers-color-scheme:dark){text{fill:#e6edf3}"
    ".faint{fill:#9198a1}.rule{stroke:#3d444d}}</style>"
)


@dataclass(frozen=True, slots=True)
class Line:
    """Points (x, y) of one curve, or (label number, height) of one colour of bars."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """One picture: curves, or groups of bars where ``labels`` names the groups."""

    name: str
    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    labels: tuple[str, ...] = ()
    logarithmic: bool = False


def svg(chart: Chart) -> str:
    """The chart as an SVG document; one element a line."""
    height, body = _bars(chart) if chart.labels else _curves(chart)
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape(chart.title)}</title>",
        STYLE,
        _text(12, 22, chart.title, "title"),
    ]
    return "\n".join([*head, *_legend(chart), *body, "</svg>"]) + "\n"


def _legend(chart: Chart) -> Iterator[str]:
    """The unit, and the colours where there is more than one."""
    yield _text(12, 44, chart.y, "faint")
    at = 12 + 7 * len(chart.y) + 24
    for line, colour in zip(chart.lines, COLOURS, strict=False):
        if len(chart.lines) > 1:
            yield f'<rect x="{at}" y="35" width="10" height="10" fill="{colour}"/>'
            yield _text(at + 15, 44, line.name)
            at += 7 * len(line.name) + 40


def _bars(chart: Chart) -> tuple[int, list[str]]:
    """A group of bars for each label, with the value behind every bar; nought has none."""
    most = max(y for line in chart.lines for _, y in line.points) or 1.0
    scale = (WIDTH - LEFT - RIGHT) / most
    rows: list[str] = []
    y = TOP
    for number, label in enumerate(chart.labels):
        middle = y + len(chart.lines) * BAR / 2
        rows.append(_text(LEFT - 8, middle + 4, " ".join(label.split()), anchor="end"))
        for line, colour in zip(chart.lines, COLOURS, strict=False):
            value = dict(line.points).get(float(number))
            if value is None:
                continue
            wide = max(1.0, value * scale)
            if value:
                bar = f'x="{LEFT}" y="{y}" width="{wide:.1f}" height="{BAR - 2}"'
                rows.append(f'<rect {bar} fill="{colour}"/>')
            rows.append(_text(LEFT + wide + 6, y + BAR - 3, _number(value), "faint"))
            y += BAR
        y += GAP
    return y, rows


def _curves(chart: Chart) -> tuple[int, list[str]]:
    """Curves over two axes that begin at the smallest power of ten, or at nought."""
    xs = sorted({x for line in chart.lines for x, _ in line.points})
    ys = [y for line in chart.lines for _, y in line.points]
    across = _Scale(xs[0], xs[-1], LEFT - 105, WIDTH - RIGHT, chart.logarithmic)
    low, high = (
        (10 ** math.floor(math.log10(min(ys))), max(ys) * 1.15) if chart.logarithmic else (0.0, max(ys))
    )
    up = _Scale(low, high, TOP + CURVE_HEIGHT, TOP, chart.logarithmic)
    rows: list[str] = []
    for tick in _ticks(low, high, chart.logarithmic):
        y = up(tick)
        rows.append(f'<line class="rule" x1="{LEFT - 105}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
        rows.append(_text(LEFT - 113, y + 4, _number(tick), "faint", "end"))
    rows += [_text(across(x), TOP + CURVE_HEIGHT + 20, _number(x), "faint", "middle") for x in xs]
    rows.append(_text(WIDTH - 12, TOP + CURVE_HEIGHT + 40, chart.x, "faint", "end"))
    for line, colour in zip(chart.lines, COLOURS, strict=False):
        places = [(across(x), up(y)) for x, y in line.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        rows.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        rows += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        rows.append(_text(places[-1][0] + 8, places[-1][1] + 4, _number(line.points[-1][1]), "faint"))
    return TOP + CURVE_HEIGHT + 52, rows


class _Scale:
    """From values to places on the picture."""

    def __init__(self, low: float, high: float, start: float, end: float, logarithmic: bool) -> None:
        self._of = math.log10 if logarithmic else float
        self._low, self._start = self._of(low), start
        self._factor = (end - start) / ((self._of(high) - self._low) or 1.0)

    def __call__(self, value: float) -> float:
        return self._start + (self._of(value) - self._low) * self._factor


def _ticks(low: float, high: float, logarithmic: bool) -> Sequence[float]:
    """Powers of ten with their twos and fives, or four even steps."""
    if logarithmic:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        return [n * 10.0**p for p in powers for n in (1, 2, 5) if low <= n * 10.0**p <= high]
    step = 10 ** math.floor(math.log10(high))
    step = step if high / step >= 3 else step / 2
    return [n * step for n in range(int(high / step) + 1)]


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "") -> str:
    extra = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x:.1f}" y="{y:.1f}"{extra}>{escape(text)}</text>'


def _number(value: float) -> str:
    """Three digits that count, with commas."""
    if value == 0 or value >= 100:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:.0f}"
