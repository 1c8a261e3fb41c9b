"""What a manual says of a command or of an option is found by the name of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.judges.manual_entries import NAMED_WEIGHT, named_entries
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import BlockKind, Passage
from tests.crag.values import structured

PAGE = replace(
    structured(
        (BlockKind.HEADING, "Name"),
        (BlockKind.PARAGRAPH, "git-trim - Cut lines to a width"),
        (BlockKind.HEADING, "Description"),
        (BlockKind.PARAGRAPH, "Lines are cut. Nothing else is changed."),
        (BlockKind.PARAGRAPH, "It may also join them."),
        (BlockKind.HEADING, "Options"),
        (BlockKind.ITEM, "-b / --bytes: Count bytes. Letters may be torn."),
        (BlockKind.ITEM, "-B <n>: Begin at a column."),
        (BlockKind.ITEM, "git trim -b|-B: Both of them."),
    ),
    title="git-trim(1)",
    document="one",
)
OTHER = replace(
    structured((BlockKind.ITEM, "-b: Join bytes."), (BlockKind.ITEM, "-a: Join all.")),
    title="git-join(1)",
    document="two",
)


def gains_of(question: str, *pages: Passage) -> dict[str, float]:
    found = [strip for page in pages for strip in strips(page)]
    return {found[at].text: gain for at, gain in named_entries(question, found).items()}


@pytest.mark.parametrize(
    "question",
    [
        "What does git trim do?",
        "What is git-trim?",
        "what does the git-trim command do",
        "Was macht git trim?",
    ],
)
def test_what_a_command_does_is_its_summary_and_the_first_sentence_of_its_page(question: str) -> None:
    assert gains_of(question, PAGE, OTHER) == {
        "git-trim - Cut lines to a width": NAMED_WEIGHT,
        "Lines are cut.": NAMED_WEIGHT,
    }
    assert not gains_of(question, OTHER) and not gains_of("What is the width?", PAGE)


def test_an_option_is_found_by_its_letter_on_the_page_of_its_command() -> None:
    small, capital = "-b / --bytes: Count bytes.", "-B <n>: Begin at a column."
    assert gains_of("What does -b do in git trim?", PAGE, OTHER) == {small: NAMED_WEIGHT}
    assert gains_of("What does the -B option of git trim do?", PAGE, OTHER) == {capital: NAMED_WEIGHT}
    assert gains_of("What is the difference between -b and -B in git-trim?", PAGE, OTHER).keys() == {
        small,
        capital,
    }
    assert gains_of("What does --bytes mean?", PAGE, OTHER) == {small: NAMED_WEIGHT}


def test_an_option_of_several_pages_is_of_none_unless_its_command_is_named() -> None:
    assert not gains_of("What does -b do?", PAGE, OTHER)
    assert not gains_of("What does -b do in git push?", PAGE, OTHER)
    assert not gains_of("Which colour is used with -b in git trim?", PAGE), "more is asked than what it does"


def test_both_of_two_things_that_are_compared_are_found_by_their_definitions() -> None:
    areas = replace(
        structured(
            (BlockKind.ITEM, "stable/own/: What is written here."),
            (BlockKind.ITEM, "stable/non-own/: What others wrote, and own."),
            (BlockKind.ITEM, "stable/main/: All else."),
        ),
        document="three",
    )
    question = "What is the difference between main and non-own?"
    assert gains_of(question, areas).keys() == {
        "stable/non-own/: What others wrote, and own.",
        "stable/main/: All else.",
    }
    assert not gains_of("What is the difference between main and extra?", areas)
    assert not gains_of("What is in main?", areas)


SYNOPSIS = "git-trim [ -b ] [ -B n ] [ --most m ] file"
LONG = replace(
    structured(
        (BlockKind.HEADING, "Synopsis"),
        (BlockKind.PARAGRAPH, SYNOPSIS),
        (BlockKind.HEADING, "Options"),
        (BlockKind.ITEM, "-B <n>: Begin at a column."),
        (BlockKind.ITEM, "--most m cut no more lines than so many."),
    ),
    title="git-trimmer - Cut lines",
)


def test_an_option_of_a_misspelt_command_is_found_and_counts_more_than_the_synopsis() -> None:
    expected = {"-B <n>: Begin at a column.": NAMED_WEIGHT, SYNOPSIS: -NAMED_WEIGHT}
    assert gains_of("What does -B do in trimer?", LONG) == expected
    assert not gains_of("What does -B do in joiner?", LONG)


def test_an_option_whose_description_follows_without_a_mark_is_found() -> None:
    assert (
        gains_of("default of --most in trimmer", LONG)["--most m cut no more lines than so many."]
        == NAMED_WEIGHT
    )


ROTATION = replace(
    structured(
        (BlockKind.ITEM, "delaycompress: Postpone compression. It works with compress."),
        (BlockKind.ITEM, "nodelaycompress: Do not postpone it, as delaycompress does."),
        (BlockKind.ITEM, "minsize size: Rotate what is larger. The time counts as well."),
        (BlockKind.ITEM, "size (integer): Rotate what is larger."),
        (BlockKind.PARAGRAPH, "delaycompress: what this page speaks of."),
    ),
    title="rotate(8)",
    document="three",
)


@pytest.mark.parametrize(
    ("question", "entry"),
    [
        ("What does delaycompress do in rotate?", "delaycompress: Postpone compression."),
        ("what does the delaycompress option mean?", "delaycompress: Postpone compression."),
        ("rotate: what does minsize do?", "minsize size: Rotate what is larger."),
        ("What is the default of size?", "size (integer): Rotate what is larger."),
        ("Which file does delaycompress leave?", None),
        ("What does compress do?", None),
        ("What does delaycompress do in turn?", None),
    ],
)
def test_a_term_without_dashes_is_found_by_its_definition(question: str, entry: str | None) -> None:
    assert gains_of(question, ROTATION, PAGE) == ({entry: NAMED_WEIGHT} if entry else {})


def test_a_term_that_several_documents_define_is_that_of_the_one_that_is_named() -> None:
    other = replace(ROTATION, title="turn(8)", document="four")
    assert not gains_of("What does delaycompress do?", ROTATION, other)
    assert gains_of("What does delaycompress do in turn?", ROTATION, other)
