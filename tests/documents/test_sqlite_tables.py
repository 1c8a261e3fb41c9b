"""Databases of SQLite: a page for each table, whose rows stand with the names of the columns."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from localcrag.documents import LocalCorpus, table_rows
from localcrag.documents.extracted import Limits
from localcrag.documents.readers.sqlite_tables import read_sqlite
from localcrag.errors import UnreadableError
from localcrag.plain_answer import place_of
from localcrag.types import Page
from tests.documents.conftest import ReadFunction

BOATS = """
CREATE TABLE owner (id INTEGER PRIMARY KEY, street TEXT, Name TEXT);
INSERT INTO owner VALUES (7, 'Quay 3', 'Ada Lund'), (8, 'Quay 4', 'Ben Ost');
CREATE TABLE boat (number INTEGER PRIMARY KEY, kind TEXT, length REAL, owner_id REFERENCES owner, photo BLOB);
INSERT INTO boat VALUES (1, 'Dinghy', 3.0, 7, x'ff00'), (2, 'Cutter', 0.1 + 8.2, 8, NULL);
INSERT INTO boat VALUES (3, NULL, 9, 99, 'x');
CREATE TABLE unused (a, b);
CREATE VIEW long_boats AS SELECT * FROM boat WHERE length > 5;
CREATE INDEX by_kind ON boat (kind);
ANALYZE;
"""


def database(script: str = BOATS, values: Sequence[object] = ()) -> bytes:
    """A database that a script makes, with values in its table "kept" if there are some."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script)
        for value in values:
            connection.execute("INSERT INTO kept VALUES (?)", (value,))
        connection.commit()
        return connection.serialize()


def pages(data: bytes, limits: Limits = Limits()) -> list[Page]:  # noqa: B008
    found = read_sqlite(data, limits)
    assert found.media_type == "application/vnd.sqlite3" and found.title == ""
    return list(found.pages)


def text(script: str, values: Sequence[object] = ()) -> str:
    return "\n".join(page.text for page in pages(database(script, values)))


def test_each_table_is_a_page_and_names_stand_behind_keys_of_other_tables() -> None:
    owner, boat = pages(database())
    assert (owner.number, boat.number) == (1, 2)
    assert owner.text.split("\n\n") == [
        "owner",
        "id: 7 · street: Quay 3 · Name: Ada Lund\nid: 8 · street: Quay 4 · Name: Ben Ost",
    ]
    assert boat.text.split("\n\n") == [
        "boat",
        "number: 1 · kind: Dinghy · length: 3 · owner_id: 7 (Ada Lund)\n"
        "number: 2 · kind: Cutter · length: 8.3 · owner_id: 8 (Ben Ost)\n"
        "number: 3 · length: 9 · owner_id: 99 · photo: x",
    ]
    assert [block.level for block in boat.blocks] == [1, 1, 2, 3]


def test_values_are_shown_as_in_a_sheet() -> None:
    values = ("two\n lines", 2**62, -0.5, 1e300, float("inf"), None, b"\x00", "ünï")
    rows = text("CREATE TABLE kept (value)", values).split("\n")[2:]
    assert rows == [
        *("value: two lines", "value: 4611686018427387904", "value: -0.5"),
        *("value: 1e+300", "value: inf", "value: ünï"),
    ]


def test_text_that_is_no_unicode_has_marks_in_it() -> None:
    assert "a: x\ufffdy" in text("CREATE TABLE t (a TEXT); INSERT INTO t VALUES (CAST(x'78ff79' AS TEXT))")


@pytest.mark.parametrize("encoding", ["UTF-16le", "UTF-16be"])
def test_a_database_in_utf_16(encoding: str) -> None:
    script = f"PRAGMA encoding = '{encoding}'; CREATE TABLE t (a); INSERT INTO t VALUES ('Größe')"
    assert "a: Größe" in text(script)


def test_only_tables_that_somebody_made_are_read() -> None:
    shown = text(
        "CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, body);"
        "INSERT INTO note (body) VALUES ('the kettle'), ('the kiln');"
        "CREATE VIRTUAL TABLE words USING fts5(body); INSERT INTO words VALUES ('a hidden word');"
        "CREATE VIRTUAL TABLE places USING rtree(id, a, b); INSERT INTO places VALUES (1, 2, 3);"
        "CREATE VIEW v AS SELECT * FROM no_such_table;"
    )
    assert shown == "note\n\nid: 1 · body: the kettle\nid: 2 · body: the kiln"


def test_names_of_tables_and_columns_may_be_anything() -> None:
    shown = text(
        'CREATE TABLE "a`b; ""c""" ("select" INTEGER PRIMARY KEY, "the `name`", "odd ""one"": ", [from]);'
        "INSERT INTO \"a`b; \"\"c\"\"\" VALUES (1, 'x', 'y', 'z'), (2, 'u', 'v', 'w');"
    )
    assert shown.startswith('a`b; "c"\n\nselect: 1 · the `name`: x · odd "one": y · from: z\n')


def test_generated_columns_and_tables_without_row_numbers_are_read() -> None:
    shown = text(
        "CREATE TABLE t (a TEXT PRIMARY KEY, b INTEGER, c AS (b * 2), d AS (b + 1) STORED) WITHOUT ROWID;"
        "INSERT INTO t (a, b) VALUES ('x', 4)"
    )
    assert shown == "t\n\na: x · b: 4 · c: 8 · d: 5"


