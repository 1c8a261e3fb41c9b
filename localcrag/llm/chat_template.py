"""From a prompt to tokens, through the model's own chat template.

A template is rendered once, with unguessable placeholders where the system and the user text go,
and cut at them. The template's own pieces are tokenised with control tokens recognised, the texts
as plain text: nothing in a document can spell a control token. Three traps are dealt with here:

- A vocabulary may list markup (``<think>``, ``<tool_call>``) as "user defined", which llama.cpp
  recognises in plain text too; and some templates mark turns with plain words (``[INST]``). Both are
  cut in the middle before tokenising, so that a text never gives the marker's own tokens.
- SentencePiece puts a space before every separately tokenised piece: pieces after the first are
  tokenised as a continuation.
- A reasoning model's template may open a thought: it is told not to, and an opened one is closed.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NoReturn

from localcrag.errors import ModelFileError
from localcrag.llm.kv_cache import TokenizedPrompt
from localcrag.types import Prompt, RemovableText, UntrustedText

if TYPE_CHECKING:
    from jinja2 import Template

    from localcrag.llm.llama_backend import Model

FALLBACK = "{% for message in messages %}{{ message.content }}\n\n{% endfor %}Answer:"
"""The template of a model that has none (a base model): the texts one below the other."""

_MARKERS = ("[INST]", "[/INST]", "<<SYS>>", "<</SYS>>")
_THOUGHTS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
)
_CHANNELS = ("<|start|>assistant", "<|channel|>final<|message|>")
"""A format of channels (gpt-oss): where its prompt ends, and what begins an answer without a thought."""

_SWITCHES = {"enable_thinking": False, "thinking": False}
_TAG = re.compile(r"[<\[]\S+[>\]]")


def looks_like_markup(spelling: str) -> bool:
    """Is a user-defined token a tag of the chat format rather than text?"""
    return _TAG.fullmatch(spelling) is not None


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a rendered template where a prompt's text goes: ``system`` or ``user``."""

    role: str


