"""What a question asks for by its kind is named by the heading above its sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.telling_headings import with_telling_headings
from localcrag.types import BlockKind, Passage
from tests.crag.values import structured

QUESTION = "Which hook checks the message?"


def shown(question: str, heading: str, text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> list[str]:
    """What is shown of a sentence below a heading."""
    found = strips(structured((BlockKind.HEADING, heading), (kind, text)))
    return [strip.text for strip in with_telling_headings(found, question)]


@pytest.mark.parametrize(
    ("question", "heading", "text"),
    [
        (QUESTION, "check-msg", "It is run by the client."),
        (QUESTION, "Checking", "This hook is run by the client."),
        ("Which command shows the plan?", "EXPLAIN", "It shows what is planned."),
        ("Which utility counts mails?", "5.3 Counting mails (mailsum)", "The utility counts them."),
        ("Welcher Befehl zählt?", "zaehle", "Dieser Befehl zählt alles."),
    ],
)
def test_a_heading_that_names_it_is_shown(question: str, heading: str, text: str) -> None:
    assert shown(question, heading, text) == [heading, text]


@pytest.mark.parametrize(
    ("question", "heading", "text"),
    [
        (QUESTION, "check-msg", "The check-msg hook is run by the client."),
        (QUESTION, "Description", "This hook is run by the client."),
        (QUESTION, "Notes of our third meeting in May 2026", "It is run by the client."),
        ("Is the message checked?", "check-msg", "It is run by the client."),
        ("Which command counts?", "server", "mailsum --all"),
    ],
)
def test_no_heading_is_shown_if_it_names_nothing_more(question: str, heading: str, text: str) -> None:
    assert shown(question, heading, text) == [text]


def test_a_setting_that_is_an_entry_names_itself() -> None:
    question = "Which setting says where it is cloned from?"
    assert shown(question, "clone-settings", "url: Where it is cloned from.", BlockKind.ITEM) == [
        "url: Where it is cloned from."
    ]


def test_the_title_of_the_page_is_found_in_an_earlier_passage() -> None:
    def page(heading: str, text: str, ordinal: int) -> Passage:
        made = structured((BlockKind.HEADING, heading), (BlockKind.PARAGRAPH, text), start=90 * ordinal)
        return replace(made, title="EXPLAIN", heading=heading, ordinal=ordinal)

    first = page("EXPLAIN", "Synopsis of it.", 0)
    found = strips(page("Description", "This command shows the plan.", 1))
    told = with_telling_headings(found, "Which command shows the plan?", lambda _: [first])
    assert [strip.text for strip in told] == ["EXPLAIN", "This command shows the plan."]
