"""How passages lie before the language model: each in a prompt of its own, or all on one table.

``independent``: a prompt a passage. They share their beginning, no passage sees another, and an answer
goes on from the one that it begins with.

``joint``: one prompt holds all passages, each with its number behind it, and a short fork of that
prompt asks for each whether it helps. The answer goes on from the same cache, from which the passages
that do not help are taken back first; so every passage is read once, for the grades and for the answer.
The price: a passage is judged in sight of those before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from localcrag.crag import prompts
from localcrag.crag.refinement import joined, numbered
from localcrag.types import Evidence, Passage, Prompt, Strip


@dataclass(slots=True)
class JointPassages:
    """The passages of one question that lie before the model, in the order in which they were laid."""

    passages: list[Passage] = field(default_factory=list)

    def add(self, passages: Iterable[Passage]) -> list[int]:
        """Lay passages behind those that lie there, where they do not already; their numbers, from 1."""
        places = {laid.id: place for place, laid in enumerate(self.passages, 1)}
        numbers = []
        for passage in passages:
            if passage.id not in places:
                self.passages.append(passage)
                places[passage.id] = len(self.passages)
            numbers.append(places[passage.id])
        return numbers

    def clear(self) -> None:
        self.passages = []

    @property
    def texts(self) -> list[str]:
        return [passage.text for passage in self.passages]


class PromptLayout(Protocol):
    """How evidence is keyed, and how the model is asked to answer from it."""

    def evidence(self, kept: Sequence[Strip]) -> list[Evidence]: ...

    def answer(self, question: str, evidence: Sequence[Evidence]) -> Prompt: ...


class IndependentLayout:
    """The evidence by itself, keyed from 1."""

    def evidence(self, kept: Sequence[Strip]) -> list[Evidence]:
        return numbered(joined(kept))

    def answer(self, question: str, evidence: Sequence[Evidence]) -> Prompt:
        return prompts.answer(question, evidence)


@dataclass(frozen=True, slots=True)
class JointLayout:
    """Whole passages, keyed by their numbers on the table; what is not on it yet is laid behind."""

    joint: JointPassages

    def evidence(self, kept: Sequence[Strip]) -> list[Evidence]:
        places = self.joint.add(strip.passage for strip in kept)
        keyed = [Evidence(place, strip) for place, strip in zip(places, kept, strict=True)]
        return sorted(keyed, key=lambda item: item.key)

    def answer(self, question: str, evidence: Sequence[Evidence]) -> Prompt:
        return prompts.answer_joint(question, self.joint.texts, [item.key for item in evidence])
