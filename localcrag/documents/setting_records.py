"""Records in YAML that are alike, below keys or in a list, as rows that begin with what each is known by::

    hmn:
      name: Hmong
      native_name: Hmoob

They are data and no settings if there are several at the top of a file, or below one of its top keys, with
the same fields, plain values, and no comments between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from localcrag.documents.yaml_keys import YamlKey, keys_inside, yaml_keys

MIN_KEYED_RECORDS, MIN_LISTED_RECORDS = 4, 3
"""The fewest records below keys, and items of a list, that are rows."""
MAX_DEPTH = 2
"""Records stand at the top of a file, or below one of its top keys."""
MIN_FIELDS, MIN_SHARED_FIELDS = 2, 0.5
"""The fewest fields of an item, and the share of all fields that a record has on average at least."""


class SettingRecord(NamedTuple):
    """The lines ``[first, end)`` of a file of settings, and the row that they are."""

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
    return [_row(entry) for run in _runs(lines) for entry in run]


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
    for at, key in enumerate(keys):
        above = [other for other in above if other.begins < key.begins] + [key]
        if len(above) > MAX_DEPTH or (key.has_value and not key.is_item):
            continue
        inside = keys_inside(keys, at)
        fields = (key, *inside) if key.is_item else tuple(inside)
        if not fields or not all(field.is_scalar and field.column == fields[0].column for field in fields):
            continue
        end = fields[-1].at + 1
        is_whole = end - key.at == len(inside) + 1 and not _goes_on(lines, key, end)
        has_remark = any(not lines[each.at].rstrip().endswith(each.value or ":") for each in (key, *inside))
        if is_whole and not has_remark and not any(field.is_item for field in inside):
            yield _Entry(key, fields, end)


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
    return sum(map(len, named)) >= MIN_SHARED_FIELDS * len(set().union(*named)) * len(run)


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
