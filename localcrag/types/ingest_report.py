"""The results of an ingestion: of reading each source, and of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from localcrag.types.passages import NO_META, Document, JsonValue, Meta, Passage

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

NO_TEXT = "no text in it"
"""The reason for a source that was read and has no text."""
NO_TEXT_LAYER = "PDF without a text layer (scanned?): localcrag[ocr] reads it"
"""The reason for a PDF that was read and has no text."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The result of reading one source: the document with its passages, or the reason why there is none.

    ``vectors`` are those of the passages, of shape (number of passages, dimension), if they were embedded
    where the document was read; None if the ingestion is to embed them.
    """

    source: str
    document: Document | None
    passages: Sequence[Passage] = ()
    reason: str = ""
    vectors: Vectors | None = field(default=None, compare=False)

    @property
    def empty(self) -> bool:
        """Whether the source was read and has no text; False if it could not be read."""
        return self.reason in (NO_TEXT, NO_TEXT_LAYER) or bool(self.document and not self.passages)


@dataclass(frozen=True, slots=True)
class StillReading:
    """No source was finished for a while; ``source`` is the one that has been read for longest."""

    source: str


READING = 33
"""The number of the way in which documents are read now; those read in an older way are read anew.

33: with the entries of bibliographies as sections with a row each;
32: with school years as names in headers of several lines, headers of two lines that name the label column
twice above the same names below each merged cell, and tables without names whose cells semicolons part;
31: with what an attribute names in the records of XML as their fields;
29: with subtitles as what is said in the film, the rows of SQL dumps and of texts without a header as tables,
three and four columns of a page one after the other, and captions within the rules of a table apart;
28: with tables of JSON whose columns have numbered rows, and tables of names and numbers whose cells nothing
but blanks part;
27: with the code of PDF that is mostly code apart from its prose, ligatures of TeX fonts as letters, and
letters that are struck over once;
26: with tables as R prints them, and in JSON and YAML numbers below names and what stands below days, as
rows, objects below keys of JSON apart from what is told of all of them, and no record cut within a list;
25: with formulas that HTML shows as pictures in words, and cells of CSV that are quoted
behind blanks, or parted by them below quoted names;
24: with tables of plain text whose cells bars part as rows, and lines that tabs part as items;
23: with all records of a list in YAML as rows, though some have lists in them;
22: with a comment and the setting that it explains in one passage, objects below keys of JSON as records
though some have fields of their own, and no header above entries of tables of HTML and of manual pages;
20: with records in braces of YAML, and the tables of arrays of TOML, as rows, and so tables that are code of
Markdown and RST; with fragments of HTML in values as text, raised figures apart from numbers, comments on the
names of columns above the rows, blanks of templates, titles of several lines above a rule, and the numbers at
axes and pictures of characters in PDF apart;
18: with the decimal fractions of JSON as they are written;
16: with help pages that keep their lines (``<pre>``) as prose, the questions of FAQs as headings (the
numbered ones of PDF, and those that are terms of lists in HTML), the header of a table among its notes,
listings of files and variables without a header, the heads of entries of a manual, and the releases of plain
text as headings;
15: with the options of commands in tables below titles, the first one too, as rows of their own, and the way
back of a timetable below the names of its own columns;
14: with the numbered titles of plain text as headings;
13: with settings below their sections, the lines of logs as they are, DocBook, Mallard and Info in blocks,
PDF tables whose rows only lines part, what is told above a table and the first rows of tables of values apart
from their header, and headings below the header of a page; 12: with the values of PDF forms, the titles and
notes of sheets apart from their rows, notes of Obsidian without their markup, the sign-offs of mails apart,
and lists of records within records; 11: with lines in bold letters as headings, and tables of options in PDF
without a header; 10: with tables and records that say their columns by colons; 9: with tables of keys as
pairs, and without the numbers of rows; 8: with the parts of list items together; 7: with AsciiDoc and the
pages of Zim in blocks, and more tables of contents apart; 6: with lists that are not indented as they should
be, and tables of contents apart; 5: with headings in plain text, and Org and LaTeX in blocks; 4: with manual
pages, and tables of names and values; 3: with the fields that documents give, and the rows of sheets
numbered; 2: in blocks, without markup; 1: as flat text.
"""


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """The entry of a document in a knowledge base; ``size`` (bytes) and ``mtime_ns`` are those of its file.

    ``mtime_ns`` is the modification time in nanoseconds, ``passages`` the number of passages, and ``reading``
    the way in which it was read (:data:`READING`). ``own`` are the names of those fields in ``meta`` that the
    document itself gives; the others were given for it. ``left_out`` is the share of its text that was
    taken for navigation and left out.
    """

    source: str
    hash: str
    size: int
    mtime_ns: int
    passages: int
    title: str = ""
    meta: Meta = field(default_factory=lambda: NO_META)
    reading: int = READING
    own: tuple[str, ...] = ()
    left_out: float = 0.0

    @property
    def given(self) -> Meta:
        """The fields that were given for the document, as by ``--meta``."""
        return {key: value for key, value in self.meta.items() if key not in self.own}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source that was not indexed, and the reason."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A page of which the ``share`` of its characters, from 0 to 1, was taken for navigation and left out."""

    source: str
    share: float


@dataclass(frozen=True, slots=True)
class MovedDocument:
    """A document whose file was at ``former`` and is at ``source`` now, with the same bytes."""

    former: str
    source: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The report of an ingestion; the counts are documents, ``passages`` and ``questions`` those written.

    ``seconds`` is the wall time, and ``left_out`` are the pages of which much was taken for navigation.
    ``moved`` are the documents that were found in another place; they count as unchanged, or as changed if
    they had to be read again. ``gone`` are the documents that are still held, although their files are not
    there any more. ``not_english`` counts those written whose text begins in another language.
    """

    kb: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    skipped: tuple[Skipped, ...] = ()
    seconds: float = 0.0
    questions: int = 0
    left_out: tuple[LeftOut, ...] = ()
    moved: tuple[MovedDocument, ...] = ()
    gone: tuple[str, ...] = ()
    not_english: int = 0

    def to_dict(self) -> dict[str, JsonValue]:
        """The object that ``ingest --json`` prints."""
        return asdict(self) | {
            "skipped": [asdict(s) for s in self.skipped],
            "seconds": round(self.seconds, 3),
            "moved": [asdict(m) for m in self.moved],
            "gone": list(self.gone),
            "left_out": [{"source": p.source, "share": round(p.share, 3)} for p in self.left_out],
        }

    def to_json(self, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON text; ``indent`` is the number of blanks per level, None for one line."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)
