"""Tables that are stored by columns: Parquet, Arrow and Feather, row by row."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from localcrag.documents import LocalCorpus, table_rows
from localcrag.documents.extracted import Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers.columnar import read_columnar
from localcrag.errors import UnreadableError
from localcrag.plain_answer import place_of
from tests.documents.conftest import ReadFunction

BOATS = pa.table({"Boat": ["Dinghy", "Cutter", None], "Length": [3.0, 8.25, 9.5], "Berth": [1, None, 30]})
ROWS = ["Boat: Dinghy · Length: 3 · Berth: 1", "Boat: Cutter · Length: 8.25", "Length: 9.5 · Berth: 30"]
Writer = Callable[[pa.Table], bytes]


def as_parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table, file, row_group_size=2)
    return file.getvalue()


def as_arrow(table: pa.Table) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return file.getvalue()


def as_feather(table: pa.Table) -> bytes:
    file = io.BytesIO()
    feather.write_feather(table, file, compression="zstd")
    return file.getvalue()


WRITERS = pytest.mark.parametrize("write", [as_parquet, as_arrow, as_feather])


def text(data: bytes, limits: Limits = Limits()) -> str:  # noqa: B008
    (page,) = read_columnar(format_of("x", data), data, limits).pages
    assert page.number is None
    return page.text


def cells(column: pa.Array | list[object], write: Writer = as_parquet) -> list[str]:
    """How the values of a column are shown; those that are empty have no row."""
    return [line.removeprefix("c: ") for line in text(write(pa.table({"c": column}))).split("\n")]


@WRITERS
def test_rows_stand_with_the_names_of_their_columns(write: Writer) -> None:
    data = write(BOATS)
    format_ = DocumentFormat.PARQUET if write is as_parquet else DocumentFormat.ARROW
    assert format_of("boats", data) is format_
    (page,) = read_columnar(format_, data, Limits()).pages
    assert page.text.split("\n") == ROWS
    assert [block.level for block in page.blocks] == [1, 2, 3]


def test_rows_that_look_like_headers_or_numbers_of_rows_are_rows() -> None:
    table = pa.table({"a": ["Item", "x", "y"], "b": ["Price", "1", "2"], "": [0, 1, 2]})
    assert text(as_parquet(table)).split("\n")[0] == "a: Item · b: Price · column 3: 0"


def test_values_are_shown_as_in_a_sheet() -> None:
    oslo = timezone(timedelta(hours=2))
    assert cells([True, False, None]) == ["yes", "no"]
    assert cells([date(2026, 3, 1)]) == ["2026-03-01"]
    assert cells([datetime(2026, 3, 1), datetime(2026, 3, 1, 9, 30, 5)]) == [
        "2026-03-01",
        "2026-03-01 09:30:05",
    ]
    assert cells(pa.array([1_772_355_600_000_000_001], pa.timestamp("ns"))) == ["2026-03-01 09:00"]
    assert cells(pa.array([datetime(2026, 3, 1, 9, tzinfo=oslo)], pa.timestamp("ms", "+02:00"))) == [
        "2026-03-01 09:00+02:00"
    ]
    assert cells([time(9, 30)]) == ["09:30"]
    assert cells([timedelta(minutes=90)]) == ["1:30:00"]
    assert cells([Decimal("12.50"), Decimal("0.00")]) == ["12.50", "0.00"]
    assert cells([3.0, 0.1 + 0.2, float("nan"), 1e20]) == ["3", "0.3", "1e+20"]
    assert cells(pa.array([0.1, 2.0], pa.float32())) == ["0.1", "2"]
    assert cells(["two\nlines", " ", "x"]) == ["two lines", "x"]
    assert cells(pa.array(["oak", "elm", "oak"]).dictionary_encode()) == ["oak", "elm", "oak"]


def test_a_time_that_python_does_not_know_is_left_out_and_one_of_an_unknown_zone_in_utc() -> None:
    assert cells(pa.array([2**40, 0], pa.timestamp("s")), as_arrow) == ["1970-01-01"]
    assert cells(pa.array([1800], pa.timestamp("s", "Nowhere/Town")), as_arrow) == ["1970-01-01 00:30"]


def test_lists_and_records_are_in_one_line() -> None:
    assert cells([["red", "blue"], [], None, ["green"]]) == ["red, blue", "green"]
    assert cells([{"name": "Ada", "age": None, "tags": ["a", "b"], "at": {"x": 1}}]) == [
        "name: Ada, tags: [a, b], at: {x: 1}"
    ]
    assert cells(pa.array([[("key", 1), ("other", 2)]], pa.map_(pa.string(), pa.int64()))) == [
        "key: 1, other: 2"
    ]
    assert cells([[{"day": date(2026, 3, 1), "raw": b"\xff"}]]) == ["{day: 2026-03-01}"]


def test_long_lists_are_cut_and_long_lists_of_numbers_left_out() -> None:
    (shown,) = cells([[f"w{number}" for number in range(80)]])
    assert shown.startswith("w0, w1, ") and shown.endswith("w49, …")
    assert text(as_parquet(pa.table({"name": ["oak"], "vector": [[0.5] * 384]}))) == "name: oak"


def test_bytes_are_left_out() -> None:
    table = pa.table(
        {"photo": [b"\xff\xd8", b"text"], "name": ["oak", "elm"], "hash": pa.array([b"ab"] * 2, pa.binary(2))}
    )
    assert text(as_parquet(table)) == "name: oak\nname: elm"
    assert text(as_parquet(table.select(["photo"]))) == ""


def test_labels_of_rows_stand_first_unless_they_only_count() -> None:
    counted = BOATS.append_column("__index_level_0__", [[4, 7, 9]])
    assert text(as_parquet(counted)).split("\n") == ROWS
    labelled = pa.table({"price": [3, 4], "__index_level_0__": ["oak", "elm"]})
    assert text(as_parquet(labelled)) == "oak · price: 3\nelm · price: 4"


def test_columns_of_the_same_name_and_a_table_of_many_rows() -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array(["x"])], names=["a", "a"])
    assert text(as_arrow(twice)) == "a: 1 · a: x"
    many = text(as_feather(pa.table({"n": list(range(5000)), "word": ["oak"] * 5000}))).split("\n")
    assert len(many) == 5000 and many[-1] == "n: 4999 · word: oak"


@WRITERS
@pytest.mark.parametrize("name", ["boats.parquet", "boats", "boats.csv", "boats.arrow"])
def test_a_table_is_known_by_its_content(
    read: ReadFunction, corpus: LocalCorpus, write: Writer, name: str
) -> None:
    document = read(name, write(BOATS))
    (passage,) = corpus.split(document)
    assert passage.text.split("\n") == ROWS
    assert place_of(passage).endswith(f"{name}, rows 1–3")


@pytest.mark.parametrize("name", ["x.parquet", "x.feather"])
def test_what_only_has_the_name_is_read_as_what_it_is(read: ReadFunction, name: str) -> None:
    assert read(name, "The kettle is on the shelf.\n").media_type == "text/plain"
    with pytest.raises(UnreadableError, match="binary, no text"):
        read(name, bytes(range(256)) * 4)


def test_a_table_without_rows_has_no_text(read: ReadFunction) -> None:
    with pytest.raises(UnreadableError, match="no text in it"):
        read("x.parquet", as_parquet(BOATS.slice(0, 0)))


@WRITERS
@pytest.mark.parametrize("cut", [8, 16, 200, -1])
def test_a_file_that_is_cut_says_so(write: Writer, cut: int) -> None:
    data = write(BOATS)[:cut]
    with pytest.raises(UnreadableError, match=r"damaged (Parquet|Arrow) file"):
        read_columnar(format_of("x", data + b"    "), data, Limits())


@WRITERS
def test_a_spoilt_file_is_read_or_refused(write: Writer) -> None:
    rng, outcomes = random.Random(5), {"read": 0, "refused": 0}
    words = ["oak", "elm", None, "the old mill"] * 50
    whole = write(pa.table({"a": words, "b": [1.5, None] * 100, "c": [["x"], []] * 100}))
    format_ = format_of("x", whole)
    for _ in range(100):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 8)):
            data[rng.randrange(8, len(data))] = rng.randrange(256)
        try:
            read_columnar(format_, bytes(data), Limits())
            outcomes["read"] += 1
        except UnreadableError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 1


def test_more_text_or_more_cells_than_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = as_parquet(BOATS)
    with pytest.raises(UnreadableError, match="its text expands"):
        text(data, Limits(text=20))
    monkeypatch.setattr(table_rows, "_MAX_CELLS", 5)
    with pytest.raises(UnreadableError, match="cells"):
        text(data)