def test_a_single_row_and_a_row_of_no_value() -> None:
    assert text("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)") == "t\n\na: 1 · b: 2"
    shown = text("CREATE TABLE t (a, b); INSERT INTO t VALUES ('x', 2), (NULL, NULL), ('y', 3)")
    assert shown == "t\n\na: x · b: 2\na: y · b: 3"


@pytest.mark.parametrize(
    ("tables", "shown"),
    [
        (
            "CREATE TABLE p (k TEXT PRIMARY KEY, title TEXT); CREATE TABLE c (r REFERENCES P (K));",
            "r: 1 (one)",
        ),
        (
            "CREATE TABLE p (k INTEGER PRIMARY KEY, city VARCHAR(9)); CREATE TABLE c (r REFERENCES p);",
            "r: 1 (one)",
        ),
        ("CREATE TABLE p (k INTEGER PRIMARY KEY, other); CREATE TABLE c (r REFERENCES p);", "r: 1"),
        ("CREATE TABLE p (k TEXT, name TEXT); CREATE TABLE c (r REFERENCES p (gone));", "r: 1"),
        ("CREATE TABLE p (k TEXT, name TEXT); CREATE TABLE c (r REFERENCES p);", "r: 1"),
        ("CREATE TABLE p (k TEXT, name TEXT); CREATE TABLE c (r REFERENCES gone (k));", "r: 1"),
    ],
)
def test_a_key_has_the_name_of_its_row_if_there_is_one(tables: str, shown: str) -> None:
    script = f"{tables} INSERT INTO p VALUES (1, 'one'); INSERT INTO c SELECT k FROM p;"
    assert text(script).split("\n")[-1] == shown


def test_keys_of_two_columns_and_names_that_say_no_more_stay_as_they_are() -> None:
    shown = text(
        "CREATE TABLE p (a INTEGER, b INTEGER, name TEXT, PRIMARY KEY (a, b));"
        "INSERT INTO p VALUES (1, 2, 'x');"
        "CREATE TABLE c (d, e, FOREIGN KEY (d, e) REFERENCES p (a, b)); INSERT INTO c VALUES (1, 2);"
        "CREATE TABLE q (k TEXT PRIMARY KEY, name TEXT); INSERT INTO q VALUES ('oak', 'oak'), ('elm', NULL);"
        "CREATE TABLE r (s REFERENCES q); INSERT INTO r VALUES ('oak'), ('elm'), (NULL);"
    )
    assert "d: 1 · e: 2" in shown and shown.endswith("s: oak\ns: elm")


def test_a_database_with_a_log_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript("CREATE TABLE t (a); INSERT INTO t VALUES ('kept')")
    data = path.read_bytes()
    assert data[18:20] == b"\x02\x02"
    assert [page.text for page in pages(data)] == ["t\n\na: kept"]


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("boats.db", "table"),
        ("boats", "sheet"),
        ("boats.sqlite3", "table"),
        ("boats.txt", "sheet"),
        ("boats.bin2", "sheet"),
    ],
)
def test_a_database_is_known_by_its_content(
    read: ReadFunction, corpus: LocalCorpus, name: str, noun: str
) -> None:
    document = read(name, database())
    passages = corpus.split(document)
    assert document.media_type == "application/vnd.sqlite3"
    cited = next(passage for passage in passages if "Cutter" in passage.text)
    assert place_of(cited).endswith(f"{noun} boat, rows 1–3") and cited.heading == "boat"


def test_what_only_has_the_name_is_no_database(read: ReadFunction) -> None:
    assert read("notes.db", "The kettle is on the shelf.\n").media_type == "text/plain"
    with pytest.raises(UnreadableError, match="binary, no text"):
        read("thumbs.db", bytes(range(256)) * 4)


def test_a_database_without_a_row_has_no_text(read: ReadFunction) -> None:
    with pytest.raises(UnreadableError, match="no text in it"):
        read("empty.db", database("CREATE TABLE t (a)"))


@pytest.mark.parametrize("cut", [16, 90, 100, 1000, 4096, 8191])
def test_a_database_that_is_cut_says_so(cut: int) -> None:
    with pytest.raises(UnreadableError, match="damaged SQLite database") as caught:
        read_sqlite(database()[:cut], Limits())
    assert "recover" in caught.value.hint


def test_a_spoilt_database_is_read_or_refused() -> None:
    rng, outcomes = random.Random(3), {"read": 0, "refused": 0}
    script = (
        "CREATE TABLE t (a, b); WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 900) "
    )
    whole = database(BOATS + script + "INSERT INTO t SELECT i, 'the row ' || i FROM n")
    for _ in range(150):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 30)):
            data[rng.randrange(16, len(data))] = rng.randrange(256)
        try:
            read_sqlite(bytes(data), Limits())
            outcomes["read"] += 1
        except UnreadableError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 10


def test_more_text_or_more_cells_than_the_limit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnreadableError, match="its text expands"):
        read_sqlite(database(), Limits(text=20))
    monkeypatch.setattr(table_rows, "_MAX_CELLS", 10)
    with pytest.raises(UnreadableError, match="cells"):
        read_sqlite(database(), Limits())
