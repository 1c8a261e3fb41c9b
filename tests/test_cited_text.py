"""An answer as plain text: its note, its sources, and no citation but its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.cited_text import cited_piece, cited_text, source_line, status_note
from localcrag.events import Delta
from localcrag.types import (
    Action,
    Answer,
    Citation,
    CitationMark,
    Claim,
    Contradiction,
    Mode,
    Origin,
    PartAnswer,
    Policy,
    Status,
    Verdict,
)

TEXT = "As in [7], it is 35 mg. [1]"
MARK = CitationMark(1, 24, 27)
CITATION = Citation(1, "/a/leaflet.pdf", 3, 0, 10, "it is 35 mg", Origin.DOCUMENTS)
ANSWER = Answer(
    "How much?", Status.ANSWERED, TEXT, Mode.QUOTE, Policy.CRAG, Action.CORRECT, (CITATION,), marks=(MARK,)
)


def test_an_answer_has_its_sources_below_it() -> None:
    assert cited_text(ANSWER) == "As in ‹7›, it is 35 mg. [1]\n\nSources:\n[1] /a/leaflet.pdf, page 3"


def test_a_line_between_says_why_it_is_unsure() -> None:
    text = cited_text(replace(ANSWER, status=Status.UNSURE))
    assert text.splitlines()[1:5] == ["", "Unsure: the evidence is weak. Check the sources.", "", "Sources:"]


def test_an_answer_that_cites_nothing_is_its_text() -> None:
    assert (
        cited_text(replace(ANSWER, text="Nothing is there.", citations=(), marks=())) == "Nothing is there."
    )


def test_a_piece_keeps_the_brackets_of_its_own_marks() -> None:
    assert cited_piece(Delta(TEXT, (MARK,))) == "As in ‹7›, it is 35 mg. [1]"
    assert cited_piece(Delta("print(argv[1])")) == "print(argv[1])"


def test_a_source_cannot_look_like_another_one() -> None:
    line = source_line(replace(CITATION, source="https://example.org/[2]", page=None, origin=Origin.WEB))
    assert line == "[1] https://example.org/‹2› (from the web)"


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (ANSWER, ""),
        (replace(ANSWER, status=Status.NOT_FOUND), ""),
        (replace(ANSWER, status=Status.TRUNCATED), "Cut short: the answer is not complete."),
        (
            replace(ANSWER, status=Status.UNSURE, contradictions=(Contradiction(1, 2, 0.9),)),
            "Unsure: the sources disagree. Check them.",
        ),
        (
            replace(ANSWER, status=Status.UNSURE, claims=(Claim(TEXT, (1,), Verdict.NO, 0.1),)),
            "Unsure: not every sentence is borne out by its evidence. Check the sources.",
        ),
        (
            replace(
                ANSWER,
                status=Status.UNSURE,
                parts=(PartAnswer("What else?", Status.NOT_FOUND, Action.INCORRECT),),
            ),
            "Unsure: a part of the question is not answered.",
        ),
    ],
)
def test_the_note_says_the_reason(answer: Answer, note: str) -> None:
    assert status_note(answer) == note
