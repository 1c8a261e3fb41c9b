"""Asks one warm process thousands of questions; compares its memory after the first hundred and at the end.

The warm process is a real one, with the models that travel with localcrag, on a few short documents. So that
many questions fit into the time, two passages are judged for each by the evaluator, and every question comes
again after some hundred others, when the warm process remembers what was judged.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from torturing import real_commands, small_documents
from torturing.campaign import MEBIBYTE, Broken, Budget, Campaign, Failure, Outcome, random_of, said, tell
from torturing.hostile_documents import resident
from torturing.warm_home import SMALL

QUESTIONS = 2_000
FIRST = 100
"""Questions after which the memory is measured for the first time."""
GRACE_SECONDS = 40.0
"""Seconds beyond the time for the first questions, without which nothing can be compared."""
DIFFERENT_QUESTIONS = 400
MAX_GROWTH = 1.1
DOCUMENTS = 8
SOAK_VARIABLES = {**SMALL, "LOCALCRAG_LOOP_PARTS": "no", "LOCALCRAG_MODEL_THREADS": "1"}


@dataclass(frozen=True)
class Soak:
    """Thousands of questions to one process."""

    name: str = "soak"
    share: float = 24.0
    unit: str = "questions"
    holds: str = f"each is answered; at the end the memory is at most {MAX_GROWTH} times that after {FIRST}"

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Ask until there were enough questions, or the time is over."""
        outcome, random = Outcome(), random_of(seed, self.name, 0)
        home = budget.folder / "home"
        for number in range(DOCUMENTS):
            small_documents.write(budget.folder / "documents", random, number, "a", "txt")
        environment = {name: value for name, value in SOAK_VARIABLES.items() if value}
        started = real_commands.run(home, "ingest", str(budget.folder / "documents"), environment=environment)
        started.checked("ingest")
        server = real_commands.start(home, "serve", "--background", environment=environment, name="server")
        try:
            self._ask(home, server.process.pid, budget, random, outcome)
        except Exception as error:  # noqa: BLE001 - told as what it is
            outcome.failures.append(Failure(-1, said(error)))
        finally:
            with suppress(ProcessLookupError):
                os.kill(server.process.pid, signal.SIGKILL)
            server.process.wait()
        return outcome

    def _ask(self, home: Path, process: int, budget: Budget, random: Random, outcome: Outcome) -> None:
        """Ask, and fill the outcome. Raises Broken."""
        client = _Client(home)
        questions = [_question(random, number) for number in range(DIFFERENT_QUESTIONS)]
        first = last = 0
        shown = time.monotonic()
        while outcome.tries < QUESTIONS:
            if budget.left < (0 if outcome.tries > FIRST else -GRACE_SECONDS):
                break
            began = time.monotonic()
            client.ask(questions[outcome.tries % len(questions)])
            outcome.tries += 1
            if outcome.tries > 1:
                outcome.worst_seconds = max(outcome.worst_seconds, time.monotonic() - began)
            last = resident(process)
            outcome.peak_memory = max(outcome.peak_memory, last)
            if outcome.tries == FIRST:
                first = last
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                tell(f"soak: {outcome.tries} questions, {last >> 20} MiB, {budget.left:.0f} s left")
        if not first:
            outcome.notes.append(f"fewer than {FIRST} questions: too few to compare")
            return
        outcome.notes.append(
            f"{first / MEBIBYTE:.0f} MiB after {FIRST}, {last / MEBIBYTE:.0f} MiB after {outcome.tries:,}: "
            f"{last / first:.2f} times"
        )
        if last > MAX_GROWTH * first:
            raise Broken(f"the memory grew to {last / first:.2f} times that after {FIRST} questions")


class _Client:
    """Asks the warm process as commands do."""

    def __init__(self, home: Path) -> None:
        from localcrag.serve.client import WarmClient, start_conditions
        from localcrag.serve.endpoint import endpoint_of
        from localcrag.settings import load
        from localcrag.types import WarmPolicy

        for name in [name for name in os.environ if name.startswith("LOCALCRAG_")]:
            del os.environ[name]
        os.environ |= {name: value for name, value in SOAK_VARIABLES.items() if value}
        self.settings = load(home=home)
        self._start = start_conditions(self.settings, home)
        self._client = WarmClient(endpoint_of(home), self._start, WarmPolicy.NEVER)
        ends = time.monotonic() + 60
        while not self._client.may_answer:
            if time.monotonic() > ends:
                raise Broken("the warm process does not answer 60 s after its start")
            time.sleep(0.05)

    def ask(self, question: str) -> None:
        """Ask a question. Raises Broken if it is not answered to its end."""
        from localcrag.events import Finished
        from localcrag.options import AskOptions
        from localcrag.serve.ask_request import AskRequest

        options = AskOptions(mode="quote", grader="evaluator", corrections=(), strips="none", web="never")  # type: ignore[arg-type]
        request = AskRequest(self._start, self.settings.kb, self.settings.model, question, replace(options))
        events = list(self._client.converse(request))
        event = events[-1] if events else None
        if not isinstance(event, Finished):
            raise Broken(f"a question ended with {type(event).__name__}")


def _question(random: Random, number: int) -> str:
    """A question that no other number has."""
    topic, when = random.choice(small_documents.TOPICS), random.choice(small_documents.TIMES)
    return f"What does the {topic} number {number} do {when}, and where is the {topic}?"


CAMPAIGNS: Mapping[str, Campaign] = {"soak": Soak()}
