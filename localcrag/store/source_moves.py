"""Documents whose files are in another place: their rows get another source, and keep everything else.

A move is written down before it begins, with all that it needs. After a kill it is done again from there,
which changes nothing that was done before.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.store import sql
from localcrag.store.json_files import write_json

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

    from localcrag.store.tables import Tables

MOVES_FILE = "moving.json"
DOCUMENTS_PER_COMMIT = 32
"""Documents whose rows are read into memory at a time, with their vectors."""


@dataclass(frozen=True, slots=True)
class SourceMove:
    """The source of a document as it was kept and as it is kept now, and the size and time of its file."""

    former: str
    source: str
    size: int
    mtime_ns: int


class MoveJournal:
    """The file ``moving.json`` in a knowledge base's folder, which exists only while documents are moved."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / MOVES_FILE

    def begin(self, moves: Sequence[SourceMove]) -> None:
        """Write down the moves, on the disk before this returns. Raises OSError."""
        write_json(self._path, [[move.former, move.source, move.size, move.mtime_ns] for move in moves])

    def pending(self) -> list[SourceMove]:
        """The moves that were begun, and not ended; none if the file cannot be understood."""
        try:
            found = json.loads(self._path.read_text("utf-8"))
            return [
                SourceMove(str(former), str(source), int(size), int(time))
                for former, source, size, time in found
            ]
        except (FileNotFoundError, ValueError, TypeError):
            return []

    def end(self) -> None:
        """Delete the file, once all rows are written. Raises OSError."""
        self._path.unlink(missing_ok=True)


def move_rows(tables: Tables, moves: Sequence[SourceMove]) -> None:
    """Give the rows of documents other sources, in one commit of each table for some documents at a time."""
    for start in range(0, len(moves), DOCUMENTS_PER_COMMIT):
        some = moves[start : start + DOCUMENTS_PER_COMMIT]
        _move(tables.passages, some, ["source", "ordinal"])
        if (asked := tables.questions) is not None:
            _move(asked, some, ["source", "passage", "lexical"])
        _move(tables.documents, some, ["source"])


def _move(table: Table, moves: Sequence[SourceMove], keys: Sequence[str]) -> None:
    """Put the rows of these sources, with their new ones, in the place of the old rows."""
    former = sql.one_of("source", [move.former for move in moves])
    rows = table.search().where(former).to_arrow()
    if len(rows):
        merge = table.merge_insert(list(keys)).when_matched_update_all().when_not_matched_insert_all()
        merge.when_not_matched_by_source_delete(former).execute(_moved(rows, moves).cast(table.schema))


def _moved(rows: pa.Table, moves: Sequence[SourceMove]) -> pa.Table:
    """The rows with their new sources, and those of documents with the size and time of the file too."""
    import pyarrow as pa

    to = {move.former: move for move in moves}
    found = [to[former] for former in rows["source"].to_pylist()]
    columns = {"source": pa.array([move.source for move in found], pa.string())}
    if "mtime_ns" in rows.schema.names:
        columns["size"] = pa.array([move.size for move in found], pa.int64())
        columns["mtime_ns"] = pa.array([move.mtime_ns for move in found], pa.int64())
    for name, column in columns.items():
        rows = rows.set_column(rows.schema.get_field_index(name), rows.schema.field(name), column)
    return rows
