"""Tables as text: each row repeats the headers, so that it can be understood alone."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from localcrag.documents.extracted import Limits, joined

_SAMPLE_CHARACTERS = 8 * 1024
_MAX_HEADER_ROW = 5
"""The header must be among so many first rows."""
_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[-+]?[\d.,:/\s%€$£-]*\d[\d.,:/\s%€$£-]*$")


def read_rows(text: str, limits: Limits) -> str:
    """CSV or TSV as text, one block per row. Raises UnreadableError if it exceeds ``limits.text``."""
    csv.field_size_limit(limits.data)
    reader = csv.reader(io.StringIO(text, newline=""), _dialect(text[:_SAMPLE_CHARACTERS]))
    rows = ([" ".join(cell.split()) for cell in row] for row in reader if any(row))
    return joined(records_of_rows(rows), limits)


def records_of_rows(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """One block per row, with a line ``header: value`` for each cell that is not empty.

    The header is the first of the leading rows that names the columns of the row after it. Rows above it,
    such as the title of a table, are kept without names, as are all rows if there is no header.
    """
    header: Sequence[str] = ()
    before: Sequence[str] | None = None
    for number, row in enumerate(rows):
        if not header and before is not None:
            if number <= _MAX_HEADER_ROW and _is_header(before, row):
                header = before
            else:
                yield _record(before, ())
        if header:
            yield _record(row, header)
        before = row
    if not header and before is not None:
        yield _record(before, ())


def _record(row: Sequence[str], header: Sequence[str]) -> str:
    if not header and sum(map(bool, row)) == 1:
        return "".join(row)
    names = (header[i] if i < len(header) and header[i] else f"column {i + 1}" for i in range(len(row)))
    return "\n".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True) if cell)


def _is_header(row: Sequence[str], following: Sequence[str]) -> bool:
    """Whether a row is a header: its cells are names, not values.

    Names are all different, none is a number or longer than 100 characters, and more than half of the
    filled cells of the next row have one.
    """
    names = [cell for cell in row if cell]
    filled = [i for i, cell in enumerate(following) if cell]
    named = sum(1 for i in filled if i < len(row) and row[i])
    return (
        len(set(names)) == len(names)
        and 2 * named > len(filled)
        and not any(len(name) > 100 or _NUMBER.match(name) for name in names)
    )


def _dialect(sample: str) -> type[csv.Dialect]:
    """The CSV dialect: the separator is guessed, and only ``"`` quotes, since an apostrophe is a letter."""
    try:
        dialect = csv.Sniffer().sniff(sample.replace("'", ""), _DELIMITERS)
    except csv.Error:
        return csv.excel_tab if sample.count("\t") > sample.count(",") else csv.excel
    dialect.doublequote = True
    return dialect
