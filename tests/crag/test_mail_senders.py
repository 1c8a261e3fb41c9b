"""Asked for a person, a sentence of a mail that says "I" is shown below the line that says whose it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.mail_senders import sender_line
from localcrag.crag.refinement.telling_headings import with_telling_headings
from localcrag.types import BlockKind, Passage, Strip
from tests.crag.values import structured

HEADER = "From: Ann Weld <ann@example.org> · Date: 3 May 2026 · Subject: Containers"
IDEA = "I thought about containers for all of the tools."
WHO = "Who had the idea of containers?"
MAIL = structured(
    (BlockKind.ROW, HEADER), (BlockKind.PARAGRAPH, IDEA), (BlockKind.PARAGRAPH, "They are small.")
)


def found(text: str, passage: Passage) -> Strip:
    return next(strip for strip in strips(passage) if strip.text == text)


@pytest.mark.parametrize(
    ("question", "text", "shown"),
    [
        (WHO, IDEA, True),
        ("Which developer thought of containers?", IDEA, True),
        ("Wer hatte die Idee?", IDEA, True),
        ("What was thought of?", IDEA, False),
        (WHO, "They are small.", False),
        ("Who wrote to the list that they are small?", "They are small.", True),
        ("Wer hat geschrieben, dass sie klein sind?", "They are small.", True),
        ("What did she write of them?", "They are small.", False),
    ],
)
def test_the_header_of_a_mail_says_who_speaks(question: str, text: str, shown: bool) -> None:
    strip = found(text, MAIL)
    told = [each.text for each in with_telling_headings([strip], question)]
    assert told == ([HEADER, text] if shown else [text])


def test_of_a_quoted_mail_it_is_the_line_that_leads_in_to_it() -> None:
    wrote = "On 2 May 2026, Huw Bevan wrote:"
    quoted = structured(
        (BlockKind.ROW, HEADER), (BlockKind.HEADING, wrote), (BlockKind.PARAGRAPH, IDEA), start=0
    )
    line = sender_line(found(IDEA, quoted), WHO)
    assert line is not None and line.text == wrote


def test_the_header_may_stand_in_an_earlier_passage() -> None:
    later = replace(structured((BlockKind.PARAGRAPH, IDEA), start=200), ordinal=1)
    strip = found(IDEA, later)
    line = sender_line(strip, WHO, lambda passage: [MAIL] if passage is later else [])
    assert line is not None and (line.text, line.passage) == (HEADER, MAIL)
    assert sender_line(strip, WHO) is None and sender_line(strip, WHO, lambda _: []) is None


def test_only_the_best_sentence_is_shown_so() -> None:
    first, *_ = strips(structured((BlockKind.PARAGRAPH, "I have no idea of it.")))
    best = replace(found(IDEA, MAIL), score=0.6)
    picked = [replace(first, score=0.2), best]
    assert [strip.text for strip in with_telling_headings(picked, WHO)] == [first.text, HEADER, IDEA]
