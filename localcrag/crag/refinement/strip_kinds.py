"""The kind of text that a strip is: a row of a table, code, a question, a mere name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.questions.query_terms import ASKING_WORDS, OPENING_WORDS, terms
from localcrag.types import CELL_SEPARATOR, UNNAMED_COLUMN, Block, BlockKind, Passage, Strip

QUESTION_MARKS = ("?", "？", "؟")
"""How a question ends."""
_SENTENCE_ENDS = (*QUESTION_MARKS, ".", "!", ":", "…", "。", "！", "：")
_CLOSING_QUOTES = "\"'”’»)]"
_MAIL_HEADER = re.compile(r"From: .* · (?:Date|Subject): ", re.DOTALL)
_ABOUT_MAIL = re.compile(
    r"\b(?:e-?mails?|messages?|letters?|who|whom|whose|sen[dt]|sender|wr[oi]te|written|dated|subject|cc"
    r"|address(?:es)?|answer\w*|forward\w*|receiv\w*|repl(?:y|ie[ds])|respon\w+"
    r"|wer|wem|wen|nachricht\w*|geschrieben|schrieb|gesendet|absender|betreff|adress\w*)\b",
    re.IGNORECASE,
)
"""What a question says that the header of a mail may answer."""
_MEASURES = (
    "many|much|long|often|old|far|big|large|high|tall|wide|deep|hot|heavy|fast|late|early|soon|expensive"
    "|viele?|lange?|oft|alt|weit|groß|hoch|breit|tief|heiß|schwer|schnell|spät|teuer|heißt"
)
_REASON_OR_WAY = re.compile(
    rf"\bwhy\b|\bwhat happens\b|\b(?:how|wie)\b(?! (?:{_MEASURES})\b)"
    r"|\b(?:warum|wieso|weshalb|weswegen|pourquoi|por qué|cómo)\b|^comment\b",
    re.IGNORECASE,
)
"""How a question asks for a reason or a way, which no field of a document tells."""
_FIELD_ASKED = re.compile(
    r"\b(?:who|whom|whose|when|where|wer|wem|wen|wann|wo|qui|quand|quién|cuándo)\b"
    rf"|\b(?:how|wie) (?:{_MEASURES})\b",
    re.IGNORECASE,
)
"""How a question asks for a person, a time, a place or a number."""
_SALUTATION = re.compile(
    r"(?:(?:Dear|Sehr geehrte[rs]?|Liebe[rs]?|Chère?s?|Estimad[oa]s?)(?: [^\s,!?:;]+){1,6}[,!]?"
    r"|(?:Hello|Hi|Hallo|Guten (?:Tag|Morgen)|Bonjour|Hola)(?: [^\s,!?:;]+){0,4}[,!])(?<!\w\w\w[.])"
)
"""The first line of a letter or a mail: "Dear Dr. Lund,"."""
_NO_LETTERS = re.compile(r"[\W_]+")
_ASKED_IN_CHAT = re.compile(rf": (?:{'|'.join(sorted(OPENING_WORDS - ASKING_WORDS | {'who'}))}) [^.!?]*$")
"""The end of a line of a chat that asks something, without a question mark."""
_UNNAMED = re.compile(UNNAMED_COLUMN.format(number="[0-9]+"))
_CELL_BREAK = re.compile(rf"{re.escape(CELL_SEPARATOR)}|\n")
"""What stands between the cells of a row, or between the fields of a record."""
_ANNOUNCED = re.compile(
    r"(?:In )?(?:(?:this|the (?:following|next|present)) (?:\w+ )?(?:section|chapter|page|guide|document"
    r"|manual|appendix|article|part|tutorial)s? (?:also )?(?:shows?|describes?|explains?|discuss(?:es)?"
    r"|covers?|gives?|lists?|provides?|documents?|outlines?|presents?|introduces?|deals with|we)\b"
    r"|(?:dieser|dieses|der folgende|der nächste|das folgende|das nächste) (?:Abschnitt|Teil|Kapitel"
    r"|Dokument) (?:zeigt|beschreibt|erklärt|erläutert|behandelt)\b"
    r"|(?:cette (?:section|page|partie)|ce (?:chapitre|document|guide))"
    r" (?:montre|décrit|explique|présente)\b)",
    re.IGNORECASE,
)
"""How a sentence begins that says what is to come, and nothing of it."""
_TOLD_ELSEWHERE = re.compile(
    r"[^:;]*\b(?:(?:is|are) (?:\w+ly )?(?:described|explained|documented|discussed|covered|detailed|given)"
    r"(?: (?:further|later|earlier|separately|elsewhere|in (?:more )?detail))*"
    r" in (?:this|the|that|an?|our|its|your)? ?(?:\w+ ){0,2}"
    r"(?:section|chapter|appendix|page|manual|guide|document)s?\b[^.!?:;]*"
    r"|(?:wird|werden) [^.!?:;]*\b(?:Abschnitt|Kapitel|Anhang|Handbuch)\b[^.!?:;]*"
    r"(?:beschrieben|erklärt|erläutert|behandelt))\W*",
    re.IGNORECASE,
)
"""A sentence that says no more than where something is told: "It is described in the section called …"."""
_ABOUT_DOCUMENT = re.compile(
    r"\b(?:where|section|chapter|page|guide|document|manual|appendix|article|tutorial|part|cover(?:s|ed)?|about"
    r"|wo|Abschnitt|Kapitel|Dokument|Handbuch|Seite|où|chapitre|guide|partie)\b",
    re.IGNORECASE,
)
"""What a question says that asks about a document itself."""
_CONTENTS_LINE = re.compile(r".*\S ?(?:…|\.{3,}|(?:\. ){3,}) ?(\d{1,4})", re.DOTALL)
"""A line of a table of contents, which ends in the number of a page."""
MIN_CONTENTS_LINES = 3
"""How many of them, in the order of their pages, make a table of contents."""
_COMMAND_LINE = re.compile(
    r"(?:[#$%>] )?[a-z][\w.+/-]*(?: [^\s.,]+){0,4}? (?:--?[A-Za-z]|/\w)[^\n]*(?<![.:!?])"
)
"""A command with an option or a path, which is no sentence."""
OPTION = re.compile(r"(?<![\w<-])--?[A-Za-z][\w-]*")
"""An option of a command: "--stop", "-v"."""
_GIVEN_VALUE = re.compile(r"[=:]\s*\S")
"""How code gives something a value: "port = 80"."""
_UNSPOKEN = frozenset({BlockKind.ROW, BlockKind.CODE})


def is_row(strip: Strip) -> bool:
    """Whether a strip is a row of a table."""
    return any(
        block.kind is BlockKind.ROW and (block.start, block.end) == (strip.start, strip.end)
        for block in strip.passage.blocks
    )


def is_code(strip: Strip) -> bool:
    """Whether a strip is code, or a setting of a file of settings."""
    return any(
        block.kind is BlockKind.CODE and block.start <= strip.start < block.end
        for block in strip.passage.blocks
    )


def is_command(strip: Strip) -> bool:
    """Whether a strip is code, or a line that is a command with options: "mdadm --stop /dev/md0"."""
    return is_code(strip) or _COMMAND_LINE.fullmatch(strip.text.strip()) is not None


def names_option(strip: Strip) -> bool:
    """Whether a strip has an option of a command: "--stop", "-v"."""
    return OPTION.search(strip.text) is not None


def cells_of(row: Strip) -> list[str]:
    """The cells of a row of a table, or the fields of a record, each with the name of its column."""
    return cells_in(row.text)


def cells_in(row: str) -> list[str]:
    """The cells of the text of a row."""
    return _CELL_BREAK.split(row)


def named_cell(cell: str) -> tuple[str, str]:
    """A cell as it stands in a row, as the name of its column, "" if it has none, and its value."""
    column, mark, value = cell.partition(": ")
    return (column, value) if mark else ("", cell)


def is_unnamed(column: str) -> bool:
    """Whether a column is called by its number, for lack of a name."""
    return _UNNAMED.fullmatch(column) is not None


def blocks_within(strip: Strip) -> list[Block]:
    """The blocks of its passage that a strip is of, also in part."""
    return [b for b in strip.passage.blocks if b.start < strip.end and strip.start < b.end]


def column_names(row: Strip) -> tuple[str, ...]:
    """The names of the columns of a row, "" of one without."""
    return tuple(named_cell(cell)[0] for cell in cells_of(row))


def first_cell(row: Strip) -> tuple[str, str]:
    """The first cell of a row, by which it is mostly named: the name of its column, and its value."""
    return named_cell(cells_of(row)[0])


def begin_alike(row: Strip, other: Strip) -> bool:
    """Whether two rows have the same value in their first cells, in whatever case."""
    return first_cell(row)[1].casefold() == first_cell(other)[1].casefold()


def is_mail_header(strip: Strip) -> bool:
    """Whether a strip is the row that a mail begins with: from whom, to whom, when, about what."""
    return _MAIL_HEADER.match(strip.text) is not None and is_row(strip)


def front_matter_fields(strip: Strip) -> list[str]:
    """The names of the fields in the row that a document begins with; none if a strip is no such row.

    They are those of the document itself: "status: on hold · owner: Pavel".
    """
    if strip.start or not is_row(strip) or not strip.passage.meta:
        return []
    known = {_NO_LETTERS.sub("_", name) for name in strip.passage.meta} | {"title"}
    fields = [cell.partition(": ")[0] for cell in strip.text.split(CELL_SEPARATOR) if ": " in cell]
    found = [name for name in fields if _NO_LETTERS.sub("_", name.casefold()).strip("_") in known]
    return fields if 2 * len(found) > len(fields) else []


def ends_as_question(text: str) -> bool:
    """Whether a text ends in a question mark that is none of an address, quotation marks aside."""
    bare = text.rstrip().rstrip(_CLOSING_QUOTES)
    return bare.endswith(QUESTION_MARKS) and "://" not in bare.rpartition(" ")[2]


def ends_as_sentence(text: str) -> bool:
    """Whether a text ends as a sentence does, or with a colon, quotation marks aside."""
    return text.rstrip().rstrip(_CLOSING_QUOTES).endswith(_SENTENCE_ENDS)


def says_anything(strip: Strip) -> bool:
    """Whether a strip has a letter or a digit, and is not what is drawn around a text."""
    return any(map(str.isalnum, strip.text))


def says_more(strip: Strip, question: str) -> bool:
    """Whether a strip says anything, and more than the question does.

    A mere name that has only its words does not, nor a message of a program that it quotes, nor one who asks
    the same in a chat, nor the salutation or the header of a mail, unless the question is about the mail, nor
    front matter, unless the question is about its fields, nor a line of a table of contents, nor what a
    section announces, "This section shows how …", or where something else is told, "This is described in
    chapter 3", unless the question is about the document.
    """
    if not says_anything(strip) or is_contents_line(strip):
        return False
    if _is_about_text(" ".join(strip.text.split())) and not _ABOUT_DOCUMENT.search(question):
        return False
    if is_mail_header(strip) or _SALUTATION.fullmatch(" ".join(strip.text.split())):
        return _ABOUT_MAIL.search(question) is not None
    if fields := front_matter_fields(strip):
        return _asks_for_fields(question, strip, fields)
    words = terms(strip.text)
    if _ASKED_IN_CHAT.search(strip.text) and terms(question) <= words:
        return False
    if is_row(strip) or not words or not words <= terms(question):
        return True
    if is_code(strip):
        return _GIVEN_VALUE.search(strip.text) is not None
    return ends_as_sentence(strip.text)


def _is_about_text(sentence: str) -> bool:
    """Whether a sentence says no more than what a text tells, or where it is told."""
    return bool(_ANNOUNCED.match(sentence) or _TOLD_ELSEWHERE.fullmatch(sentence))


def _asks_for_fields(question: str, strip: Strip, fields: Sequence[str]) -> bool:
    """Whether a question is about the fields of a document, which a row of front matter tells.

    It names one of them, or a value other than the title, or asks for a person, a time, a place or a number.
    A reason or a way is told by none of them.
    """
    asked = terms(question)
    if not asked.isdisjoint(terms(" ".join(fields))):
        return True
    if _REASON_OR_WAY.search(question):
        return False
    titles = (cell for cell in strip.text.split(CELL_SEPARATOR) if cell.startswith("title: "))
    other = asked - terms(" ".join((strip.passage.title, *titles)))
    return _FIELD_ASKED.search(question) is not None or not other.isdisjoint(terms(strip.text))


def is_contents_line(strip: Strip) -> bool:
    """Whether a strip is a line of a table of contents: it ends in leaders and a page, as others by it do."""
    if _CONTENTS_LINE.fullmatch(strip.text) is None:
        return False
    texts = (strip.passage.text_between(block.start, block.end) for block in strip.passage.blocks)
    pages = [int(found[1]) for text in texts if (found := _CONTENTS_LINE.fullmatch(text.strip()))]
    return len(pages) >= MIN_CONTENTS_LINES and pages == sorted(pages)


def prose_of(passage: Passage) -> str:
    """The text of a passage without rows of tables and code, whose names and values are of no language."""
    if not passage.blocks:
        return passage.text
    spoken = (block for block in passage.blocks if block.kind not in _UNSPOKEN)
    return "\n".join(passage.text_between(block.start, block.end) for block in spoken)
