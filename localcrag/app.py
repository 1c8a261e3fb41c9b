"""The composition root: the one place that knows the loop and the adapters.

:func:`open` gives a :class:`KnowledgeBase`, the whole library in five calls: ``ingest``,
``search``, ``ask``, ``stream``, ``info``. Opening is cheap; models and indexes load on first use
and are shared by everything in the process that uses the same settings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localcrag import settings as configuration
from localcrag.composition import Composition
from localcrag.crag.loop import Loop, checked
from localcrag.crag.parts import Parts, Query
from localcrag.crag.remember import RememberingEvaluator
from localcrag.crag.retrieve import Retriever
from localcrag.errors import UsageError
from localcrag.events import Event, Ingested, Optimizing, Steps, answer_of, report_of, result_of
from localcrag.filters import parse
from localcrag.ingest import Ingestion
from localcrag.models import Models, models_for
from localcrag.options import AskOptions as AskOptions
from localcrag.protocols import ThreadStore
from localcrag.questions import Questioning
from localcrag.settings import Settings
from localcrag.types import (
    NO_META,
    Answer,
    Document,
    GraderKind,
    Hit,
    Indexed,
    IngestReport,
    Meta,
    Mode,
    Policy,
    StoreInfo,
    WebPolicy,
)

if TYPE_CHECKING:
    from localcrag.corpus import LocalCorpus
    from localcrag.index.store import Facet, KnowledgeBases, LanceStore
    from localcrag.web.ledger import Ledger


def open(
    name: str | None = None, *, home: Path | str | None = None, settings: Settings | None = None
) -> KnowledgeBase:
    """A knowledge base by name; it comes into being with its first ingestion.

    ``home`` is another place for everything localcrag keeps; ``settings`` replace what the
    configuration file and the environment say. Raises SettingsError.
    """
    given = settings or configuration.load(home=Path(home) if home else None)
    return KnowledgeBase(name or given.kb, given)


def names(settings: Settings) -> list[str]:
    """The knowledge bases there are."""
    from localcrag.index.store import KnowledgeBases

    return KnowledgeBases(settings.home).names()


def threads(settings: Settings) -> ThreadStore:
    """The named conversations."""
    from localcrag.threads import SqliteThreads

    return SqliteThreads(settings.home / "threads.db")


@dataclass(frozen=True)
class KnowledgeBase:
    """A named set of documents that can be asked."""

    name: str
    settings: Settings
    _opened: list[LanceStore] = field(default_factory=list, repr=False, compare=False)

    # ------------------------------------------------------------------------------ documents

    def ingest(
        self, targets: Sequence[str | Path], *, metadata: Mapping[str, Any] = NO_META, prune: bool = False
    ) -> IngestReport:
        """Read, split, embed and index files, folders, globs or URLs; only what changed.

        Raises CorpusError for a target that does not exist, StoreError, EmbeddingMismatch.
        """
        return report_of(self.ingesting(targets, metadata=metadata, prune=prune))

    def ingesting(
        self,
        targets: Sequence[str | Path],
        *,
        metadata: Meta = NO_META,
        prune: bool = False,
        reread: bool = False,
        questions: int = 0,
    ) -> Iterator[Event]:
        """The events of an ingestion, the last one Ingested.

        A knowledge base that is made for it and gets no document is not kept. So many ``questions``
        are then written for each passage that has none, see :meth:`questioning`.
        """
        if questions:
            self._composition().require_chat("write questions", "leave out --questions")
        made = self.name not in names(self.settings)
        store = self._store(create=True)
        ingestion = Ingestion(self.name, self.corpus, self.models.embedder, store)
        try:
            for event in ingestion.run(
                [str(target) for target in targets], meta=metadata, prune=prune, reread=reread
            ):
                if isinstance(event, Ingested) and questions:
                    written = yield from self.questioning(questions)
                    event = Ingested(replace(event.report, questions=written))
                yield event
        finally:
            if made and not store.indexed():
                self.remove()

    def questioning(self, per_passage: int) -> Steps[int]:
        """Have a chat model write questions for the passages that have none; returns how many it wrote.

        See :mod:`localcrag.questions`. Raises UsageError with the embedded model, UnknownKnowledgeBase,
        StoreError, ModelNotFound, ModelFileError.
        """
        self._composition().require_chat("write questions", "leave out --questions")
        store, models = self._store(), self.models
        written = yield from Questioning(models.language, models.embedder, store, per_passage).run()
        if written:
            yield Optimizing("index of questions")
            store.optimize()
        return written

    def info(self) -> StoreInfo:
        """What it holds. Raises UnknownKnowledgeBase."""
        return self._held.info()

    def documents(self, *, filter: str | None = None) -> list[Indexed]:
        """The documents it holds, or those that match, by source. Raises FilterError."""
        store = self._held
        held = store.indexed()
        chosen = store.matching(parse(filter)) & held.keys() if filter else held
        return [held[source] for source in sorted(chosen)]

    def facets(self, field: str, *, limit: int = 20, filter: str | None = None) -> list[Facet]:
        """The values of a field, most frequent first. Raises FilterError."""
        return self._held.facets(field, limit=limit, filter=parse(filter) if filter else None)

    def forget(self, sources: Sequence[str]) -> int:
        """Take documents out; returns how many were held."""
        return self._held.remove(sources)

    def compact(self) -> None:
        """Bring the search indexes up to date and give disk space back."""
        self._held.optimize()

    def export(self, *, filter: str | None = None) -> Iterator[Document]:
        """The documents, or those that match, with their stored text, one at a time. Raises FilterError."""
        return self._held.documents(filter=parse(filter) if filter else None)

    def remove(self) -> None:
        """Delete the knowledge base; the documents themselves are not touched."""
        self._opened.clear()
        self._bases.remove(self.name)

    # ------------------------------------------------------------------------------ questions

    def search(self, query: str, *, k: int = 8, filter: str | None = None) -> list[Hit]:
        """The best ``k`` passages, 1 or more. Raises UnknownKnowledgeBase, FilterError, UsageError."""
        if k < 1:
            raise UsageError(f"k is {k}, and must be 1 or more", hint="for example k=8")
        text, where = checked(query), parse(filter) if filter else None
        store = self._store()
        self.models.warm(store.warm, answering=False)
        candidates = max(k, self.settings.loop.candidates)
        retriever = Retriever(store, self.models.embedder, self.models.evaluator, k, candidates)
        return result_of(retriever.search([text], text, where))

    def ask(
        self,
        question: str,
        *,
        filter: str | None = None,
        policy: Policy | str | None = None,
        web: WebPolicy | str | None = None,
        mode: Mode | str | None = None,
        agent: bool = False,
    ) -> Answer:
        """The answer to one question. Raises what :meth:`stream` raises."""
        options = AskOptions(
            agent=agent,
            filter=filter,
            policy=Policy(policy) if policy else None,
            web=WebPolicy(web) if web else None,
            mode=Mode(mode) if mode else None,
        )
        return answer_of(self.stream(question, options))

    def stream(self, question: str, options: AskOptions | None = None) -> Iterator[Event]:
        """The events of one question as they happen, the last one Finished.

        Raises UsageError, FilterError, UnknownKnowledgeBase, EmbeddingMismatch, ModelNotFound,
        ModelFileError, ContextOverflow; what only weakens the answer is a Degraded event.
        """
        given = options or AskOptions()
        text = checked(question)
        where = parse(given.filter) if given.filter else None
        store = self._store()
        composition = self._composition(given)
        how = composition.options()
        loop = Loop(self._parts(store, composition, text), how)
        self.models.warm(store.warm, answering=True)
        return loop.run(Query(text, tuple(given.history), where))

    def reset(self) -> None:
        """After a question was cut off, let the models load again.

        What llama.cpp was interrupted in may spoil its next numbers.
        """
        models = self.models
        models.language.close()
        if models.evaluator:
            models.evaluator.close()

    # ------------------------------------------------------------------------------ parts

    @property
    def models(self) -> Models:
        return models_for(self.settings.model, self.settings.home)

    @cached_property
    def corpus(self) -> LocalCorpus:
        from localcrag.corpus import LocalCorpus

        limits = self.settings.ingest
        return LocalCorpus(
            tokenizer=self.models.embedder.tokenizer_file(),
            passage_tokens=limits.passage_tokens,
            max_bytes=limits.max_size_mb * 1024 * 1024,
            fetch_url=self._fetch,
            home=self.settings.home,
        )

    def _fetch(self, url: str) -> tuple[bytes, str]:
        """The bytes and content type of an address that the user named; on record like all egress."""
        from localcrag.web.fetch import fetch_url

        return fetch_url(url, record=partial(_record, self.ledger, ""))

    def _store(self, *, create: bool = False) -> LanceStore:
        """The store for searching and writing: made with the embedding model that is in use.

        Raises UnknownKnowledgeBase, EmbeddingMismatch, StoreError.
        """
        self._let_go()
        if not self._opened:
            embedder = self.models.embedder
            opening = self._bases.create if create else self._bases.open
            self._opened.append(opening(self.name, embedder.name, embedder.dimension))
        return self._opened[0]

    @property
    def _held(self) -> LanceStore:
        """The store for looking at and taking away, whatever model it was made with."""
        self._let_go()
        return self._opened[0] if self._opened else self._bases.open(self.name)

    def _let_go(self) -> None:
        """Of what was opened, if it was removed or made anew since."""
        if not all(store.is_current for store in self._opened):
            self._opened.clear()

    @property
    def _bases(self) -> KnowledgeBases:
        from localcrag.index.store import KnowledgeBases

        return KnowledgeBases(self.settings.home)

    def _parts(self, store: LanceStore, composition: Composition, question: str) -> Parts:
        models = self.models
        evaluator = RememberingEvaluator(models.evaluator) if models.evaluator else None
        web = self.settings.web
        record = partial(_record, self.ledger, question)
        search, fetcher = None, None
        if composition.web_policy() is not WebPolicy.NEVER:
            from localcrag.web.fetch import HttpPageFetcher
            from localcrag.web.searxng import SearxngSearch

            search = SearxngSearch(web.url, record=record, language=web.language, timeout=web.timeout)
            fetcher = HttpPageFetcher(record=record, allowed_private=web.allow_private)
        return Parts(
            store=store,
            embedder=models.embedder,
            model=models.language,
            grader=composition.grader(evaluator),
            split=self.corpus.split,
            evaluator=evaluator,
            web=search,
            fetcher=fetcher,
        )

    def _composition(self, given: AskOptions | None = None) -> Composition:
        return Composition(self.settings, self.models, given or AskOptions())

    @property
    def grader(self) -> GraderKind:
        """Who judges, where a question does not say otherwise."""
        return self._composition().judge

    @property
    def ledger(self) -> Ledger:
        """Everything that left the machine."""
        from localcrag.web.ledger import Ledger

        return Ledger(self.settings.home / "egress.jsonl")


def _record(ledger: Ledger, question: str, kind: str, target: str) -> None:
    ledger.record(kind, target, question)
