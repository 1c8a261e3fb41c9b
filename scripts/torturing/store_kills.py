"""Kills commands that change a knowledge base with SIGKILL at random moments of their run time.

One case kills the same command up to nine times in the same home, checks after each kill, then runs it to its
end and compares with an undisturbed run.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from torturing import forked, real_commands
from torturing.campaign import Broken, Budget, Campaign, Case, Outcome, run_cases
from torturing.store_scenarios import SCENARIOS, Prepared, Scenario

MAX_KILLS = 9
"""The most kills of one case."""
READER_SECONDS = 20.0
"""Seconds in which the processes that read documents must be gone after their parent was killed."""
CASE_VARIABLE = "TORTURE_CASE"
"""The environment variable by which the processes of a case are recognised."""


@dataclass(frozen=True)
class StoreKills:
    """Kills in forked commands, or in those that a user starts."""

    name: str
    share: float
    scenarios: tuple[Scenario, ...]
    real: bool = False
    unit: str = "kills"
    holds: str = (
        "each document is its old self or its new one, what was reported as written is there, "
        "and the same command finishes the job"
    )

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Kill commands until the time is over."""
        forked.preload()
        prepared: dict[str, Prepared] = {}
        lasting: dict[str, float] = {}
        counts: dict[str, int] = {}

        def attempt(case: Case) -> None:
            scenario = self.scenarios[case.number % len(self.scenarios)]
            if scenario.name not in prepared:
                random = Random(f"{seed}/{scenario.name}")
                prepared[scenario.name] = Prepared.of(scenario, budget.folder / "prepared", random)
                if self.real:
                    lasting[scenario.name] = _real_seconds(prepared[scenario.name])
            case.count = 0
            try:
                self._kill(prepared[scenario.name], case, lasting.get(scenario.name, 0.0))
            finally:
                counts[scenario.name] = counts.get(scenario.name, 0) + case.count

        outcome = run_cases(self.name, budget, seed, attempt)
        outcome.notes.append(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
        return outcome

    def _kill(self, made: Prepared, case: Case, real_seconds: float) -> None:
        """Kill the command of a scenario some times; ``case.count`` counts the kills. Raises Broken."""
        home = made.home_in(case.folder)
        mark = f"{os.getpid()}-{case.number}"
        for _ in range(1 if self.real else case.random.randint(1, MAX_KILLS)):
            moment = case.random.random() * 1.05
            if self.real:  # the first part of its time is imports
                killed, out = _kill_real(made, home, (0.4 + 0.6 * moment) * real_seconds, mark)
            else:
                child = forked.start(home, *made.arguments, environment={CASE_VARIABLE: mark})
                killed = child.kill_after(moment * made.seconds)
                out = child.wait().out
            case.count += killed
            made.check_cut_off(home, out)
            if not killed:
                break
        made.finish(home)
        _check_deserted(mark)


def _real_seconds(made: Prepared) -> float:
    """The seconds of an undisturbed run of a command as a user starts it."""
    home = made.home_in(made.folder / "real")
    return real_commands.start(home, *made.arguments, hashing=True).wait().checked(made.scenario.name).seconds


def _kill_real(made: Prepared, home: Path, seconds: float, mark: str) -> tuple[bool, str]:
    """Kill a command as a user starts it; returns whether it had not ended before, and its output."""
    child = real_commands.start(home, *made.arguments, environment={CASE_VARIABLE: mark}, hashing=True)
    killed = child.kill_after(seconds)
    return killed, child.wait().out


def _check_deserted(mark: str) -> None:
    """Check that no process of a case is left. Raises Broken."""
    deadline = time.monotonic() + READER_SECONDS
    while left := processes_of(CASE_VARIABLE, mark):
        if time.monotonic() > deadline:
            for process in left:
                os.kill(process, signal.SIGKILL)
            raise Broken(
                f"{len(left)} processes are left {READER_SECONDS:.0f} s after their parent was killed"
            )
        time.sleep(0.02)


def processes_of(variable: str, value: str) -> list[int]:
    """The processes that were started with this environment variable (Linux; elsewhere none are found)."""
    wanted, found = f"{variable}={value}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return [process for process in found if process != os.getpid()]


CAMPAIGNS: Mapping[str, Campaign] = {
    "kills": StoreKills("kills", 45.0, SCENARIOS),
    "real-kills": StoreKills("real-kills", 7.0, SCENARIOS, real=True),
}
