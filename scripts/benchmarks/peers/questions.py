"""Questions with passages: what the standard library documents about itself, or a file of the user's.

Of every question it is known which passages hold the answer. The others are what a search of the
same text brings, put in order by the product's own reranking; so they are near misses, as in use.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localcrag.protocols import Evaluator

GRADED, KEPT, RETRIEVED = 8, 2, 24
MODULES = (
    "argparse", "collections", "concurrent.futures", "configparser", "contextlib", "csv", "datetime",
    "decimal", "difflib", "doctest", "email.message", "enum", "fractions", "gzip", "http.client", "inspect",
    "io", "json", "logging", "mailbox", "multiprocessing.pool", "optparse", "pathlib", "pickle", "queue",
    "random", "sched", "selectors", "shelve", "shutil", "smtplib", "socket", "statistics", "string",
    "subprocess", "tarfile", "tempfile", "textwrap", "threading", "trace", "traceback", "typing",
    "unittest.mock", "urllib.request", "uuid", "weakref", "xml.etree.ElementTree", "zipfile",
)  # fmt: skip
ANSWER = (
    "It serves one purpose, and the two excerpts describe it from both of its sides. Begin with the "
    "plain call, look at what comes back, and only then turn to the rarer settings. Most callers never need "
    "those. Errors are raised early, so that a mistaken argument shows itself at once, and cleaning up "
    "happens whether or not the work succeeded. When in doubt, prefer the shorter form; readers will thank "
    "you later, and nothing is lost by it."
)
"""What every contender is made to say: a random model would end, or go round in circles, as it likes.
It repeats no passage, so that reading ahead what stands in the evidence gives nobody an advantage."""


@dataclass(frozen=True, slots=True)
class Question:
    """``candidates`` are what a wide retrieval brings, best first; ``graded`` and ``kept`` number some.

    All contenders get the passages in ``graded``, in this order, and those in ``kept`` are relevant.
    """

    text: str
    candidates: tuple[str, ...]
    graded: tuple[int, ...]
    kept: tuple[int, ...]

    @property
    def passages(self) -> list[str]:
        return [self.candidates[number] for number in self.graded]

    @property
    def labels(self) -> list[bool]:
        """For each graded passage, whether it is to be kept."""
        return [number in self.kept for number in self.graded]

    def request(self, contender: str, tokens: int) -> dict[str, object]:
        """What a worker is sent."""
        own = {"passages": self.passages, "labels": self.labels, "answer": ANSWER, "tokens": tokens}
        return {"contender": contender, **asdict(self), **own}


WARMING = Question(
    "What is it about?", tuple(f"Passage {n} is about the number {n}." for n in range(GRADED)),
    tuple(range(GRADED)), (0, 1),
)  # fmt: skip
"""Asked first, and not measured: it compiles what is compiled once, and touches the whole model."""


def documented(count: int, size: int, evaluator: Evaluator) -> list[Question]:
    """Questions about the standard library, over passages of about ``size`` characters."""
    library = Library(size)
    questions: list[Question] = []
    for name, own in library.entries.items():
        if len(own) >= KEPT:
            text = f"What is {name} for, and how is it used?"
            if question := ranked(text, library.near(text, own[:KEPT]), own[:KEPT], evaluator):
                questions.append(question)
        if len(questions) == count:
            break
    return questions


def of_file(path: Path, count: int, size: int, evaluator: Evaluator) -> list[Question]:
    """The first ``count`` usable rows of a JSONL file: ``question``, ``passages`` (8 or more), ``kept``.

    ``kept`` are numbers of passages, from 0. Passages are cut to ``size`` characters; what a wide
    retrieval is short of is taken from the other rows. A row whose kept passages are not among the best
    eight is passed over. Raises ValueError where no row is left.
    """
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    everything = [text[:size] for row in rows for text in row["passages"]]
    questions: list[Question] = []
    for row in rows:
        own = [text[:size] for text in row["passages"]]
        kept = [own[place] for place in row["kept"]]
        candidates = list(dict.fromkeys([*own, *everything]))[:RETRIEVED]
        if question := ranked(row["question"], candidates, kept, evaluator):
            questions.append(question)
        if len(questions) == count:
            break
    if not questions:
        raise ValueError(f"no question of {path.name} has its kept passages among the best {GRADED}")
    return questions


def ranked(
    text: str, candidates: Sequence[str], kept: Sequence[str], evaluator: Evaluator
) -> Question | None:
    """The question with the passages that the product's reranking puts first; None if it loses a kept one."""
    from benchmarks.peers.given import hits
    from localcrag.crag.retrieval import rerank

    places = {candidate: place for place, candidate in enumerate(candidates)}
    best = rerank(text, hits(candidates), evaluator, GRADED)[:GRADED]
    graded = tuple(places[hit.passage.text] for hit in best)
    wanted = tuple(sorted(places[passage] for passage in kept))
    return Question(text, tuple(candidates), graded, wanted) if set(wanted) <= set(graded) else None


