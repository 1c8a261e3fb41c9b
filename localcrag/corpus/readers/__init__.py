"""One module per family of formats; each turns bytes into a :class:`~localcrag.corpus.parsed.Parsed`.

A reader imports its library when it is first used, so that a corpus of text files never pays for PDF.
:func:`parse` is a plain top-level function of plain values: it can run in a worker process.
"""

from __future__ import annotations

from localcrag.corpus.kinds import Kind
from localcrag.corpus.parsed import Limits, Parsed
from localcrag.errors import UnreadableError

__all__ = ["parse"]


def parse(kind: Kind, data: bytes, limits: Limits, content_type: str = "") -> Parsed:
    """The text of a document of that kind; ``content_type`` may name its encoding.

    Raises UnreadableError with the reason.
    """
    try:
        return _parsed(kind, data, limits, content_type)
    except RecursionError as error:
        raise UnreadableError(f"{kind} nested too deeply") from error


def _parsed(kind: Kind, data: bytes, limits: Limits, content_type: str) -> Parsed:
    match kind:
        case Kind.PDF:
            from localcrag.corpus.readers.pdf import read_pdf

            return read_pdf(data, limits)
        case Kind.DOCX:
            from localcrag.corpus.readers.docx import read_docx

            return read_docx(data, limits)
        case Kind.PPTX:
            from localcrag.corpus.readers.pptx import read_pptx

            return read_pptx(data, limits)
        case Kind.XLSX:
            from localcrag.corpus.readers.xlsx import read_xlsx

            return read_xlsx(data, limits)
        case Kind.EPUB:
            from localcrag.corpus.readers.epub import read_epub

            return read_epub(data, limits)
        case Kind.HTML:
            from localcrag.corpus.readers.html import read_html

            return read_html(data, content_type)
        case Kind.MAIL:
            from localcrag.corpus.readers.mail import read_mail

            return read_mail(data, limits)
        case _:
            from localcrag.corpus.readers.text import read_text

            return read_text(kind, data, limits, content_type)
