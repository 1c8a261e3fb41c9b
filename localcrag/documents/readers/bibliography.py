"""Reader of bibliographies in BibTeX: each entry is a section with one row of its fields.

bibtexparser splits a file into blocks and the names of persons into parts. Its middlewares are not used: they
leave out entries whose key stands twice, and do not join what ``#`` joins. Nor is the decoder of pylatexenc,
which they call: version 2.11 leaves out the words of ``\\mbox{}`` and all that stands behind a ``%``, takes
two minutes for twenty times ``\\sqrt[``, and time in proportion to the square of a text. Its signs are used.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from localcrag.documents.block_text import BlockText
from localcrag.documents.encoding import charset_of, decode
from localcrag.documents.extracted import ExtractedText, Limits, clean, one_line
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.latex_words import LETTERS, words
from localcrag.documents.readers.plain_text import read_text
from localcrag.types import CELL_SEPARATOR, BlockKind

if TYPE_CHECKING:
    from bibtexparser.model import Block, Entry
    from pylatexenc.macrospec import LatexContextDb

_BLOCK_START = re.compile(r"^[ \t]*@\w*[ \t]*[{(]", re.MULTILINE)
"""How a block begins at which the one before ends, whether it is complete or not."""
_KEY = re.compile(r"@(\w*)\s*[{(]\s*([^\s,{}()=\"]{0,100})")
_COMMENT_MARK = re.compile(r"^[ \t]*%+[ \t]*", re.MULTILINE)
_BLANK_LINE = re.compile(r"\n\s*\n|\\par(?![A-Za-z])")
_MAX_CELL_CHARACTERS = 200
"""Characters of a field that stands in the row; a longer one, as an abstract, is a paragraph below it."""
_MAX_HEADING_CHARACTERS = 400
_MAX_NAME_CHARACTERS = 500
"""Characters of the name of a person; what is longer is no name."""
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_MONTH_OF = {
    said: month for number, month in enumerate(_MONTHS, 1) for said in (month[:3].lower(), f"{number}")
}
"""The months by the beginning of their names, which are macros of BibTeX, and by their numbers."""
_PERSONS = frozenset(
    (
        *("author", "editor", "editora", "editorb", "editorc", "bookauthor", "translator", "annotator"),
        *("commentator", "holder", "director", "afterword", "foreword", "introduction"),
    )
)
"""The fields that name persons, in BibTeX and in biblatex."""
_WITHOUT_MARKUP = frozenset({"doi", "url", "eprint", "file", "pdf", "urlraw", "adsurl", "link"})
"""The fields that are addresses, in which a tilde is a tilde."""
_LEFT_OUT = re.compile(r"bdsk-file-\d+")
"""The fields that hold no text: the aliases of files, encoded."""
_LABELS = {
    "archiveprefix": "Archive prefix",
    "booktitle": "Book title",
    "crossref": "Cross reference",
    "doi": "DOI",
    "eid": "EID",
    "howpublished": "How published",
    "isbn": "ISBN",
    "issn": "ISSN",
    "journaltitle": "Journal",
    "key": "Sorted by",
    "pmcid": "PMCID",
    "pmid": "PMID",
    "primaryclass": "Primary class",
    "shorttitle": "Short title",
    "type": "Kind",
    "url": "URL",
    "urldate": "Visited",
}
_MARK = re.compile(r"(?<!\\)[{}\"#]")
_MARKUP = re.compile(r"[\\{}$~_^]|--|``|''")
_ADDRESS = re.compile(r"https?://[^\s{}]+")
_HIDDEN = {"~": "\ue010", "-": "\ue011", "^": "\ue012", "$": "\ue013", "'": "\ue014"}
_HIDE = str.maketrans(_HIDDEN)
_SHOW = str.maketrans({hidden: sign for sign, hidden in _HIDDEN.items()})
_ESCAPED = re.compile(r"\\([^A-Za-z\s])")
_URL_COMMAND = re.compile(r"\\(?:url|path|href)(?![A-Za-z])\s*")
_TILDE = re.compile(r"\\(?:textasciitilde|sim)(?![A-Za-z])(?:\{\}|\s*)")
_SIGN = re.compile(r"\\([A-Za-z]{2,})(?:\{\}|[ \t]*\n?[ \t]*(?=\S)|)")
_OTHERS = "others"
"""The last of several names if more are meant."""


class _Cell(NamedTuple):
    """A field of an entry: the name of its column, and its value."""

    label: str
    text: str


def read_bibliography(data: bytes, limits: Limits, content_type: str) -> ExtractedText:
    """Read the entries of a bibliography; a file without any is read as plain text.

    Comments between the entries stand before the first; an entry that cannot be read stays as it is written.
    Raises UnreadableError: binary, or more text than ``limits.text``.
    """
    text = clean(decode(data, charset_of(content_type)))
    macros = _Macros(most=2 * len(text))
    entries: list[Entry | str] = []
    remarks: list[str] = []
    with _without_warnings():
        for part in _parts(text):
            _sort(part, macros, entries, remarks)
    if all(isinstance(entry, str) for entry in entries):
        return read_text(DocumentFormat.TEXT, data, limits, content_type)
    made = BlockText(limits)
    for remark in remarks:
        made.add(BlockKind.PARAGRAPH, _COMMENT_MARK.sub("", remark))
    for entry in entries:
        if isinstance(entry, str):
            named = _KEY.search(entry)
            made.add(BlockKind.HEADING, (named[2] or named[1]) if named else "", level=1)
            made.add(BlockKind.PARAGRAPH, entry)
        else:
            _add(made, entry, macros)
    return ExtractedText("", MEDIA_TYPES[DocumentFormat.BIBTEX], (made.page(),))


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Without the warnings of bibtexparser that a block cannot be read."""
    logger = logging.getLogger("bibtexparser")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


