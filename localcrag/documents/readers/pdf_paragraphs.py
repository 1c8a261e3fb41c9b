"""Headings, paragraphs, list items and code among the lines of one column of a PDF page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from localcrag.documents.block_text import BULLET
from localcrag.documents.fixed_width_tables import text_tables
from localcrag.documents.readers.pdf_lines import Grid, Line, code_text, ends_in_hyphen, joined_lines
from localcrag.types import BlockKind

_GAP_PITCHES, _DEFAULT_PITCH_EMS = 1.35, 1.3
_CODE_GAP_EMS = 2.6
_LARGE, _LARGE_POINTS, _SMALL = 1.12, 0.9, 0.95
_INDENT_EMS = 0.8
_MAX_HEADING_LINES, _MAX_HEADING = 3, 250
_MIN_WRAPPED_CHARACTERS, _MIN_CONTINUED_SHARE = 40, 0.2
_MAX_NUMBERED = 90
_BULLETS = r"[•‣▪◦●○■□▸►➢➤✓✔·∙⁃\uf000-\uf0ff]"
_BULLET = re.compile(rf"{_BULLETS}\s*(?=\S)")
_DASH = re.compile(r"[-–—*]\s+(?=\S)")
_NUMBER = re.compile(r"(?:\(?\d{1,3}[.)]|\(?[a-z][.)]|\([A-Z]\)|[A-Z]\)|\(?[ivx]{2,4}[.)])\s+(?=\S)")
_NUMBERED_HEADING = re.compile(r"(?:(\d{1,3}(?:\.\d{1,3}){0,5})\.?|(?:[A-Z]|[IVX]{1,5})\.)\s+[^\W\d_]")
_CAPTION = re.compile(
    r"(?:Figure|Fig\.|Table|Abbildung|Abb\.|Tabelle|Tab\.|Listing|Algorithm)\s+[\dA-Z][\d.]*\s?[:.–-]?(?=\s|$)"
)
_LEADER = re.compile(r"\s*(?:[.…·]\s?){4,}\s*(?=[\divxlc]*$)")
_LETTERS = re.compile(r"[^\W\d_]")
_END_OF_SENTENCE = re.compile(r"[.!?:;…][\"'»”’)\]]*$")
_ENDS_IN_CODE_FONT = re.compile(r"(?:\S+ ){0,2}\S*[^\W_][.?!]")
"""A line of few words that ends a sentence, though its words are names in a font of one width."""
_ASKED = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){0,3}[.)]?|Q(?:uestion)?[ ]?\d{0,3}[.:)])\s+[\"“‘']?[^\W\d_]")
"""How a question of a list of questions and answers begins."""
_NOTE_MARK = re.compile(r"(?:\d{1,3}|[*†‡§¶]+)\s?(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class BodyFont:
    """The font of the running text of a document, and the distance of its lines by their size."""

    size: float
    bold: bool
    mono: bool
    pitches: Mapping[float, float]

    def pitch(self, size: float) -> float:
        """The usual distance of two lines of that size in points."""
        return self.pitches.get(size) or _DEFAULT_PITCH_EMS * size


@dataclass(slots=True)
class Draft:
    """A block before the levels of headings are known; ``size`` and ``depth`` (of its number) tell them."""

    kind: BlockKind
    text: str
    level: int = 0
    marker: str = ""
    size: float = 0.0
    bold: bool = False
    depth: int = 0
    apart: bool = False
    grid: Grid | None = None


def drafts_of(lines: Sequence[Line], body: BodyFont, *, notes: bool = False) -> Iterator[Draft]:
    """The blocks of a column; ``notes`` if it holds footnotes, each of which begins with its mark."""
    depths: list[float] = []
    groups = list(_groups(lines, body))
    for group, following in zip(groups, [*groups[1:], []], strict=True):
        first = group[0]
        if first.grid is not None:
            depths.clear()
            yield Draft(BlockKind.ROW, "", grid=first.grid)
        elif not body.mono and first.mono and not any(_BULLET.match(line.text) for line in group):
            depths.clear()
            yield from _code(group)
        elif _is_question(group) and following and not _ASKED.match(following[0].text):
            depths.clear()
            question = _heading(joined_lines(line.text for line in group), first)
            yield replace(question, bold=False)  # all are of one level, whatever words of them are bold
        else:
            yield from _group_drafts(group, body, depths, notes=notes)


def _code(group: Sequence[Line]) -> Iterator[Draft]:
    """Lines in a font of one width: code, or the rows of the table that all of them are."""
    text = code_text(group)
    lines = text.split("\n")
    table = next(text_tables(lines), None)
    if table is None or table.first or table.end < len(lines):
        yield Draft(BlockKind.CODE, text, size=group[0].size)
        return
    for number, row in enumerate(table.rows):
        yield Draft(BlockKind.ROW, row.text, apart=not number)


def ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does."""
    return _END_OF_SENTENCE.search(text) is not None


