"""The messages between a command and the warm process: frozen values, one per line.

They are structs of msgspec, because these are defined in a tenth of the time of a dataclass, and every
command pays that time. The question to the loop is in :mod:`localcrag.serve.ask_request`.

A line is a JSON array ``[NAME, {fields}]``. It is decoded by name to an equal value, and msgspec checks
every field against its type; a line that does not fit is an error. Events are sent unchanged, so code that
shows them does not depend on where they come from. A line holds only data and decoding it runs no code,
unlike a pickle.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

import msgspec

from localcrag import errors
from localcrag.errors import LocalCragError
from localcrag.settings import ModelSettings
from localcrag.types import Hit, StoreInfo


class BadMessage(Exception):
    """A line that is not a valid message, or a value that cannot become one."""


class Message(msgspec.Struct, frozen=True):
    """Base of all messages that are not events."""


class StartConditions(Message, frozen=True):
    """The conditions under which a process was started; a server answers only commands with equal ones.

    ``home`` is the folder named by ``--home`` or the environment, else "". ``settings`` are all settings as
    text and ``environment`` the LOCALCRAG_* variables. Neither says whether the process is offline;
    ``offline`` does, whether an option, the environment or the configuration file asked for it.
    """

    version: str
    interpreter: str
    home: str
    offline: bool
    settings: str
    environment: Mapping[str, str]

    def difference(self, other: StartConditions) -> str:
        """The difference to ``other`` in words; "" if there is none."""
        if (self.version, self.interpreter) != (other.version, other.interpreter):
            return "another localcrag is installed"
        if self.offline != other.offline:
            return f"it is {'offline' if self.offline else 'online'}, and this command is not"
        return "" if self == other else "the configuration or the environment differs"


# ---------------------------------------------------------------------------------- requests


class Request(Message, frozen=True):
    """Base of the requests of a command.

    ``max_queue_seconds`` is the time to wait while another question is answered; after that the command's
    own process is quicker.
    """

    max_queue_seconds: ClassVar[float] = 3.0


class WorkRequest(Request, frozen=True):
    """A request that needs a knowledge base and models, made by a command with the conditions ``start``."""

    start: StartConditions
    kb: str
    model: ModelSettings


class SearchRequest(WorkRequest, frozen=True):
    """A search; the reply is SearchReply."""

    max_queue_seconds: ClassVar[float] = 1.0
    query: str
    k: int
    filter: str | None


class InfoRequest(WorkRequest, frozen=True):
    """A request for the sizes of a knowledge base; the reply is InfoReply."""

    max_queue_seconds: ClassVar[float] = 1.0


class EmbedRequest(WorkRequest, frozen=True):
    """A request for the vectors of texts, as passages are embedded; the reply is EmbedReply."""

    texts: tuple[str, ...]


class StatusRequest(Request, frozen=True):
    """A request for the state of the server; the reply is ServerStatus."""


class StopRequest(Request, frozen=True):
    """A request to end after the question that is being answered; the reply is ServerStatus."""


# ---------------------------------------------------------------------------------- replies


class Heartbeat(Message, frozen=True):
    """Sent at once and then regularly, while the server lives.

    ``queued`` says that another question is being answered.
    """

    queued: bool


class Done(Message, frozen=True):
    """The end of the replies."""


class SearchReply(Message, frozen=True):
    """The hits of a search, best first."""

    hits: tuple[Hit, ...]


class InfoReply(Message, frozen=True):
    """The sizes of a knowledge base."""

    info: StoreInfo


class EmbedReply(Message, frozen=True):
    """The vectors of texts, in their order, the model's name, and how many tokens it read."""

    model: str
    vectors: tuple[tuple[float, ...], ...]
    tokens: int


class ConsentAsked(Message, frozen=True):
    """The question goes on when the client has answered whether this line may be sent to the web."""

    query: str


class ConsentGiven(Message, frozen=True):
    """The client's answer to ConsentAsked of ``query``: the line to send, or None if nothing may be sent."""

    query: str
    line: str | None


