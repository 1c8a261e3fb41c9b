"""JSON and JSON Lines as blocks: a line ``key: value`` for each value, a row for each record."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.html_values import without_markup
from localcrag.documents.readers.json_tables import Json, with_tables
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page

_MAX_DEPTH = 8
MAX_OWN_SHARE = 0.5
"""The most of the text of a record that its own fields have if the objects of its lists are blocks."""
_NAMES = frozenset({"name", "title", "label"})
_MAX_NAMING_CHARACTERS = 80
"""Characters of a line by which a record is known."""
MIN_KEYED_RECORDS = 4
"""The fewest objects below keys that are records of one table."""
MIN_SHARED_FIELDS = 0.5
"""The share of such records that have a shared field, and the share of all their fields that are shared."""


def read_json(text: str, limits: Limits) -> Page | None:
    """A JSON document as a page; None if it is not valid JSON (it may hold comments).

    Raises UnreadableError if it is nested too deeply or exceeds ``limits.text``.
    """
    made = BlockText(limits)
    return made.page() if _add_json(made, text) else None


def read_json_lines(text: str, limits: Limits) -> Page:
    """JSON Lines as a page, one block or more per line; a line that is not JSON stays as it is.

    Raises UnreadableError if a line is nested too deeply or the text exceeds ``limits.text``.
    """
    made = BlockText(limits)
    for line in text.split("\n"):
        if line.strip() and not _add_json(made, line, is_item=True):
            made.add(BlockKind.PARAGRAPH, line)
    return made.page()


def _add_json(made: BlockText, text: str, *, is_item: bool = False) -> bool:
    """Append the records of a JSON text, which may be one of several; False if it is not valid.

    Decimal fractions stay as they are written: a price of 5.10 is not 5.1. Raises UnreadableError.
    """
    try:
        value: Json = json.loads(text, parse_float=str)
    except ValueError:
        return False
    except RecursionError as error:
        raise UnreadableError("JSON nested too deeply") from error
    add_records(made, [value] if is_item else _with_records(with_tables(value)))
    return True


def add_records(made: BlockText, value: Json) -> None:
    """Append the records of a value, a row each. Raises UnreadableError if the text becomes too long."""
    for record in _records(value):
        made.part()
        made.add(BlockKind.ROW, record)


def _with_records(value: Json, depth: int = _MAX_DEPTH) -> Json:
    """A value in which objects of like objects are lists of records, each with its key as the first field.

    So ``{"Oslo": {"zone": 1}, "Rome": {"zone": 2}, …}`` has a row for each town, and so have the objects of
    lists below keys: ``{"Best song": [{"film": "Moana"}, …], …}``. Other lists stay as they are.
    """
    if not isinstance(value, dict) or not depth:
        return value
    inner = {key: _with_records(item, depth - 1) for key, item in value.items()}
    records = {key: _like(item) for key, item in inner.items()}
    keyed = [(key, record) for key, of_key in records.items() for record in of_key]
    fields = Counter(field for _, record in keyed for field in record)
    if len(inner) < MIN_KEYED_RECORDS or not all(records.values()) or not fields:
        return inner
    shared = {field for field, count in fields.items() if count >= MIN_SHARED_FIELDS * len(keyed)}
    if sum(fields[field] for field in shared) < MIN_SHARED_FIELDS * fields.total():
        return inner
    if any(shared.isdisjoint(record) for _, record in keyed):
        return inner
    name = "key" if "name" in fields else "name"
    return [{name: key, **record} for key, record in keyed]


def _like(value: Json) -> list[dict[str, Json]]:
    """The records that a value below a key is: an object, or a list of objects; else none."""
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, list) or not _is_table(value):
        return []
    return [item for item in value if isinstance(item, dict)]


def _records(value: Json) -> Iterator[str]:
    """The blocks of a JSON value.

    The items of a list are blocks of their own, and so are those of lists of objects inside an object.
    """
    if isinstance(value, list):
        for item in value:
            yield from _parts(item, "", (), _MAX_DEPTH)
    elif isinstance(value, dict):
        outer = {key: item for key, item in value.items() if not _is_table(item)}
        yield from _parts(outer, "", None, _MAX_DEPTH)
        for key, item in value.items():
            if _is_table(item) and isinstance(item, list):
                for record in item:
                    yield from _parts(record, key, (), _MAX_DEPTH)
    else:
        yield _shown(value)


def _parts(value: Json, path: str, above: tuple[str, ...] | None, depth: int) -> Iterator[str]:
    """The blocks of a record: its own fields, and each object of the lists in it below what names the record.

    It is one block if the objects have less than half of its text. ``above`` are the lines that name the
    records around it; None for a whole document, whose lists have names enough, but not those of one object.
    """
    tables = list(_tables(value, path, depth)) if isinstance(value, dict) else []
    tables = [table for table in tables if above is not None or len(table[1]) > 1]
    own = whole = list(_lines(value, path, depth))
    if tables:
        own = list(_lines(value, path, depth, {id(items) for _, items in tables}))
        if sum(map(len, own)) > MAX_OWN_SHARE * sum(map(len, whole)):
            own, tables = whole, []
    named = (*above, *_naming(own)) if above is not None else ()
    if not tables or len(own) > len(named) - len(above or ()):
        yield "\n".join((*(above or ()), *own))
    for inner, items in tables:
        for item in items:
            yield from _parts(item, inner, named, depth - 1)


def _tables(value: Mapping[str, Json], path: str, depth: int) -> Iterator[tuple[str, list[Json]]]:
    """The lists of objects in an object and the objects inside it, each with its path."""
    for key, item in value.items() if depth else ():
        inner = f"{path}.{key}" if path else key
        if isinstance(item, dict):
            yield from _tables(item, inner, depth - 1)
        elif isinstance(item, list) and _is_table(item):
            yield inner, item


def _naming(own: Sequence[str]) -> list[str]:
    """The lines by which a record is known: the first, and that of its name or title."""
    short = [line for line in own if len(line) <= _MAX_NAMING_CHARACTERS]
    named = (line for line in short if line.partition(": ")[0].rpartition(".")[2].casefold() in _NAMES)
    return list(dict.fromkeys((*short[:1], *islice(named, 1))))


def _is_table(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _lines(value: Json, path: str, depth: int, left_out: Set[int] = frozenset()) -> Iterator[str]:
    """The lines of a value, without the lists whose ids are left out."""
    if id(value) in left_out:
        return
    if isinstance(value, dict) and depth:
        for key, item in value.items():
            yield from _lines(item, f"{path}.{key}" if path else key, depth - 1, left_out)
    elif isinstance(value, list) and depth and any(isinstance(item, (dict, list)) for item in value):
        for item in value:
            yield from _lines(item, path, depth - 1)
    elif isinstance(value, list) and depth:
        yield _named(path, ", ".join(_shown(item) for item in value))
    else:
        yield _named(path, _shown(value))


def _named(path: str, shown: str) -> str:
    return f"{path}: {shown}" if path else shown


def _shown(value: Json) -> str:
    if isinstance(value, str):
        return without_markup(value).strip()
    return json.dumps(value, ensure_ascii=False)