# ------------------------------------------------------------------ blocks


def _parts(text: str) -> Iterator[str]:
    """The text in parts, each with a block at most, or several that begin in one line."""
    starts = [found.start() for found in _BLOCK_START.finditer(text)]
    for start, end in pairwise([0, *starts, len(text)]):
        yield text[start:end]


def _sort(part: str, macros: _Macros, entries: list[Entry | str], remarks: list[str]) -> None:
    """Add the blocks of a part to those of the whole file; the text of one that cannot be read is whole."""
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.model import Entry, ImplicitComment, ParsingFailedBlock, String

    blocks = [_read_all_the_same(block) for block in parse_string(part, parse_stack=[]).blocks]
    if any(isinstance(block, ParsingFailedBlock) for block in blocks):
        entries.append(part.strip())
        return
    for block in blocks:
        if isinstance(block, String):
            macros.define(block.key, str(block.value))
        elif isinstance(block, Entry):
            entries.append(block)
        elif isinstance(block, ImplicitComment):
            remarks.append(block.comment)


def _read_all_the_same(block: Block) -> Block:
    """A block as it was read though its key, or that of one of its fields, stands twice."""
    from bibtexparser.model import DuplicateBlockKeyBlock, DuplicateFieldKeyBlock

    if isinstance(block, (DuplicateBlockKeyBlock, DuplicateFieldKeyBlock)):
        held = block.ignore_error_block
        return _read_all_the_same(held) if held is not None else block
    return block


class _Macros:
    """The macros of a file, by their names in lower case.

    ``most`` is how many characters they may add to it: one may stand for several others, and these as well.
    """

    def __init__(self, most: int) -> None:
        self._texts = {name: month for name, month in _MONTH_OF.items() if name.isalpha()}
        self._left = most

    def define(self, name: str, value: str) -> None:
        self._texts[name.lower()] = self.resolved(value)

    def resolved(self, value: str) -> str:
        """A value without what it is enclosed by, its parts joined."""
        return "".join(map(self._part, _joined_parts(value)))

    def _part(self, part: str) -> str:
        part = part.strip()
        if len(part) > 1 and part[0] + part[-1] in ("{}", '""'):
            return part[1:-1]
        text = self._texts.get(part.lower())
        if text is None or len(text) > self._left:
            return part
        self._left -= len(text)
        return text


def _joined_parts(value: str) -> Iterator[str]:
    """The parts of a value that ``#`` joins."""
    depth = start = 0
    is_quoted = False
    for mark in _MARK.finditer(value) if "#" in value else ():
        if mark[0] == '"':
            is_quoted ^= not depth
        elif mark[0] == "#":
            if not depth and not is_quoted:
                yield value[start : mark.start()]
                start = mark.end()
        else:
            depth = max(0, depth + (1 if mark[0] == "{" else -1))
    yield value[start:]


# ------------------------------------------------------------------ entries


