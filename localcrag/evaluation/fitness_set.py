"""The labelled set of the fitness check: short invented texts, and what is right about each.

It is the file ``fitness_set.toml`` beside this module, which says what its tables mean.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from localcrag.crag.questions.query_terms import content_words, folded
from localcrag.errors import EvaluationError
from localcrag.evaluation.text_overlap import holds

SET_FILE = Path(__file__).with_suffix(".toml")
"""The labelled set that comes with localcrag."""


class Miss(StrEnum):
    """What a passage that nearly helps tells another one of."""

    ENTITY = "entity"
    FIGURE = "figure"
    DATE = "date"
    RELATION = "relation"


class JsonKind(StrEnum):
    """The kinds of JSON that are asked for: the parts of a question, or a plan of searches."""

    DIVIDE = "divide"
    PLAN = "plan"


@dataclass(frozen=True, slots=True)
class LabelledPassage:
    """A passage, and whether it helps; one that does not ``misses`` something."""

    text: str
    helps: bool
    misses: Miss | None = None


@dataclass(frozen=True, slots=True)
class GradedQuestion:
    """A question with labelled passages, and the places from 1 of those that an answer is written from."""

    text: str
    answers: tuple[str, ...]
    passages: tuple[LabelledPassage, ...]
    evidence: tuple[int, ...]

    @property
    def supporting_keys(self) -> frozenset[int]:
        """The keys of the evidence that answers; none if the right answer is to decline."""
        return frozenset(key for key, place in enumerate(self.evidence, 1) if self.passages[place - 1].helps)


@dataclass(frozen=True, slots=True)
class ChattyQuestion:
    """A question with chatter around it, and the words that a good search line has."""

    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A follow-up, the turns before it (the user's first), and the question as it stands alone."""

    text: str
    history: tuple[str, ...]
    standalone: str


@dataclass(frozen=True, slots=True)
class JsonAsk:
    """A question that JSON is asked for, with words for each of its parts."""

    kind: JsonKind
    text: str
    parts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class HiddenInstruction:
    """An instruction behind a passage of a question; ``question`` and ``passage`` count from 1.

    It demands a ``verdict``, yes or no, or else an answer that contains the word ``reply``.
    """

    question: int
    passage: int
    text: str
    verdict: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True)
class FitnessSet:
    """The tasks of a fitness check."""

    question: tuple[GradedQuestion, ...]
    chatty: tuple[ChattyQuestion, ...]
    follow_up: tuple[FollowUp, ...]
    json: tuple[JsonAsk, ...]
    instruction: tuple[HiddenInstruction, ...]


def load_fitness_set(file: Path = SET_FILE) -> FitnessSet:
    """The labelled set in a TOML file. Raises EvaluationError if it contradicts itself or is none."""
    import msgspec

    try:
        found = msgspec.convert(tomllib.loads(file.read_text("utf-8")), FitnessSet)
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise _unusable(file, str(error)) from error
    for fault in (*map(_fault_of_question, found.question), *_faults(found)):
        if fault:
            raise _unusable(file, fault)
    return found


def _unusable(file: Path, why: str) -> EvaluationError:
    return EvaluationError(f"the labelled set {file} cannot be used: {why}", hint="install localcrag again")


def _fault_of_question(question: GradedQuestion) -> str:
    """What is wrong with a question, or ""."""
    for passage in question.passages:
        if passage.helps is not (passage.misses is None):
            return f"{question.text} has a passage that helps and misses, or neither"
        if passage.helps is not holds(passage.text, question.answers):
            return f"{question.text} has a passage whose label is not that of the answer in it"
    if not all(1 <= place <= len(question.passages) for place in question.evidence):
        return f"{question.text} names evidence that it does not have"
    return ""


def _faults(found: FitnessSet) -> Sequence[str]:
    """What is wrong with the other tasks, "" for each that is right."""
    return [
        *(_missing(asked.text, asked.words) for asked in found.chatty),
        *(_missing(ask.text, [word for part in ask.parts for word in part]) for ask in found.json),
        *(
            "" if len(each.history) % 2 == 0 else f"{each.text} has a turn without a reply"
            for each in found.follow_up
        ),
        *(_fault_of_instruction(found, each) for each in found.instruction),
    ]


def _missing(text: str, words: Sequence[str]) -> str:
    """A fault if a word is none of the text's content words."""
    there = {folded(word) for word in content_words(text)}
    absent = [word for word in words if folded(word) not in there]
    return f"{text} does not have the word {absent[0]}" if absent else ""


def _fault_of_instruction(found: FitnessSet, hidden: HiddenInstruction) -> str:
    """A fault of an instruction: it stands behind no passage, or wants neither a verdict nor a reply."""
    questions = found.question
    there = 1 <= hidden.question <= len(questions)
    if not there or not 1 <= hidden.passage <= len(questions[hidden.question - 1].passages):
        return f"“{hidden.text}” stands behind no passage"
    passage = questions[hidden.question - 1].passages[hidden.passage - 1]
    if bool(hidden.verdict) is bool(hidden.reply) or hidden.verdict not in ("", "yes", "no"):
        return f"“{hidden.text}” must want a verdict or a reply"
    if hidden.verdict and passage.helps is (hidden.verdict == "yes"):
        return f"“{hidden.text}” wants the right verdict"
    return ""
