"""The Info manuals of GNU as blocks: the nodes below their titles, without their menus, indexes and tables.

A title is underlined: ``*`` below a chapter, ``=`` below a section, ``-`` and ``.`` further down. What stands
further in below a line that begins at the margin explains it, as an option; elsewhere it is an example.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.prose_blocks import prose_blocks
from localcrag.types import BlockKind, Page

_INDEX_MARK = re.compile(rb"\x00\x08\[[^\]\n]{0,2000}?\x00\x08\]", re.DOTALL)
"""What Info writes for an index or an image, which it shows by other means."""
_NODE_END = re.compile(r"^\x1f[^\n]*\n?", re.MULTILINE)
_NODE_HEADER = re.compile(r"File: [^\n]*Node: [^\n]*(?:\n|$)")
_NO_NODE = re.compile(r"(?:Tag Table|Indirect|End Tag Table|Local Variables):?")
_MENU = re.compile(r"^\* Menu:[^\n]*\n(?:[ \t]*\n|\* [^\n]*\n?|[ \t]{8,}\S[^\n]*\n)*", re.MULTILINE)
_TITLE = re.compile(r"^(?P<title>\S[^\n]{0,200})\n(?P<rule>\*{2,}|={2,}|-{2,}|\.{2,})[ \t]*$", re.MULTILINE)
_LEVELS = {"*": 1, "=": 2, "-": 3, ".": 4}
_LOWEST = 5
_REFERENCE = re.compile(r"\*[Nn]ote\s+([^:]{1,200})::")
_BLANK = re.compile(r"\n[ \t]*\n+")
_EXAMPLE = re.compile(r" {5}")
_EXAMPLE_END = re.compile(r"[.!?:;,][\"”’')]*$")
_QUOTED_TERM = re.compile(r"^['`‘](.*)['’]$")


def without_index_marks(data: bytes) -> bytes:
    """The bytes of an Info manual without its marks of indexes and images, which hold NUL."""
    return _INDEX_MARK.sub(b"", data)


def info_page(text: str, limits: Limits) -> Page:
    """The text of an Info manual as a page. Raises UnreadableError if it is too long."""
    made = BlockText(limits)
    for node in _NODE_END.split(text)[1:]:
        body = _NODE_HEADER.sub("", node, count=1).lstrip("\n")
        if not _NO_NODE.match(body):
            _add_node(made, _REFERENCE.sub(r"\1", _MENU.sub("\n", body)))
    return made.page()


def _add_node(made: BlockText, body: str) -> None:
    last = 0
    for title in _TITLE.finditer(body):
        if 2 * len(title["rule"]) < len(title["title"]):
            continue
        _add_text(made, body[last : title.start()])
        made.add(BlockKind.HEADING, title["title"], level=_LEVELS[title["rule"][0]])
        last = title.end()
    _add_text(made, body[last:])


def _add_text(made: BlockText, text: str) -> None:
    made.part()
    for run in _BLANK.split(text.strip("\n")):
        lines = run.split("\n")
        inner = next((at for at, line in enumerate(lines) if line[:1] in ("", " ")), len(lines))
        if 0 < inner < len(lines) and all(map(_EXAMPLE.match, lines[inner:])):
            terms = ", ".join(_QUOTED_TERM.sub(r"\1", line.strip()) for line in lines[:inner])
            meaning = " ".join(" ".join(lines[inner:]).split())
            made.add(BlockKind.ITEM, f"{terms}: {meaning}", marker=BULLET)
        elif _is_example(lines):
            made.add(BlockKind.CODE, "\n".join(line.removeprefix("     ") for line in lines))
        else:
            _add_prose(made, run)


def _is_example(lines: Sequence[str]) -> bool:
    return all(map(_EXAMPLE.match, lines)) and not _EXAMPLE_END.search(lines[-1].rstrip())


def _add_prose(made: BlockText, run: str) -> None:
    for block in prose_blocks(run):
        is_item = block.kind is BlockKind.ITEM
        text = " ".join(run[block.start : block.end].split())
        level = block.level if is_item else _LOWEST if block.kind is BlockKind.HEADING else 0
        made.add(block.kind, text, level=level, marker=BULLET if is_item else "")
