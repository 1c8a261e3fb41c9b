"""Reading and embedding on the nodes of a cluster: a bounded number of small batches on the way.

A batch is small enough that a node that dies costs seconds, and large enough that its model is busy. Only so
many batches are on the way that every processor has its next one at hand: if the writer is slow, nothing is
sent, so neither the driver nor the nodes fill up. A source belongs to one batch at a time, and its result is
taken once, so nothing is indexed twice.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from localcrag.cluster.node_work import NodeResult
from localcrag.documents.extracted import MEBIBYTE
from localcrag.documents.sources import GivenBytes, StdinFile, UrlFile
from localcrag.errors import ClusterError, UnreadableError
from localcrag.protocols import SourceFile
from localcrag.types import Meta, ReadResult, StillReading

Wanted = tuple[SourceFile, Meta]

MAX_BATCH_BYTES = MEBIBYTE // 4
"""Bytes of files from which on a batch is sent: a processor embeds so much plain text in some seconds."""
MIN_BATCH_BYTES = MEBIBYTE // 32
MAX_BATCH_FILES = 64
BATCHES_PER_PROCESSOR = 2
"""Batches on the way for each processor of the cluster: the one that it works on, and the next."""
SHARES_PER_PROCESSOR = 4
"""The number of batches that a small ingestion is cut into for each processor, so that they end together."""
MAX_BYTES_PER_PROCESSOR = 8 * MEBIBYTE
"""Bytes of files on the way for each processor; a larger file is sent alone."""
UNKNOWN_SIZE_BYTES = 8 * MEBIBYTE
"""The weight in bytes of a source whose size is not known before it is read."""
STILL_READING_SECONDS = 1.0
"""Seconds without a result after which a reading says what it is at."""


@dataclass(frozen=True, slots=True)
class LostTask:
    """A task that no node finished, however often it was tried; ``reason`` is why, in one line."""

    reason: str


class ClusterNodes(Protocol):
    """The nodes of a cluster that is connected."""

    @property
    def processors(self) -> int:
        """The processors of all nodes now, at least 1.

        Raises ClusterError if there has been none for long, or the head is gone.
        """
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What the user should know of the nodes: those that were lost."""
        ...

    def submit(self, task: Sequence[Wanted]) -> Hashable:
        """Send a task to whichever node is free; returns its ticket."""
        ...

    def next_result(self, seconds: float) -> tuple[Hashable, NodeResult | LostTask] | None:
        """A task that is finished, with its result, each once; None if there is none for so long.

        Raises ClusterError if the cluster is gone, or cannot run the task at all.
        """
        ...


@dataclass(frozen=True, slots=True)
class _Batch:
    """Sources that go to a node together; ``carried`` if their bytes go with them."""

    wanted: tuple[Wanted, ...]
    carried: bool = False

    @property
    def weight(self) -> int:
        """The bytes that it counts for."""
        return sum(file.size or UNKNOWN_SIZE_BYTES for file, _ in self.wanted)

    def alone(self, *, carried: bool) -> list[_Batch]:
        """A batch for each of its sources."""
        return [_Batch((item,), carried) for item in self.wanted]


class ClusterReader:
    """Reads and embeds on a cluster; implements :class:`localcrag.protocols.DocumentReader`.

    ``connect`` connects the cluster as soon as there is something to read, and leaves it at the end.
    ``with_bytes`` brings the bytes of a source to the driver, and raises UnreadableError: of addresses and
    standard input always, of a file if a node does not have it as the driver does.
    """

    def __init__(
        self,
        connect: Callable[[Sequence[Wanted]], AbstractContextManager[ClusterNodes]],
        with_bytes: Callable[[SourceFile], GivenBytes],
    ) -> None:
        self._connect, self._with_bytes = connect, with_bytes
        self.notices: list[str] = []

    def read_all(self, wanted: Sequence[Wanted]) -> Generator[ReadResult | StillReading]:
        """Read, split and embed every source; the results come in the order in which they are finished.

        Afterwards ``notices`` says in a line each which nodes were lost, and which did not see files. Raises
        ClusterError, OfflineError, LedgerError.
        """
        if not wanted:
            return
        with self._connect(wanted) as nodes:
            reading = _Reading(nodes, self._with_bytes, wanted)
            try:
                yield from reading.results()
            finally:
                self.notices = [*nodes.notices, *reading.unseen_notices()]


