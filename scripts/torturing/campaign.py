"""The protocol of a campaign: a time budget and a seed in, an outcome out.

A campaign is a series of numbered cases. The random numbers of a case follow from the seed, the name of the
campaign and the number of the case alone, so one case can be repeated by its number.
"""

from __future__ import annotations

import resource
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Protocol

MEBIBYTE = 1 << 20
MAX_FAILURES = 20
"""Failures after which a campaign ends: more of them would only cost time."""
PROGRESS_SECONDS = 5.0
"""Seconds between two lines of progress."""


class Broken(Exception):
    """What had to hold does not hold; the message says what, in words that need no context."""


class NotPossible(Exception):
    """This machine cannot run the campaign; the message is why."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that failed: its number, what did not hold, and the folder that was kept of it, or ""."""

    case: int
    said: str
    folder: str = ""


@dataclass(slots=True)
class Outcome:
    """What a campaign did.

    ``tries`` counts what the campaign's ``unit`` says, ``worst_seconds`` is the longest that one of them took
    where that is bounded, and ``peak_memory`` the bytes of the largest process that was watched. ``skipped``
    is why the campaign could not run, or "".
    """

    tries: int = 0
    failures: list[Failure] = field(default_factory=list)
    worst_seconds: float = 0.0
    peak_memory: int = 0
    notes: list[str] = field(default_factory=list)
    skipped: str = ""


@dataclass(slots=True)
class Budget:
    """What a campaign may use: ``seconds`` from now on, and a ``folder`` for its files.

    ``keep`` leaves the folders of failing cases where they are, and ``only`` is the number of the one case
    that is to be run.
    """

    seconds: float
    folder: Path
    keep: bool = False
    only: int | None = None
    began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds that are left; negative if the time is over."""
        return self.began + self.seconds - time.monotonic()

    def numbers(self) -> Iterator[int]:
        """The numbers of the cases to run, until the time is over; at least one."""
        if self.only is not None:
            yield self.only
            return
        number = 0
        while number == 0 or self.left > 0:
            yield number
            number += 1


@dataclass(slots=True)
class Case:
    """One case: its number, its random numbers, and an empty folder. ``count`` is how many tries it made."""

    number: int
    random: Random
    folder: Path
    count: int = 1


class Campaign(Protocol):
    """A way to break things.

    ``name`` is what the command line calls it, ``share`` its part of the time beside those of the others,
    ``unit`` what one try is, and ``holds`` what has to hold, in words for the table.
    """

    @property
    def name(self) -> str: ...
    @property
    def share(self) -> float: ...
    @property
    def unit(self) -> str: ...
    @property
    def holds(self) -> str: ...

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Try to break it until the time is over. Raises NotPossible."""
        ...


def random_of(seed: int, name: str, case: int) -> Random:
    """The random numbers of one case."""
    return Random(f"{seed}/{name}/{case}")


def run_cases(name: str, budget: Budget, seed: int, attempt: Callable[[Case], None]) -> Outcome:
    """Attempt one case after the other; an exception of any kind is a failure of its case.

    The folder of a case is deleted, unless it failed and the budget says ``keep``.
    """
    outcome = Outcome()
    shown = time.monotonic()
    for number in budget.numbers():
        folder = budget.folder / f"case-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        case = Case(number, random_of(seed, name, number), folder)
        failed = False
        try:
            attempt(case)
        except NotPossible:
            raise
        except Exception as error:  # noqa: BLE001 - a case that cannot be judged did not hold
            failed = True
            text = said(error).replace(str(budget.folder), "…")
            outcome.failures.append(Failure(number, text, str(folder) if budget.keep else ""))
        outcome.tries += case.count
        if not (failed and budget.keep):
            shutil.rmtree(folder, ignore_errors=True)
        if time.monotonic() - shown > PROGRESS_SECONDS:
            shown = time.monotonic()
            tell(f"{name}: {outcome.tries} tries, {len(outcome.failures)} failures, {budget.left:.0f} s left")
        if len(outcome.failures) >= MAX_FAILURES:
            outcome.notes.append(f"ended after {MAX_FAILURES} failures")
            break
    outcome.peak_memory = max(outcome.peak_memory, largest_child())
    return outcome


def said(error: BaseException) -> str:
    """An error in one line; of one that is no Broken, also where it was raised."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, Broken):
        return text[:600]
    last = traceback.extract_tb(error.__traceback__)[-1:]
    place = "".join(f" ({Path(frame.filename).name}:{frame.lineno})" for frame in last)
    return f"{type(error).__name__}: {text[:500]}{place}"


def tell(line: str) -> None:
    """Print a line of progress on stderr."""
    print(f"torture: {line}", file=sys.stderr, flush=True)


def largest_child() -> int:
    """The bytes of memory of the largest child that has ended and was waited for."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit


@contextmanager
def within(seconds: float, attempt: str) -> Iterator[None]:
    """Raise Broken if the block takes longer than ``seconds``; it is not ended."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    if took > seconds:
        raise Broken(f"{attempt} took {took:.1f} s, and may take {seconds:.0f} s")
