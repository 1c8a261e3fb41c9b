"""A clock that jumps between commands, and files that were changed in the future, long ago, or back in time.

The clock is that of Python (``time.time``); the store's own libraries and the file system keep theirs. Most
commands are forked; one in eight is started as users do, with a ``sitecustomize`` that moves its clock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from torturing import forked, real_commands, small_documents
from torturing.campaign import Broken, Budget, Campaign, Case, Outcome, run_cases
from torturing.knowledge_state import state_of

DAY = 86_400.0
JUMPS = (0.0, 1.0, -1.0, 3600.0, -3600.0, DAY, -DAY, 400 * DAY, -400 * DAY, 30_000 * DAY, -20_000 * DAY)
"""Seconds by which the clock of a command is wrong; the last ones are the years 2108 and 1971."""
TIMES = (0.0, -DAY, 1.0, 2**31 - 1.0, 2**31 + 1.0, 2**32 + 1.0, 4e9, 7e9)
"""Times at which files are said to have been changed, in seconds since 1970."""
SITE = "import time\n_real = time.time\ntime.time = lambda: _real() + {jump!r}\n"
REAL_EVERY = 8


@dataclass(frozen=True)
class Clock:
    """Jumps of the clock."""

    name: str = "clock"
    share: float = 5.0
    unit: str = "jumps"
    holds: str = "what was changed is read again, nothing is lost, times that cannot be are no error"

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Let the clock jump until the time is over."""
        forked.preload()
        return run_cases(self.name, budget, seed, _attempt)


def _attempt(case: Case) -> None:
    """A few changes of a folder, each ingested at another time."""
    home, documents, random = case.folder / "home", case.folder / "documents", case.random
    home.mkdir()
    editions: dict[int, str] = {}
    case.count = 0
    for step in range(3):
        jump = random.choice(JUMPS)
        for number in random.sample(range(4), 3):
            editions[number] = f"{step}n"
            path = small_documents.write(documents, random, number, editions[number], "txt")
            when = random.choice([*TIMES, time.time() + random.choice(JUMPS)])
            os.utime(path, (when, when + step / 1000))
        _run(case, home, jump, "ingest", str(documents)).checked("ingest")
        _check(home, documents, editions)
        case.count += 1
    for command in (["kb", "show"], ["kb", "compact"], ["threads", "list"], ["kb", "list"]):
        _run(case, home, random.choice(JUMPS), *command).checked(command[1])
    _turns(home, case)
    _check(home, documents, editions)
    unchanged = _run(case, home, random.choice(JUMPS), "ingest", str(documents), "--json").checked("ingest")
    if f'"unchanged": {len(editions)}' not in unchanged.out:
        raise Broken("documents that did not change were read again, because the clock did")


def _turns(home: Path, case: Case) -> None:
    """Add turns to two conversations at different times: they stay in their order."""
    jumps = [case.random.choice(JUMPS) for _ in range(4)]

    def work() -> int:
        from localcrag.conversations import SqliteThreads
        from localcrag.types import Turn

        store = SqliteThreads(home / "threads.db")
        for number, jump in enumerate(jumps):
            _moved(jump)()
            name = f"talk {number % 2}"
            store.open(name)
            store.append(name, [Turn("user", f"question {number}"), Turn("assistant", "answer")])
        texts = [turn.text for turn in store.turns("talk 0") if turn.role == "user"]
        return 0 if texts == ["question 0", "question 2"] and len(store.threads()) == 2 else 1

    forked.fork(case.folder, work).wait().checked("turns at different times")
    _run(case, home, case.random.choice(JUMPS), "threads", "list").checked("threads list")
    _run(case, home, case.random.choice(JUMPS), "threads", "export", "talk 0").checked("threads export")


def _run(case: Case, home: Path, jump: float, *arguments: str) -> forked.Ended:
    """Run a command whose clock is wrong by ``jump`` seconds."""
    first_real = case.number % REAL_EVERY == REAL_EVERY - 1 and not (case.folder / "site").exists()
    if not first_real or arguments[0] != "ingest":
        return forked.run(home, *arguments, first=_moved(jump))
    site = case.folder / "site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(SITE.format(jump=jump))
    paths = os.pathsep.join([str(site), str(real_commands.ROOT / "scripts"), str(real_commands.ROOT)])
    started = real_commands.start(home, *arguments, environment={"PYTHONPATH": paths}, hashing=True)
    return started.wait()


def _moved(jump: float, real: Callable[[], float] = time.time) -> Callable[[], None]:
    """What moves the clock of a process."""

    def move() -> None:
        time.time = lambda: real() + jump

    return move


def _check(home: Path, documents: Path, editions: Mapping[int, str]) -> None:
    """Check that each document is held in its newest edition. Raises Broken."""
    held = state_of(home).documents or {}
    for number, edition in editions.items():
        source = os.path.realpath(documents / f"document-{number}.txt")
        if source not in held:
            raise Broken(f"document {number} is lost")
        if small_documents.mark_of(number, edition) not in held[source].text:
            raise Broken(f"document {number} was changed, and its old edition is still held")


CAMPAIGNS: Mapping[str, Campaign] = {"clock": Clock()}