class _Reading:
    """One reading of sources: the batches that wait, and those on the way."""

    def __init__(
        self, nodes: ClusterNodes, with_bytes: Callable[[SourceFile], GivenBytes], wanted: Sequence[Wanted]
    ) -> None:
        self._nodes, self._with_bytes = nodes, with_bytes
        self._waiting = deque(_batches(wanted, nodes.processors))
        self._sent: dict[Hashable, _Batch] = {}
        self._sent_bytes = 0
        self._unseen: Counter[str] = Counter()
        self._example: dict[str, str] = {}

    def results(self) -> Iterator[ReadResult | StillReading]:
        """The results, in the order in which they are finished."""
        while self._waiting or self._sent:
            while self._waiting and self._has_room(self._waiting[0]):
                yield from self._send(self._waiting.popleft())
            if not self._sent:
                continue
            done = self._nodes.next_result(STILL_READING_SECONDS)
            if done is None:
                yield StillReading(next(iter(self._sent.values())).wanted[0][0].source)
            else:
                yield from self._take(*done)

    def unseen_notices(self) -> list[str]:
        """A line for each node that did not have files as the driver has them."""
        return [
            f"the node {node} does not have {count} of the files as this machine does, such as "
            f"{self._example[node]}: they were sent to it"
            for node, count in self._unseen.items()
        ]

    def _has_room(self, batch: _Batch) -> bool:
        """Whether one more batch may be on the way; one always may."""
        if not self._sent:
            return True
        processors = self._nodes.processors
        fits = self._sent_bytes + batch.weight <= processors * MAX_BYTES_PER_PROCESSOR
        return fits and len(self._sent) < processors * BATCHES_PER_PROCESSOR

    def _send(self, batch: _Batch) -> Iterator[ReadResult]:
        """Send a batch; a source whose bytes cannot be had gives its result at once."""
        task: list[Wanted] = []
        for file, meta in batch.wanted:
            try:
                task.append((self._with_bytes(file) if batch.carried else file, dict(meta)))
            except UnreadableError as error:
                yield ReadResult(file.source, None, reason=str(error))
        if task:
            self._sent[self._nodes.submit(task)] = batch
            self._sent_bytes += batch.weight

    def _take(self, ticket: Hashable, result: NodeResult | LostTask) -> Iterator[ReadResult]:
        """Take the result of a batch; what it does not have is sent again."""
        batch = self._sent.pop(ticket)
        self._sent_bytes -= batch.weight
        if isinstance(result, LostTask):
            if len(batch.wanted) > 1:  # one of them may be the reason
                self._waiting.extendleft(batch.alone(carried=batch.carried))
            else:
                yield ReadResult(
                    batch.wanted[0][0].source, None, reason=f"no node could read it: {result.reason}"
                )
            return
        if result.failure:
            raise ClusterError(
                f"the node {result.node} cannot work: {result.failure}",
                hint=f"{result.hint or 'mend it there'}; then run the same command again, which goes on",
            )
        if result.unseen:
            self._unseen[result.node] += len(result.unseen)
            self._example.setdefault(result.node, result.unseen[0])
            missing = _Batch(tuple(item for item in batch.wanted if item[0].source in set(result.unseen)))
            self._waiting.extendleft(missing.alone(carried=True))
        yield from result.readings


def _batches(wanted: Sequence[Wanted], processors: int) -> Iterator[_Batch]:
    """The sources in batches, in order; one whose bytes only the driver can have is a batch of its own."""
    total = sum(file.size for file, _ in wanted)
    share = total // (processors * SHARES_PER_PROCESSOR)
    most = max(MIN_BATCH_BYTES, min(share, MAX_BATCH_BYTES))
    batch: list[Wanted] = []
    size = 0
    for file, meta in wanted:
        if isinstance(file, (UrlFile, StdinFile)):
            yield _Batch(((file, meta),), carried=True)
            continue
        if batch and (size + file.size > most or len(batch) >= MAX_BATCH_FILES):
            yield _Batch(tuple(batch))
            batch, size = [], 0
        batch.append((file, meta))
        size += file.size
    if batch:
        yield _Batch(tuple(batch))
