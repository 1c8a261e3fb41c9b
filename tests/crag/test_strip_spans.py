"""Where strips begin and end in what people and programs write in lines."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag.refinement import in_context, strips
from localcrag.crag.strip_spans import sentences, spans_of_passage
from localcrag.types import Block, BlockKind, Passage
from tests.crag.values import passage

SETTINGS = """# Read once at start.
[server]
; Name on the banner page.
display_name = Annex
workers = 6
[paths]
spool = /var/spool/press"""
NESTED = """network:
  # Fixed, because the mast sends to it.
  address: 10.40.7.20
  ports:
    web: 8088
  gateway: 10.40.7.1"""
FUNCTION = """def area(width: float) -> float:
    height = 2
    return width * height"""
TABLE = """RATE = {
    "car": 9,
    "bus": 22,
}"""


def code(text: str) -> Passage:
    return block_of(BlockKind.CODE, text)


def block_of(kind: BlockKind, text: str) -> Passage:
    return replace(passage(text), blocks=(Block(kind, 0, len(text)),))


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def test_lines_with_labels_are_strips_of_their_own() -> None:
    text = "Present: Ada Wren, Lucia Fenn\nApologies: Sven Malloy\nStart 19:05, in the Anchor\nRent: 40"
    assert [strip.text for strip in strips(passage(text))] == text.split("\n")


def test_a_line_goes_on_where_it_begins_with_a_small_letter() -> None:
    assert cut("Help desk: extension 4400, Tuesday\nfrom 7:30\nFaults: extension 4410") == [
        "Help desk: extension 4400, Tuesday\nfrom 7:30",
        "Faults: extension 4410",
    ]


def test_prose_is_not_cut_at_its_lines() -> None:
    text = (
        "They came from three places: the hill of\nHollow, the lane behind the chapel, and the\nMill at Wren."
    )
    assert cut(text) == [text]


def test_entries_of_a_log_are_strips_of_their_own() -> None:
    text = "2024-05-14 22:00:01 INFO operator on duty\n2024-05-14 22:00:02 WARN pool bravo is nearly full"
    assert cut(text) == text.split("\n")


def test_settings_are_cut_with_their_comments_and_judged_below_their_section() -> None:
    assert [in_context(strip) for strip in strips(code(SETTINGS))] == [
        "# Read once at start.\n[server]\n; Name on the banner page.\ndisplay_name = Annex",
        "[server]\nworkers = 6",
        "[paths]\nspool = /var/spool/press",
    ]


def test_what_stands_further_in_belongs_to_its_setting() -> None:
    assert [in_context(strip) for strip in strips(code(NESTED))] == [
        "network:\n  # Fixed, because the mast sends to it.\n  address: 10.40.7.20",
        "network:\n  ports:\n    web: 8088",
        "network:\n  gateway: 10.40.7.1",
    ]


def test_a_record_of_settings_is_understood_as_a_whole() -> None:
    records = '[[sensors]]\nname = "north bed"\nchanged = 2025-02-11'
    more = '# the new one\n[[sensors]]  # two\nname = "seed table"\nchanged = 2024-11-30'
    assert [strip.text for strip in strips(code(f"{records}\n\n{more}"))] == [records, more]
    assert [strip.text for strip in strips(code(f"{records}\n{records}"))] == [records, records]


@pytest.mark.parametrize("text", [FUNCTION, TABLE, "workers = 6"])
def test_other_code_stays_whole(text: str) -> None:
    assert [strip.text for strip in strips(code(text))] == [text]


LINES = st.sampled_from(
    ["[a]", "b:", "c = 1", "  d: 2", "# e", "", "}", "F: g", "h i", "2024-05-14 22:00 x", "Who: Ada.", "1. j"]
)


@given(st.lists(LINES, max_size=12), st.sampled_from([BlockKind.CODE, BlockKind.PARAGRAPH]))
def test_all_text_is_in_exactly_one_strip(lines: list[str], kind: BlockKind) -> None:
    text = "\n".join(lines)
    spans = spans_of_passage(block_of(kind, text))
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    kept = "".join(text[start:end] for start, end in spans)
    assert "".join(kept.split()) == "".join(text.split())


def test_a_word_that_answers_belongs_to_the_sentence_after_it() -> None:
    text = "Yes.  However, the routines must be safe as well. Nothing else counts."
    assert [text[slice(*span)] for span in spans_of_passage(passage(text))] == [
        "Yes.  However, the routines must be safe as well.",
        "Nothing else counts.",
    ]
    two = "No, sorry. You have to start another program for that."
    assert spans_of_passage(passage(two)) == [(0, len(two))]
    asked = "Why so? Nobody knows what the reason for it was."
    assert len(spans_of_passage(passage(asked))) == 2
