"""Reader of CSV and TSV, row by row, each with the headers."""

from __future__ import annotations

import csv
import io

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_rows import add_lines, bounded_rows, grid_lines
from localcrag.types import Page

_SAMPLE_CHARACTERS = 8 * 1024
_DELIMITERS = ",;\t|"


def read_rows(text: str, limits: Limits) -> Page:
    """CSV or TSV as a page, one block per row, numbered as in the file.

    Raises UnreadableError if it exceeds ``limits.text``.
    """
    csv.field_size_limit(limits.data)
    reader = csv.reader(io.StringIO(text, newline=""), _dialect(text[:_SAMPLE_CHARACTERS]))
    rows = (
        GridRow(number, [" ".join(cell.split()) for cell in row])
        for number, row in enumerate(reader, 1)
        if any(row)
    )
    made = BlockText(limits)
    add_lines(made, grid_lines(bounded_rows(rows)))
    return made.page()


def _dialect(sample: str) -> type[csv.Dialect]:
    """The CSV dialect: the separator is guessed, and only ``"`` quotes, since an apostrophe is a letter."""
    try:
        dialect = csv.Sniffer().sniff(sample.replace("'", ""), _DELIMITERS)
    except csv.Error:
        return csv.excel_tab if sample.count("\t") > sample.count(",") else csv.excel
    dialect.doublequote = True
    return dialect