def _is_question(group: Sequence[Line]) -> bool:
    """Whether lines that stand alone are a numbered question, as of a list of questions and answers."""
    texts = [line.text for line in group]
    if len(texts) > _MAX_HEADING_LINES or sum(map(len, texts)) > _MAX_HEADING or not _ASKED.match(texts[0]):
        return False
    return texts[-1].endswith("?") and not any(_ASKED.match(text) for text in texts[1:])


def _groups(lines: Sequence[Line], body: BodyFont) -> Iterator[list[Line]]:
    """Lines of one size and kind without a gap between them."""
    group: list[Line] = []
    for line in lines:
        if group and _parts(group[-1], line, body):
            yield group
            group = []
        group.append(line)
    if group:
        yield group


def _parts(before: Line, line: Line, body: BodyFont) -> bool:
    if before.grid is not None or line.grid is not None:
        return True
    pitch = before.y - line.y
    goes_on = _goes_on_in_code_font(before, line) and pitch <= _GAP_PITCHES * 1.05 * line.size
    if abs(before.size - line.size) > max(0.6, 0.07 * line.size) or (
        before.mono != line.mono and not body.mono and not goes_on
    ):
        return True
    if line.mono and not goes_on and not body.mono and 0 < pitch <= _CODE_GAP_EMS * line.size:
        return bool(_BULLET.match(line.text)) != bool(_BULLET.match(before.text))
    return pitch <= 0 or pitch > _GAP_PITCHES * max(body.pitch(line.size), 1.05 * line.size)


def _goes_on_in_code_font(before: Line, line: Line) -> bool:
    """Whether a line in a font of one width ends the sentence of the line above: "… with many" "NAs?"."""
    if before.mono or not line.mono or ends_sentence(before.text):
        return False
    return _ENDS_IN_CODE_FONT.fullmatch(line.text) is not None


def _group_drafts(group: list[Line], body: BodyFont, depths: list[float], *, notes: bool) -> Iterator[Draft]:
    left, right = min(line.x0 for line in group), max(line.x1 for line in group)
    narrow = _is_unwrapped(group)
    start = 0
    texts = [line.text for line in group]
    in_item = False
    while start < len(group):
        heading = _heading_end(group, texts, start, body)
        if heading > start:
            depths.clear()
            in_item = False
            yield _heading(joined_lines(texts[start:heading]), group[start])
            start = heading
            continue
        marker = _marker(group, texts, start, in_item=in_item)
        end = start + 1
        while end < len(group):
            item = marker is not None
            if _begins(group, texts, end, start, left, right, narrow=narrow, item=item, notes=notes):
                break
            if _marker(group, texts, end, in_item=item) is not None:
                break
            end += 1
        if marker is not None:
            yield _item(joined_lines(texts[start:end]), marker, group[start], depths)
        else:
            if group[start].x0 <= (depths[-1] if depths else 1e9) + 1:
                depths.clear()
            yield from _paragraph(texts[start:end], group[start])
        in_item = marker is not None
        start = end


def _is_unwrapped(group: Sequence[Line]) -> bool:
    """Whether the line ends of narrow text are meant, as in an address: few lines go on in lower case."""
    if max(len(line.text) for line in group) >= _MIN_WRAPPED_CHARACTERS:
        return False
    starts = [line.text[:1] for line in group[1:]]
    return sum(map(str.islower, starts)) < _MIN_CONTINUED_SHARE * max(1, len(starts))


def _begins(
    group: Sequence[Line],
    texts: Sequence[str],
    at: int,
    start: int,
    left: float,
    right: float,
    *,
    narrow: bool,
    item: bool,
    notes: bool,
) -> bool:
    """Whether another paragraph begins with that line of a group; ``start`` is where this one does."""
    before, line = group[at - 1], group[at]
    if _LEADER.search(texts[at]) or _LEADER.search(texts[at - 1]):
        return True
    if ends_in_hyphen(texts[at - 1]):
        return False
    if narrow:
        return True
    if (
        notes
        and _NOTE_MARK.match(texts[at])
        and line.x0 <= group[start].x0 + 0.5 * line.size
        and (_END_OF_SENTENCE.search(texts[at - 1]) is not None)
    ):
        return True
    word = line.segments[0].first + 0.3 * line.size
    if before.x1 + word <= right - 0.2 * line.size and before.x1 - before.x0 + word <= right - left:
        return True  # the first word would have fitted into the line above
    indent = _INDENT_EMS * line.size
    if item:
        return line.x0 < group[start].x0 - indent
    if at - start > 1 and before.x0 - line.x0 > indent and group[start].x0 < before.x0 - indent:
        return True  # hanging paragraphs, as in a list of references
    following = group[at + 1].x0 if at + 1 < len(group) else left
    return line.x0 - before.x0 > indent and line.x0 - following > indent


