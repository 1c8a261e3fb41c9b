"""JSON and JSON Lines as blocks: a line ``key: value`` for each value, a row for each record."""

from __future__ import annotations

import json
from collections.abc import Iterator

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.readers.json_tables import with_tables
from localcrag.documents.record_blocks import (
    MAX_DEPTH,
    Json,
    are_alike,
    are_values_of_names,
    is_table,
    record_blocks,
    shown,
)
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page

MIN_KEYED_RECORDS = 4
"""The fewest objects below keys that are records of one table."""
_REMARK_MARKS = ("_", "$", "@", "#")
"""What a key begins with that tells of the whole object, and is above its records."""


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
    if is_item:
        add_records(made, [value])
        return True
    remarks, rest = _remarks_apart(value)
    records = _with_records(with_tables(rest))
    if remarks and isinstance(records, list):
        made.add(BlockKind.PARAGRAPH, "\n".join(record_blocks(remarks)))
    elif remarks:
        records = _with_records(with_tables(value))
    add_records(made, records)
    return True


def _remarks_apart(value: Json) -> tuple[dict[str, Json], Json]:
    """What stands below ``_source``, ``$schema`` and the like in an object, and the object without it."""
    if not isinstance(value, dict):
        return {}, value
    remarks = {key: item for key, item in value.items() if key.startswith(_REMARK_MARKS)}
    return remarks, {key: item for key, item in value.items() if key not in remarks}


def add_records(made: BlockText, value: Json) -> None:
    """Append the records of a value, a row each. Raises UnreadableError if the text becomes too long."""
    for record in _records(value):
        made.part()
        made.add(BlockKind.ROW, record)


def _with_records(value: Json, depth: int = MAX_DEPTH) -> Json:
    """A value in which objects of like objects are lists of records, each with its key as the first field.

    So ``{"Oslo": {"zone": 1}, "Rome": {"zone": 2}, …}`` has a row for each town, and so have the objects of
    lists below keys: ``{"Best song": [{"film": "Moana"}, …], …}``. So has each of many numbers:
    ``{"Oslo": 12.5, …}``. Other lists stay as they are.
    """
    if not isinstance(value, dict) or not depth:
        return value
    if values := _plain(value):
        return [{"name": key, "value": each} for key, each in values.items()]
    inner = {key: _with_records(item, depth - 1) for key, item in value.items()}
    records = {key: _like(item) for key, item in inner.items()}
    keyed = [(key, record) for key, of_key in records.items() for record in of_key]
    is_keyed = len(inner) >= MIN_KEYED_RECORDS and all(records.values())
    if not is_keyed or not are_alike([record for _, record in keyed]):
        return inner
    name = "key" if any("name" in record for _, record in keyed) else "name"
    return [{name: key, **record} for key, record in keyed]


def _plain(value: dict[str, Json]) -> dict[str, Json]:
    """The values below the keys of an object that are rows of one table; else none."""
    are_plain = not any(isinstance(each, (dict, list, bool)) for each in value.values())
    return value if are_plain and are_values_of_names({key: str(each) for key, each in value.items()}) else {}


def _like(value: Json) -> list[dict[str, Json]]:
    """The records that a value below a key is: an object, or a list of objects; else none."""
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, list) or not is_table(value):
        return []
    return [item for item in value if isinstance(item, dict)]


def _records(value: Json) -> Iterator[str]:
    """The blocks of a JSON value.

    The items of a list are blocks of their own, and so are those of lists of objects inside an object.
    """
    if isinstance(value, list):
        for item in value:
            yield from record_blocks(item)
    elif isinstance(value, dict):
        outer = {key: item for key, item in value.items() if not is_table(item)}
        yield from record_blocks(outer, above=None)
        for key, item in value.items():
            if is_table(item) and isinstance(item, list):
                for record in item:
                    yield from record_blocks(record, key)
    else:
        yield shown(value)
