"""Tables with rules drawn around their cells: the rules as a grid, and the words in its cells."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from localcrag.documents.readers.pdf_lines import Grid, Line, joined_lines, lines_of
from localcrag.documents.readers.pdf_words import Rule, Word

_MAX_RULES = 400
_NEAR = 3.0
"""Points within which two rules meet or are one."""
_MIN_CELL = 5.0
_MAX_GRIDS = 50
_MAX_CELLS = 5_000
_MIN_FILLED_SHARE = 0.4
_MAX_LABEL_WORDS = 2
"""The most words of a label such as "Important" or "Please note", in a box beside the note."""
_SPACE_EMS = 0.3
_MIN_LINES = 3
"""The fewest lines of a cell that may be rows which no rule parts."""
_SAME_LINE = 2.0
"""Points by which words on one line differ in height, at most."""
_MIN_COLUMNS_OF_FIGURES = 2
_FIGURES = re.compile(r"(?:(?:[-–—+±]?[$€£]? ?\d[\d.,]*%?|\([A-Z\d.,]+\)|[-–—.…]+|[A-Z]{1,2})(?:\s++|$))+")
"""A line of a column of figures, of which several may stand side by side: "14.3 – (Z)", "NA"."""
_LEADERS = re.compile(r"(?:\s?\.){3,}\s*$")
"""The dots that lead from a name to its figures."""

Edges = list[float]


def ruled_tables(words: list[Word], rules: Sequence[Rule]) -> tuple[list[Grid], list[Word]]:
    """The tables that rules are drawn around, and the words outside them."""
    grids: list[Grid] = []
    if len(rules) < 4 or not words:
        return grids, words
    across, down = (
        _merged(rule for rule in rules if rule.horizontal),
        _merged(r for r in rules if not r.horizontal),
    )
    if len(across) > _MAX_RULES or len(down) > _MAX_RULES or not down:
        return grids, words
    for horizontal, vertical in _connected(across, down)[:_MAX_GRIDS]:
        xs = _edges([rule.at for rule in vertical], horizontal)
        ys = _edges([rule.at for rule in horizontal], vertical)
        if len(xs) == 3 and len(ys) == 2:
            words = _with_label_first(words, xs, ys)
        if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > _MAX_CELLS:
            continue
        inside: list[Word] = []
        outside: list[Word] = []
        for word in words:
            middle = (word.x0 + word.x1) / 2, word.y + 0.3 * word.size
            within = xs[0] <= middle[0] <= xs[-1] and ys[0] <= middle[1] <= ys[-1]
            (inside if within else outside).append(word)
        grid = _grid(inside, xs, ys, horizontal, vertical)
        if grid is not None:
            grids.append(grid)
            words = outside
    return grids, words


def _with_label_first(words: list[Word], xs: Edges, ys: Edges) -> list[Word]:
    """The words, in which the label of a note stands before its first line: "Important: Restoring …".

    It stands in the middle of a cell of its own, to the left of several lines.
    """

    def within(left: float, right: float) -> list[Word]:
        return [
            word
            for word in words
            if left <= (word.x0 + word.x1) / 2 <= right and ys[0] <= word.y + 0.3 * word.size <= ys[1]
        ]

    label, text = within(xs[0], xs[1]), within(xs[1], xs[2])
    said = " ".join(word.text for word in label)
    if not (0 < len(label) <= _MAX_LABEL_WORDS < len(text)) or not said.replace(" ", "").isalpha():
        return words
    first = min(text, key=lambda word: (-word.y, word.x0))
    end = first.x0 - _SPACE_EMS * first.size
    joined = first._replace(x0=end - 1, x1=end, bold=label[0].bold, text=f"{said}:")
    return [joined, *(word for word in words if word not in label)]


def _merged(rules: Iterable[Rule]) -> list[Rule]:
    """Rules that lie on one line and touch, as one."""
    merged: list[Rule] = []
    open_: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.at), rule.start)):
        if open_ and abs(open_[-1].at - rule.at) <= 1.5 and rule.start <= open_[-1].end + _NEAR:
            open_[-1] = open_[-1]._replace(end=max(open_[-1].end, rule.end))
        else:
            open_.append(rule)
    for rule in sorted(open_, key=lambda rule: (rule.at, rule.start)):  # rounding may have parted two
        if (
            merged
            and abs(merged[-1].at - rule.at) <= 1.5
            and merged[-1].start <= rule.end
            and (rule.start <= merged[-1].end + _NEAR)
        ):
            start, end = min(merged[-1].start, rule.start), max(merged[-1].end, rule.end)
            merged[-1] = merged[-1]._replace(start=start, end=end)
        else:
            merged.append(rule)
    return merged


def _connected(across: list[Rule], down: list[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """The rules in groups that cross or meet, with at least two of each direction or three verticals."""
    parent = list(range(len(across) + len(down)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for i, h in enumerate(across):
        for j, v in enumerate(down):
            if h.start - _NEAR <= v.at <= h.end + _NEAR and v.start - _NEAR <= h.at <= v.end + _NEAR:
                parent[root(i)] = root(len(across) + j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, h in enumerate(across):
        groups.setdefault(root(i), ([], []))[0].append(h)
    for j, v in enumerate(down):
        groups.setdefault(root(len(across) + j), ([], []))[1].append(v)
    return [group for group in groups.values() if group[0] and group[1]]


def _edges(places: Iterable[float], crossing: Sequence[Rule]) -> Edges:
    """The edges of cells, with the ends of the rules that cross them: a table may be open at its sides."""
    edges: Edges = []
    for place in sorted([*places, min(r.start for r in crossing), max(r.end for r in crossing)]):
        if not edges or place - edges[-1] > _MIN_CELL:
            edges.append(place)
    return edges


def _grid(
    words: list[Word], xs: Edges, ys: Edges, across: Sequence[Rule], down: Sequence[Rule]
) -> Grid | None:
    """The words in their cells; None if most cells are empty, as in the grid of a plot."""
    tops = ys[:0:-1]
    bottoms = ys[-2::-1]
    shut = [  # for each row, whether a rule stands left of each column
        [_has_rule(down, x, (top + bottom) / 2) for x in xs[:-1]]
        for top, bottom in zip(tops, bottoms, strict=True)
    ]
    rows: list[list[list[Word]]] = [[[] for _ in xs[1:]] for _ in tops]
    for word in words:
        row = len(tops) - bisect_left(ys, word.y + 0.3 * word.size, 1, len(ys) - 1)
        column = bisect_left(xs, (word.x0 + word.x1) / 2, 1, len(xs) - 1) - 1
        while column and not shut[row][column]:
            column -= 1
        rows[row][column].append(word)
    cells: list[list[str]] = []
    spans: list[tuple[dict[int, int], set[int]]] = []
    for number, places in enumerate(rows):
        found = _cell_rows(places)
        wide = {i: _wide(shut[number], i) for i, cell in enumerate(found[0]) if cell}
        above: set[int] = set()
        for column, edge in enumerate(xs[:-1]):
            middle = (edge + xs[column + 1]) / 2
            if not cells or not shut[number][column] or _has_rule(across, tops[number], middle):
                continue
            text = next((line[column] for line in found if line[column]), "")
            if text and (cells[-1][column] or not shut[number - 1][column]):
                continue
            above.add(column)  # the cell above goes on
            if text:
                _fill_upwards(cells, spans, column, text)
            for line in found:
                line[column] = line[column] or cells[-1][column]
        cells += found
        spans += [(wide, above) for _ in found]
    spans = [span for span, row in zip(spans, cells, strict=True) if any(row)]
    cells = [row for row in cells if any(row)]
    columns = [(left, right, any(row[i] for row in cells)) for i, (left, right) in enumerate(pairwise(xs))]
    cells = [[cell for cell, (_, _, kept) in zip(row, columns, strict=True) if kept] for row in cells]
    filled = sum(1 for row in cells for cell in row if cell)
    width = len(cells[0]) if cells else 0
    if width < 2 or len(cells) < 2 or filled < max(4, _MIN_FILLED_SHARE * width * len(cells)):
        return None
    bold = [all(word.bold for cell in row for word in cell) for row in rows if any(row)]
    kept_columns = [(left, right) for left, right, kept in columns if kept]
    places_kept = [i for i, (_, _, kept) in enumerate(columns) if kept]
    return Grid(
        cells,
        kept_columns,
        ys[-1],
        ys[0],
        bold[0] and not all(bold),
        [_kept_spans(wide, above, places_kept) for wide, above in spans],
    )


def _fill_upwards(
    cells: list[list[str]], spans: Sequence[tuple[dict[int, int], set[int]]], column: int, text: str
) -> None:
    """Write a text that stands in the middle of a cell over several rows into the rows above it."""
    for row, (_, above) in zip(reversed(cells), reversed(spans), strict=True):
        row[column] = text
        if column not in above:
            break


def _wide(shut: Sequence[bool], column: int) -> int:
    """How many columns a cell spans: those up to the next rule."""
    return next((i for i in range(column + 1, len(shut)) if shut[i]), len(shut)) - column


def _kept_spans(
    wide: Mapping[int, int], above: Collection[int], kept: Sequence[int]
) -> tuple[dict[int, int], frozenset[int]]:
    """The spans of a row, counted in the columns that are kept."""
    counted = {
        i: sum(column <= other < column + wide[column] for other in kept)
        for i, column in enumerate(kept)
        if column in wide
    }
    spanning = {i: count for i, count in counted.items() if count > 1}
    return spanning, frozenset(i for i, column in enumerate(kept) if column in above)


def _has_rule(rules: Sequence[Rule], at: float, middle: float) -> bool:
    return any(abs(rule.at - at) <= _MIN_CELL and rule.start - 1 <= middle <= rule.end + 1 for rule in rules)


def _cell_rows(row: list[list[Word]]) -> list[list[str]]:
    """The texts of a row of cells; several rows, if no rule parts them but their lines stand side by side.

    They do if all cells have as many, or if two cells or more are columns of figures.
    """
    cells: list[list[Line]] = [lines_of(cell) if cell else [] for cell in row]
    filled = [cell for cell in cells if cell]
    count = len(filled[0]) if filled else 0
    side_by_side = (
        count >= _MIN_LINES
        and len(filled) >= 2
        and all(len(cell) == count for cell in filled)
        and all(
            abs(line.y - other.y) < _SAME_LINE
            for cell in filled
            for line, other in zip(cell, filled[0], strict=True)
        )
    )
    if side_by_side:
        return [[cell[number].text if cell else "" for cell in cells] for number in range(count)]
    figures = [cell for cell in filled if len(cell) >= _MIN_LINES and all(map(_is_figures, cell))]
    if len(figures) >= _MIN_COLUMNS_OF_FIGURES:
        return _rows_of_figures(cells, figures)
    return [[joined_lines([line.text for line in cell]) for cell in cells]]


def _is_figures(line: Line) -> bool:
    return _FIGURES.fullmatch(line.text.strip()) is not None


def _rows_of_figures(cells: Sequence[Sequence[Line]], figures: Sequence[Sequence[Line]]) -> list[list[str]]:
    """The rows of a table without rules between them: one for each line of its columns of figures.

    A line of words without figures beside it begins what stands on the next line that has some.
    """
    heights: list[float] = []
    for y in sorted((line.y for cell in figures for line in cell), reverse=True):
        if not heights or heights[-1] - y >= _SAME_LINE:
            heights.append(y)
    rows: list[list[list[str]]] = [[[] for _ in cells] for _ in heights]
    for column, cell in enumerate(cells):
        for line in cell:
            at = next((i for i, y in enumerate(heights) if y <= line.y + _SAME_LINE), len(heights) - 1)
            rows[at][column].append(_LEADERS.sub("", line.text))
    return [[joined_lines(texts) for texts in row] for row in rows]
