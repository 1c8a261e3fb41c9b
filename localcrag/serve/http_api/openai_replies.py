"""What clients of the OpenAI API get: completions, their chunks, models and embeddings as JSON objects.

An answer is more than a completion can say. Its text is in ``content``, with a line below it if it is unsure;
its citations are ``annotations``, of the form that a client knows from web searches; and the whole of it, as
``ask --json`` prints it, is in the extra field ``localcrag``.
"""

from __future__ import annotations

import base64
import sys
import time
import uuid
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from localcrag.plain_answer import link, marked_text, note_below, place
from localcrag.serve.http_api.backend import Embeddings
from localcrag.serve.http_api.openai_messages import MODEL
from localcrag.types import Answer, Citation, JsonValue, Origin, Status, StoreInfo

NOTHING_FOUND = "Your documents do not answer this."
"""What is said in place of a value, all of whose fields would be null."""
JsonObject = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ChatReply:
    """The reply to one chat completion: in one object, or in chunks.

    ``model`` is as the client named it, ``kb`` the knowledge base that it is, and ``ignored`` what of the
    request had no effect. With ``counted``, the chunks have a field for the usage.
    """

    model: str
    kb: str
    ignored: tuple[str, ...] = ()
    counted: bool = False
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    created: int = field(default_factory=lambda: int(time.time()))

    def completion(self, answer: Answer) -> JsonObject:
        """The whole reply in one object."""
        message: JsonObject = {
            "role": "assistant",
            "content": content(answer),
            "refusal": refusal(answer),
            "annotations": citation_annotations(answer),
        }
        choice: JsonObject = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": finish_reason(answer),
        }
        return {
            **self._head("chat.completion"),
            "choices": [choice],
            "usage": usage(answer),
            "localcrag": self._extra(answer),
        }

    def opening(self) -> JsonObject:
        """The first chunk, which says whose text follows."""
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str) -> JsonObject:
        """The chunk of a piece of the text."""
        return self._chunk({"content": text})

    def rest(self, answer: Answer) -> JsonObject | None:
        """The chunk of what is known only at the end: a note, a value or a refusal; None without any."""
        if said := refusal(answer):
            return self._chunk({"refusal": said})
        text = content(answer) if answer.structured else note_below(answer)
        return self.piece(text) if text else None

    def closing(self, answer: Answer) -> JsonObject:
        """The last chunk of the text: why it ended, its citations, and the whole answer."""
        chunk = self._chunk({"annotations": citation_annotations(answer)}, finish_reason(answer))
        return {**chunk, "localcrag": self._extra(answer)}

    def cost(self, answer: Answer) -> JsonObject:
        """The chunk behind the last one, with what the answer cost and no text."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": usage(answer)}

    def _chunk(self, delta: JsonObject, finish: str | None = None) -> JsonObject:
        choice: JsonObject = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        no_usage: JsonObject = {"usage": None} if self.counted else {}
        return {**self._head("chat.completion.chunk"), "choices": [choice], **no_usage}

    def _head(self, kind: str) -> JsonObject:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "system_fingerprint": None,
        }

    def _extra(self, answer: Answer) -> JsonObject:
        """The extra field: the knowledge base, what was ignored, and the answer as of ``ask --json``."""
        return {"kb": self.kb, "ignored": list(self.ignored), "answer": answer.to_dict()}


def content(answer: Answer) -> str | None:
    """The text with a line on why it is unsure; JSON alone if a form was asked for; None for a refusal."""
    if answer.structured is None:
        return marked_text(answer) + note_below(answer)
    return answer.structured.json if answer.found else None


def refusal(answer: Answer) -> str | None:
    """Why there is no answer in the form that was asked for; None if there is, or if none was asked for."""
    return NOTHING_FOUND if answer.structured and not answer.found else None


def citation_annotations(answer: Answer) -> list[JsonValue]:
    """The citations, one for each mark in the text: characters ``start_index`` to before ``end_index``."""
    cited = {citation.key: citation for citation in answer.citations}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": mark.start,
                "end_index": mark.end,
                "title": _title(cited[mark.key]),
                "url": link(cited[mark.key]) or cited[mark.key].source,
            },
        }
        for mark in answer.marks
        if mark.key in cited
    ]


def finish_reason(answer: Answer) -> str:
    """Why the text ended: ``length`` if it was cut short, else ``stop``."""
    return "length" if answer.status is Status.TRUNCATED else "stop"


def usage(answer: Answer) -> JsonObject:
    """The tokens that all models read and wrote for an answer, also those that judged the evidence."""
    tokens = answer.usage.tokens
    return {
        "prompt_tokens": tokens.evaluated,
        "completion_tokens": tokens.generated,
        "total_tokens": tokens.evaluated + tokens.generated,
    }


def _title(citation: Citation) -> str:
    """The name of the cited file, with page or rows; a web page is named by its address."""
    web = citation.origin is Origin.WEB
    name = citation.source if web else PurePath(citation.source).name
    return place(name, citation.page, citation.sheet, citation.rows)


def models(bases: Sequence[StoreInfo], default: str, embedding: str) -> list[JsonObject]:
    """The models: the default knowledge base, every one by its name, and the embedding model."""
    named = [(f"{MODEL}/{info.name}", info) for info in bases]
    first = [(MODEL, info) for info in bases if info.name == default]
    return [
        *(_model(name, {"kb": info.name, "documents": info.documents}) for name, info in [*first, *named]),
        _model(embedding, {"embedding": True}),
    ]


def _model(name: str, extra: JsonObject) -> JsonObject:
    return {"id": name, "object": "model", "created": 0, "owned_by": "localcrag", "localcrag": extra}


def embeddings(found: Embeddings, *, packed: bool) -> JsonObject:
    """The vectors as numbers, or ``packed``: as base64 of float32, lowest byte first."""
    data: list[JsonValue] = [
        {"object": "embedding", "index": at, "embedding": _packed(vector) if packed else list(vector)}
        for at, vector in enumerate(found.vectors)
    ]
    cost: JsonObject = {"prompt_tokens": found.tokens, "total_tokens": found.tokens}
    return {"object": "list", "data": data, "model": found.model, "usage": cost}


def _packed(vector: Sequence[float]) -> str:
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return base64.b64encode(numbers.tobytes()).decode("ascii")
