"""What a command and the warm process say to each other: frozen values, one a line.

Each is one of msgspec's own structs: what a dataclass is, but made in a tenth of the time, which a command
pays. A question to the loop is in :mod:`localcrag.serve.asking`, and how they become lines in
:mod:`localcrag.serve.lines`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from localcrag import errors
from localcrag.errors import LocalCragError
from localcrag.settings import ModelSettings
from localcrag.types import Hit, StoreInfo


class NotUnderstood(Exception):
    """A line that is no message of ours."""


class Message(msgspec.Struct, frozen=True):
    """Base of what is neither an event nor a request's part."""


class Start(Message, frozen=True):
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

    def difference(self, other: Start) -> str:
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


class Work(Request, frozen=True):
    """What is done with a knowledge base and models; the answer depends on how the command was started."""

    start: Start
    kb: str
    model: ModelSettings


class Search(Work, frozen=True):
    """Answered by Found."""

    patience: ClassVar[float] = 1.0
    query: str
    k: int
    filter: str | None


class Info(Work, frozen=True):
    """Answered by Held."""

    patience: ClassVar[float] = 1.0


class Look(Request, frozen=True):
    """How is the server? Answered by Report."""


class Stop(Request, frozen=True):
    """End after the question that is being answered. Answered by Report."""


# ---------------------------------------------------------------------------------- replies


class Here(Message, frozen=True):
    """I am here: at once, and again and again; ``queued`` while another question is answered."""

    queued: bool


class Done(Message, frozen=True):
    """That was all."""


class Found(Message, frozen=True):
    hits: tuple[Hit, ...]


class Held(Message, frozen=True):
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
        """The error again, of the same class. Raises NotUnderstood."""
        kind = getattr(errors, self.kind, None)
        if not (isinstance(kind, type) and issubclass(kind, LocalCragError)):
            raise NotUnderstood(f"there is no error {self.kind}")
        return kind(self.text, hint=self.hint)


class Crashed(Message, frozen=True):
    """The work raised what it should not; the command does it itself, and shows what comes of it."""

    reason: str


class Report(Message, frozen=True):
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
