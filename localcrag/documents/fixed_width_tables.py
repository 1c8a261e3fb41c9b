"""Tables of plain text, laid out with spaces, tabs or bars, as rows with the names of their columns.

Lines are a table if the same places are free in all of them, or if they have the same number of tabs or bars,
and if the first of them surely is a header: a rule stands below it, or numbers stand below one of its names,
or it is in capitals, or a blank line sets it apart from rows of numbers. What is not sure stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from localcrag.documents.block_text import BlockText
from localcrag.documents.delimited_tables import delimited_tables
from localcrag.documents.free_places import FAR, common_places, free_places
from localcrag.documents.header_numbers import columns_above_values
from localcrag.documents.headers_apart import MAX_HEADER_LINES, Run, header_set_apart
from localcrag.documents.plain_records import PlainTable, plain_tables
from localcrag.documents.tabbed_cells import tabbed_cell_count, tabbed_cells
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_headers import found_header
from localcrag.documents.table_pairs import are_pairs
from localcrag.documents.table_rows import grid_lines
from localcrag.types import Block, BlockKind

Span = tuple[int, int]
TableFinder = Callable[[Sequence[str]], Iterator[PlainTable]]

_GAP = re.compile(r"\S(?: {2,}|\s*\t\s*)\S")
_TWO_NUMBERS = re.compile(r" [-+.]?\d\S* [-+.]?\d\S*$", re.MULTILINE)
"""The end of a line of a table whose cells nothing but blanks part."""
_SPACED = re.compile(r"\S {2}")
_MAY_BEGIN = re.compile(r"\S {2}|^ {4}|\t|\||^\s*[-=_+─═]{3}")
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_RULE = re.compile(r"(?=.*(?:[-=_─═]{3}|\+-))[-=_+|:─═┼│ \t]+")
_RULE_GAP = re.compile(r"(?<=\S) +(?=\S)")
_WORDS = re.compile(r"\S+(?: \S+)*")
_WORD = re.compile(r"\S+")
_BAR, _TAB = "|", "\t"
_HAS_VALUE = re.compile(r"\s{2}\s*[-+]?\d")
_NUMBER = re.compile(r"[-+]?\d+(?:[.,:/-]\d+)*")
_YEAR = re.compile(r"(?:19|20)\d\d$")
_SIGNS = frozenset({"#", "%", "€", "$", "£", "№"})
"""Signs that name a column without a letter."""
_CAPITALS = re.compile(r"[A-ZÀ-Þ][A-ZÀ-Þ _%/()-]*")
_BLANKS = frozenset({"", "-", "–", "—", "n/a", "N/A", "?", "..."})
_MAX_LINE_CHARACTERS = 1000
_MAX_COLUMNS = 40
_MAX_NAME_CHARACTERS = 60
_MAX_LOOKED_AT = 16
"""Lines that decide whether they are a table."""
_MIN_ROWS, _MIN_ROWS_OF_TWO_COLUMNS = 2, 3
_MAX_LOOSE_LINES = 2
"""Lines with words in the first column only that may follow one another."""
_MAX_TITLES = 5
"""Lines above a table that are tried as its header, at most."""
_MIN_RULE_SHARE = 0.6
"""The share of its header that a rule is as long as, at least."""
_MAX_MEAN_WORDS = 8
_MAX_GROWTH = 4
"""A table is left as it is if its rows would be so many times as long as its lines."""


def text_tables(lines: Sequence[str]) -> Iterator[PlainTable]:
    """The tables among the lines of a text, in order."""
    at = tried = 0
    while at < len(lines):
        if not _MAY_BEGIN.search(lines[at]):
            at += 1
            continue
        end, table = _found(lines, at)
        if table is not None:
            yield table
        tried = 0 if table is not None or end == at + 1 else tried + 1
        at = end if table is not None or tried > _MAX_TITLES else at + 1


def table_of(text: str) -> PlainTable | None:
    """The table that all of a text is; None if there is anything else in it."""
    lines = text.rstrip().split("\n")
    table = next(text_tables(lines), None)
    if table is None or table.end < len(lines) or any(map(str.strip, lines[: table.first])):
        return None
    return table


def add_code(made: BlockText, code: str, level: int = 0, *, language: str = "") -> None:
    """Append code, or the rows of the table that all of it is, if it is in no list and of no language."""
    table = None if level or language else table_of(code)
    if table is None:
        made.add(BlockKind.CODE, code, level=level)
        return
    made.part()
    for row in table.rows:
        made.add(BlockKind.ROW, row.text)


def add_tables(made: BlockText, lines: Sequence[str], add_text: Callable[[list[str]], None]) -> None:
    """Append the rows of the tables among some lines, and the lines between them with ``add_text``."""
    last = 0
    for table in text_tables(lines):
        add_text(list(lines[last : table.first]))
        made.part()
        for row in table.rows:
            if row.apart:
                made.part()
            made.add(BlockKind.ROW, row.text)
        last = table.end
    add_text(list(lines[last:]))


def with_rows(text: str) -> tuple[str, list[Block]]:
    """A text with each table in it written as rows, one a line, and the places of the rows."""
    if not _may_have_table(text):
        return text, []
    lines = [match[0] for match in _LINE.finditer(text)]
    parts: list[str] = []
    blocks: list[Block] = []
    length = last = 0
    for table in _all_tables([line.rstrip() for line in lines]):
        before = "".join(lines[last : table.first])
        before += "\n" if table.first and lines[table.first - 1].strip() else ""
        length += len(before)
        parts.append(before)
        for row in table.rows:
            gap = "\n" if row.apart and row is not table.rows[0] else ""
            start = length + len(gap)
            length = start + len(row.text)
            blocks.append(Block(BlockKind.ROW, start, length))
            parts += [gap, row.text, "\n"]
            length += 1
        if table.end < len(lines) and lines[table.end].strip():
            parts.append("\n")
            length += 1
        last = table.end
    return "".join([*parts, *lines[last:]]), blocks


def _all_tables(lines: Sequence[str], kinds: Sequence[TableFinder] | None = None) -> Iterator[PlainTable]:
    """The tables among the lines of a text: those whose cells are delimited, then those whose columns colons
    part among the other lines, and those that are laid out."""
    finds, *others = kinds or (delimited_tables, plain_tables, text_tables)
    last = 0
    for known in (*finds(lines), PlainTable(len(lines), len(lines), [])):
        for table in _all_tables(lines[last : known.first], others) if others else ():
            yield PlainTable(table.first + last, table.end + last, table.rows)
        if known.rows:
            yield known
        last = known.end


def _may_have_table(text: str) -> bool:
    """Whether there is anything in a text that could stand between two columns."""
    marked = any(mark in text for mark in (_TAB, _BAR, ":", ",", ";", '"'))
    marked = marked or _TWO_NUMBERS.search(text) is not None
    return marked or ("  " in text and _SPACED.search(text) is not None)


def _found(lines: Sequence[str], first: int) -> tuple[int, PlainTable | None]:
    """The table that begins with a line, if any, and the number of the line after those like it."""
    begin = first + 1 if _is_rule(lines[first]) and first + 1 < len(lines) else first
    rule = _rule_below(lines, begin)
    if rule is None and first and _GAP.search(lines[first - 1]):
        return first + 1, None  # a row of what is above
    apart = header_set_apart(lines, begin) if rule is None else None
    run = (
        apart[1] if apart else _marked(lines, begin) or _tabbed(lines, begin) or _spaced(lines, first, begin)
    )
    if run is None:
        return first + 1, None
    end, cells_of = run
    rule = apart[0] if apart else rule
    if rule is not None and rule >= end:
        rule = None
    rows = list(_grid(lines, begin, min(end, begin + _MAX_LOOKED_AT), cells_of, rule))
    if not _is_table(rows, has_rule=rule is not None):
        return end, None
    made = list(grid_lines(_grid(lines, begin, end, cells_of, rule)))
    source = sum(map(len, lines[begin:end]))
    if not made or sum(len(line.text) for line in made) > _MAX_GROWTH * source:
        return end, None
    while end < len(lines) and _is_rule(lines[end]):
        end += 1
    return end, PlainTable(first, end, made)


def _rule_below(lines: Sequence[str], first: int) -> int | None:
    """The number of the rule that stands directly below a header of a few lines; None without."""
    for at in range(first + 1, min(len(lines), first + 1 + MAX_HEADER_LINES)):
        if not lines[at].strip():
            return None
        if _is_rule(lines[at]):
            return at if len(lines[at].strip()) >= _MIN_RULE_SHARE * len(lines[first].strip()) else None
    return None


def _is_rule(line: str) -> bool:
    return len(line) <= _MAX_LINE_CHARACTERS and _RULE.fullmatch(line) is not None


# ------------------------------------------------------------------ lines that belong together


def _marked(lines: Sequence[str], first: int) -> Run | None:
    """The lines from one on that have as many tabs, or bars, as it."""
    for mark in (_TAB, _BAR):
        count = _unframed(lines[first], mark).count(mark)
        if not 0 < count < _MAX_COLUMNS or _unframed(lines[first], mark).startswith(_BAR):
            continue
        end = first + 1
        while end < len(lines) and (
            _is_rule(lines[end]) or (lines[end].strip() and _unframed(lines[end], mark).count(mark) == count)
        ):
            end += 1
        if end - first > _MIN_ROWS:
            return end, lambda line, mark=mark: [
                " ".join(cell.split()) for cell in _unframed(line, mark).split(mark)
            ]
    return None


def _tabbed(lines: Sequence[str], first: int) -> Run | None:
    """The lines from one on that have as many cells as it, or a note behind them, with any number of tabs."""
    count, end = tabbed_cell_count(lines[first]), first + 1
    if not 1 < count < _MAX_COLUMNS:
        return None
    while end < len(lines) and (_is_rule(lines[end]) or 0 <= tabbed_cell_count(lines[end]) - count <= 1):
        end += 1
    return (end, lambda line: tabbed_cells(line, count)) if end - first > _MIN_ROWS else None


def _unframed(line: str, mark: str) -> str:
    """A line without the bars at both its ends."""
    stripped = line.strip()
    framed = mark == _BAR and len(stripped) > 1 and stripped.startswith(_BAR) and stripped.endswith(_BAR)
    return stripped[1:-1] if framed else line


def _spaced(lines: Sequence[str], top: int, first: int) -> Run | None:
    """The lines from one on that leave the same places free; a single blank one may stand between them."""
    rules = [at for at in {top, first + 1} if at < len(lines) and _RULE_GAP.search(lines[at])]
    ruled = next((_free(lines[at], _WORD) for at in rules if _is_rule(lines[at])), None)
    pattern = _WORD if ruled else _WORDS
    free = _free(lines[first], pattern)
    if not 2 < len(free) < _MAX_COLUMNS:
        return None
    rivers = common_places(free, ruled, 1) if ruled else free
    end = at = first + 1
    below = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip() or _is_rule(line):
            if not lines[at - 1].strip() or _is_rule(lines[at - 1]):
                break
        else:
            after_blank = not lines[at - 1].strip() and at > first + 2
            kept = common_places(rivers, _free(line, pattern), 1)
            if not _holds(rivers, kept) or (after_blank and not _HAS_VALUE.search(line)):
                break
            rivers = kept
            below = below + 1 if _is_below(line, _inner(rivers)) else 0
            if below > _MAX_LOOSE_LINES:
                break
            end = at + 1
        at += 1
    bounds = _inner(rivers)
    while end > first + 1 and (_is_rule(lines[end - 1]) or _is_below(lines[end - 1], bounds)):
        end -= 1
    if not bounds or end - first <= _MIN_ROWS:
        return None
    cuts = [0, *(left for left, _ in bounds), None]
    return end, lambda line: [
        " ".join(line.expandtabs()[left:right].split()) for left, right in pairwise(cuts)
    ]


def _inner(rivers: Sequence[Span]) -> list[Span]:
    """The free places that stand between columns."""
    return [(left, right) for left, right in rivers if left > 0 and right < FAR]


def _is_below(line: str, bounds: Sequence[Span]) -> bool:
    """Whether a line has words in the first column only, as what stands below a table."""
    return bool(bounds) and len(line.expandtabs()) <= bounds[0][0]


def _free(line: str, pattern: re.Pattern[str]) -> list[Span]:
    """The places of a line that are free, from the far left to the far right; [] if it is too long."""
    if len(line) > _MAX_LINE_CHARACTERS:
        return []
    filled = [match.span() for match in pattern.finditer(line.expandtabs())]
    return free_places(filled) if filled else []


def _holds(rivers: Sequence[Span], kept: Sequence[Span]) -> bool:
    """Whether something is left of each free place."""
    starts = iter(kept)
    return all(any(left <= start < right for start, _ in starts) for left, right in rivers)


# ------------------------------------------------------------------ cells


def _grid(
    lines: Sequence[str], first: int, end: int, cells_of: Callable[[str], list[str]], rule: int | None
) -> Iterator[GridRow]:
    """The rows of a table; those above the ``rule`` are its header.

    A line that only goes on with a cell of the row above is joined to it.
    """
    row: GridRow | None = None
    for at in range(first, end):
        if not lines[at].strip() or _is_rule(lines[at]):
            continue
        cells = cells_of(lines[at])
        if not any(cells):
            continue  # nothing but a frame
        if row is not None and _goes_on(cells, row):
            joined = [" ".join(filter(None, pair)) for pair in zip(row.cells, cells, strict=True)]
            row = row._replace(cells=joined)
            continue
        if row is not None:
            yield row
        row = GridRow(at - first + 1, cells, is_head=rule is not None and at < rule)
    if row is not None:
        yield row


def _goes_on(cells: Sequence[str], above: GridRow) -> bool:
    filled = [at for at, cell in enumerate(cells) if cell]
    return (
        len(filled) == 1
        and filled[0] > 0
        and bool(above.cells[0] and above.cells[filled[0]])
        and cells[filled[0]][0].islower()
    )


# ------------------------------------------------------------------ whether it is a table


def _is_table(rows: Sequence[GridRow], *, has_rule: bool) -> bool:
    """Whether rows surely have a header, which names all columns but perhaps the first."""
    if len(rows) < _MIN_ROWS + (not has_rule):
        return False
    found = found_header(rows)
    if found is None or found.start or not all(found.names[1 : len(rows[0].cells)]):
        return False
    header = [cell for row in rows[: found.end] for cell in row.cells if cell]
    if len(header) < 2 or not all(_is_name(name) for name in header):
        return False
    below = rows[found.end :]
    filled = [cell for row in below for cell in row.cells if cell]
    if sum(len(cell.split()) for cell in filled) > _MAX_MEAN_WORDS * len(filled):
        return False
    if has_rule:
        return True
    if any(name[0].isdigit() and not _YEAR.match(name) for name in header):
        return False
    if 2 * sum(bool(row.cells[0]) for row in below) < len(below):
        return False
    if sum(_YEAR.match(name) is not None for name in header) > 1:
        return True
    if all(map(_CAPITALS.fullmatch, header)) and not all(map(str.isupper, filled)):
        return True
    above = columns_above_values(rows, found.end - 1)
    if len(rows[0].cells) > 2:
        return bool(above)
    return bool(above) and len(below) >= _MIN_ROWS_OF_TWO_COLUMNS and _are_alike(rows, below)


def _is_name(cell: str) -> bool:
    """Whether a cell may be the name of a column: no label, no part of a sentence, no mere sign."""
    if cell.endswith((":", ".", ";", ",")) or ": " in cell or len(cell) > _MAX_NAME_CHARACTERS:
        return False
    return _YEAR.match(cell) is not None or any(map(str.isalpha, cell)) or cell in _SIGNS


def _are_alike(rows: Sequence[GridRow], below: Sequence[GridRow]) -> bool:
    """Whether the second of two columns has numbers with the same unit, and not values of several things."""
    shapes = {_NUMBER.sub("0", row.cells[1]) for row in below if row.cells[1] not in _BLANKS}
    return len(shapes) == 1 and not are_pairs([row.cells for row in rows])
