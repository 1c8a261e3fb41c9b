"""What becomes of an answer whose documents change while it is made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from localcrag.crag.generation import _most_probable
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.state import Query
from localcrag.errors import DamagedKnowledgeBase
from localcrag.events import Delta, Event
from localcrag.types import Answer, Block, BlockKind, Grounding, Mode, Passage, Status
from tests.crag.values import passage
from tests.crag.world import Script, World, answer

DOCUMENTS = {"/leaflet.txt": "The dose is 5 mg a day.", "/maker.txt": "The maker of the dose is Acme."}
QUESTION = "what is the dose, of which maker?"
WRITTEN = "The dose is given. [1] The dose has a maker. [2]"


def world(**options: object) -> World:
    return World(DOCUMENTS, Script(otherwise=0.95, answer=WRITTEN, picks="1, 2").model()).with_options(
        **options
    )


def keys(found: Answer) -> set[int]:
    return {int(key) for key in re.findall(r"\[(\d+)\]", found.text)}


def cited(found: Answer) -> set[int]:
    return {citation.key for citation in found.citations}


def change(world: World, source: str) -> None:
    """The store holds another text of this source from now on, and other passages."""
    text, passages = world.store.text, world.store.passages
    world.store.text = (  # type: ignore[method-assign]
        lambda *given, **named: "other" if named["source"] == source else text(*given, **named)
    )

    def others(documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        return [] if source in documents else passages(documents, limit=limit)

    world.store.passages = others  # type: ignore[method-assign]


@pytest.mark.parametrize("source", list(DOCUMENTS))
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("how", list(Grounding))
def test_an_answer_of_which_a_source_has_changed_is_unsure_and_no_key_of_it_dangles(
    source: str, mode: Mode, how: Grounding
) -> None:
    asked = world(mode=mode, grounding=how)
    assert answer(asked.run(QUESTION)).status is Status.ANSWERED
    change(asked, source)
    found = answer(asked.run(QUESTION))
    assert found.status is Status.UNSURE
    assert keys(found) == cited(found) and len(cited(found)) == 1
    assert {citation.source for citation in found.citations} == {*DOCUMENTS} - {source}
    [reason] = found.degraded
    assert reason.startswith("removed from the answer: citation [")
    assert reason.endswith(f"{source} has changed since it was read")


@pytest.mark.parametrize("mode", list(Mode))
def test_a_stored_text_that_contradicts_its_passages_is_an_error_and_no_missing_answer(mode: Mode) -> None:
    asked = world(mode=mode)
    asked.store.text = lambda *given, **named: "other"  # type: ignore[method-assign]
    with pytest.raises(DamagedKnowledgeBase, match="is not the one that was indexed") as caught:
        answer(asked.run(QUESTION))
    assert "localcrag ingest --reread" in caught.value.hint


def test_a_source_that_changes_when_it_was_cited_already_is_named() -> None:
    asked = world()
    events: list[Event] = []
    for event in Pipeline(asked.adapters, asked.options).run(Query(QUESTION)):
        events.append(event)
        if isinstance(event, Delta) and "[2]" in event.text:
            for source in DOCUMENTS:
                change(asked, source)
    found = answer(events)
    assert (found.status, found.text) == (Status.UNSURE, WRITTEN)
    assert keys(found) == cited(found) == {1, 2}
    assert len(found.degraded) == 2
    assert all(reason.endswith("has changed since it was read") for reason in found.degraded)


@pytest.mark.parametrize("mode", list(Mode))
def test_where_every_source_has_changed_nothing_is_cited(mode: Mode) -> None:
    asked = world(mode=mode)
    for source in DOCUMENTS:
        change(asked, source)
    found = answer(asked.run(QUESTION))
    assert found.status is Status.NOT_FOUND
    assert keys(found) == cited(found) == set()


def test_of_a_table_the_row_that_has_the_words_of_the_question_is_quoted() -> None:
    rows = [
        "Year: 2018 · Height of reed: 240 cm",
        "Year: 2022 · Height of reed: 82 cm",
        "Year: 2023 · Height: 49",
    ]
    text, blocks = "", []
    for row in rows:
        blocks.append(Block(BlockKind.ROW, len(text), len(text) + len(row)))
        text += f"{row}\n"
    table = replace(passage(text.strip()), blocks=tuple(blocks))
    strip_2018, strip_2022, _ = cut = strips(table)
    judged = [replace(strip, score=p) for strip, p in zip(cut, (0.9, 0.8, 0.85), strict=True)]
    assert [s.text for s in _most_probable(judged, "How high was the reed in 2022?")] == [strip_2022.text]
    assert [s.text for s in _most_probable(judged, "Is it so?")] == [strip_2018.text, rows[2]]


def test_of_rows_with_the_parts_of_a_date_the_one_with_the_date_is_quoted() -> None:
    rows = ("date: 2013/04/07 · rain: 8", "date: 2013/07/04 · rain: 0")
    first, second = (len(row) for row in rows)
    blocks = (Block(BlockKind.ROW, 0, first), Block(BlockKind.ROW, first + 1, first + 1 + second))
    cut = strips(replace(passage("\n".join(rows)), blocks=blocks))
    judged = [replace(strip, score=score) for strip, score in zip(cut, (0.6, 0.5), strict=True)]
    assert [s.text for s in _most_probable(judged, "Did it rain on 2013/07/04?")] == [rows[1]]
