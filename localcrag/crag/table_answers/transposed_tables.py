"""Tables whose columns are the things and whose rows are their properties, as comparisons often are.

"Which copier is the cheapest?" is asked of the row "Price · Velox 300: 2,480 · Prantl C4: 1,990". Such a
table is turned round, so that each thing is a row, and then asked as any other one. What is found is cited by
the row of the property that was compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from localcrag.crag.table_answers.parsed_tables import ParsedRow, ParsedTable
from localcrag.crag.table_answers.table_columns import EXTREMES, content
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_matching import matched
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_totals import totals_of
from localcrag.crag.table_answers.table_values import ColumnKind, column_values, roots
from localcrag.crag.table_answers.table_vocabulary import PERSONS

MAX_THINGS, MAX_PROPERTIES = 30, 300
"""The most columns that are taken for things, and the most rows that are taken for properties of them."""


def transposed(table: ParsedTable, *, by_text: bool = True) -> ParsedTable | None:
    """The table with a row for each of its columns but the first, whose cells name the new columns.

    None if the first cells do not tell the rows apart, or a row adds others up, or if there are less than two
    things or very many rows. The first column of the new table, with the names of the things, has no name of
    its own. Cells that are years or other numbers tell rows apart unless ``by_text``.
    """
    label, *things = table.columns
    if len(table.rows) > MAX_PROPERTIES:
        return None
    names = [" ".join(cell.split()) for cell in table.cells(label)]
    are_names = all(names) and len(set(map(str.casefold, names))) == len(names) and "" not in things
    if not are_names or not 1 < len(things) <= MAX_THINGS or totals_of(table).rows:
        return None
    if by_text and column_values(names).kind is not ColumnKind.TEXT:
        return None
    first = table.rows[0].strip
    rows = tuple(
        ParsedRow(
            {"": table.header(thing)}
            | {name: row.cells.get(thing, "") for name, row in zip(names, table.rows, strict=True)},
            first,
        )
        for thing in things
    )
    return ParsedTable(("", *names), rows, table.names, table.own_names)


def transposed_matches(question: TableQuestion, tables: Sequence[ParsedTable]) -> Iterator[TableMatch]:
    """How tables that are turned round answer which thing has the most of a property.

    The match is loose unless the question calls the things by a word in a name of the table or above them.
    """
    if question.operation not in EXTREMES or question.asking not in ("which", "who", "what"):
        return
    for table in tables:
        turned = transposed(table)
        match = matched(question, turned) if turned is not None else None
        if turned is None or match is None:
            continue
        if match.conditions or match.entity or not (match.column and match.question.subject):
            continue
        names = (*table.names, table.header(table.columns[0]))
        known = {word for name in names for word in (*roots(name), *content(name))}
        head = question.tokens[match.question.subject[-1]].root
        row = table.rows[turned.columns.index(match.column) - 1]
        rows = tuple(replace(each, strip=row.strip) for each in match.rows)
        is_loose = match.loose or (head not in known and head not in PERSONS)
        yield replace(match, rows=rows, loose=is_loose, original=table)
