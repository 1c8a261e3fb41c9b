"""What a place in a letter says: who sends it, to whom it goes, its date, and who signed.

A letter or an invoice names these without a label: the letterhead is its first line, the address is a block
of lines with a house number, the date stands alone, and the name below the closing words is that of the
writer. What is not clearly at such a place has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto

from localcrag.crag.structured_answers.field_wording import FieldWording
from localcrag.crag.structured_answers.form_vocabulary import asks_document_date
from localcrag.crag.structured_answers.value_spans import ValueSpan, dates
from localcrag.types import CELL_SEPARATOR, Strip


class LetterPlace(Enum):
    """A place of a letter that says what stands there."""

    SENDER = auto()
    RECIPIENT = auto()
    DATE = auto()
    SALUTATION = auto()
    SIGNER = auto()


_RECIPIENTS = frozenset({"recipient", "addressee", "addressed", "customer", "client", "buyer", "billed"})
_ASKED_BY = {
    LetterPlace.SENDER: frozenset({"sender", "sends", "supplier", "seller", "vendor", "issuer"}),
    LetterPlace.RECIPIENT: _RECIPIENTS,
    LetterPlace.SALUTATION: _RECIPIENTS,
    LetterPlace.SIGNER: frozenset({"signed", "signs", "signatory", "signature"}),
}
MAX_HEAD_PIECES = 6
"""The pieces of a document that its letterhead, its address and its date stand in."""
MAX_LINE_CHARACTERS = 60
MAX_SIGNER_WORDS = 4
"""The words of the name of a person with a title; more are a name and something else in one line."""
_NAME_LINE = re.compile(r"[^\W\d_a-z][^\d:;!?\n]*")
_KIND = re.compile(
    r"\b(?:invoice|bill|receipt|letter|offer|quotation|statement|reminder|order|report|minutes|notice|note|form"
    r"|certificate|contract|agenda|memo|subject|dear|rechnung)\b",
    re.IGNORECASE,
)
"""Words that say what a document is: a line with one of them is no name."""
_NUMBERED = re.compile(r"\b\d{1,5}[a-z]?\b")
_CLOSING = re.compile(
    r"(?:yours? (?:sincerely|faithfully|truly)|sincerely(?: yours)?|best wishes"
    r"|(?:(?:with )?(?:kind|best|warm) )?regards),?",
    re.IGNORECASE,
)
_SALUTATION = re.compile(r"Dear ((?!Sir|Madam|All|Team|Colleague|Customer|Member|Friend)[^,\n]+),\s*")
_BEFORE_DATE = re.compile(r"(?:[^\W\d_a-z][\w'’-]*+ ?){1,4}, *(?:(?:on|the) )?")


def place_of(strip: Strip, span: ValueSpan, pieces: Sequence[Strip]) -> LetterPlace | None:
    """The place of a letter that a value in a piece stands at; None if it is at none of them.

    Args:
        strip: the piece, one of ``pieces``.
        span: the value in its text.
        pieces: all pieces of the evidence, in order.
    """
    own = [piece for piece in pieces if piece.passage.document == strip.passage.document]
    at = own.index(strip)
    if CELL_SEPARATOR in strip.text:
        return None
    line_start = strip.text.rfind("\n", 0, span.start) + 1
    line = strip.text[line_start:].split("\n")[0]
    if (saluted := _SALUTATION.fullmatch(line)) and saluted[1] == span.value:
        return LetterPlace.SALUTATION
    if at < MAX_HEAD_PIECES and _is_date_line(strip.text, span):
        return LetterPlace.DATE
    if span.start != line_start or len(line) > MAX_LINE_CHARACTERS or len(str(span.value)) < 3:
        return None
    before = (
        (own[at - 1].text if at and not line_start else strip.text[:line_start]).rstrip().rpartition("\n")[2]
    )
    if _CLOSING.fullmatch(before):
        return LetterPlace.SIGNER if len(str(span.value).split()) <= MAX_SIGNER_WORDS else None
    if line_start or not _is_name(line, span):
        return None
    if at == 0:
        return LetterPlace.SENDER if _is_letterhead(own) else None
    blocks = [piece for piece in own[1:MAX_HEAD_PIECES] if _is_address(piece.text)]
    return LetterPlace.RECIPIENT if blocks == [strip] else None


def asks_for(asked: FieldWording, place: LetterPlace) -> bool:
    """Whether a field asks for what stands at a place."""
    if place is LetterPlace.DATE:
        return asks_document_date(asked)
    return bool(_ASKED_BY[place] & asked.words)


def _is_name(line: str, span: ValueSpan) -> bool:
    """Whether a value is all of a line, up to a comma, and no word of it says what the document is."""
    bare = line.strip().partition(",")[0]
    return str(span.value) == bare and bool(_NAME_LINE.fullmatch(bare)) and not _KIND.search(bare)


def _is_date_line(text: str, span: ValueSpan) -> bool:
    """Whether a day is all of a piece, maybe behind the name of a town."""
    before, behind = text[: span.start].strip(), text[span.end :].strip(" .")
    is_day = any((found.start, found.end) == (span.start, span.end) for found in dates(text))
    return is_day and not behind and (not before or _BEFORE_DATE.fullmatch(f"{before} ") is not None)


def _is_letterhead(own: Sequence[Strip]) -> bool:
    """Whether the first line of a document is that of a sender.

    The line below it is an address or says what the document is, or it stands again below.
    """
    name, _, rest = own[0].text.partition("\n")
    below = rest.partition("\n")[0] or (own[1].text.partition("\n")[0] if len(own) > 1 else "")
    if len(below) <= MAX_LINE_CHARACTERS and (_KIND.search(below) or (rest and _NUMBERED.search(below))):
        return True
    return any(name.strip() in piece.text for piece in own[1:])


def _is_address(text: str) -> bool:
    """Whether a piece is a block of short lines: a name, and below it a street or a town with a number."""
    lines = text.split("\n")
    if not 2 <= len(lines) <= 6 or any(len(line) > MAX_LINE_CHARACTERS or ":" in line for line in lines):
        return False
    return bool(_NAME_LINE.fullmatch(lines[0])) and any(map(_NUMBERED.search, lines[1:]))
