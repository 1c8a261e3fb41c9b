"""A Ray cluster: connecting to one, or starting one on this machine, and running tasks on its nodes.

This is the only module that imports Ray. It runs plain tasks, of which Ray tries one again whose node or
worker process died. Ray's usage statistics, dashboard, progress and logs are off.
"""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import re
import secrets
import signal
import socket
import tempfile
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from types import ModuleType
from typing import Any

from localcrag._platform import cores
from localcrag.cluster.cluster_address import ClusterAddress
from localcrag.cluster.cluster_reader import LostTask, Wanted
from localcrag.cluster.node_work import NodeResult, NodeSetting, NodeTask, read_and_embed
from localcrag.egress import is_loopback, is_offline, refuse_outside
from localcrag.errors import ClusterError, UsageError
from localcrag.printable_text import one_line

CONNECT_SECONDS = 10.0
"""The longest time until the head of a cluster answers."""
NO_PROCESSOR_SECONDS = 60.0
"""Seconds without any processor in the cluster after which the ingestion gives up."""
MAX_TRIES_AGAIN = 3
"""How often a task is tried again whose node or worker process died."""
_LOOK_SECONDS = 2.0
"""Seconds between two looks at which nodes there are."""
_OWN_STORE_BYTES = 256 << 20
"""Bytes of shared memory of a cluster that is started on this machine."""
_MAX_REASON_CHARACTERS = 200
QUIET_VARIABLES = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DISABLE_DOCKER_CPU_WARNING": "1",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",
    "RAY_gcs_server_request_timeout_seconds": "10",
}
TOKEN_MODE_VARIABLE, TOKEN_VARIABLE = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"
LOOPBACK_VARIABLES = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""The variable by which Ray takes loopback as it is, and not for this machine's address on its network."""
_VERSIONS = re.compile(r"Ray: (\S+)\s+Python: (\S+)")


@dataclass
class RayNodes:
    """The nodes of a connected cluster; implements :class:`~.cluster_reader.ClusterNodes`."""

    _ray: ModuleType
    _setting: NodeSetting
    _name: str

    def __post_init__(self) -> None:
        self._head = self._ray.get_runtime_context().gcs_address
        self._task = self._ray.remote(num_cpus=1, max_retries=MAX_TRIES_AGAIN)(_run_task)
        self._refs: dict[Any, None] = {}
        self._alive: dict[str, str] = {}
        self._lost: dict[str, str] = {}
        self._processors = 0
        self._looked = self._had_processors = monotonic()
        self._look()

    @property
    def processors(self) -> int:
        """The processors of all nodes now, at least 1.

        Raises ClusterError if there has been none for long, or the head is gone.
        """
        if monotonic() - self._looked >= _LOOK_SECONDS:
            self._look()
        return max(1, self._processors)

    @property
    def notices(self) -> Sequence[str]:
        """A line for each node that was lost."""
        self._look()
        return [f"the node {name} was lost: others did its work" for name in self._lost.values()]

    @property
    def addresses(self) -> list[str]:
        """The addresses of the nodes that are alive."""
        return sorted({node["NodeManagerAddress"] for node in self._ray.nodes() if node["Alive"]})

    def submit(self, task: Sequence[Wanted]) -> Any:
        """Send a task to whichever node is free; returns its ticket."""
        ref = self._task.remote(self._setting, list(task))
        self._refs[ref] = None
        return ref

    def next_result(self, seconds: float) -> tuple[Any, NodeResult | LostTask] | None:
        """A task that is finished, with its result, each once; None if there is none for so long."""
        ready, _ = self._ray.wait(list(self._refs), num_returns=1, timeout=seconds)
        _ = self.processors
        if not ready:
            return None
        del self._refs[ready[0]]
        return ready[0], self._result(ready[0])

    def _result(self, ref: Any) -> NodeResult | LostTask:
        """The result of a task. Raises ClusterError if localcrag cannot run on a node."""
        errors = self._ray.exceptions
        try:
            result: NodeResult = self._ray.get(ref)
        except errors.RayTaskError as error:
            raise ClusterError(
                f"a node of {self._name} cannot run localcrag: {_last_line(error)}",
                hint="install the same localcrag with the extra `cluster` on every node, and run the same "
                "command again, which goes on",
            ) from error
        except (
            errors.WorkerCrashedError,
            errors.OutOfMemoryError,
            errors.NodeDiedError,
            errors.ObjectLostError,
        ) as error:
            return LostTask(_first_line(error))
        except errors.RayError as error:
            raise ClusterError(
                f"{self._name} cannot go on: {_first_line(error)}",
                hint="look at its nodes (ray status), and run the same command again, which goes on",
            ) from error
        return result

    def _look(self) -> None:
        """Look at which nodes there are. Raises ClusterError if the head is gone, or no processor is left."""
        if not _answers(ClusterAddress.parse(self._head)):
            raise ClusterError(
                f"{self._name} does not answer any more",
                hint="start it again, and run the same command again, which goes on",
            )
        nodes = self._ray.nodes()
        alive = {node["NodeID"]: node for node in nodes if node["Alive"]}
        self._lost |= {node: name for node, name in self._alive.items() if node not in alive}
        self._alive = {
            key: f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
            for key, node in alive.items()
        }
        self._processors = int(sum(node["Resources"].get("CPU", 0) for node in alive.values()))
        self._looked = monotonic()
        if self._processors:
            self._had_processors = self._looked
        elif self._looked - self._had_processors > NO_PROCESSOR_SECONDS:
            raise ClusterError(
                f"{self._name} has no processor left",
                hint="start a node (ray start --address=…), and run the same command again, which goes on",
            )


