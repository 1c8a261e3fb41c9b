"""Several knowledge bases opened together, to be searched and asked as one.

Their names are written as one, ``papers+mail``: no name of a knowledge base has a plus sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localcrag.configured_models import MULTILINGUAL, embedding_for
from localcrag.crag.wrapped_readers.compared_reader import ComparedReader
from localcrag.crag.wrapped_readers.cross_lingual_reader import CrossLingualReader
from localcrag.crag.wrapped_readers.joined_reader import JoinedEmbedder, JoinedReader, NamedReader
from localcrag.errors import EmbeddingMismatch, ModelError
from localcrag.loaded_models import LoadedModels, models_for
from localcrag.protocols import Embedder, PassageReader
from localcrag.settings import Settings
from localcrag.stored_knowledge_base import bases_of

if TYPE_CHECKING:
    from localcrag.store.lance_store import LanceStore


@dataclass(frozen=True, slots=True)
class SearchableStores:
    """What a question is asked: one knowledge base or several as one.

    ``embedder`` embeds the queries, ``warm`` opens the tables, and ``is_current`` says whether they are still
    those of the knowledge bases.
    """

    reader: PassageReader
    embedder: Embedder
    warm: Callable[[], None]
    is_current: Callable[[], bool]


def joined_stores(names: Sequence[str], settings: Settings, models: LoadedModels) -> SearchableStores:
    """Several knowledge bases as one, each searched with the embedding model that it was made with.

    Raises UnknownKnowledgeBase, EmbeddingMismatch if a model is not there any more, StoreError, UsageError.
    """
    stores: list[LanceStore] = [bases_of(name, settings.home).open(name) for name in names]
    embedders: dict[str, Embedder] = {}
    for store in stores:
        if (model := store.record.embedding_model) not in embedders:
            embedders[model] = _embedder(store, settings, models)
    numbers = {model: number for number, model in enumerate(embedders)}
    named = [
        NamedReader(store.record.name, reader_of(store, embedders[model]), numbers[model])
        for store in stores
        for model in [store.record.embedding_model]
    ]

    def warm() -> None:
        for store in stores:
            store.warm()

    def is_current() -> bool:
        return all(store.is_current for store in stores)

    if len(embedders) == 1:
        return SearchableStores(JoinedReader(named), next(iter(embedders.values())), warm, is_current)
    joined = JoinedEmbedder(list(embedders.values()))
    return SearchableStores(JoinedReader(named, joined), joined, warm, is_current)


def reader_of(store: LanceStore, embedder: Embedder) -> PassageReader:
    """What is searched: the store, or one around it for static vectors or those of several languages."""
    from localcrag.embedding.multilingual_embedder import MultilingualEmbedder
    from localcrag.embedding.static_embedder import StaticEmbedder

    if isinstance(embedder, StaticEmbedder):
        return ComparedReader(store, embedder.teacher)
    return CrossLingualReader(store) if isinstance(embedder, MultilingualEmbedder) else store


def _embedder(store: LanceStore, settings: Settings, models: LoadedModels) -> Embedder:
    """The embedding model that a knowledge base was made with: that of the settings, or another one here.

    Raises EmbeddingMismatch if there is none.
    """
    record = store.record
    own = embedding_for(settings.model.embedding, record.embedding_model)
    for embedding in (own, record.embedding_model, MULTILINGUAL):
        found = models if embedding == settings.model.embedding else _models_of(embedding, settings)
        try:
            if found.embedder.name == record.embedding_model:
                return found.embedder
        except ModelError:
            continue
    raise EmbeddingMismatch(
        f"knowledge base {record.name!r} was made with the embedding model {record.embedding_model}, "
        "which is not found",
        hint="install it, or set model.embedding to its folder",
    )


def _models_of(embedding: str, settings: Settings) -> LoadedModels:
    return models_for(replace(settings.model, embedding=embedding), settings.home)
