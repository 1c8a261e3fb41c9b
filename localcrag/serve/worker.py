"""The work of the warm process: it answers a request by the public methods of KnowledgeBase."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localcrag import knowledge_base
from localcrag.errors import LocalCragError
from localcrag.loaded_models import LoadedModels
from localcrag.protocols import Consent
from localcrag.serve.ask_request import AskRequest
from localcrag.serve.protocol import (
    EmbedReply,
    EmbedRequest,
    InfoReply,
    InfoRequest,
    SearchReply,
    SearchRequest,
    WorkRequest,
)
from localcrag.settings import ModelSettings, Settings

if TYPE_CHECKING:
    from localcrag.embedding.embedder import SentenceTransformerEmbedder
    from localcrag.embedding.multilingual_embedder import MultilingualEmbedder
    from localcrag.embedding.static_embedder import StaticEmbedder

MODEL_FILE_ENDINGS = frozenset({".safetensors", ".bin", ".gguf", ".json", ".txt", ".model"})
"""The endings of the files of an embedding model."""
MAX_OPEN_KNOWLEDGE_BASES = 4
"""Knowledge bases that stay open with their caches; the one that was asked longest ago is closed."""
MAX_REMEMBERED_PAIRS = 1 << 14
"""Pairs of a question and a text whose score the evaluator remembers (some 4 MB)."""
Stamp = tuple[str, int, int]
"""A file, its size in bytes, and the nanosecond at which it was last changed."""


@dataclass(frozen=True)
class Worker:
    """Does the work of requests one after the other, with models loaded and knowledge bases open."""

    settings: Settings
    _open: dict[tuple[str, ModelSettings], knowledge_base.KnowledgeBase] = field(default_factory=dict)
    _stamps: dict[ModelSettings, frozenset[Stamp]] = field(default_factory=dict)

    def do(self, request: WorkRequest, consent: Consent | None = None) -> Iterator[Any]:
        """The replies to a request: the events of a question, or one message.

        ``consent`` is asked before a web query, if the request says that its client can be. Raises
        LocalCragError.
        """
        base = self._base(request)
        match request:
            case AskRequest():
                asked = consent if request.asks_consent else None
                yield from base.stream(request.question, replace(request.options, consent=asked))
            case SearchRequest():
                yield SearchReply(tuple(base.search(request.query, k=request.k, filter=request.filter)))
            case InfoRequest():
                yield InfoReply(base.info())
            case EmbedRequest():
                yield _embedded(base, request.texts)

    def reset(self, request: WorkRequest) -> None:
        """Reset the models of a request whose work was interrupted. Raises LocalCragError."""
        self._base(request).reset_models()

    def warm(self) -> None:
        """Load the models and the index that the first question needs, and use each once.

        Raises LocalCragError.
        """
        self._stamps[self.settings.model] = self._look(self.settings.model)
        base = knowledge_base.open(settings=self.settings)
        self._open[base.name, self.settings.model] = base
        models = base.models
        models.warm(answering=True)
        if not models.missing:
            models.language.load()
        models.embedder.encode(["first"])
        if models.evaluator:
            models.evaluator.score("first", ["first"])
        with suppress(LocalCragError):  # no knowledge base, or one that cannot be read: who asks it is told
            base.search("first", k=1)

    def changed(self, request: WorkRequest) -> str:
        """The name of a file that changed since the models of the request were loaded; "" if none did.

        The state of the files is recorded at the first request with these models.
        """
        now = self._look(request.model)
        before = self._stamps.setdefault(request.model, now)
        return next((Path(name).name for name, *_ in sorted(now ^ before)), "")

    def _base(self, request: WorkRequest) -> knowledge_base.KnowledgeBase:
        """The knowledge base of a request, opened if it is not open.

        An open one notices by itself if it was removed or made again. Raises LocalCragError.
        """
        key = request.kb, request.model
        base = self._open.pop(key, None)
        self._open[key] = base = base or knowledge_base.open(
            request.kb, settings=replace(self.settings, model=request.model)
        )
        if len(self._open) > MAX_OPEN_KNOWLEDGE_BASES:
            del self._open[next(iter(self._open))]
        with suppress(LocalCragError):  # a file that is not there is the work's to report
            if base.models.evaluator:
                base.models.evaluator.remember(MAX_REMEMBERED_PAIRS)
        return base

    def _look(self, model: ModelSettings) -> frozenset[Stamp]:
        """The files that answers depend on, beside the documents; the work itself reports missing ones."""
        home = self.settings.home
        models = LoadedModels(model, home)  # another object than the one in use, which found its files once
        files = [home / "calibrations.toml", home / "models.toml"]
        for look in (models.language_files, models.evaluator_files, lambda: _files_of(models.embedder)):
            with suppress(LocalCragError):
                files += look()
        return frozenset(stamp for file in files if (stamp := _stamp(file)))


def _embedded(base: knowledge_base.KnowledgeBase, texts: tuple[str, ...]) -> EmbedReply:
    """The vectors of texts. Raises ModelNotFound, ModelFileError."""
    from localcrag.documents.splitting import load_tokenizer

    embedder = base.models.embedder
    vectors = tuple(tuple(vector) for vector in embedder.encode(texts).tolist())
    read = load_tokenizer(embedder.tokenizer_file()).encode_batch(list(texts))
    return EmbedReply(embedder.name, vectors, sum(len(encoding.ids) for encoding in read))


def _files_of(embedder: SentenceTransformerEmbedder | MultilingualEmbedder | StaticEmbedder) -> list[Path]:
    """The files of an embedding model."""
    return [file for file in embedder.model_files() if file.suffix in MODEL_FILE_ENDINGS]


def _stamp(file: Path) -> Stamp | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return str(file), found.st_size, found.st_mtime_ns
