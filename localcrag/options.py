"""How one question is to be answered, as the caller says it: one set of options for ask, stream and chat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any, TypedDict, TypeVar, Unpack

from localcrag.errors import UsageError
from localcrag.model_address import require_named
from localcrag.output_schema.python_types import OutputType, checked_schema
from localcrag.protocols import Consent
from localcrag.settings import ModelSettings
from localcrag.types import (
    CorrectionKind,
    GivenText,
    GraderKind,
    Grounding,
    Layout,
    Mode,
    Policy,
    StripKind,
    Turn,
    WebPolicy,
)

E = TypeVar("E", bound=StrEnum)
MAX_CONTEXT_CHARACTERS = 400_000
"""The most characters of a text that is given with a question; all of it is embedded each time."""
MAX_PASSAGES = 200
"""The most passages of a search that a question may have graded."""


class AskKeywords(TypedDict, total=False):
    """The fields of :class:`AskOptions` as keywords; a word of an enumeration may be a plain string."""

    filter: str | None
    policy: Policy | str | None
    mode: Mode | str | None
    web: WebPolicy | str | None
    grader: GraderKind | str | None
    strips: StripKind | str | None
    corrections: Sequence[CorrectionKind | str] | None
    layout: Layout | str | None
    grounding: Grounding | str | None
    agent: bool
    model: str | None
    adapter: str | None
    evaluator: str | None
    consent: Consent | None
    history: Sequence[Turn]
    output: OutputType
    context: GivenText | str | None
    k: int | None


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How one question is to be answered; None leaves a choice to the settings.

    Words of an enumeration may be given as plain strings. Raises UsageError for a value that is
    none of the allowed ones, and names those.

    Parameters:
        filter: only documents like this, for example ``team = "x" and page > 3``.
        policy: the rule that turns grades into an action: crag, any-irrelevant, none-relevant, score.
        mode: write an answer, or quote the evidence verbatim: write, quote.
        web: may a query leave for your SearXNG: never, ask (``consent`` decides), auto.
        grader: who judges the passages: yesno, rubric, evaluator, cascade, fused.
        strips: what relevant passages are cut into: sentence, window, none.
        corrections: local corrections in the order they are tried: rewrite, phrasings, hyde,
            neighbours; an empty sequence for none.
        layout: how passages lie before a chat model: independent (a prompt each), joint (one prompt).
        grounding: what becomes of a written sentence that its evidence does not bear out: off, mark,
            remove.
        agent: let a chat model plan the searches, one bounded step at a time.
        model: the language model, by a name of ``localcrag models list`` or as a GGUF file.
        adapter: the LoRA adapter of the language model, by name or as a GGUF file; ``"auto"`` for the one
            that came for it, ``"none"`` for none.
        evaluator: the reranker that judges, by name or as a GGUF file; ``"none"`` for none.
        consent: shown the exact line before it is sent to the web; returns the line to send, edited
            or not, or None to refuse. Asked only under ``web="ask"``.
        history: the turns before this question, oldest first; a follow-up is understood with them.
        output: the form of the answer: a pydantic model, a dataclass, a JSON Schema, ``Literal``, an
            enumeration, or an Outlines term such as ``regex``. It is kept as the text of its JSON Schema;
            the value is in ``Answer.value``.
        context: a text that is evidence for this question only, at most 400,000 characters. It is graded and
            cited like the documents; a string is cited as ``context``.
        k: how many passages of a search are graded, from 1 to 200; by default ``loop.passages``.
    """

    filter: str | None = None
    policy: Policy | None = None
    mode: Mode | None = None
    web: WebPolicy | None = None
    grader: GraderKind | None = None
    strips: StripKind | None = None
    corrections: Sequence[CorrectionKind] | None = None
    layout: Layout | None = None
    grounding: Grounding | None = None
    agent: bool = False
    model: str | None = None
    adapter: str | None = None
    evaluator: str | None = None
    consent: Consent | None = None
    history: Sequence[Turn] = ()
    output: OutputType = None
    context: GivenText | None = None
    k: int | None = None

    def __post_init__(self) -> None:
        for name, kind in _ENUMERATIONS.items():
            object.__setattr__(self, name, _word(kind, name, getattr(self, name)))
        for name in ("filter", "model", "adapter", "evaluator"):
            _require(getattr(self, name), str, name, "a string")
        _require(self.agent, bool, "agent", "True or False")
        if self.output is not None:
            object.__setattr__(self, "output", checked_schema(self.output))
        if self.consent is not None and not callable(self.consent):
            raise UsageError("consent cannot be called", hint="give a function of the line to be sent")
        object.__setattr__(self, "corrections", _words(CorrectionKind, "corrections", self.corrections))
        if not all(isinstance(turn, Turn) for turn in _listed(self.history)):
            raise UsageError("history holds something else than turns", hint='give Turn("user", "…") objects')
        object.__setattr__(self, "context", _given_text(self.context))
        _require_count(self.k)

    @classmethod
    def of(cls, options: AskOptions | None = None, **keywords: Unpack[AskKeywords]) -> AskOptions:
        """The options with keywords in their place. Raises UsageError for an unknown or a wrong one."""
        if options is not None and not isinstance(options, AskOptions):
            raise UsageError(
                f"options is a {type(options).__name__}, and must be AskOptions",
                hint='name what you want: kb.ask("…", policy="crag")',
            )
        known = [field.name for field in fields(cls)]
        if unknown := sorted(set(keywords) - set(known)):
            raise UsageError(f"there is no option {unknown[0]!r}", hint=f"one of: {', '.join(known)}")
        given: dict[str, Any] = {**keywords}
        return replace(options or cls(), **given)

    def model_settings(self, settings: ModelSettings) -> ModelSettings:
        """The settings of the models, with those that these options name in their place.

        Raises UsageError for a model server that the settings do not name.
        """
        require_named(self.model, settings.language, settings.servers)
        return replace(
            settings,
            language=settings.language if self.model is None else self.model,
            adapter=settings.adapter if self.adapter is None else self.adapter,
            evaluator=settings.evaluator if self.evaluator is None else self.evaluator,
        )


