"""The nodes of a cluster in this process: tasks are done when their results are asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from localcrag.cluster.cluster_reader import LostTask, Wanted
from localcrag.cluster.node_work import NodeResult

Work = Callable[[Sequence[Wanted]], NodeResult | LostTask | None]
"""What a node makes of a task; None if it is not finished yet."""


@dataclass
class ScriptedNodes:
    """Nodes that do ``work``; ``tasks`` are all that were sent, and ``most`` the most on the way at once."""

    work: Work
    processors: int = 2
    notices: Sequence[str] = ()
    tasks: list[Sequence[Wanted]] = field(default_factory=list)
    most: int = 0
    left: bool = False
    _queue: deque[tuple[int, Sequence[Wanted]]] = field(default_factory=deque)

    def submit(self, task: Sequence[Wanted]) -> Hashable:
        self._queue.append((len(self.tasks), task))
        self.tasks.append(task)
        self.most = max(self.most, len(self._queue))
        return len(self.tasks) - 1

    def next_result(self, seconds: float) -> tuple[Hashable, NodeResult | LostTask] | None:
        ticket, task = self._queue[0]
        result = self.work(task)
        if result is None:
            return None
        self._queue.popleft()
        return ticket, result

    @contextmanager
    def connected(self, wanted: Sequence[Wanted]) -> Iterator[ScriptedNodes]:
        try:
            yield self
        finally:
            self.left = True
            self._queue.clear()
