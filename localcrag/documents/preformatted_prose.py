"""Prose that keeps its lines: the text of a help page, a message or a list of news within ``<pre>``.

It is read as plain text is (:mod:`.prose_blocks`): paragraphs, items, headings. A term with its definition
beside it is an item, and what is no prose stays code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import attrgetter

from localcrag.documents.block_text import BULLET
from localcrag.documents.prose_blocks import prose_blocks
from localcrag.types import Block, BlockKind

_RUN = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
"""Lines without a blank one between them."""
_LINE = re.compile(r"[^\n]+")
_INK = re.compile(r"\S")
_WORD = re.compile(r"[(\[{<\"“'‘|]*[^\W\d_]+(?:['’/-][^\W\d_]+)*[)\]}>\"”'’|]*[.,;:!?]*[)\"”]*")
_SENTENCE_END = re.compile(r"[^\W_][)\"”'’\]|]*[.!?:](?:[)\"”'’]|\s|$)")
_CODE_MARK = re.compile(r"[#$%>;|+/{}]|--|\*\s|\.\.\s")
"""How a line of a program, of its output or of a comment in it begins."""
_COLUMN = re.compile(r"(?<=\S)(?:[ ]*\t\s*| {3,})(?=\S)")
"""What parts the columns of a line that is laid out with tabs or spaces."""
_DEFINED = re.compile(
    r"(?P<term>\S(?:[^\t\n ]| (?! ))*)(?<![.!?,;])(?:[ ]*\t[ \t]*| {3,}|(?<!:) {2})(?P<text>\S[^\n]*)"
)
"""A line that is a term and the beginning of its definition."""
_PLACE_MARKS = re.compile(r"(?:^|(?<=\t)|(?<=  ))\*\S+\*(?:[ \t]+\*\S+\*)*[ \t]*$", re.MULTILINE)
"""The names at the end of a line by which other pages refer to it, as help pages of editors have them."""
_MIN_WORDS, _MIN_WORD_SHARE = 6, 0.75
"""The fewest words of a run of lines that is prose, and their share among what white space parts."""
_MIN_PARAGRAPHS, _MIN_PROSE_SHARE = 4, 0.5
"""So many runs of lines, with so much of the text, make a text prose."""
_MAX_TERM_CHARACTERS = 60


def preformatted_blocks(text: str) -> list[tuple[BlockKind, str, int, str]]:
    """The blocks of a text that keeps its lines, each with its kind, its text, its level and its marker.

    There are none if it is code, or too short to tell. Only items have markers.
    """
    runs = [match.span() for match in _RUN.finditer(text)]
    prose = [run for run in runs if _is_prose(text[slice(*run)])]
    told = sum(end - start for start, end in prose)
    if len(prose) < _MIN_PARAGRAPHS or told < _MIN_PROSE_SHARE * sum(end - start for start, end in runs):
        return []
    apart = [
        (Block(BlockKind.FURNITURE, *found.span()), found[0].strip()) for found in _PLACE_MARKS.finditer(text)
    ]
    plain = _blanked(text, [block for block, _ in apart])
    for found in _RUN.finditer(plain):
        apart += _set_apart(plain, *found.span())
    plain = _blanked(plain, [block for block, _ in apart])
    read = [(block, plain[block.start : block.end]) for block in prose_blocks(plain)]
    read = [(block, said) for block, said in read if any(map(str.isalnum, said))]
    ordered = sorted((*read, *apart), key=lambda found: found[0].start)
    return [
        (block.kind, _shown(block.kind, said), block.level, _marker(plain, block)) for block, said in ordered
    ]


def _marker(text: str, block: Block) -> str:
    """What stands before an item of a list on its line."""
    before = text[text.rfind("\n", 0, block.start) + 1 : block.start].strip()
    return "" if block.kind is not BlockKind.ITEM else f"{before} " if before else BULLET


def _blanked(text: str, blocks: Iterable[Block]) -> str:
    """A text with spaces in the place of some blocks, but for its line ends."""
    pieces, end = [], 0
    for block in sorted(blocks, key=attrgetter("start")):
        if block.start >= end:
            pieces += [text[end : block.start], _INK.sub(" ", text[block.start : block.end])]
            end = block.end
    return "".join((*pieces, text[end:]))


def _is_prose(run: str) -> bool:
    """Whether lines without a blank one between them are sentences."""
    lines = run.split("\n")
    if any(_CODE_MARK.match(line.strip()) for line in lines):
        return False
    pieces = run.split()
    words = sum(_WORD.fullmatch(piece) is not None for piece in pieces)
    return (
        words >= _MIN_WORDS
        and words >= _MIN_WORD_SHARE * len(pieces)
        and _SENTENCE_END.search(run) is not None
    )


def _set_apart(text: str, start: int, end: int) -> Iterator[tuple[Block, str]]:
    """What is no plain text in a run of lines: the definitions in it, or all of it as code."""
    lines = [(start + found.start(), start + found.end()) for found in _LINE.finditer(text[start:end])]
    at, told = 0, False
    while at < len(lines):
        below = at + 1
        while below < len(lines) and text[lines[below][0]] in " \t":
            below += 1
        first, stop = lines[at][0], lines[below - 1][1]
        if said := _definition(text[slice(*lines[at])], text[lines[at][1] : stop]):
            yield Block(BlockKind.ITEM, first, stop), said
            told = True
            at = below
        else:
            at += 1
    whole = text[start:end]
    if not told and not _is_prose(whole) and _is_code(whole):
        yield Block(BlockKind.CODE, start, end), whole


def _definition(line: str, below: str) -> str:
    """A term with its definition, beside it and on the indented lines below; "" if a line is none."""
    defined = _DEFINED.fullmatch(line)
    term, beside = (defined["term"], defined["text"]) if defined else (line.strip(), "")
    said = " ".join(f"{beside} {below}".split())
    if line[:1] in " \t" or len(term) > _MAX_TERM_CHARACTERS or (not beside and _SENTENCE_END.search(term)):
        return ""
    pieces = said.split()
    words = sum(_WORD.fullmatch(piece) is not None for piece in pieces)
    is_text = said[:1].isupper() and 2 * words > len(pieces) and _SENTENCE_END.search(said)
    return f"{term.rstrip(':').rstrip()}: {said}" if is_text else ""


def _is_code(run: str) -> bool:
    """Whether lines are no title of one line and no list: they have columns, or are indented."""
    lines = run.split("\n")
    return len(lines) > 1 and any(_COLUMN.search(line) or line[:1] in " \t" for line in lines)


def _shown(kind: BlockKind, text: str) -> str:
    """The text of a block: prose without line ends, a heading without what stands far beside it."""
    if kind is BlockKind.CODE:
        return text
    if kind is BlockKind.HEADING:
        text = _COLUMN.split(text.strip())[0]
    return " ".join(text.split())
