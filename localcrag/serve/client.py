"""The client of the warm process, with a fallback to the process of the command.

:class:`WarmKnowledgeBase` answers as :class:`~localcrag.knowledge_base.KnowledgeBase` does. If the server
fails in any way, the command does the work in its own process, and ``--trace`` says why.
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
from localcrag.background import check_interruption
from localcrag.errors import WarmError
from localcrag.serve.endpoint import Endpoint, connect, endpoint_of, refuse_unsafe
from localcrag.serve.protocol import (
    BadMessage,
    Crashed,
    Declined,
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
"""Seconds until the first message of the server, and between any two messages."""
STARTING_SECONDS = 10.0
"""Seconds in which a new server must listen; it loads no model before."""
_SEPARATE_VARIABLES = frozenset({PREFIX + "HOME", PREFIX + "OFFLINE"})
"""Variables that StartConditions does not keep in ``environment``, but in ``home`` and ``offline``."""


class Unavailable(Exception):
    """The server does not do the work; the message is the reason."""


class NotRunning(Unavailable):
    """There is no server and none may be started, which the user need not be told."""


class AskableKnowledgeBase(Protocol):
    """The methods of a knowledge base that commands use, in the warm process or in their own.

    They are documented at :class:`~localcrag.knowledge_base.KnowledgeBase`.
    """

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
    """The conditions of this process; ``home`` is the value of --home, or None without it."""
    named = home is not None or bool(os.environ.get(PREFIX + "HOME"))
    variables = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    return StartConditions(
        version=__version__,
        interpreter=sys.executable,
        home=str(settings.home) if named else "",
        offline=settings.offline,
        settings=repr(replace(settings, offline=False)),
        environment={name: variables[name] for name in sorted(variables.keys() - _SEPARATE_VARIABLES)},
    )


def command_of(start: StartConditions) -> list[str]:
    """The command line of a server in the background under the same conditions."""
    home = ["--home", start.home] if start.home else []
    offline = ["--offline"] if start.offline else []
    return [start.interpreter, "-P", "-m", "localcrag", *home, *offline, "serve", "--background"]


@dataclass(frozen=True, slots=True)
class WarmClient:
    """The connection of a command to the server of its home.

    ``start`` are the conditions of the command, and ``warm`` says whether a server may be started.
    """

    endpoint: Endpoint
    start: StartConditions
    warm: WarmPolicy

    @classmethod
    def of(cls, settings: Settings, home: Path | None, warm: WarmPolicy) -> WarmClient:
        """The client for the server of these settings; ``home`` is the value of --home."""
        return cls(endpoint_of(settings.home), start_conditions(settings, home), warm)

    @property
    def may_answer(self) -> bool:
        """Whether a server may run or may be started. It only checks for a file, so it may be wrong."""
        try:
            return self.warm is WarmPolicy.AUTO or self.endpoint.address.exists()
        except OSError:
            return True  # a folder of another user: ``converse`` gives the reason

    def converse(self, request: Request) -> Iterator[Any]:
        """The replies to a request, up to the end of the work; closing the iterator ends the work.

        If the server restarts first, the request is sent again to the new one. Raises Unavailable, and the
        LocalCragError that the work raised.
        """
        deadline = monotonic() + STARTING_SECONDS
        link, began = self._reach_server(), None
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
            link = self._await_server(deadline, "it did not come back")

    def _reach_server(self) -> socket.socket:
        """A connection to the server, which is started if it may be. Raises Unavailable."""
        if link := self._connected():
            return link
        if self.warm is not WarmPolicy.AUTO:
            raise NotRunning
        return self._start_server()

    def _connected(self) -> socket.socket | None:
        try:
            return connect(self.endpoint, FIRST_SIGN_SECONDS)
        except (WarmError, OSError) as error:
            raise Unavailable(str(error)) from error

    def _start_server(self) -> socket.socket:
        """Start a server in the background, and connect to it. Raises Unavailable."""
        import subprocess

        try:
            self.endpoint.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            refuse_unsafe(self.endpoint.folder)
            mode = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with os.fdopen(os.open(self.endpoint.log, mode, 0o600), "ab") as log:
                server = subprocess.Popen(
                    command_of(self.start),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # as above, on Windows
                )
        except (WarmError, OSError) as error:
            raise Unavailable(f"it cannot be started: {error}") from error
        failed = f"it did not start, see {self.endpoint.log}"
        return self._await_server(
            monotonic() + STARTING_SECONDS, failed, lambda: server.poll() not in (None, 0)
        )

    def _await_server(
        self, deadline: float, why: str, lost: Callable[[], bool] = lambda: False
    ) -> socket.socket:
        """Connect as soon as the server listens.

        Raises Unavailable with the reason ``why`` after ``deadline`` (monotonic, in seconds), or as soon as
        ``lost`` returns True.
        """
        while not (link := self._connected()):
            if monotonic() > deadline or lost():
                raise Unavailable(why)
            sleep(0.02)
        return link


def _replies(link: socket.socket, request: Request) -> Iterator[Any]:
    """Send a request and give the replies up to Done; then close the connection, which ends the work.

    Raises Unavailable, and the LocalCragError that the work raised.
    """
    try:
        with closing(link), link.makefile("rb") as lines:
            link.settimeout(FIRST_SIGN_SECONDS)
            link.sendall(encode(request))
            queue_end = monotonic() + request.max_queue_seconds
            while text := lines.readline():
                link.settimeout(SILENCE_SECONDS)
                reply = decode(text)
                if isinstance(reply, Done):
                    return
                if isinstance(reply, Failed):
                    raise reply.error()
                if isinstance(reply, Declined):
                    raise Unavailable(f"it was started otherwise, and stays so: {reply.reason}")
                if isinstance(reply, Crashed):
                    raise Unavailable(f"it failed: {reply.reason}")
                if not isinstance(reply, Heartbeat):
                    yield reply
                    continue
                check_interruption()
                if reply.queued and monotonic() > queue_end:
                    raise Unavailable("it answers another question")
    except (OSError, BadMessage) as error:
        raise Unavailable(str(error) or type(error).__name__) from error
    raise Unavailable("it went away")


# ---------------------------------------------------------------------------------- knowledge bases


@dataclass(frozen=True)
class WarmKnowledgeBase:
    """A knowledge base that is asked in the warm process, or in this one if that fails.

    ``open_local`` opens it in this process. ``say`` is told why the warm process was not used.
    """

    name: str
    settings: Settings
    client: WarmClient
    open_local: Callable[[], AskableKnowledgeBase]
    say: Callable[[str], None]

    def search(
        self, query: str, *, k: int = 8, filter: str | None = None, evaluator: str | None = None
    ) -> list[Hit]:
        """Search the knowledge base; see ``KnowledgeBase.search``."""
        model = (
            self.settings.model if evaluator is None else replace(self.settings.model, evaluator=evaluator)
        )
        found = self._single_reply(SearchRequest(*self._work_fields(model), query, k, filter), SearchReply)
        if found is not None:
            return list(found.hits)
        return self.open_local().search(query, k=k, filter=filter, evaluator=evaluator)

    def info(self) -> StoreInfo:
        """Name, sizes and models of the knowledge base; see ``KnowledgeBase.info``."""
        held = self._single_reply(InfoRequest(*self._work_fields(self.settings.model)), InfoReply)
        return self.open_local().info() if held is None else held.info

    def stream(self, question: str, options: AskOptions | None = None) -> Iterator[Event]:
        """The events of a question; see ``KnowledgeBase.stream``. Closing the iterator ends the question.

        A question whose web query needs consent is answered in this process, where the person can be asked.
        Raises WarmError if the warm process fails in the middle of an answer that cannot be continued.
        """
        from localcrag.options import AskOptions
        from localcrag.serve.ask_request import AskRequest

        given = options or AskOptions()
        if self._needs_consent(given):
            self.say("the web query needs your consent")
            yield from self.open_local().stream(question, given)
            return
        work = self._work_fields(given.model_settings(self.settings.model))
        sent = replace(given, consent=None, model=None, adapter=None, evaluator=None)
        seen: list[Event] = []
        try:
            for event in self.client.converse(AskRequest(*work, question, sent)):
                seen.append(event)
                yield event
        except Unavailable as why:
            self._report(why)
            yield from rest_of(self.open_local().stream(question, given), seen)

    def reset_models(self) -> None:
        """Reset the models in this process after a question was interrupted; the server resets its own."""
        self.open_local().reset_models()

    def _needs_consent(self, given: AskOptions) -> bool:
        wanted = given.web or self.settings.web.policy
        return wanted is WebPolicy.ASK and not self.settings.offline

    def _single_reply(self, request: WorkRequest, kind: type[T]) -> T | None:
        """The single reply to a request; None if the server does not give it, which is reported."""
        try:
            (reply,) = self.client.converse(request)
        except Unavailable as why:
            self._report(why)
            return None
        except ValueError:
            self.say("its reply is not one")
            return None
        return reply if isinstance(reply, kind) else None

    def _report(self, why: Unavailable) -> None:
        """Tell ``say`` why the server did not answer, unless there is none."""
        if not isinstance(why, NotRunning):
            self.say(str(why))

    def _work_fields(self, model: ModelSettings) -> tuple[StartConditions, str, ModelSettings]:
        return self.client.start, self.name, with_absolute_paths(model)


def with_absolute_paths(model: ModelSettings) -> ModelSettings:
    """The settings with absolute paths of files, because the server has another working directory."""

    def absolute(name: str) -> str:
        path = expanded(name)
        named_as_file = path.suffix == ".gguf" or len(path.parts) > 1
        return str(path.absolute()) if named_as_file and os.path.exists(path) else name  # noqa: PTH110 - of any length

    return replace(
        model,
        language=absolute(model.language),
        adapter=absolute(model.adapter),
        evaluator=absolute(model.evaluator),
        embedding=absolute(model.embedding),
    )


def rest_of(events: Iterable[Event], seen: Sequence[Event]) -> Iterator[Event]:
    """The events of a question that is asked again, without the ones in ``seen``, already shown.

    The loop is deterministic, so the same events come again. Raises WarmError if they differ in type, or in
    the text of the answer: half of one answer must not be continued with half of another.
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