def require_ray() -> None:
    """Raise UsageError if Ray is not installed."""
    import importlib.util

    if importlib.util.find_spec("ray") is None:
        raise UsageError("Ray is not installed", hint='pip install "localcrag[cluster]"')


@contextmanager
def connected(address: ClusterAddress | None, setting: NodeSetting) -> Iterator[RayNodes]:
    """The nodes of the cluster at an address, or of one that is started on this machine for the block.

    Raises ClusterError if it cannot be used, OfflineError for nodes outside of this machine if that is not
    allowed.
    """
    require_ray()
    os.environ.update(QUIET_VARIABLES)
    stays_here = address is None or is_loopback(address.host)
    if stays_here:
        os.environ.update(LOOPBACK_VARIABLES)
    if address is None and TOKEN_MODE_VARIABLE not in os.environ:
        os.environ.update({TOKEN_MODE_VARIABLE: "token", TOKEN_VARIABLE: secrets.token_hex(32)})
    before = signal.getsignal(signal.SIGTERM)
    import ray

    if stays_here:
        from ray._private import ray_constants

        ray_constants.ENABLE_RAY_CLUSTER = False  # it read the variable when it was first imported

    with _joined(ray, address) if address else _started(ray):
        nodes = RayNodes(
            ray, setting, f"the cluster at {address}" if address else "the cluster of this machine"
        )
        if is_offline():
            for node in nodes.addresses:
                refuse_outside(node)
        yield nodes
    if threading.current_thread() is threading.main_thread():  # Ray puts its own in its place
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _joined(ray: ModuleType, address: ClusterAddress) -> Iterator[None]:
    """A connection to a cluster. Raises ClusterError, OfflineError."""
    refuse_outside(address.host)
    if not _answers(address):
        raise ClusterError(
            f"no cluster answers at {address}",
            hint="start it there (ray start --head --port=6379), and a node here (ray start --address=…)",
        )
    try:
        ray.init(address=str(address), log_to_driver=False, logging_level=logging.CRITICAL)
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise refusal(address, error) from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _started(ray: ModuleType) -> Iterator[None]:
    """A cluster of this machine alone, whose ports and files are its own. Raises ClusterError."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="localcrag-", dir="/tmp", ignore_cleanup_errors=True)
        )
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", RuntimeWarning)  # LanceDB's, of a fork; a program follows it at once
        try:
            ray.init(
                address="local",
                num_cpus=cores(),
                num_gpus=0,
                include_dashboard=False,
                object_store_memory=_OWN_STORE_BYTES,
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                _node_ip_address="127.0.0.1",
                _temp_dir=folder,
            )
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise ClusterError(
                f"a cluster cannot be started on this machine: {_first_line(error)}",
                hint="read without --cluster, or name the address of one that runs",
            ) from error
        stack.callback(ray.shutdown)
        yield


def _run_task(setting: NodeSetting, task: NodeTask) -> NodeResult:
    """The task of a node."""
    import ray

    return read_and_embed(setting, task, f"{platform.node()} ({ray.util.get_node_ip_address()})")


def _answers(address: ClusterAddress) -> bool:
    """Whether something listens at an address."""
    try:
        socket.create_connection((address.host, address.port), CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def refusal(address: ClusterAddress, error: BaseException) -> ClusterError:
    """The error for a cluster that cannot be joined: its versions differ, or no node of it is here."""
    found = _VERSIONS.findall(" ".join(_chain(error)))
    if len(found) == 2:
        (theirs, python), (ours, our_python) = found
        return ClusterError(
            f"the cluster at {address} runs Ray {theirs} on Python {python}, and this machine Ray {ours} on "
            f"Python {our_python}",
            hint="install the same versions on every node",
        )
    return ClusterError(
        f"the cluster at {address} cannot be used from this machine: {_first_line(error)}",
        hint=f"this machine must be a node of it: ray start --address={address}",
    )


def _chain(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


def _first_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return one_line(lines[0] if lines else type(error).__name__)[:_MAX_REASON_CHARACTERS]


def _last_line(error: BaseException) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return one_line(lines[-1] if lines else type(error).__name__)[:_MAX_REASON_CHARACTERS]
