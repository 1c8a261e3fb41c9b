"""Windows: runs of sentences below one heading, of one kind of text."""

from __future__ import annotations

from localcrag.crag.refinement.strip_windows import windows
from localcrag.types import BlockKind
from tests.crag.values import TEXT, passage, structured


def test_a_window_does_not_end_with_a_question() -> None:
    asked = structured(
        (BlockKind.PARAGRAPH, "The order can be changed until four."),
        (BlockKind.PARAGRAPH, "Is there a minimum for an order?"),
    )
    assert [window.text for window in windows(asked)] == ["The order can be changed until four."]


def test_windows_are_runs_of_sentences_that_cover_the_passage_in_order() -> None:
    stored = "A page begins here. " + TEXT
    cut = windows(passage(TEXT, start=20), 2)
    assert [s.text for s in cut] == [
        "Steam engines came first. They were large and slow machines.",
        "Dr. Watt made them better in 1769. See p. 4.",
    ]
    assert [stored[s.start : s.end] for s in cut] == [s.text for s in cut]


def test_windows_end_at_a_heading() -> None:
    cut = windows(
        structured(
            (BlockKind.HEADING, "Notice"),
            (BlockKind.PARAGRAPH, "Three months are the rule. A move is an exception."),
            (BlockKind.HEADING, "Animals"),
            (BlockKind.PARAGRAPH, "A dog needs our consent. Two cats at most are allowed."),
        )
    )
    assert [strip.text for strip in cut] == [
        "Three months are the rule. A move is an exception.",
        "A dog needs our consent. Two cats at most are allowed.",
    ]


def test_a_window_is_of_rows_of_one_block_of_code_or_of_prose() -> None:
    cut = windows(
        structured(
            (BlockKind.PARAGRAPH, "These are the settings."),
            (BlockKind.CODE, "a = 1\nb = 2"),
            (BlockKind.CODE, "c = 3\nd = 4"),
            (BlockKind.ROW, "Item: Rent · Due: 1 May"),
        )
    )
    assert [strip.text for strip in cut] == [
        *("These are the settings.", "a = 1\nb = 2", "c = 3\nd = 4", "Item: Rent · Due: 1 May")
    ]


def test_no_window_goes_on_behind_a_paragraph_that_ends_with_a_question() -> None:
    asked = "The stone has a scratch. It is as long as a hand. Who pays?"
    letter = structured((BlockKind.PARAGRAPH, asked), (BlockKind.PARAGRAPH, "W. Hartley, Heron Path 2"))
    texts = [strip.text for strip in windows(letter)]
    assert texts == ["The stone has a scratch. It is as long as a hand.", "W. Hartley, Heron Path 2"]
    faq = structured(
        (BlockKind.PARAGRAPH, "Who pays for a scratch?"), (BlockKind.PARAGRAPH, "The club pays for it.")
    )
    assert len(windows(faq)) == 1
