"""doc2query: questions that a passage answers are written at ingestion and indexed with the passage.

The embedding of a user's question is nearer to that of another question than to that of the passage that
answers both. A search that finds a written question returns its passage. The method is doc2query (Nogueira
et al. 2019, arXiv 1904.08375). Unlike HyDE, it costs the language model nothing when a question is asked.
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
"""The most tokens of one question."""
PASSAGES_PER_BATCH = 8
"""The number of passages whose questions are embedded and stored together; a kill loses no more."""
MAX_FAILURES = 5
"""Passages in a row on which the model may fail; then it will fail on the others, too."""

_CONTROL = "\x00-\x1f\x7f-\x9f\u2028\u2029"
_LINE = rf"[^\s{_CONTROL}\d?*#.>•–—-][^{_CONTROL}?]*\?"
QUESTION_LINES = rf"{_LINE}(\n{_LINE})*"
"""The regular expression of questions, one on each line, each ending in a question mark. None begins like the
item of a list."""


@dataclass(frozen=True, slots=True)
class QuestionWriter:
    """Writes questions for the passages of one knowledge base that have none.

    ``per_passage`` is the most questions for one passage.
    """

    model: LanguageModel
    embedder: Embedder
    store: PassageStore
    per_passage: int

    def run(self) -> Steps[int]:
        """Write and store the questions; yields Questioned, first with no passage done.

        A passage for which the model fails is reported as Degraded and skipped; the next run tries it again.
        After MAX_FAILURES passages in a row the run ends, which is reported as Degraded, too.
        If a run is interrupted, the questions stored so far stay, and the next run goes on from there.

        Returns the number of questions written. Raises StoreError, ModelNotFound, ModelFileError.
        """
        total = sum(1 for _ in self.store.questionless())
        written = failures = 0
        batch: list[tuple[Passage, list[str]]] = []
        yield Questioned(0, total)
        for done, passage in enumerate(self.store.questionless(), 1):
            try:
                batch.append((passage, self.questions_for(passage)))
                failures = 0
            except (ModelNotFound, ModelFileError):
                raise
            except ModelError as error:
                yield Degraded("questions", f"passage {passage.ordinal + 1} of {passage.source}: {error}")
                failures += 1
                if failures == MAX_FAILURES:
                    left = max(done, total) - done
                    yield Degraded(
                        "questions",
                        f"given up: the model failed on {failures} passages in a row, and {left} are left; "
                        "use another model, and run the same command again",
                    )
                    break
            if len(batch) == PASSAGES_PER_BATCH:
                written += self._write(batch)
                batch = []
            yield Questioned(done, max(done, total))
        return written + self._write(batch)

    def questions_for(self, passage: Passage) -> list[str]:
        """The questions that the model writes for a passage: at least one, and at most ``per_passage``.

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
        """Embed and store the questions of a batch; returns their number."""
        if not batch:
            return 0
        vectors = self.embedder.encode_questions(
            [question for _, questions in batch for question in questions]
        )
        rows, start = [], 0
        for passage, questions in batch:
            rows.append((passage, questions, vectors[start : start + len(questions)]))
            start += len(questions)
        self.store.add_questions(rows)
        return start


def distinct(questions: Iterable[str]) -> list[str]:
    """The questions without those that have the same words as an earlier one, in any order."""
    first: dict[frozenset[str], str] = {}
    for question in questions:
        if words := frozenset(re.findall(r"\w+", question.casefold())):
            first.setdefault(words, " ".join(question.split()))
    return list(first.values())
