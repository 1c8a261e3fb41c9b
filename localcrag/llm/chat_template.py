"""Turns prompts into tokens through the model's own chat template.

The template is rendered once with unguessable placeholders for the system text and the user text, and
the result is split at the placeholders. The template's own pieces are tokenised with control tokens
recognised, the texts as plain text, so that nothing in a document can spell a control token. Three
problems are handled here:

- A vocabulary may list markup (``<think>``, ``<tool_call>``) as "user defined" tokens, which llama.cpp
  recognises in plain text too; and some templates mark turns with plain words (``[INST]``). A text is
  split in the middle of every such marker before it is tokenised, so that it never gives the marker's
  own tokens.
- SentencePiece puts a space before every separately tokenised piece: pieces after the first are
  tokenised as a continuation.
- A reasoning model's template may open a thought: the template is asked not to, and a thought that it
  opens all the same is closed again, empty.
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

    from localcrag.llm.llama_model import Model

FALLBACK_TEMPLATE = "{% for message in messages %}{{ message.content }}\n\n{% endfor %}Answer:"
"""The template of a model without one (a base model): the texts, one below the other."""

_PLAIN_TURN_MARKERS = ("[INST]", "[/INST]", "<<SYS>>", "<</SYS>>")
"""Markers of turns that are plain words in the vocabulary of some models."""
_THOUGHT_TAGS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
)
"""The opening and the closing tag of a thought, in the formats of several model families."""
_CHANNEL_TAG = "<|channel|>"
_CHANNEL_PROMPT_END, _CHANNEL_ANSWER_START = "<|start|>assistant", f"{_CHANNEL_TAG}final<|message|>"
"""The end of a prompt in the channel format of gpt-oss, and the start of an answer without a thought."""

_NO_THOUGHT_SWITCHES = {"enable_thinking": False, "thinking": False}
"""Variables by which templates are asked to open no thought."""
_TAG_PATTERN = re.compile(r"[<\[]\S+[>\]]")


def looks_like_markup(spelling: str) -> bool:
    """Whether a user-defined token is a tag of the chat format rather than text."""
    return _TAG_PATTERN.fullmatch(spelling) is not None


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a rendered template where a prompt's text goes: ``system`` or ``user``."""

    role: str


