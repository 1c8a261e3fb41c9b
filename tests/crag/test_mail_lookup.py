"""The header of a mail is looked up where a question asks who sent it, to whom, or when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.judges.mail_lookup import NAMED_WEIGHT, ONE_OF_THREAD_WEIGHT, named_headers
from localcrag.crag.judges.passage_scores import passage_scores, strip_scores
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import Block, BlockKind, Passage
from tests.crag.values import passage
from tests.fakes.llm import ScriptedEvaluator

LYRICS = (
    "From: Ann Weld <ann@example.org> · To: choir@example.org · Date: 3 Mar 2025 · Subject: Lyrics of June"
)
COFFEE = "From: Tom Hurst <tom@example.org> · To: Ann Weld · Date: 4 Mar 2025 · Subject: Coffee machine"
REPLY = "From: Ann Weld <ann@example.org> · To: Tom Hurst · Date: 5 Mar 2025 · Subject: Re: Coffee machine"


def mails(*headers: str, body: str = "We sing the lyrics by heart.") -> Passage:
    """A passage with the headers of mails, and a sentence."""
    text, blocks = "", []
    for header in headers:
        blocks.append(Block(BlockKind.ROW, len(text), len(text) + len(header)))
        text += f"{header}\n\n"
    blocks.append(Block(BlockKind.PARAGRAPH, len(text), len(text) + len(body)))
    return replace(passage(text + body), blocks=tuple(blocks))


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Who sent the mail about lyrics?", {0: NAMED_WEIGHT}),
        ("To whom was the mail 'Lyrics of June' sent?", {0: NAMED_WEIGHT}),
        ("Who wrote to Ann about the coffee machine?", dict.fromkeys((1, 2), ONE_OF_THREAD_WEIGHT)),
        (
            "When did Tom send the message about the coffee machine?",
            dict.fromkeys((1, 2), ONE_OF_THREAD_WEIGHT),
        ),
        ("Who sent the mail about the piano?", {}),
        ("Who wrote the lyrics?", {}),
        ("Who repairs the coffee machine?", {}),
        ("Who sent the mail?", {}),
    ],
)
def test_the_header_that_has_all_that_is_named_gains(question: str, found: dict[int, float]) -> None:
    assert named_headers(question, strips(mails(LYRICS, COFFEE, REPLY))) == found


def test_headers_that_the_question_does_not_tell_apart_gain_nothing() -> None:
    many = [COFFEE.replace("4 Mar", f"{day} Mar") for day in range(10, 20)]
    assert named_headers("Who sent the mail about the coffee machine?", strips(mails(*many))) == {}


def test_a_mere_row_is_no_header() -> None:
    row = "Sender: Ann Weld · Subject: Lyrics of June"
    assert named_headers("Who sent the mail about lyrics?", strips(mails(row))) == {}


def test_it_is_surely_relevant_as_a_strip_and_as_a_passage() -> None:
    found = mails(LYRICS)
    doubtful = ScriptedEvaluator(lambda _, text: 0.01)
    question = "Who sent the mail about lyrics?"
    header, sentence = strip_scores(doubtful, question, strips(found))
    assert sentence == pytest.approx(0.01) and header > 0.9
    assert passage_scores(doubtful, question, [found]) == [header]
