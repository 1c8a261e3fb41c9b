"""The corpus on this machine, which combines discovery, reading and splitting."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from localcrag.documents.compressed import uncompressed
from localcrag.documents.discovery import FoundSource, discover, folders_of
from localcrag.documents.extracted import MEBIBYTE, ExtractedText, Limits, clean, one_line
from localcrag.documents.format_names import has_known_name, refuse_by_name
from localcrag.documents.format_recognition import format_of, is_plain
from localcrag.documents.formats import MEDIA_TYPES, PLAIN_FORMATS, DocumentFormat, Markup, markup_of
from localcrag.documents.ignore import Home
from localcrag.documents.prefetch import (
    MAX_BYTES_AT_HAND,
    MAX_FILES_AT_HAND,
    most_processes,
    pays_several,
    read_ahead,
)
from localcrag.documents.process_pool import ReaderPool, available
from localcrag.documents.readers import parse
from localcrag.documents.sources import (
    FetchUrl,
    GivenBytes,
    LocalFile,
    StdinFile,
    TextSource,
    UrlFile,
    changed_error,
    read_file,
    read_stdin,
    read_url,
    start_of,
    too_large,
)
from localcrag.documents.splitting import Cut, cuts_of, passages_of
from localcrag.documents.structure import first_heading, structured
from localcrag.errors import UnreadableError
from localcrag.protocols import SourceFile
from localcrag.types import NO_META, NO_TEXT, Document, Meta, Page, Passage, ReadResult, StillReading

__all__ = ["LocalCorpus"]

_NAMED_WHOLE = frozenset({MEDIA_TYPES[DocumentFormat.CODE], MEDIA_TYPES[DocumentFormat.SETTINGS]})
"""The types of documents whose names say something with their endings."""


class LocalCorpus:
    """Files, folders, URLs and standard input as documents; implements :class:`localcrag.protocols.Corpus`.

    ``tokenizer`` is the path of the embedding model's ``tokenizer.json``, ``passage_tokens`` the largest
    number of its tokens in a passage, and ``max_bytes`` the largest size of a source. ``fetch_url`` returns
    the bytes and the content type of a URL; without it URLs are refused. ``stdin`` replaces the standard
    input of the process. Files that localcrag itself keeps in ``home`` are not documents. ``follow_links``
    also takes links that lead out of a folder, or to something hidden in it. ``token_vectors`` returns the
    file with which the processes that read also embed, or None if that is left to the ingestion. Libraries
    and the tokenizer are loaded when they are first needed.
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
        follow_links: bool = False,
        token_vectors: Callable[[], Path | None] = lambda: None,
    ) -> None:
        self._tokenizer = tokenizer
        self._passage_tokens = passage_tokens
        self._limits = Limits(data=max_bytes, text=4 * max_bytes)
        self._fetch_url = fetch_url
        self._stdin = stdin
        self._home = Home.at(home) if home else Home()
        self._follow_links = follow_links
        self._token_vectors = token_vectors
        self._readers: ReaderPool | None = None

    def discover(self, targets: Sequence[str | SourceFile]) -> Iterator[FoundSource | SourceFile]:
        """The sources among ``targets``, then those that its strings name, each once.

        Raises CorpusError for a target that does not exist and for a glob that matches nothing; see
        :func:`localcrag.documents.discovery.discover`.
        """
        yield from (target for target in targets if not isinstance(target, str))
        named = [target for target in targets if isinstance(target, str)]
        yield from discover(named, self._home, follow=self._follow_links)

    def is_gone(self, source: str) -> bool:
        """Whether a source was a file, and there is none in its place any more."""
        if not os.path.isabs(source):  # noqa: PTH117 - many of them
            return False
        try:
            os.lstat(source)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except (OSError, ValueError):
            return False
        return False

    def digest(self, source: SourceFile) -> str:
        """The hash that the document of a file would have; "" for what is no file, or cannot be read."""
        if not isinstance(source, LocalFile):
            return ""
        try:
            return sha256(read_file(source, self._limits.data)).hexdigest()
        except UnreadableError:
            return ""

    def folders(self, targets: Sequence[str | SourceFile]) -> list[str]:
        """The folders that targets name or are in; see :func:`localcrag.documents.discovery.folders_of`."""
        return folders_of([target for target in targets if isinstance(target, str)])

    def read(self, source: SourceFile, meta: Meta = NO_META, *, plain: bool = False) -> Document:
        """The text of a source as a document with the fields ``meta``; ``plain`` refuses any but plain text.

        It is read in this process, without limits of time and memory; see :meth:`read_all`. Raises
        UnreadableError with the reason that the report of the ingestion shows.
        """
        if isinstance(source, TextSource):
            return self._document_of_text(source, meta)
        name, stored, content_type = self._bytes(source)
        name, data = uncompressed(name, stored, self._limits)
        if not data.strip():
            raise UnreadableError(NO_TEXT)
        format_ = format_of(name, data, content_type)
        if plain and (format_ not in PLAIN_FORMATS or data is not stored):
            raise changed_error()
        return _document(source.source, name, stored, parse(format_, data, self._limits, content_type), meta)

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

    def with_bytes(self, source: SourceFile) -> GivenBytes:
        """A source with its bytes, which can be read anywhere. Raises UnreadableError."""
        return GivenBytes(source.source, *self._bytes(source))

    def prepare(self, targets: Sequence[str | SourceFile]) -> None:
        """Start a process to read documents, if ``targets`` may need one, so that it is warm for read_all."""
        named = [target for target in targets if isinstance(target, str)]
        if self._readers is None and available() and not all(is_plain(target, b"") for target in named):
            self._readers = self._pool()
            self._readers.start()

    def read_all(self, wanted: Sequence[tuple[SourceFile, Meta]]) -> Generator[ReadResult | StillReading]:
        """Read and split every source; the results come in the order in which they are finished.

        A few plain texts are read at once, everything else in processes of their own, with limits of time and
        memory. A source that cannot be read gives a result with the reason. Raises CorpusError if a process
        cannot be started.
        """
        readers, self._readers = self._readers, None
        if not available():
            yield from read_ahead(wanted, self._reading)
            return
        if _are_at_hand([file for file, _ in wanted]):
            if readers:
                readers.close()
            yield from (self._reading(file, meta, plain=True) for file, meta in wanted)
            return
        taken: list[tuple[SourceFile, Meta]] = []
        with readers or self._pool() as pool:
            for file, meta in wanted:
                try:  # only this thread can be interrupted while it waits for standard input
                    taken.append((self.with_bytes(file) if isinstance(file, StdinFile) else file, meta))
                except UnreadableError as error:
                    yield ReadResult(file.source, None, reason=str(error))

            def read(file: SourceFile, meta: Meta) -> ReadResult:
                if isinstance(file, TextSource):
                    return self._reading(file, meta)
                try:
                    return pool.read(self.with_bytes(file) if isinstance(file, UrlFile) else file, meta)
                except UnreadableError as error:
                    return ReadResult(file.source, None, reason=str(error))

            if pays_several([file.size for file, _ in wanted]):
                pool.spread()
            yield from read_ahead(taken, read, most_processes())

    def _pool(self) -> ReaderPool:
        setting = {
            "tokenizer": self._tokenizer,
            "passage_tokens": self._passage_tokens,
            "max_bytes": self._limits.data,
            "token_vectors": self._token_vectors(),
        }
        return ReaderPool(most_processes(), setting)

    def _reading(self, file: SourceFile, meta: Meta, *, plain: bool = False) -> ReadResult:
        try:
            document = self.read(file, meta, plain=plain)
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
            case GivenBytes():
                return source.name, source.data, source.content_type
            case StdinFile():
                return source.name, read_stdin(limit, self._stdin), ""
            case UrlFile():
                refuse_by_name(source.name)
                return source.name, *read_url(source.source, limit, self._fetch_url)
            case _:
                raise TypeError(f"{type(source).__name__} is not a source of this corpus")


def _are_at_hand(files: Sequence[SourceFile]) -> bool:
    """Whether all sources are plain texts, and so few that reading them takes no time."""
    if sum(file.size for file in files) > MAX_BYTES_AT_HAND or len(files) > MAX_FILES_AT_HAND:
        return False
    return all(
        isinstance(file, TextSource) or (isinstance(file, LocalFile) and is_plain(file.name, start_of(file)))
        for file in files
    )


def _document(source: str, name: str, data: bytes, parsed: ExtractedText, meta: Meta) -> Document:
    markup = markup_of(parsed.media_type)
    pages = tuple(page for page in (structured(page, markup) for page in parsed.pages) if page.text.strip())
    if not pages:
        raise UnreadableError(NO_TEXT)
    is_whole = parsed.media_type in _NAMED_WHOLE or not has_known_name(name)  # "na.postalcodes"
    named = name if is_whole else PurePosixPath(name).stem
    titled = first_heading(pages) if markup in (Markup.MARKDOWN, Markup.RST) else ""
    title = one_line(clean(parsed.title)) or one_line(titled) or named
    if parsed.media_type == MEDIA_TYPES[DocumentFormat.SETTINGS] and name not in title:
        title = f"{name}: {title}"
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
