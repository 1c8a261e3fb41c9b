"""Two processes write to a knowledge base while another one reads; sometimes one of the writers is killed."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torturing import forked, small_documents
from torturing.campaign import Broken, Budget, Campaign, Case, Outcome, run_cases
from torturing.knowledge_state import KB, check_equal, state_of

WRITERS = ("left", "right")
READS = 6
"""The most states that a reader reads of a case."""


@dataclass(frozen=True)
class Contention:
    """Two writers and a reader at once."""

    name: str = "together"
    share: float = 6.0
    unit: str = "rounds"
    holds: str = "nothing is torn or lost, and what was there once stays there"

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Let them write and read until the time is over."""
        forked.preload()
        return run_cases(self.name, budget, seed, _attempt)


def _attempt(case: Case) -> None:
    """One round: each writer ingests a folder of its own and one that both share, in two commands."""
    home, random = case.folder / "home", case.random
    home.mkdir()
    small_documents.write(case.folder / "shared", random, 0, "s", "txt")
    forked.run(home, "ingest", str(case.folder / "shared")).checked("ingest")
    for place, name in enumerate(WRITERS):
        for number in range(random.randint(1, 4)):
            small_documents.write(case.folder / name, random, 10 * (place + 1) + number, "a", "txt")
    children = [_writer(case.folder, home, name) for name in WRITERS]
    reader = forked.fork(case.folder, lambda: _read(home, case.folder / "done"), name="reader")
    kills = random.random() < 0.4 and children[0].kill_after(random.random() * 1.0)
    for name, child in zip(WRITERS, children, strict=True):
        if not (kills and name == WRITERS[0]):
            child.wait().checked(f"the writer {name}")
    (case.folder / "done").touch()
    _check_reads(reader.wait().checked("the reader").out)
    if kills:
        _writer(case.folder, home, WRITERS[0]).wait().checked("the writer that was killed, again")
    lone = case.folder / "alone" / "home"
    lone.mkdir(parents=True)
    for name in ("shared", *WRITERS):
        forked.run(lone, "ingest", str(case.folder / name)).checked("ingest")
    check_equal(state_of(home), state_of(lone))


def _writer(folder: Path, home: Path, name: str) -> forked.Forked:
    """A process that ingests its own folder and the shared one, and then compacts."""

    def work() -> int:
        from localcrag.cli.main import main

        codes = [main(["--home", str(home), "ingest", str(folder / place)]) for place in (name, "shared")]
        return max(*codes, main(["--home", str(home), "kb", "compact"]))

    return forked.fork(folder, work, name=name)


def _read(home: Path, done: Path) -> int:
    """Print the sources that are held, with the marks of their texts, again and again until the end."""
    from localcrag.store.knowledge_bases import KnowledgeBases

    store, reads = KnowledgeBases(home).open(KB), 0
    while reads < READS and not (reads and done.exists()):
        held = {document.source: document.pages[0].text[:40] for document in store.documents()}
        sys.stdout.write(json.dumps(held) + "\n")
        sys.stdout.flush()
        reads += 1
    return 0


def _check_reads(out: str) -> None:
    """Check that no read misses a document that an earlier one had. Raises Broken."""
    before: dict[str, str] = {}
    for line in out.splitlines():
        now = json.loads(line)
        if lost := before.keys() - now.keys():
            raise Broken(f"a reader does not see {sorted(lost)[0]} any more")
        before = now
    if not before:
        raise Broken("the reader saw nothing")


CAMPAIGNS: Mapping[str, Campaign] = {"together": Contention()}
