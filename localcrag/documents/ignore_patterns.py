"""The patterns of ignore files (gitignore), matched in time that grows with the pattern times the path.

An ignore file comes with the documents of strangers, and is read before any of them, in this process. A
regular expression made of a pattern with many wildcards can take for ever, so none is made of a whole
pattern: each of its segments is one without backtracking, and the segments are matched one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\s",
    "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_TOKEN = re.compile(
    r"(?P<stars>\*+)|(?P<any>\?)|\[(?P<negated>[!^]?)(?P<set>\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*+)\]|\\(?P<escaped>.)"
    r"|(?P<literal>[^\\\[])",
    re.DOTALL,
)
_SET_PART = re.compile(
    r"\[:(?P<name>[a-z]+):\]"
    r"|(?:\\(?P<escaped_low>.)|(?P<low>.))(?:-(?:\\(?P<escaped_high>.)|(?P<high>[^\\])))?",
    re.DOTALL,
)
_ANY_NAME = re.compile(".*", re.DOTALL)
_TRAILING_BLANKS = re.compile(r"((?:\\.|[^\\])*?)[ \t]+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """One line of an ignore file.

    ``segments`` are the expressions of the names of a path, None for any number of names. ``excludes`` is
    False for a line that includes what an earlier one excluded.
    """

    segments: tuple[re.Pattern[str] | None, ...]
    only_folders: bool
    excludes: bool

    def takes(self, names: Sequence[str], *, is_folder: bool) -> bool:
        """Whether the pattern is for a path, given as its names below the folder of the ignore file.

        What is below a folder that a pattern takes is not taken itself: nobody enters that folder.
        """
        if self.only_folders and not is_folder:
            return False
        segments = self.segments
        at = name = resumed = 0
        gap = -1  # the last None that was passed: it takes one name more each time the rest does not fit
        while name < len(names):
            if at < len(segments) and segments[at] is None:
                gap, resumed, at = at, name, at + 1
            elif at < len(segments) and (wanted := segments[at]) and wanted.fullmatch(names[name]):
                at, name = at + 1, name + 1
            elif gap >= 0:
                resumed += 1
                at, name = gap + 1, resumed
            else:
                return False
        return all(segment is None for segment in segments[at:])


def ignore_patterns(lines: Sequence[str]) -> list[IgnorePattern]:
    """The patterns of the lines of an ignore file; comments and what git does not understand are left out."""
    found = map(_pattern, lines)
    return [pattern for pattern in found if pattern]


def _pattern(line: str) -> IgnorePattern | None:
    text = line.removesuffix("\n").removesuffix("\r")
    if blanks := _TRAILING_BLANKS.fullmatch(text):
        text = blanks[1]
    if text.startswith("#"):
        return None
    excludes = not text.startswith("!")
    text = text.removeprefix("!")
    only_folders = text.endswith("/")
    anchored = "/" in text.removesuffix("/")
    names = text.removesuffix("/").removeprefix("/").split("/")
    if not all(names):
        return None
    if not anchored:
        names = ["**", *names]
    if names[-1] == "**":
        names = [*names, "*"]  # all that is in a folder, and not the folder
    try:
        segments = tuple(None if name == "**" else _segment(name) for name in names)
    except (re.error, ValueError):
        return None
    return IgnorePattern(segments, only_folders, excludes)


def _segment(glob: str) -> re.Pattern[str]:
    """The expression of one name. Raises ValueError, re.error for a glob that is not valid.

    What stands between two stars is taken at its first place, and no other one is tried: if it leads to no
    match, no later one does.
    """
    if glob == "*":
        return _ANY_NAME
    pieces = [""]
    for part in _parts(glob):
        if part is None:
            pieces.append("")
        else:
            pieces[-1] += part
    first, *between = pieces
    last = between.pop() if between else None
    middle = "".join(f"(?>.*?{piece})" for piece in between if piece)
    return re.compile(first + middle + (f".*{last}" if last is not None else ""), re.DOTALL)


def _parts(glob: str) -> Iterator[str | None]:
    """The expressions of the single characters of a glob; None for a star. Raises ValueError."""
    end = 0
    for found in _TOKEN.finditer(glob):
        if found.start() != end:
            break
        end = found.end()
        if found["stars"]:
            yield None
        elif found["any"]:
            yield "."
        elif found["set"] is not None:
            yield _set(found["set"], negated=bool(found["negated"]))
        else:
            yield re.escape(found["escaped"] or found["literal"])
    if end != len(glob):
        raise ValueError("an open set, or an escape of nothing")


def _set(inside: str, *, negated: bool) -> str:
    """The expression of a set of characters. Raises ValueError for the name of a class that there is not."""
    if not inside:
        raise ValueError("an empty set")
    made = ""
    for found in _SET_PART.finditer(inside):
        if (name := found["name"]) is not None:
            if name not in _POSIX_CLASSES:
                raise ValueError(f"no class is called {name}")
            made += _POSIX_CLASSES[name]
            continue
        low = found["escaped_low"] or found["low"]
        high = found["escaped_high"] or found["high"] or low
        made += f"{re.escape(low)}-{re.escape(high)}" if low < high else re.escape(low)
    return f"[{'^' if negated else ''}{made}]"
