"""Hard questions that travel with the program: in other words than their documents say it.

The documents are the made ones that nothing was trained or fitted on (`training/unseen_documents`):
handbooks, mail, tables, minutes, code, a log. Beside them lies what the standard library documents about
itself, six times as many words, so that a search may well miss.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.data import read_jsonl
from training.labelled_documents import unseen_folders

from benchmarks.peers.questions import documentation
from localcrag.evaluation.text_overlap import holds

EVERY = 5
"""By default each fifth question is asked."""

Pieces = tuple[str, ...]
"""Pieces of text that all stand in what answers."""


@dataclass(frozen=True)
class HardQuestion:
    """A question, and what a right answer says: one of some sets of pieces; none if nothing answers it."""

    text: str
    gold: tuple[Pieces, ...]

    def told_by(self, text: str) -> bool:
        """Whether a text says one of the right answers."""
        return any(all(holds(text, (piece,)) for piece in pieces) for pieces in self.gold)


def hard_questions(every: int) -> list[HardQuestion]:
    """Each n-th question of all folders."""
    return list(_questions())[::every]


def write_hard_documents(documents: Path, distractors: Path) -> None:
    """Write the documents into one folder, and the distractors into another."""
    for folder in unseen_folders():
        shutil.copytree(folder / "docs", documents / folder.name)
    distractors.mkdir()
    for name, text in documentation():
        (distractors / f"{name}.txt").write_text(text, "utf-8")


def _questions() -> Iterator[HardQuestion]:
    for folder in unseen_folders():
        for row in read_jsonl(folder / "questions.jsonl"):
            yield HardQuestion(row["question"], tuple(_gold(row)))


def _gold(row: Mapping[str, Any]) -> Iterator[Pieces]:
    """The short answer by itself, or all pieces of a block that answers."""
    if row["answer"] is None:
        return
    yield (str(row["answer"]),)
    yield tuple(row["evidence"])
    for pieces in row.get("also") or ():
        yield (pieces,) if isinstance(pieces, str) else tuple(pieces)
