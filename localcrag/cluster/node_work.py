"""The work of a node: it reads and embeds the documents of a task, as the driver itself would.

Each worker process of Ray holds one embedding model and one isolated process that reads, from its first task
until it ends. Whatever is not as on the driver (the version of localcrag, the embedding model, a file) is
said, and never worked around in silence.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from localcrag.documents.process_pool import ReaderPool
from localcrag.documents.sources import LocalFile
from localcrag.egress import go_offline, obey_environment
from localcrag.errors import ClusterError, LocalCragError
from localcrag.loaded_models import LoadedModels
from localcrag.protocols import SourceFile
from localcrag.settings import ModelSettings, default_home
from localcrag.types import READING, Meta, ReadResult

NodeTask = Sequence[tuple[SourceFile, Meta]]
"""The sources that a task reads, with the fields given for them."""


@dataclass(frozen=True, slots=True)
class NodeSetting:
    """What a node has to know, and to have, to read and embed as the driver does.

    ``version`` is that of localcrag, ``embedding`` the setting ``model.embedding``, and ``embedder`` the name
    that the model then has. ``home`` is the home folder on the driver, whose caches are used if the node has
    it too. ``max_bytes`` is the largest size of a source, and ``offline`` whether the driver is offline.
    """

    version: str
    embedding: str
    embedder: str
    home: str
    passage_tokens: int
    max_bytes: int
    offline: bool
    reading: int = READING


@dataclass(frozen=True, slots=True)
class NodeResult:
    """The result of a task on the node ``node``.

    ``readings`` have their vectors; ``unseen`` are the sources of files that the node does not have as the
    driver does. ``failure`` says in one line why the node cannot work at all, and ``hint`` what to do.
    """

    node: str
    readings: tuple[ReadResult, ...] = ()
    unseen: tuple[str, ...] = ()
    failure: str = ""
    hint: str = ""


def installed_version() -> str:
    """The version of localcrag that is installed here."""
    return version("localcrag")


def read_and_embed(setting: NodeSetting, task: NodeTask, node: str) -> NodeResult:
    """Read and embed the documents of a task on this node."""
    try:
        worker = _node_worker(setting)
        seen = [(file, meta) for file, meta in task if not isinstance(file, LocalFile) or _is_same(file)]
        readings = tuple(worker.embedded([worker.read(file, meta) for file, meta in seen]))
    except LocalCragError as error:
        return NodeResult(node, failure=str(error), hint=error.hint)
    taken = {file.source for file, _ in seen}
    unseen = tuple(file.source for file, _ in task if file.source not in taken)
    return NodeResult(node, readings, unseen)


class _NodeWorker:
    """The embedding model and the isolated reader of one worker process.

    Raises ClusterError if localcrag or the model is another one than on the driver; ModelNotFound,
    ModelFileError.
    """

    def __init__(self, setting: NodeSetting) -> None:
        if (setting.version, setting.reading) != (installed_version(), READING):
            raise ClusterError(
                f"localcrag is {installed_version()} there, and {setting.version} here",
                hint="install the same localcrag on every node",
            )
        obey_environment()
        if setting.offline:
            go_offline()
        home = Path(setting.home) if os.path.isdir(setting.home) else default_home()  # noqa: PTH112 - no error
        models = LoadedModels(ModelSettings(embedding=setting.embedding, threads=1), home)
        for _ in models.distil():
            pass
        self._embedder = models.embedder
        if self._embedder.name != setting.embedder:
            raise ClusterError(
                f"the embedding model {setting.embedding} is {self._embedder.name} there, and "
                f"{setting.embedder} here",
                hint="bring the same model to the same path on every node",
            )
        reading = {
            "tokenizer": self._embedder.tokenizer_file(),
            "passage_tokens": setting.passage_tokens,
            "max_bytes": setting.max_bytes,
        }
        self._readers = ReaderPool(1, reading)

    def read(self, file: SourceFile, meta: Meta) -> ReadResult:
        """Read and split one source in the isolated process. Raises CorpusError if it cannot be started."""
        return self._readers.read(file, meta)

    def embedded(self, readings: Sequence[ReadResult]) -> Iterator[ReadResult]:
        """The readings with the vectors of their passages."""
        vectors = self._embedder.encode(
            [passage.searchable for read in readings for passage in read.passages]
        )
        start = 0
        for read in readings:
            end = start + len(read.passages)
            yield replace(read, vectors=vectors[start:end]) if read.passages else read
            start = end


@lru_cache(maxsize=1)
def _node_worker(setting: NodeSetting) -> _NodeWorker:
    return _NodeWorker(setting)


def _is_same(file: LocalFile) -> bool:
    """Whether the node has the file of this path in the size and of the time that the driver saw."""
    try:
        found = os.stat(file.path)  # noqa: PTH116 - one of many
    except (OSError, ValueError):
        return False
    return (found.st_size, found.st_mtime_ns) == (file.size, file.mtime_ns)
