"""vLLM, llama.cpp's own server, and servers that know JSON Schemas only, by exchanges after their APIs."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pytest

from localcrag.errors import ConstraintError, ContextOverflow, ModelServerError
from localcrag.model_server.constraint_dialects import Dialect
from localcrag.types import Choice, FinishReason, Prompt, Tokens, UntrustedText
from tests.model_server.conftest import Open
from tests.model_server.recorded_exchanges import (
    LLAMA_CPP_MODELS,
    LLAMA_CPP_PROPS,
    NOT_FOUND,
    VLLM_MODELS,
    Json,
    ScriptedChat,
    completion,
    events,
    token,
)
from tests.web.scripted import Answer, ScriptedServer

PROMPT = Prompt("You judge.", ("Is it blue?\n", UntrustedText("The sky is blue.")))
YES = completion("yes", [token("yes", math.log(0.6), Yes=math.log(0.1), no=math.log(0.2))])


@dataclass(frozen=True)
class Plan:
    """An object for the model to write."""

    wanted: bool


def vllm(script: ScriptedServer, field: str = "structured_outputs") -> ScriptedChat:
    script.answers["/tokenize"] = Answer.json({"count": 7, "max_model_len": 3000, "tokens": [1] * 7})
    script.answers["/props"] = Answer.json(NOT_FOUND, 404)
    return ScriptedChat(script, field, VLLM_MODELS, lambda body: Answer.json(YES))


@pytest.mark.parametrize("field", ["structured_outputs", "guided_regex"])
def test_a_yes_or_no_of_vllm(script: ScriptedServer, opened: Open, field: str) -> None:
    chat, model = vllm(script, field), opened()
    (choice,) = model.choose([PROMPT], ("yes", "no"))
    assert isinstance(choice, Choice)
    assert choice.text == "yes" and choice.probabilities == pytest.approx((0.75, 0.25))
    [asked] = chat.asked
    pattern = asked[field] if field == "guided_regex" else asked[field]["regex"]
    assert pattern == " ?(?:(yes|no))"
    assert (asked["max_tokens"], asked["temperature"], asked["top_logprobs"]) == (1, 0, 20)
    assert asked["model"] == "Qwen/Qwen3-8B" and asked["chat_template_kwargs"]["enable_thinking"] is False


def test_what_vllm_says_of_itself(script: ScriptedServer, opened: Open) -> None:
    vllm(script)
    model = opened(context=100_000)
    assert (model.name, model.context) == ("Qwen3-8B", 3000)
    assert model.profile.dialect is Dialect.STRUCTURED_OUTPUTS
    assert model.count(PROMPT) == 7 + (30 - 7)


def test_tokens_that_were_read_before_are_not_counted_again(script: ScriptedServer, opened: Open) -> None:
    vllm(script)
    model = opened()
    model.choose([PROMPT, PROMPT], ("yes", "no"))
    assert model.tokens == Tokens(2 * (30 - 16), 0)


def test_a_text_of_vllm_comes_in_pieces(script: ScriptedServer, opened: Open) -> None:
    chat, model = vllm(script), opened()
    chat.replies = lambda body: events(" It", " is", " blue", ".", " [1]")
    pieces = list(model.stream(PROMPT, pattern=r"[A-Za-z ]+\. \[1\]"))
    assert "".join(pieces) == "It is blue. [1]"
    assert (model.last_finish, model.tokens) == (FinishReason.STOP, Tokens(40, 5))
    assert chat.asked[0]["stream_options"] == {"include_usage": True}


def test_llama_cpp_takes_a_grammar(script: ScriptedServer, opened: Open) -> None:
    script.answers |= {
        "/tokenize": Answer.json({"tokens": [1, 2, 3]}),
        "/props": Answer.json(LLAMA_CPP_PROPS),
    }
    chat = ScriptedChat(script, "grammar", LLAMA_CPP_MODELS, lambda body: Answer.json(YES))
    model = opened()
    assert isinstance(model.choose([PROMPT], ("yes", "no"))[0], Choice)
    assert chat.asked[0]["grammar"] == 'root ::= "\\x20"? (("yes" | "no"))\n'
    assert (model.name, model.context, model.profile.dialect) == (
        "qwen3-8b-q4_k_m.gguf",
        2500,
        Dialect.GRAMMAR,
    )


def test_a_server_of_json_schemas_only(script: ScriptedServer, opened: Open) -> None:
    def answer(body: Json) -> Answer:
        schema = body["response_format"]["json_schema"]["schema"]
        if "wanted" in schema["properties"]:
            return Answer.json(completion('{"wanted": true}'))
        if "enum" in schema["properties"]["reply"]:
            frame = [token('{"', -0.1), token("reply", -0.1), token('":', -0.1), token(' "', -0.1)]
            scores = [*frame, token("no", math.log(0.3), yes=math.log(0.1)), token('"}', -0.1)]
            return Answer.json(completion('{"reply": "no"}', scores))
        return Answer.json(completion(json.dumps({"reply": "sky colour"})))

    chat, model = ScriptedChat(script, "response_format", VLLM_MODELS, answer), opened()
    assert model.profile.dialect is Dialect.RESPONSE_FORMAT
    (choice,) = model.choose([PROMPT], ("yes", "no"))
    assert isinstance(choice, Choice)
    assert choice.text == "no" and choice.probabilities == pytest.approx((0.25, 0.75))
    assert model.object(PROMPT, Plan) == Plan(True)
    assert model.line(PROMPT) == "sky colour"
    assert list(model.stream(PROMPT, pattern="[a-z ]+")) == ["sky colour"]
    assert "chat_template_kwargs" not in chat.asked[0]
    assert model.count(PROMPT) > len("Is it blue? The sky is blue.") // 4  # no tokeniser: estimated


def test_a_server_after_whose_constraint_probabilities_are_taken(
    script: ScriptedServer, opened: Open
) -> None:
    def sure(text: str) -> Json:
        return completion(text, [token(text[:1], -0.01), token(text[1:], 0.0)])

    chat, model = vllm(script), opened()
    chat.probe = sure
    assert model.profile.masked
    assert isinstance(model.choose([PROMPT], ("yes", "no"))[0], Choice)
    (failed,) = model.choose([PROMPT], ("1", "10"))
    assert isinstance(failed, ConstraintError) and "begin alike" in str(failed)


def test_a_template_without_a_system_turn(script: ScriptedServer, opened: Open) -> None:
    chat = vllm(script)
    willing = chat._answer

    def gemma(request: object) -> Answer:
        if "system" in request.body.decode():  # type: ignore[attr-defined]
            return Answer.json({"error": {"message": "System role not supported"}}, 400)
        return willing(request)  # type: ignore[arg-type]

    script.answers["/v1/chat/completions"] = gemma
    opened().choose([PROMPT], ("yes", "no"))
    assert chat.asked[0]["messages"] == [
        {"role": "user", "content": "You judge.\n\nIs it blue?\nThe sky is blue."}
    ]


def test_a_prompt_that_the_server_finds_too_long(script: ScriptedServer, opened: Open) -> None:
    chat, model = vllm(script), opened()
    said = "This model's maximum context length is 3000 tokens. However, your request has 4000 input tokens."
    chat.replies = lambda body: Answer.json({"error": {"message": said, "code": 400}}, 400)
    (failed,) = model.choose([PROMPT], ("yes", "no"))
    assert isinstance(failed, ContextOverflow) and "4000 input tokens" in str(failed)
    with pytest.raises(ContextOverflow):
        list(model.stream(PROMPT))


def test_one_of_several_models_must_be_named(script: ScriptedServer, opened: Open) -> None:
    chat = vllm(script)
    chat.models["data"].append({"id": "small"})
    try:
        script.answers["/v1/models"] = Answer.json(chat.models)
        with pytest.raises(ModelServerError, match="has 2 models, and none is named") as failed:
            opened().load()
        assert "Qwen/Qwen3-8B, small" in failed.value.hint
        assert opened("small").name == "small"
        with pytest.raises(ModelServerError, match="has no model 'large'"):
            opened("large").load()
    finally:
        chat.models["data"].pop()
