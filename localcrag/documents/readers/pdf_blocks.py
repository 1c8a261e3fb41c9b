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
from localcrag.documents.readers.grid_rows import OpenTable
from localcrag.documents.readers.pdf_aligned import with_tables
from localcrag.documents.readers.pdf_contents import mark_contents
from localcrag.documents.readers.pdf_figures import is_axis
from localcrag.documents.readers.pdf_furniture import PageLines, without_furniture
from localcrag.documents.readers.pdf_grids import ruled_tables
from localcrag.documents.readers.pdf_hyphens import mend_hyphens
from localcrag.documents.readers.pdf_layout import in_reading_order
from localcrag.documents.readers.pdf_lined import with_lined_tables
from localcrag.documents.readers.pdf_lines import (
    Line,
    ends_in_hyphen,
    grid_line,
    joined_lines,
    lines_of,
)
from localcrag.documents.readers.pdf_paragraphs import BodyFont, Draft, drafts_of, ends_sentence
from localcrag.documents.readers.pdf_words import PageWords
from localcrag.types import BlockKind, Page

_MAX_LEVEL = 6
MIN_MONO_SHARE = 0.9
"""The share of the characters of a document beyond which those of one width are its prose, not its code."""

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
    table = OpenTable()
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
    mono = sum(n for (*_, mono), n in fonts.items() if mono) > MIN_MONO_SHARE * sum(fonts.values())
    return BodyFont(
        size, bold, mono, {size: median_low(found) for size, found in pitches.items() if len(found) > 2}
    )


def _page_drafts(page: PageLines, aside: Sequence[str], body: BodyFont, table: OpenTable) -> Iterator[Draft]:
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
    for draft in made:
        if draft.kind is BlockKind.PARAGRAPH and is_axis(draft.text):
            draft.kind = BlockKind.FURNITURE
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
