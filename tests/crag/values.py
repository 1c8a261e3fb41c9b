"""Short ways to make the values that the tests of the loop speak about."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from localcrag.events import Event, Steps
from localcrag.types import Block, BlockKind, Evidence, Grade, Hit, Origin, Passage, Strip, Verdict

T = TypeVar("T")
TEXT = (
    "Steam engines came first. They were large and slow machines. "
    "Dr. Watt made them better in 1769. See p. 4."
)


def passage(
    text: str, *, id: str = "", source: str = "/a.txt", page: int | None = None, start: int = 0
) -> Passage:
    return Passage(
        id=id or f"{source}:{start}",
        document=f"hash of {source}",
        source=source,
        title="",
        heading="",
        page=page,
        start=start,
        end=start + len(text),
        text=text,
        origin=Origin.DOCUMENTS,
    )


def structured(*parts: tuple[BlockKind, str], start: int = 7) -> Passage:
    """A passage of blocks with a blank line between them; an item has a marker before it."""
    text, blocks = "", []
    for kind, part in parts:
        text += ("\n\n" if text else "") + ("- " if kind is BlockKind.ITEM else "")
        blocks.append(Block(kind, start + len(text), start + len(text) + len(part)))
        text += part
    return replace(passage(text, start=start), blocks=tuple(blocks))


def grade(confidence: float | None, *, yes: bool | None = None, text: str = "some text") -> Grade:
    """A grade; without ``yes`` the verdict is yes from 0.5 on, and error where there is no confidence."""
    hit = Hit(passage(text, id=f"{text}{confidence}"), 1.0)
    if confidence is None:
        return Grade(hit, Verdict.ERROR, None, "it broke")
    said = confidence >= 0.5 if yes is None else yes
    return Grade(hit, Verdict.YES if said else Verdict.NO, confidence)


def evidence(*texts: str) -> list[Evidence]:
    return [
        Evidence(key, Strip(passage(text, source=f"/{key}.txt"), 0, len(text), text, 0.9))
        for key, text in enumerate(texts, 1)
    ]


def hits(*texts: str) -> list[Hit]:
    """A hit for each text, the best first."""
    return [Hit(passage(text, id=text), 1.0 / rank) for rank, text in enumerate(texts, 1)]


def drained(steps: Steps[T]) -> tuple[list[Event], T]:
    """The events of a part of the work, and what it returns."""
    events: list[Event] = []
    while True:
        try:
            events.append(next(steps))
        except StopIteration as stop:
            return events, stop.value


HANDBOOK = structured(
    (BlockKind.HEADING, "What is Zeldrine?"),
    (BlockKind.PARAGRAPH, "Zeldrine is a drug of the Orlan company. It is new."),
    (BlockKind.HEADING, "Dose"),
    (BlockKind.PARAGRAPH, "Twice a day."),
    (BlockKind.FURNITURE, "Handbook, page 7"),
    (BlockKind.ROW, "Age: 6. or 7. · Dose: half. A tablet."),
    (BlockKind.CODE, "# a comment\nrun()\n\nstop()"),
    (BlockKind.PARAGRAPH, "It is quite new. Before you take it, you need both of these:"),
    (BlockKind.ITEM, "a prescription of a doctor"),
    (BlockKind.ITEM, "a glass of water"),
)
