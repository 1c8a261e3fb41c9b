"""Which passages are cut into strips, and what the grade of its passage does to a strip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import pytest

from localcrag.calibration.scale import log_odds
from localcrag.crag.evidence_selection import MAX_CUT_PASSAGES, PASSAGE_WEIGHT, select_evidence
from localcrag.crag.state import QuestionState
from localcrag.protocols import PassageReader
from localcrag.types import BlockKind, Grade, Hit, Passage, Strip, Verdict
from tests.crag.values import drained, grade, structured
from tests.crag.world import World
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel

QUESTION = "Who counted the coots?"
COUNTED, RAINED = "Two of the wardens counted the coots.", "It rained for all of the day."


def selected(grades: Sequence[Grade], p: dict[str, float], *, by_evaluator: bool = True) -> list[Strip]:
    judge = ScriptedEvaluator(lambda _, text: p.get(text.rpartition("\n")[2], 0.01))
    world = World({"/a.txt": ""}, ScriptedModel(), judge, by_evaluator=by_evaluator)
    state = QuestionState(world.adapters, world.options, QUESTION, QUESTION, None)
    state.grades[:] = grades
    return drained(select_evidence(state))[1]


def test_a_sentence_of_a_passage_that_was_doubted_may_be_the_evidence() -> None:
    kept = selected([grade(0.6, text=RAINED), grade(0.1, text=COUNTED)], {RAINED: 0.2, COUNTED: 0.9})
    assert max(kept, key=lambda strip: strip.score).text == COUNTED


def test_a_strip_loses_a_share_of_what_its_passage_is_behind_the_best_one() -> None:
    kept = selected([grade(0.6, text=RAINED), grade(0.1, text=COUNTED)], {RAINED: 0.8, COUNTED: 0.8})
    by_text = {strip.text: strip.score for strip in kept}
    behind = log_odds(by_text[RAINED]) - log_odds(by_text[COUNTED])
    assert behind == pytest.approx(PASSAGE_WEIGHT * (log_odds(0.6) - log_odds(0.1)))


def test_of_many_passages_the_best_are_cut() -> None:
    texts = [f"{COUNTED[:-1]} in the year {1990 + n}." for n in range(12)]
    graded = [
        grade(0.6, text=texts[0]),
        *(grade(0.2 - n / 100, text=text) for n, text in enumerate(texts[1:])),
    ]
    kept = selected(graded, dict.fromkeys(texts, 0.95))
    assert {strip.text for strip in kept} <= set(texts[:MAX_CUT_PASSAGES])
    assert len(kept) > 1


def test_no_doubted_passage_is_cut_if_a_language_model_grades() -> None:
    kept = selected(
        [grade(0.6, text=RAINED), grade(0.1, text=COUNTED)], {RAINED: 0.6, COUNTED: 0.9}, by_evaluator=False
    )
    assert [strip.text for strip in kept] == [RAINED]


def test_the_day_of_a_release_is_looked_for_in_all_of_its_list_of_changes() -> None:
    """What changed is found by its words, and the heading with the day is in another passage."""
    release = structured((BlockKind.HEADING, "Viking 1.3 (2020-03-02)"), (BlockKind.ITEM, "Maps."), start=90)
    found = structured((BlockKind.ITEM, "The maps of Viking are drawn in another colour."))
    world = World({"/a.txt": ""}, ScriptedModel(), ScriptedEvaluator(lambda *_: 0.1))
    store = cast("PassageReader", Log((found, release)))
    question = "When did version 1.3 of Viking come out?"
    state = QuestionState(replace(world.adapters, store=store), world.options, question, question, None)
    state.grades[:] = [Grade(Hit(found, 1.0), Verdict.NO, 0.1)]
    assert [strip.text for strip in drained(select_evidence(state))[1]] == ["Viking 1.3 (2020-03-02)"]


@dataclass(frozen=True)
class Log:
    """A store of one list of changes."""

    parts: Sequence[Passage]

    def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        """All of it."""
        assert len(documents) == 1
        return list(self.parts[:limit])
