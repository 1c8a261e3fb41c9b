"""Records in YAML that are alike, below keys or in a list, as rows that begin with what each is known by::

    hmn:
      name: Hmong
      native_name: Hmoob

They are data and no settings if there are several at the top of a file, or below one of its top keys, with
the same fields, most of them plain, and few comments, which become a field of the record ("remark: …"). All
records of a list are rows, or none, so that a count over them is one of them all. Numbers below names
("Biogas plant: 40") and what stands below days or years are rows as well. So are the tables of an
array of TOML ("[[sensors]]").
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from localcrag.documents.record_blocks import (
    Json,
    are_alike,
    are_places_in_time,
    are_values_of_names,
    common_fields,
    record_blocks,
)
from localcrag.documents.yaml_runs import YamlRecord, yaml_runs

MIN_KEYED_RECORDS, MIN_LISTED_RECORDS = 4, 3
"""The fewest records below keys, and items of a list, that are rows."""
MIN_BRACED_RECORDS = 2
"""The fewest items in braces, one below the other, that are rows."""
MAX_REMARKS_OF_VALUES = 0.1
"""The most lines of comments for each value that is a row: settings have more."""
MAX_DEPTH = 2
"""Records that are not in braces stand at the top of a file, or below one of its top keys."""
MIN_FIELDS = 2
"""The fewest fields of an item."""
MIN_PLAIN_FIELDS = 2 / 3
"""The least share of the fields of records that are text, or lists of it."""

_ARRAY = re.compile(r" *\[\[([\w.-]+)\]\] *")
_ASSIGNMENT = re.compile(r"""[ \t]*[\w-]+[ \t]*=[ \t]*(?:"[^"]*"|'[^']*'|[^#])*""")
"""A line of a table of TOML without a remark."""


class SettingRecord(NamedTuple):
    """The lines ``[first, end)`` of a file of settings, and the rows that they are.

    They are several if the record has lists of further records. The line above the first table of an array
    names it: ``[[sensors]]``.
    """

    first: int
    end: int
    rows: tuple[str, ...]


def setting_records(lines: Sequence[str]) -> list[SettingRecord]:
    """The records among the lines of a file of settings that are alike, in order."""
    return sorted([*_yaml_records(lines), *_array_records(lines)])


def _yaml_records(lines: Sequence[str]) -> Iterator[SettingRecord]:
    taken: set[int] = set()
    for run in yaml_runs(lines):
        records = _of_one_kind(run.records)
        if _are_rows(records, run.depth) and taken.isdisjoint(record.first for record in records):
            for record in records:
                taken.update(range(record.first, record.end))
                rows = tuple(map(str.rstrip, record_blocks(_told_fields(record))))
                yield SettingRecord(record.first, record.end, rows)


def _of_one_kind(run: Sequence[YamlRecord]) -> list[YamlRecord]:
    """The records of a run that are alike: all items of a list or none, or most of those below keys."""
    common = common_fields([record.fields or {} for record in run])
    kept = [record for record in run if not record.key or common.intersection(record.fields or ())]
    return kept if are_alike([record.fields or {} for record in kept]) else []


def _told_fields(record: YamlRecord) -> dict[str, Json]:
    """The key, the fields and the remarks of a record; none if it has no fields, or two of one name."""
    if not record.fields:
        return {}
    own: dict[str, Json] = {"key" if "name" in record.fields else "name": record.key} if record.key else {}
    remark: dict[str, Json] = {"remark": " ".join(record.remarks)} if record.remarks else {}
    told = own | record.fields | remark
    return told if len(told) == len(own) + len(record.fields) + len(remark) else {}


def _are_rows(records: Sequence[YamlRecord], depth: int) -> bool:
    """Whether records that are alike are so many, with so many plain fields, that they are rows."""
    are_braced, is_keyed = all(record.is_braced for record in records), any(record.key for record in records)
    remarks = sum(len(record.remarks) for record in records)
    if all(record.is_value and record.fields for record in records):
        told = {record.key: str((record.fields or {})["value"]) for record in records}
        return are_values_of_names(told) and remarks <= MAX_REMARKS_OF_VALUES * len(records)
    is_dated = are_places_in_time([record.key for record in records])
    fewest = MIN_BRACED_RECORDS if are_braced else MIN_KEYED_RECORDS if is_keyed else MIN_LISTED_RECORDS
    if len(records) < fewest or (depth > MAX_DEPTH and not are_braced and not is_dated):
        return False
    if remarks > len(records) or not all(map(_told_fields, records)):
        return False
    fields = [record.fields or {} for record in records]
    if are_braced:
        has_enough = min(map(len, fields)) >= MIN_FIELDS
    else:
        has_enough = is_keyed or (len(fields[0]) >= MIN_FIELDS and _begin_alike(fields))
    plain = sum(_is_plain(value) for of_record in fields for value in of_record.values())
    return has_enough and (is_dated or plain >= MIN_PLAIN_FIELDS * sum(map(len, fields)))


def _begin_alike(fields: Sequence[Mapping[str, Json]]) -> bool:
    """Whether all items of a list have the field that the first one begins with."""
    first = next(iter(fields[0]))
    return all(first in of_item for of_item in fields)


def _is_plain(value: Json) -> bool:
    """Whether a field is text, or a list of it."""
    return all(isinstance(item, str) for item in value) if isinstance(value, list) else isinstance(value, str)


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
        if len(named) >= MIN_LISTED_RECORDS and are_alike(named):
            for number, (first, end, fields) in enumerate(of_array):
                yield SettingRecord(first if number else first + 1, end, (_cells(fields),))


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
