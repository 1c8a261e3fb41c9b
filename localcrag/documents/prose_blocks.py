"""Plain text as blocks: the text stays as it is, and its paragraphs, items and headings get their places.

Blank lines end a paragraph, and so does a line that begins a clause of a contract or a law ("§ 5", "Article
6", "第二条"). A line that begins with a bullet or a number is an item, with the lines after it that are
indented, or that only a wrap parts from it. A heading is a line that is underlined, or that stands alone and
is numbered or in capitals, or the numbered question of a list of questions and answers, or one of several
short lines that stand above their paragraphs, with a number or without, or that name a release above its
changes, or of two or three lines above a rule, as all entries of a list of news have them. Each line is an
item where nearly all of them are parted by tabs ("ssh  22/tcp  # Shell"). A line that only parts others is
furniture.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import islice, pairwise

from localcrag.labelled_lines import LABEL, line_ends
from localcrag.types import Block, BlockKind

_PARAGRAPH = re.compile(r"^[^\S\n]*+\S[^\n]*(?:\n[^\S\n]*+\S[^\n]*)*", re.MULTILINE)
_LINE = re.compile(r"[^\n]+")
_TABBED = re.compile(r"[^\s#]\S*(?: \S+)*(?<!:)[ \t]*\t\s*\S")
_MIN_TABBED, _MIN_TABBED_SHARE = 4, 0.8
"""The fewest lines with tabs within that make each line of a run an item, and their least share of it."""
_MARKER = re.compile(r"([ \t]*)(?:[-*•+–]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+(?=\S)")
_LETTER_BULLET = re.compile(r"([ \t]*)o[ \t]+(?=\S)")
"""A bullet as an ``o``, which is a word elsewhere: the first line of its paragraph must begin with it."""
_UNDERLINE = re.compile(r"[ \t]*([=~^#*-])\1{2,}[ \t]*")
_NUMBERED = re.compile(r"(?:§ ?)?\d{1,2}((?:\.\d{1,2}){0,4})\.?[ \t]+[A-ZÀ-Þ]")
_NUMBERED_TITLE = re.compile(r"(?P<number>\d{1,2})[.)][ \t]+(?=[^\W\d_])\S.*")
_CLAUSE = re.compile(
    r"[ \t]*(?:第[0-9〇零一二三四五六七八九十百千]{1,6}[条條]|§{1,2} ?\d{1,4}[a-z]?\b"
    r"|(?:Art(?:icle|ikel|ículo|icolo|igo|\.)|ART(?:ICLE|IKEL|ÍCULO|ICOLO|IGO|\.)) ?"
    r"(?:\d{1,4}(?:er|[a-z])?|[IVX]{1,5})\b)"
)
"""How a clause of a contract or a law begins."""
_CLAUSE_END = re.compile(r"[.!?…;:。！？；：][\"”’»」』)）]*$")
"""How a line ends before the next clause, which the same words in a wrapped sentence do not stand behind."""
_ASKED = re.compile(r"Q(?:uestion)?[ \t]?\d{0,3}[.:)][ \t]")
"""How a question of a list of questions and answers begins, if it has no number alone."""
_INDENT_CHARACTERS = 2
_MAX_HEADING_CHARACTERS = 80
_MIN_CAPITALS = 3
_MAX_QUESTION_LINES = 3
_MAX_TITLE_CHARACTERS = 60
_MAX_TITLE_DIGITS, _MAX_DIGIT_SHARE = 2, 0.2
_MIN_WRAPPED_CHARACTERS = 40
"""The width from which on lines of items are taken to be wrapped."""
_TITLE_ROOM = 10
"""The characters by which a title above its paragraph could be longer, with the next word, than any line."""
_MIN_TITLES = 2
"""So many titles above their paragraphs make each of them one; a single one may be the name in a letter."""
_MAX_TITLE_LINES = 3
"""The most lines of the title of an entry above a rule."""
_SENTENCE_END = re.compile(r"[.!?…][\"”’»)]*$")
_RELEASE = re.compile(
    r"(?:[A-Za-z][\w+-]*[ \t]+){0,3}[vV]?\d+(?:\.\d+)+\w*(?:[ \t]*(?:[(\[,–—-]|[ \t]\d).*)?"
)
"""A line that names a release, with its day, and nothing else: "Version 2.20 - 30 September 2020"."""
_DAY_OF_ENTRY = re.compile(r"\d{4}-\d\d-\d\d\b.{0,70}")
"""The line of a list of changes with the day and who made them, above a title: "2023-01-08  Ann Lee"."""


def prose_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a plain text, in order."""
    runs = [match.span() for match in _PARAGRAPH.finditer(text)]
    following = [*runs, (len(text), len(text))][1:]
    titled = frozenset(
        run
        for run, below in zip(runs, following, strict=True)
        if _has_title(text, *run) or _is_title(text, *run, below)
    )
    releases = _releases(text, titled, runs)
    if len(titled | releases) < _MIN_TITLES:
        titled = frozenset()
    titled |= _numbered_titles(text, runs) | releases
    titled |= {
        run
        for run, below in zip(runs, following, strict=True)
        if below in titled and _DAY_OF_ENTRY.fullmatch(text[slice(*run)].strip())
    }
    entries = _entry_titles(text, runs)
    return tuple(
        block
        for run in runs
        for block in _entry(text, *run, entries.get(run, run[0]), is_titled=run in titled)
    )