_ENUMERATIONS: dict[str, type[StrEnum]] = {
    "policy": Policy,
    "mode": Mode,
    "web": WebPolicy,
    "grader": GraderKind,
    "strips": StripKind,
    "layout": Layout,
    "grounding": Grounding,
}


def _given_text(value: object) -> GivenText | None:
    """A text that was given with a question. Raises UsageError if it is no text, empty, or too long."""
    given = GivenText(value) if isinstance(value, str) else value
    if given is None:
        return None
    if not isinstance(given, GivenText):
        raise UsageError(
            f"context is a {type(given).__name__}, and must be a string or a GivenText", hint="give the text"
        )
    if not given.text.strip():
        raise UsageError("the context is empty", hint="leave it out, or give some text")
    if len(given.text) > MAX_CONTEXT_CHARACTERS:
        raise UsageError(
            f"the context has {len(given.text):,} characters, the limit is {MAX_CONTEXT_CHARACTERS:,}",
            hint="ingest it as a document, and ask about it",
        )
    return given


def _word(kind: type[E], name: str, value: object) -> E | None:
    """A word of an enumeration, or None. Raises UsageError, and lists the words there are."""
    if value is None or isinstance(value, kind):
        return value
    try:
        return kind(str(value))
    except ValueError:
        raise UsageError(f"{name} is {value!r}", hint=f"one of: {', '.join(kind)}") from None


def _words(kind: type[E], name: str, values: object) -> tuple[E, ...] | None:
    if values is None:
        return None
    if isinstance(values, str):
        raise UsageError(f"{name} is the string {values!r}", hint=f"give a list of: {', '.join(kind)}")
    return tuple(word for value in _listed(values) if (word := _word(kind, name, value)) is not None)


def _listed(values: object) -> list[object]:
    return list(values) if isinstance(values, Iterable) else [values]


def _require(value: object, kind: type, name: str, what: str) -> None:
    if value is not None and not isinstance(value, kind):
        raise UsageError(f"{name} is {value!r}, and must be {what}")


def _require_count(k: object) -> None:
    """Raise UsageError unless a number of passages is None or within its bounds."""
    if k is not None and (not isinstance(k, int) or isinstance(k, bool) or not 1 <= k <= MAX_PASSAGES):
        raise UsageError(f"k is {k!r}", hint=f"give a number from 1 to {MAX_PASSAGES}")
