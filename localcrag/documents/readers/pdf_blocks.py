"""The pages of a PDF as blocks: headings with levels, paragraphs, list items, rows of tables, furniture.

The layout is read from the places of words that PDFium gives, by the modules beside this one: words and rules
(``pdf_words``), lines (``pdf_lines``), tables (``pdf_grids``, ``pdf_lined``, ``pdf_aligned``), headers and
footers (``pdf_furniture``), columns (``pdf_layout``), headings and paragraphs (``pdf_paragraphs``).

Why not a library for layout: on the same two manuals (53 pages) and a report of tables, the words and tables
of pdfplumber 0.11 took 97 to 145 ms of processor time a page, this takes 6 to 8, and PDFium's text alone
1.5. On 16 other manuals (288 pages), with the share of PDFium's words that are kept and what is installed:

==================  =========  ======  ======  ========================================================
docling-parse 7.23  49 ms      0.988   269 MB  lines with their places, no blocks
markitdown 0.1      42 ms      0.863   255 MB  text, hardly a heading
kreuzberg 4.10      7 ms       0.982   98 MB   Markdown with headings, without the places of its words
this                5 ms       0.998   0 MB    blocks with the places of their words, for citations and boxes
==================  =========  ======  ======  ========================================================
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median_low

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.line_wraps import prose_wraps
from localcrag.documents.readers.pdf_aligned import with_tables
from localcrag.documents.readers.pdf_contents import mark_contents
from localcrag.documents.readers.pdf_furniture import PageLines, without_furniture
from localcrag.documents.readers.pdf_grids import ruled_tables
from localcrag.documents.readers.pdf_hyphens import mend_hyphens
from localcrag.documents.readers.pdf_layout import in_reading_order
from localcrag.documents.readers.pdf_lined import with_lined_tables
from localcrag.documents.readers.pdf_lines import (
    Grid,
    Line,
    ends_in_hyphen,
    grid_line,
    joined_lines,
    lines_of,
    same_columns,
)
from localcrag.documents.readers.pdf_paragraphs import BodyFont, Draft, drafts_of, ends_sentence
from localcrag.documents.readers.pdf_words import PageWords
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_headers import FoundHeader, found_header, header_names
from localcrag.documents.table_pairs import are_pairs, pair_text
from localcrag.documents.table_records import record_lines
from localcrag.documents.table_rows import labelled_text, row_text
from localcrag.documents.table_shape import TableShape
from localcrag.types import CELL_SEPARATOR, BlockKind, Page

_MAX_LEVEL = 6
_MAX_KEY = 40
"""The characters of the longest name that begins a row of a table without a header."""
_KEY_SHARE = 0.6
_MAX_ABBREVIATION = 5
"""The characters of the longest word that may be cut short, with its dot."""

PageContent = tuple[list[Line], list[str]] | str
"""The lines of a page and its texts at another angle; or its text, if the places of words tell nothing."""


def page_content(words: PageWords | None, text: str) -> PageContent:
    """The content of a page from its words; ``text`` if there are none."""
    if words is None or not words.words:
        return text if words is None or not words.aside else ([], words.aside)
    grids, outside = ruled_tables(words.words, words.rules)
    lines = lines_of(outside)
    if grids:
        lines = sorted([*lines, *map(grid_line, grids)], key=lambda line: -line.y)
    return with_lined_tables(lines, words.rules), words.aside


def pages_of(contents: Sequence[PageContent], limits: Limits) -> list[Page]:
    """The pages with any text, numbered from 1. Raises UnreadableError if one is too long."""
    lines = [content[0] if isinstance(content, tuple) else [] for content in contents]
    body = _body(lines)
    drafts: list[list[Draft]] = []
    table = _OpenTable()
    for content, page in zip(contents, without_furniture(lines, body.size), strict=True):
        if isinstance(content, str):
            drafts.append(list(_text_drafts(content)))
            table.close()
        else:
            drafts.append(list(_page_drafts(page, content[1], body, table)))
    mark_contents(drafts)
    _set_levels(drafts)
    texts = iter(mend_hyphens([draft.text for found in drafts for draft in found]))
    pages = []
    for number, made_of in enumerate(drafts, start=1):
        made = BlockText(limits)
        for draft in made_of:
            if draft.apart:
                made.part()
            made.add(draft.kind, next(texts), level=draft.level, marker=draft.marker)
        pages.append(made.page(number))
    return [page for page in pages if page.text]


def _body(pages: Sequence[Sequence[Line]]) -> BodyFont:
    """The font that most characters of the document have."""
    sizes: Counter[float] = Counter()
    fonts: Counter[tuple[float, bool, bool]] = Counter()
    pitches: defaultdict[float, list[float]] = defaultdict(list)
    for lines in pages:
        before: Line | None = None
        for line in lines:
            length = sum(len(segment.text) for segment in line.segments)
            sizes[line.size] += length
            fonts[line.size, line.bold, line.mono] += length
            if before is not None and before.size == line.size and 0 < before.y - line.y <= 2.2 * line.size:
                pitches[line.size].append(before.y - line.y)
            before = line
    size = max(sizes, key=sizes.__getitem__, default=0.0)
    bold = 2 * sum(n for (s, bold, _), n in fonts.items() if s == size and bold) > sizes[size]
    mono = 2 * sum(n for (s, _, mono), n in fonts.items() if s == size and mono) > sizes[size]
    return BodyFont(
        size, bold, mono, {size: median_low(found) for size, found in pitches.items() if len(found) > 2}
    )


class _OpenTable:
    """The table that the pages so far ended with, which the next page may go on with."""

    def __init__(self) -> None:
        self.grid: Grid | None = None
        self.header: Sequence[str] = ()
        self._lines: list[list[str]] = []
        self._shape = TableShape()

    def close(self) -> None:
        self.grid = None

    def rows(self, grid: Grid, *, first: bool) -> Iterator[str]:
        """The rows of a table as lines; ``first`` if nothing stands before it on its page."""
        cells = grid.cells
        goes_on = first and self.grid is not None and same_columns(grid.columns, self.grid.columns)
        if goes_on and self.header:
            repeated = self._lines if cells[: len(self._lines)] == self._lines else ()
            cells = cells[len(repeated) :]
        elif records := record_lines(cells):
            self.grid, self.header = grid, ()
            yield from records
            return
        elif _is_keyed(cells):
            self.grid, self.header = grid, ()
            yield from (" ".join(filter(None, row)) for row in cells)
            return
        elif not grid.bold_header and are_pairs(cells):
            self.grid, self.header = grid, ()
            yield from map(pair_text, cells)
            return
        else:
            found = _header_of(grid)
            self.header, self._lines = (found.names, cells[found.start : found.end]) if found else ((), [])
            self._shape = TableShape(self.header)
            yield from (row_text(row, ()) for row in cells[: found.start if found else 0])
            cells = cells[found.end :] if found else cells
        self.grid = grid
        known = grid.spans[max(0, len(grid.spans) - len(cells)) :]
        wide = [bool(spans) for spans, _ in known] or [False] * len(cells)
        for row, is_wide in zip(cells, wide, strict=True):
            if is_wide and sum(map(bool, row)) == 1:
                yield row_text(row, ())  # the title of a group of rows
            elif not self.header:
                yield _unnamed(row)
            elif self._shape.is_total(row):
                yield labelled_text(row)
            else:
                self._shape.add(GridRow(0, row))
                yield row_text(row, self.header)


def _header_of(grid: Grid) -> FoundHeader | None:
    """The header of a table: a bold first row with further lines of it, or what looks like one."""
    rows = [
        GridRow(i, cells, *(grid.spans[i] if grid.spans else ({}, frozenset())), not i and grid.bold_header)
        for i, cells in enumerate(grid.cells)
    ]
    found = found_header(rows)
    if found is None and grid.bold_header:
        return FoundHeader(0, 1, header_names(rows[:1]))
    if found is None or grid.bold_header or found.end > found.start + 1:
        return found
    return None if _tells(grid.cells[found.start], grid.cells[found.end :]) else found


def _tells(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row that nothing sets apart is no header: it has a sentence, or names no column of values.

    Only the first column, of the names of the rows, may have no name of its own.
    """
    if any(_is_sentence(cell, [other[i] for other in below]) for i, cell in enumerate(row)):
        return True
    nameless = (i for i, cell in enumerate(row) if i and not cell)
    return any(2 * sum(bool(other[i]) for other in below) > len(below) for i in nameless)


