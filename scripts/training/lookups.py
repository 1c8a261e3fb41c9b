"""Training groups of single rows and entries: a cell that is looked up, a term that is explained.

The product judges a row of a table alone, below its headings ("Code: E21 · Meaning: door open"), and so does
a group: the row asked for, other rows of its table, the row without the cell that was asked for, and rows of
other tables with the same column. Rows are short, and their questions as users type them: "parking fee
motorcycle", "Which island has 413 pairs?".
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from localcrag.types import CELL_SEPARATOR

from .groups import Group
from .tables import Table
from .wording import keywords

MAX_NEGATIVES = 4
MIN_ROWS = 3
MAX_NAME_CHARACTERS = 60
MAX_DESCRIPTION_CHARACTERS = 300
TITLE_ABOVE_SHARE = 0.7
TITLE_ASKED_SHARE = 0.25
WRITTEN_SHARE = 0.4
"""The share of groups with the question that a person asked of the table, if one row answers it."""
MISSING_SHARE = 0.15
"""The share of groups that ask for what no row says."""
_ASKED = (
    "What is the {column} of {name}?",
    "What is the {column} for {name}?",
    "{name} {column}",
    "{column} of {name}?",
    "Which {column} does {name} have?",
    "What {column} does {name} have?",
    "Tell me the {column} of {name}.",
    "{name}: {column}?",
    "How much is the {column} of {name}?",
    "I need the {column} for {name}",
)
_ASKED_BACK = (
    "Which {key} has the {column} {value}?",
    "Which {key} has {value}?",
    "What {key} has {column} {value}?",
    "Which {key} is {value}?",
    "{column} {value}: which {key}?",
    "{key} with {value} {column}",
)
_EXPLAINED = (
    "What does {name} mean?",
    "What is {name}?",
    "What does {name} do?",
    "{name}",
    "Explain {name}.",
    "What do I do about {name}?",
    "{name} meaning",
    "What is {name} for?",
    "What does {name} stand for?",
)
_NAMED = ("Which {key} {what}?", "{what}", "{key} {what}", "What is the {key} for {what}?")
_TERM_COLUMNS = ("Name", "Term", "Option", "Code", "Key", "Setting", "Field", "Item", "Command", "Error")
_DESCRIPTION_COLUMNS = ("Description", "Meaning", "What it does", "Purpose", "Explanation", "What to do", "")
_HAS_LETTERS = re.compile(r"[^\W\d_]{2}")
Cells = dict[str, str]
"""The cells of a row, by the names of their columns."""


@dataclass(frozen=True)
class Lookup:
    """A table whose rows are told apart by one column; ``above`` is the heading over it.

    ``question`` was asked by a person, and the row at ``answering`` answers it; "" if several rows do.
    """

    above: str
    key: str
    rows: tuple[Cells, ...]
    question: str = ""
    answering: int = 0


def lookups(tables: Sequence[Table]) -> Iterator[Lookup]:
    """Those of the tables that have a column of distinct names, their first if there are several."""
    for table in tables:
        rows = [
            {name: cell for name, cell in zip(table.header, row, strict=False) if name and _filled(cell)}
            for row in table.rows
        ]
        for column in table.header:
            names = [row.get(column, "") for row in rows]
            if len(names) >= MIN_ROWS and len(set(names)) == len(names) and all(map(_is_name, names)):
                asked = table.question if len(table.answering) == 1 else ""
                yield Lookup(table.title, column, tuple(rows), asked, table.answering[0])
                break


def _filled(cell: str) -> bool:
    return bool(cell.strip()) and cell.strip() not in {"-", "–", "—"}


def _is_name(text: str) -> bool:
    return 2 <= len(text) <= MAX_NAME_CHARACTERS and _HAS_LETTERS.search(text) is not None


class LookupGroups:
    """Draws a cell that is asked for by the name of its row, or a row by what one of its cells says."""

    def __init__(self, tables: Sequence[Lookup]) -> None:
        self._tables = [table for table in tables if any(len(row) > 1 for row in table.rows)]
        self._with_column: dict[str, list[tuple[str, Cells]]] = defaultdict(list)
        for table in self._tables:
            for row in table.rows:
                for column in row:
                    self._with_column[column.lower()].append((table.above, row))

    def __bool__(self) -> bool:
        return bool(self._tables)

    def draw(self, rng: random.Random) -> Group:
        """A question with the row that answers it, or none that does, and rows that do not."""
        table = rng.choice(self._tables)
        if table.question and rng.random() < WRITTEN_SHARE:
            return _written(table, rng)
        at = rng.choice([i for i, row in enumerate(table.rows) if len(row) > 1])
        row = table.rows[at]
        name = row[table.key]
        column = rng.choice([each for each in row if each != table.key])
        value = row[column]
        others = [other for i, other in enumerate(table.rows) if i != at]
        back = rng.random() < 0.35 and len(value) <= MAX_NAME_CHARACTERS
        back = back and all(value.lower() not in " ".join(other.values()).lower() for other in others)
        asked = rng.choice(_ASKED_BACK if back else _ASKED).format(
            key=_spoken(table.key, rng), column=_spoken(column, rng), name=_spoken(name, rng), value=value
        )
        if rng.random() < TITLE_ASKED_SHARE:
            bare = asked.rstrip("?.")
            asked = f"{bare} ({table.above})" if rng.random() < 0.5 else f"{table.above}: {asked}"
        negatives = [(table.above, each) for each in rng.sample(others, min(2, len(others)))]
        if not back or len(row) > 2:
            negatives.append((table.above, {k: v for k, v in row.items() if k != column}))
        same = [each for each in self._with_column[column.lower()] if each[0] != table.above]
        negatives += rng.sample(same, min(1, len(same)))
        titled = rng.random() < TITLE_ABOVE_SHARE
        missing = rng.random() < MISSING_SHARE
        rows = negatives if missing else [(table.above, row), *negatives[:MAX_NEGATIVES]]
        texts = tuple(_row_text(above if titled else "", cells) for above, cells in rows)
        return Group(asked, texts, tuple(float(i == 0 and not missing) for i in range(len(texts))))


@dataclass(frozen=True)
class Entries:
    """Terms with their descriptions, below a heading."""

    above: str
    entries: tuple[tuple[str, str], ...]


class EntryGroups:
    """Draws a term that is asked about, or what it is for, with its entry as a row or an item of a list."""

    def __init__(self, lists: Sequence[Entries]) -> None:
        self._lists = [each for each in lists if len(each.entries) >= MIN_ROWS]

    def __bool__(self) -> bool:
        return bool(self._lists)

    def draw(self, rng: random.Random) -> Group:
        """A question with its entry, and other entries; some of these speak of the term or its words."""
        chosen = rng.choice(self._lists)
        name, description = rng.choice(chosen.entries)
        key, told = rng.choice(_TERM_COLUMNS), rng.choice(_DESCRIPTION_COLUMNS)
        if rng.random() < 0.7:
            asked = rng.choice(_EXPLAINED).format(name=_spoken(name, rng))
        else:
            what = keywords(description) if rng.random() < 0.5 else description.split(". ")[0].rstrip(".")
            asked = rng.choice(_NAMED).format(key=key.lower(), what=what[:1].lower() + what[1:140])
        if rng.random() < TITLE_ASKED_SHARE:
            asked = f"{asked.rstrip('?.')} {keywords(chosen.above)}"
        others = [entry for entry in chosen.entries if entry[0].lower() != name.lower()]
        speaking = [entry for entry in others if name.lower() in entry[1].lower()]
        negatives = [*speaking[:2], *rng.sample(others, min(3, len(others)))][:MAX_NEGATIVES]
        above = chosen.above if rng.random() < TITLE_ABOVE_SHARE else ""
        missing = rng.random() < MISSING_SHARE
        entries = negatives if missing else [(name, description), *negatives]
        as_row = rng.random() < 0.6
        texts = tuple(_entry_text(above, key if as_row else "", told, each) for each in entries)
        return Group(asked, texts, tuple(float(i == 0 and not missing) for i in range(len(texts))))


def _written(table: Lookup, rng: random.Random) -> Group:
    """A person's question with the row that answers it, and other rows of the table."""
    others = [row for i, row in enumerate(table.rows) if i != table.answering]
    rows = [table.rows[table.answering], *rng.sample(others, min(MAX_NEGATIVES, len(others)))]
    above = table.above if rng.random() < TITLE_ABOVE_SHARE else ""
    labels = (1.0, *[0.0] * (len(rows) - 1))
    return Group(table.question, tuple(_row_text(above, row) for row in rows), labels)


def _spoken(name: str, rng: random.Random) -> str:
    """A name as it is typed: sometimes in lower case."""
    return name.lower() if rng.random() < 0.5 else name


def _row_text(above: str, cells: Cells) -> str:
    row = CELL_SEPARATOR.join(f"{column}: {cell}" for column, cell in cells.items())
    return f"{above}\n{row}" if above else row


def _entry_text(above: str, key: str, told: str, entry: tuple[str, str]) -> str:
    name, description = entry[0], entry[1][:MAX_DESCRIPTION_CHARACTERS]
    if key:
        text = f"{key}: {name}{CELL_SEPARATOR}{told or 'Notes'}: {description}"
    else:
        text = f"{name}: {description}"
    return f"{above}\n{text}" if above else text
