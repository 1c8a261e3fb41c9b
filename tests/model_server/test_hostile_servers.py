"""Servers that are down, refuse, lie, or send what no server should: one line each, and the next step."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import closing

import pytest

from localcrag.egress import offline
from localcrag.errors import (
    ConstraintError,
    LedgerError,
    LocalCragError,
    ModelServerError,
    OfflineError,
    SettingsError,
    UsageError,
)
from localcrag.model_address import ModelAddress, is_model_address, require_named
from localcrag.model_server import server_connection
from localcrag.model_server.served_model import ServedModel
from localcrag.model_server.server_connection import ServerConnection
from localcrag.options import AskOptions
from localcrag.settings import ModelSettings, Settings
from localcrag.types import Prompt, UntrustedText
from tests.model_server.conftest import Open
from tests.model_server.recorded_exchanges import (
    VLLM_MODELS,
    Json,
    ScriptedChat,
    completion,
    events,
    token,
)
from tests.web.scripted import Answer, ScriptedServer

SECRET = "the sky is blue"
PROMPT = Prompt("You judge.", ("Is it blue?\n", UntrustedText(SECRET)))
OPTIONS = ("yes", "no")
YES = completion("yes", [token("yes", -0.5, no=-1.5)])
CHAT = "/v1/chat/completions"


def nowhere(record: Callable[[str, str], None] = lambda kind, target: None) -> ServedModel:
    """A model on a server that does not run."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    return ServedModel(ServerConnection(ModelAddress.parse(f"http://127.0.0.1:{port}"), record))


def willing(script: ScriptedServer, answer: Answer | None = None) -> ScriptedChat:
    """A server that passes the probe, and answers everything after it alike."""
    return ScriptedChat(script, "structured_outputs", VLLM_MODELS, lambda body: answer or Answer.json(YES))


# ------------------------------------------------------------------------------------ the probe


def test_a_server_that_is_down() -> None:
    with pytest.raises(ModelServerError, match=r"cannot be reached: .*Connection refused") as failed:
        nowhere().load()
    assert "start it" in failed.value.hint


def test_a_server_that_ignores_constraints(script: ScriptedServer, opened: Open) -> None:
    ScriptedChat(script, "", VLLM_MODELS, lambda body: Answer.json(YES))
    with pytest.raises(ModelServerError, match="it ignores what a reply must be") as failed:
        opened().choose([PROMPT], OPTIONS)
    assert "structured_outputs" in failed.value.hint
    assert all(SECRET not in request.body.decode() for request in script.requests)


def test_a_server_that_keeps_to_half_of_the_constraint(script: ScriptedServer, opened: Open) -> None:
    chat = willing(script)
    chat.probe = lambda text: completion(text[:5] + "!!")
    with pytest.raises(ModelServerError, match="ignores"):
        opened().load()


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        (lambda text: completion(text, []), "gives no log-probabilities"),
        (lambda text: completion(text, usage=None), "how many tokens it read"),
        (lambda text: completion(text, [token(text, 0.7)]), "are no probabilities"),
        (lambda text: completion(text, [token(text, -0.1, a=-0.1)]), "are no probabilities"),
        (lambda text: {"choices": []}, "it has no choice"),
        (lambda text: {"choices": "yes"}, "did not answer like one"),
        (lambda text: [1, 2], "did not answer like one"),
    ],
)
def test_a_server_that_leaves_out_what_is_needed(
    script: ScriptedServer, opened: Open, probe: Callable[[str], Json], message: str
) -> None:
    willing(script).probe = probe
    with pytest.raises(ModelServerError, match=message) as failed:
        opened().load()
    assert failed.value.hint


def test_llama_cpp_python_without_log_probabilities(script: ScriptedServer, opened: Open) -> None:
    willing(script)
    said = "logprobs is not supported for models created with logits_all=False"
    script.answers[CHAT] = Answer.json({"error": {"message": said, "type": "internal_server_error"}}, 500)
    with pytest.raises(ModelServerError, match="logprobs is not supported") as failed:
        opened().load()
    assert "--logits_all true" in failed.value.hint


@pytest.mark.parametrize("answer", [Answer(404, b"no"), Answer(200, b"<html>"), Answer(200, b"[" * 100_000)])
def test_something_else_than_a_model_server(script: ScriptedServer, opened: Open, answer: Answer) -> None:
    script.answers["/v1/models"] = answer
    with pytest.raises(ModelServerError) as failed:
        opened().load()
    assert failed.value.hint and "\n" not in str(failed.value)


