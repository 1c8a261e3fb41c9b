"""The boxes of the words of a scanned page, as they stand in one cell of a table.

A word is "16-25:1210,560,2080,733": its characters on the page, then left, top, right and bottom in
ten-thousandths of the width and the height of the picture. A page of 400 words takes some 10 kB.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from localcrag.types import WordBox

_STEPS = 10_000
_WRITTEN_BOX = re.compile(r"(\d+)-(\d+):(\d+),(\d+),(\d+),(\d+)")


def written_boxes(boxes: Iterable[WordBox]) -> str:
    """The boxes as one text, "" if there are none."""
    return " ".join(
        f"{box.start}-{box.end}:" + ",".join(map(_step, (box.left, box.top, box.right, box.bottom)))
        for box in boxes
    )


def read_boxes(written: str) -> tuple[WordBox, ...]:
    """The boxes of such a text; what is none is left out."""
    found = (_WRITTEN_BOX.fullmatch(word) for word in written.split())
    numbers = (tuple(map(int, match.groups())) for match in found if match)
    return tuple(
        WordBox(start, end, left / _STEPS, top / _STEPS, right / _STEPS, bottom / _STEPS)
        for start, end, left, top, right, bottom in numbers
    )


def _step(share: float) -> str:
    return str(round(min(max(share, 0.0), 1.0) * _STEPS))