class ChatFormat:
    """The chat template of a model, ready to turn prompts into tokens.

    Args:
        model: the loaded model, for its vocabulary.
        template: the source of its Jinja chat template; "" for the fallback.

    Raises ModelFileError if the template cannot be compiled; using it raises ModelFileError if it cannot
    be rendered or leaves out the user's text.
    """

    def __init__(self, model: Model, template: str) -> None:
        self._model = model
        self._source = template or FALLBACK_TEMPLATE
        self._template = _compile(self._source)
        self._layouts: dict[bool, tuple[str | Slot, ...]] = {}
        tags = [text for _, text in model.user_defined if looks_like_markup(text)]
        longest_first = sorted({*tags, *_PLAIN_TURN_MARKERS}, key=len, reverse=True)
        self._defused = re.compile("|".join(re.escape(tag) for tag in longest_first))

    def tokens(self, prompt: Prompt) -> list[int]:
        """The token ids of a whole prompt."""
        return list(self.tokenise(prompt).ids)

    def tokenise(self, prompt: Prompt) -> TokenizedPrompt:
        """The tokens of a whole prompt, and the positions of removed passages among them.

        If the model asks for a beginning-of-text token, the prompt begins with exactly one.
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
                    settled = len(ids) + 1  # a sequence is extended at its end: its last token must stay
                    gaps += [(start, len(ids))] if text.removed else []
        shift = self._set_beginning_token(ids)
        moved = tuple((start + shift, end + shift) for start, end in gaps)
        return TokenizedPrompt(tuple(ids), moved, min(settled + shift, len(ids) - 1) if gaps else 0)

    def _set_beginning_token(self, ids: list[int]) -> int:
        """Make the ids begin with exactly one beginning-of-text token, if the model asks for one.

        Returns by how many positions the other tokens have moved.
        """
        bos, length = self._model.bos, len(ids)
        if bos is not None:
            while ids[:1] == [bos]:
                del ids[0]
            ids.insert(0, bos)
        return len(ids) - length

    def _plain(self, text: str, *, first: bool) -> list[int]:
        """The tokens of untrusted text, split in the middle of every marker."""
        ids: list[int] = []
        start = 0
        for match in self._defused.finditer(text):
            middle = (match.start() + match.end()) // 2
            ids += self._piece(text[start:middle], special=False, first=first and not ids)
            start = middle
        return ids + self._piece(text[start:], special=False, first=first and not ids)

    def _piece(self, text: str, *, special: bool, first: bool) -> list[int]:
        """The tokens of one piece; ``first`` if the prompt begins with it."""
        if not text:
            return []
        tokenize = self._model.tokenize if first else self._model.tokenize_continuation
        return tokenize(text, special=special)

    # -------------------------------------------------------------------------------- template

    def _layout(self, system: bool) -> tuple[str | Slot, ...]:
        """The template's pieces and slots, rendered on first use; ``system`` if there is a system text."""
        if system not in self._layouts:
            self._layouts[system] = self._rendered(system)
        return self._layouts[system]

    def _rendered(self, system: bool) -> tuple[str | Slot, ...]:
        marks = {"system": secrets.token_hex(16), "user": secrets.token_hex(16)}
        messages = [{"role": role, "content": mark} for role, mark in marks.items()]
        text = self._render(messages) if system else None
        if text is None or marks["system"] not in text:
            # Without a system text, or if the template refuses or drops it, the user's text carries both.
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
        """The rendered template, or None if it refuses a system message.

        Raises ModelFileError if it refuses the user's message alone.
        """
        from jinja2 import TemplateError

        try:
            return self._template.render(
                messages=messages,
                add_generation_prompt=True,
                bos_token=self._model.spelling(self._model.first),
                eos_token=self._model.spelling(self._model.last),
                strftime_now=lambda layout: datetime.now().strftime(layout),
                raise_exception=_refuse,
                **_NO_THOUGHT_SWITCHES,
            )
        except (TemplateError, TypeError, ValueError, KeyError) as error:
            if len(messages) > 1:
                return None
            raise ModelFileError(
                f"The model's chat template cannot be used: {error}.",
                hint="Choose another model, or a corrected GGUF of this one.",
            ) from error


def _stripped(before: str, parts: Sequence[str | UntrustedText]) -> list[UntrustedText]:
    """``before`` and the parts as few texts, stripped at both ends; a removable text stays by itself."""
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
    """The rendered prompt; a thought that it opens at its end is closed again, empty."""
    for opening, closing in _THOUGHT_TAGS:
        if text.rstrip().endswith(opening):
            return f"{text.rstrip()}\n\n{closing}\n\n"
    channels = text.endswith(_CHANNEL_PROMPT_END) and _CHANNEL_TAG in template
    return text + _CHANNEL_ANSWER_START if channels else text


def _refuse(message: str) -> NoReturn:
    """The ``raise_exception`` that templates call for messages that they do not accept."""
    raise ValueError(message)


def _compile(source: str) -> Template:
    """The compiled template: sandboxed, with the tags and filters of the transformers library.

    Raises ModelFileError.
    """
    import jinja2.ext
    from jinja2 import TemplateError, nodes
    from jinja2.parser import Parser
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class GenerationTag(jinja2.ext.Extension):
        """``{% generation %}`` marks a model's own text for training; here its content passes through."""

        tags = {"generation"}  # noqa: RUF012 (jinja's own interface)

        def parse(self, parser: Parser) -> list[nodes.Node]:
            """The statements inside the tag."""
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
    """The ``tojson`` filter: without HTML escapes, as the transformers library has it."""
    return json.dumps(value, ensure_ascii=False, indent=indent)
