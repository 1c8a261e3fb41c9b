"""A request to the warm process with its connection: what is received, and what is sent to the command.

A command may be slow, suspended, or no command at all. So the time in which a request must come, and the time
for which replies may keep the process from the next question, are bounded as a whole, not for each read and
each write.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time
from dataclasses import dataclass, field

from localcrag.serve import protocol
from localcrag.serve.protocol import BadMessage, ConsentAsked, ConsentGiven, WorkRequest

TAKING_SECONDS = 20.0
"""Seconds that a command may keep the process waiting while it takes its replies."""
MAX_REQUEST_BYTES = 1 << 24
"""Bytes of a request; a question is sent with the turns of its conversation."""
MAX_ANSWER_BYTES = 1 << 16
"""Bytes of an answer of the command to ConsentAsked."""
CONSENT_SECONDS = 150
"""Seconds in which the command must answer ConsentAsked; its own limit comes before."""


@dataclass(eq=False)
class Job:
    """A request and its connection.

    ``gone`` says that the command went away, ``done`` that the work is finished.
    """

    request: WorkRequest
    link: socket.socket
    gone: bool = False
    done: bool = False
    _sending: threading.Lock = field(default_factory=threading.Lock)
    _received: bytearray = field(default_factory=bytearray)
    _waited: float = 0.0
    _consents: queue.SimpleQueue[ConsentGiven] = field(default_factory=queue.SimpleQueue)

    def send(self, message: object) -> None:
        """Send a message to the command. Raises OSError if the command is gone, BadMessage."""
        text = protocol.encode(message)
        with self._sending:
            self.link.settimeout(TAKING_SECONDS)
            self.link.sendall(text)

    def deliver(self, message: object) -> None:
        """Send a reply from the main thread, for which all others wait.

        All replies together may take TAKING_SECONDS; then only what the command takes at once is sent. Raises
        OSError if the command is gone or takes too little, BadMessage.
        """
        text = protocol.encode(message)
        began = time.monotonic()
        with self._sending:
            self.link.settimeout(max(0.0, TAKING_SECONDS - self._waited))
            self.link.sendall(text)
        self._waited += time.monotonic() - began

    def take(self, text: bytes) -> None:
        """Take what the command sent after its request: answers to ConsentAsked. Raises BadMessage."""
        *lines, rest = (self._received + text).split(b"\n")
        self._received[:] = rest
        if len(rest) > MAX_ANSWER_BYTES:
            raise BadMessage("no whole answer came")
        for line in lines:
            if isinstance(answer := protocol.decode(bytes(line)), ConsentGiven):
                self._consents.put(answer)

    def ask_consent(self, query: str) -> str | None:
        """Ask the command whether a line may be sent to the web; no answer in time is a no.

        Raises OSError if the command is gone.
        """
        self.send(ConsentAsked(query))
        for _ in range(CONSENT_SECONDS):
            with contextlib.suppress(queue.Empty):
                answer = self._consents.get(timeout=1.0)  # Windows runs handlers of signals in between
                if answer.query == query:
                    return answer.line
        return None


def received_line(link: socket.socket, seconds: float) -> bytes:
    """A whole line from the other side, which must come within so many seconds.

    Raises BadMessage, OSError.
    """
    end = time.monotonic() + seconds
    text = bytearray()
    while not text.endswith(b"\n"):
        if (left := end - time.monotonic()) <= 0:
            raise TimeoutError("no whole request came in time")
        link.settimeout(left)
        if not (more := link.recv(1 << 16)) or len(text) > MAX_REQUEST_BYTES:
            raise BadMessage("no whole request came")
        text += more
    return bytes(text)
