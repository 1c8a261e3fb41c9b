"""Commands that change a knowledge base, each with what it must hold before and afterwards.

Every scenario has a home as it is before the command, the documents as the command finds them, and the states
of an undisturbed run. Campaigns copy the home, disturb the command there, and compare.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from torturing import forked
from torturing.campaign import Broken
from torturing.knowledge_state import KB, HeldState, check_between, check_equal, state_of

NOTHING = HeldState(None)


@dataclass
class Scenario:
    """One command that changes a knowledge base.

    ``begin`` makes the documents and the home before the command, ``change`` changes the documents;
    ``command`` gives the arguments for the folder of documents. ``codes`` are the exit codes that a second
    run may end with, after the first one was killed when it was done.
    """

    name: str
    begin: Callable[[Path, Path, Random], None]
    change: Callable[[Path, Random], None]
    command: Callable[[Path], list[str]]
    codes: tuple[int, ...] = (0,)


@dataclass
class Prepared:
    """A scenario in a folder: its home before the command, its documents after the change, and the states."""

    scenario: Scenario
    folder: Path
    arguments: list[str] = field(default_factory=list)
    before: HeldState = NOTHING
    after: HeldState = NOTHING
    seconds: float = 0.0
    grown: int = 0

    @classmethod
    def of(cls, scenario: Scenario, folder: Path, random: Random) -> Prepared:
        """Run a scenario undisturbed, twice: once to warm the caches of files, and once to time it."""
        made = cls(scenario, folder / scenario.name)
        documents, home = made.folder / "documents", made.folder / "before" / "home"
        documents.mkdir(parents=True)
        home.mkdir(parents=True)
        scenario.begin(documents, home, random)
        made.before = state_of(home)
        scenario.change(documents, random)
        made.arguments = scenario.command(documents)
        for name in ("first", "second"):
            copy = made.home_in(made.folder / name)
            ended = forked.run(copy, *made.arguments).checked(scenario.name)
            made.seconds, made.after = ended.seconds, state_of(copy)
            made.grown = _bytes_of(copy) - _bytes_of(home)
        return made

    def home_in(self, folder: Path) -> Path:
        """A copy of the home before the command, in ``folder``."""
        home = folder / "home"
        shutil.copytree(self.folder / "before" / "home", home)
        return home

    def check_cut_off(self, home: Path, out: str) -> None:
        """Check the home after the command was cut off; ``out`` is its output. Raises Broken.

        A document that the command said was written must be its new self.
        """
        now = state_of(home)
        check_between(now, self.before, self.after)
        held, new = now.documents or {}, self.after.documents or {}
        for source in _acknowledged(out):
            if source in new and (source not in held or held[source].text != new[source].text):
                raise Broken(f"{source} was reported as written, and is not there")

    def finish(self, home: Path) -> None:
        """Run the command again to its end, and compare with an undisturbed run. Raises Broken."""
        forked.run(home, *self.arguments).checked(f"{self.scenario.name} again", *self.scenario.codes)
        check_equal(state_of(home), self.after)
        if left := [path.name for path in (home / "knowledge").glob(".removed-*")]:
            forked.run(home, "ingest", str(self.folder / "documents"), "--kb", "other").checked("ingest")
            left = [path.name for path in (home / "knowledge").glob(".removed-*")]
            if left:
                raise Broken(f"{left[0]} is left behind")


def _acknowledged(out: str) -> list[str]:
    """The sources that the output of ``ingest --jsonl`` reports as written."""
    sources = []
    for line in out.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue  # the last line of a process that was killed
        written = isinstance(event, dict) and event.get("outcome") in ("added", "changed")
        if written and event.get("event") == "progressed":
            sources.append(str(event.get("source")))
    return sources


def _bytes_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


# ---------------------------------------------------------------------------------- the scenarios


def _documents(folder: Path, random: Random, numbers: range, edition: str, kinds: str = "txt py") -> None:
    from torturing import small_documents

    for number in numbers:
        small_documents.write(folder, random, number, edition, kinds.split()[number % len(kinds.split())])


def _ingested(documents: Path, home: Path, random: Random, *, kinds: str = "txt py", rounds: int = 2) -> None:
    """Documents that were ingested in several rounds, so that the tables consist of several files."""
    for start in range(rounds):
        _documents(documents, random, range(start * 3, start * 3 + 3), "a", kinds)
        forked.run(home, "ingest", str(documents)).checked("ingest")


def _nothing(documents: Path, home: Path, random: Random) -> None:
    """An empty home."""


def _unchanged(documents: Path, random: Random) -> None:
    """Documents that stay as they are."""


def _first_documents(documents: Path, random: Random) -> None:
    _documents(documents, random, range(4), "a")


def _other_editions(documents: Path, random: Random) -> None:
    _documents(documents, random, range(1, 4), "b")
    _documents(documents, random, range(6, 8), "b")


def _other_pages(documents: Path, random: Random) -> None:
    _documents(documents, random, range(1, 6), "b", "html csv")


def _fewer_documents(documents: Path, random: Random) -> None:
    _documents(documents, random, range(4, 5), "b")
    for number in (0, 1, 5):
        next(documents.glob(f"document-{number}.*")).unlink()


def _ingest(*options: str) -> Callable[[Path], list[str]]:
    return lambda documents: ["ingest", str(documents), "--jsonl", *options]


def _forget(documents: Path) -> list[str]:
    return ["kb", "forget", *(str(documents / f"document-{number}.txt") for number in (0, 2, 4))]


SCENARIOS = (
    Scenario("ingest-first", _nothing, _first_documents, _ingest()),
    Scenario("ingest-changed", _ingested, _other_editions, _ingest()),
    Scenario("ingest-fields", _ingested, _unchanged, _ingest("--meta", "team=blue")),
    Scenario(
        "ingest-readers",
        lambda documents, home, random: _ingested(documents, home, random, kinds="html csv", rounds=1),
        _other_pages,
        _ingest(),
    ),
    Scenario("prune", _ingested, _fewer_documents, _ingest("--prune")),
    Scenario("forget", _ingested, _unchanged, _forget, codes=(0, 1)),
    Scenario("compact", _ingested, _unchanged, lambda documents: ["kb", "compact"]),
    Scenario("remove", _ingested, _unchanged, lambda documents: ["kb", "remove", KB, "--yes"], codes=(0, 1)),
)
"""``ingest-readers`` reads in several processes, the other ingestions in one."""
