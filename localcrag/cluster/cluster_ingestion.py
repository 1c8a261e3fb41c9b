"""The reader of an ingestion on a cluster: made of settings, models and corpus; it connects when it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from localcrag._platform import expanded
from localcrag.cluster.cluster_address import wanted_cluster
from localcrag.cluster.cluster_reader import ClusterNodes, ClusterReader, Wanted
from localcrag.cluster.node_work import NodeSetting, installed_version
from localcrag.cluster.ray_cluster import connected, require_ray
from localcrag.configured_models import STATIC, teacher_of
from localcrag.documents import LocalCorpus
from localcrag.egress import is_offline, refuse_outside
from localcrag.loaded_models import LoadedModels
from localcrag.settings import IngestSettings


def cluster_reader(
    named: str,
    models: LoadedModels,
    corpus: LocalCorpus,
    limits: IngestSettings,
    record: Callable[[str, str], None],
) -> ClusterReader:
    """The reader that has a cluster read and embed.

    Args:
        named: ``HOST:PORT``, or ``auto`` for the one that ``RAY_ADDRESS`` names or else one of this machine.
        models: those of the driver, whose embedding model every node must have.
        corpus: brings the bytes of what only the driver can read.
        limits: the bounds of reading and splitting.
        record: records (kind, target) in the ledger before anything is sent to an address.

    Raises UsageError for an address that is none, or without Ray; OfflineError for an address outside of
    this machine while offline.
    """
    address = wanted_cluster(named)
    require_ray()
    if address:
        refuse_outside(address.host)

    def connect(wanted: Sequence[Wanted]) -> AbstractContextManager[ClusterNodes]:
        setting = NodeSetting(
            version=installed_version(),
            embedding=_named_from_anywhere(models),
            embedder=models.embedder.name,
            home=str(models.home),
            passage_tokens=limits.passage_tokens,
            max_bytes=limits.max_size_mb * 1024 * 1024,
            offline=is_offline(),
        )
        if address:
            record(
                "cluster", f"{address} ({len(wanted):,} documents, {sum(f.size for f, _ in wanted):,} bytes)"
            )
        return connected(address, setting)

    return ClusterReader(connect, corpus.with_bytes)


def _named_from_anywhere(models: LoadedModels) -> str:
    """The setting ``model.embedding``, with the absolute path of a folder, as a node is in another one."""
    embedding = models.settings.embedding
    teacher = teacher_of(embedding)
    folder = expanded(teacher or embedding).absolute()
    source = models.teacher or models.embedder
    if getattr(source, "folder", None) != folder:
        return embedding
    return f"{STATIC}:{folder}" if teacher else str(folder)
