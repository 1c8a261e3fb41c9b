"""The keys of YAML, line by line, so that each is known by its place in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_KEY = re.compile(r"[ ]*(?P<item>(?:-[ ]+)*)(?P<key>[\w.\"'/$-][^:\n]*):(?:[ ]+(?P<value>\S.*)|[ ]*)")
"""A line of YAML without its comment: "rules:", "- name: disks"."""
_BEHIND = re.compile(r"(?:^|\s)#.*")
_BLOCK_VALUE = re.compile(r"[|>][-+\d]*")
"""A value whose lines stand below it as they are."""
_MAX_LINE_CHARACTERS = 400


class YamlKey(NamedTuple):
    """A key of YAML in the line ``at``: its column, whether it begins an item, its name, and its value."""

    at: int
    column: int
    is_item: bool
    name: str
    value: str

    @property
    def has_value(self) -> bool:
        """Whether a value stands on the line of the key."""
        return bool(self.value)

    @property
    def is_scalar(self) -> bool:
        """Whether its value is a plain one, and all of it stands on its line."""
        return self.has_value and self.value[0] not in "|>&*!{"

    @property
    def begins(self) -> int:
        """The column from which on others are inside: an item begins before its first key."""
        return self.column - self.is_item


def keys_inside(keys: Sequence[YamlKey], at: int) -> list[YamlKey]:
    """The keys of a section that a key begins: those further in, and those of its item, if it begins one."""
    own, inside = keys[at], []
    if own.has_value and not own.is_item:
        return []
    for place in range(at + 1, len(keys)):
        key = keys[place]
        if key.column < own.column or (key.column == own.column and (key.is_item or not own.is_item)):
            break
        inside.append(key)
    return inside


def yaml_keys(lines: Sequence[str]) -> Iterator[YamlKey]:
    """The keys of YAML among some lines, but for those in values of several lines."""
    within: int | None = None
    for at, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if not line.strip() or len(line) > _MAX_LINE_CHARACTERS or (within is not None and indent > within):
            continue
        within = None
        if (key := _KEY.fullmatch(_BEHIND.sub("", line).rstrip())) is None:
            continue
        if _BLOCK_VALUE.fullmatch(key["value"] or ""):
            within = indent
        yield YamlKey(at, key.start("key"), bool(key["item"]), key["key"].strip(), key["value"] or "")
