"""The public API: options as keywords, wrong values named, twins for an event loop, JSON with a schema."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import localcrag
from localcrag import errors, events
from localcrag.options import AskKeywords

LEAFLET = "The usual dose of Zeldrine is 35 mg once a day. Zeldrine is made by the Orlan company in Porto."
DOSE = "What is the usual dose of Zeldrine?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def kb(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[localcrag.KnowledgeBase]:
    file = tmp_path_factory.mktemp("documents") / "leaflet.txt"
    file.write_text(LEAFLET)
    with localcrag.open("leaflets", home=home) as opened:
        assert opened.ingest(file).added == 1
        yield opened


# ---------------------------------------------------------------------------------- names


def test_all_events_and_errors_are_exported() -> None:
    for module, base in ((events, events.Event), (errors, errors.LocalCragError)):
        for name, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, base):
                assert getattr(localcrag, name) is kind and name in localcrag.__all__


def test_every_exported_name_is_there_and_documented() -> None:
    for name in set(localcrag.__all__) - {"__version__"}:
        assert inspect.getdoc(getattr(localcrag, name)), name
    assert set(dir(localcrag)) == set(localcrag.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'ask'"):
        _ = localcrag.ask  # type: ignore[attr-defined]


def test_every_option_is_a_keyword_and_documented() -> None:
    names = [field.name for field in fields(localcrag.AskOptions)]
    assert list(AskKeywords.__annotations__) == names
    documented = inspect.getdoc(localcrag.AskOptions) or ""
    assert [name for name in names if f"\n    {name}: " not in documented] == []


@pytest.mark.parametrize("name", ["ask", "stream", "search", "ingest"])
def test_a_twin_has_the_parameters_of_its_method(name: str) -> None:
    method = getattr(localcrag.KnowledgeBase, name)
    twin = getattr(localcrag.KnowledgeBase, f"a{name}")
    assert inspect.signature(method).parameters == inspect.signature(twin).parameters


# ---------------------------------------------------------------------------------- opening


@pytest.mark.parametrize("name", ["../evil", "a/b", "", ".hidden", "x" * 65, "a b", None.__class__])
def test_a_name_that_leads_elsewhere_is_refused(home: Path, name: Any) -> None:
    with pytest.raises(localcrag.UsageError, match="cannot be the name of a knowledge base"):
        localcrag.open(name, home=home)
    assert not (home.parent / "evil").exists()


def test_a_closed_knowledge_base_can_be_used_again(kb: localcrag.KnowledgeBase) -> None:
    first = kb.search("dose", k=1)
    kb.close()
    assert kb.search("dose", k=1) == first


def test_closing_frees_the_models_whatever_was_asked_between(home: Path, tmp_path: Path) -> None:
    """The models of two configurations are kept; a third takes the place of the first, which loads anew."""
    from localcrag.llm.evaluator import GgufEvaluator
    from localcrag.llm.evaluator_by_language import EvaluatorByLanguage
    from localcrag.llm.registry import Registry

    judge = tmp_path / "judge.gguf"
    judge.write_bytes(Registry(home).resolve("localcrag-evaluator-v6").read_bytes())
    with localcrag.open("closing", home=home) as kb:
        kb.ingest_text("A heron is a bird.", name="heron")
        for evaluator in (None, "none", str(judge), None):
            assert kb.search("heron", k=1, evaluator=evaluator)
        used = kb.models.evaluator
        used = used.english if isinstance(used, EvaluatorByLanguage) else used
        assert isinstance(used, GgufEvaluator) and used._resident is not None
    assert used._resident is None


# ---------------------------------------------------------------------------------- asking


def test_strings_and_members_do_equally_well(kb: localcrag.KnowledgeBase) -> None:
    by_words = kb.ask(DOSE, policy="none-relevant", strips="window", web="never", corrections=["rewrite"])
    options = localcrag.AskOptions(
        policy=localcrag.Policy.NONE_RELEVANT,
        strips=localcrag.StripKind.WINDOW,
        web=localcrag.WebPolicy.NEVER,
        corrections=[localcrag.CorrectionKind.REWRITE],
    )
    by_members = kb.ask(DOSE, options)
    assert by_words.policy is localcrag.Policy.NONE_RELEVANT
    assert (by_words.text, by_words.citations) == (by_members.text, by_members.citations)
    assert "35 mg" in by_words.text


def test_a_keyword_takes_the_place_of_an_option(kb: localcrag.KnowledgeBase) -> None:
    options = localcrag.AskOptions(policy=localcrag.Policy.CRAG)
    assert kb.ask(DOSE, options, policy="none-relevant").policy is localcrag.Policy.NONE_RELEVANT


def test_a_question_may_name_its_evaluator(kb: localcrag.KnowledgeBase) -> None:
    with pytest.raises(localcrag.ModelNotFound, match="no-such-judge"):
        kb.ask(DOSE, evaluator="no-such-judge")
    with pytest.raises(localcrag.ModelNotFound, match="no-such-model"):
        kb.ask(DOSE, model="no-such-model")
    assert "no-such" not in str(kb.settings)
    assert kb.search("dose", k=1, evaluator="none")[0].passage.text == LEAFLET


@pytest.mark.parametrize(
    ("keywords", "message", "hint"),
    [
        ({"policy": "careful"}, "policy is 'careful'", "crag, any-irrelevant, none-relevant, score"),
        ({"mode": "sing"}, "mode is 'sing'", "write, quote"),
        ({"web": True}, "web is True", "never, ask, auto"),
        ({"grader": "me"}, "grader is 'me'", "yesno, rubric, evaluator, cascade, fused"),
        ({"strips": 3}, "strips is 3", "sentence, window, none"),
        ({"layout": "x"}, "layout is 'x'", "independent, joint"),
        ({"grounding": "x"}, "grounding is 'x'", "off, mark, remove"),
        ({"corrections": "hyde"}, "corrections is the string 'hyde'", "rewrite, phrasings, hyde"),
        ({"corrections": ["x"]}, "corrections is 'x'", "rewrite, phrasings, hyde"),
        ({"filter": 3}, "filter is 3, and must be a string", ""),
        ({"model": Path("x")}, "model is PosixPath('x'), and must be a string", ""),
        ({"agent": "yes"}, "agent is 'yes', and must be True or False", ""),
        ({"consent": "yes"}, "consent cannot be called", "function"),
        ({"history": ["hello"]}, "history holds something else than turns", "Turn("),
        ({"history": "hello"}, "history holds something else than turns", "Turn("),
        ({"temperature": 1}, "there is no option 'temperature'", "filter, policy, mode"),
        ({"options": {"policy": "crag"}}, "options is a dict", "policy="),
    ],
)
def test_a_wrong_value_is_one_error_that_names_the_right_ones(
    kb: localcrag.KnowledgeBase, keywords: dict[str, Any], message: str, hint: str
) -> None:
    with pytest.raises(localcrag.UsageError) as caught:
        kb.ask(DOSE, **keywords)
    assert message in str(caught.value) and hint in caught.value.hint


@pytest.mark.parametrize("question", [None, 3, b"what?", "", "   ", "x" * 5000])
def test_a_question_that_is_none_is_a_usage_error(kb: localcrag.KnowledgeBase, question: Any) -> None:
    for call in (kb.ask, kb.stream, kb.search):
        with pytest.raises(localcrag.UsageError, match="question"):
            call(question)


@pytest.mark.parametrize("k", [0, -1, "3", 2.5])
def test_a_number_of_hits_that_is_none_is_a_usage_error(kb: localcrag.KnowledgeBase, k: Any) -> None:
    with pytest.raises(localcrag.UsageError, match="k is"):
        kb.search("dose", k=k)


# ---------------------------------------------------------------------------------- ingesting


def test_one_source_or_several(home: Path, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text(f"The letter {name} is a letter of the alphabet.")
    with localcrag.open("several", home=home) as kb:
        assert kb.ingest(str(tmp_path / "a.txt")).added == 1
        assert kb.ingest(tmp_path / "b.txt").added == 1
        report = kb.ingest(path for path in (tmp_path / "a.txt", tmp_path / "c.txt"))
        assert (report.added, report.unchanged) == (1, 1)


def test_a_text_is_a_document(home: Path) -> None:
    with localcrag.open("texts", home=home) as kb:
        first = kb.ingest_text("The canteen opens at noon.", name="canteen", metadata={"team": "office"})
        again = kb.ingest_text("The canteen opens at noon.", name="canteen", metadata={"team": "office"})
        changed = kb.ingest_text("The canteen opens at one.", name="canteen", title="Where we eat")
        assert [(r.added, r.unchanged, r.changed) for r in (first, again, changed)] == [
            (1, 0, 0),
            (0, 1, 0),
            (0, 0, 1),
        ]
        [hit] = kb.search("When does the canteen open?", filter='team = "office"')
        assert (hit.passage.source, hit.passage.title) == ("text:canteen", "Where we eat")
        assert hit.passage.text == "The canteen opens at one."
        answer = kb.ask("When does the canteen open?")
        assert answer.citations[0].quote in hit.passage.text
        assert kb.forget(["text:canteen"]) == 1


@pytest.mark.parametrize(
    ("text", "name"), [("", "a"), ("  ", "a"), ("x", ""), ("x", " "), ("x", "a\nb"), (None, "a"), ("x", None)]
)
def test_what_is_no_text_or_no_name_is_a_usage_error(home: Path, text: Any, name: Any) -> None:
    with pytest.raises(localcrag.UsageError):
        localcrag.open("texts", home=home).ingest_text(text, name=name)


@pytest.mark.parametrize("sources", [None, 3, [None], ["a", 3], b"bytes"])
def test_a_source_that_is_none_is_a_usage_error(home: Path, sources: Any) -> None:
    with pytest.raises(localcrag.UsageError, match="must be a string or a path"):
        localcrag.open("texts", home=home).ingest(sources)


@pytest.mark.parametrize("keywords", [{"questions": -1}, {"questions": "3"}, {"metadata": 3}])
def test_a_wrong_keyword_of_an_ingestion_is_a_usage_error(home: Path, keywords: dict[str, Any]) -> None:
    with pytest.raises(localcrag.UsageError):
        localcrag.open("texts", home=home).ingest("nowhere", **keywords)


@pytest.mark.parametrize("keywords", [{"home": 3}, {"settings": {"kb": "x"}}])
def test_a_wrong_keyword_of_open_is_a_usage_error(keywords: dict[str, Any]) -> None:
    with pytest.raises(localcrag.UsageError, match="must be"):
        localcrag.open("texts", **keywords)


def test_a_filter_that_is_no_text_is_a_usage_error(kb: localcrag.KnowledgeBase) -> None:
    with pytest.raises(localcrag.UsageError, match="filter is 3"):
        kb.search("dose", filter=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("metadata", [{"a b": 1}, {"a": None}, {"a": ["x"]}, {1: 2}, "team=x", {"and": 1}])
def test_metadata_that_cannot_be_kept_is_a_usage_error(home: Path, metadata: Any) -> None:
    with pytest.raises(localcrag.UsageError):
        localcrag.open("texts", home=home).ingest_text("Some text.", name="a", metadata=metadata)
    assert not (home / "knowledge" / "never").exists()


# ---------------------------------------------------------------------------------- asyncio


def test_twins_answer_alike_and_leave_the_event_loop_free(kb: localcrag.KnowledgeBase) -> None:
    async def work() -> tuple[localcrag.Answer, list[localcrag.Event], list[localcrag.Hit], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.001)
                ticks += 1

        ticking = asyncio.create_task(tick())
        answer = await kb.aask(DOSE)
        seen = [event async for event in kb.astream(DOSE)]
        hits = await kb.asearch("dose", k=1)
        ticking.cancel()
        return answer, seen, hits, ticks

    answer, seen, hits, ticks = asyncio.run(work())
    assert answer.text == kb.ask(DOSE).text and hits == kb.search("dose", k=1)
    assert isinstance(seen[-1], localcrag.Finished) and seen[-1].answer.text == answer.text
    assert ticks > 3


def test_a_cancelled_question_ends_and_the_next_one_is_answered(kb: localcrag.KnowledgeBase) -> None:
    async def work() -> str:
        async def first_event() -> None:
            async for _ in kb.astream(DOSE):
                await asyncio.sleep(3600)

        task = asyncio.create_task(first_event())
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return (await kb.aask(DOSE)).text

    assert "35 mg" in asyncio.run(work())


def test_an_error_of_a_twin_is_the_error_itself(kb: localcrag.KnowledgeBase) -> None:
    async def work() -> None:
        await kb.aask("")

    with pytest.raises(localcrag.UsageError, match="the question is empty"):
        asyncio.run(work())


def test_ingesting_in_an_event_loop(home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A heron is a bird.")
    report = asyncio.run(localcrag.open("birds", home=home).aingest(tmp_path))
    assert report.added == 1


# ---------------------------------------------------------------------------------- JSON


def fits(value: object, schema: dict[str, Any]) -> bool:
    """Whether a value is as a JSON Schema says, after a way through JSON text."""
    return bool(jsonschema.Draft202012Validator(schema).is_valid(json.loads(json.dumps(value))))


def test_an_answer_is_json_as_its_schema_says(kb: localcrag.KnowledgeBase) -> None:
    schema = localcrag.answer_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    for question in (DOSE, "Who won the chess championship of 1972?"):
        answer = kb.ask(question)
        assert json.loads(answer.to_json(indent=2)) == json.loads(json.dumps(answer.to_dict()))
        assert fits(answer.to_dict(), schema)
        assert set(answer.to_dict()) == set(schema["$defs"]["AnswerObject"]["properties"])


def test_every_event_is_json_as_its_schema_says(kb: localcrag.KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A heron is a bird.")
    (tmp_path / "b.txt").write_bytes(b"")
    schema = localcrag.event_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    asked = [*kb.stream(DOSE), *kb.stream("What is it? And who makes it?")]
    seen = [*asked, *kb.stream_ingestion(tmp_path)]
    for event in seen:
        assert fits(events.to_dict(event), schema), event
    assert len({type(event) for event in seen}) > 10
    assert not fits(events.to_dict(seen[0]) | {"query": 3}, schema)


def test_every_event_has_a_place_in_the_schema() -> None:
    named = set()
    for shape in localcrag.event_schema()["$defs"].values():
        if event := shape.get("properties", {}).get("event"):
            named |= {event["const"]} if "const" in event else set(event["enum"])
    classes = [kind for _, kind in inspect.getmembers(events, inspect.isclass)]
    kinds = {kind for kind in classes if issubclass(kind, events.Event)} - {events.Event}
    assert named == {events.json_name(kind) for kind in kinds}


def test_reports_and_hits_have_a_json_form(kb: localcrag.KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A heron is a bird.")
    report = kb.ingest(tmp_path)
    assert json.loads(report.to_json())["added"] == report.added == 1
    [hit] = kb.search("dose", k=1)
    assert json.loads(hit.to_json())["text"] == hit.passage.text
    assert "rank" not in hit.to_dict() and hit.to_dict(rank=2)["rank"] == 2
