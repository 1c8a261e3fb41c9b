"""Reader of a ZIP of documents: each is a section under its path, and one that cannot be read is named."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator

from localcrag.documents import zip_guard
from localcrag.documents.block_text import BlockText
from localcrag.documents.compressed import uncompressed
from localcrag.documents.extracted import ExtractedText, Limits, clean, one_line
from localcrag.documents.format_names import refuse_by_name
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat, Markup, markup_of
from localcrag.documents.markdown_blocks import markdown_page
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page

_MAX_MEMBERS = 500
"""Files of an archive that are read."""
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_OWN_FOLDERS = frozenset({"__MACOSX"})


def read_archive(data: bytes, limits: Limits) -> ExtractedText:
    """Read the documents of a ZIP, in its order; hidden files and archives inside it are left out.

    Raises UnreadableError: damaged, encrypted, a zip bomb, no document that can be read, or more text than
    ``limits.text``.
    """
    made = BlockText(limits)
    unread: list[str] = []
    with zip_guard.opened(data, DocumentFormat.ZIP, limits) as archive:
        members = [member for member in archive.infolist() if _is_visible(member)]
        for member in members[:_MAX_MEMBERS]:
            name = one_line(clean(member.filename))
            try:
                pages = _pages(archive, member, limits)
            except UnreadableError as error:
                unread.append(f"{name} ({error})")
                continue
            made.add(BlockKind.HEADING, name, level=1)
            for page in pages:
                _add_page(made, page)
    if len(unread) == len(members[:_MAX_MEMBERS]):
        raise UnreadableError("an archive without a document that can be read")
    if len(members) > _MAX_MEMBERS:
        unread.append(f"{len(members) - _MAX_MEMBERS} files after the first {_MAX_MEMBERS}")
    if unread:
        made.add(BlockKind.FURNITURE, f"Not read: {'; '.join(unread)}")
    return ExtractedText("", MEDIA_TYPES[DocumentFormat.ZIP], (made.page(),))


def _is_visible(member: zipfile.ZipInfo) -> bool:
    parts = member.filename.split("/")
    return not member.is_dir() and not any(part.startswith(".") or part in _OWN_FOLDERS for part in parts)


def _pages(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limits: Limits) -> list[Page]:
    """The pages of a document in the archive, with blocks. Raises UnreadableError with the reason."""
    from localcrag.documents.readers import parse

    refuse_by_name(member.filename)
    name, data = uncompressed(member.filename, archive.read(member), limits)
    format_ = format_of(name, data)
    if format_ is DocumentFormat.ZIP:
        raise UnreadableError("an archive inside an archive is not read")
    parsed = parse(format_, data, limits)
    pages = [_with_blocks(page, parsed.media_type) for page in parsed.pages]
    if not any(page.blocks for page in pages):
        raise UnreadableError("no text in it")
    return pages


def _with_blocks(page: Page, media_type: str) -> Page:
    """A page with blocks: those of its Markdown, or its paragraphs, if its reader has given none."""
    if page.blocks:
        return page
    if markup_of(media_type) is Markup.MARKDOWN:
        return markdown_page(clean(page.text), page.number)
    made = BlockText()
    if media_type == MEDIA_TYPES[DocumentFormat.CODE]:
        made.add(BlockKind.CODE, page.text)
    else:
        for paragraph in _BLANK_LINE.split(clean(page.text)):
            made.add(BlockKind.PARAGRAPH, paragraph)
    return made.page(page.number)


def _add_page(made: BlockText, page: Page) -> None:
    """Append the blocks of a page, with its headings one level further in."""
    for kind, before, text, level in _pieces(page):
        if before.count("\n") > 1:
            made.part()
        marker = before.strip()
        deeper = 0 if kind is BlockKind.ROW else level + (kind is BlockKind.HEADING)
        made.add(kind, text, level=deeper, marker=f"{marker} " if marker else "")


def _pieces(page: Page) -> Iterator[tuple[BlockKind, str, str, int]]:
    """The blocks of a page with the text between each and the one before it."""
    end = 0
    for block in page.blocks:
        yield block.kind, page.text[end : block.start], page.text[block.start : block.end], block.level
        end = block.end
