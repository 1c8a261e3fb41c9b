"""The first requests to a server: who it is, and whether it does what it is told.

It is asked to say hello under a constraint that only allows two made-up words. A server that keeps to one of
the dialects has to write one of them; one that ignores constraints says hello. The same reply shows whether
it gives log-probabilities, whether these are taken before the constraint or after it, and whether it counts
its tokens.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from localcrag.errors import ConstraintError, ModelServerError
from localcrag.model_server.chat_messages import messages_of
from localcrag.model_server.chat_replies import ServedReply, chat_reply, decoded
from localcrag.model_server.constraint_dialects import (
    Dialect,
    Fields,
    ReplyForm,
    constraint_fields,
    said,
    unwrapped,
    wraps,
)
from localcrag.model_server.pattern_walk import PatternWalk
from localcrag.model_server.server_connection import ServerConnection
from localcrag.printable_text import one_line
from localcrag.types import Prompt

CHAT_PATH = "/v1/chat/completions"
RIVALS = 20
"""The likeliest tokens that are asked for; vLLM gives no more by default."""
PROBE_PROMPT = Prompt("You are friendly.", ("Say hello.",))
PROBE_TOKENS = 48
_CONSONANTS = "bcdfghjklmnpqrstvwxz"
_NAME_CHARACTERS = 80
_MAX_LISTED_MODELS = 8
_MASKED_SHARE = 0.9
"""The probability of the made-up words from which on it is one after the constraint."""
_WHICH_SERVERS = "`localcrag docs models` says which servers can be used"


@dataclass(frozen=True, slots=True)
class ServerProfile:
    """What is known of a server after its probe.

    Attributes:
        model: the name of the model in requests.
        fingerprint: the model's identity as the server tells it, with which results of checks are kept.
        context: the context window in tokens; None if the server does not tell.
        dialect: how its replies are constrained.
        folded: whether its chat template takes no system turn.
        masked: whether its log-probabilities are those after the constraint.
        counter: the path at which it counts tokens; "" if it does not.
        template_tokens: the tokens of the chat template around a prompt.
    """

    model: str
    fingerprint: str
    context: int | None
    dialect: Dialect
    folded: bool
    masked: bool
    counter: str
    template_tokens: int

    @property
    def name(self) -> str:
        """The name of the model that users see: of a path, its last part."""
        return one_line(self.model).rstrip("/").rpartition("/")[2][:_NAME_CHARACTERS] or "a model"


class _Model(msgspec.Struct):
    id: str
    root: str | None = None
    max_model_len: int | None = None
    meta: dict[str, object] | None = None


class _Models(msgspec.Struct):
    data: list[_Model]


class _Defaults(msgspec.Struct):
    n_ctx: int | None = None


class _Properties(msgspec.Struct):
    default_generation_settings: _Defaults | None = None


class _Count(msgspec.Struct):
    count: int | None = None
    tokens: list[object] | None = None


def probe(connection: ServerConnection) -> ServerProfile:
    """Find out how to talk to a server.

    Raises ModelServerError if it cannot be used, OfflineError, LedgerError, SettingsError.
    """
    model = _model(connection)
    dialect, folded, reply, words = _tried(connection, model.id)
    if reply.usage is None:
        raise _unfit(connection, "it does not say how many tokens it read", _WHICH_SERVERS)
    if not reply.scores:
        raise _unfit(
            connection,
            "it gives no log-probabilities, which the confidence of a yes or no comes from",
            f"llama-cpp-python gives them with --logits_all true; {_WHICH_SERVERS}",
        )
    counter, plain = _counter(connection, model.id)
    return ServerProfile(
        model=model.id,
        fingerprint=_fingerprint(model),
        context=model.max_model_len or _stated_context(connection),
        dialect=dialect,
        folded=folded,
        masked=_masked(reply, words, wrapped=dialect is Dialect.RESPONSE_FORMAT),
        counter=counter,
        template_tokens=max(0, reply.usage.prompt - plain),
    )


def chat_fields(model: str, prompt: Prompt, *, folded: bool, tokens: int) -> Fields:
    """The fields of every chat request: deterministic, and at most so many ``tokens``."""
    return {
        "model": model,
        "messages": messages_of(prompt, folded=folded),
        "max_tokens": tokens,
        "temperature": 0,
        "top_p": 1,
        "seed": 0,
    }


def scoring_fields() -> Fields:
    """The fields that ask for log-probabilities."""
    return {"logprobs": True, "top_logprobs": RIVALS}


def checked_text(reply: ServedReply, form: ReplyForm, dialect: Dialect) -> str:
    """The text of a whole reply, which holds its form. Raises ConstraintError."""
    text = unwrapped(reply.text) if wraps(dialect, form) else reply.text
    walk = PatternWalk(form.pattern)
    walk.add(text)
    walk.finish(reply.usage.written if reply.usage else 0, reply.finish)
    return walk.released


def counted_tokens(connection: ServerConnection, path: str, model: str, text: str) -> int | None:
    """The number of tokens of a text, without a chat template; None if the server does not say."""
    body: Fields = {"model": model, "add_special_tokens": False}
    body |= {"input": text} if path.endswith("count") else {"content": text, "prompt": text}
    reply = connection.post(path, body)
    if not reply.fine:
        return None
    found = decoded(reply.body, _Count)
    return found.count if found.count is not None else len(found.tokens) if found.tokens is not None else None


# -------------------------------------------------------------------------------------- identity


def _model(connection: ServerConnection) -> _Model:
    """The model that is meant. Raises ModelServerError if it is not there, or several could be meant."""
    reply = connection.get("/v1/models")
    if not reply.fine:
        raise _unfit(connection, f"it lists no models ({reply.reason})", _WHICH_SERVERS)
    models = decoded(reply.body, _Models).data
    wanted = connection.address.model
    listed = (
        ", ".join(one_line(model.id)[:_NAME_CHARACTERS] for model in models[:_MAX_LISTED_MODELS]) or "none"
    )
    if not wanted and len(models) == 1:
        return models[0]
    found = next((model for model in models if model.id == wanted), None)
    if found is None:
        why = f"it has no model {wanted!r}" if wanted else f"it has {len(models)} models, and none is named"
        raise _unfit(connection, why, f"it has: {listed}; name one as {connection.address.base}#MODEL")
    return found


def _fingerprint(model: _Model) -> str:
    """A digest of what the server tells of its model: name, origin and sizes."""
    told = msgspec.json.encode(
        {"id": model.id, "root": model.root, "meta": model.meta}, order="deterministic"
    )
    return f"served-{hashlib.sha256(told).hexdigest()}"


def _stated_context(connection: ServerConnection) -> int | None:
    """The context window of one of llama.cpp's slots; None if the server is another one."""
    reply = connection.get("/props")
    try:
        found = decoded(reply.body, _Properties) if reply.fine else _Properties()
    except ModelServerError:
        return None
    settings = found.default_generation_settings
    return settings.n_ctx if settings and settings.n_ctx and settings.n_ctx > 0 else None


