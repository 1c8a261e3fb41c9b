"""Records in YAML that are alike, below keys or in a list, as rows that begin with what each is known by::

    hmn:
      name: Hmong
      native_name: Hmoob

They are data and no settings if there are several at the top of a file, or below one of its top keys, with
the same fields, plain values, and no comments between them; the fields of an item may have fields. So are
the items of a list that are mappings in braces, each on a line ("- {vessel: Tern, what: launch}"), and the
tables of an array of TOML ("[[sensors]]").
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import groupby, zip_longest
from typing import NamedTuple

from localcrag.documents.yaml_keys import YamlKey, keys_inside, yaml_keys

MIN_KEYED_RECORDS, MIN_LISTED_RECORDS = 4, 3
"""The fewest records below keys, and items of a list, that are rows."""
MIN_BRACED_RECORDS = 2
"""The fewest items in braces, one below the other, that are rows."""
MAX_DEPTH = 2
"""Records stand at the top of a file, or below one of its top keys."""
MIN_FIELDS, MIN_SHARED_FIELDS = 2, 0.5
"""The fewest fields of an item, and the share of all fields that a record has on average at least."""

_BRACED = re.compile(
    r"(?P<indent> *)(?:- +|(?P<key>[\w./-]+): +)(?P<mapping>\{[^{}]*\}) *(?:(?<= )#+ *(?P<remark>\S.*))?"
)
"""An item or the value of a key that is a mapping in braces, and all of its line, with a remark."""
_MAX_BRACED_CHARACTERS = 2_000
_ARRAY = re.compile(r" *\[\[([\w.-]+)\]\] *")
_ASSIGNMENT = re.compile(r"""[ \t]*[\w-]+[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|[^#])*""")
"""A line of a table of TOML without a remark."""


class SettingRecord(NamedTuple):
    """The lines ``[first, end)`` of a file of settings, and the row that they are.

    The line above the first table of an array names it: ``[[sensors]]``.
    """

    first: int
    end: int
    text: str


class _Entry(NamedTuple):
    """A record: its own key, the keys of its fields, and the number of the line after it."""

    key: YamlKey
    fields: tuple[YamlKey, ...]
    end: int


def setting_records(lines: Sequence[str]) -> list[SettingRecord]:
    """The records among the lines of a file of settings that are alike, in order."""
    found = [_row(entry) for run in _runs(lines) for entry in run]
    return sorted([*found, *_braced_records(lines), *_array_records(lines)])


def _braced_records(lines: Sequence[str]) -> Iterator[SettingRecord]:
    """The records in braces of which several stand one below the other, and are indented alike."""
    matches = [_BRACED.fullmatch(line) if len(line) <= _MAX_BRACED_CHARACTERS else None for line in lines]
    fields = [_fields_of(match) if match else {} for match in matches]
    indents = [
        (match["indent"], match["key"] is None) if match and held else None
        for match, held in zip(matches, fields, strict=True)
    ]
    first = 0
    for indent, group in groupby(indents):
        end = first + sum(1 for _ in group)
        if indent is not None and end - first >= MIN_BRACED_RECORDS:
            for at in range(first, end):
                yield SettingRecord(at, at + 1, _cells(fields[at]))
        first = end


def _fields_of(braced: re.Match[str]) -> dict[str, str]:
    """The key, the fields and the remark of a mapping in braces; none if it is no record of plain values."""
    import yaml

    try:
        fields = _plain(yaml.load(braced["mapping"], yaml.BaseLoader))
    except yaml.YAMLError:
        return {}
    own = {"key" if "name" in fields else "name": braced["key"]} if braced["key"] and fields else {}
    remark = {"remark": braced["remark"]} if braced["remark"] and fields else {}
    told = own | fields | remark
    return told if len(told) == len(own) + len(fields) + len(remark) else {}


def _plain(fields: Mapping[str, object]) -> dict[str, str]:
    """The fields of a record as text; none if it has fewer than two, or one with fields of its own."""
    told = {
        str(name): ", ".join(map(_told, value)) if isinstance(value, list) else _told(value)
        for name, value in fields.items()
        if not isinstance(value, dict)
    }
    return told if len(told) == len(fields) >= MIN_FIELDS else {}


def _told(value: object) -> str:
    """A value as it is written."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _array_records(lines: Sequence[str]) -> Iterator[SettingRecord]:
    """The tables of arrays of TOML, if there are several of one with fields in common and without remarks.

    The name of an array stays above the first of its tables.
    """
    starts = [at for at, line in enumerate(lines) if line.lstrip().startswith("[")]
    tables: dict[str, list[tuple[int, int, dict[str, str]]]] = defaultdict(list)
    for first, following in zip_longest(starts, starts[1:], fillvalue=len(lines)):
        name = _ARRAY.fullmatch(lines[first])
        if name is not None:
            end = max(at for at in range(first, following) if lines[at].strip()) + 1
            tables[name[1]].append((first, end, _assigned(lines[first + 1 : end])))
    for of_array in tables.values():
        named = [set(fields) for *_, fields in of_array]
        if len(named) >= MIN_LISTED_RECORDS and all(named) and _share_fields(named):
            for number, (first, end, fields) in enumerate(of_array):
                yield SettingRecord(first if number else first + 1, end, _cells(fields))


def _cells(fields: Mapping[str, str]) -> str:
    """The fields of a record as the cells of a row."""
    return "\n".join(f"{name}: {value}" for name, value in fields.items())


def _assigned(lines: Sequence[str]) -> dict[str, str]:
    """The fields of a table of TOML; none if it has remarks, or other than plain values."""
    if not all(_ASSIGNMENT.fullmatch(line) for line in lines):
        return {}
    try:
        return _plain(tomllib.loads("\n".join(lines)))
    except tomllib.TOMLDecodeError:
        return {}


def _runs(lines: Sequence[str]) -> Iterator[list[_Entry]]:
    """The runs of records that are alike."""
    run: list[_Entry] = []
    for entry in _entries(lines):
        before = run[-1] if run else None
        is_next = before is not None and (
            (before.key.column, before.key.is_item) == (entry.key.column, entry.key.is_item)
            and not any(map(str.strip, lines[before.end : entry.key.at]))
        )
        if not is_next:
            if _are_alike(run):
                yield run
            run = []
        run.append(entry)
    if _are_alike(run):
        yield run


def _entries(lines: Sequence[str]) -> Iterator[_Entry]:
    """The records of plain fields at the top of a file, or below its top keys."""
    keys = list(yaml_keys(lines))
    above: list[YamlKey] = []
    end = 0
    for at, key in enumerate(keys):
        above = [other for other in above if other.begins < key.begins] + [key]
        if key.at < end or len(above) > MAX_DEPTH or (key.has_value and not key.is_item):
            continue
        inside = keys_inside(keys, at)
        fields = _plain_fields((key, *inside) if key.is_item else inside, of_item=key.is_item)
        if not fields:
            continue
        after = fields[-1].at + 1
        is_whole = after - key.at == len(inside) + 1 and not _goes_on(lines, key, after)
        has_remark = any(not lines[each.at].rstrip().endswith(each.value or ":") for each in (key, *inside))
        if is_whole and not has_remark and not any(field.is_item for field in inside):
            end = after
            yield _Entry(key, fields, end)


def _plain_fields(keys: Sequence[YamlKey], *, of_item: bool) -> tuple[YamlKey, ...]:
    """The fields of a record, those inside a field of an item named after both ("producer.url").

    None if a value is not plain, or fields stand deeper.
    """
    fields: list[YamlKey] = []
    outer: YamlKey | None = None
    column = 0
    for key in keys:
        if key.column == keys[0].column:
            outer, column = key, 0
            if key.has_value and not key.is_scalar:
                return ()
            fields += [key] if key.has_value else []
            continue
        column = column or key.column
        if outer is None or outer.has_value or not of_item or not key.is_scalar or key.column != column:
            return ()
        fields.append(key._replace(name=f"{_bare(outer.name)}.{_bare(key.name)}"))
    return tuple(fields) if fields and fields[-1].at == keys[-1].at else ()


def _goes_on(lines: Sequence[str], key: YamlKey, end: int) -> bool:
    """Whether the line after a record is one of it, as the rest of a long value."""
    line = lines[end] if end < len(lines) else ""
    return bool(line.strip()) and len(line) - len(line.lstrip()) > key.begins


def _are_alike(run: Sequence[_Entry]) -> bool:
    """Whether a run has so many records, with so many fields in common, that they are rows."""
    if not run or len(run) < (MIN_LISTED_RECORDS if run[0].key.is_item else MIN_KEYED_RECORDS):
        return False
    named = [{field.name for field in entry.fields} for entry in run]
    if run[0].key.is_item and (len(named[0]) < MIN_FIELDS or len({entry.key.name for entry in run}) > 1):
        return False
    return _share_fields(named)


def _share_fields(named: Sequence[Set[str]]) -> bool:
    """Whether records have so many of all their fields on average that they are alike."""
    return sum(map(len, named)) >= MIN_SHARED_FIELDS * len(set[str]().union(*named)) * len(named)


def _row(entry: _Entry) -> SettingRecord:
    names = [field.name for field in entry.fields]
    own = [] if entry.key.is_item else [f"{'key' if 'name' in names else 'name'}: {_bare(entry.key.name)}"]
    cells = (f"{_bare(field.name)}: {_bare(field.value)}" for field in entry.fields)
    return SettingRecord(entry.key.at, entry.end, "\n".join([*own, *cells]))


def _bare(value: str) -> str:
    """A value without its quotation marks, or the brackets of a list."""
    value = value.strip()
    if len(value) > 1 and value[0] + value[-1] in ("''", '""', "[]"):
        return value[1:-1].strip()
    return value