def _entry(text: str, start: int, end: int, title_end: int, *, is_titled: bool) -> Iterator[Block]:
    """The blocks of one run of lines whose title of several lines ends at ``title_end``, if that is later."""
    if title_end > start:
        yield _block(text, BlockKind.HEADING, start, title_end, 2)
        start, is_titled = title_end + 1, False
    yield from _within(text, start, end, is_titled=is_titled)


def _entry_titles(text: str, runs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Where the titles end of the runs that begin with two or three short lines above a rule.

    Several begin with the same words, and have text below the rule: "Date 2022-02-28", "Summary: 7.3".
    """
    found: dict[tuple[int, int], int] = {}
    names: dict[tuple[int, int], tuple[str, ...]] = {}
    for run in runs:
        lines = [match.span() for match in islice(_LINE.finditer(text, *run), _MAX_TITLE_LINES + 2)]
        rule = next((i for i, line in enumerate(lines) if _UNDERLINE.fullmatch(text, *line)), 0)
        above = [text[slice(*line)].strip() for line in lines[:rule]]
        if 1 < rule < len(lines) - 1 and all(map(_is_title_line, above)):
            found[run] = lines[rule - 1][1]
            names[run] = tuple(line.split(maxsplit=1)[0] for line in above)
    alike = Counter(names.values())
    return {run: end for run, end in found.items() if alike[names[run]] >= _MIN_TITLES}


def _is_title_line(line: str) -> bool:
    return len(line) <= _MAX_HEADING_CHARACTERS and line[-1] not in ".,;!?" and not _MARKER.match(line)


def _within(text: str, start: int, end: int, *, is_titled: bool) -> Iterator[Block]:
    """The blocks of one run of lines without a blank one; ``is_titled`` if its first line is a heading."""
    lines = [match.span() for match in _LINE.finditer(text, start, end)]
    if _UNDERLINE.fullmatch(text, *lines[0]):
        yield _block(text, BlockKind.FURNITURE, *lines.pop(0))
    if heading := _heading(text, lines, is_titled=is_titled):
        yield heading
        below = heading.end + 1 if not _is_underlined(text, lines) else lines[1][1]
        lines = [line for line in lines if line[0] >= below]
    if _are_tabbed([text[slice(*line)] for line in lines]):
        yield from (_block(text, BlockKind.ITEM, *line) for line in lines)
        return
    kind, level, first, last, begin = BlockKind.PARAGRAPH, 0, -1, -1, -1
    width = max((last - first for first, last in lines), default=0)
    has_letters = bool(lines) and _LETTER_BULLET.match(text, *lines[0]) is not None
    for line_start, line_end in lines:
        marker = _MARKER.match(text, line_start, line_end)
        if has_letters and marker is None:
            marker = _LETTER_BULLET.match(text, line_start, line_end)
        goes_on = (
            kind is not BlockKind.ITEM
            or text[line_start] in " \t"
            or (first >= 0 and _is_wrapped(text[begin:last], text[line_start:line_end], width))
        )
        is_rule = _UNDERLINE.fullmatch(text, line_start, line_end)
        begins_clause = first >= 0 and _begins_clause(text[first:last], text[line_start:line_end])
        if first >= 0 and (marker or is_rule or begins_clause or not goes_on):
            yield _block(text, kind, first, last, level)
            first = -1
        if is_rule:
            yield _block(text, BlockKind.FURNITURE, line_start, line_end)
            continue
        if marker:
            kind, level, first = BlockKind.ITEM, len(marker[1]) // _INDENT_CHARACTERS, marker.end()
        elif first < 0:
            kind, level, first = BlockKind.PARAGRAPH, 0, line_start
        begin, last = line_start, line_end
    if first >= 0:
        yield _block(text, kind, first, last, level)


def _are_tabbed(lines: Sequence[str]) -> bool:
    """Whether each of some lines tells something by itself, in parts between tabs."""
    tabbed = sum(_TABBED.match(line) is not None for line in lines)
    return tabbed >= max(_MIN_TABBED, _MIN_TABBED_SHARE * len(lines))


def _begins_clause(before: str, line: str) -> bool:
    """Whether a line begins a clause, and the text before it has ended or is the title of another clause."""
    if not _CLAUSE.match(line):
        return False
    is_title = "\n" not in before and _CLAUSE.match(before) is not None
    return is_title or _CLAUSE_END.search(before.rstrip()) is not None


def _is_wrapped(line: str, following: str, width: int) -> bool:
    """Whether a line of an item goes on in the next one, which is not indented.

    It ends within a sentence, and the next line begins in lower case or its first word had no room.
    """
    if width < _MIN_WRAPPED_CHARACTERS or _SENTENCE_END.search(line.rstrip()):
        return False
    return following[0].islower() or len(line) + 1 + len(following.split(maxsplit=1)[0]) > width


def _block(text: str, kind: BlockKind, start: int, end: int, level: int = 0) -> Block:
    """A block without the white space around it."""
    body = text[start:end].strip()
    start = text.index(body, start)
    return Block(kind, start, start + len(body), level)


def _heading(text: str, lines: list[tuple[int, int]], *, is_titled: bool) -> Block | None:
    """The heading at the beginning of a run of lines; ``is_titled`` if its first line is one in any case."""
    if not lines:
        return None
    start, end = lines[0]
    title = text[start:end].strip()
    if len(title) > _MAX_HEADING_CHARACTERS or not any(map(str.isalpha, title)):
        return None
    if _is_underlined(text, lines):
        level = 1 if text[slice(*lines[1])].strip()[0] == "=" else 2
        return _block(text, BlockKind.HEADING, start, end, level)
    numbered = _NUMBERED.match(title)
    level = 1 + numbered[1].count(".") if numbered else 1
    if numbered or _ASKED.match(title):
        asked = _question_end(text, lines)
        if asked is not None:
            return _block(text, BlockKind.HEADING, start, asked, level)
    stands_out = numbered or _is_in_capitals(title)
    if not is_titled and (len(lines) > 1 or title[-1] in ".,;:!?" or not stands_out):
        return None
    is_first_level = stands_out or _NUMBERED_TITLE.match(title)
    return _block(text, BlockKind.HEADING, start, end, level if is_first_level else 2)


def _has_title(text: str, start: int, end: int) -> bool:
    """Whether a run of lines is a paragraph, or a list, directly below its title.

    The title is in capitals, or ends where it need not: the next word would have had room on its line.
    """
    lines = [match[0].strip() for match in _LINE.finditer(text, start, end)]
    if len(lines) < 2:
        return False
    if _MARKER.match(lines[1]) and _names_release(lines[0]):
        return True
    if not _may_be_title(lines[0]):
        return False
    if _is_in_capitals(lines[0]) and not any(map(str.isdigit, lines[0])):
        return not _is_in_capitals(lines[1])
    if line_ends(text[start:end]):
        return False
    if _MARKER.match(lines[1]):
        return True
    first_word = lines[1].split(maxsplit=1)[0]
    room = max(map(len, lines)) - _TITLE_ROOM
    return (
        first_word[0].isupper()
        and len(lines[0]) + 1 + len(first_word) <= room
        and _SENTENCE_END.search(lines[-1]) is not None
    )


def _is_title(text: str, start: int, end: int, below: tuple[int, int]) -> bool:
    """Whether a run of lines is one that stands above a paragraph of sentences, or a list."""
    line, body = text[start:end].strip(), text[slice(*below)]
    if "\n" not in line and _MARKER.match(body) and _names_release(line):
        return True
    if "\n" in line or not _may_be_title(line):
        return False
    is_prose = len(body) > _MAX_TITLE_CHARACTERS and _SENTENCE_END.search(body.rstrip()) is not None
    return (is_prose or _MARKER.match(body) is not None) and not line_ends(body)


def _names_release(line: str) -> bool:
    """Whether a line is short, and names a release of a program, with its day or without."""
    return len(line) <= _MAX_TITLE_CHARACTERS and _RELEASE.fullmatch(line) is not None


def _may_be_title(line: str) -> bool:
    """Whether a line is short, begins with a capital letter, and is no sentence, label, item or figure."""
    return (
        len(line) <= _MAX_TITLE_CHARACTERS
        and line[:1].isupper()
        and line[-1] not in ".,;:!?"
        and sum(map(str.isdigit, line)) <= max(_MAX_TITLE_DIGITS, _MAX_DIGIT_SHARE * len(line))
        and not _MARKER.match(line)
        and not LABEL.match(f"{line} ")
    )


def _releases(
    text: str, titled: Set[tuple[int, int]], runs: Sequence[tuple[int, int]]
) -> frozenset[tuple[int, int]]:
    """The runs that begin with the name of a release, if there are several and one is known to be a title."""
    named = {run for run in runs if _names_release(text[slice(*run)].split("\n", 1)[0].strip())}
    return frozenset(named) if len(named) >= _MIN_TITLES and named & titled else frozenset()


def _numbered_titles(text: str, runs: Sequence[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """The runs of lines that begin with a numbered title, as the items of minutes do: "3. Fees" above a text.

    They are so many as the titles must be, and in the order of their numbers. A line whose next word would
    have had no room is no title, but an item of a list.
    """
    found: dict[tuple[int, int], int] = {}
    width = max((len(line[0].rstrip()) for line in _LINE.finditer(text)), default=0)
    for run in runs:
        first, *below = [match[0].strip() for match in _LINE.finditer(text, *run)]
        numbered = _NUMBERED_TITLE.fullmatch(first)
        if numbered is None or not below or first[-1] in ".,;:!?" or LABEL.match(f"{first} "):
            continue
        has_room = len(first) + 1 + len(below[0].split(maxsplit=1)[0]) <= width - _TITLE_ROOM
        if has_room and not _NUMBERED_TITLE.match(below[0]) and len(first) <= _MAX_TITLE_CHARACTERS:
            found[run] = int(numbered["number"])
    numbers = list(found.values())
    is_in_order = all(first < second for first, second in pairwise(numbers))
    return frozenset(found) if len(found) >= _MIN_TITLES and is_in_order else frozenset()


def _question_end(text: str, lines: list[tuple[int, int]]) -> int | None:
    """Where the question ends that the first lines are; None if they are none, or an item follows."""
    for count, (_, end) in enumerate(lines[:_MAX_QUESTION_LINES], 1):
        if count < len(lines) and _MARKER.match(text, *lines[count]):
            return None
        if text[lines[0][0] : end].rstrip().endswith("?"):
            return end
    return None


def _is_in_capitals(title: str) -> bool:
    return title.isupper() and len(title) > _MIN_CAPITALS


def _is_underlined(text: str, lines: list[tuple[int, int]]) -> bool:
    """Whether the first of the lines is a title with a line below it that is about as long."""
    if len(lines) < 2 or not _UNDERLINE.fullmatch(text, *lines[1]):
        return False
    title, under = (text[slice(*line)].strip() for line in lines[:2])
    return 2 * len(under) >= len(title) and not title.endswith(".")