def _add(made: BlockText, entry: Entry, macros: _Macros) -> None:
    """Append an entry: its title or key, a row of its fields, and the long ones as paragraphs.

    The row begins with the heading, as that of a contact does.
    """
    cells: list[_Cell] = []
    long: list[tuple[str, list[str]]] = []
    for field in entry.fields:
        key, value = field.key.lower(), macros.resolved(str(field.value))
        if _LEFT_OUT.fullmatch(key):
            continue
        label = _LABELS.get(key) or re.sub(r"[\s_-]+", " ", key).strip().capitalize()
        text = _told(key, value)
        if len(text) > _MAX_CELL_CHARACTERS and key != "title" and key not in _PERSONS:
            long.append((label, [_told(key, piece) for piece in _BLANK_LINE.split(value)]))
        else:
            cells.append(_Cell(label, text))
    cells = _ordered([*cells, _Cell("Type", entry.entry_type.lower()), _Cell("Key", one_line(entry.key))])
    if not cells:
        return
    made.add(BlockKind.HEADING, one_line(cells[0].text, _MAX_HEADING_CHARACTERS), level=1)
    made.add(BlockKind.ROW, CELL_SEPARATOR.join(f"{label}: {text}" for label, text in cells))
    for label, pieces in long:
        first, *others = filter(None, pieces)
        made.add(BlockKind.PARAGRAPH, f"{label}: {first}")
        for piece in others:
            made.add(BlockKind.PARAGRAPH, piece)


def _ordered(cells: Sequence[_Cell]) -> list[_Cell]:
    """The cells that are not empty, what the entry is called first: its title, or else its key."""
    filled = [cell for cell in cells if cell.text]
    leading = ("Title", "Author") if any(cell.label == "Title" for cell in filled) else ("Key", "Author")
    first = [next((cell for cell in filled if cell.label == label), None) for label in leading]
    kept = [cell for cell in first if cell is not None]
    return [*kept, *(cell for cell in filled if not any(cell is other for other in kept))]


def _told(key: str, value: str) -> str:
    """The value of a field as people write it, in one line."""
    if key in _PERSONS:
        return _persons(value)
    if key in _WITHOUT_MARKUP or key.startswith("bdsk-"):
        return _address(value)
    text = _words(value)
    return _month(text) if key == "month" else text


def _persons(value: str) -> str:
    """The names of persons, the given name first, with commas between them."""
    from bibtexparser.middlewares.names import split_multiple_persons_names

    names = [name.strip() for name in split_multiple_persons_names(value)]
    return ", ".join("et al." if name == _OTHERS else _person(name) for name in names if name)


def _person(name: str) -> str:
    from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts

    if "," not in name or len(name) > _MAX_NAME_CHARACTERS:
        return _words(name)
    try:
        return _words(parse_single_name_into_parts(name).merge_first_name_first)
    except InvalidNameError:
        return _words(name)


def _month(text: str) -> str:
    """A month in words, if it is a number or the beginning of its name."""
    named = _MONTH_OF.get(text.lower().rstrip("."))
    return named or _MONTH_OF.get(text.lstrip("0"), text)


# ------------------------------------------------------------------ words


def _address(value: str) -> str:
    """An address or the name of a file, without escapes and braces."""
    text = _ESCAPED.sub(r"\1", _TILDE.sub("~", _URL_COMMAND.sub("", value)))
    return " ".join(text.replace("{", "").replace("}", "").split())


def _words(value: str) -> str:
    """A value without markup, in one line; as it is written if all of it is markup, as ``\\aj``."""
    if not _MARKUP.search(value):
        return " ".join(value.split())
    hidden = _ADDRESS.sub(lambda address: address[0].translate(_HIDE), value)
    text = words(_SIGN.sub(_shown_sign, hidden), {}).translate(_SHOW)
    return text or " ".join(re.sub(r"[\\{}$]", "", value).split())


def _shown_sign(command: re.Match[str]) -> str:
    return _sign(command[1]) or command[0]


@lru_cache(maxsize=4096)
def _sign(name: str) -> str:
    """The sign that a command without an argument stands for, if :mod:`latex_words` does not know it."""
    if name in LETTERS:
        return ""
    shown = getattr(_signs().get_macro_spec(name), "simplify_repl", None)
    return shown if isinstance(shown, str) and len(shown) == 1 and not shown.isspace() else ""


@cache
def _signs() -> LatexContextDb:
    from pylatexenc.latex2text import get_default_latex_context_db

    signs: LatexContextDb = get_default_latex_context_db()
    return signs
