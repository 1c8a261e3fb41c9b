"""The benchmarks of accuracy and of corrections: what counts as right, and that they run; no times."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import accuracy, corrections
from benchmarks.accuracy import Outcome, Question
from benchmarks.hard_questions import HardQuestion, hard_questions, write_hard_documents
from benchmarks.peers.wire import Cost
from benchmarks.report import Report, Room

PASSAGES = ("The Orlan bridge opened in 1921.", "The mill stands by the river.")
ANSWERABLE = Question("When did the Orlan bridge open?", ("1921",), PASSAGES)
UNANSWERABLE = Question("Who built the cathedral?", (), PASSAGES)


def outcome(question: Question, text: str, kept: tuple[int, ...] = (0,), name: str = "plain") -> Outcome:
    return Outcome(name, question, Cost(100, 10, 0, 2.0, kept, text))


def values(report: Report) -> dict[str, float]:
    return {figure.name: figure.value for figure in report.figures}


@pytest.mark.parametrize(
    ("given", "right", "withheld"),
    [
        (outcome(ANSWERABLE, "It opened in 1921. [1]"), True, False),
        (outcome(ANSWERABLE, "It opened in 1931. [1]"), False, False),
        (outcome(ANSWERABLE, "It opened in 1921.", kept=()), False, True),
        (outcome(ANSWERABLE, "The documents do not answer this."), False, True),
        (outcome(ANSWERABLE, "I do not know."), False, True),
        (outcome(ANSWERABLE, " "), False, True),
        (outcome(UNANSWERABLE, "It was built by Orlan."), False, False),
    ],
)
def test_an_answer_is_right_wrong_or_withheld(given: Outcome, right: bool, withheld: bool) -> None:
    assert (given.right, given.withheld) == (right, withheld)


def test_shares_are_of_what_they_name_and_ratios_are_against_the_best() -> None:
    report = accuracy.report(
        [
            outcome(ANSWERABLE, "In 1931."),
            outcome(UNANSWERABLE, "By Orlan."),
            outcome(ANSWERABLE, "In 1921. [1]", name="localcrag"),
            outcome(UNANSWERABLE, "", name="localcrag"),
        ]
    )
    found = values(report)
    assert found["plain RAG: wrong, of all"] == 1.0
    assert found["localcrag: right, of the answerable"] == 1.0
    assert found["localcrag: withheld, of the unanswerable"] == 1.0
    assert found["localcrag: right ones that cite a passage with the answer"] == 1.0
    assert "plain RAG: right ones that cite a passage with the answer" not in found
    assert found["localcrag - best of the others: right"] == 100.0
    assert found["localcrag - best of the others: wrong"] == -100.0
    assert found["localcrag / plain RAG"] == 1.0


def test_answers_are_kept_and_joined_to_those_of_another_run(tmp_path: Path) -> None:
    kept = tmp_path / "answers.jsonl"
    options = {"contenders": "localcrag", "answers": str(kept)}
    first = accuracy.measure(Room(tmp_path / "a", tmp_path, quick=True, options=options))
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    assert [row["contender"] for row in rows] == ["localcrag"] * len(accuracy.SAMPLE)
    assert values(first)["localcrag: right, of the answerable"] == 1.0
    assert values(first)["localcrag: wrong, of all"] == 0.0
    assert values(accuracy.report(list(accuracy.kept_in(kept)))) == values(first)


def test_a_set_of_questions_is_needed(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="scripts/train sets"):
        accuracy.measure(Room(tmp_path, tmp_path))


def test_hard_questions_travel_with_their_documents(tmp_path: Path) -> None:
    questions = hard_questions(every=5)
    assert len(questions) == len(hard_questions(every=1)) // 5 >= 160
    unanswered = [each for each in questions if not each.gold]
    assert len(unanswered) > 30
    assert not any(each.told_by(each.text) for each in unanswered)
    write_hard_documents(tmp_path / "documents", tmp_path / "distractors")
    assert {folder.name for folder in (tmp_path / "documents").iterdir()} == {"home", "office", "technical"}
    assert len(list((tmp_path / "distractors").iterdir())) > 500


def test_a_hard_question_is_answered_by_the_short_answer_or_by_all_pieces_of_a_block() -> None:
    asked = HardQuestion("When does the gate close?", (("22:00",), ("gate", "ten at night")))
    assert asked.told_by("It closes at 22:00.")
    assert asked.told_by("The gate closes at ten at night.")
    assert not asked.told_by("The gate closes at night.")


def test_a_correction_is_tried_where_the_first_search_does_not_answer(tmp_path: Path) -> None:
    found = values(corrections.measure(Room(tmp_path, tmp_path, quick=True, options={"talk": "no"})))
    assert found["questions"] == len(accuracy.SAMPLE)
    assert 1 <= found["questions that call for a correction"] < len(accuracy.SAMPLE)
    for name in ("none", "neighbours"):
        assert found[f"{name}: right, of the answerable"] == 1.0
        assert found[f"{name}: wrong, of all"] == 0.0
