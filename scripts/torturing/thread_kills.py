"""Kills commands that change conversations: added turns, ``/new``, ``threads delete``, whole chats."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from torturing import forked, small_documents
from torturing.campaign import Broken, Budget, Campaign, Case, Outcome, random_of, run_cases

FILE = "threads.db"
KEPT, CHANGED = "kept", "changed"
"""The name of a conversation that nothing may happen to, and of the one that the killed command changes."""
SECRET = "zqsecretq"
"""A word of the conversation that is deleted."""
MAX_KILLS = 9
"""The most kills of one conversation that is added to."""
CHAT_EVERY = 12
"""One case in so many kills a whole chat, which takes as long as a hundred of the others."""
CHAT = ("chat", "--thread", CHANGED, "--mode", "quote", "--grader", "evaluator", "--web", "never")
QUESTIONS = "Which number is kept in a drawer?\nWhat does the garden do?\nWhat does the mill do?\n"
CHAT_VARIABLES = {"LOCALCRAG_LOOP_CANDIDATES": "2", "LOCALCRAG_LOOP_PASSAGES": "2"}


@dataclass(frozen=True)
class ThreadKills:
    """Kills commands that change conversations."""

    name: str = "thread-kills"
    share: float = 12.0
    unit: str = "kills"
    holds: str = (
        "turns come in pairs, none that was kept is lost, other conversations stay, deleted text is gone"
    )

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Kill commands until the time is over."""
        forked.preload()
        whole: list[_WholeChat] = []
        counts: dict[str, int] = {}

        def attempt(case: Case) -> None:
            kind: Callable[[Case], None] = (_kill_adding, _kill_new, _kill_deletion)[case.number % 3]
            if case.number % CHAT_EVERY == CHAT_EVERY - 1:
                if not whole:
                    whole.append(_WholeChat.of(budget.folder / "chat", seed))
                kind = whole[0].kill
            case.count = 0
            try:
                kind(case)
            finally:
                name = kind.__name__.removeprefix("_kill_").replace("kill", "chat")
                counts[name] = counts.get(name, 0) + case.count

        outcome = run_cases(self.name, budget, seed, attempt)
        outcome.notes.append(", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
        return outcome


def _kill_adding(case: Case) -> None:
    """Kill a process that adds turns, and says of each pair when it is kept."""
    home, file = home_with_conversations(case)
    for _ in range(case.random.randint(1, MAX_KILLS)):
        _kill_adding_again(case, home, file)


def _kill_adding_again(case: Case, home: Path, file: Path) -> None:
    before = len(turns_of(file)[CHANGED]) // 2

    def work() -> int:
        from localcrag.conversations import SqliteThreads
        from localcrag.types import Turn

        store = SqliteThreads(file)
        for number in itertools.count(before):
            store.append(CHANGED, [Turn("user", f"question {number}"), Turn("assistant", f"answer {number}")])
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
        return 0

    child = forked.fork(home.parent, work)
    case.count += child.kill_after(case.random.random() * 0.15)
    said = [int(line) for line in child.wait().out.splitlines() if line]
    held = turns_of(file)[CHANGED]
    texts = [f"{role} {n}" for n in range(len(held) // 2) for role in ("question", "answer")]
    if held != texts:
        raise Broken(f"{len(held)} turns that are not pairs of a question and its answer")
    if len(held) // 2 - before not in (len(said), len(said) + 1):
        raise Broken(f"{len(said)} pairs were reported as kept, and {len(held) // 2 - before} are there")
    check_kept(file)


def _kill_new(case: Case) -> None:
    """Kill what ``/new`` does: all turns of a conversation are deleted for good."""
    home, file = home_with_conversations(case)

    def work() -> int:
        from localcrag.conversations import SqliteThreads

        SqliteThreads(file).forget(CHANGED)
        return 0

    _killed_deletion(case, home, file, lambda: forked.fork(home.parent, work))
    if turns_of(file)[CHANGED]:
        raise Broken("a forgotten conversation has turns")


def _kill_deletion(case: Case) -> None:
    """Kill ``threads delete``."""
    home, file = home_with_conversations(case)
    _killed_deletion(case, home, file, lambda: forked.start(home, "threads", "delete", CHANGED, "--yes"))
    if CHANGED in turns_of(file):
        raise Broken("a deleted conversation is still there")


def _killed_deletion(case: Case, home: Path, file: Path, begin: Callable[[], forked.Forked]) -> None:
    """Kill a deletion, check that it was done or not, and run it to its end."""
    before = turns_of(file)[CHANGED]
    child = begin()
    case.count += child.kill_after(case.random.random() * 0.06)
    child.wait()
    held = turns_of(file).get(CHANGED, [])
    if held not in ([], before):
        raise Broken(f"{len(held)} of {len(before)} turns are left")
    check_kept(file)
    again = begin().wait()
    if again.crashed:
        raise Broken(again.crashed)
    check_kept(file)
    for left in file.parent.glob(f"{file.name}*"):
        if SECRET.encode() in left.read_bytes() and CHANGED not in turns_of(file):
            raise Broken(f"deleted text is in {left.name}")


@dataclass(frozen=True)
class _WholeChat:
    """A chat of three questions in a home of its own, with the turns and seconds of an undisturbed run."""

    home: Path
    turns: Sequence[str]
    seconds: float

    @classmethod
    def of(cls, folder: Path, seed: int) -> _WholeChat:
        home, random = folder / "home", random_of(seed, "chat", 0)
        for number in range(3):
            small_documents.write(folder / "documents", random, number, "a", "txt")
        forked.run(home, "ingest", str(folder / "documents")).checked("ingest")
        again = folder / "again" / "home"
        shutil.copytree(home, again)
        ended = forked.run(again, *CHAT, stdin=QUESTIONS, environment=CHAT_VARIABLES).checked("chat")
        return cls(home, turns_of(again / FILE)[CHANGED], ended.seconds)

    def kill(self, case: Case) -> None:
        """Kill the chat: its turns are the first pairs of an undisturbed one, and it can be gone on with."""
        home = case.folder / "home"
        shutil.copytree(self.home, home)
        child = forked.start(home, *CHAT, stdin=QUESTIONS, environment=CHAT_VARIABLES)
        case.count += child.kill_after(case.random.random() * self.seconds)
        child.wait()
        held = turns_of(home / FILE).get(CHANGED, []) if (home / FILE).exists() else []
        if len(held) % 2 or list(self.turns[: len(held)]) != held:
            raise Broken(f"{len(held)} turns are not the first ones of the undisturbed chat")
        forked.run(home, *CHAT, stdin="/quit\n", environment=CHAT_VARIABLES).checked("chat again")
        forked.run(home, "threads", "show", CHANGED).checked("threads show")


def home_with_conversations(case: Case) -> tuple[Path, Path]:
    """A home with two conversations, written by the product itself, and the file that holds them."""
    home = case.folder / "home"
    home.mkdir(exist_ok=True)
    file, pairs = home / FILE, case.random.randint(1, 12)

    def work() -> int:
        from localcrag.conversations import SqliteThreads
        from localcrag.types import Turn

        store = SqliteThreads(file)
        for name, word in ((KEPT, "kept"), (CHANGED, "")):
            store.open(name)
            turns = []
            for number in range(pairs):
                turns += [
                    Turn("user", f"{word}question {number}"),
                    Turn("assistant", f"{word}answer {number}"),
                ]
            store.append(name, turns)
        store.set_filter(CHANGED, SECRET)
        return 0

    forked.fork(case.folder, work).wait().checked("conversations")
    return home, file


def turns_of(file: Path) -> dict[str, list[str]]:
    """The texts of all turns by conversation, read with SQLite itself. Raises Broken for a damaged file."""
    with closing(sqlite3.connect(file)) as db:
        try:
            (state,) = db.execute("PRAGMA integrity_check").fetchone()
            if state != "ok":
                raise Broken(f"the file of conversations is damaged: {state}")
            names = db.execute("SELECT id, name FROM thread").fetchall()
            return {
                name: [
                    text for (text,) in db.execute("SELECT text FROM turn WHERE thread = ? ORDER BY id", (n,))
                ]
                for n, name in names
            }
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return {}
            raise


def check_kept(file: Path) -> None:
    """Check that the other conversation is as it was. Raises Broken."""
    kept = turns_of(file).get(KEPT, [])
    if not kept or kept != [
        f"kept{role} {n}" for n in range(len(kept) // 2) for role in ("question", "answer")
    ]:
        raise Broken("a conversation that was not touched is damaged")


CAMPAIGNS: Mapping[str, Campaign] = {"thread-kills": ThreadKills()}