class ChatFormat:
    """The chat template of a model, ready to turn prompts into tokens."""

    def __init__(self, model: Model, template: str) -> None:
        self._model = model
        self._source = template or FALLBACK
        self._template = _compile(self._source)
        self._layouts: dict[bool, tuple[str | Slot, ...]] = {}
        tags = [text for _, text in model.user_defined if looks_like_markup(text)]
        longest_first = sorted({*tags, *_MARKERS}, key=len, reverse=True)
        self._defused = re.compile("|".join(re.escape(tag) for tag in longest_first))

    def tokens(self, prompt: Prompt) -> list[int]:
        """The token ids of a whole prompt."""
        return list(self.tokenise(prompt).ids)

    def tokenise(self, prompt: Prompt) -> TokenizedPrompt:
        """The tokens of a whole prompt, the beginning-of-text token exactly once where one belongs, and
        which of them are taken back.
        """
        system = prompt.system.strip()
        layout = self._layout(bool(system))
        before = f"{system}\n\n" if system and Slot("system") not in layout else ""
        texts = {"system": [UntrustedText(system)], "user": _stripped(before, prompt.user)}
        ids: list[int] = []
        gaps: list[tuple[int, int]] = []
        settled = 0
        for piece in layout:
            if not isinstance(piece, Slot):
                ids += self._piece(piece, special=True, first=not ids)
                continue
            for text in texts[piece.role]:
                start = len(ids)
                ids += self._plain(text.text, first=not ids)
                if isinstance(text, RemovableText):
                    settled = len(ids) + 1  # a sequence goes on where it ends: its last token must stay
                    gaps += [(start, len(ids))] if text.removed else []
        shift = self._begin(ids)
        moved = tuple((start + shift, end + shift) for start, end in gaps)
        return TokenizedPrompt(tuple(ids), moved, min(settled + shift, len(ids) - 1) if gaps else 0)

    def _begin(self, ids: list[int]) -> int:
        """See to the beginning-of-text token; returns by how many places the rest has moved."""
        bos, length = self._model.bos, len(ids)
        if bos is not None:
            while ids[:1] == [bos]:
                del ids[0]
            ids.insert(0, bos)
        return len(ids) - length

    def _plain(self, text: str, *, first: bool) -> list[int]:
        ids: list[int] = []
        start = 0
        for match in self._defused.finditer(text):
            middle = (match.start() + match.end()) // 2
            ids += self._piece(text[start:middle], special=False, first=first and not ids)
            start = middle
        return ids + self._piece(text[start:], special=False, first=first and not ids)

    def _piece(self, text: str, *, special: bool, first: bool) -> list[int]:
        if not text:
            return []
        tokenize = self._model.tokenize if first else self._model.tokenize_on
        return tokenize(text, special=special)

    # -------------------------------------------------------------------------------- template

    def _layout(self, system: bool) -> tuple[str | Slot, ...]:
        if system not in self._layouts:
            self._layouts[system] = self._rendered(system)
        return self._layouts[system]

    def _rendered(self, system: bool) -> tuple[str | Slot, ...]:
        marks = {"system": secrets.token_hex(16), "user": secrets.token_hex(16)}
        messages = [{"role": role, "content": mark} for role, mark in marks.items()]
        text = self._render(messages) if system else None
        if text is None or marks["system"] not in text:
            # No system text, or a template that refuses or drops it: the user's text carries both.
            text = self._render(messages[1:])
        if text is None or marks["user"] not in text:
            raise ModelFileError(
                "The model's chat template leaves out the user's text.",
                hint="Choose another model, or a corrected GGUF of this one.",
            )
        roles = {mark: role for role, mark in marks.items()}
        pieces = re.split(f"({'|'.join(marks.values())})", _without_thought(text, self._source))
        return tuple(Slot(roles[piece]) if piece in roles else piece for piece in pieces if piece)

    def _render(self, messages: list[dict[str, str]]) -> str | None:
        """The rendered template, or None where it refuses these messages."""
        from jinja2 import TemplateError

        try:
            return self._template.render(
                messages=messages,
                add_generation_prompt=True,
                bos_token=self._model.spelling(self._model.first),
                eos_token=self._model.spelling(self._model.last),
                strftime_now=lambda layout: datetime.now().strftime(layout),
                raise_exception=_refuse,
                **_SWITCHES,
            )
        except (TemplateError, TypeError, ValueError, KeyError) as error:
            if len(messages) > 1:
                return None
            raise ModelFileError(
                f"The model's chat template cannot be used: {error}.",
                hint="Choose another model, or a corrected GGUF of this one.",
            ) from error


def _stripped(before: str, parts: Sequence[str | UntrustedText]) -> list[UntrustedText]:
    """The parts joined to as few texts as can be, stripped at both ends: what is removable stands alone."""
    texts: list[UntrustedText] = [UntrustedText(before)]
    for part in parts:
        if isinstance(part, RemovableText):
            texts += [part, UntrustedText("")]
        else:
            texts[-1] = UntrustedText(
                texts[-1].text + (part.text if isinstance(part, UntrustedText) else part)
            )
    texts[0] = UntrustedText(before + texts[0].text[len(before) :].lstrip())
    texts[-1] = UntrustedText(texts[-1].text.rstrip())
    return texts


def _without_thought(text: str, template: str) -> str:
    """The rendered prompt with a thought that its end leaves open closed again, empty."""
    for opening, closing in _THOUGHTS:
        if text.rstrip().endswith(opening):
            return f"{text.rstrip()}\n\n{closing}\n\n"
    end, answer = _CHANNELS
    return text + answer if text.endswith(end) and answer[:11] in template else text


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)


def _compile(source: str) -> Template:
    """A chat template as the transformers library compiles one: sandboxed, with its tags and filters."""
    import jinja2.ext
    from jinja2 import TemplateError, nodes
    from jinja2.parser import Parser
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class GenerationTag(jinja2.ext.Extension):
        """``{% generation %}`` marks what a model wrote, for training; here it only passes through."""

        tags = {"generation"}  # noqa: RUF012 (jinja's own interface)

        def parse(self, parser: Parser) -> list[nodes.Node]:
            parser.stream.skip(1)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    try:
        return environment.from_string(source)
    except TemplateError as error:
        raise ModelFileError(
            f"The model's chat template cannot be read: {error}.",
            hint="Choose another model, or a corrected GGUF of this one.",
        ) from error


def _to_json(value: Mapping[str, object], indent: int | None = None, **_: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)