def _marker(group: Sequence[Line], texts: Sequence[str], at: int, *, in_item: bool) -> str | None:
    """The marker of the list item that begins with a line, None if none does."""
    text = texts[at]
    if found := _BULLET.match(text):
        return found[0]
    found = _DASH.match(text) or _NUMBER.match(text)
    if found is None:
        return None
    before = group[at - 1] if at else None
    right = max(line.x1 for line in group[max(0, at - 2) : at + 3])
    opens = (
        before is None
        or in_item
        or abs(group[at].x0 - before.x0) > 0.5 * before.size
        or before.x1 + group[at].segments[0].first + 0.3 * before.size <= right
        or texts[at - 1].endswith(":")
    )
    return found[0] if opens else None


def _item(text: str, marker: str, line: Line, depths: list[float]) -> Draft:
    while depths and depths[-1] > line.x0 + 0.5 * line.size:
        depths.pop()
    fresh = not depths
    if not depths or line.x0 > depths[-1] + 0.5 * line.size:
        depths.append(line.x0)
    shown = f"{marker.strip()} " if marker.strip()[-1] in ".)" else BULLET
    return Draft(BlockKind.ITEM, text[len(marker) :], len(depths) - 1, shown, line.size, apart=fresh)


def _paragraph(texts: Sequence[str], line: Line) -> Iterator[Draft]:
    text = joined_lines(texts)
    if len(texts) == 1 and _LEADER.search(text):
        yield Draft(BlockKind.ITEM, _LEADER.sub(" … ", text).rstrip(" …"), size=line.size)
    elif _CAPTION.match(text):
        yield Draft(BlockKind.CAPTION, text, size=line.size)
    else:
        yield Draft(BlockKind.PARAGRAPH, text, size=line.size)


def _heading_end(group: Sequence[Line], texts: Sequence[str], start: int, body: BodyFont) -> int:
    """The number of the line after the heading that begins with a line of a group; ``start`` if none does."""
    line, text = group[start], texts[start]
    if not _may_be_heading(text):
        return start
    if _is_large(line, body):
        end = len(group)
        if end - start > _MAX_HEADING_LINES or sum(map(len, texts[start:end])) > _MAX_HEADING:
            return start
        later = (i for i in range(start + 1, end) if _NUMBERED_HEADING.match(texts[i]))
        return next(later, end)
    if line.bold and not body.bold and line.size >= _SMALL * body.size and not _BULLET.match(text):
        return _bold_heading_end(group, texts, start)
    found = _NUMBERED_HEADING.match(text)
    alone = len(group) == 1 and len(text) <= _MAX_NUMBERED and not _END_OF_SENTENCE.search(text)
    if not found or not alone or line.size < _SMALL * body.size:
        return start
    capital = "." in (found[1] or "") and text[found.end() - 1].isupper()
    return start + 1 if capital or text.isupper() else start


def _may_be_heading(text: str) -> bool:
    letters = len(_LETTERS.findall(text))
    return (
        letters >= 2
        and 3 * letters >= len(text.replace(" ", ""))
        and not _LEADER.search(text)
        and not _CAPTION.match(text)
    )


def _is_large(line: Line, body: BodyFont) -> bool:
    return line.size >= max(_LARGE * body.size, body.size + _LARGE_POINTS)


def _bold_heading_end(group: Sequence[Line], texts: Sequence[str], start: int) -> int:
    """The end of a bold heading: at most two bold lines that begin and end like one."""
    end = start
    while end < len(group) and group[end].bold and end - start <= 2:
        end += 1
    if end - start > 2 or texts[end - 1].endswith((",", ";")) or ends_in_hyphen(texts[end - 1]):
        return start
    long = sum(map(len, texts[start:end])) > _MAX_NUMBERED
    if (
        _END_OF_SENTENCE.search(texts[end - 1])
        and (long or not _NUMBERED_HEADING.match(texts[start]))
        and (not texts[end - 1].endswith((":", "?")))
    ):
        return start
    if end < len(group) and texts[end][:1].islower():
        return start
    if start and not _END_OF_SENTENCE.search(texts[start - 1]) and not group[start - 1].bold:
        return start
    return end


def _heading(text: str, line: Line) -> Draft:
    found = _NUMBERED_HEADING.match(text)
    depth = (found[1] or "").count(".") + 1 if found else 0
    return Draft(BlockKind.HEADING, text, 1, "", line.size, line.bold, depth)
