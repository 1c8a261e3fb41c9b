"""Documents, the passages they are split into, and the contents of a knowledge base."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from localcrag.types.enums import BlockKind, Origin

MetaValue = str | int | float | bool
"""The value that a user gives to a field of a document."""
FieldValue = MetaValue | tuple[str, ...]
"""The value of a field of a document: also several texts, such as tags. A date is text: "2024-06-01"."""
Meta = Mapping[str, FieldValue]
"""The fields of a document, by name; filters compare them."""
NO_META: Meta = MappingProxyType({})
"""The fields of a document that has none."""
JsonValue = str | int | float | bool | None | Sequence["JsonValue"] | Mapping[str, "JsonValue"]
"""A value that can be written as JSON."""


HEADING_SEPARATOR = " > "
"""What stands between the headings above a passage, the outermost first."""
CELL_SEPARATOR = " · "
"""What stands between the cells of a row of a table."""
HEADER_SEPARATOR = " / "
"""What stands between the lines of a header of several, in the name of a column: "Price / Staff"."""
UNNAMED_COLUMN = "column {number}"
"""What a column is called that has no name, by its number from 1."""
SENDER_FIELD = "from"
"""The field of a mail with the name and the address of its sender."""
_NUMBERED = frozenset({BlockKind.ROW, BlockKind.PARAGRAPH})
"""The kinds of block that have the number of their row in a sheet or CSV file."""


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, a paragraph, an item of a list, a row of a table, …: characters ``[start, end)`` of a page.

    The marker of a list item ("-") lies before its start. ``level`` is that of a heading, from 1, the
    outermost, the depth of a list item, from 0, or the number of a row in its sheet or CSV file, from 1, also
    of a paragraph there, which is a note; of what an item goes on with it is the number of lists that it
    stands in. Other blocks have 0.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0

    def __reduce__(self) -> tuple[type[Block], tuple[BlockKind, int, int, int]]:
        """Pickle it by its fields: a long document has thousands, and the default takes ten times as long."""
        return Block, (self.kind, self.start, self.end, self.level)


@dataclass(frozen=True, slots=True)
class WordBox:
    """A word that was recognised in a picture: characters ``[start, end)`` of a page, and where they stand.

    ``left`` and ``right`` are shares of the width of the upright picture, from its left edge; ``top`` and
    ``bottom`` are shares of its height, from its upper edge.
    """

    start: int
    end: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a document; ``number`` counts from 1, or is None if the format has no pages.

    ``blocks`` are those of the text, in order; none, if the format says nothing about its structure. White
    space and the markers of list items lie between them. ``boxes`` are those of the words of a picture or
    scan, in the order of the text; other pages have none.
    """

    number: int | None
    text: str
    blocks: tuple[Block, ...] = ()
    boxes: tuple[WordBox, ...] = ()

    def boxes_within(self, start: int, end: int) -> tuple[WordBox, ...]:
        """The boxes of the words that lie, at least in part, in the characters ``[start, end)``."""
        return tuple(box for box in self.boxes if box.start < end and start < box.end)


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read, with its text by pages.

    ``source`` is an absolute path, a URL, or ``stdin:NAME``; ``hash`` is the sha256 (hex) of the
    bytes that were read. ``own`` are the names of those fields in ``meta`` that the document itself gives,
    and ``left_out`` is the share of its characters that were taken for navigation.
    """

    source: str
    hash: str
    title: str
    media_type: str
    pages: tuple[Page, ...]
    meta: Meta = field(default_factory=lambda: NO_META)
    own: tuple[str, ...] = ()
    left_out: float = 0.0


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of one page of a document; passages are embedded, searched, graded and cited.

    ``document`` is the hash of the document, ``heading`` the path of the headings above the passage ("Dosage
    > Children", "" if there is none), and ``ordinal`` counts the passages of a document from 0. ``start`` and
    ``end`` are character offsets in the stored text of the page, as are those of its ``blocks``. ``kb`` is
    the name of its knowledge base if several were searched, else "".
    """

    id: str
    document: str
    source: str
    title: str
    heading: str
    page: int | None
    start: int
    end: int
    text: str
    ordinal: int = 0
    meta: Meta = field(default_factory=lambda: NO_META)
    origin: Origin = Origin.DOCUMENTS
    blocks: tuple[Block, ...] = ()
    kb: str = ""

    def text_between(self, start: int, end: int) -> str:
        """The part of its text at the characters ``[start, end)`` of the page."""
        return self.text[start - self.start : end - self.start]

    @property
    def in_context(self) -> str:
        """The text below the headings above it; a heading that it has is not repeated."""
        own = {
            self.text_between(block.start, block.end)
            for block in self.blocks
            if block.kind is BlockKind.HEADING
        }
        above = [
            heading for heading in self.heading.split(HEADING_SEPARATOR) if heading and heading not in own
        ]
        return "\n".join([HEADING_SEPARATOR.join(above), self.text]) if above else self.text

    def rows(self, start: int | None = None, end: int | None = None) -> tuple[int, int] | None:
        """The numbers of the first and the last row of a sheet or CSV file that it has, as the file counts.

        With ``start`` and ``end``, of those that overlap these characters of the page; None without any.
        """
        start, end = (self.start if start is None else start), (self.end if end is None else end)
        if not any(block.kind is BlockKind.ROW and block.level for block in self.blocks):
            return None
        numbers = [
            block.level
            for block in self.blocks
            if block.kind in _NUMBERED and block.level and block.start < end and start < block.end
        ]
        return (min(numbers), max(numbers)) if numbers else None

    @property
    def sheet(self) -> str:
        """The name of the sheet of a spreadsheet that it is in; "" if it is in none."""
        return self.heading.partition(HEADING_SEPARATOR)[0] if self.page is not None and self.rows() else ""

    @property
    def sender(self) -> str:
        """The name of the sender of the mail that it is of; "" if it is of none, or of what it quotes."""
        sent = self.meta.get(SENDER_FIELD)
        if not isinstance(sent, str) or self.heading:
            return ""
        from email.utils import parseaddr

        return parseaddr(sent)[0]

    @property
    def told(self) -> str:
        """The text below its headings, that of a mail after the name of its sender, unless it has that."""
        sender = self.sender
        return f"{sender}: {self.in_context}" if sender and sender not in self.text else self.in_context

    @property
    def judged(self) -> str:
        """The text below its headings and the title of its document, as the evaluator reads it."""
        return self.below_title(self.told)

    def below_title(self, text: str) -> str:
        """A text below the title of the document, unless its first line has the title already."""
        first, title = (" ".join(line.split()) for line in (text.partition("\n")[0], self.title))
        return text if not title or title.casefold() in first.casefold() else f"{title}\n{text}"

    @property
    def searchable(self) -> str:
        """The text below its headings and the title of its document, as it is embedded."""
        return f"{self.title}\n{self.told}" if self.title else self.told


