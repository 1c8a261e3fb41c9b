"""The bodies of the own API, checked field by field by msgspec, and the options of a question in them."""

from __future__ import annotations

import re
from typing import Annotated, Any

import msgspec

from localcrag.errors import UsageError
from localcrag.model_address import is_model_address
from localcrag.options import MAX_PASSAGES, AskOptions
from localcrag.types import Turn, WebPolicy

MODEL_NAME = re.compile(r"(?!.*\.gguf$)[A-Za-z0-9][A-Za-z0-9._+-]{0,99}", re.IGNORECASE)
"""A name of ``localcrag models list``; a file may be named at the terminal only."""
MAX_HITS = 200
"""Hits of one search."""
PassageCount = Annotated[int, msgspec.Meta(ge=1, le=MAX_PASSAGES, description="Passages graded per search.")]
HitCount = Annotated[int, msgspec.Meta(ge=1, le=MAX_HITS, description="The most hits.")]


class TurnBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An earlier turn of a conversation; ``role`` is user or assistant."""

    role: str
    content: str

    def turn(self) -> Turn:
        """The turn. Raises UsageError for another role."""
        if self.role not in ("user", "assistant"):
            raise UsageError(f"there is no role {self.role[:40]!r}", hint="one of: user, assistant")
        return Turn(self.role, self.content)


class OptionsBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a question is to be answered: the fields of :class:`~localcrag.options.AskOptions` by their names.

    ``web`` is never or ask: a query that nobody is asked about needs the setting, as at the terminal.
    ``output`` is a JSON Schema; the answer is then a value of that form, with the citation of each part.
    """

    policy: str | None = None
    filter: str | None = None
    mode: str | None = None
    web: str | None = None
    grader: str | None = None
    strips: str | None = None
    corrections: list[str] | None = None
    layout: str | None = None
    grounding: str | None = None
    agent: bool = False
    model: str | None = None
    adapter: str | None = None
    evaluator: str | None = None
    output: dict[str, Any] | None = None
    k: PassageCount | None = None

    def options(self, history: tuple[Turn, ...] = ()) -> AskOptions:
        """The options. Raises UsageError, for a schema too that no answer can be given in."""
        is_server = self.model is not None and is_model_address(self.model)
        model = None if is_server else self.model  # which server may be asked, the backend knows
        for name in (model, self.adapter, self.evaluator):
            if name is not None and not MODEL_NAME.fullmatch(name):
                raise UsageError(
                    f"{name[:80]!r} is not the name of a model",
                    hint="localcrag models list shows the names; files are taken at the terminal only",
                )
        if self.web == WebPolicy.AUTO:
            raise UsageError("web cannot be auto here", hint="one of: never, ask")
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        return AskOptions.of(None, **given, history=history)


class AskBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of ``POST /api/ask``; with ``thread`` the turns are kept in the conversation of that name."""

    question: str
    kb: str = ""
    options: OptionsBody = OptionsBody()
    history: tuple[TurnBody, ...] = ()
    thread: str = ""

    def turns(self) -> tuple[Turn, ...]:
        """The earlier turns. Raises UsageError."""
        return tuple(turn.turn() for turn in self.history)


class SearchBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of ``POST /api/search``."""

    query: str
    kb: str = ""
    k: HitCount = 8
    filter: str | None = None


class ConsentBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of ``POST /api/consents/{id}``."""

    allow: bool


class PlaceQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The query of ``GET /api/citations/…``: a citation's fields, and the knowledge base."""

    source: str
    start: int
    end: int
    kb: str = ""
    page: int | None = None
