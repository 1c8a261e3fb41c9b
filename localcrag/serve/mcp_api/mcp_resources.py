"""Documents as resources of the MCP server: their addresses, lists of them, and their texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import quote, unquote

from localcrag.errors import StoreError, UsageError
from localcrag.serve.mcp_api.mcp_access import McpAccess
from localcrag.types import IndexedDocument

URI_START = "localcrag://documents/"
"""The beginning of the address of every document; knowledge base and source follow, both escaped."""
URI_TEMPLATE = URI_START + "{kb}/{source}"
"""The form of these addresses (RFC 6570)."""
MAX_LISTED_DOCUMENTS = 200
"""The most documents on one page of a list."""


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document in the list of resources."""

    kb: str
    document: IndexedDocument

    @property
    def uri(self) -> str:
        """Its address."""
        return uri_of(self.kb, self.document.source)

    @property
    def name(self) -> str:
        """The last part of its source."""
        return PurePath(self.document.source.rstrip("/")).name or self.document.source


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The stored text of one page of a document; ``uri`` is the address of the document."""

    uri: str
    page: int | None
    text: str


def uri_of(kb: str, source: str) -> str:
    """The address of a document."""
    return f"{URI_START}{quote(kb, safe='')}/{quote(source, safe='')}"


def listed_documents(access: McpAccess, cursor: str | None) -> tuple[list[ListedDocument], str | None]:
    """One page of the documents of all knowledge bases, and where the next one begins; None at the end.

    A knowledge base that cannot be read is left out: ``list_knowledge_bases`` tells of it. Raises UsageError
    for a ``cursor`` that no list gave.
    """
    start = 0 if cursor is None else _number(cursor)
    page: list[ListedDocument] = []
    for at, item in enumerate(_all_documents(access)):
        if at >= start + MAX_LISTED_DOCUMENTS:
            return page, str(at)
        if at >= start:
            page.append(item)
    return page, None


def document_texts(access: McpAccess, uri: str) -> list[DocumentText]:
    """The texts of the pages of a document. Raises UsageError for an address of none, StoreError."""
    kb, slash, source = uri.removeprefix(URI_START).partition("/")
    if not uri.startswith(URI_START) or not slash or not source:
        raise UsageError(f"{uri!r} is no address of a document", hint=f"it has the form {URI_TEMPLATE}")
    document = access.held(unquote(kb)).document(unquote(source))
    return [DocumentText(uri, page.number, page.text) for page in document.pages]


def _all_documents(access: McpAccess) -> Iterator[ListedDocument]:
    for name in access.names():
        try:
            documents = access.held(name).documents()
        except StoreError:
            continue
        yield from (ListedDocument(name, document) for document in documents)


def _number(cursor: str) -> int:
    """The number that a cursor is. Raises UsageError."""
    if not (cursor.isascii() and cursor.isdigit()):
        raise UsageError(f"{cursor!r} is no place in the list", hint="leave it out to begin at the start")
    return int(cursor)
