"""The lists and mappings of a file of YAML whose items are mappings or values, with their places.

PyYAML parses the file, and its nodes know their lines. A file with an alias is left alone, as it may be far
larger than it looks, and so is one that is nested deeply: libyaml composes by recursion on the stack of C.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from localcrag.documents.record_blocks import MIN_KEYED_VALUES, Json

MAX_NESTING = 24
"""The deepest nesting of a file that is looked at."""
_PLAIN_TAGS = "tag:yaml.org,2002:"
_BETWEEN = " \t:-"
"""What may stand between a key, an item or a value and the comment behind it."""
_OTHER_LINE_ENDS = str.maketrans("\r\x85\u2028\u2029", "    ")
"""Characters that end a line in YAML, and not in a file that is split at line feeds."""
_Nodes = tuple[Any, Any]
"""The node of a key, None for an item of a list, and that of the mapping."""


class YamlRecord(NamedTuple):
    """A mapping, or a value below a key, in the lines ``[first, end)``.

    ``key`` is what it stands below, "" for an item of a list. ``is_braced`` says that it is written in
    braces. ``remarks`` are the comments in its lines, which begin with those between it and the record before
    it. ``fields`` are None if one of them has a tag, a name twice, or no plain name; line breaks in a value
    are blanks. Those of a value, as ``is_value`` says, are ``{"value": …}``.
    """

    first: int
    end: int
    key: str
    is_braced: bool
    fields: dict[str, Json] | None
    remarks: tuple[str, ...]
    is_value: bool


class YamlRun(NamedTuple):
    """Mappings that are all the items of one list, or stand below keys of one mapping with nothing between.

    So are values, if one mapping has nothing else and enough of them.

    ``depth`` is the number of lists and mappings around them, from 1.
    """

    depth: int
    records: tuple[YamlRecord, ...]


def yaml_runs(lines: Sequence[str]) -> list[YamlRun]:
    """The runs of mappings in some lines, outer ones before those inside them; none if they are no YAML."""
    text = "\n".join(lines).translate(_OTHER_LINE_ENDS)
    return [YamlRun(depth, tuple(_records(lines, run))) for depth, run in _runs(text)]


def _runs(text: str) -> list[tuple[int, list[_Nodes]]]:
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        depth = 0
        for event in yaml.parse(text, loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_NESTING or isinstance(event, yaml.AliasEvent):
                return []
        return [run for root in yaml.compose_all(text, loader) for run in _runs_inside(root, 1)]
    except (yaml.YAMLError, ValueError):
        return []


def _runs_inside(node: Any, depth: int) -> Iterator[tuple[int, list[_Nodes]]]:
    if node.id == "scalar" or node.flow_style:
        return
    if node.id == "sequence":
        if all(item.id == "mapping" for item in node.value):
            yield depth, [(None, item) for item in node.value]
        for item in node.value:
            yield from _runs_inside(item, depth + 1)
        return
    if all(value.id == "scalar" for _, value in node.value):
        if len(node.value) >= MIN_KEYED_VALUES:
            yield depth, node.value
        return
    for is_mapping, pairs in groupby(node.value, lambda pair: pair[1].id == "mapping"):
        if is_mapping:
            yield depth, list(pairs)
    for _, inner in node.value:
        yield from _runs_inside(inner, depth + 1)


def _records(lines: Sequence[str], run: Sequence[_Nodes]) -> Iterator[YamlRecord]:
    before: YamlRecord | None = None
    for key, node in run:
        first = (key or node).start_mark.line
        above = range(before.end if before else first, first)
        first = next((line for line in above if lines[line].lstrip().startswith("#")), first)
        before = _record(lines, first, key, node)
        yield before


def _record(lines: Sequence[str], first: int, key: Any, node: Any) -> YamlRecord:
    ends = {first: 0}
    for leaf in _leaves(node):
        last = leaf.end_mark.line
        ends |= {line: len(lines[line]) for line in range(leaf.start_mark.line, last)}
        if leaf.end_mark.column:
            ends[last] = max(ends.get(last, 0), leaf.end_mark.column)
    end = max(ends) + 1
    while end - 1 > first and not lines[end - 1].strip():
        end -= 1
    behind = (lines[line][ends.get(line, 0) :].lstrip(_BETWEEN) for line in range(first, end))
    remarks = tuple(rest.lstrip("# \t").rstrip() for rest in behind if rest.startswith("#"))
    name = "" if key is None else str(key.value)
    is_value = node.id == "scalar"
    is_braced = not is_value and bool(node.flow_style)
    return YamlRecord(first, end, name, is_braced, _fields(node), remarks, is_value)


def _leaves(node: Any) -> Iterator[Any]:
    """The scalars of a node, keys among them, and what is written in braces or brackets as one."""
    if node.id == "scalar" or node.flow_style:
        yield node
        return
    for inner in node.value:
        for each in inner if node.id == "mapping" else (inner,):
            yield from _leaves(each)


def _fields(node: Any) -> dict[str, Json] | None:
    """The fields of a mapping or a value; None if one cannot be a field of a row."""
    value = _value(node) if _is_plain(node) else None
    if isinstance(value, str):
        return {"value": value}
    return value if isinstance(value, dict) else None


def _is_plain(node: Any) -> bool:
    """Whether nothing in a node is tagged, of several lines as they are, or below a name that is none."""
    if not node.tag.startswith(_PLAIN_TAGS):
        return False
    if node.id == "scalar":
        return True
    if node.id == "sequence":
        return all(map(_is_plain, node.value))
    names = [name.value for name, _ in node.value if name.id == "scalar"]
    return len(set(names)) == len(node.value) and all(_is_plain(value) for _, value in node.value)


def _value(node: Any) -> Json:
    if node.id == "scalar":
        return " ".join(str(node.value).split())
    if node.id == "sequence":
        return [_value(item) for item in node.value]
    return {str(name.value): _value(value) for name, value in node.value}
