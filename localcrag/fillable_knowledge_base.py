"""A knowledge base with its models, into which documents are ingested.

:class:`localcrag.knowledge_base.KnowledgeBase` adds searches and questions. This module joins the adapters of
documents, store and models.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from localcrag.background import call_in_thread
from localcrag.configured_models import embedding_for
from localcrag.doc2query import QuestionWriter
from localcrag.errors import UsageError
from localcrag.events import Degraded, Event, Ingested, Optimizing, Steps, report_of, result_of
from localcrag.ingestion import Ingestion, Prune, checked_meta, checked_sources
from localcrag.loaded_models import LoadedModels, models_for
from localcrag.options import AskOptions
from localcrag.pipeline_builder import PipelineBuilder
from localcrag.protocols import SourceFile
from localcrag.settings import Settings
from localcrag.store.kb_names import NAMES_SEPARATOR
from localcrag.stored_knowledge_base import StoredKnowledgeBase
from localcrag.types import NO_META, IngestReport, Meta, MetaValue

if TYPE_CHECKING:
    from localcrag.cluster.cluster_reader import ClusterReader
    from localcrag.documents import LocalCorpus
    from localcrag.store.lance_store import LanceStore
    from localcrag.web.ledger import Ledger

Source = str | Path
"""A file, a folder, a glob, a web address, or ``-`` for standard input."""


@dataclass(frozen=True, slots=True)
class _IngestOptions:
    """The parameters of :meth:`FillableKnowledgeBase.ingest` beside the sources."""

    meta: Meta = field(default_factory=lambda: NO_META)
    prune: Prune = False
    reread: bool = False
    questions: int = 0
    cluster: str | None = None


class FillableKnowledgeBase(StoredKnowledgeBase):
    """The documents that a knowledge base holds, with the models that ingest them."""

    def __init__(self, name: str, settings: Settings) -> None:
        super().__init__(name, settings)
        self._used: WeakValueDictionary[int, LoadedModels] = WeakValueDictionary()

    # ------------------------------------------------------------------------------ documents

    def ingest(
        self,
        sources: Source | Iterable[Source],
        *,
        metadata: Mapping[str, MetaValue] | None = None,
        prune: Prune = False,
        reread: bool = False,
        questions: int = 0,
        cluster: str | None = None,
    ) -> IngestReport:
        """Read, split, embed and index documents; only what changed since the last time.

        Parameters:
            sources: one or several files, folders, globs or web addresses.
            metadata: fields that every document gets, for ``filter``; strings, numbers, True and False.
            prune: forget documents below the given folders that are gone, or left out now; ``"empty"``: also
                if nothing is left of a folder, as of a disk that is not mounted.
            reread: open every file, also those whose size and time did not change.
            questions: have a chat model write so many questions for each passage that has none, and
                index them beside it (doc2query); 0 for none.
            cluster: read and embed on the nodes of the Ray cluster at this ``HOST:PORT``; ``"auto"``: on that
                which ``RAY_ADDRESS`` names, else on one that is started on this machine.

        What cannot be read is in the report's ``skipped``, with the reason. Raises CorpusError for a
        target that does not exist, PruneRefused if nothing is left of a folder, UsageError for metadata that
        cannot be kept, ClusterError, StoreError, EmbeddingMismatch.
        """
        return report_of(
            self.stream_ingestion(
                sources,
                metadata=metadata,
                prune=prune,
                reread=reread,
                questions=questions,
                cluster=cluster,
            )
        )

    def ingest_text(
        self, text: str, *, name: str, title: str = "", metadata: Mapping[str, MetaValue] | None = None
    ) -> IngestReport:
        """Index a text that is not in a file.

        Parameters:
            text: the document; it is kept as it is.
            name: what it is called: its source is ``text:NAME``, and a text of the same name takes its
                place.
            title: shown with it, and searched; by default the name.
            metadata: as for :meth:`ingest`.

        Raises UsageError for a name or text that is empty, StoreError, EmbeddingMismatch.
        """
        from localcrag.documents.sources import TextSource

        source = TextSource.of(text, name, title)
        return report_of(self._ingesting([source], _IngestOptions(checked_meta(metadata))))

    def stream_ingestion(
        self,
        sources: Source | Iterable[Source],
        *,
        metadata: Mapping[str, MetaValue] | None = None,
        prune: Prune = False,
        reread: bool = False,
        questions: int = 0,
        cluster: str | None = None,
    ) -> Iterator[Event]:
        """The events of an ingestion as they happen, the last one Ingested; parameters as for :meth:`ingest`.

        A knowledge base that is made for it and gets no document is not kept.
        """
        if not isinstance(questions, int) or questions < 0:
            raise UsageError(
                f"questions is {questions!r}, and must be 0 or more", hint="for example questions=3"
            )
        if questions:
            self._builder().require_model()
        options = _IngestOptions(checked_meta(metadata), prune, reread, questions, cluster)
        return self._ingesting(checked_sources(sources), options)

    async def aingest(
        self,
        sources: Source | Iterable[Source],
        *,
        metadata: Mapping[str, MetaValue] | None = None,
        prune: Prune = False,
        reread: bool = False,
        questions: int = 0,
        cluster: str | None = None,
    ) -> IngestReport:
        """As :meth:`ingest`, without blocking the event loop."""
        return await call_in_thread(
            partial(
                self.ingest,
                sources,
                metadata=metadata,
                prune=prune,
                reread=reread,
                questions=questions,
                cluster=cluster,
            )
        )

    def _ingesting(self, sources: Sequence[str | SourceFile], options: _IngestOptions) -> Iterator[Event]:
        """The events of an ingestion, before and after those of :class:`Ingestion` itself."""
        reader = self._cluster_reader(options.cluster) if options.cluster else None
        yield from self.models.distil()
        if reader is None:
            self.corpus.prepare(sources)
        made = not self._bases.exists(self.name)
        if options.reread and not made:
            yield Optimizing("check of the knowledge base")
            for part in self._repair():
                yield Degraded("store", f"rebuilt: {part}")
        store = self._store(create=True)
        ingestion = Ingestion(self.name, self.corpus, self.models.embedder, store, reader)
        events = ingestion.run(sources, meta=options.meta, prune=options.prune, reread=options.reread)
        try:
            for event in events:
                if isinstance(event, Ingested):
                    yield from (Degraded("cluster", notice) for notice in (reader.notices if reader else ()))
                    if options.questions:
                        written = yield from self.stream_questions(options.questions)
                        event = Ingested(replace(event.report, questions=written))
                yield event
        finally:
            if made and not store.indexed():
                self.remove()

    def _cluster_reader(self, cluster: str) -> ClusterReader:
        """What reads and embeds on a cluster. Raises UsageError, OfflineError."""
        from localcrag.cluster.cluster_ingestion import cluster_reader

        return cluster_reader(
            cluster, self.models, self.corpus, self.settings.ingest, self.ledger.recorder("")
        )

    # ------------------------------------------------------------------------------ passages that are there

    def stream_questions(self, per_passage: int) -> Steps[int]:
        """Have a chat model write questions for the passages that have none; returns how many it wrote.

        See :mod:`localcrag.doc2query`. Raises UsageError without a language model, UnknownKnowledgeBase,
        StoreError, ModelNotFound, ModelFileError.
        """
        self._builder().require_model()
        store, models = self._store(), self.models
        written = yield from QuestionWriter(models.language, models.embedder, store, per_passage).run()
        if written:
            yield Optimizing("index of questions")
            store.optimize()
        return written

    def refine(self) -> int:
        """Embed the passages of a static knowledge base with the real model; returns how many it embedded.

        It takes as long as an ingestion with that model. Meanwhile the knowledge base is asked with its
        static vectors; when every passage has its new one, they are exchanged in one step. After an
        interruption the same call goes on. A knowledge base that is not static is left as it is.

        Raises UnknownKnowledgeBase, ModelNotFound, ModelFileError, StoreError.
        """
        return result_of(self.stream_refinement())

    def stream_refinement(self) -> Steps[int]:
        """The events of :meth:`refine` as they happen; returns how many passages were embedded."""
        store, teacher = self._store(), self.models.teacher
        if teacher is None:
            return 0
        embedded = yield from store.reembed(teacher)
        self._opened = None
        return embedded

    # ------------------------------------------------------------------------------ what it is made of

    @property
    def models(self) -> LoadedModels:
        """The models that the settings name."""
        return self._models(AskOptions())

    @property
    def ledger(self) -> Ledger:
        """Everything that left the machine."""
        from localcrag.web.ledger import LEDGER_FILE_NAME, Ledger

        return Ledger(self.settings.home / LEDGER_FILE_NAME)

    @cached_property
    def corpus(self) -> LocalCorpus:
        """What finds, reads and splits documents."""
        from localcrag.documents import LocalCorpus

        limits = self.settings.ingest
        return LocalCorpus(
            tokenizer=self.models.embedder.tokenizer_file(),
            passage_tokens=limits.passage_tokens,
            max_bytes=limits.max_size_mb * 1024 * 1024,
            fetch_url=self._fetch,
            home=self.settings.home,
            follow_links=limits.follow_links,
            token_vectors=lambda: self.models.token_vectors,
        )

    def _models(self, options: AskOptions) -> LoadedModels:
        """The models for one question, which may name others than the settings."""
        wanted = options.model_settings(self.settings.model)
        if recorded := self._embedding_model:
            wanted = replace(wanted, embedding=embedding_for(wanted.embedding, recorded))
        models = models_for(wanted, self.settings.home)
        self._used[id(models)] = models
        return models

    @property
    def _embedding_model(self) -> str | None:
        """The embedding model that the knowledge base was made with; None if there is none yet."""
        if self._opened is not None:
            return self._opened.record.embedding_model
        return None if self._is_joined else self._bases.embedding_model(self.name)

    def _builder(self, options: AskOptions | None = None) -> PipelineBuilder:
        given = options or AskOptions()
        return PipelineBuilder(self.settings, self._models(given), given)

    def _fetch(self, url: str) -> tuple[bytes, str]:
        """The bytes and content type of an address that the user named; on record like all egress."""
        from localcrag.web.pages import fetch_url

        return fetch_url(url, record=self.ledger.recorder(""))

    @property
    def _is_joined(self) -> bool:
        """Whether it is several knowledge bases, which are searched and asked as one."""
        return NAMES_SEPARATOR in self.name

    def _store(self, *, create: bool = False) -> LanceStore:
        """The store for searching and writing: made with the embedding model that is in use.

        Raises UnknownKnowledgeBase, EmbeddingMismatch, StoreError.
        """
        if self._opened is None or not self._opened.is_current:
            self._opened = None
            embedder = self.models.embedder
            open_or_make = self._bases.create if create else self._bases.open
            self._opened = open_or_make(self.name, embedder.name, embedder.dimension)
        return self._opened