class Restarting(Message, frozen=True):
    """The server restarts because of ``reason``.

    ``began`` is when it was started, in seconds since 1970. It restarts at once, or after the questions
    that wait.
    """

    reason: str
    began: float
    at_once: bool


class Declined(Message, frozen=True):
    """The server keeps the conditions that it was started under, and they are others: ``reason`` says how."""

    reason: str


class Failed(Message, frozen=True):
    """The work raised a LocalCragError of the class ``kind``; the command raises it again."""

    kind: str
    text: str
    hint: str

    @classmethod
    def of(cls, error: LocalCragError) -> Failed:
        """The message of an error, under the nearest of its classes in :mod:`localcrag.errors`."""
        kind = next(base for base in type(error).__mro__ if getattr(errors, base.__name__, None) is base)
        return cls(kind.__name__, str(error), error.hint)

    def error(self) -> LocalCragError:
        """The error, of the same class. Raises BadMessage if there is no such class."""
        kind = getattr(errors, self.kind, None)
        if not (isinstance(kind, type) and issubclass(kind, LocalCragError)):
            raise BadMessage(f"there is no error {self.kind}")
        return kind(self.text, hint=self.hint)


class Crashed(Message, frozen=True):
    """The work raised an unexpected error; the command does the work itself and shows the outcome."""

    reason: str


class ServerStatus(Message, frozen=True):
    """The state of a server.

    ``since`` is its start in seconds since 1970 (UTC), ``idle`` the seconds without a question, ``limit``
    the idle seconds after which it ends (0: never), and ``busy`` whether it answers a question.
    """

    pid: int
    version: str
    home: str
    since: float
    idle: float
    limit: float
    answered: int
    busy: bool
    offline: bool


def encode(message: object) -> bytes:
    """A message or an event as one line. Raises BadMessage for a value that has no form in JSON."""
    try:
        return _ENCODER.encode((type(message).__name__, message)) + b"\n"
    except (TypeError, ValueError, NotImplementedError, msgspec.MsgspecError) as error:
        raise BadMessage(str(error)) from error


def decode(text: bytes, *others: type) -> Any:
    """The message or the event that a line holds. Raises BadMessage.

    ``others`` are types of messages that are understood beside those of this module and the events.
    """
    try:
        name, fields = _ENVELOPE_DECODER.decode(text)
        kind = next((kind for kind in others if kind.__name__ == name), None) or _kind(name)
        return _decoder(kind).decode(fields)
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadMessage(str(error)) from error


def _as_dict(value: object) -> object:
    """A read-only mapping, such as the meta fields of a passage, as a dict, which msgspec can encode."""
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(f"{type(value).__name__} has no form in a message")


_ENCODER = msgspec.json.Encoder(enc_hook=_as_dict)
_ENVELOPE_DECODER = msgspec.json.Decoder(tuple[str, msgspec.Raw])
_MESSAGES = (
    SearchRequest,
    InfoRequest,
    EmbedRequest,
    StatusRequest,
    StopRequest,
    Heartbeat,
    Done,
    SearchReply,
    InfoReply,
    EmbedReply,
    ConsentAsked,
    ConsentGiven,
    Restarting,
    Declined,
    Failed,
    Crashed,
    ServerStatus,
)


@cache
def _decoder(kind: type) -> msgspec.json.Decoder[Any]:
    """The decoder of a type of message, made once."""
    return msgspec.json.Decoder(kind)


def _kind(name: str) -> type:
    """The message or event of this name. Raises BadMessage.

    Events are imported only if one is needed, so a search does not load them.
    """
    for kind in _MESSAGES:
        if kind.__name__ == name:
            return kind
    from localcrag import events

    event = getattr(events, name, None)
    if not (isinstance(event, type) and issubclass(event, events.Event)):
        raise BadMessage(f"there is no message {name[:40]!r}")
    return event
