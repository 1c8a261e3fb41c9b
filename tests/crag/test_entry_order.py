"""Of the entries of a list of changes the first or the last one answers if a question asks for it."""

from __future__ import annotations

import pytest

from localcrag.crag.refinement.entry_order import with_asked_entry_first
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import BlockKind
from tests.crag.values import structured

CHANGES = structured(
    (BlockKind.HEADING, "7.3 (2022-02-28)"),
    (BlockKind.ITEM, "smartctl: More of the JSON output is for SCSI."),
    (BlockKind.HEADING, "7.0 (2018-12-30)"),
    (BlockKind.ITEM, "smartctl: A new option enables JSON output."),
    (BlockKind.ITEM, "smartctl: A fix of the log."),
)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("With which release did smartctl first get JSON output?", "A new option"),
        ("When was JSON output first there in smartctl?", "A new option"),
        ("In which version did smartctl last change its JSON output?", "More of"),
        ("Which release has JSON output of smartctl?", "More of"),
        ("What does the first release say of JSON output of smartctl?", "More of"),
    ],
)
def test_the_entry_that_is_asked_for_is_most_probable(question: str, first: str) -> None:
    found = strips(CHANGES)
    given = [0.6 if "More of" in strip.text else 0.4 for strip in found]
    scores = with_asked_entry_first(question, found, given)
    assert first in found[max(range(len(found)), key=scores.__getitem__)].text
    assert max(scores) == max(given)
