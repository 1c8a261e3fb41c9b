"""Reader of CSV and TSV, row by row, each with the headers."""

from __future__ import annotations

import csv
import io

from localcrag.documents.extracted import Limits, joined
from localcrag.documents.table_rows import with_headers

_SAMPLE_CHARACTERS = 8 * 1024
_DELIMITERS = ",;\t|"


def read_rows(text: str, limits: Limits) -> str:
    """CSV or TSV as text, one block per row. Raises UnreadableError if it exceeds ``limits.text``."""
    csv.field_size_limit(limits.data)
    reader = csv.reader(io.StringIO(text, newline=""), _dialect(text[:_SAMPLE_CHARACTERS]))
    rows = ([" ".join(cell.split()) for cell in row] for row in reader if any(row))
    return joined(with_headers(rows), limits)


def _dialect(sample: str) -> type[csv.Dialect]:
    """The CSV dialect: the separator is guessed, and only ``"`` quotes, since an apostrophe is a letter."""
    try:
        dialect = csv.Sniffer().sniff(sample.replace("'", ""), _DELIMITERS)
    except csv.Error:
        return csv.excel_tab if sample.count("\t") > sample.count(",") else csv.excel
    dialect.doublequote = True
    return dialect
