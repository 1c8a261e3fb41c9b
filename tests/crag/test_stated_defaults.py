"""A question for a default is answered with the part of the entry that says it, and else with doubt."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.stated_defaults import lacks_default, with_stated_default
from localcrag.types import BlockKind, Passage, Strip
from tests.crag.values import structured

QUESTION = "What is the default of --max-torn?"


def leveled(*parts: tuple[BlockKind, int, str], ordinal: int = 0) -> Passage:
    """A passage of blocks with their levels."""
    made = structured(*((kind, text) for kind, _, text in parts))
    blocks = (replace(block, level=level) for block, (_, level, _) in zip(made.blocks, parts, strict=True))
    return replace(made, blocks=tuple(blocks), ordinal=ordinal, id=str(ordinal))


OPTIONS = leveled(
    (BlockKind.ITEM, 0, "--max-torn n: Allow torn pages up to a limit."),
    (BlockKind.PARAGRAPH, 1, "The limit is told in several ways:"),
)
FURTHER = leveled(
    (BlockKind.ITEM, 1, "As a number."),
    (BlockKind.PARAGRAPH, 1, "Few pages are torn. The default value is 5%."),
    (BlockKind.ITEM, 0, "--fold: Fold them. The default is not to."),
    ordinal=1,
)
LAST = leveled((BlockKind.ITEM, 0, "--last: Read the last one."), ordinal=2)


def neighbours(passage: Passage) -> list[Passage]:
    return [other for other in (OPTIONS, FURTHER, LAST) if abs(other.ordinal - passage.ordinal) == 1]


def shown(strip: Strip, question: str = QUESTION) -> list[str]:
    return [each.text for each in with_stated_default([strip], question, neighbours)]


def test_the_default_in_a_later_part_of_an_item_is_shown_after_it() -> None:
    first, _ = strips(OPTIONS)
    default = "The default value is 5%."
    assert shown(first) == [first.text, default]
    assert shown(first, "How much may be torn unless I say otherwise?") == [first.text, default]
    assert shown(strips(FURTHER)[0]) == [strips(FURTHER)[0].text, default]
    assert shown(first, "What does --max-torn do?") == [first.text]
    for words in ("if I don't ask for another", "if nobody sets --max-torn", "if it has not been configured"):
        assert shown(first, f"How many are let through {words}?") == shown(first, QUESTION)
    assert not lacks_default(QUESTION, [first], neighbours)


def test_the_default_in_the_head_of_an_entry_is_shown_before_what_it_tells() -> None:
    made = structured(
        (BlockKind.HEADING, "mode"),
        (BlockKind.PARAGRAPH, "Type: octal · Default: 0600"),
        (BlockKind.PARAGRAPH, "If a file has to be created, this mode is used."),
        (BlockKind.HEADING, "owner"),
        (BlockKind.PARAGRAPH, "Whose it is."),
    )
    head, told, owner = (strip for strip in strips(made) if len(strip.text) > 5)
    assert shown(told, "default of mode") == [head.text, told.text]
    assert shown(owner, "default of owner") == [owner.text]
    assert lacks_default("default of owner", [owner])


@pytest.mark.parametrize("question", [QUESTION, "How many are read by default?"])
def test_an_entry_without_a_default_does_not_tell_it(question: str) -> None:
    (last,) = strips(LAST)
    assert shown(last, question) == [last.text]
    assert lacks_default(question, [last], neighbours)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the default gateway?", "Gateway: 10.0.0.1 of the office."),
        ("Why is it off by default?", "It costs time."),
        ("What is the default of size?", "If no size is given, it is 4."),
    ],
)
def test_what_may_be_a_default_leaves_no_doubt(question: str, text: str) -> None:
    assert not lacks_default(question, strips(structured((BlockKind.PARAGRAPH, text))))


def test_the_default_of_a_parameter_stands_in_the_first_lines_of_its_function() -> None:
    asked = "How many days must lie between two storms by default?"
    first = "def select(flow, days=7,\n           dry=(1, 2)):"
    told = "Parameters\n    ----------\n    days : int\n        Number of days between storms"
    whole = leveled((BlockKind.CODE, 0, f"import os\n\n{first}\n\n{told}"))
    explained = strips(whole)[-1]
    assert told in explained.text and first not in explained.text
    assert [strip.text for strip in with_stated_default([explained], asked)] == [first, explained.text]
    above = leveled((BlockKind.CODE, 0, f"def other(a=1):\n    pass\n\n{first}"), ordinal=1)
    part = replace(leveled((BlockKind.CODE, 0, told), ordinal=2), start=900)
    part = replace(part, blocks=(replace(part.blocks[0], start=900, end=900 + len(told)),))
    [below] = strips(part)
    found = with_stated_default([below], asked, lambda _: [above])
    assert [strip.text for strip in found] == [first, told]
    assert with_stated_default([below], "How many days lie between two storms?", lambda _: [above]) == [below]
    plain = leveled((BlockKind.CODE, 0, "def select(flow, days):\n    pass"), ordinal=1)
    assert with_stated_default([below], asked, lambda _: [plain]) == [below]