def test_a_key_comes_from_the_environment_and_is_never_shown(
    script: ScriptedServer, opened: Open, ledger: list[tuple[str, str]]
) -> None:
    script.answers["/v1/models"] = Answer.json({"error": {"message": "no key sk-secret"}}, 401)
    with pytest.raises(ModelServerError, match=r"wants another API key \(401\)") as failed:
        opened(key="sk-secret").load()
    assert "LOCALCRAG_MODEL_API_KEY" in failed.value.hint
    assert script.requests[-1].headers["authorization"] == "Bearer sk-secret"
    assert (
        "sk-secret" not in f"{failed.value} {failed.value.hint} {ledger} {opened(key='sk-secret').__dict__}"
    )
    with pytest.raises(SettingsError, match="something else than a key"):
        opened(key="two\nlines").load()


# --------------------------------------------------------------------------------- after the probe


@pytest.mark.parametrize("text", ["maybe", "yes, certainly", "", "no\n"])
def test_a_choice_that_is_no_option_is_an_error(script: ScriptedServer, opened: Open, text: str) -> None:
    willing(script, Answer.json(completion(text, [token("yes", -0.5, no=-1.5)])))
    (failed,) = opened().choose([PROMPT], OPTIONS)
    assert isinstance(failed, ConstraintError) and "does not allow" in str(failed)


def test_log_probabilities_that_go_missing_are_an_error(script: ScriptedServer, opened: Open) -> None:
    willing(script, Answer.json(completion("yes", [])))
    (failed,) = opened().choose([PROMPT], OPTIONS)
    assert isinstance(failed, ConstraintError)


def test_one_failure_does_not_harm_the_other_choices(script: ScriptedServer, opened: Open) -> None:
    chat = willing(script)
    chat.replies = lambda body: Answer.json(completion("maybe") if "grass" in json.dumps(body) else YES)
    first, second = opened().choose([Prompt("", ("The grass.",)), PROMPT], OPTIONS)
    assert isinstance(first, ConstraintError) and not isinstance(second, Exception)


def test_a_text_that_strays_is_stopped_where_it_strays(script: ScriptedServer, opened: Open) -> None:
    willing(script, events("It is", " blue. [1]", " Ignore", " all [9]", " of it."))
    pieces: list[str] = []
    with pytest.raises(ConstraintError, match="does not allow"):
        for piece in opened().stream(PROMPT, pattern=r"[A-Za-z ]+\. \[1\]"):
            pieces.append(piece)
    assert pieces == ["It is blue. [1]"]


def test_a_text_that_ends_too_early_is_an_error(script: ScriptedServer, opened: Open) -> None:
    willing(script, events("It is", " bl"))
    with pytest.raises(ConstraintError, match="middle"):
        list(opened().stream(PROMPT, pattern=r"[A-Za-z ]+\. \[1\]"))


def test_a_text_that_breaks_off_is_an_error(script: ScriptedServer, opened: Open) -> None:
    willing(script, events("It is", finish=None, usage=False))
    with pytest.raises(ModelServerError, match="broke a text off"):
        list(opened().stream(PROMPT))


def test_a_text_without_end_is_ended(script: ScriptedServer, opened: Open) -> None:
    willing(script, events(*(f" {number}" for number in range(500)), finish=None))
    model = opened()
    with pytest.raises(ModelServerError, match="broke a text off"):
        list(model.stream(PROMPT, max_tokens=20))
    assert model.tokens.generated <= 21


def test_a_model_that_repeats_itself_is_stopped(script: ScriptedServer, opened: Open) -> None:
    willing(script, events(*([" again"] * 500)))
    model = opened()
    assert len(list(model.stream(PROMPT, max_tokens=400))) < 40
    assert model.last_finish == "repeat"


@pytest.mark.parametrize("location", ["http://127.0.0.1:1/v1/models", "/elsewhere", ""])
def test_a_redirect_is_refused(
    script: ScriptedServer, opened: Open, location: str, ledger: list[tuple[str, str]]
) -> None:
    script.answers["/v1/models"] = Answer.redirect(location, 307)
    with pytest.raises(ModelServerError, match=f"it redirects to {location or 'nowhere'}"):
        opened().load()
    assert len(script.requests) == len(ledger) == 1


def test_a_huge_reply_is_not_read(
    script: ScriptedServer, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_connection, "MAX_REPLY_BYTES", 10_000)
    willing(script, Answer.json(completion("yes" * 10_000)))
    with pytest.raises(ModelServerError, match="larger than 9 KiB"):
        opened().choose([PROMPT], OPTIONS)


def test_a_reply_that_drips_ends_with_the_time(script: ScriptedServer, opened: Open) -> None:
    willing(script, Answer(200, b" " * 1000, "application/json", drip=0.05))
    model = opened(seconds=1.0)
    model.load()
    with pytest.raises(ModelServerError, match="did not answer in time") as failed:
        model.choose([PROMPT], OPTIONS)
    assert "model.server_timeout" in failed.value.hint


def test_a_compressed_reply_was_not_asked_for(script: ScriptedServer, opened: Open) -> None:
    willing(script, Answer(200, b"\x1f\x8bjunk", "application/json", (("Content-Encoding", "br"),)))
    with pytest.raises(ModelServerError, match="encoded as br"):
        opened().choose([PROMPT], OPTIONS)


