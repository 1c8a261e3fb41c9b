"""Collections of passages with questions that they answer, and how well a search finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2
from pathlib import Path

from localcrag import KnowledgeBase

RANKS = 10


@dataclass(frozen=True)
class Collection:
    """Passages by name, and questions with the names of the passages that answer them."""

    name: str
    passages: Mapping[str, str]
    questions: tuple[tuple[str, frozenset[str]], ...]

    def write(self, folder: Path) -> Path:
        """Write each passage as a text file into a new folder, which is returned."""
        folder.mkdir()
        for name, text in self.passages.items():
            (folder / f"{name}.txt").write_text(text, "utf-8")
        return folder


def found(base: KnowledgeBase, question: str, *, evaluator: str | None = None) -> list[str]:
    """The names of the documents that a search finds, best first; see ``kb.search``."""
    hits = base.search(question, k=RANKS, evaluator=evaluator)
    return list(dict.fromkeys(Path(hit.passage.source).stem for hit in hits))


def ndcg(names: list[str], right: frozenset[str]) -> float:
    """nDCG@10 (Järvelin and Kekäläinen 2002) with gains of 0 and 1."""
    gained = sum(1 / log2(rank + 1) for rank, name in enumerate(names[:RANKS], 1) if name in right)
    return gained / sum(1 / log2(rank + 1) for rank in range(1, min(len(right), RANKS) + 1))
