"""What becomes of an answer whose documents change while it is made."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import pytest

from localcrag.crag.answering.citation_check import cite
from localcrag.crag.answering.stored_quotes import lost_citations
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.state import Query, QuestionState
from localcrag.errors import DamagedKnowledgeBase
from localcrag.events import Delta, Event
from localcrag.types import Answer, Evidence, Grounding, Mode, Passage, Status
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


def test_a_citation_may_be_of_a_passage_that_was_not_graded() -> None:
    """A heading on the page before is shown with what stands below it; that page itself was not found."""
    asked = world()
    state = QuestionState(asked.adapters, asked.options, QUESTION, QUESTION)
    digest = hashlib.sha256(DOCUMENTS["/maker.txt"].encode()).hexdigest()
    beside = asked.store.passages({"/maker.txt": digest}, limit=1)
    cited = [cite(Evidence(1, strip)) for strip in strips(beside[0])]
    assert lost_citations(state, cited, beside) == {}
    change(asked, "/maker.txt")
    assert list(lost_citations(state, cited, beside)) == [1]
