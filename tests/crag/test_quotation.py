"""Of the strips that answer, those that are quoted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.quotation import _most_probable
from localcrag.crag.questions.question_extent import asks_what_to_do
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import Block, BlockKind, Mode, Thresholds
from tests.crag.test_pipeline import scripted
from tests.crag.values import passage, structured
from tests.crag.world import World, answer
from tests.fakes.llm import ScriptedEvaluator


def test_of_a_table_the_row_that_has_the_words_of_the_question_is_quoted() -> None:
    rows = [
        "Year: 2018 · Height of reed: 240 cm",
        "Year: 2022 · Height of reed: 82 cm",
        "Year: 2023 · Height: 49",
    ]
    text, blocks = "", []
    for row in rows:
        blocks.append(Block(BlockKind.ROW, len(text), len(text) + len(row)))
        text += f"{row}\n"
    table = replace(passage(text.strip()), blocks=tuple(blocks))
    strip_2018, strip_2022, _ = cut = strips(table)
    judged = [replace(strip, score=p) for strip, p in zip(cut, (0.9, 0.8, 0.85), strict=True)]
    assert [s.text for s in _most_probable(judged, "How high was the reed in 2022?")] == [strip_2022.text]
    assert [s.text for s in _most_probable(judged, "Is it so?")] == [strip_2018.text, rows[2]]


@pytest.mark.parametrize(
    ("best", "further", "other_table", "quoted"),
    [
        (0.6, 0.95, False, True),
        (0.6, 0.8, False, False),
        (0.2, 0.8, False, True),
        (0.2, 0.7, False, False),
        (0.6, 0.6, True, True),
        (0.6, 0.4, True, False),
    ],
)
def test_a_further_row_of_the_same_table_must_be_nearly_as_probable_unless_the_best_one_is_doubted(
    best: float, further: float, other_table: bool, quoted: bool
) -> None:
    rows = (BlockKind.ROW, "Name: Odell · Role: guard"), (BlockKind.ROW, "Name: Pia · Role: driver")
    first, second = strips(structured(*rows))
    if other_table:
        second = strips(replace(structured(rows[1]), document="another"))[0]
    kept = [replace(first, score=best), replace(second, score=best * further)]
    assert _most_probable(kept, "Is it so?") == kept[: 1 + quoted]


def test_a_row_for_the_number_of_the_question_is_quoted_beside_what_is_more_probable() -> None:
    made = structured(
        (BlockKind.PARAGRAPH, "The single dose is 8 mg per kg of weight."),
        (BlockKind.ROW, "Weight: 7-9 kg · Dose: 60 mg"),
        (BlockKind.ROW, "Weight: 10-14 kg · Dose: 100 mg"),
    )
    rule, small, large = strips(made)
    kept = [replace(rule, score=0.9), replace(small, score=0.2), replace(large, score=0.2)]
    assert _most_probable(kept, "What is the dose for a child of 12 kg?") == [kept[0], kept[2]]
    assert _most_probable(kept, "What is the dose for a child?") == kept[:1]


def test_of_rows_with_the_parts_of_a_date_the_one_with_the_date_is_quoted() -> None:
    rows = ("date: 2013/04/07 · rain: 8", "date: 2013/07/04 · rain: 0")
    first, second = (len(row) for row in rows)
    blocks = (Block(BlockKind.ROW, 0, first), Block(BlockKind.ROW, first + 1, first + 1 + second))
    cut = strips(replace(passage("\n".join(rows)), blocks=blocks))
    judged = [replace(strip, score=score) for strip, score in zip(cut, (0.6, 0.5), strict=True)]
    assert [s.text for s in _most_probable(judged, "Did it rain on 2013/07/04?")] == [rows[1]]


@pytest.mark.parametrize(
    ("question", "is_enough"),
    [
        ("What is the usual dose?", True),
        ("How many people work there?", True),
        ("Who drives?", True),
        ("Wie viel kostet es?", True),
        ("How do I clear the fault?", False),
        ("What should I do if it leaks?", False),
        ("What does E21 mean?", False),
        ("Why was it postponed?", False),
        ("Wie setze ich es zurück?", False),
    ],
)
def test_a_sure_sentence_is_enough_unless_the_question_asks_what_to_do_or_why(
    question: str, is_enough: bool
) -> None:
    assert asks_what_to_do(question) is not is_enough


def test_a_part_of_a_question_stands_above_its_quotations_as_it_was_asked() -> None:
    text = "Lund was offered 24,000 euros.\n\nHe would accept 30,000 euros."
    bounds = Thresholds(upper=0.9, lower=0.1)
    evaluator = ScriptedEvaluator(
        lambda asked, read: 0.95 if ("accept" in asked) == ("accept" in read) else 0.02, bounds
    )
    world = World({"/a.txt": text}, scripted("euros"), evaluator, bounds=bounds, by_evaluator=True)
    asked = "What was Lund offered and what would he accept?"
    found = answer(world.with_options(mode=Mode.QUOTE, divide_by_rule=True).run(asked))
    assert found.text.split("\n")[3:5] == ["what would he accept?", "He would accept 30,000 euros. [2]"]


def test_each_of_two_things_that_are_compared_has_its_quotation() -> None:
    texts = [f"When minsize is used, {n} things count." for n in range(4)] + [
        "When maxsize is used, all count."
    ]
    found = strips(structured(*((BlockKind.PARAGRAPH, text) for text in texts)))
    kept = [replace(strip, score=0.9 - at / 10) for at, strip in enumerate(found)]
    best = _most_probable(kept, "What is the difference between minsize and maxsize?")
    assert [strip.text for strip in best] == [*texts[:2], texts[4]]
    assert [strip.text for strip in _most_probable(kept, "What does minsize do?")] == texts[:3]


def test_a_question_for_a_command_is_answered_by_one() -> None:
    texts = ["It wipes the disk.", "All data is lost.", "It cannot be undone.", "arrayctl --zero /dev/sdX"]
    found = strips(structured(*((BlockKind.PARAGRAPH, text) for text in texts)))
    kept = [replace(strip, score=0.9 - at / 10) for at, strip in enumerate(found)]
    best = _most_probable(kept, "command to wipe a disk")
    assert [strip.text for strip in best] == [*texts[:2], texts[3]]


def test_a_question_for_an_option_is_answered_by_one() -> None:
    texts = ["trim: Cut lines.", "Blank lines are kept.", "It keeps the ends.", "-t / --trim: Cut lines."]
    found = strips(structured(*((BlockKind.ITEM, text) for text in texts)))
    kept = [replace(strip, score=0.9 - at / 10) for at, strip in enumerate(found)]
    best = _most_probable(kept, "Which option cuts lines?")
    assert [strip.text for strip in best] == [*texts[:2], texts[3]]
    assert [strip.text for strip in _most_probable(kept, "Which part cuts lines?")] == texts[:3]


def test_of_two_things_that_are_compared_the_less_probable_definition_is_shown_too() -> None:
    texts = ["lib/open/: What is not in closed.", "lib/closed/: All else.", "Files are kept."]
    found = strips(structured(*((BlockKind.ITEM, text) for text in texts)))
    kept = [replace(s, score=score) for s, score in zip(found, (0.9, 0.2, 0.3), strict=True)]
    best = _most_probable(kept, "What is the difference between open and closed?")
    assert [strip.text for strip in best] == texts[:2]
