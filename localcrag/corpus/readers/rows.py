"""Tables as text: each row says its headers again, so that a row found alone can be understood."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from localcrag.corpus.parsed import Limits, joined

_SAMPLE = 64 * 1024
_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[-+]?[\d.,:/\s%€$£-]*\d[\d.,:/\s%€$£-]*$")


def read_rows(text: str, limits: Limits) -> str:
    """CSV or TSV as records. Raises UnreadableError where it says too much."""
    csv.field_size_limit(limits.data)
    reader = csv.reader(io.StringIO(text, newline=""), _dialect(text[:_SAMPLE]))
    rows = ([" ".join(cell.split()) for cell in row] for row in reader if any(row))
    return joined(records_of_rows(rows), limits)


def records_of_rows(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """One block per row, a line ``header: value`` for each cell that holds something."""
    remaining = iter(rows)
    first = next(remaining, None)
    if first is None:
        return
    second = next(remaining, None)
    header: Sequence[str] = ()
    if second is not None and _is_header(first):
        header = first
    else:
        yield _record(first, header)
    if second is not None:
        yield _record(second, header)
    for row in remaining:
        yield _record(row, header)


def _record(row: Sequence[str], header: Sequence[str]) -> str:
    names = (header[i] if i < len(header) and header[i] else f"column {i + 1}" for i in range(len(row)))
    return "\n".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True) if cell)


def _is_header(row: Sequence[str]) -> bool:
    """Names, not values: all different, none a number or a whole sentence."""
    names = [cell for cell in row if cell]
    return (
        len(names) > 0
        and len(set(names)) == len(names)
        and not any(_NUMBER.match(name) or len(name) > 100 for name in names)
    )


def _dialect(sample: str) -> type[csv.Dialect]:
    try:
        return csv.Sniffer().sniff(sample, _DELIMITERS)
    except csv.Error:
        return csv.excel_tab if sample.count("\t") > sample.count(",") else csv.excel
