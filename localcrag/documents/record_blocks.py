"""Records as blocks: a line ``key: value`` for each value, and objects of its lists as further records."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from itertools import islice

from localcrag.documents.html_values import without_markup

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
"""A value that JSON has."""

MIN_SHARED_FIELDS = 0.5
"""The share of records that have a shared field, and the share of all their fields that are shared."""
MAX_DEPTH = 8
"""How deep the objects inside a record are taken apart."""
MAX_OWN_SHARE = 0.5
"""The most of the text of a record that its own fields have if the objects of its lists are blocks."""
MIN_KEYED_VALUES = 8
"""The fewest values below keys that are rows of one table."""
MAX_KEY_CHARACTERS = 100
MIN_NAMING_KEYS = 0.5
"""The least share of keys that are no words of a program: names with blanks or capital letters."""
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")
_PLACE_IN_TIME = re.compile(r"\d[\d./: -]*")
MAX_WHOLE_CHARACTERS = 800
"""The most characters of a record with lists of objects that is one block: more would be cut anywhere."""
_NAMES = frozenset({"name", "title", "label"})
_MAX_NAMING_CHARACTERS = 80
"""Characters of a line by which a record is known."""


def common_fields(records: Sequence[Collection[str]]) -> set[str]:
    """The names of the fields that half of some records have."""
    fields = Counter(name for record in records for name in record)
    return {name for name, count in fields.items() if count >= MIN_SHARED_FIELDS * len(records)}


def are_alike(records: Sequence[Collection[str]]) -> bool:
    """Whether records have common fields, each of them at least one, and no more other fields than those."""
    common = common_fields(records)
    shared = [len(common.intersection(record)) for record in records]
    return all(shared) and sum(shared) >= MIN_SHARED_FIELDS * sum(map(len, records))


def are_values_of_names(values: Mapping[str, str]) -> bool:
    """Whether values below keys are one table: numbers of many things, or what is told of many days or years.

    ``Oslo: 12.5`` is one of them, a setting such as ``timeout: 30`` is not.
    """
    if len(values) < MIN_KEYED_VALUES or max(map(len, values)) > MAX_KEY_CHARACTERS:
        return False
    if are_places_in_time(values):
        return all(values.values())
    naming = sum(" " in key or key.lower() != key for key in values)
    return naming >= MIN_NAMING_KEYS * len(values) and all(map(_NUMBER.fullmatch, values.values()))


def are_places_in_time(keys: Collection[str]) -> bool:
    """Whether keys are days, years or other numbers, and so name no settings."""
    return all(map(_PLACE_IN_TIME.fullmatch, keys))


def record_blocks(
    value: Json, path: str = "", above: tuple[str, ...] | None = (), depth: int = MAX_DEPTH
) -> Iterator[str]:
    """The blocks of a record: its own fields, and each object of the lists in it below what names the record.

    It is one block if the objects have less than half of its text, and all of that fits a passage. ``above``
    are the lines that name the records around it; None for a whole document, whose lists have names enough,
    but not those of one object.
    """
    tables = list(_tables(value, path, depth)) if isinstance(value, dict) else []
    tables = [table for table in tables if above is not None or len(table[1]) > 1]
    own = whole = list(_lines(value, path, depth))
    if tables:
        own = list(_lines(value, path, depth, {id(items) for _, items in tables}))
        size = sum(map(len, whole))
        if sum(map(len, own)) > MAX_OWN_SHARE * size and size <= MAX_WHOLE_CHARACTERS:
            own, tables = whole, []
    named = (*above, *_naming(own)) if above is not None else ()
    if not tables or len(own) > len(named) - len(above or ()):
        yield "\n".join((*(above or ()), *own))
    for inner, items in tables:
        for item in items:
            yield from record_blocks(item, inner, named, depth - 1)


def _tables(value: Mapping[str, Json], path: str, depth: int) -> Iterator[tuple[str, list[Json]]]:
    """The lists of objects in an object and the objects inside it, each with its path."""
    for key, item in value.items() if depth else ():
        inner = f"{path}.{key}" if path else key
        if isinstance(item, dict):
            yield from _tables(item, inner, depth - 1)
        elif isinstance(item, list) and is_table(item):
            yield inner, item


def _naming(own: Sequence[str]) -> list[str]:
    """The lines by which a record is known: the first, and that of its name or title."""
    short = [line for line in own if len(line) <= _MAX_NAMING_CHARACTERS]
    named = (line for line in short if line.partition(": ")[0].rpartition(".")[2].casefold() in _NAMES)
    return list(dict.fromkeys((*short[:1], *islice(named, 1))))


def is_table(value: Json) -> bool:
    """Whether a value is a list of objects."""
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
        yield _named(path, ", ".join(shown(item) for item in value))
    else:
        yield _named(path, shown(value))


def _named(path: str, value: str) -> str:
    return f"{path}: {value}" if path else value


def shown(value: Json) -> str:
    """A value as it is written, without markup in it."""
    if isinstance(value, str):
        return without_markup(value).strip()
    return json.dumps(value, ensure_ascii=False)
