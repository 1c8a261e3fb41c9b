"""What the codes in the cells of a row mean, shown beside it from a legend of its document.

"What is her shift on Saturday?" is not answered by "Sat 11: N" unless the reader sees "N = night" as well. A
legend stands around the table as text, or in a table of its own: "Code: N · Meaning: night".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from localcrag.crag.refinement.knowledge_strips import is_within, span, strip_at, strips_of_block
from localcrag.crag.refinement.strip_context import Neighbours
from localcrag.crag.refinement.strip_kinds import cells_of, is_row, named_cell
from localcrag.types import BlockKind, Passage, Strip

MAX_LEGEND_STRIPS = 4
"""The most strips of a legend that are shown beside a row; of a row with more codes none is."""
MAX_PASSAGES_AWAY = 4
"""How many passages before and after that of a row are looked through for a legend."""
MIN_COLUMN_LETTERS = 3
"""The fewest letters of a word in the name of a column that a word of a question may begin with."""
_CODE = re.compile(r"[A-Z]{1,3}\d?")
_EXPLAINED = re.compile(
    r"(?:^|(?<=[\s(,;]))(?P<code>[A-Z]{1,3}\d?)(?:\s*=\s*|(?::| [–—-]) )(?=[^\W\d_]{3})", re.MULTILINE
)
_MEANING = re.compile(r"[^\W\d_]{3}")
_WORD = re.compile(r"[^\W\d_]+")


def with_legends(shown: Sequence[Strip], question: str, neighbours: Neighbours) -> list[Strip]:
    """The strips, each row with codes followed by what explains these, unless it is shown already.

    Args:
        shown: the strips as they are shown.
        question: the question. Of a row with columns of codes that it names, those in these alone are
            explained; of another one all are, if it has hardly anything else.
        neighbours: the passages beside a passage, in which a legend may stand.
    """
    result: dict[tuple[str, int, int], Strip] = {}
    for strip in shown:
        result.setdefault(span(strip), strip)
        for explaining in _legend_of(strip, question, neighbours) if is_row(strip) else ():
            if not any(is_within(explaining, other) for other in shown):
                result.setdefault(span(explaining), explaining)
    return list(result.values())


def _legend_of(row: Strip, question: str, neighbours: Neighbours) -> list[Strip]:
    cells = dict(map(named_cell, cells_of(row)))
    coded = {name: value.strip() for name, value in cells.items() if name and _CODE.fullmatch(value.strip())}
    named = {name: value for name, value in coded.items() if _is_named(name, question)}
    is_roster = 2 * len(coded) >= len(cells) - 1
    wanted = set((named or (coded if is_roster else {})).values())
    found: dict[str, Strip] = {}
    for passage in _around(row.passage, neighbours) if wanted else ():
        for code, strip in _explanations(passage, cells.keys(), row.score):
            if code in wanted:
                found.setdefault(code, strip)
    legend = list({span(strip): strip for strip in found.values()}.values())
    return legend if len(legend) <= MAX_LEGEND_STRIPS else []


def _is_named(column: str, question: str) -> bool:
    """Whether a question has a word of the name of a column, or one that begins so: "Saturday", "Sat 11"."""
    said = [word.lower() for word in _WORD.findall(question)]
    words = [word.lower() for word in _WORD.findall(column) if len(word) >= MIN_COLUMN_LETTERS]
    return any(each.startswith(word) for word in words for each in said)


def _around(passage: Passage, neighbours: Neighbours) -> Iterator[Passage]:
    """A passage, and those near it in its document, the nearest first."""
    known, edge = {passage.id}, [passage]
    yield passage
    for _ in range(MAX_PASSAGES_AWAY):
        beside = {each.id: each for last in edge for each in neighbours(last) if each.id not in known}
        edge = list(beside.values())
        known |= beside.keys()
        yield from edge


def _explanations(passage: Passage, columns: Collection[str], score: float) -> Iterator[tuple[str, Strip]]:
    """The codes that a passage explains, each with the strip that does; no row of the same table does."""
    for block in passage.blocks:
        if block.kind is BlockKind.ROW:
            strip = strip_at(passage, block.start, block.end, score)
            (name, code), *others = map(named_cell, cells_of(strip))
            is_other = not any(each in columns for each in (name, *(other for other, _ in others)))
            is_told = _CODE.fullmatch(code.strip()) and any(_MEANING.search(text) for _, text in others)
            if is_other and is_told:
                yield code.strip(), strip
            elif not others:
                yield from ((match["code"], strip) for match in _EXPLAINED.finditer(code))
        elif block.kind not in (BlockKind.CODE, BlockKind.FURNITURE):
            for piece in strips_of_block(passage, block):
                strip = strip_at(passage, piece.start, piece.end, score)
                yield from ((match["code"], strip) for match in _EXPLAINED.finditer(piece.text))
