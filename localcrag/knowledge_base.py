"""A knowledge base: documents that can be searched and asked, as a library.

:func:`open` gives a :class:`KnowledgeBase`. Opening is cheap; models and indexes load on first use and
are shared by everything in the process that uses the same settings.
:mod:`localcrag.fillable_knowledge_base` joins the adapters of documents, store and models, this module those
of a search; :mod:`localcrag.pipeline_builder` joins those of one question.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import NoneType, TracebackType
from typing import Self, Unpack

from localcrag import settings as configuration
from localcrag._platform import expanded
from localcrag.background import call_in_thread, iterate_in_thread
from localcrag.crag.retrieval import Retriever
from localcrag.crag.state import Query, checked_question
from localcrag.crag.structured_answers.record_extraction import records_of_documents, records_of_sources
from localcrag.crag.wrapped_readers.given_text import ReaderWithText
from localcrag.errors import UsageError
from localcrag.events import Event, answer_of, result_of
from localcrag.fillable_knowledge_base import FillableKnowledgeBase, Source
from localcrag.filters import parse
from localcrag.ingestion import checked_sources
from localcrag.joined_stores import SearchableStores, joined_stores, reader_of
from localcrag.options import AskKeywords as AskKeywords
from localcrag.options import AskOptions as AskOptions
from localcrag.output_schema.python_types import OutputType, checked_schema
from localcrag.output_schema.schema_reading import read_schema
from localcrag.protocols import PassageReader, ThreadStore
from localcrag.settings import Settings
from localcrag.store.kb_names import NAMES_SEPARATOR
from localcrag.types import Answer, Document, ExtractedRecord, GivenText, GraderKind, Hit, Passage


def open(
    name: str | Sequence[str] | None = None,
    *,
    home: Path | str | None = None,
    settings: Settings | None = None,
) -> KnowledgeBase:
    """A knowledge base by name; it comes into being with its first ingestion.

    Parameters:
        name: letters, digits, ``.``, ``_`` and ``-``, at most 64; by default the one in the settings. Several
            names in a list are searched and asked as one knowledge base, and can do nothing else. An address
            such as ``s3://bucket/prefix`` is one on object storage.
        home: another folder for everything that localcrag keeps.
        settings: in place of what the configuration file and the environment say.

    Raises UsageError for a name that cannot be one, SettingsError for a configuration that cannot be
    understood.
    """
    from localcrag.store.kb_names import joined_name

    if not isinstance(home, (str, Path, NoneType)):
        raise UsageError(f"home is a {type(home).__name__}, and must be a path", hint="name a folder")
    if not isinstance(settings, (Settings, NoneType)):
        raise UsageError(
            f"settings is a {type(settings).__name__}, and must be Settings",
            hint="make them with localcrag.settings.load(), and change what you want with with_values()",
        )
    given = settings or configuration.load(home=Path(home) if home else None)
    return KnowledgeBase(joined_name(given.kb if name is None else name), given)


def import_archive(
    file: Path | str,
    name: str | None = None,
    *,
    home: Path | str | None = None,
    settings: Settings | None = None,
) -> KnowledgeBase:
    """The knowledge base that an archive of :meth:`KnowledgeBase.archive` holds, whole or not at all.

    Parameters:
        file: the archive.
        name: its name here; by default the one that it had.
        home: as for :func:`open`.
        settings: as for :func:`open`.

    Raises ArchiveError if the file is no archive, is cut off, or does not hold what was written; UsageError
    if there is a knowledge base of that name; StoreError, StorageFull.
    """
    from localcrag.store.knowledge_bases import KnowledgeBases

    base = open(name, home=home, settings=settings)
    held = KnowledgeBases(base.settings.home).read_archive(expanded(str(file)), name)
    return KnowledgeBase(held, base.settings)


def names(settings: Settings) -> list[str]:
    """The knowledge bases there are."""
    from localcrag.store.knowledge_bases import KnowledgeBases

    return KnowledgeBases(settings.home).names()


def threads(settings: Settings) -> ThreadStore:
    """The named conversations."""
    from localcrag.conversations import SqliteThreads

    return SqliteThreads(settings.home / "threads.db")


class KnowledgeBase(FillableKnowledgeBase):
    """A named set of documents that can be searched and asked; made by :func:`localcrag.open`.

    ``name`` and ``settings`` are what it was opened with. It is a context manager: :meth:`close` gives
    back the memory of its models. Every method that answers, searches or ingests has an ``async`` twin
    (:meth:`aask`, :meth:`astream`, :meth:`asearch`, :meth:`aingest`).
    """

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, settings)
        self._joined: SearchableStores | None = None

    def __repr__(self) -> str:
        return f"KnowledgeBase({self.name!r}, home={str(self.settings.home)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the tables, and free the memory of the models; the next use loads them again.

        Models are shared by all knowledge bases of one process that have the same model settings.
        """
        self._opened = self._joined = None
        self.reset_models()

    # ------------------------------------------------------------------------------ questions

    def search(
        self, query: str, *, k: int = 8, filter: str | None = None, evaluator: str | None = None
    ) -> list[Hit]:
        """The passages that bear on a query, best first: retrieval alone, no answer.

        Parameters:
            query: words or a question, at most 4,000 characters.
            k: how many passages at most, 1 or more.
            filter: only documents like this, for example ``team = "x"``.
            evaluator: another reranker than the one in the settings; ``"none"`` for none.

        Raises UnknownKnowledgeBase, FilterError, UsageError, EmbeddingMismatch, ModelNotFound.
        """
        if not isinstance(k, int) or k < 1:
            raise UsageError(f"k is {k!r}, and must be 1 or more")
        given = AskOptions(filter=filter, evaluator=evaluator)
        text, where = checked_question(query), parse(filter) if filter else None
        held = self._searchable(given)
        models = self._models(given)
        held.reader.require_whole()
        models.warm(held.warm, answering=False)
        candidates = max(k, self.settings.loop.candidates)
        retriever = Retriever(held.reader, held.embedder, models.evaluator, k, candidates)
        hits = result_of(retriever.search([text], text, where))
        if not hits:
            held.reader.require_whole(thorough=True)
        return hits

    def ask(
        self, question: str, options: AskOptions | None = None, **keywords: Unpack[AskKeywords]
    ) -> Answer:
        """The answer to one question.

        Parameters:
            question: at most 4,000 characters.
            options: how it is to be answered, see :class:`AskOptions`.
            keywords: every field of AskOptions by its name, in place of what ``options`` say:
                ``kb.ask("what is the dose?", policy="crag", web="never", model="qwen")``.

        Raises what :meth:`stream` raises.
        """
        return answer_of(self.stream(question, options, **keywords))

    def stream(
        self, question: str, options: AskOptions | None = None, **keywords: Unpack[AskKeywords]
    ) -> Iterator[Event]:
        """The events of one question as they happen, the last one Finished; parameters as for :meth:`ask`.

        Closing the iterator ends the question. Raises UsageError, FilterError, UnknownKnowledgeBase,
        EmbeddingMismatch, ModelNotFound, ModelFileError, WebNotConfigured, ContextOverflow; what only
        weakens the answer is a Degraded event.
        """
        given = AskOptions.of(options, **keywords)
        query = Query.of(question, given.history, parse(given.filter) if given.filter else None)
        held = self._searchable(given)
        builder = replace(self._builder(given), embedder=held.embedder)
        held.reader.require_whole()
        reader = held.reader if given.context is None else self._with_text(held, given.context)
        pipeline = builder.build(reader, self._split, self.ledger, query.question)
        builder.models.warm(held.warm, answering=True)
        return pipeline.run(query)

    def _with_text(self, held: SearchableStores, given: GivenText) -> PassageReader:
        """The store and a text that is given with a question. Raises UsageError if there is no text in it."""
        from localcrag.documents.sources import TextSource

        read = self.corpus.read(TextSource.of(given.text, given.source))
        document = replace(read, source=given.source)
        return ReaderWithText(held.reader, document, self.corpus.split(document), held.embedder)

    def reset_models(self) -> None:
        """After a question was cut off, let the models load again.

        What llama.cpp was interrupted in may spoil its next numbers.
        """
        for models in list(self._used.values()):
            models.close()

    def extract(
        self,
        output: OutputType,
        sources: Source | Iterable[Source] | None = None,
        *,
        filter: str | None = None,
    ) -> Iterator[ExtractedRecord]:
        """One record per document, in the form of ``output``, each value with its citation.

        Parameters:
            output: a pydantic model, a dataclass or a JSON Schema, as for :meth:`ask`.
            sources: files, folders, globs or web addresses, which are read and not kept; by default the
                documents of the knowledge base.
            filter: of the knowledge base, only documents like this.

        No question is asked, and nothing is searched for. A source that cannot be read gives a record with
        the reason. Raises UsageError for a form that cannot be filled, CorpusError, FilterError,
        UnknownKnowledgeBase, ModelNotFound.
        """
        schema = read_schema(checked_schema(output))
        if sources is not None:
            if filter is not None:
                raise UsageError(
                    "a filter chooses documents of the knowledge base, and files were named",
                    hint="leave one of them out",
                )
            named = checked_sources(sources)
            self.corpus.prepare(named)
            return records_of_sources(self._builder().schema_filler(schema), self.corpus, named)
        where, store = parse(filter) if filter else None, self._store()
        store.require_whole()
        held = {source: entry.hash for source, entry in store.indexed().items()}
        chosen = sorted(store.matching(where) & held.keys() if where else held)
        filler = self._builder().schema_filler(schema)
        return records_of_documents(filler, store, {source: held[source] for source in chosen})

    # ------------------------------------------------------------------------------ async twins

    async def aask(
        self, question: str, options: AskOptions | None = None, **keywords: Unpack[AskKeywords]
    ) -> Answer:
        """As :meth:`ask`, without blocking the event loop."""
        return await call_in_thread(partial(self.ask, question, options, **keywords))

    async def astream(
        self, question: str, options: AskOptions | None = None, **keywords: Unpack[AskKeywords]
    ) -> AsyncIterator[Event]:
        """As :meth:`stream`, without blocking the event loop; ``consent`` is asked in another thread."""
        async for event in iterate_in_thread(partial(self.stream, question, options, **keywords)):
            yield event

    async def asearch(
        self, query: str, *, k: int = 8, filter: str | None = None, evaluator: str | None = None
    ) -> list[Hit]:
        """As :meth:`search`, without blocking the event loop."""
        return await call_in_thread(partial(self.search, query, k=k, filter=filter, evaluator=evaluator))

    # ------------------------------------------------------------------------------ what it is made of

    @property
    def grader(self) -> GraderKind:
        """Who judges, if a question does not say otherwise."""
        return self._builder().grader_kind

    def _split(self, document: Document) -> list[Passage]:
        """The passages of a document, cut as in an ingestion; the readers are imported on first use."""
        return self.corpus.split(document)

    def _searchable(self, options: AskOptions) -> SearchableStores:
        """What a question is asked: the store, or those of several names. Raises as :meth:`_store` does."""
        if not self._is_joined:
            store = self._store()
            embedder = self._models(options).embedder
            reader = reader_of(store, embedder)
            return SearchableStores(reader, embedder, store.warm, lambda: store.is_current)
        if self._joined is None or not self._joined.is_current():
            names = self.name.split(NAMES_SEPARATOR)
            self._joined = joined_stores(names, self.settings, self.models)
        return self._joined
