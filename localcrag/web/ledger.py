"""The egress ledger: every query, address and request that left the machine, when, and for which question.

It is a file that only its owner can read, with one JSON object per line. A line is on the disk before
the request that it records is sent, and a request that cannot be recorded is not sent. Processes that
write at the same time take turns by a lock file beside it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from localcrag.errors import LedgerError

LEDGER_FILE_NAME = "egress.jsonl"
"""The name of the ledger in the home folder."""
EGRESS_KINDS = ("query", "page", "url", "model", "objects", "cluster")
"""A query to SearXNG, a page that a search found, an address that the user named, a request to a model
server, of which the address and the size are written and never the text, an operation on object storage, with
the number and the size of the objects, and an ingestion on a cluster, with those of the documents."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One record: ``target`` is the query or the URL, ``question`` the question that it was for, or ""."""

    when: datetime
    kind: str
    target: str
    question: str


class Ledger:
    """The append-only file at ``path``, shared by all processes of a user and made by the first record."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def record(self, kind: str, target: str, question: str = "") -> None:
        """Write one line and wait until it is on the disk.

        ``kind`` is one of EGRESS_KINDS. Raises LedgerError, after which nothing may be sent.
        """
        if kind not in EGRESS_KINDS:
            raise ValueError(f"no such kind of egress: {kind!r}")
        when = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = {"when": when, "kind": kind, "target": target, "question": question}
        try:
            line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace")
            self._append(line)
        except OSError as error:
            raise LedgerError(
                f"nothing was sent, since {self.path} cannot be written: {error.strerror or error}",
                hint="make room or correct the permissions there; the web is only used with its ledger",
            ) from error

    def recorder(self, question: str) -> Callable[[str, str], None]:
        """A function of kind and target that records what leaves for this question ("" for none)."""
        return lambda kind, target: self.record(kind, target, question)

    def entries(self, *, limit: int | None = None, since: datetime | None = None) -> list[Entry]:
        """The records, oldest first: at most the ``limit`` last ones, none older than ``since``.

        Lines that cannot be parsed, such as one that a crash cut off, are left out. ``since`` must have a
        time zone. Raises LedgerError if the file exists and cannot be read.
        """
        found = [entry for entry in map(_parsed, self._lines()) if entry is not None]
        if since is not None:
            found = [entry for entry in found if entry.when >= since]
        return found if limit is None else found[len(found) - min(limit, len(found)) :]

    def unreadable_lines(self) -> int:
        """The number of lines that :meth:`entries` leaves out since they are damaged. Raises LedgerError."""
        return sum(_parsed(line) is None for line in self._lines() if line.strip())

    def _lines(self) -> list[str]:
        """The lines of the file; none if there is no file. Raises LedgerError."""
        try:
            return self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise LedgerError(
                f"{self.path} cannot be read: {error.strerror or error}",
                hint="correct its permissions, or move it away",
            ) from error

    def _append(self, line: bytes) -> None:
        """Write a whole line, after a line break if a crash cut the last line off. Raises OSError."""
        from filelock import FileLock

        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(self.path.with_suffix(".lock"), mode=0o600), self._opened() as file:
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(end - 1)
                line = line if file.read(1) == b"\n" else b"\n" + line
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _opened(self) -> BinaryIO:
        """The file opened for reading and appending; a new one is for its owner alone. Raises OSError."""
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        return os.fdopen(os.open(self.path, flags, 0o600), "a+b")


def _parsed(line: str) -> Entry | None:
    try:
        fields = json.loads(line)
        entry = Entry(
            datetime.fromisoformat(fields["when"]), fields["kind"], fields["target"], fields["question"]
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    texts = (entry.kind, entry.target, entry.question)
    return entry if entry.when.tzinfo and all(isinstance(text, str) for text in texts) else None
