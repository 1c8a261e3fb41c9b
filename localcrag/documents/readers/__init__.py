"""The readers, one module per family of formats, which turn bytes into an ``ExtractedText``.

A reader imports its library when it is first used, so that a corpus of text files does not load the one
for PDF.
"""

from __future__ import annotations

from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import DocumentFormat
from localcrag.errors import UnreadableError

__all__ = ["parse"]


def parse(format_: DocumentFormat, data: bytes, limits: Limits, content_type: str = "") -> ExtractedText:
    """The text of a document in that format; ``content_type`` may name its encoding.

    Raises UnreadableError with the reason.
    """
    try:
        return _parsed(format_, data, limits, content_type)
    except RecursionError as error:
        raise UnreadableError(f"{format_} nested too deeply") from error


def _parsed(format_: DocumentFormat, data: bytes, limits: Limits, content_type: str) -> ExtractedText:
    match format_:
        case DocumentFormat.PDF:
            from localcrag.documents.readers.pdf import read_pdf

            return read_pdf(data, limits)
        case DocumentFormat.DOCX:
            from localcrag.documents.readers.docx import read_docx

            return read_docx(data, limits)
        case DocumentFormat.DOC | DocumentFormat.PPT:
            from localcrag.documents.readers.old_office import read_old_office

            return read_old_office(format_, data, limits)
        case DocumentFormat.PPTX:
            from localcrag.documents.readers.pptx import read_pptx

            return read_pptx(data, limits)
        case DocumentFormat.XLSX:
            from localcrag.documents.readers.xlsx import read_xlsx

            return read_xlsx(data, limits)
        case DocumentFormat.XLS:
            from localcrag.documents.readers.xls import read_xls

            return read_xls(data, limits)
        case DocumentFormat.ODT | DocumentFormat.ODP | DocumentFormat.ODS:
            from localcrag.documents.readers.opendocument import read_opendocument

            return read_opendocument(format_, data, limits)
        case DocumentFormat.RTF:
            from localcrag.documents.readers.rtf import read_rtf

            return read_rtf(data, limits)
        case DocumentFormat.EPUB:
            from localcrag.documents.readers.epub import read_epub

            return read_epub(data, limits)
        case DocumentFormat.HTML:
            from localcrag.documents.readers.html import read_html

            return read_html(data, limits, content_type)
        case DocumentFormat.HELP:
            from localcrag.documents.readers.help_markup import read_help_markup

            return read_help_markup(data, limits)
        case DocumentFormat.XML:
            from localcrag.documents.readers.xml_markup import read_xml

            return read_xml(data, limits)
        case DocumentFormat.SUBTITLES:
            from localcrag.documents.readers.subtitles import read_subtitles

            return read_subtitles(data, limits)
        case DocumentFormat.SQL:
            from localcrag.documents.readers.sql_script import read_sql

            return read_sql(data, limits)
        case DocumentFormat.SQLITE:
            from localcrag.documents.readers.sqlite_tables import read_sqlite

            return read_sqlite(data, limits)
        case DocumentFormat.PARQUET | DocumentFormat.ARROW:
            from localcrag.documents.readers.columnar import read_columnar

            return read_columnar(format_, data, limits)
        case DocumentFormat.OUTLOOK:
            from localcrag.documents.readers.outlook import read_outlook

            return read_outlook(data, limits)
        case DocumentFormat.ZIP:
            from localcrag.documents.readers.archive import read_archive

            return read_archive(data, limits)
        case DocumentFormat.IMAGE:
            from localcrag.documents.readers.ocr import read_image

            return read_image(data, limits)
        case DocumentFormat.MANUAL_PAGE:
            from localcrag.documents.readers.manual_page import read_manual_page

            return read_manual_page(data, limits, content_type)
        case DocumentFormat.MAIL:
            from localcrag.documents.readers.mail import read_mail

            return read_mail(data, limits)
        case DocumentFormat.MAIL_FOLDER:
            from localcrag.documents.readers.mail_folder import read_mail_folder

            return read_mail_folder(data, limits)
        case DocumentFormat.CALENDAR | DocumentFormat.CONTACTS:
            from localcrag.documents.readers.calendar_cards import read_calendar

            return read_calendar(format_, data, limits, content_type)
        case DocumentFormat.BIBTEX:
            from localcrag.documents.readers.bibliography import read_bibliography

            return read_bibliography(data, limits, content_type)
        case _:
            from localcrag.documents.readers.plain_text import read_text

            return read_text(format_, data, limits, content_type)
