"""Rank fusion: by hand, and the same function wherever the product or its training fuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from localcrag.rank_fusion import HYBRID_RRF_K, STANDARD_RRF_K, ranked, rrf
from localcrag.store import hybrid_search
from localcrag.store.hybrid_search import FULL_PLACE_WEIGHT

ROOT = Path(__file__).parents[1]


def test_by_hand() -> None:
    found = rrf([ranked("ab"), ranked("bc")], STANDARD_RRF_K)
    assert found == {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62}


def test_of_one_order_the_best_place_of_an_item_counts() -> None:
    order = [*ranked("abc"), *ranked("cb", 0.5)]
    assert rrf([order], 10) == {"a": 1 / 11, "b": 1 / 12, "c": 1 / 13}
    order = [*ranked("abc"), *ranked("c", 0.9)]
    assert rrf([order], 10)["c"] == 0.9 / 11


def test_what_is_first_in_both_orders_of_a_hybrid_search_has_the_score_1() -> None:
    orders = [ranked(rows, FULL_PLACE_WEIGHT) for rows in ([7, 8], [7, 9])]
    assert rrf(orders, HYBRID_RRF_K)[7] == 1.0


def test_a_question_that_leads_to_a_passage_counts_times_its_cosine() -> None:
    leads = {("p", "m"): 0.5, ("gone", "m"): 0.9, ("q", "m"): 0.25}
    placed = list(hybrid_search._placed_by_questions({("p", "m"): 1, ("q", "m"): 2}, leads))
    assert placed == [(1, 1, 0.5 * FULL_PLACE_WEIGHT), (2, 2, 0.25 * FULL_PLACE_WEIGHT)]


@pytest.mark.parametrize("folder", ["localcrag", "scripts/training"])
def test_nobody_else_adds_reciprocal_ranks(folder: str) -> None:
    adding = re.compile(r"\.get\(.*/ \([^)]*\+ rank\)")
    found = {path.name for path in (ROOT / folder).rglob("*.py") if adding.search(path.read_text("utf-8"))}
    assert found <= {"rank_fusion.py"}
