"""What each correction is worth: the same hard questions with none, each of them alone, all, and the agent.

A correction is made only where the first search does not surely answer, so questions that need none are asked
once. By default they are :mod:`.hard_questions`: in other words than their documents, among six times as many
others; else those of a folder as `scripts/train sets` writes it. They are asked as people talk (greetings,
asides, mistakes of typing). An answer is right if a gold answer is in it, and wrong if it is given and is
not; of a question that nothing answers, every answer is wrong.

The variant ``questions`` corrects nothing, and asks documents for which the chat model has written questions
(doc2query).

Options: ``--set every=N`` (5: each fifth of the hard questions), ``--set questions=FOLDER`` (with
documents/ and questions.jsonl), ``--set distractors=FOLDER`` beside those, ``--set limit=N``,
``--set talk=no`` to ask as it is written, ``--set model=FILE``, ``--set variants=none,rewrite,…``.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.accuracy import labelled
from benchmarks.hard_questions import EVERY, HardQuestion, hard_questions, write_hard_documents
from benchmarks.picture import Chart, Line
from benchmarks.report import Figure, Report, Room
from localcrag import KnowledgeBase
from localcrag import open as open_kb
from localcrag.options import AskKeywords
from localcrag.settings import ModelSettings, Settings
from localcrag.types import Action, Answer, Status

ALONE = ("rewrite", "phrasings", "hyde", "neighbours")
VARIANTS: Mapping[str, AskKeywords] = {
    "none": {"corrections": ()},
    **{kind: {"corrections": (kind,)} for kind in ALONE},
    "all": {"corrections": ALONE},
    "default": {},
    "agent": {"agent": True},
    "questions": {"corrections": ()},
}
FIRST, WRITTEN = "none", "questions"
QUESTIONS_EACH = 3
"""Questions that are written for each passage of the variant ``questions``."""


@dataclass(frozen=True)
class Outcome:
    """What one variant made of one question."""

    asked: HardQuestion
    answer: Answer

    @property
    def given(self) -> bool:
        """Whether an answer was given."""
        return self.answer.status is not Status.NOT_FOUND

    @property
    def right(self) -> bool:
        """Whether a gold answer is in it."""
        return self.given and self.asked.told_by(self.answer.text)

    @property
    def reached(self) -> bool:
        """Whether a passage with a gold answer was graded."""
        return any(self.asked.told_by(grade.hit.passage.text) for grade in self.answer.grades)

    @property
    def seconds(self) -> float:
        """Wall seconds of all stages."""
        return sum(self.answer.usage.seconds.values())


def measure(room: Room) -> Report:
    names = room.options.get("variants", "none,neighbours" if room.quick else ",".join(VARIANTS)).split(",")
    documents, questions = _material(room)
    with _opened(room) as base:
        base.ingest([str(folder) for folder in documents])
        first = [Outcome(each, base.ask(each.text, **VARIANTS[FIRST])) for each in questions]
        print(f"bench: {len(first)} questions asked without corrections", file=sys.stderr)
        outcomes = {FIRST: first}
        for name in names:
            if name not in outcomes:
                if name == WRITTEN:
                    base.ingest(str(documents[0]), questions=QUESTIONS_EACH)
                outcomes[name] = [_again(base, each, name) for each in first]
                print(f"bench: {name}: done", file=sys.stderr)
    return report(outcomes)


def _again(base: KnowledgeBase, first: Outcome, name: str) -> Outcome:
    """The outcome of another variant: the same one if no correction was called for."""
    if first.answer.action is Action.CORRECT:
        return first
    return Outcome(first.asked, base.ask(first.asked.text, **VARIANTS[name]))


def _opened(room: Room) -> KnowledgeBase:
    options, home = room.options, room.scratch / "home"
    named = ModelSettings(language=options["model"]) if "model" in options else ModelSettings()
    return open_kb(home=home, settings=Settings(home=home, model=named))


def _material(room: Room) -> tuple[list[Path], list[HardQuestion]]:
    """The folders of documents, those with the answers first, and the questions as they are asked."""
    options = room.options
    if room.quick or "questions" in options:
        documents, rows = labelled(room, "corrections")
        written = [HardQuestion(text, tuple((answer,) for answer in answers)) for text, answers in rows]
        folders = [documents, *([Path(options["distractors"])] if "distractors" in options else [])]
    else:
        folders = [room.scratch / "documents", room.scratch / "distractors"]
        write_hard_documents(*folders)
        written = hard_questions(int(options.get("every", EVERY)))
    asked = written[: int(options.get("limit", len(written)))]
    return folders, asked if options.get("talk") == "no" else list(_as_people_talk(asked))


def _as_people_talk(questions: Sequence[HardQuestion]) -> Iterator[HardQuestion]:
    from training.chatter import Chatter

    chatter = Chatter(random.Random(2), held_out=True)
    for each in questions:
        yield HardQuestion(chatter.wrap(each.text)[0], each.gold)


def report(outcomes: Mapping[str, Sequence[Outcome]]) -> Report:
    """Shares over all questions, and means of cost over those that called for a correction."""
    figures: list[Figure] = []
    called = [at for at, each in enumerate(outcomes[FIRST]) if each.answer.action is not Action.CORRECT]
    figures.append(Figure("questions", len(outcomes[FIRST]), ""))
    figures.append(Figure("questions that call for a correction", len(called), ""))
    for name, each in outcomes.items():
        costly = [each[at] for at in called] or list(each)
        figures += [
            Figure(f"{name}: right, of the answerable", _share(each, "right"), "share"),
            Figure(f"{name}: a passage with the answer was graded", _share(each, "reached"), "share"),
            Figure(f"{name}: wrong, of all", fmean(o.given and not o.right for o in each), "share"),
            Figure(f"{name}: tokens read", fmean(o.answer.usage.tokens.evaluated for o in costly), "each"),
            Figure(f"{name}: seconds", fmean(o.seconds for o in costly), "s each"),
        ]
    return Report(tuple(figures), (_chart(outcomes),))


def _share(outcomes: Sequence[Outcome], what: str) -> float:
    answerable = [each for each in outcomes if each.asked.gold]
    return fmean(getattr(each, what) for each in answerable) if answerable else 0.0


def _chart(outcomes: Mapping[str, Sequence[Outcome]]) -> Chart:
    right = Line("right", tuple((at, _share(each, "right")) for at, each in enumerate(outcomes.values())))
    wrong = tuple(
        (at, fmean(o.given and not o.right for o in each)) for at, each in enumerate(outcomes.values())
    )
    lines = (right, Line("wrong", wrong))
    return Chart("corrections", "What each correction is worth", "", "share", lines, tuple(outcomes))
