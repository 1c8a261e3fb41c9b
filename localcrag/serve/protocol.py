"""What a command and the warm process say to each other: frozen values, one a line.

Each is one of msgspec's own structs: what a dataclass is, but made in a tenth of the time, which a command
pays. A question to the loop is in :mod:`localcrag.serve.ask_request`.

A line is a JSON array ``[NAME, {fields}]``. It is read back by name as exactly that value, every
field checked against its type by msgspec; what does not fit is an error, and never half a message.
Events travel as themselves, so whoever shows them cannot tell where they came from. Nothing but data is
in a line: reading one runs no code, which is why it is not a pickle.
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
    """A line that is no message of ours."""


class Message(msgspec.Struct, frozen=True):
    """Base of what is neither an event nor a request's part."""


class StartConditions(Message, frozen=True):
    """What a process was started with; a server answers only those who were started with the same.

    ``home`` is what ``--home`` said ("" without it), ``settings`` all settings as text, ``environment``
    the LOCALCRAG_* variables. Being offline is not among these: it is ``offline``, whoever asked for it.
    """

    version: str
    interpreter: str
    home: str
    offline: bool
    settings: str
    environment: Mapping[str, str]

    def difference(self, other: StartConditions) -> str:
        """What differs, in words; "" where nothing does."""
        if (self.version, self.interpreter) != (other.version, other.interpreter):
            return "another localcrag is installed"
        if self.offline != other.offline:
            return f"it is {'offline' if self.offline else 'online'}, and this command is not"
        return "" if self == other else "the configuration or the environment differs"


# ---------------------------------------------------------------------------------- requests


class Request(Message, frozen=True):
    """Base of what a command asks for.

    ``patience``: seconds to wait while another question is answered; for longer, one's own process is
    quicker.
    """

    patience: ClassVar[float] = 3.0


class WorkRequest(Request, frozen=True):
    """What is done with a knowledge base and models; the answer depends on how the command was started."""

    start: StartConditions
    kb: str
    model: ModelSettings


class SearchRequest(WorkRequest, frozen=True):
    """Answered by Found."""

    patience: ClassVar[float] = 1.0
    query: str
    k: int
    filter: str | None


class InfoRequest(WorkRequest, frozen=True):
    """Answered by Held."""

    patience: ClassVar[float] = 1.0


class StatusRequest(Request, frozen=True):
    """How is the server? Answered by Report."""


class StopRequest(Request, frozen=True):
    """End after the question that is being answered. Answered by Report."""


# ---------------------------------------------------------------------------------- replies


class Heartbeat(Message, frozen=True):
    """I am here: at once, and again and again; ``queued`` while another question is answered."""

    queued: bool


class Done(Message, frozen=True):
    """That was all."""


class SearchReply(Message, frozen=True):
    hits: tuple[Hit, ...]


class InfoReply(Message, frozen=True):
    info: StoreInfo


class Restarting(Message, frozen=True):
    """The server, which ``began`` then, begins again: at once, or after the question it answers."""

    reason: str
    began: float
    at_once: bool


class Failed(Message, frozen=True):
    """The work raised one of our errors: the command raises the same."""

    kind: str
    text: str
    hint: str

    @classmethod
    def of(cls, error: LocalCragError) -> Failed:
        """The error, as the nearest of its classes that :mod:`localcrag.errors` has."""
        kind = next(base for base in type(error).__mro__ if getattr(errors, base.__name__, None) is base)
        return cls(kind.__name__, str(error), error.hint)

    def error(self) -> LocalCragError:
        """The error again, of the same class. Raises BadMessage."""
        kind = getattr(errors, self.kind, None)
        if not (isinstance(kind, type) and issubclass(kind, LocalCragError)):
            raise BadMessage(f"there is no error {self.kind}")
        return kind(self.text, hint=self.hint)


class Crashed(Message, frozen=True):
    """The work raised what it should not; the command does it itself, and shows what comes of it."""

    reason: str


class ServerStatus(Message, frozen=True):
    """How a server is: ``since`` in seconds since 1970 (UTC), ``idle`` seconds without a question,
    ``limit`` the seconds after which it ends (0: never), ``busy`` whether it works now."""

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
    """A message or an event as one line. Raises BadMessage for a value that JSON does not have."""
    try:
        return _ENCODER.encode((type(message).__name__, message)) + b"\n"
    except (TypeError, ValueError, NotImplementedError, msgspec.MsgspecError) as error:
        raise BadMessage(str(error)) from error


def decode(text: bytes) -> Any:
    """The message or the event in a line. Raises BadMessage."""
    try:
        name, fields = _OUTER.decode(text)
        return _decoder(name).decode(fields)
    except (msgspec.MsgspecError, ValueError) as error:
        raise BadMessage(str(error)) from error


def _plain(value: object) -> object:
    """A mapping that cannot be written to, such as the meta fields of a passage, as one that can."""
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(f"{type(value).__name__} has no form in a message")


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
_OUTER = msgspec.json.Decoder(tuple[str, msgspec.Raw])
_OURS = (
    SearchRequest,
    InfoRequest,
    StatusRequest,
    StopRequest,
    Heartbeat,
    Done,
    SearchReply,
    InfoReply,
    Restarting,
    Failed,
    Crashed,
    ServerStatus,
)


@cache
def _decoder(name: str) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(_kind(name))


def _kind(name: str) -> type:
    """What a line with this name is; a search loads no events. Raises BadMessage."""
    for kind in _OURS:
        if kind.__name__ == name:
            return kind
    from localcrag import events
    from localcrag.serve.ask_request import AskRequest

    event = AskRequest if name == AskRequest.__name__ else getattr(events, name, None)
    if not (isinstance(event, type) and issubclass(event, AskRequest | events.Event)):
        raise BadMessage(f"there is no message {name[:40]!r}")
    return event
