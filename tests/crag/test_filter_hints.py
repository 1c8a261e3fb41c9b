"""What a filter hides is offered, and never looked at unasked."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import pytest

from localcrag.crag.filter_hints import suggest_filter
from localcrag.crag.state import Query, QuestionState
from localcrag.errors import ConstraintError
from localcrag.events import Graded, Retrieved, Suggested
from localcrag.filters import parse
from localcrag.types import CorrectionKind, Meta, Status, Verdict
from tests.crag.values import drained
from tests.crag.world import Script, World, answer, of

DOCUMENTS = {
    "/leaflet.txt": "The dose of Zeldrine is 5 mg a day.\n\nA child's dose is half of it.",
    "/history.txt": "Zeldrine was found in 1928.\n\nThe finder was given a prize.",
    "/notes.txt": "Somebody asked for a dose.",
}
METAS: dict[str, Meta] = {
    "/leaflet.txt": {"team": "x's", "year": 2020},
    "/history.txt": {"team": "y", "year": 2020},
    "/notes.txt": {"team": "y", "year": 1999},
}
DOSE = "what is the dose of Zeldrine?"


def world(script: Script | None = None, **options: object) -> World:
    script = script or Script(grades={"dose of": 0.95}, answer="Yes, it is so. [1]")
    return World(DOCUMENTS, script.model(), metas=METAS).with_options(
        **({"passages": 3, "corrections": ()} | options)
    )


def asked_under(where: str, script: Script | None = None) -> tuple[QuestionState, list[str]]:
    asked = world(script)
    state = QuestionState(asked.adapters, asked.options, DOSE, DOSE, parse(where))
    events, _ = drained(suggest_filter(state, parse(where)))
    return state, [event.suggestion for event in events if isinstance(event, Suggested)]


@pytest.mark.parametrize(
    ("where", "suggestion"),
    [
        ('team = "y"', "without the filter, 1 passage more would help, in /leaflet.txt"),
        (
            'year = 2020 and team = "y"',
            "with --filter 'year = 2020', 1 passage more would help, in /leaflet.txt",
        ),
        (
            'team = "y" and year < 2000 and page = 1',
            "without the filter, 1 passage more would help, in /leaflet.txt",
        ),
    ],
)
def test_the_least_relaxed_filter_that_helps_is_offered_and_no_other(where: str, suggestion: str) -> None:
    assert asked_under(where)[1] == [suggestion]


def test_the_offered_filter_can_be_pasted_into_a_shell() -> None:
    [suggestion] = asked_under("team = 'x''s' and year = 1999")[1]
    given = shlex.split(suggestion.split(", ")[0])
    assert given[:2] == ["with", "--filter"]
    assert parse(given[2]) == parse("team = 'x''s'")


def test_several_passages_are_counted() -> None:
    script = Script(grades={"dose": 0.95})
    assert asked_under('team = "z"', script)[1] == [
        "without the filter, 3 passages more would help, in /leaflet.txt"
    ]


def test_what_is_not_sure_is_not_offered() -> None:
    assert asked_under('team = "y"', Script(grades={"dose": 0.69}))[1] == []
    assert asked_under('team = "y"', Script(grades={"dose": 0.7}))[1] != []


def test_a_grade_that_fails_is_not_offered() -> None:
    assert asked_under('team = "y"', Script(grades={"dose": ConstraintError("broken")}))[1] == []


def test_what_was_seen_under_the_filter_is_no_suggest_filter() -> None:
    asked = world(Script(grades={"Zeldrine": 0.95}))
    state = QuestionState(asked.adapters, asked.options, DOSE, DOSE, parse("year = 2020"))
    everything = asked.store.search(DOSE, asked.adapters.embedder.encode([DOSE])[0], k=9)
    state.mark_seen(everything)
    assert drained(suggest_filter(state, parse("year = 2020")))[0] == []


def test_an_offer_is_no_evidence_and_no_search_of_the_question() -> None:
    state, suggestions = asked_under('team = "y"')
    assert suggestions
    assert (state.grades, state.seen, state.tried) == ([], frozenset(), ())


def test_the_events_tell_of_no_search_that_the_answer_does_not_rest_on() -> None:
    events = world().ask(Query(DOSE, filter=parse('team = "y"')))
    found = answer(events)
    assert found.suggestions == ("without the filter, 1 passage more would help, in /leaflet.txt",)
    assert found.to_dict()["suggestions"] == list(found.suggestions)
    assert found.status is Status.NOT_FOUND
    assert len(of(Retrieved, events)) == 1
    assert all(event.grade.hit.passage.meta["team"] == "y" for event in of(Graded, events))


def test_an_unsure_answer_is_given_and_the_offer_made() -> None:
    script = Script(grades={"dose of": 0.95, "1928": 0.5}, answer="Yes, it is so. [1]")
    found = answer(world(script).ask(Query(DOSE, filter=parse('team = "y"'))))
    assert found.status is Status.UNSURE
    assert {citation.source for citation in found.citations} == {"/history.txt"}
    assert found.suggestions


def test_a_sure_answer_offers_nothing_and_asks_nobody() -> None:
    asked = world()
    found = answer(asked.ask(Query(DOSE, filter=parse("year = 2020"))))
    assert (found.status, found.suggestions) == (Status.ANSWERED, ())
    assert sum(call == "choose" for call, _ in asked.model.asked) == len(found.grades)


def test_without_a_filter_there_is_nothing_to_suggest_filter() -> None:
    found = answer(world(Script()).run(DOSE))
    assert (found.status, found.suggestions) == (Status.NOT_FOUND, ())


def test_corrections_come_before_an_suggest_filter() -> None:
    script = Script(grades={"prize": 0.95}, rewrite="finder prize", answer="The finder had a prize. [1]")
    asked = world(script, passages=1, corrections=(CorrectionKind.REWRITE,))
    found = answer(asked.ask(Query("Zeldrine in those days?", filter=parse('team = "y"'))))
    assert (found.status, found.suggestions) == (Status.ANSWERED, ())


def test_each_part_of_a_question_has_its_own_suggest_filter() -> None:
    parts: Sequence[str] = (DOSE, "when was Zeldrine found?")
    script = Script(parts=tuple(parts), grades={"dose of": 0.95, "1928": 0.95})
    found = answer(world(script).ask(Query(" ".join(parts), filter=parse('team = "z"'))))
    assert len(found.suggestions) == 2
    assert [part.status for part in found.parts] == [Status.NOT_FOUND] * 2
    assert all(grade.verdict is not Verdict.YES for grade in found.grades)
