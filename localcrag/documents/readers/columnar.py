"""Reader of tables that are stored by columns, Parquet and Arrow (as is Feather): row by row, with names.

pyarrow reads them, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.xlsx import shown_value
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_rows import add_lines, bounded_rows, grid_lines
from localcrag.errors import UnreadableError

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_AT_ONCE = 1024
_OLD_FEATHER = b"FEA1"
_INDEX = "__index_level_"
"""How pandas calls the labels of rows that have no name of their own."""
_MAX_ITEMS = 50
"""Items of a list that are shown; a list of more numbers is left out, since nobody reads those."""


def read_columnar(format_: DocumentFormat, data: bytes, limits: Limits) -> ExtractedText:
    """Read the rows with the names of their columns; columns of bytes are left out.

    Raises UnreadableError: damaged, encrypted, too many cells, or more text than ``limits.text``.
    """
    made = BlockText(limits)
    try:
        schema, batches = _opened(format_, data)
        places = _places(schema)
        names = [schema.field(place).name for place in places]
        header = GridRow(0, ["" if name.startswith(_INDEX) else shown_value(name) for name in names])
        add_lines(made, grid_lines(bounded_rows(_rows(batches, places)), header if places else None))
    except UnreadableError:
        raise
    except Exception as error:  # pyarrow raises whatever a wrong offset or type leads to
        raise UnreadableError(f"damaged {format_} file", hint="Write it anew, or save it as CSV.") from error
    return ExtractedText("", MEDIA_TYPES[format_], (made.page(),))


def _opened(format_: DocumentFormat, data: bytes) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    """The columns of a file, and its rows in batches, which are read one after another."""
    import pyarrow as pa

    source = pa.BufferReader(data)
    if format_ is DocumentFormat.PARQUET:
        from pyarrow.parquet import ParquetFile

        parquet = ParquetFile(source)
        return parquet.schema_arrow, parquet.iter_batches(_ROWS_AT_ONCE, use_threads=False)
    if data.startswith(_OLD_FEATHER):
        from pyarrow.feather import read_table

        table = read_table(source, use_threads=False)
        return table.schema, table.to_batches()
    file = pa.ipc.open_file(source, options=pa.ipc.IpcReadOptions(use_threads=False))
    return file.schema, (file.get_batch(at) for at in range(file.num_record_batches))


def _places(schema: pa.Schema) -> list[int]:
    """The places of the columns that are shown, in order; those of the labels of rows come first.

    Labels that are numbers only count the rows, and are left out.
    """
    from pyarrow import types

    labels, others = [], []
    for place, field in enumerate(schema):
        if field.name.startswith(_INDEX):
            if not types.is_integer(field.type):
                labels.append(place)
        elif not _is_binary(field.type):
            others.append(place)
    return labels + others


def _is_binary(type_: pa.DataType) -> bool:
    from pyarrow import types

    is_of = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
    return any(matches(type_) for matches in is_of)


def _rows(batches: Iterable[pa.RecordBatch], places: Sequence[int]) -> Iterator[GridRow]:
    """The rows, numbered from 1, also those of no value."""
    number = 0
    for batch in batches:
        batch.validate(full=True)
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            columns = [_values(batch.column(place).slice(start, _ROWS_AT_ONCE)) for place in places]
            for row in zip(*columns, strict=True):
                number += 1
                yield GridRow(number, [_shown(value) for value in row])


def _values(column: pa.Array) -> Sequence[object]:
    """The values of a column; times to the microsecond, and None for those of a year that Python has not."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if kind == pa.time64("ns"):
        column = column.cast(pa.time64("us"), safe=False)
    elif kind == pa.duration("ns"):
        column = column.cast(pa.duration("us"), safe=False)
    elif types.is_timestamp(kind) and kind.unit == "ns":
        column = column.cast(pa.timestamp("us", kind.tz), safe=False)
    elif types.is_float32(kind):
        column = column.cast(pa.string()).cast(pa.float64())
    try:
        values: list[object] = column.to_pylist()
    except (ValueError, OverflowError, LookupError):
        if types.is_timestamp(kind) and kind.tz:  # a time zone that is not known here: the times are in UTC
            return _values(column.cast(pa.timestamp(column.type.unit)))
        return [_value(each) for each in column]
    return values


def _value(scalar: pa.Scalar) -> object:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        return None


def _shown(value: object, *, is_inner: bool = False) -> str:
    """A value as a sheet shows it; lists and records in one line, without what they do not say."""
    match value:
        case Decimal():
            return f"{value:f}"
        case Mapping():
            told = ((name, _shown(each, is_inner=True)) for name, each in value.items())
            shown = ", ".join(f"{shown_value(name)}: {text}" for name, text in told if text)
            return f"{{{shown}}}" if is_inner and shown else shown
        case list():
            return _shown_list(value, is_inner=is_inner)
        case tuple():
            return ": ".join(_shown(each, is_inner=True) for each in value)
        case _:
            return shown_value(value)


def _shown_list(items: Sequence[object], *, is_inner: bool) -> str:
    is_long = len(items) > _MAX_ITEMS
    if is_long and all(isinstance(item, (int, float)) for item in items):
        return ""
    texts = [text for item in items[:_MAX_ITEMS] if (text := _shown(item, is_inner=True))]
    shown = ", ".join([*texts, "…"] if is_long else texts)
    return f"[{shown}]" if is_inner and shown else shown
