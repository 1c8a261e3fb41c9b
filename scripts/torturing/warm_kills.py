"""Kills the warm process while it starts and while it answers, and commands while it answers them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from torturing import forked
from torturing.campaign import Broken, Budget, Campaign, Case, Outcome, random_of, run_cases
from torturing.warm_home import SMALL, WarmHome

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("search", "which number is kept in a drawer", "--json"),
    ("ask", "Which number is kept in a drawer?", "--mode", "quote", "--web", "never"),
)
MAX_STARTING_SECONDS = 0.6
"""A server that starts is killed within so many seconds."""


@dataclass(frozen=True)
class WarmKills:
    """Kills of the warm process and of its commands."""

    name: str = "warm-kills"
    share: float = 8.0
    unit: str = "kills"
    holds: str = "the command gives the same answer, the next warm process starts, the others are answered"

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Kill warm processes and commands until the time is over."""
        forked.preload()
        warm = WarmHome.of(budget.folder / "warm", random_of(seed, self.name, -1))
        answers = {command: warm.run(*command).checked(command[0], 0, 3) for command in COMMANDS}
        longest = max(answer.seconds for answer in answers.values())

        def attempt(case: Case) -> None:
            command = COMMANDS[case.random.randrange(len(COMMANDS))]
            case.count = 0
            try:
                (_kill_starting, _kill_server, _kill_command)[case.number % 3](warm, case, command)
                ended = warm.run(*command).checked(f"{command[0]} afterwards", 0, 3)
                if (ended.code, ended.out) != (answers[command].code, answers[command].out):
                    raise Broken(f"{command[0]} afterwards gives another answer")
            finally:
                warm.end()

        def _kill_server(warm: WarmHome, case: Case, command: tuple[str, ...]) -> None:
            """Kill the server while it answers: the command gives the same answer."""
            server = warm.begin("--background")
            warm.ready()
            child = forked.start(warm.home, *command, environment=SMALL)
            time.sleep(case.random.random() * longest)
            case.count += server.poll() is None
            server.kill()
            ended = child.wait().checked(command[0], 0, 3)
            if (ended.code, ended.out) != (answers[command].code, answers[command].out):
                raise Broken(f"{command[0]} gives another answer if the warm process is killed meanwhile")

        return run_cases(self.name, budget, seed, attempt)


def _kill_starting(warm: WarmHome, case: Case, command: tuple[str, ...]) -> None:
    """Kill a server while it starts: the next one must start."""
    case.count += warm.begin().kill_after(case.random.random() * MAX_STARTING_SECONDS)
    warm.begin("--background")
    warm.ready()


def _kill_command(warm: WarmHome, case: Case, command: tuple[str, ...]) -> None:
    """Kill a command while it is answered: the server lives, and answers the next one."""
    warm.begin("--background")
    process = warm.ready()
    child = forked.start(warm.home, *command, environment=SMALL)
    case.count += child.kill_after(case.random.random() * 0.5)
    child.wait()
    if warm.status() != process:
        raise Broken("another warm process runs after a command was killed")


CAMPAIGNS: Mapping[str, Campaign] = {"warm-kills": WarmKills()}
