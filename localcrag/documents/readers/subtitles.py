"""Reader of subtitles in SRT, WebVTT and SubStation Alpha: what is said, in pages of about a minute.

pysubs2 reads the cues. Their lines are joined to paragraphs, without numbers, times and markup. The number of
a page is the minute in which it begins, from 1, so that a citation shows where in the film it stands.
"""

from __future__ import annotations

import html
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile
from typing import TYPE_CHECKING, NamedTuple

from localcrag.documents.block_text import BlockText
from localcrag.documents.encoding import decode
from localcrag.documents.extracted import ExtractedText, Limits, clean, one_line
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.plain_text import read_text
from localcrag.types import BlockKind

if TYPE_CHECKING:
    from pysubs2 import SSAEvent

_PAUSE = 2_000
"""Milliseconds without a cue that end a paragraph."""
_MINUTE = 60_000
"""Milliseconds after which the next paragraph begins a page, and a paragraph ends with its cue."""
_MIN_CHARACTERS, _MAX_CHARACTERS = 120, 4_000
"""The fewest characters of a paragraph that ends with its sentence, and the most that it may have."""
_MAX_SCROLLED = 8
"""Lines that may be shown again at the top of the next cue."""
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")
_CLOSERS = "\"'”’»)]♪ "
_SUBSTATION = re.compile(r"^[ \t]*\[(?:Script Info|V4(?P<plus>\+)? Styles)\]", re.MULTILINE | re.IGNORECASE)
_TITLE = re.compile(r"^[ \t]*Title:[ \t]*(\S.*)$", re.MULTILINE)
_DIALOGUE = re.compile(r"^[ \t]*(Dialogue:[^,\n]*(?:,[ \t]*-?\d\d?:\d\d:\d\d[^,\n]*){2},.*)$", re.MULTILINE)
"""A line of what is said, with both of its times. Styles and fonts are not looked at."""
_NO_NAMES = frozenset({"NTP", "Default"})
"""What programs write where no speaker is named."""
_NO_TITLES = frozenset({"Default Aegisub file", "<untitled>", "Untitled"})
_BLANK_LINES = re.compile(r"\n{3,}")
_REMARK = re.compile(r"(?<=\n\n)(?:NOTE|STYLE|REGION)(?!\S)[^\n]*(?:\n(?![^\n]*-->)[^\n]+)*")
"""A note, style or region of WebVTT, up to the next blank line."""
_CUE_NAME = re.compile(r"\n\n(?:(?![^\n]*-->)[^\n]+\n)?(?=[^\n]*-->)")
"""What stands before the times of a cue of WebVTT: a blank line, and perhaps the name of the cue."""
_INNER_TIME = re.compile(r"<\d[\d:.]*>")
"""When a word is said. Two of them in a line would be taken for the times of a cue."""
_OVERRIDE = re.compile(r"\{[^{}]*\}")
_DRAWING = re.compile(r"\{[^{}]*\\p[1-9]")
_LINE_END = re.compile(r"\\[Nn]|\n")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?[ \t]+([^<>]+)>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_TURN = re.compile(r"(?:[-‐–—]|>>+)[ \t]*[\"'“‘¿¡(\[♪]?[^\W\d_]|[-–—][ \t]+\S")
"""How the line of another speaker begins: with a dash, or with two angle brackets."""


class _Line(NamedTuple):
    """What is said from ``start`` to ``end``, in milliseconds; ``is_turn`` if another speaker begins it."""

    start: int
    end: int
    speaker: str
    text: str
    is_turn: bool


def read_subtitles(data: bytes, limits: Limits) -> ExtractedText:
    """Read what is said, in paragraphs; a file without cues is read as plain text.

    A paragraph ends with a sentence, before a pause, or where another speaker begins. Raises UnreadableError:
    binary, or more text than ``limits.text``.
    """
    text = clean(decode(data))
    title, cues = _cues(text)
    lines = _lines(cues)
    if not lines:
        return read_text(DocumentFormat.TEXT, data, limits)
    pages: dict[int, BlockText] = {}
    begun = -_MINUTE
    for said in _paragraphs(lines):
        if not pages or said.start - begun >= _MINUTE:
            begun = said.start
        made = pages.setdefault(max(0, begun) // _MINUTE + 1, BlockText(limits))
        made.add(BlockKind.PARAGRAPH, f"{said.speaker}: {said.text}" if said.speaker else said.text)
    found = tuple(made.page(minute) for minute, made in pages.items())
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.SUBTITLES], found)


