"""The tables of a document, parsed back from the rows that it is stored as.

A row is stored as a line, ``Category: Motorcycle · Fee: 35 EUR``, or, of a JSON record, as a line for each
value. Rows that stand close are one table, which may go on in the next passage, and on the next page if that
begins with rows of the same columns. Cards, as the events of a calendar, are rows below their own names:
those of one kind are one table, whatever stands between them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import PurePath
from typing import TypeVar
from weakref import WeakKeyDictionary

from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.crag.refinement.readable_names import ABBREVIATION_BORDER
from localcrag.types import CELL_SEPARATOR, Block, BlockKind, Passage, Strip

T = TypeVar("T")
_NAME_END = ": "
_JOINED_WORDS = re.compile(
    r"(?<=[a-z]{2})(?=[A-Z][a-z])|(?<=[a-z]{3})(?=[A-Z]{2}|[A-Z]$)|(?<=[A-Z]{2})(?=[A-Z][a-z]{2})"
    rf"|{ABBREVIATION_BORDER}"
)
"""Between the words of "MeltingPoint", "teamID", "CPKHexColor" and "FAOcode", and not within "kWh"."""
_CLOSE_GAP, _RECORD_GAP, _FAR = 1, 2, 3
"""Characters between two rows of a table, between two records, and between rows of different tables."""
_MIN_JOINED_NAMES = 2
"""The fewest names of columns that are words written together, by which those of a table are."""
ROW = "row"
"""What a row of a table is of its document, unless it is in long form."""
MAX_CELL_NAMES = 100
"""The most columns of a table that is parsed."""

_NUMBERED = re.compile(r"^\d{1,2}(?:\.\d{1,2})*[.)]?\s+(?=[^\W\d_]{2})")
"""The number of a heading before its words: "2.1 Crowns"."""


@dataclass(frozen=True, slots=True)
class ParsedRow:
    """A row: its cells by the names of their columns, and the strip of the document that it is.

    Of a row that goes on in the next passage, the strip is the part in its first one.
    """

    cells: Mapping[str, str]
    strip: Strip


@dataclass(frozen=True, eq=False)
class ParsedTable:
    """The rows of one table below the names of its columns, which are in the order of the table.

    ``names`` are the names that it goes by, the nearest first: its caption, the headings above it from the
    innermost, the name of its file and the title of its document. The first of them, ``own_names``, are lines
    above its header and the name nearest to them. ``spelled`` are the words that columns go by whose names
    abbreviate those of a question (:mod:`.column_abbreviations`). ``counted`` is what its rows are of the
    document: a "row", or a "cell" of a table that was put into long form (:mod:`.long_tables`). No two tables
    are equal: what is found out about one is kept with it (:func:`once_per_table`).
    """

    columns: tuple[str, ...]
    rows: tuple[ParsedRow, ...]
    names: tuple[str, ...]
    own_names: tuple[str, ...] = ()
    spelled: Mapping[str, str] = field(default_factory=dict)
    counted: str = ROW

    @property
    def source(self) -> str:
        """The source of its document."""
        return self.rows[0].strip.passage.source

    @cached_property
    def prefix(self) -> str:
        """What the names of all columns begin with, up to a full stop: "stations." of "stations.name"."""
        first = self.columns[0].rpartition(".")[0]
        all_have_it = first and all(column.startswith(f"{first}.") for column in self.columns)
        return first if all_have_it else ""

    def header(self, column: str) -> str:
        """The name of a column without the prefix that all of them have."""
        return column.removeprefix(f"{self.prefix}.") if self.prefix else column

    @cached_property
    def _joins_words(self) -> bool:
        """Whether the names of columns are words written together, "MeltingPoint" beside "BoilingPoint"."""
        headers = [self.header(column) for column in self.columns]
        joined = [header for header in headers if words_apart(header) != header]
        return len(joined) >= _MIN_JOINED_NAMES and not any(" " in header.strip() for header in headers)

    def wording(self, column: str) -> str:
        """The header of a column, with its words apart if those of the table are written together.

        It is the one in full of a name that stands for other words of a question.
        """
        if column in self.spelled:
            return self.spelled[column]
        return words_apart(self.header(column)) if self._joins_words else self.header(column)

    def cells(self, column: str) -> list[str]:
        """The cells of a column, "" for a row that has none."""
        return [row.cells.get(column, "") for row in self.rows]


@dataclass(frozen=True, slots=True)
class DocumentTables:
    """The passages of a document in order, and the tables that were parsed of them."""

    passages: tuple[Passage, ...]
    tables: tuple[ParsedTable, ...]


def once_per_table(function: Callable[[ParsedTable], T]) -> Callable[[ParsedTable], T]:
    """A function that is called once for a table, and gives the same again as long as the table is in use."""
    known: WeakKeyDictionary[ParsedTable, T] = WeakKeyDictionary()

    @wraps(function)
    def kept(table: ParsedTable) -> T:
        if table not in known:
            known[table] = function(table)
        return known[table]

    return kept


def words_apart(name: str) -> str:
    """A name with a blank between words that only their capitals tell apart: "Melting Point"."""
    return _JOINED_WORDS.sub(" ", name)


@dataclass(slots=True)
class _Draft:
    """The rows of a table as they are collected; ``known`` are the columns so far.

    ``after_break`` says that nothing stands before it on its page.
    """

    page: int | None
    names: list[str]
    after_break: bool
    rows: list[tuple[str, Strip]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def add_row(self, text: str, strip: Strip) -> None:
        """Add a row with its strip."""
        self.rows.append((text, strip))
        self.known |= _named(text).keys()

    def extend_row(self, text: str, gap: int) -> None:
        """Add the rest of the last row, which stands ``gap`` characters behind its first part.

        A record may go on over thousands of passages: only what is new in it is read.
        """
        row, strip = self.rows[-1]
        between = "" if not gap else "\n" if "\n" in row or "\n" in text else " "
        self.rows[-1] = f"{row}{between}{text}", strip
        self.known |= _named(text).keys()


def tables_of(passages: Sequence[Passage]) -> list[ParsedTable]:
    """The tables with two rows or more of a document, from all of its passages in order."""
    return [table for draft in _joined(_drafts(passages)) if (table := _table(draft))]


def joined_tables(tables: Sequence[ParsedTable]) -> list[ParsedTable]:
    """The tables of one document that hold the rows of several others, as of sheets with the same columns.

    No two rows may be named alike, nor a number stand in the nearest name of a table: sheets of two years
    have the same things twice.
    """
    by_columns: dict[tuple[str, ...], list[ParsedTable]] = {}
    for table in tables:
        by_columns.setdefault(table.columns, []).append(table)
    joined: list[ParsedTable] = []
    for columns, group in by_columns.items():
        labels = [cell for table in group for cell in table.cells(columns[0])]
        own = (_NUMBERED.sub("", name) for table in group for name in table.own_names)
        is_dated = any(map(str.isdecimal, "".join(own)))
        if len(group) < 2 or is_dated or len(set(labels)) < len(labels) or not all(labels):
            continue
        shared = shared_names(group)
        rows = tuple(row for table in group for row in table.rows)
        joined.append(ParsedTable(columns, rows, shared, shared))
    return joined


def shared_names(tables: Sequence[ParsedTable]) -> tuple[str, ...]:
    """The names that all of some tables go by, the nearest first."""
    return tuple(name for name in tables[0].names if all(name in table.names for table in tables))


def _drafts(passages: Sequence[Passage]) -> Iterator[_Draft]:
    """The runs of rows, with the names that each goes by, and last the cards of each kind."""
    path: list[tuple[int, str]] = []
    draft: _Draft | None = None
    caption = ""
    before: Block | None = None
    page: int | None = None
    first_of_page = True
    cards: dict[str, _Draft] = {}
    for passage in passages:
        if passage.page != page:
            page, before, first_of_page = passage.page, None, True
        for block in passage.blocks:
            text = passage.text_between(block.start, block.end)
            if block.kind is BlockKind.ROW and (kind := _kind_of_card(text, path, before)):
                card = cards.setdefault(kind, _Draft(page, [], after_break=False))
                card.add_row(text, strip_at(passage, block.start, block.end))
            elif block.kind is BlockKind.ROW:
                gap = block.start - before.end if before and before.kind is BlockKind.ROW else _FAR
                within = before is not None and before.start >= passage.start
                if draft and not within and _is_same_row(draft, text, gap):
                    draft.extend_row(text, gap)
                elif draft and _is_same_table(draft.rows[-1][0], text, gap):
                    draft.add_row(text, strip_at(passage, block.start, block.end))
                else:
                    beside = _names_beside(draft, text) if draft and gap == _RECORD_GAP else []
                    if draft:
                        yield draft
                    headings = [heading for _, heading in reversed(path)]
                    draft = _Draft(page, [*filter(None, [caption]), *beside, *headings], first_of_page)
                    draft.add_row(text, strip_at(passage, block.start, block.end))
            elif block.kind is BlockKind.HEADING:
                path = [heading for heading in path if heading[0] < block.level] + [(block.level, text)]
            if block.kind is not BlockKind.FURNITURE:
                caption = text if block.kind is BlockKind.CAPTION else ""
                first_of_page = False
                if draft and block.kind is not BlockKind.ROW:
                    yield draft
                    draft = None
                before = block
    if draft:
        yield draft
    yield from cards.values()


def _names_beside(before: _Draft, text: str) -> list[str]:
    """The values of the one record before a record of a list below a key: what stands beside that key.

    Of ``{"name": "Premier League", "clubs": [{"code": "ARS"}]}`` the clubs are those of the league.
    """
    keys = {name.partition(".")[0] for name in _named(text) if "." in name}
    named = _named(before.rows[0][0])
    is_beside = len(before.rows) == 1 and len(keys) == 1 and not any("." in name for name in named)
    return [value for value in named.values() if value] if is_beside else []


def _kind_of_card(text: str, path: Sequence[tuple[int, str]], before: Block | None) -> str:
    """The name of the first column of a row that stands below its own first cell as heading; "" of others."""
    if before is None or before.kind is not BlockKind.HEADING or not path:
        return ""
    name, value = next(iter(_named(text).items()), ("", ""))
    return name if name and " ".join(value.split()) == " ".join(path[-1][1].split()) else ""


def _is_same_row(draft: _Draft, text: str, gap: int) -> bool:
    """Whether the first piece of a passage goes on with a row that the end of the one before cut.

    It does within a word; of a record, if it stands close; of a line, if it begins neither with a column nor
    as the rows of a table do whose first cell has no name, or has only columns that the row has not yet.
    """
    row = draft.rows[-1][0]
    if gap > _CLOSE_GAP:
        return False
    if not gap or "\n" in row or "\n" in text:
        return True
    mark = CELL_SEPARATOR.strip()
    if row.endswith(mark) or text.startswith(mark):
        return True
    own, first, last = ([*_named(each)] for each in (text, draft.rows[0][0], row))
    if own[:1] == [""]:
        return len(last) == 1 or own[:2] != first[:2]
    return text.partition(_NAME_END)[0] not in draft.known or (own[0] != first[0] and not {*own} & {*last})


def _is_same_table(row: str, text: str, gap: int) -> bool:
    """Whether a row stands close to the one before, or is a record like it."""
    if gap <= _CLOSE_GAP:
        return True
    records = "\n" in row and "\n" in text and gap == _RECORD_GAP
    return records and bool(_named(row).keys() & _named(text).keys())


def _joined(drafts: Iterable[_Draft]) -> Iterator[_Draft]:
    """The drafts, with one that goes on at the top of the next page joined to the one before."""
    last: _Draft | None = None
    for draft in drafts:
        if last and draft.after_break and _goes_on(last, draft):
            last.rows += draft.rows
            last.page = draft.page
            continue
        if last:
            yield last
        last = draft
    if last:
        yield last


def _goes_on(last: _Draft, draft: _Draft) -> bool:
    """Whether a table goes on: on the next page, with the same columns, and nothing between."""
    if last.page is None or draft.page != last.page + 1:
        return False
    columns = [{name for text, _ in each.rows for name in _named(text)} for each in (last, draft)]
    return columns[0] == columns[1]


def _table(draft: _Draft) -> ParsedTable | None:
    """The table of a run of rows; None if it has less than two rows with names.

    A line without names, or with one that no other line has, as "Note: in EUR", is a title or a note.
    """
    rows: list[ParsedRow] = []
    columns: list[str] = []
    titles: list[str] = []
    named = [_named(text) for text, _ in draft.rows]
    used = Counter(name for cells in named for name in cells)
    for (text, strip), cells in zip(draft.rows, named, strict=True):
        if not cells or (len(cells) == 1 and ("" in cells or used[next(iter(cells))] == 1)):
            if rows:
                continue
            titles.append(text)
            continue
        _add_names(columns, cells)
        rows.append(ParsedRow(cells, strip))
        if len(columns) > MAX_CELL_NAMES:
            return None
    if len(rows) < 2:
        return None
    passage = rows[0].strip.passage
    file = _file_name(passage.source)
    names = (*reversed(titles), *draft.names, words_apart(file), file, passage.title)
    known = tuple(dict.fromkeys(filter(None, names)))
    return ParsedTable(tuple(columns), tuple(rows), known, known[: len(titles) + 1])


def _add_names(columns: list[str], cells: Mapping[str, str]) -> None:
    """Add the names of a row's columns, a new one after the one that it follows in the row."""
    at = 0
    for name in cells:
        if name in columns:
            at = columns.index(name) + 1
        else:
            columns.insert(at, name)
            at += 1


def _named(text: str) -> dict[str, str]:
    """The cells of a row by the names of their columns; a first cell without a name has the name "".

    A later piece without a name belongs to the cell before it, whose text has the separator in it. The last
    field of a record may be empty: "remark:".
    """
    cells: dict[str, str] = {}
    last = ""
    is_record = "\n" in text
    for number, piece in enumerate(text.split("\n") if is_record else text.split(CELL_SEPARATOR)):
        is_empty = is_record and piece.endswith(_NAME_END.rstrip())
        name, mark, value = (f"{piece} " if is_empty else piece).partition(_NAME_END)
        if mark and name not in cells:
            cells[name] = value
            last = name
        elif not number:
            cells[""] = piece
        elif last or cells:
            cells[last] = f"{cells[last]}{CELL_SEPARATOR}{piece}"
    return cells


def _file_name(source: str) -> str:
    """The name of a file without its suffix; "" for a source that is none."""
    return PurePath(source).stem if source.startswith("/") else source.rpartition(":")[2].rpartition("/")[2]
