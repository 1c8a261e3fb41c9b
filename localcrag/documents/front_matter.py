"""The fields at the head of a text: YAML front matter, reStructuredText's field list, Org's keywords.

What is read is bounded: front matter of more than 64 KiB, or with aliases, which a few lines of can stand for
gigabytes, is left as the text that it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

MAX_FRONT_MATTER_CHARACTERS = 64 * 1024
_MAX_BRACKET_DEPTH = 50
_BRACKET = re.compile(r"[][{}]")
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_MAX_HEAD_LINES, _MAX_HEAD_CHARACTERS = 200, 16 * 1024
_RST_FIELD = re.compile(r":((?:[^:\\\n]|\\.){1,80}):[ \t]+(\S.*)")
_RST_SKIPPED = re.compile(r"\.\. |[=\-~^\"'#*+]{3,}\s*$")
_ORG_KEYWORD = re.compile(r"#\+([A-Za-z_]{1,40}):[ \t]*(\S.*)")


def front_matter(text: str) -> tuple[dict[str, object], str]:
    """The fields of the YAML front matter of a text, {} if it has none, and the text after it.

    Dates are texts, as they are written.
    """
    found = _FRONT_MATTER.match(text, 0, MAX_FRONT_MATTER_CHARACTERS) if text.startswith("---") else None
    if found is None or _bracket_depth(found[1]) > _MAX_BRACKET_DEPTH:
        return {}, text
    import yaml

    try:
        fields = yaml.load(found[1], _loader())
    except (yaml.YAMLError, ValueError, TypeError, RecursionError, OverflowError):
        return {}, text
    if not isinstance(fields, dict):
        return {}, text
    return {str(key): value for key, value in fields.items()}, text[found.end() :]


def _bracket_depth(text: str) -> int:
    """The most brackets that are open at once; PyYAML takes time in proportion to their square."""
    deepest = depth = 0
    for bracket in _BRACKET.finditer(text):
        depth += 1 if bracket[0] in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


@cache
def _loader() -> Any:
    """PyYAML's safe loader, which refuses aliases, and to which dates are text."""
    import yaml

    class FrontMatterLoader(yaml.SafeLoader):  # type: ignore[misc]
        """A safe loader without aliases and dates."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError("an alias")
            return super().compose_node(parent, index)

    FrontMatterLoader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return FrontMatterLoader


def rst_fields(text: str) -> Iterator[tuple[str, object]]:
    """The fields of the field list before the first paragraph of a reStructuredText, or below its title."""
    lines = _head(text)
    seen = 0
    for number, line in enumerate(lines):
        if found := _RST_FIELD.fullmatch(line):
            seen += 1
            yield found[1], found[2].strip()
        elif line[:1].isspace() or not line.strip() or _RST_SKIPPED.match(line):
            continue
        elif seen or not any(_RST_SKIPPED.match(near) for near in lines[max(0, number - 1) : number + 2]):
            return


def org_fields(text: str) -> Iterator[tuple[str, object]]:
    """The keywords with which an Org file begins: ``#+author: …``."""
    for line in _head(text):
        if found := _ORG_KEYWORD.fullmatch(line.strip()):
            name, value = found[1], found[2].strip()
            yield (
                ("tags", value.strip(":").replace(":", ",")) if name.lower() == "filetags" else (name, value)
            )
        elif line.strip():
            return


def _head(text: str) -> list[str]:
    return text[:_MAX_HEAD_CHARACTERS].split("\n")[:_MAX_HEAD_LINES]
