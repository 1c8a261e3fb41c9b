"""Reads generated, hostile documents in the processes that read documents, within their limits.

Each must be read or skipped with a reason of one line within its limit, and no process may take more memory
than the limit of the suite.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torturing.campaign import MEBIBYTE, Broken, Budget, Campaign, Case, Outcome, run_cases, tell
from torturing.document_strategies import HostileDocument, hostile_documents
from torturing.forked import tokenizer_file

BATCH = 20
"""Documents of one case."""
READ_SECONDS = 4.0
"""Processor time of a small document in this campaign, in place of the 20 s that users have: the limit is the
same code, and a document that reaches it costs the campaign less."""
MAX_MEMORY = 1536 * MEBIBYTE
SLACK_SECONDS = 5.0
"""Seconds beyond a limit that ending a process may take."""


@dataclass(frozen=True)
class HostileDocuments:
    """Documents that are made to harm."""

    name: str = "documents"
    share: float = 14.0
    unit: str = "documents"
    holds: str = "each is read, or skipped with a reason, within its limits of time and memory"

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Read documents until the time is over."""
        from localcrag.documents import process_pool

        process_pool.MAX_READ_SECONDS = READ_SECONDS
        counts: Counter[str] = Counter()
        worst = [0.0]
        with process_pool.ReaderPool(1, {"tokenizer": tokenizer_file()}) as pool, _Watch(pool) as watch:

            def attempt(case: Case) -> None:
                case.count = 0
                documents = hostile_documents(case.random.getrandbits(32), BATCH)
                for number, document in enumerate(documents):
                    if case.count and budget.left < -30:
                        break
                    case.count += 1
                    try:
                        counts[_read(pool, watch, document, case.folder, worst)] += 1
                    except Broken as error:
                        (case.folder / f"failing-{number}-{document.name}").write_bytes(document.data)
                        raise Broken(f"document {number}, {document.name}: {error}") from error

            outcome = run_cases(self.name, budget, seed, attempt)
        outcome.worst_seconds, outcome.peak_memory = worst[0], watch.peak
        outcome.notes.append(", ".join(f"{kind} {count}" for kind, count in counts.most_common()))
        outcome.notes.append(f"limit {READ_SECONDS:.0f} s of processor time")
        return outcome


def _read(pool: object, watch: _Watch, document: HostileDocument, folder: Path, worst: list[float]) -> str:
    """Read one document; returns how it ended, in a word. Raises Broken."""
    from localcrag.documents.process_pool import reading_budget
    from localcrag.documents.sources import GivenBytes
    from localcrag.errors import UnreadableError
    from localcrag.isolation.isolated_program import WALL_FACTOR

    file = GivenBytes(str(folder / document.name), document.name, document.data, "")
    limit = reading_budget(len(document.data)).seconds
    began, watch.largest = time.monotonic(), 0
    try:
        found = pool.read(file, {})  # type: ignore[attr-defined]
    except UnreadableError as error:
        return _reason(str(error))
    except Exception as error:  # anything but a typed error is a finding
        raise Broken(f"the reading ended with {type(error).__name__}: {str(error)[:300]}") from error
    took = time.monotonic() - began
    watch.look()
    worst[0] = max(worst[0], took)
    if took > 1.5:
        tell(
            f"documents: {document.name} of {len(document.data):,} bytes took {took:.1f} s, "
            f"{watch.largest >> 20} MiB"
        )
    if took > limit * WALL_FACTOR + SLACK_SECONDS:
        raise Broken(f"it took {took:.1f} s, and may take {limit * WALL_FACTOR:.0f} s")
    if watch.largest > MAX_MEMORY:
        raise Broken(f"reading it took {watch.largest >> 20} MiB of memory")
    if found.document is None:
        return _reason(found.reason)
    for passage in found.passages:
        text = next(page.text for page in found.document.pages if page.number == passage.page)
        if text[passage.start : passage.end] != passage.text:
            raise Broken("a passage is not the slice of its text that its offsets name")
        passage.text.encode("utf-8")
    return "read"


def _reason(reason: str) -> str:
    """Check the reason of a skipped document, and sort it. Raises Broken."""
    if not reason.strip() or "\n" in reason or "Traceback" in reason or len(reason) > 400:
        raise Broken(f"it is skipped for no reason that one can read: {reason[:200]!r}")
    if "given up after" in reason:
        return "given up for time"
    if "memory" in reason:
        return "given up for memory"
    return "crashed its process" if "ended the process" in reason else "skipped"


class _Watch:
    """Watches the memory of a pool's processes: ``largest`` since it was set to 0, and ``peak`` at all."""

    def __init__(self, pool: object) -> None:
        self._pool = pool
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.largest = self.peak = 0

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()

    def look(self) -> None:
        """Look at the peak of each process."""
        for process in self._pool._pool._processes:  # type: ignore[attr-defined]
            child = process._child
            if child is not None:
                self.largest = max(self.largest, resident(child.pid))
        self.peak = max(self.peak, self.largest)

    def _run(self) -> None:
        while not self._closed.wait(0.02):
            self.look()


def resident(process: int) -> int:
    """The bytes of memory that a process has now (Linux); 0 if it is gone, or the system does not tell."""
    try:
        status = Path(f"/proc/{process}/status").read_text("ascii", "replace")
    except OSError:
        return 0
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


CAMPAIGNS: Mapping[str, Campaign] = {"documents": HostileDocuments()}