def _counter(connection: ServerConnection, model: str) -> tuple[str, int]:
    """The path at which the server counts tokens, and the tokens of the probe's texts; "" and 0 if none."""
    text = f"{PROBE_PROMPT.system}\n\n{''.join(map(str, PROBE_PROMPT.user))}"
    for path in ("/tokenize", "/extras/tokenize/count"):
        try:
            count = counted_tokens(connection, path, model, text)
        except ModelServerError:
            continue
        if count is not None and count > 0:
            return path, count
    return "", 0


# ------------------------------------------------------------------------------------- constraints


def _tried(connection: ServerConnection, model: str) -> tuple[Dialect, bool, ServedReply, tuple[str, str]]:
    """The first dialect that the server keeps to, and whether system texts must be folded, with its reply.

    Raises ModelServerError if there is none.
    """
    strayed, refusals = False, []
    for folded in (False, True):
        for dialect in Dialect:
            words = _made_up_word(), _made_up_word()
            form = ReplyForm(f"({'|'.join(words)})[0-9]{{2}}")
            fields = chat_fields(model, PROBE_PROMPT, folded=folded, tokens=PROBE_TOKENS) | scoring_fields()
            reply = connection.post(CHAT_PATH, fields | constraint_fields(dialect, form))
            if not reply.fine:
                refusals.append(reply.reason)
                continue
            answered = chat_reply(reply.body)
            try:
                checked_text(answered, form, dialect)
            except ConstraintError:
                strayed = True
                continue
            return dialect, folded, answered, words
        if strayed:
            break
    if strayed:
        raise _unfit(
            connection,
            "it ignores what a reply must be: it was asked for a made-up word and wrote something else",
            f"it must take {', '.join(Dialect)}; {_WHICH_SERVERS}",
        )
    raise _unfit(connection, f"it refuses chat requests ({refusals[0]})", _refusal_hint(refusals))


def _refusal_hint(refusals: Sequence[str]) -> str:
    """The next step after refusals."""
    if any("logprobs" in refusal for refusal in refusals):
        return f"llama-cpp-python gives log-probabilities with --logits_all true; {_WHICH_SERVERS}"
    return _WHICH_SERVERS


def _made_up_word() -> str:
    return "".join(secrets.choice(_CONSONANTS) for _ in range(5))


def _masked(reply: ServedReply, words: Sequence[str], *, wrapped: bool) -> bool:
    """Whether the probabilities at the place of the made-up word are those after the constraint."""
    before = b""
    for score in reply.scores:
        if said(before + score.piece, wrapped=wrapped):
            likely = _beginnings(score.rivals, before, words, wrapped=wrapped)
            return sum(likely) > _MASKED_SHARE
        before += score.piece
    return False


def _beginnings(
    rivals: Sequence[tuple[bytes, float]], before: bytes, words: Sequence[str], *, wrapped: bool
) -> Iterator[float]:
    """The probabilities of the tokens that begin one of the words."""
    for piece, logprob in rivals:
        beginning = said(before + piece, wrapped=wrapped).decode(errors="replace")
        if beginning and any(word.startswith(beginning) for word in words):
            yield math.exp(logprob)


def _unfit(connection: ServerConnection, why: str, hint: str) -> ModelServerError:
    return ModelServerError(f"the model server at {connection.address.base} cannot be used: {why}", hint=hint)
