"""What was sent is what is read, and nothing else is."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from types import MappingProxyType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from localcrag import errors, events
from localcrag.cli.lazy_commands import COMMAND_MODULES
from localcrag.cli.main import cli
from localcrag.errors import LocalCragError, UnknownKnowledgeBase
from localcrag.events import Event, Ingested, to_dict
from localcrag.options import AskOptions
from localcrag.serve.ask_request import AskRequest
from localcrag.serve.client import rest_of
from localcrag.serve.protocol import (
    BadMessage,
    Failed,
    SearchReply,
    StartConditions,
    StatusRequest,
    decode,
    encode,
)
from localcrag.settings import ModelSettings
from localcrag.types import FieldResult, Hit, Mode, StructuredValue, Turn

EVENTS = [
    kind
    for _, kind in inspect.getmembers(events, inspect.isclass)
    if issubclass(kind, Event) and kind not in (Event, Ingested)
]
ERRORS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, LocalCragError)]
START = StartConditions("1", "python", "", False, "all of them", {"LOCALCRAG_KB": "x"})


def sample(kind: Any, number: int = 3) -> Any:
    """A value of a type, the awkward ones among those there are."""
    if isinstance(kind, UnionType):
        return sample(get_args(kind)[0])
    if get_origin(kind) is tuple:
        return tuple(sample(get_args(kind)[0]) for _ in range(2))
    if get_origin(kind) is not None and issubclass(get_origin(kind), Mapping):
        values = get_args(kind)[1]
        mixed = {"a": "x", "b": 3, "c": 3.0, "d": True}
        return MappingProxyType(mixed if isinstance(values, UnionType) else {"a": 0.1 + 0.2})
    if kind is StructuredValue:  # its text is JSON
        return StructuredValue('{"Größe": [1, null]}', sample(tuple[FieldResult, ...]))
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{item.name: sample(hints[item.name]) for item in fields(kind)})
    if issubclass(kind, StrEnum):
        return list(kind)[-1]
    plain = {str: "Größe “x”\n\u2028\x00 \U0001f600", int: 2**53 + 1, float: 1 / 3, bool: True}
    return plain[kind]


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_every_event_arrives_as_it_was(kind: type[Event]) -> None:
    event = sample(kind)
    text = encode(event)
    assert text.count(b"\n") == 1 and text.endswith(b"\n")
    back = decode(text, AskRequest)
    assert type(back) is kind and back == event
    assert json.dumps(to_dict(back)) == json.dumps(to_dict(event))


def test_a_request_arrives_with_all_its_options() -> None:
    options = AskOptions(filter="page = 1", mode=Mode.QUOTE, corrections=(), history=[Turn("user", "x")])
    ask = AskRequest(START, "default", ModelSettings(threads=2), "why?", options)
    assert decode(encode(ask), AskRequest) == replace_options(ask, replace(options, corrections=[]))


def replace_options(ask: AskRequest, options: AskOptions) -> AskRequest:
    return AskRequest(ask.start, ask.kb, ask.model, ask.question, options)


def test_consent_cannot_be_sent() -> None:
    with pytest.raises(BadMessage, match="function"):
        encode(AskRequest(START, "", ModelSettings(), "", AskOptions(consent=lambda query: None)))


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_every_error_arrives_as_it_was(kind: type[LocalCragError]) -> None:
    error = decode(encode(Failed.of(kind("what and why", hint="what now")))).error()
    assert type(error) is kind and error.exit_code == kind.exit_code
    assert (str(error), error.hint) == ("what and why", "what now")


def test_an_error_of_a_class_of_its_own_arrives_as_the_nearest() -> None:
    class Odd(UnknownKnowledgeBase):
        pass

    assert type(Failed.of(Odd("x")).error()) is UnknownKnowledgeBase


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}\n",
        b"[]\n",
        b'["Nonsense",{}]\n',
        b'["deque",{}]\n',
        b'["Delta",{}]\n',
        b'["Delta",{"text":1}]\n',
        b'["Found",{"hits":[{"score":"x"}]}]\n',
        b"\xff\xfe\n",
        encode(StatusRequest())[:-4],
    ],
)
def test_what_is_no_message_is_refused(text: bytes) -> None:
    with pytest.raises(BadMessage):
        decode(text)


@pytest.mark.parametrize("name", ["deque", "LocalCragErrors", "annotations", "Exception"])
def test_only_our_errors_are_raised(name: str) -> None:
    with pytest.raises(BadMessage):
        Failed(name, "", "").error()


def test_a_number_that_json_does_not_have_is_not_made_up() -> None:
    hit: Hit = replace(sample(Hit), score=float("nan"))
    with pytest.raises(BadMessage):
        decode(encode(SearchReply((hit,))))


def test_the_rest_of_an_answer_begins_where_the_first_part_ended() -> None:
    whole: list[Event] = [events.Retrieved("q", ()), events.Delta("a"), events.Delta("b")]
    assert list(rest_of(whole, whole[:2])) == whole[2:]
    with pytest.raises(errors.WarmError, match="middle of the answer"):
        list(rest_of(whole, [whole[0], events.Delta("other")]))


def test_a_difference_is_said_in_words() -> None:
    assert START.difference(START) == ""
    other = {
        "another localcrag": StartConditions("2", "python", "", False, "all of them", {"LOCALCRAG_KB": "x"}),
        "online": StartConditions("1", "python", "", True, "all of them", {"LOCALCRAG_KB": "x"}),
        "configuration": StartConditions("1", "python", "", False, "all of them", {}),
    }
    for word, start in other.items():
        assert word in START.difference(start)


def test_the_list_of_commands_says_what_the_commands_say() -> None:
    said = {name: command.help or command.short_help or "" for name, command in cli.commands.items()}
    assert {name: help.partition("\n\n")[0] for name, help in said.items()}.keys() == COMMAND_MODULES.keys()
    for name, (_, short) in COMMAND_MODULES.items():
        command = cli.commands[name]
        assert command.get_short_help_str(1000) == short.removesuffix(".") + "."
