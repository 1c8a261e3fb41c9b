"""The cells of a line that tabs part, however many stand between two of them."""

from __future__ import annotations

import re

_TABS = re.compile(r" *\t\s*")


def tabbed_cell_count(line: str) -> int:
    """The number of the cells of a line."""
    return len(_TABS.split(line.strip()))


def tabbed_cells(line: str, count: int) -> list[str]:
    """The first ``count`` cells of a line; a note behind the last of them belongs to it."""
    cells = [" ".join(cell.split()) for cell in _TABS.split(line.strip())]
    notes = [cell for cell in cells[count:] if any(map(str.isalnum, cell))]
    return [*cells[: count - 1], " – ".join([*cells[count - 1 : count], *notes])]
