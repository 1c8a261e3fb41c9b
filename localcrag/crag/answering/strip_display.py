"""How a strip is shown: without the marks of its page, and with lines only where they mean something."""

from __future__ import annotations

import re
from itertools import takewhile

from localcrag.crag.answering.shown_cells import shown_cells
from localcrag.crag.refinement.readable_names import without_prefix
from localcrag.crag.refinement.step_numbers import step_number
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.crag.refinement.strip_kinds import blocks_within, cells_in, is_unnamed, named_cell
from localcrag.labelled_lines import LEADERS, flowing
from localcrag.types import CELL_SEPARATOR, HEADING_SEPARATOR, BlockKind, Strip

BULLET = "• "
"""What stands before the items of a list that are shown together."""
MARKER = re.compile(rf"{BULLET}|\d{{1,2}}\. ")
"""What a line begins with that is an item of a list."""
_MARKERS_BEFORE = re.compile(r"^(?:(?:[•◦▪▫‣⁃·∙●○■□➢►✓*+–—-]|\|)\s+)+")
_SECTION = re.compile(
    r"\[(?P<bracketed>[^\[\]]+)\](?: [#;].*)?|(?:- )*(?:[^:]+: )?(?P<key>[^:\s][^:]*?):?(?: #.*)?"
)
"""A heading in a file of settings, with the name of the section: "[server]", "rules:", "- name: disks"."""
_SETTING_KINDS = frozenset({BlockKind.HEADING, BlockKind.CODE, BlockKind.FURNITURE})
"""The kinds of block in a file of settings."""
_LONE_END = re.compile(r"""\n[ \t]*(\"{3}|'{3}|\*/)[ \t]*$""")
_BEGUN_BY = {'"""': '"""', "'''": "'''", "*/": "/*"}
"""What ends a docstring or a comment of several lines, and what begins it."""
_COMMENT_LINE = re.compile(r"[ \t]*(?:#+|//+)(?:[ \t]+(?P<said>\S.*))?")
"""A line of a program or of settings that is a comment; a setting that is commented out has no space."""
_MIN_COMMENT_WORDS = 3
_ASSIGNED = re.compile(r"\w ?= ?\S|^\S+:(?: |$)")
_SEPARATORS_BEHIND = re.compile(r"(?:\s*[·|¦•]|(?<![:\s])\s+[–—/>-])+$|(?<=\w)\s*[,;]$")


def shown_text(strip: Strip, question: str = "") -> str:
    """A strip as it is shown: prose in one line, lines of code and items of a list below each other."""
    return "\n".join(line for line, _ in shown_lines(strip, question))


def before_mark(strip: Strip, question: str = "") -> str:
    """A strip as it is shown before its citation, which stands on a line of its own behind code."""
    lines = shown_lines(strip, question)
    return "\n".join(line for line, _ in lines) + ("\n" if lines[-1][1] else " ")


def shown_lines(strip: Strip, question: str = "") -> list[tuple[str, bool]]:
    """The lines in which a strip is shown, each with whether it is code.

    Prose is one line without a marker in front or a separator at its end; lines that stand for themselves,
    as the entries of a log, stay lines; items of a list that are shown together have markers, and steps
    their numbers; a step by itself has one if it begins with it. A line that only parts others is left out.
    A setting stands below its section, and a comment by itself, or of several lines above a setting, is
    prose. A row is shown as it is, but for the numbers of a wide one that the question does not ask for; a
    dash at its end is the value of its last cell.
    """
    within = blocks_within(strip)
    lines: list[tuple[str, bool]] = []
    for block in within:
        text = strip.passage.text_between(max(block.start, strip.start), min(block.end, strip.end))
        if block.kind is BlockKind.FURNITURE and not any(map(str.isalnum, text)):
            continue
        if block.kind is BlockKind.CODE and (said := _said_in_comment(text)):
            lines.append((said, False))
        elif block.kind is BlockKind.CODE:
            said, text = _parted_comment(text)
            lines += [] if lines else _section_lines(strip)
            lines += [(said, False)] if said else []
            lines += [(line, True) for line in _without_lone_end(text).strip("\n").split("\n")]
        elif block.kind is BlockKind.ROW:
            cells = [" ".join(line.split()) for line in cells_in(without_prefix(text))]
            shown = [_without_number(cell) for cell in shown_cells(list(filter(None, cells)), question)]
            lines.append((CELL_SEPARATOR.join(shown).strip(CELL_SEPARATOR), False))
        else:
            is_whole = strip.start < block.start or (strip.start == block.start and len(within) > 1)
            number = step_number(strip.passage, block) if is_whole else 0
            bullet = BULLET if block.kind is BlockKind.ITEM and len(within) > 1 else ""
            marker = f"{number}. " if number else bullet
            first, *more = map(_tidy, flowing(text).split("\n"))
            lines += [(marker + first, False), *((line, False) for line in more)]
    return [line for line in lines if line[0].strip() or line[1]] or [(_tidy(strip.text), False)]


def _said_in_comment(code: str) -> str:
    """What a piece of code says in words, if it is nothing but a comment; "" otherwise."""
    found = [_COMMENT_LINE.fullmatch(line) for line in code.strip("\n").split("\n")]
    said = [each["said"] or "" for each in found if each]
    if len(said) < len(found) or any(map(_ASSIGNED.search, said)):
        return ""
    words = " ".join(line for line in said if any(map(str.isalnum, line))).split()
    return " ".join(words) if len(words) >= _MIN_COMMENT_WORDS else ""


def _parted_comment(code: str) -> tuple[str, str]:
    """What a comment of several lines above some code says in words, and the code; ("", code) without one."""
    lines = code.strip("\n").split("\n")
    count = len(list(takewhile(_COMMENT_LINE.fullmatch, lines)))
    said = _said_in_comment("\n".join(lines[:count])) if 1 < count < len(lines) else ""
    return (said, "\n".join(lines[count:]).strip("\n")) if said else ("", code)


def _without_lone_end(code: str) -> str:
    """A piece of code without the mark in its last line that ends a docstring or comment begun before it."""
    found = _LONE_END.search(code)
    return code[: found.start()] if found and _BEGUN_BY[found[1]] not in code[: found.start()] else code


def _section_lines(strip: Strip) -> list[tuple[str, bool]]:
    """The line that names the section of a file of settings in which a strip stands; none outside of one.

    "[groups > disks > rules]" is in place of the keys that stand above in YAML.
    """
    if not all(block.kind in _SETTING_KINDS for block in strip.passage.blocks):
        return []
    path = headings_above(strip).split(HEADING_SEPARATOR)
    found = [_SECTION.fullmatch(heading) for heading in path]
    names = [each["bracketed"] or each["key"] for each in found if each]
    return [(f"[{HEADING_SEPARATOR.join(names)}]", True)] if len(names) == len(path) else []


def _tidy(text: str) -> str:
    """Prose in one line, without the marker of a list in front of it, a separator behind it, and leaders."""
    flat = LEADERS.sub(lambda found: found["colon"] or " …", " ".join(text.split()))
    return _SEPARATORS_BEHIND.sub("", _MARKERS_BEFORE.sub("", flat)) or flat


def _without_number(cell: str) -> str:
    """A cell without the number of its column, which stands for a name and tells nothing."""
    column, value = named_cell(cell)
    return value if is_unnamed(column) else cell
