"""A command's side of the warm process: a knowledge base that is asked there, and here where that fails.

:class:`WarmKnowledgeBase` answers as :class:`~localcrag.knowledge_base.KnowledgeBase` does.
Whatever goes wrong with the server, the command does the work in its own process, and ``--trace`` says why.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from localcrag import __version__
from localcrag._platform import expanded
from localcrag.errors import WarmError
from localcrag.serve.endpoint import Endpoint, connect, endpoint_of, refuse_unsafe
from localcrag.serve.protocol import (
    BadMessage,
    Crashed,
    Done,
    Failed,
    Heartbeat,
    InfoReply,
    InfoRequest,
    Request,
    Restarting,
    SearchReply,
    SearchRequest,
    StartConditions,
    WorkRequest,
    decode,
    encode,
)
from localcrag.settings import PREFIX, ModelSettings, Settings
from localcrag.types import Hit, StoreInfo, WarmPolicy, WebPolicy

if TYPE_CHECKING:
    from localcrag.events import Event
    from localcrag.options import AskOptions

T = TypeVar("T")

FIRST_SIGN_SECONDS, SILENCE_SECONDS = 3.0, 20.0
"""Seconds for the first sign of life, and between any two."""
STARTING_SECONDS = 10.0
"""Seconds in which a fresh server must listen; it loads nothing before."""
_ELSEWHERE = frozenset({PREFIX + "HOME", PREFIX + "OFFLINE"})


class Unavailable(Exception):
    """The server does not do it, and says why."""


class NotRunning(Unavailable):
    """There is no server, and none was wanted: nothing that anybody needs to be told."""


class AskableKnowledgeBase(Protocol):
    """What a command asks of a knowledge base: in the warm process, or in its own."""

    @property
    def name(self) -> str: ...
    @property
    def settings(self) -> Settings: ...
    def search(
        self, query: str, *, k: int = 8, filter: str | None = None, evaluator: str | None = None
    ) -> list[Hit]: ...
    def stream(self, question: str, options: AskOptions | None = None) -> Iterator[Event]: ...
    def info(self) -> StoreInfo: ...
    def reset_models(self) -> None: ...


def start_conditions(settings: Settings, home: Path | None) -> StartConditions:
    """What this process was started with; ``home`` is the --home that was given."""
    named = home is not None or bool(os.environ.get(PREFIX + "HOME"))
    variables = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    return StartConditions(
        version=__version__,
        interpreter=sys.executable,
        home=str(settings.home) if named else "",
        offline=settings.offline,
        settings=repr(replace(settings, offline=False)),
        environment={name: variables[name] for name in sorted(variables.keys() - _ELSEWHERE)},
    )


def command_of(start: StartConditions) -> list[str]:
    """The command line of a server in the background that is started with the same."""
    home = ["--home", start.home] if start.home else []
    offline = ["--offline"] if start.offline else []
    return [start.interpreter, "-P", "-m", "localcrag", *home, *offline, "serve", "--background"]


@dataclass(frozen=True, slots=True)
class WarmClient:
    """How a command reaches the server of its home."""

    place: Endpoint
    start: StartConditions
    warm: WarmPolicy

    @classmethod
    def of(cls, settings: Settings, home: Path | None, warm: WarmPolicy) -> WarmClient:
        """For the server of these settings; ``home`` is the --home that was given."""
        return cls(endpoint_of(settings.home), start_conditions(settings, home), warm)

    @property
    def may_answer(self) -> bool:
        """Whether a server may be there, or may be started: a look at a file, and no promise."""
        try:
            return self.warm is WarmPolicy.AUTO or self.place.address.exists()
        except OSError:
            return True  # whoever connects is told why it cannot be looked at

    def converse(self, request: Request) -> Iterator[Any]:
        """The replies, up to the end of the work; closing the iterator ends the work.

        Raises Unavailable, and the LocalCragError that the work raised.
        """
        deadline = monotonic() + STARTING_SECONDS
        link, began = self._reach(), None
        while True:
            again: Restarting | None = None
            for reply in _replies(link, request):
                if isinstance(reply, Restarting):
                    again = reply
                else:
                    yield reply
            if again is None:
                return
            if not again.at_once or began not in (None, again.began):
                raise Unavailable(f"it begins again: {again.reason}")
            began = again.began
            link = self._await(deadline, "it did not come back")

    def _reach(self) -> socket.socket:
        """A connection; the server is started where it may be. Raises Unavailable."""
        if link := self._connected():
            return link
        if self.warm is not WarmPolicy.AUTO:
            raise NotRunning
        return self._begin()

    def _connected(self) -> socket.socket | None:
        try:
            return connect(self.place, FIRST_SIGN_SECONDS)
        except (WarmError, OSError) as error:
            raise Unavailable(str(error)) from error

    def _begin(self) -> socket.socket:
        """Start a server in the background, and connect to it. Raises Unavailable."""
        import subprocess

        try:
            self.place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            refuse_unsafe(self.place.folder)
            mode = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with os.fdopen(os.open(self.place.log, mode, 0o600), "ab") as log:
                server = subprocess.Popen(
                    command_of(self.start),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except (WarmError, OSError) as error:
            raise Unavailable(f"it cannot be started: {error}") from error
        failed = f"it did not start, see {self.place.log}"
        return self._await(monotonic() + STARTING_SECONDS, failed, lambda: server.poll() not in (None, 0))

    def _await(self, deadline: float, why: str, lost: Callable[[], bool] = lambda: False) -> socket.socket:
        """A connection as soon as there is one. Raises Unavailable."""
        while not (link := self._connected()):
            if monotonic() > deadline or lost():
                raise Unavailable(why)
            sleep(0.02)
        return link


def _replies(link: socket.socket, request: Request) -> Iterator[Any]:
    """What the server replies up to Done; closes the connection, which ends the work."""
    try:
        with closing(link), link.makefile("rb") as lines:
            link.settimeout(FIRST_SIGN_SECONDS)
            link.sendall(encode(request))
            patience = monotonic() + request.patience
            while text := lines.readline():
                link.settimeout(SILENCE_SECONDS)
                reply = decode(text)
                if isinstance(reply, Done):
                    return
                if isinstance(reply, Failed):
                    raise reply.error()
                if isinstance(reply, Crashed):
                    raise Unavailable(f"it failed: {reply.reason}")
                if not isinstance(reply, Heartbeat):
                    yield reply
                elif reply.queued and monotonic() > patience:
                    raise Unavailable("it answers another question")
    except (OSError, BadMessage) as error:
        raise Unavailable(str(error) or type(error).__name__) from error
    raise Unavailable("it went away")


# ---------------------------------------------------------------------------------- knowledge bases


@dataclass(frozen=True)
class WarmKnowledgeBase:
    """A knowledge base that is asked in the warm process; if that fails, in this one (``open_local``).

    ``say`` is told why the warm process was not used.
    """

    name: str
    settings: Settings
    client: WarmClient
    open_local: Callable[[], AskableKnowledgeBase]
    say: Callable[[str], None]

    def search(
        self, query: str, *, k: int = 8, filter: str | None = None, evaluator: str | None = None
    ) -> list[Hit]:
        """As ``KnowledgeBase.search``."""
        model = (
            self.settings.model if evaluator is None else replace(self.settings.model, evaluator=evaluator)
        )
        found = self._one(SearchRequest(*self._work(model), query, k, filter), SearchReply)
        if found is not None:
            return list(found.hits)
        return self.open_local().search(query, k=k, filter=filter, evaluator=evaluator)

    def info(self) -> StoreInfo:
        """As ``KnowledgeBase.info``."""
        held = self._one(InfoRequest(*self._work(self.settings.model)), InfoReply)
        return self.open_local().info() if held is None else held.info

    def stream(self, question: str, options: AskOptions | None = None) -> Iterator[Event]:
        """As ``KnowledgeBase.stream``; closing it ends the question there as well.

        A question whose web query a person is to consent to is not sent: the person is here.
        """
        from localcrag.options import AskOptions
        from localcrag.serve.ask_request import AskRequest

        given = options or AskOptions()
        if self._needs_consent(given):
            self.say("the web query needs your consent")
            yield from self.open_local().stream(question, given)
            return
        work = self._work(given.model_settings(self.settings.model))
        sent = replace(given, consent=None, model=None, evaluator=None)
        seen: list[Event] = []
        try:
            for event in self.client.converse(AskRequest(*work, question, sent)):
                seen.append(event)
                yield event
        except Unavailable as why:
            self._excuse(why)
            yield from rest_of(self.open_local().stream(question, given), seen)

    def reset_models(self) -> None:
        """After a question was cut off: the server sees to its own models, this is for those here."""
        self.open_local().reset_models()

    def _needs_consent(self, given: AskOptions) -> bool:
        wanted = given.web or self.settings.web.policy
        return wanted is WebPolicy.ASK and not self.settings.offline

    def _one(self, request: WorkRequest, kind: type[T]) -> T | None:
        """The one reply; None, and an excuse, if the server does not give it."""
        try:
            (reply,) = self.client.converse(request)
        except Unavailable as why:
            self._excuse(why)
            return None
        except ValueError:
            self.say("its reply is not one")
            return None
        return reply if isinstance(reply, kind) else None

    def _excuse(self, why: Unavailable) -> None:
        if not isinstance(why, NotRunning):
            self.say(str(why))

    def _work(self, model: ModelSettings) -> tuple[StartConditions, str, ModelSettings]:
        return self.client.start, self.name, placed(model)


def placed(model: ModelSettings) -> ModelSettings:
    """The settings with files named from the root: the server has another working directory."""

    def absolute(name: str) -> str:
        path = expanded(name)
        named_as_file = path.suffix == ".gguf" or len(path.parts) > 1
        return str(path.absolute()) if named_as_file and os.path.exists(path) else name  # noqa: PTH110 - of any length

    return replace(
        model,
        language=absolute(model.language),
        evaluator=absolute(model.evaluator),
        embedding=absolute(model.embedding),
    )


def rest_of(events: Iterable[Event], seen: Sequence[Event]) -> Iterator[Event]:
    """The events of a question asked again, without those that were shown the first time.

    The loop decides alike each time, so the same events come again. Raises WarmError where they do
    not: half of one answer must not be continued with half of another.
    """
    from localcrag.events import Delta

    for number, event in enumerate(events):
        if number >= len(seen):
            yield event
            continue
        before = seen[number]
        if type(event) is not type(before) or (isinstance(event, Delta) and event != before):
            raise WarmError(
                "the warm process ended in the middle of the answer, and it cannot be gone on with",
                hint="ask again",
            )
