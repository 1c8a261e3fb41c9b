"""How mails are signed off, which is furniture: "Kind regards" above a name, or the name of the sender alone.

It says nothing that the header of the mail does not say. One that tells more, such as "Hilde Brandt,
treasurer" or a telephone number, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from typing import NamedTuple

from localcrag.types import Block, BlockKind, Page

_CLOSINGS = (
    # English
    r"(?:with |thanks and )?(?:(?:kind|best|warm)(?:est)? )?(?:personal )?regards",
    r"(?:with )?best(?: wishes)?|all the best|cheers|take care|love|see you(?: soon)?",
    r"(?:very )?(?:sincerely|faithfully|truly)(?: yours)?|yours(?: (?:sincerely|faithfully|truly))?",
    r"(?:many |with )?thanks(?: (?:a lot|again|in advance|so much))?|thank you(?: (?:in advance|so much))?",
    r"(?:warm |season's )?greetings|respectfully(?: yours)?",
    # German
    r"mit (?:freundlich|best|herzlich|lieb|kollegial|sonnig)e[nm] (?:gr(?:üß|üss)en|gru(?:ß|ss))",
    r"(?:(?:viele|liebe|beste|herzliche|schöne|freundliche) )?gr(?:üß|üss)e",
    r"(?:(?:lieben|herzlichen|besten|schönen|freundlichen) )?gru(?:ß|ss)|mfg|lg|vg|hochachtungsvoll",
    r"danke(?: schön)?|(?:vielen|besten|herzlichen) dank|bis bald|alles gute",
    # French
    r"(?:bien )?cordialement|bien à (?:vous|toi)|amicalement|amitiés|bonne journée|à bientôt",
    r"(?:(?:meilleures|sincères|cordiales) )?salutations(?: distinguées)?|merci(?: d['’]avance| beaucoup)?",
    # Spanish, Italian, Portuguese
    r"(?:un |muchos )?(?:(?:cordial|atento) )?saludos?(?: cordial(?:es)?)?|atentamente|un abrazo",
    r"(?:muchas )?gracias|hasta pronto|(?:cordiali |distinti |tanti )?saluti|un (?:caro |cordiale )?saluto",
    r"grazie(?: mille)?|a presto|(?:com os (?:melhores|meus) )?cumprimentos|abraços?|obrigad[oa]",
    r"atenciosamente",
    # Dutch, Swedish, Norwegian, Danish, Polish
    r"(?:met )?(?:vriendelijke |hartelijke )?groet(?:en|jes)?|mvg|mvh|hälsningar|hilsen",
    r"(?:med )?(?:vänliga?|bästa) hälsning(?:ar)?|(?:med )?(?:vennlige?|venlige?|beste) hilsen(?:er)?",
    r"pozdrawiam|z poważaniem",
)
_CLOSING = re.compile(
    rf"(?:{'|'.join(_CLOSINGS)})(?: (?:from|aus|de|från|fra) [^\W\d_]+)?(?P<mark> ?[,.!–-]*)(?!\w)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")
_PARTICLES = frozenset(
    {"van", "von", "de", "der", "den", "da", "del", "della", "di", "la", "le", "bin", "zu"}
)
_AROUND = " \t-–—~/*,."
"""What may stand around a name that signs a mail: "- Ann", "/Ann"."""
_MAX_NAME_WORDS, _MAX_LINES, _MAX_CHARACTERS = 4, 4, 120
"""The most words of a name, and lines and characters of a sign-off or of what may follow it."""
_SENDER_LINE = re.compile(
    r"^\W*(?:From|Von|De|Da|Van|Från|Fra|Od): (.*?)(?:$| (?:Sent|Gesendet|To|An|Date): )", re.M
)
"""The sender in the header of an earlier mail."""


class _Closing(NamedTuple):
    """The name below or behind a closing, "" without one, and whether it is told apart from the closing."""

    name: str
    is_apart: bool


def marked_sign_offs(page: Page, sender: str) -> Page:
    """The page of the text of a mail, with its sign-offs as furniture.

    A closing with the sender's name, or that alone, is one wherever it stands. A mere closing, or one with
    another name, is one at the end of a mail, with one short paragraph below it at most.

    Args:
        page: the text in blocks; the headings are those of earlier mails, and name their senders.
        sender: the header of the mail with the sender's name.
    """
    blocks = list(page.blocks)
    names = _names(sender)
    is_closed = False
    for at, block in enumerate(blocks):
        text = page.text[block.start : block.end]
        if block.kind is BlockKind.HEADING:
            line = _SENDER_LINE.search(text)
            names = _names(line[1] if line else text)
        is_signed = block.kind is BlockKind.PARAGRAPH and _is_sign_off(
            text, names, is_closed=is_closed, is_last=_is_last(page, at)
        )
        is_closed = is_signed and _closing(text) == _Closing("", True)
        if is_signed:
            blocks[at] = replace(block, kind=BlockKind.FURNITURE)
    return replace(page, blocks=tuple(blocks))


def _is_sign_off(text: str, names: Set[str], *, is_closed: bool, is_last: bool) -> bool:
    """Whether a paragraph signs a mail off; ``is_closed`` if a mere closing stands above it."""
    if len(text) > _MAX_CHARACTERS or text.count("\n") >= _MAX_LINES:
        return False
    closing = _closing(text)
    if closing is None:
        return _is_of(text, names) or (is_closed and is_last and _is_name(text))
    is_other = not closing.name or (closing.is_apart and _is_name(closing.name))
    return _is_of(closing.name, names) or (is_last and is_other)


def _closing(text: str) -> _Closing | None:
    """The closing that a text begins with, if no more than a name may stand behind or below it."""
    first, _, rest = text.partition("\n")
    found = _CLOSING.match(first)
    if found is None:
        return None
    behind = first[found.end() :]
    if behind and (rest or not behind[0].isspace()):
        return None
    is_apart = not behind or bool(found["mark"].strip()) or " " in found[0].strip()
    return _Closing((rest or behind).strip(), is_apart)


def _is_of(text: str, names: Set[str]) -> bool:
    """Whether a text is the sender's name or a part of it, with an initial perhaps: "A. Lovelace"."""
    words = [word.casefold() for word in _WORD.findall(text)]
    if not 0 < len(words) <= _MAX_NAME_WORDS or "," in text.strip(_AROUND) or any(map(str.isdigit, text)):
        return False
    initials = {name[0] for name in names}
    return any(word in names for word in words) and all(word in names or word in initials for word in words)


def _is_name(text: str) -> bool:
    """Whether a text of one line may be the name of a person."""
    words = text.strip(_AROUND).split(" ")
    return (
        len(words) <= _MAX_NAME_WORDS
        and words[0][:1].isupper()
        and all(word[:1].isupper() or word in _PARTICLES for word in words)
        and all(sign.isalpha() or sign in " .'’-" for sign in text.strip(_AROUND))
    )


def _names(sender: str) -> frozenset[str]:
    """The words of a sender's name and of the first part of the address."""
    return frozenset(word.casefold() for word in _WORD.findall(sender.split("@")[0]))


def _is_last(page: Page, at: int) -> bool:
    """Whether one short paragraph follows a block at most, before the signature or an earlier mail."""
    below: list[Block] = []
    for block in page.blocks[at + 1 : at + 3]:
        if block.kind in (BlockKind.HEADING, BlockKind.FURNITURE):
            break
        below.append(block)
    short = all(
        block.kind is BlockKind.PARAGRAPH and block.end - block.start <= _MAX_CHARACTERS for block in below
    )
    return len(below) <= 1 and short
