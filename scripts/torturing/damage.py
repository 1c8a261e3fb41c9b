"""Damages bytes in every kind of file that localcrag keeps, and runs the commands that read them.

No command may end with a traceback or a crash. One that ends with exit code 0 and says nothing on stderr must
print what it printed before the damage: anything else would be a failure that its status hides. Files
without a checksum (conversations, the ledger, the configuration) are an exception: a changed letter in them
that leaves a whole file is nobody's to notice, and is only counted.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from torturing import forked, small_documents
from torturing.campaign import Broken, Budget, Campaign, Case, Outcome, random_of, run_cases

COMPARED = (
    ("kb", "export"),
    ("search", "number kept in drawer", "--json", "--evaluator", "none"),
    ("threads", "export", "talk"),
    ("web", "log", "--json"),
)
"""Commands whose output depends on what is kept alone, so that it can be compared."""
OTHERS = (("kb", "list"), ("kb", "show"), ("threads", "list"), ("kb", "compact"), ("config",))
WITHOUT_CHECKSUM = ("threads.db", "egress.jsonl", "config.toml")
CONFIGURATION = "[loop]\npassages = 4\n"
KIND_OF_FOLDER = {
    "_versions": "manifest",
    "_transactions": "transaction",
    "_indices": "index",
    "_deletions": "deletion",
}


@dataclass(frozen=True)
class Damage:
    """Damaged files."""

    name: str = "damage"
    share: float = 8.0
    unit: str = "damaged files"
    holds: str = "no traceback, no crash, and no exit code 0 with another output than before"

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Damage files until the time is over."""
        forked.preload()
        home, documents = _make(budget.folder / "whole", random_of(seed, self.name, -1))
        whole = {command: forked.run(_copy(home, budget.folder / f"clean-{n}"), *command).checked(command[0])
                 for n, command in enumerate(COMPARED)}  # fmt: skip
        kinds: Counter[str] = Counter()
        unnoticed: Counter[str] = Counter()
        refused = 0

        def attempt(case: Case) -> None:
            nonlocal refused
            copy = _copy(home, case.folder)
            file = _chosen(copy, case.random)
            kinds[kind_of(file.relative_to(copy))] += 1
            done = damage(file, case.random)
            what = f"{file.relative_to(copy)} {done}"
            commands = [*COMPARED, case.random.choice(OTHERS), ("ingest", str(documents))]
            for command in commands:
                ended = forked.run(copy, *command)
                shown = f"{' '.join(command[:2])} with {what}"
                if ended.crashed:
                    raise Broken(f"{shown}: {ended.crashed}")
                refused += ended.code != 0
                hidden = ended.code == 0 and not ended.err.strip()
                if hidden and command in whole and ended.out != whole[command].out:
                    if file.name in WITHOUT_CHECKSUM and not _torn(file):
                        unnoticed[file.name] += 1
                        continue
                    raise Broken(f"{shown}: exit code 0, and another output than before")

        outcome = run_cases(self.name, budget, seed, attempt)
        outcome.notes.append(", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
        outcome.notes.append(f"{refused} commands said so")
        if unnoticed:
            found = ", ".join(f"{name} {count}" for name, count in sorted(unnoticed.items()))
            outcome.notes.append(f"not to be noticed: {found}")
        return outcome


def damage(file: Path, random: Random) -> str:
    """Damage a file; returns how, in words."""
    data = bytearray(file.read_bytes())
    kind = random.choice(("bit", "bytes", "end", "empty", "zeros", "garbage") if data else ("garbage",))
    at = random.randrange(len(data)) if data else 0
    match kind:
        case "bit":
            data[at] ^= 1 << random.randrange(8)
        case "bytes":
            data[at : at + 16] = random.randbytes(len(data[at : at + 16]))
        case "end":
            del data[at:]
        case "empty":
            data.clear()
        case "zeros":
            data[at:] = bytes(len(data) - at)
        case _:
            data += random.randbytes(40)
    file.write_bytes(data)
    return {"bit": f"with a bit changed at {at}", "bytes": f"with 16 bytes changed at {at}",
            "end": f"cut off at {at}", "empty": "emptied", "zeros": f"of zeros from {at} on",
            "garbage": "with bytes after its end"}[kind]  # fmt: skip


def _torn(file: Path) -> bool:
    """Whether lines of the ledger are no JSON any more, which it must say."""
    if file.suffix != ".jsonl":
        return False
    for line in filter(None, file.read_bytes().split(b"\n")):
        try:
            json.loads(line)
        except ValueError:
            return True
    return False


def kind_of(file: Path) -> str:
    """The kind of a file below the home, in a word."""
    for folder, kind in KIND_OF_FOLDER.items():
        if folder in file.parts:
            return kind
    return "table" if file.suffix == ".lance" else file.name


def _chosen(home: Path, random: Random) -> Path:
    """A file of a kind that is chosen first, so that rare kinds are damaged as often as frequent ones."""
    files = sorted(path for path in home.rglob("*") if path.is_file() and path.suffix != ".lock")
    kind = random.choice(sorted({kind_of(path.relative_to(home)) for path in files}))
    return random.choice([path for path in files if kind_of(path.relative_to(home)) == kind])


def _make(folder: Path, random: Random) -> tuple[Path, Path]:
    """A home with all kinds of files, and its documents, of which one cannot be read."""
    home, documents = folder / "home", folder / "documents"
    for start in (0, 3):
        for number in range(start, start + 3):
            small_documents.write(documents, random, number, "a", "txt")
        (documents / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
        forked.run(home, "ingest", str(documents)).checked("ingest")
    forked.run(home, "kb", "forget", str(documents / "document-5.txt")).checked("forget")
    (documents / "document-5.txt").unlink()
    (home / "config.toml").write_text(CONFIGURATION)

    def work() -> int:
        from localcrag.conversations import SqliteThreads
        from localcrag.types import Turn
        from localcrag.web.ledger import Ledger

        store = SqliteThreads(home / "threads.db")
        store.open("talk")
        for number in range(5):
            store.append("talk", [Turn("user", f"question {number}"), Turn("assistant", f"answer {number}")])
        record = Ledger(home / "egress.jsonl").recorder("a question")
        for number in range(3):
            record("query", f"words {number}")
        return 0

    forked.fork(folder, work).wait().checked("conversations and ledger")
    return home, documents


def _copy(home: Path, folder: Path) -> Path:
    shutil.copytree(home, folder / "home")
    return folder / "home"


CAMPAIGNS: Mapping[str, Campaign] = {"damage": Damage()}
