"""Prompt layouts: each passage is graded in a prompt of its own, or all passages in one joint prompt.

``independent``: one prompt for each passage, so that no passage influences the grade of another. For a model
that was trained on the prompts (:mod:`~localcrag.crag.prompts`) they share their beginning, and the prompt of
an answer begins as the grading prompt of its first passage did, so that the KV cache of that prompt is used
again.

``joint``: one prompt holds all passages, each followed by its number, and a short continuation of that
prompt asks for each passage whether it helps. The answer is written from the same KV cache, from which the
passages that do not help are removed first. So every passage is read once, for the grades and for the
answer. The drawback: a passage is judged in the context of the passages before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from localcrag.crag import prompts
from localcrag.crag.refinement.recomposition import joined, numbered
from localcrag.types import Evidence, Passage, Prompt, Strip


@dataclass(slots=True)
class JointPassages:
    """The passages of one question in its joint prompt, in the order in which they were added."""

    passages: list[Passage] = field(default_factory=list)

    def add(self, passages: Iterable[Passage]) -> list[int]:
        """Append the passages that are not in the prompt yet; returns the numbers of all given, from 1."""
        places = {known.id: place for place, known in enumerate(self.passages, 1)}
        numbers = []
        for passage in passages:
            if passage.id not in places:
                self.passages.append(passage)
                places[passage.id] = len(self.passages)
            numbers.append(places[passage.id])
        return numbers

    def clear(self) -> None:
        """Remove all passages."""
        self.passages = []

    @property
    def texts(self) -> list[str]:
        """The text of each passage, in order."""
        return [passage.text for passage in self.passages]


class PromptLayout(Protocol):
    """The keys of the evidence, and the prompt of the answer."""

    def evidence(self, kept: Sequence[Strip]) -> list[Evidence]:
        """The strips as evidence with keys, in the order of the keys."""
        ...

    def answer(self, question: str, evidence: Sequence[Evidence], *, believed: bool = False) -> Prompt:
        """The prompt that asks for an answer from this evidence.

        ``believed`` says that the model holds that it answers.
        """
        ...


@dataclass(frozen=True, slots=True)
class IndependentLayout:
    """A prompt that holds only the evidence, with keys from 1.

    ``trained`` says that the model was trained on the prompts.
    """

    trained: bool = False

    def evidence(self, kept: Sequence[Strip]) -> list[Evidence]:
        """The strips with keys from 1; adjacent strips of one passage are merged."""
        return numbered(joined(kept))

    def answer(self, question: str, evidence: Sequence[Evidence], *, believed: bool = False) -> Prompt:
        """The prompt that asks for an answer from this evidence."""
        return prompts.answer(question, evidence, trained=self.trained, believed=believed)


@dataclass(frozen=True, slots=True)
class JointLayout:
    """A prompt that goes on from the joint prompt of the grades; keys are its passage numbers.

    ``trained`` says that the model was trained on the prompts.
    """

    joint: JointPassages
    trained: bool = False

    def evidence(self, kept: Sequence[Strip]) -> list[Evidence]:
        """The strips, which are whole passages, keyed by their numbers; passages not yet in it are added."""
        places = self.joint.add(strip.passage for strip in kept)
        keyed = [Evidence(place, strip) for place, strip in zip(places, kept, strict=True)]
        return sorted(keyed, key=lambda item: item.key)

    def answer(self, question: str, evidence: Sequence[Evidence], *, believed: bool = False) -> Prompt:
        """The prompt with all passages, of which those that are no evidence are marked as removed."""
        keys = [item.key for item in evidence]
        return prompts.answer_joint(question, self.joint.texts, keys, trained=self.trained)
