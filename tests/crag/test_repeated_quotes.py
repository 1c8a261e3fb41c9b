"""A later part of a question is not answered by the sentence that an earlier one was answered by."""

from __future__ import annotations

from dataclasses import replace

from localcrag.crag.answering.repeated_quotes import untold, without_repeats
from localcrag.crag.refinement.knowledge_strips import strip_at, strips
from localcrag.types import BlockKind, Strip
from tests.crag.values import structured

ENTRY = (
    "cut: The file is cut to no length after it was copied. It is for programs that cannot be told to "
    "close it. Whatever is written in between is lost. The file is not made anew."
)
OTHER = "copy: A copy is made of the file and nothing else."


def found() -> list[Strip]:
    return strips(structured((BlockKind.ITEM, ENTRY), (BlockKind.ITEM, OTHER)))


def at(strip: Strip, score: float) -> Strip:
    return replace(strip, score=score)


def test_the_rest_of_the_entry_stands_below_a_part_that_is_not_surely_answered() -> None:
    first, closed, lost, anew, _ = found()
    kept = [at(first, 0.6), at(lost, 0.4), at(anew, 0.5)]
    new = untold([at(closed, 0.2), at(first, 0.1)], kept, [at(first, 0.6)])
    assert [(strip.text, strip.score) for strip in new] == [
        (closed.text, 0.2),
        (anew.text, 0.2),
        (lost.text, 0.2),
    ]


def test_what_was_shown_is_shown_again_if_it_is_the_best_there_is_and_of_another_entry_nothing_is_added() -> (
    None
):
    first, closed, lost, _, other = found()
    kept = [at(first, 0.6), at(lost, 0.4)]
    assert untold([at(first, 0.3), at(closed, 0.2)], kept, [at(first, 0.6)]) == []
    assert untold([at(other, 0.3)], kept, [at(first, 0.6)]) == []
    assert untold([], kept, [at(first, 0.6)]) == []


def test_a_quotation_begins_behind_the_sentences_that_were_shown() -> None:
    first, closed, lost, _, other = found()
    both = strip_at(first.passage, first.start, closed.end)
    assert [strip.text for strip in without_repeats([both, other], [first])] == [closed.text, other.text]
    assert [strip.text for strip in without_repeats([first, other], [first])] == [other.text]
    assert without_repeats([first], [first]) == [first]
    assert without_repeats([both], [lost]) == [both]
