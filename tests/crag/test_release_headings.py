"""The day of a release is told by the heading of its entry."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.refinement.release_headings import asks_for_release, release_heading
from localcrag.types import BlockKind
from tests.crag.values import structured

NEWS = replace(
    structured(
        (BlockKind.HEADING, "Changes in version 2.0.1 (5 Jan 2018)"),
        (BlockKind.ITEM, "The kestrel window is smaller."),
        (BlockKind.HEADING, "Changes in version 2.0 (10 Dec 2017)"),
        (BlockKind.ITEM, "New logo."),
        (BlockKind.HEADING, "Changes in version 1.9"),
        (BlockKind.ITEM, "A map of 2.0 degrees."),
    ),
    title="Kestrel",
)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("When did Kestrel 2.0 come out?", "Changes in version 2.0 (10 Dec 2017)"),
        ("On what day was version 2.0.1 of Kestrel released?", "Changes in version 2.0.1 (5 Jan 2018)"),
        ("When was version 2.0 released?", "Changes in version 2.0 (10 Dec 2017)"),
        ("When did Heron 2.0 come out?", None),
        ("When did Kestrel 1.9 come out?", None),
        ("When did Kestrel 2.1 come out?", None),
        ("What came out with Kestrel 2.0?", None),
        ("When did Kestrel 2.0 or 2.0.1 come out?", None),
    ],
)
def test_the_heading_of_the_release_tells_its_day(question: str, told: str | None) -> None:
    found = release_heading(question, [NEWS])
    assert (found and found.text) == told


def test_two_lists_of_changes_that_disagree_tell_nothing() -> None:
    other = structured((BlockKind.HEADING, "2.0 (11 May 2019)"), (BlockKind.ITEM, "Kestrel sings."))
    other = replace(other, document="other", id="other-0")
    assert release_heading("When did Kestrel 2.0 come out?", [NEWS, other]) is None


def test_a_release_may_stand_below_its_day() -> None:
    made = structured(
        (BlockKind.HEADING, "2023-01-08  Max Lee"),
        (BlockKind.HEADING, "Made 5.6.1 release"),
        (BlockKind.ITEM, "5.6 sings"),
        (BlockKind.PARAGRAPH, "2022-05-01 was too early for a " + "long " * 20),
        (BlockKind.PARAGRAPH, "Made 5.6 release"),
    )
    found = release_heading("When did release 5.6.1 come out?", [made])
    assert found is not None and found.text == "2023-01-08  Max Lee\n\nMade 5.6.1 release"
    assert release_heading("When was version 5.6 released?", [made]) is None
    assert asks_for_release("When was version 5.6 released?")
    assert not asks_for_release("What was released with 5.6.1?")
