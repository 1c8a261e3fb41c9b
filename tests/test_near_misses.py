"""Near misses for training: what is exchanged, which text is right, and how they are mixed in."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sklearn")

if TYPE_CHECKING:
    from training.data import Example

ROOT = Path(__file__).parents[1]
SENTENCES = (
    "The Suez canal was opened in 1869 by the Khedive.",
    "A railway between Cairo and Alexandria had been finished in 1856.",
)


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    """The package under `scripts/`, importable for this module."""
    sys.path.insert(0, str(ROOT / "scripts"))
    yield
    sys.path.remove(str(ROOT / "scripts"))


def example(question: str = "Who opened the Suez canal in 1869?", relevant: bool = True) -> Example:
    from training.data import Example

    return Example("squad_v2", "Suez", question, SENTENCES, (0,) if relevant else (), relevant)


def test_an_exchange_is_its_own_inverse_and_keeps_capitals() -> None:
    from training.near_misses import Exchange

    exchange = Exchange("1869", "1856")
    assert exchange(" ".join(SENTENCES)) == " ".join(SENTENCES).replace("1869", "X").replace(
        "1856", "1869"
    ).replace("X", "1856")
    assert exchange(exchange(SENTENCES[0])) == SENTENCES[0]
    assert Exchange("first", "last")("First of the firstborn") == "Last of the firstborn"


@pytest.mark.parametrize("whole", [True, False])
def test_question_and_text_that_went_through_the_same_exchange_belong_together(whole: bool) -> None:
    """Whatever is exchanged: of the true and the altered question, each is answered by its own text only."""
    from training.near_misses import NearMisses

    asked = example()
    makes = NearMisses([asked], random.Random(0))
    true = asked.passage if whole else SENTENCES[0]
    seen = set()
    for _ in range(60):
        group = makes.of(asked) if whole else makes.of_sentence(asked)
        assert group is not None
        assert sorted(set(group.labels)) == [0.0, 1.0]
        right = group.texts[group.labels.index(1.0)]
        wrong = [t for t, label in zip(group.texts, group.labels, strict=True) if not label]
        if group.question == asked.question:
            assert right == true
            assert true not in wrong
        else:
            assert right != true
            assert true in wrong
        seen.add(group.question == asked.question)
    assert seen == {True, False}


def test_what_is_no_answer_and_what_has_nothing_to_exchange_makes_no_near_miss() -> None:
    from training.near_misses import NearMisses

    makes = NearMisses([example()], random.Random(0))
    assert makes.of(example(relevant=False)) is None
    assert makes.of_sentence(example("Why is it so?")) is None


def test_unanswerable_questions_come_with_the_passage_that_answers_another() -> None:
    from training.pairs import GroupSampler, Mixture

    asked, not_answered = example(), example("Who opened the Panama canal in 1869?", relevant=False)
    sampler = GroupSampler([asked, not_answered], random.Random(0), mixture=Mixture(0.0, 1.0, 0.0, 0.0))
    drawn = {(g.question, g.texts, g.labels) for g in (sampler.draw() for _ in range(40))}
    assert drawn == {
        (asked.question, (asked.passage,), (1.0,)),
        (not_answered.question, (asked.passage,), (0.0,)),
    }