@dataclass(frozen=True, slots=True)
class GivenText:
    """A text that is evidence for one question only; ``source`` is what its citations are shown with."""

    text: str
    source: str = "context"


STATIC_MODEL_PREFIX = "static:"
"""The beginning of the name of a static embedding model; the name of the model that it comes from follows."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A folder that documents were read from, and their number."""

    folder: str
    documents: int


@dataclass(frozen=True, slots=True)
class Relocation:
    """Documents of a knowledge base that are in the folder ``new`` now, and were in ``old``.

    ``documents`` is their number, and ``missing`` the number of those whose file is not there.
    """

    old: str
    new: str
    documents: int
    missing: int


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """The contents of a knowledge base; ``size`` is bytes on disk, ``questions`` are those of its passages.

    ``fields`` are the names of the fields of its documents, ``vector_index`` says whether the vectors have an
    approximate index, and ``places`` are the folders that the documents are in. ``refined`` are the passages
    that were embedded again so far with the model that the static vectors come from; 0 if that was not begun,
    or is done.
    """

    name: str
    documents: int
    passages: int
    embedding_model: str
    dimension: int
    size: int
    fields: tuple[str, ...]
    vector_index: bool
    questions: int = 0
    refined: int = 0
    places: tuple[SourcePlace, ...] = ()
