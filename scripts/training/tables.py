"""Training groups from tables: a question, the rows that answer it, and rows that nearly do (FeTaQA)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from localcrag.types import CELL_SEPARATOR

from .data import Example, Record, read_jsonl
from .groups import Group, Neighbours

TABLES_SET = "fetaqa"
TABLES_FILE = Path("qa", "answers", "fetaqa.jsonl.zst")
MAX_ROWS_A_TEXT = 8
MAX_ANSWERING_ROWS = 5
MAX_CELL_CHARACTERS = 120
MAX_TABLE_CHARACTERS = 1000
"""Tables have more tokens a character than prose: this many are some 350."""

Row = Sequence[str]
Rendering = Callable[[str, Row, Sequence[Row]], str]
"""A title, a header and rows, as one text."""


@dataclass(frozen=True)
class Table:
    """A question about a table; `answering` holds the indices of the rows that answer it."""

    question: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    answering: tuple[int, ...]


def read_tables(data: Path) -> list[Table]:
    """The training tables of a data folder; none if it has no such file. Raises DataError."""
    path = data / TABLES_FILE
    if not path.exists():
        return []
    return [table for record in read_jsonl(path) if (table := _table(record)) is not None]


def _table(record: Record) -> Table | None:
    title = f"{record['title']} – {record['section']}" if record.get("section") else str(record["title"])
    held_out = Example(TABLES_SET, str(record["title"]), "", (), (), True).held_out
    header, *rows = [tuple(str(cell)[:MAX_CELL_CHARACTERS] for cell in row) for row in record["table"]]
    answering = sorted({at - 1 for at, _ in record["cells"] if at > 0})
    if held_out or not 1 <= len(answering) <= MAX_ANSWERING_ROWS or len(rows) <= len(answering):
        return None
    return Table(record["question"], title, header, tuple(rows), tuple(answering))


def _records(title: str, header: Row, rows: Sequence[Row]) -> str:
    """As the product reads a table: one block a row."""
    return "\n\n".join([title, *(_joined(header, row) for row in rows)])


def _lines(title: str, header: Row, rows: Sequence[Row]) -> str:
    return "\n".join([title, *(_joined(header, row) for row in rows)])


def _joined(header: Row, row: Row) -> str:
    return CELL_SEPARATOR.join(f"{name}: {cell}" for name, cell in _cells(header, row))


def _pipes(title: str, header: Row, rows: Sequence[Row]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows)]
    return "\n".join([title, *lines])


def _commas(_: str, header: Row, rows: Sequence[Row]) -> str:
    return "\n".join(",".join(row) for row in (header, *rows))


def _cells(header: Row, row: Row) -> Iterator[tuple[str, str]]:
    return ((name, cell) for name, cell in zip(header, row, strict=False) if cell and cell != "-")


RENDERINGS: tuple[Rendering, ...] = (_records, _records, _lines, _pipes, _commas)


class TableGroups:
    """Draws groups of tables.

    The answering rows stand among others of their table. Negatives are the same part of the table without
    them, other rows, and tables that BM25 finds for the question.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = tables
        whole = [_lines(t.title, t.header, t.rows) for t in tables]
        self._near = Neighbours([t.question for t in tables], whole, None)

    def draw(self, rng: random.Random) -> Group:
        """One question with rows that answer it and two or three texts that do not."""
        at = rng.randrange(len(self._tables))
        table, render = self._tables[at], rng.choice(RENDERINGS)
        others = [i for i in range(len(table.rows)) if i not in table.answering]
        chosen = rng.sample(others, min(len(others), rng.randint(0, MAX_ROWS_A_TEXT - len(table.answering))))
        while chosen and len(_part(table, (*table.answering, *chosen), render)) > MAX_TABLE_CHARACTERS:
            chosen.pop()
        texts = [_part(table, sorted((*table.answering, *chosen)), render)]
        texts.append(_part(table, sorted(chosen or rng.sample(others, 1)), render))
        for near in self._near.of(at, rng)[:2]:
            other = self._tables[near]
            if other.title != table.title:
                start = rng.randrange(len(other.rows))
                end = min(len(other.rows), start + len(chosen) + 1)
                texts.append(_part(other, range(start, end), render))
        return Group(table.question, tuple(texts), (1.0, *[0.0] * (len(texts) - 1)))


def _part(table: Table, rows: Sequence[int], render: Rendering) -> str:
    return render(table.title, table.header, [table.rows[i] for i in rows])
