"""The address of a Ray cluster, and which cluster an ingestion means."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from localcrag.errors import UsageError

AUTO_CLUSTER = "auto"
"""The name of the cluster that ``RAY_ADDRESS`` names, or else of one that is started for the ingestion."""
ADDRESS_VARIABLE = "RAY_ADDRESS"
_PLACE = re.compile(r"(?P<host>[\w.-]+|\[[0-9a-fA-F:.]+\]):(?P<port>\d{1,5})", re.ASCII)
_LARGEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """The host and the port of the head of a cluster."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> ClusterAddress:
        """The address that ``HOST:PORT`` says. Raises UsageError for anything else."""
        if text.startswith("ray://"):
            raise UsageError(
                "a cluster is not used through a Ray client, as ray:// would",
                hint="start a node on this machine (ray start --address=HOST:6379), and name HOST:6379",
            )
        found = _PLACE.fullmatch(text)
        if found is None or not 0 < int(found["port"]) <= _LARGEST_PORT:
            raise UsageError(
                f"{text!r} is not the address of a cluster",
                hint="it looks like 10.0.0.5:6379; without an address write --cluster behind the documents",
            )
        return cls(found["host"].strip("[]"), int(found["port"]))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def wanted_cluster(named: str, environ: Mapping[str, str] = os.environ) -> ClusterAddress | None:
    """The cluster that ``named`` means; None for one that is started for the ingestion and ended after it.

    Raises UsageError for an address that is none, also in ``RAY_ADDRESS``.
    """
    if named != AUTO_CLUSTER:
        return ClusterAddress.parse(named)
    exported = environ.get(ADDRESS_VARIABLE, "").strip()
    return ClusterAddress.parse(exported) if exported else None