def _is_sentence(cell: str, below: Sequence[str]) -> bool:
    """Whether a cell is a sentence, which "Art. no." is not, if no cell below it ends in a dot."""
    if not cell.endswith(".") or " " not in cell:
        return False
    *others, last = cell.split()
    words = [word for word in others if not word.endswith(".")]
    is_name = len(words) < 2 and all(word[0].isupper() for word in words)
    is_cut_short = last[:-1].isalpha() and len(last) <= _MAX_ABBREVIATION
    return not (is_name and is_cut_short) or any(other.endswith(".") for other in below)


def _unnamed(row: Sequence[str]) -> str:
    """A row of a table without a header: "breaklinks: false · links may break", if a name begins it."""
    first, *others = row
    if not any(map(str.isalpha, first)) or len(first) > _MAX_KEY or ":" in first:
        return row_text(row, ())
    return pair_text((first, CELL_SEPARATOR.join(filter(None, others))))


def _is_keyed(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the rows are names with a colon and their values."""
    keyed = sum(row[0].endswith(":") for row in cells)
    return len(cells[0]) == 2 and keyed >= _KEY_SHARE * len(cells)


def _page_drafts(page: PageLines, aside: Sequence[str], body: BodyFont, table: _OpenTable) -> Iterator[Draft]:
    yield from (Draft(BlockKind.FURNITURE, text) for text in page.above)
    columns, notes = in_reading_order(page.body, body.size, code=body.mono)
    made: list[Draft] = []
    for number, column in enumerate(columns):
        carried = table.grid.columns if not number and table.grid is not None else ()
        fresh = True
        for draft in drafts_of(with_tables(column, carried, code=body.mono), body):
            if draft.grid is None:
                if fresh and made and _goes_on(made[-1], draft):
                    made[-1].text = joined_lines([made[-1].text, draft.text])
                else:
                    made.append(draft)
                table.close()
            else:
                rows = table.rows(draft.grid, first=not made)
                made += [Draft(BlockKind.ROW, row, apart=not i) for i, row in enumerate(rows)]
            fresh = False
    yield from made
    for note in notes:
        yield from drafts_of(note, body, notes=True)
    yield from (Draft(BlockKind.PARAGRAPH, text) for text in aside)
    yield from (Draft(BlockKind.FURNITURE, text) for text in page.below)


def _goes_on(before: Draft, draft: Draft) -> bool:
    """Whether a paragraph goes on at the top of the next column."""
    if draft.kind is not BlockKind.PARAGRAPH or before.kind not in (BlockKind.PARAGRAPH, BlockKind.ITEM):
        return False
    if before.size != draft.size or ends_sentence(before.text):
        return False
    return draft.text[:1].islower() or ends_in_hyphen(before.text)


def _text_drafts(text: str) -> Iterator[Draft]:
    """The paragraphs of a page whose words have no telling places."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    start = 0
    wraps = set(prose_wraps(text))
    pieces: list[str] = []
    for end, character in enumerate(text):
        if character == "\n":
            pieces.append(text[start:end])
            start = end + 1
            if end not in wraps:
                yield Draft(BlockKind.PARAGRAPH, " ".join(pieces))
                pieces = []
    yield Draft(BlockKind.PARAGRAPH, " ".join([*pieces, text[start:]]))


def _set_levels(pages: Sequence[Iterable[Draft]]) -> None:
    """Give each heading its level: the larger its font, then the shorter its number, the higher.

    The fonts of a title page, which no other page has, do not count.
    """
    headings = [[draft for draft in page if draft.kind is BlockKind.HEADING] for page in pages]
    every = {_style(draft) for page in headings for draft in page}
    later = {_style(draft) for page in headings[1:] for draft in page}
    styles = sorted({*later, min(every)} if later else every)
    for page in headings:
        for draft in page:
            draft.level = min(bisect_left(styles, _style(draft)) + 1, _MAX_LEVEL)


def _style(draft: Draft) -> tuple[float, bool, int]:
    return -round(2 * draft.size) / 2, not draft.bold, max(draft.depth, 1)