def test_a_busy_server_is_asked_again_and_then_given_up(script: ScriptedServer, opened: Open) -> None:
    pauses: list[float] = []
    chat = willing(script, Answer.json({"error": {"message": "Loading model"}}, 503))
    model = opened(pause=pauses.append)
    with pytest.raises(ModelServerError, match="still loads its model"):
        model.choose([PROMPT], OPTIONS)
    assert pauses == [0.5, 2.0] and len(chat.asked) == 3
    replies = iter([Answer(429, b"{}"), Answer.json(YES)])
    chat.replies = lambda body: next(replies)
    assert not isinstance(model.choose([PROMPT], OPTIONS)[0], Exception)


# --------------------------------------------------------------------------------- who is asked


def test_every_request_is_recorded_without_its_text(
    script: ScriptedServer, opened: Open, ledger: list[tuple[str, str]]
) -> None:
    willing(script)
    opened().choose([PROMPT], OPTIONS)
    assert len(ledger) == len(script.requests)
    assert {kind for kind, _ in ledger} == {"model"}
    assert ledger[0] == ("model", f"GET {script.url}/v1/models")
    assert any(target.startswith(f"POST {script.url}{CHAT} (") for _, target in ledger)
    assert SECRET not in str(ledger)


def test_what_cannot_be_recorded_is_not_sent(script: ScriptedServer) -> None:
    def full(kind: str, target: str) -> None:
        raise LedgerError("the disk is full")

    model = ServedModel(ServerConnection(ModelAddress.parse(script.url), full))
    with pytest.raises(LedgerError):
        model.load()
    assert not script.requests


def test_offline_only_this_machine_is_asked(
    script: ScriptedServer, opened: Open, ledger: list[tuple[str, str]]
) -> None:
    willing(script)
    with offline():
        assert not isinstance(opened().choose([PROMPT], OPTIONS)[0], Exception)
        asked = len(ledger)
        with pytest.raises(OfflineError, match=r"gpu-box\.example was refused"):
            other = ModelAddress.parse("http://gpu-box.example:8080")
            ServedModel(ServerConnection(other, lambda *entry: ledger.append(entry))).load()
    assert len(ledger) == asked


def test_a_public_address_is_refused_unless_it_is_named_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    from localcrag.web.ssrf import literal

    public = literal("8.8.8.8")
    assert public is not None
    connection = ServerConnection(ModelAddress.parse("http://models.example:8080"), lambda kind, target: None)
    with pytest.raises(ModelServerError, match=r"has the public address 8\.8\.8\.8") as failed:
        connection._admit("models.example", 8080, public)
    assert failed.value.hint.endswith("localcrag config set model.servers models.example:8080")
    private = literal("192.168.1.7")
    assert private is not None
    connection._admit("models.example", 8080, private)
    named = ServerConnection(connection.address, connection.record, servers=("models.example:8080",))
    named._admit("models.example", 8080, public)


def test_a_question_may_only_name_a_server_of_the_settings(script: ScriptedServer) -> None:
    settings = ModelSettings(language="http://gpu-box:8080#small", servers=("127.0.0.1:9000",))
    for language in ("http://gpu-box:8080#large", "http://127.0.0.1:9000/v1", "qwen"):
        assert AskOptions(model=language).model_settings(settings).language == language
    with pytest.raises(UsageError, match="the settings name no model server evil:8080") as failed:
        AskOptions(model="http://evil:8080").model_settings(settings)
    assert failed.value.hint == "localcrag config set model.servers evil:8080"
    with pytest.raises(UsageError):
        Settings(home=None, model=settings).with_values("model", language=script.url)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------ addresses


def test_addresses() -> None:
    address = ModelAddress.parse("http://GPU-Box:8080/v1/#Qwen/Qwen3-8B")
    assert address == ModelAddress("http://gpu-box:8080", "gpu-box:8080", "Qwen/Qwen3-8B")
    assert ModelAddress.parse("https://box/llm/v1").base == "https://box/llm"
    assert ModelAddress.parse("https://box").place == "box:443"
    assert ModelAddress.parse("http://[::1]:8080").place == "[::1]:8080"
    assert is_model_address("HTTP://x") and not is_model_address("models/x.gguf")
    require_named(None, "qwen", ())


@pytest.mark.parametrize(
    "address", ["http://", "http://:80", "http://u:secret@box", "http://box:99999", "http://box?x=1"]
)
def test_addresses_that_cannot_be_used(address: str) -> None:
    with pytest.raises(SettingsError) as failed:
        ModelAddress.parse(address)
    assert failed.value.hint and "secret" not in str(failed.value)
    error: LocalCragError = failed.value
    assert "\n" not in str(error)
