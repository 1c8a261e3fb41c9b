"""The language model on a server: the same decisions under the same constraints, over HTTP.

The server is probed before its first use, and nothing is asked of one that fails. Every reply is checked
again, whatever the server promised.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillRunning
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from localcrag.background import check_interruption, in_background
from localcrag.errors import ConstraintError, ContextOverflow, ModelError, ModelServerError
from localcrag.llm.constraints import LINE_PATTERN, one_of, pattern_of_schema
from localcrag.llm.structured_output import read_record, schema_of
from localcrag.model_server.chat_messages import text_of
from localcrag.model_server.chat_replies import ServedReply, TokenUsage, chat_reply
from localcrag.model_server.choice_scores import scored_choice
from localcrag.model_server.constraint_dialects import (
    Dialect,
    Fields,
    ReplyForm,
    constraint_fields,
    said,
    wraps,
)
from localcrag.model_server.pattern_walk import PatternWalk
from localcrag.model_server.server_connection import ServerConnection, ServerReply
from localcrag.model_server.server_probe import (
    CHAT_PATH,
    ServerProfile,
    chat_fields,
    checked_text,
    counted_tokens,
    probe,
    scoring_fields,
)
from localcrag.model_server.streamed_text import StreamedText
from localcrag.types import Choice, FinishReason, Prompt, Tokens

T = TypeVar("T")

MAX_REQUESTS = 4
"""The most requests of one call that are sent side by side; a server shares what their prompts begin with."""
BYTES_PER_TOKEN = 3
"""The bytes that are taken for one token if the server does not count; English has four."""
_TEMPLATE_ROOM = 64
"""The tokens that a chat template may have; a prompt that is sure to fit with them is not counted."""
_MIN_ANSWER_TOKENS = 16
_WRAPPING_TOKENS = 24
"""The tokens of the JSON object around a text, and of the blanks that a server may put into it."""
_MAX_COUNTS = 512
"""The prompts whose numbers of tokens are remembered."""
_POLL_SECONDS = 0.2


class ServedModel:
    """A :class:`~localcrag.protocols.LanguageModel` on a server.

    Calls may come from several threads. Every method that needs the server raises ModelServerError if it
    cannot be reached or used, OfflineError if localcrag is offline and it is another machine, LedgerError
    if a request cannot be recorded, and SettingsError for an address or a key that cannot be used.

    Args:
        connection: the connection to the server.
        context: the context window in tokens, at most that which the server states.

    Attributes:
        last_finish: how the last text ended.
    """

    def __init__(self, connection: ServerConnection, *, context: int = 4096) -> None:
        self._connection, self._requested_context = connection, context
        self._lock = threading.RLock()
        self._profile: ServerProfile | None = None
        self._counts: dict[str, int] = {}
        self._tokens = Tokens()
        self.last_finish = FinishReason.STOP

    # ------------------------------------------------------------------------------- lifecycle

    def load(self) -> None:
        """Probe the server now."""
        _ = self.profile

    def check(self) -> None:
        """Probe the server."""
        self.load()

    @property
    def profile(self) -> ServerProfile:
        """What is known of the server, which is probed on first use."""
        with self._lock:
            if self._profile is None:
                self._profile = self._awaited([partial(probe, self._connection)])[0]
            return self._profile

    @property
    def place(self) -> str:
        """The address of the server."""
        return self._connection.address.base

    @property
    def name(self) -> str:
        """The name of the model as the server tells it."""
        return self.profile.name

    @property
    def context(self) -> int:
        """The window in tokens: as requested, and at most that of the server."""
        return min(self._requested_context, self.profile.context or self._requested_context)

    @property
    def trained(self) -> bool:
        """No: what a server's model was trained on is not known."""
        return False

    @property
    def tokens(self) -> Tokens:
        """The tokens of prompts that the server read anew, and those of texts that it wrote."""
        return self._tokens

    def close(self) -> None:
        """Forget what is known of the server; the next use probes it again."""
        with self._lock:
            self._profile = None
            self._counts.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    # --------------------------------------------------------------------------- the protocol

    def count(self, prompt: Prompt) -> int:
        """The number of tokens of the prompt with the chat template: counted by the server, or estimated."""
        text, profile = text_of(prompt), self.profile
        with self._lock:
            if (known := self._counts.get(text)) is not None:
                return known
        counted = None
        if profile.counter:
            asked = partial(counted_tokens, self._connection, profile.counter, profile.model, text)
            (counted,) = self._awaited([asked])
        if counted is None:
            counted = -(-len(text.encode()) // BYTES_PER_TOKEN)
        with self._lock:
            self._counts[text] = counted + profile.template_tokens
            while len(self._counts) > _MAX_COUNTS:
                del self._counts[next(iter(self._counts))]
        return counted + profile.template_tokens

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        """Choose one of the options for each prompt; see :mod:`.choice_scores`.

        A ConstraintError or a ContextOverflow stands in place of a choice that failed. Raises ContextOverflow
        if a prompt is known not to fit the context, ConstraintError for options that cannot be told apart.
        """
        if not prompts:
            return []
        if not options or "" in options or len(set(options)) != len(options):
            raise ConstraintError(f"Options must be distinct and not empty, not {list(options)}.")
        for prompt in prompts:
            self._room(prompt, 1, 1)
        return self._awaited([partial(self._choice, prompt, tuple(options)) for prompt in prompts])

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        """Write one non-empty line, stripped. Raises ConstraintError, ContextOverflow."""
        wrapped = self.profile.dialect is Dialect.RESPONSE_FORMAT
        form = ReplyForm(LINE_PATTERN if wrapped else rf"{LINE_PATTERN}\n?")
        stop: Fields = {} if wrapped else {"stop": ["\n"]}
        reply = self._awaited_reply(prompt, form, self._room(prompt, max_tokens, max_tokens), stop)
        text = checked_text(reply, form, self.profile.dialect).strip()
        if not text or len(text.splitlines()) != 1:
            raise ConstraintError("The model wrote no line.", hint="Use another model.")
        return text

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        """Write an instance of the dataclass ``schema``.

        Raises ConstraintError (also if ``max_tokens`` ends it early), ContextOverflow.
        """
        text = schema_of(schema)
        form = ReplyForm(pattern_of_schema(text), schema=text)
        reply = self._awaited_reply(prompt, form, self._room(prompt, max_tokens, max_tokens))
        if self.profile.dialect is Dialect.RESPONSE_FORMAT:
            return read_record(reply.text, schema)
        return read_record(checked_text(reply, form, self.profile.dialect), schema)

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        """Write a text, and yield it in pieces.

        Under a ``pattern``, a regular expression, the text given so far always matches; from a server that
        takes JSON Schemas only, it comes in one piece. Raises ConstraintError, ContextOverflow.
        """
        form = None if pattern is None else ReplyForm(pattern)
        room = self._room(prompt, max_tokens, min(max_tokens, _MIN_ANSWER_TOKENS))
        if form and wraps(self.profile.dialect, form):
            reply = self._awaited_reply(prompt, form, room)
            self.last_finish = reply.finish
            yield checked_text(reply, form, self.profile.dialect)
            return
        yield from self._streamed(prompt, form, room, max_tokens)

    # -------------------------------------------------------------------------------- requests

    def _choice(self, prompt: Prompt, options: tuple[str, ...]) -> Choice | Exception:
        """The choice for one prompt, or the error that ended it."""
        profile = self.profile
        wrapped = profile.dialect is Dialect.RESPONSE_FORMAT

        def ask(allowed: Sequence[str], most: int) -> ServedReply:
            longest = max(len(option.encode()) for option in allowed) + 2
            tokens = longest + _WRAPPING_TOKENS if wrapped else most or longest
            form = ReplyForm(one_of(allowed), options=tuple(allowed))
            reply = self._reply(prompt, form, tokens, scoring_fields(), writes=False)
            _require_option(reply, allowed, wrapped=wrapped)
            return reply

        try:
            return scored_choice(options, ask, partial(said, wrapped=wrapped), masked=profile.masked)
        except (ConstraintError, ContextOverflow) as error:
            return error

    def _awaited_reply(
        self, prompt: Prompt, form: ReplyForm, tokens: int, further: Fields | None = None
    ) -> ServedReply:
        """One whole reply, for which an interruption need not wait."""
        return self._awaited([partial(self._reply, prompt, form, tokens, further or {})])[0]

    def _reply(
        self, prompt: Prompt, form: ReplyForm, tokens: int, further: Fields, *, writes: bool = True
    ) -> ServedReply:
        """One whole reply, its tokens counted; those written only if it ``writes`` a text."""
        fields = self._fields(prompt, form, tokens) | further
        reply = self._connection.post(CHAT_PATH, fields)
        if not reply.fine:
            raise self._refusal(reply)
        found = chat_reply(reply.body)
        if found.usage is None:
            raise ModelServerError(
                f"the model server at {self.place} stopped counting its tokens", hint="restart it"
            )
        self._add(found.usage, written=found.usage.written if writes else 0)
        return found

    def _streamed(self, prompt: Prompt, form: ReplyForm | None, room: int, max_tokens: int) -> Iterator[str]:
        """The pieces of a streamed reply, checked as they come, and their tokens counted at the end."""
        fields = self._fields(prompt, form, room)
        fields |= {"stream": True, "stream_options": {"include_usage": True}}
        text = StreamedText(PatternWalk(form.pattern if form else None), room)
        events = self._connection.stream(CHAT_PATH, fields)
        try:
            for event in events:
                check_interruption()
                if isinstance(event, ServerReply):
                    raise self._refusal(event)
                if ready := text.add(event):
                    yield ready
                if text.cut_off:
                    break
        finally:
            events.close()
            usage = text.usage or TokenUsage(self.count(prompt), 0, text.tokens)
            self._add(usage, written=usage.written)
        if text.finish is None:
            raise ModelServerError(
                f"the model server at {self.place} broke a text off in its middle",
                hint="ask again; llama-cpp-python lets others interrupt it unless --interrupt_requests false",
            )
        full = text.finish is FinishReason.LENGTH and room < max_tokens
        self.last_finish = FinishReason.CONTEXT if full else text.finish
        text.walk.finish(text.tokens, text.finish)

    def _fields(self, prompt: Prompt, form: ReplyForm | None, tokens: int) -> Fields:
        profile = self.profile
        fields = chat_fields(profile.model, prompt, folded=profile.folded, tokens=tokens)
        return fields | constraint_fields(profile.dialect, form)

    def _refusal(self, reply: ServerReply) -> ModelError:
        """The error for a request that the server refuses."""
        if reply.overflows:
            return ContextOverflow(
                f"A prompt does not fit the context of the model server ({reply.reason}).",
                hint="Set model.context to the window that the server was started with.",
            )
        return ModelServerError(
            f"the model server at {self.place} refused a request: {reply.reason}",
            hint="look at its log; restart it if it changed since localcrag was started",
        )

    def _room(self, prompt: Prompt, wanted: int, least: int) -> int:
        """The tokens that a reply to a prompt may have, at most ``wanted``.

        Raises ContextOverflow if it may have fewer than ``least``.
        """
        if len(text_of(prompt).encode()) + _TEMPLATE_ROOM + wanted <= self.context:
            return wanted
        counted = self.count(prompt)
        if counted + least > self.context:
            raise ContextOverflow(
                f"A prompt of {counted} tokens and {least} for the reply do not fit the context of "
                f"{self.context} tokens.",
                hint="Raise model.context if the server has a larger window, or give fewer passages.",
            )
        return min(wanted, self.context - counted)

    def _add(self, usage: TokenUsage, *, written: int) -> None:
        """Count the tokens of an exchange."""
        with self._lock:
            self._tokens += Tokens(usage.prompt - usage.cached, written)

    def _awaited(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """The results of requests in threads, a few at a time; an interruption ends the wait for them.

        The first error is raised, and what was not begun is left.
        """
        places, stopped = threading.BoundedSemaphore(MAX_REQUESTS), threading.Event()

        def one(work: Callable[[], T]) -> T | None:
            with places:
                return None if stopped.is_set() else work()

        futures: list[Future[T | None]] = [in_background(partial(one, work)) for work in works]
        try:
            return [_result(future) for future in futures]
        finally:
            stopped.set()


def _result(future: Future[T | None]) -> T:
    """The result of a request, once it is there; an interruption is looked for meanwhile."""
    while True:
        check_interruption()
        try:
            found = future.result(timeout=_POLL_SECONDS)
        except StillRunning:
            if not future.done():
                continue
            raise
        assert found is not None
        return found


def _require_option(reply: ServedReply, options: Sequence[str], *, wrapped: bool) -> None:
    """Raise ConstraintError unless a reply says an option, or the beginning of one if it was cut off."""
    text = said(reply.text.encode(), wrapped=wrapped).decode(errors="replace")
    if wrapped:
        text = text.partition('"')[0]
    whole = reply.finish is FinishReason.STOP
    if not (text in options if whole else any(option.startswith(text) for option in options)):
        raise ConstraintError(
            "the model server wrote what its constraint does not allow",
            hint="restart the server; if it comes back, use another server or another model",
        )
