"""Of judged strips, the probable ones are kept in their order."""

from __future__ import annotations

from dataclasses import replace

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_filter import refine, standing_out
from tests.crag.values import TEXT, passage


def judged(*words: str) -> list[float]:
    """The scores of a judge of TEXT's strips that likes those with one of the words."""
    return [0.9 if any(word in strip.text for word in words) else 0.1 for strip in strips(passage(TEXT))]


def test_the_best_are_kept_in_document_order_and_the_rest_counted() -> None:
    kept, dropped = refine(strips(passage(TEXT)), judged("Watt", "Steam"), limit=5, floor=0.5, keep_best=True)
    assert [s.text.split()[0] for s in kept] == ["Steam", "Dr."]
    assert dropped == 1


def test_the_best_strip_is_kept_below_the_floor_only_if_that_is_asked_for() -> None:
    kept, dropped = refine(strips(passage(TEXT)), judged("Watt"), limit=5, floor=0.95, keep_best=True)
    assert [s.text.split()[0] for s in kept] == ["Dr."]
    assert dropped == 2
    assert refine(strips(passage(TEXT)), judged("Watt"), limit=5, floor=0.95, keep_best=False) == ([], 3)


def test_a_strip_stands_out_if_it_is_five_times_as_probable_as_the_next() -> None:
    first, *others = cut = strips(passage(TEXT))
    assert others
    assert standing_out(cut, [0.05] + [0.01] * len(others)) == [replace(first, score=0.05)]
    assert standing_out(cut, [0.049] + [0.01] * len(others)) == []
    assert standing_out([first], [0.01]) == [replace(first, score=0.01)] and standing_out([], []) == []


def test_less_is_enough_if_it_alone_has_a_word_of_the_question() -> None:
    cut = strips(passage(TEXT))
    scores = [0.01, 0.01, 0.03]
    assert standing_out(cut, scores, "Who improved them in 1769?") == [replace(cut[2], score=0.03)]
    assert standing_out(cut, scores, "Who made the machines better?") != []
    assert standing_out(cut, scores, "Which machines were large?") == [], "other strips have these words"
    assert standing_out(cut, [0.01, 0.013, 0.03], "Who improved them in 1769?") == []


def test_no_more_than_the_limit_is_kept() -> None:
    kept, dropped = refine(strips(passage(TEXT)), judged("a"), limit=1, floor=0.0, keep_best=False)
    assert (len(kept), dropped) == (1, 2)