def _cues(text: str) -> tuple[str, list[SSAEvent]]:
    """The title of a file and its cues, those that begin first before others; none if it has none."""
    import pysubs2

    title = ""
    if _SUBSTATION.search(text):
        named = _TITLE.search(text)
        title = one_line(named[1]) if named and named[1].strip() not in _NO_TITLES else ""
        text, format_ = "\n".join(_DIALOGUE.findall(text)), "ass" if _is_newer(text) else "ssa"
    else:
        format_ = "srt"
        if text.lstrip().startswith("WEBVTT"):
            text, format_ = _CUE_NAME.sub("\n\n0\n", _REMARK.sub("", text)), "vtt"
        text = _BLANK_LINES.sub("\n\n", _INNER_TIME.sub("", text)).rstrip()
        text += "\n\n0\n"  # the last number is taken for that of another cue
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of layers and margins, which say nothing
            events = pysubs2.SSAFile.from_string(text, format_, keep_html_tags=True).events
    except (ValueError, pysubs2.Pysubs2Error):  # a field that is none
        return "", []
    return title, sorted(events, key=lambda event: event.start)


def _is_newer(text: str) -> bool:
    """Whether a file is in ASS, and not in SSA, by the name of its styles."""
    named = [found["plus"] for found in _SUBSTATION.finditer(text) if "style" in found[0].lower()]
    return not named or named[0] is not None


def _lines(cues: Iterable[SSAEvent]) -> list[_Line]:
    """The lines of all cues, each once: automatic captions scroll, and show a line again below the next."""
    lines: list[_Line] = []
    before: Sequence[_Line] = ()
    for cue in cues:
        shown = [*_lines_of(cue)]
        if shown:
            is_next = bool(before) and cue.start - before[-1].end < _PAUSE
            lines += _not_shown(before, shown) if is_next else shown
            before = shown
    return lines


def _lines_of(cue: SSAEvent) -> Iterator[_Line]:
    """The lines of a cue that have words, without markup."""
    if _DRAWING.search(cue.text):
        return
    text = _OVERRIDE.sub("", cue.text).replace(r"\h", " ")
    named = " ".join(cue.name.split())
    first, *voices = _VOICE.split(text)
    speakers = ["" if named in _NO_NAMES else named, *voices[::2]]
    for speaker, said in zip(speakers, [first, *voices[1::2]], strict=True):
        for line in _LINE_END.split(said):
            words = " ".join(html.unescape(_TAG.sub("", line)).split())
            if any(map(str.isalnum, words)):
                spoken_by, is_turn = " ".join(html.unescape(speaker).split()), _TURN.match(words) is not None
                yield _Line(cue.start, cue.end, spoken_by, words.lstrip("> "), is_turn)


def _not_shown(before: Sequence[_Line], lines: Sequence[_Line]) -> Sequence[_Line]:
    """The lines of a cue without those at its beginning that ended the cue before it.

    A line that only goes on, word by word, is left with its further words.
    """
    old, new = [line.text for line in before], [line.text for line in lines]
    whole, shown = " ".join(old), " ".join(new)
    if f"{shown} ".startswith(f"{whole} "):
        left = len(whole)
        for at, line in enumerate(lines):
            if left < len(line.text):
                return [
                    line._replace(text=line.text[left:].lstrip(), is_turn=line.is_turn and not left),
                    *lines[at + 1 :],
                ]
            left = max(0, left - len(line.text) - 1)
        return ()
    counts = range(min(len(old), len(new), _MAX_SCROLLED), 0, -1)
    return lines[next(dropwhile(lambda count: old[-count:] != new[:count], counts), 0) :]


def _paragraphs(lines: Iterable[_Line]) -> Iterator[_Line]:
    """The lines, joined to paragraphs."""
    said: _Line | None = None
    for line in lines:
        if said is not None and _goes_on(said, line):
            said = said._replace(end=max(said.end, line.end), text=f"{said.text} {line.text}")
        else:
            if said is not None:
                yield said
            said = line
    if said is not None:
        yield said


def _goes_on(said: _Line, line: _Line) -> bool:
    """Whether a line belongs to the paragraph before it."""
    if line.is_turn or line.speaker != said.speaker or line.start - said.end >= _PAUSE:
        return False
    if line.start - said.start >= _MINUTE or len(said.text) >= _MAX_CHARACTERS:
        return False
    return len(said.text) < _MIN_CHARACTERS or not _ends_sentence(said.text)


def _ends_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does; one that trails off goes on."""
    end = text.rstrip(_CLOSERS)
    return end.endswith(_SENTENCE_ENDS) and not end.endswith("..")
