"""Questions that each passage answers, written at ingestion and indexed beside it.

People ask questions, and a question is nearer to another question than to the passage that answers
both: a search that finds the question is led back to its passage. It is doc2query (Nogueira et al.
2019, arXiv 1904.08375), and HyDE the other way round: made up once, at ingestion, and not for every
question that is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from localcrag.crag import prompts
from localcrag.errors import ConstraintError, ModelError, ModelFileError, ModelNotFound
from localcrag.events import Degraded, Questioned, Steps
from localcrag.protocols import Embedder, LanguageModel, PassageStore
from localcrag.types import Passage

MAX_QUESTION_TOKENS = 40
"""Room for a question."""
PASSAGES_PER_BATCH = 8
"""Passages whose questions are embedded and written together: what a kill loses at most."""

_CONTROL = "\x00-\x1f\x7f-\x9f\u2028\u2029"
_LINE = rf"[^\s{_CONTROL}\d?*#.>•–—-][^{_CONTROL}?]*\?"
QUESTION_LINES = rf"{_LINE}(\n{_LINE})*"
"""Questions, one a line, each up to its question mark; none begins as the items of a list do."""


@dataclass(frozen=True, slots=True)
class QuestionWriter:
    """Has the model write questions for the passages of one knowledge base that have none."""

    model: LanguageModel
    embedder: Embedder
    store: PassageStore
    per_passage: int

    def run(self) -> Steps[int]:
        """Returns how many questions were written; yields Questioned, first with none done.

        A passage for which the model fails is Degraded and passed over; the next run tries it again.
        What was written stays where a run is cut off, and the next goes on from there. Raises
        StoreError, ModelNotFound, ModelFileError.
        """
        total = sum(1 for _ in self.store.questionless())
        written = 0
        batch: list[tuple[Passage, list[str]]] = []
        yield Questioned(0, total)
        for done, passage in enumerate(self.store.questionless(), 1):
            try:
                batch.append((passage, self.asked_of(passage)))
            except (ModelNotFound, ModelFileError):
                raise
            except ModelError as error:
                yield Degraded("questions", f"passage {passage.ordinal + 1} of {passage.source}: {error}")
            if len(batch) == PASSAGES_PER_BATCH:
                written += self._write(batch)
                batch = []
            yield Questioned(done, max(done, total))
        return written + self._write(batch)

    def asked_of(self, passage: Passage) -> list[str]:
        """At least one question and at most ``per_passage`` that the passage answers.

        Raises ConstraintError, ContextOverflow.
        """
        prompt = prompts.questions(passage, self.per_passage)
        text = ""
        for piece in self.model.stream(
            prompt, pattern=QUESTION_LINES, max_tokens=self.per_passage * MAX_QUESTION_TOKENS
        ):
            text += piece
            if text.count("?") >= self.per_passage:
                break
        questions = distinct(text.split("\n")[: self.per_passage])
        if not questions:
            raise ConstraintError("the model wrote no question", hint="use another model")
        return questions

    def _write(self, batch: list[tuple[Passage, list[str]]]) -> int:
        if not batch:
            return 0
        vectors = self.embedder.encode([question for _, questions in batch for question in questions])
        rows, start = [], 0
        for passage, questions in batch:
            rows.append((passage, questions, vectors[start : start + len(questions)]))
            start += len(questions)
        self.store.add_questions(rows)
        return start


def distinct(questions: Iterable[str]) -> list[str]:
    """The questions without those that ask in the same words as an earlier one, whatever their order."""
    first: dict[frozenset[str], str] = {}
    for question in questions:
        if words := frozenset(re.findall(r"\w+", question.casefold())):
            first.setdefault(words, " ".join(question.split()))
    return list(first.values())