@cache
def reranking(home: Path) -> Evaluator:
    """The evaluator that ranks the passages; what it is converted to lies in ``home``."""
    from localcrag.loaded_models import LoadedModels
    from localcrag.settings import ModelSettings

    evaluator = LoadedModels(ModelSettings(), home).evaluator
    assert evaluator is not None
    return evaluator


class Library:
    """The documentation strings of the standard library, cut into passages of one size."""

    def __init__(self, size: int) -> None:
        self.entries = {name: list(cut(text, size)) for name, text in documentation()}

    def near(self, question: str, own: Sequence[str]) -> list[str]:
        """``own`` and the passages most like the question, most like it first (BM25 without lengths)."""
        asked, first = words(question), words(own[0])

        def likeness(passage: str) -> float:
            held = Counter(words(passage))
            return sum(self._rarity[word] * (1 - 0.5 ** held[word]) for word in (*asked * 3, *set(first)))

        ranking = sorted(self._passages, key=likeness, reverse=True)
        others = [passage for passage in ranking if passage not in own][: RETRIEVED - len(own)]
        return sorted([*own, *others], key=likeness, reverse=True)

    @cached_property
    def _passages(self) -> list[str]:
        return [passage for own in self.entries.values() for passage in own]

    @cached_property
    def _rarity(self) -> Mapping[str, float]:
        held = Counter(word for passage in self._passages for word in set(words(passage)))
        rarity = {word: math.log(len(self._passages) / count) for word, count in held.items()}
        return defaultdict(float, rarity)


def documentation() -> Iterator[tuple[str, str]]:
    """The public functions and classes of some modules, each with all that it says about itself."""
    for module in map(importlib.import_module, MODULES):
        for name in sorted(getattr(module, "__all__", ())):
            value = getattr(module, name, None)
            if not inspect.getdoc(value) or getattr(value, "__module__", None) != module.__name__:
                continue
            parts = [f"{module.__name__}.{name}\n{inspect.getdoc(value)}"]
            if inspect.isclass(value):
                own = {method: inspect.getdoc(member) for method, member in vars(value).items()}
                parts += [
                    f"{name}.{method}: {doc}" for method, doc in own.items() if method[0] != "_" and doc
                ]
            yield f"{module.__name__}.{name}", "\n\n".join(parts)


def cut(text: str, size: int) -> Iterator[str]:
    """Pieces of about ``size`` characters that end at a word; a rest that is much shorter is left out."""
    text = re.sub(r"[ \t]+", " ", text).strip()
    while len(text) >= 0.9 * size:
        piece = text[:size]
        if len(text) > size and " " in piece:
            piece = piece[: piece.rindex(" ")]
        yield piece.strip()
        text = text[len(piece) :].strip()


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]{3,}", text.lower())
