"""The steps of a procedure are read together, over pictures, remarks and passages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.strip_display import shown_text
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.procedures import (
    MAX_LIST_CHARACTERS,
    MAX_STEPS,
    list_around,
    procedure_around,
    with_told_steps,
)
from localcrag.crag.refinement.recomposition import joined, with_surroundings
from localcrag.types import Block, BlockKind, Passage, Strip
from tests.crag.values import passage, structured

REMARK = 1
"""The level of a block that belongs to the item above it."""
LEAD = "To make a database, do this:"


def listed(*parts: tuple[BlockKind, str, str] | tuple[BlockKind, str, str, int], start: int = 0) -> Passage:
    """A passage of blocks, each with what stands before it ("2. ") and its level."""
    text, blocks = "", []
    for kind, marker, part, *level in parts:
        text += ("\n\n" if text else "") + marker
        at = start + len(text)
        blocks.append(Block(kind, at, at + len(part), *level))
        text += part
    made = replace(passage(text, id=f"from {start}", start=start), blocks=tuple(blocks))
    return replace(made, ordinal=start)


def step(number: int, text: str) -> tuple[BlockKind, str, str]:
    return BlockKind.ITEM, f"{number}. ", text


FIRST = listed(
    (BlockKind.PARAGRAPH, "", f"A database holds everything. {LEAD}"),
    step(1, "Open the program, and wait."),
    (BlockKind.CAPTION, "", "Figure 1. The program", REMARK),
    step(2, "Enter the name that it should have."),
    (BlockKind.PARAGRAPH, "", "Names may be changed later on.", REMARK),
)
SECOND = listed(
    step(3, "Choose a password for it."),
    (BlockKind.CODE, "", "$ choose --now", REMARK),
    step(4, "Close the window at the end."),
    (BlockKind.PARAGRAPH, "", "Passwords are not kept anywhere."),
    start=1000,
)


def neighbours(of: Passage) -> list[Passage]:
    return [other for other in (FIRST, SECOND) if other.id != of.id]


def alone(of: Passage) -> list[Passage]:
    return []


def strip_of(passage: Passage, beginning: str) -> Strip:
    [found] = [each for each in strips(passage) if each.text.startswith(beginning)]
    return replace(found, score=0.7)


STEPS = [
    LEAD,
    "1. Open the program, and wait.",
    "2. Enter the name that it should have.",
    "3. Choose a password for it.",
    "$ choose --now",
    "4. Close the window at the end.",
]


def test_a_step_or_the_lead_brings_all_steps_over_the_passages() -> None:
    for strip in (
        strip_of(FIRST, LEAD),
        strip_of(FIRST, "Open"),
        strip_of(FIRST, "Enter"),
        strip_of(SECOND, "Choose"),
        strip_of(SECOND, "Close"),
    ):
        found = procedure_around(strip, neighbours)
        assert [each.text for each in found] == STEPS
        assert {each.score for each in found} == {0.7}
        for each in found:
            assert each.passage.text_between(each.start, each.end) == each.text


def test_what_is_no_step_brings_none() -> None:
    for strip in (
        strip_of(FIRST, "A database"),
        strip_of(SECOND, "Passwords"),
        strips(passage("Open the program, and wait for it."))[0],
    ):
        assert procedure_around(strip, neighbours) == []
    below = listed(step(1, "Put the kettle on the stove."), (BlockKind.ROW, "", "Fuel: gas · Price: 3 EUR"))
    assert procedure_around(strip_of(below, "Fuel"), alone) == []
    bullets = structured((BlockKind.PARAGRAPH, "You need:"), (BlockKind.ITEM, "a glass of water"))
    assert procedure_around(strips(bullets)[1], alone) == []


def test_a_passage_whose_numbers_do_not_go_on_is_another_list() -> None:
    other = listed(step(1, "Put the kettle on the stove."), start=1000)
    found = procedure_around(strip_of(FIRST, "Open"), lambda _: [other])
    assert [each.text for each in found] == STEPS[:3]
    found = procedure_around(strip_of(SECOND, "Close"), lambda _: [replace(other, start=0)])
    assert [each.text for each in found] == STEPS[3:]


def test_a_procedure_with_very_many_steps_is_not_shown_whole() -> None:
    for many in (MAX_STEPS, MAX_STEPS + 1):
        made = listed(*(step(number, f"Turn the wheel number {number}.") for number in range(1, many + 1)))
        found = procedure_around(strips(made)[0], alone)
        assert len(found) == (many if many == MAX_STEPS else 0)


def test_the_most_probable_strip_brings_its_procedure_and_the_others_stay_as_they_are() -> None:
    best, within = strip_of(FIRST, "Enter"), replace(strip_of(FIRST, "Open"), score=0.4)
    other = listed(step(1, "Put the kettle on the stove."), step(2, "Pour the water on it."), start=5000)
    tea = replace(strip_of(other, "Pour"), score=0.5)
    shown = with_surroundings([tea, within, best], neighbours, whole_lists=True)
    assert [each.text for each in shown] == ["Pour the water on it.", *STEPS]
    assert [each.text for each in with_surroundings([within])] == [LEAD, "Open the program, and wait."]


def test_a_sentence_of_no_procedure_leaves_its_place_to_the_next_step_of_its_document() -> None:
    note = replace(strip_of(SECOND, "Passwords"), score=0.9)
    shown = with_surroundings([strip_of(FIRST, "Enter"), note], neighbours, whole_lists=True)
    assert [each.text for each in shown] == [*STEPS, note.text]
    elsewhere = replace(note, passage=replace(note.passage, source="/other.txt"))
    shown = with_surroundings([strip_of(FIRST, "Enter"), elsewhere], neighbours, whole_lists=True)
    assert [each.text for each in shown] == [LEAD, STEPS[2].removeprefix("2. "), note.text]


def test_the_first_of_several_steps_has_its_number_too() -> None:
    first, second = strip_of(FIRST, "Open"), strip_of(FIRST, "Enter")
    together = replace(first, end=second.end, text=FIRST.text_between(first.start, second.end))
    lines = shown_text(together).split("\n")
    assert lines[0] == "1. Open the program, and wait." and lines[-1] == STEPS[2]
    half = replace(together, start=first.start + 5, text=together.text[5:])
    assert shown_text(half).startswith("• the program, and wait."), "a part of a step"
    assert shown_text(first) == "Open the program, and wait."


def test_steps_are_shown_with_their_numbers() -> None:
    found = joined(procedure_around(strip_of(FIRST, "Open"), neighbours))
    assert [shown_text(each) for each in found] == [
        f"{LEAD}\n1. Open the program, and wait.",
        "2. Enter the name that it should have.",
        "3. Choose a password for it.\n$ choose --now\n4. Close the window at the end.",
    ]
    [second] = joined(with_surroundings([strip_of(SECOND, "Close")]))
    assert shown_text(second) == "Close the window at the end."


THINGS = listed(
    (BlockKind.PARAGRAPH, "", "It is a mode of writing. Its advantages include:"),
    (BlockKind.ITEM, "* ", "It is faster in most cases."),
    (BlockKind.ITEM, "* ", "Readers do not wait for writers."),
    (BlockKind.ITEM, "* ", "Fewer calls of fsync are made."),
    (BlockKind.PARAGRAPH, "", "There are disadvantages, too."),
)
ADVANTAGES = [
    "Its advantages include:",
    "It is faster in most cases.",
    "Readers do not wait for writers.",
    "Fewer calls of fsync are made.",
]


def test_an_item_or_the_lead_brings_the_list_of_what_is_asked_for() -> None:
    for beginning in ("Its advantages", "It is faster", "Readers", "Fewer"):
        found = list_around(strip_of(THINGS, beginning), alone, {"advantag"})
        assert [each.text for each in found] == ADVANTAGES
    assert not list_around(strip_of(THINGS, "Readers"), alone, {"speed"})
    assert not list_around(strip_of(THINGS, "There are"), alone, {"advantag"})


def test_a_list_of_much_to_read_is_not_shown_as_a_whole() -> None:
    long = "It is faster. " * (MAX_LIST_CHARACTERS // 14)
    things = listed(
        (BlockKind.PARAGRAPH, "", "Advantages include:"),
        (BlockKind.ITEM, "* ", long.strip()),
        (BlockKind.ITEM, "* ", "Readers do not wait."),
    )
    assert not list_around(strip_of(things, "Readers"), alone, {"advantag"})


def test_the_whole_list_stands_in_place_of_its_item_with_bullets() -> None:
    kept = [strip_of(THINGS, "Readers")]
    assert [each.text for each in with_surroundings(kept, alone)] == [ADVANTAGES[2]]
    [shown] = joined(with_surroundings(kept, alone, several={"advantag"}))
    assert shown_text(shown) == "\n".join([ADVANTAGES[0], *(f"• {item}" for item in ADVANTAGES[1:])])


TOLD = (
    "The lock is old.",
    "First tie the boat to the rings.",
    "Then ring the bell twice.",
    "This may take ten minutes.",
    "Finally close the gate.",
    "It was built in 1988.",
)


@pytest.mark.parametrize(
    ("picked", "shown"),
    [
        ("Then ring the bell twice.", TOLD[1:5]),
        ("This may take ten minutes.", TOLD[1:5]),
        ("The lock is old.", TOLD[:5]),
        ("It was built in 1988.", TOLD[5:]),
    ],
)
def test_steps_that_a_paragraph_tells_are_read_together(picked: str, shown: tuple[str, ...]) -> None:
    told = listed((BlockKind.PARAGRAPH, "", " ".join(TOLD)))
    (read,) = with_told_steps([strip for strip in strips(told) if strip.text == picked])
    assert read.text == " ".join(shown)


def test_a_paragraph_with_one_such_sentence_or_a_very_long_one_tells_no_steps() -> None:
    for text in (" ".join(TOLD[:2]), " ".join((TOLD[1], "x" * MAX_LIST_CHARACTERS + ".", TOLD[2]))):
        found = strips(listed((BlockKind.PARAGRAPH, "", text)))
        assert with_told_steps(found) == list(found)
