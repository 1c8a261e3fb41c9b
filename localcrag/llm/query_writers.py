"""The models that write queries over tables: a base with an adapter for that."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.model_entry import ModelEntry, existing_file
from localcrag.llm.registry import Registry
from localcrag.settings import ModelSettings

QUERY_CONTEXT_TOKENS = 2048
"""The window of such a model: a table of many columns, and a question."""


def writer_of_queries(adapter: ModelEntry, home: Path, settings: ModelSettings) -> LlamaCppModel:
    """The model that an adapter makes of its base.

    The base is found when it is first used, since it may have to be put together. Raises ModelNotFound,
    ModelFileError.
    """
    return LlamaCppModel(
        partial(Registry(home).resolve, adapter.base),
        adapter=existing_file(adapter),
        base_sha256=adapter.base_sha256,
        context=QUERY_CONTEXT_TOKENS,
        threads=settings.threads or None,
        gpu_layers=settings.gpu_layers,
    )
