"""The corpus on this machine, which combines discovery, reading and splitting."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from localcrag.documents.discovery import FoundSource, discover
from localcrag.documents.extracted import MEBIBYTE, ExtractedText, Limits, clean, one_line
from localcrag.documents.formats import (
    MEDIA_TYPES,
    DocumentFormat,
    Markup,
    format_of,
    markup_of,
    refuse_by_name,
)
from localcrag.documents.ignore import Home
from localcrag.documents.prefetch import processes_for, read_ahead
from localcrag.documents.process_pool import ReaderPool, available
from localcrag.documents.readers import parse
from localcrag.documents.sources import (
    FetchUrl,
    LocalFile,
    StdinFile,
    TextSource,
    UrlFile,
    read_file,
    read_stdin,
    read_url,
    too_large,
)
from localcrag.documents.splitting import Cut, cuts_of, passages_of
from localcrag.documents.structure import first_heading, structured
from localcrag.errors import UnreadableError
from localcrag.protocols import SourceFile
from localcrag.types import NO_META, NO_TEXT, Document, Meta, Page, Passage, ReadResult

__all__ = ["LocalCorpus"]


class LocalCorpus:
    """Files, folders, URLs and standard input as documents; implements :class:`localcrag.protocols.Corpus`.

    ``tokenizer`` is the path of the embedding model's ``tokenizer.json``, ``passage_tokens`` the largest
    number of its tokens in a passage, and ``max_bytes`` the largest size of a source. ``fetch_url`` returns
    the bytes and the content type of a URL; without it URLs are refused. ``stdin`` replaces the standard
    input of the process. Files that localcrag itself keeps in ``home`` are not documents. Libraries and the
    tokenizer are loaded when they are first needed.
    """

    def __init__(
        self,
        tokenizer: Path,
        *,
        passage_tokens: int = 250,
        max_bytes: int = 64 * MEBIBYTE,
        fetch_url: FetchUrl | None = None,
        stdin: BinaryIO | None = None,
        home: Path | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._passage_tokens = passage_tokens
        self._limits = Limits(data=max_bytes, text=4 * max_bytes)
        self._fetch_url = fetch_url
        self._stdin = stdin
        self._home = Home.at(home) if home else Home()

    def discover(self, targets: Sequence[str | SourceFile]) -> Iterator[FoundSource | SourceFile]:
        """The sources among ``targets``, then those that its strings name, each once.

        Raises CorpusError for a target that does not exist and for a glob that matches nothing; see
        :func:`localcrag.documents.discovery.discover`.
        """
        yield from (target for target in targets if not isinstance(target, str))
        yield from discover([target for target in targets if isinstance(target, str)], self._home)

    def read(self, source: SourceFile, meta: Meta = NO_META) -> Document:
        """The text of a source as a document with the fields ``meta``.

        Raises UnreadableError with the reason that the report of the ingestion shows.
        """
        if isinstance(source, TextSource):
            return self._document_of_text(source, meta)
        name, data, content_type = self._bytes(source)
        if not data.strip():
            raise UnreadableError(NO_TEXT)
        format_ = format_of(name, data, content_type)
        return _document(source.source, name, data, parse(format_, data, self._limits, content_type), meta)

    def _document_of_text(self, source: TextSource, meta: Meta) -> Document:
        """The document of a text that was given; its hash covers the title, so a new title is a change."""
        if source.size > self._limits.data:
            raise too_large(source.size, self._limits.data)
        digest = sha256(f"{source.title}\0{source.text}".encode("utf-8", "surrogatepass")).hexdigest()
        title = one_line(clean(source.title)) or source.name
        page = structured(Page(None, source.text), Markup.PROSE)
        return Document(source.source, digest, title, MEDIA_TYPES[DocumentFormat.TEXT], (page,), meta)

    def split(self, document: Document) -> list[Passage]:
        """The passages of a document; see :func:`localcrag.documents.splitting.passages_of`."""
        return passages_of(document, self._tokenizer, self._passage_tokens)

    def cuts(self, document: Document) -> list[Cut]:
        """The bounds of a document's passages; see :func:`localcrag.documents.splitting.cuts_of`."""
        return cuts_of(document, self._tokenizer, self._passage_tokens)

    def read_all(self, wanted: Sequence[tuple[SourceFile, Meta]]) -> Generator[ReadResult]:
        """Read and split every source; the results come in the order in which they are finished.

        Large amounts are read in processes of their own, small ones in a thread of this process. A source
        that cannot be read gives a result with the reason. Raises CorpusError if a process cannot be started.
        """
        sizes = [file.size for file, _ in wanted if isinstance(file, LocalFile)]
        processes = processes_for(sizes)
        if not processes or not available():
            yield from read_ahead(wanted, self._reading)
            return
        setting = {
            "tokenizer": self._tokenizer,
            "passage_tokens": self._passage_tokens,
            "max_bytes": self._limits.data,
        }
        with ReaderPool(processes, setting) as readers:

            def read(file: SourceFile, meta: Meta) -> ReadResult:
                return (readers.read if isinstance(file, LocalFile) else self._reading)(file, meta)

            yield from read_ahead(wanted, read, processes)

    def _reading(self, file: SourceFile, meta: Meta) -> ReadResult:
        try:
            document = self.read(file, meta)
            return ReadResult(file.source, document, self.split(document))
        except UnreadableError as error:
            return ReadResult(file.source, None, reason=str(error))

    def _bytes(self, source: SourceFile) -> tuple[str, bytes, str]:
        """The name that may tell the format, the bytes, and the content type that a server gave or "".

        Raises UnreadableError.
        """
        limit = self._limits.data
        match source:
            case LocalFile():
                refuse_by_name(source.name)
                return source.name, read_file(source, limit), ""
            case StdinFile():
                return source.name, read_stdin(limit, self._stdin), ""
            case UrlFile():
                refuse_by_name(source.name)
                return source.name, *read_url(source.source, limit, self._fetch_url)
            case _:
                raise TypeError(f"{type(source).__name__} is not a source of this corpus")


def _document(source: str, name: str, data: bytes, parsed: ExtractedText, meta: Meta) -> Document:
    markup = markup_of(parsed.media_type)
    pages = tuple(page for page in (structured(page, markup) for page in parsed.pages) if page.text.strip())
    if not pages:
        raise UnreadableError(NO_TEXT)
    named = name if parsed.media_type == MEDIA_TYPES[DocumentFormat.CODE] else PurePosixPath(name).stem
    titled = first_heading(pages) if markup in (Markup.MARKDOWN, Markup.RST) else ""
    title = one_line(clean(parsed.title)) or one_line(titled) or named
    own = tuple(sorted(parsed.meta.keys() - meta.keys()))
    return Document(
        source,
        sha256(data).hexdigest(),
        title,
        parsed.media_type,
        pages,
        {**parsed.meta, **meta},
        own,
        parsed.left_out,
    )
