"""The HTTP door as a client of the warm process: its own socket, without blocking the event loop.

:class:`~localcrag.serve.client.WarmClient` does the same for a command. Here closing the generator closes the
connection at once, even while the warm process computes, which then ends the work.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from localcrag.errors import LocalCragError, WarmError
from localcrag.serve.endpoint import Endpoint, connect
from localcrag.serve.http_api.backend import AsyncConsent
from localcrag.serve.protocol import (
    BadMessage,
    ConsentAsked,
    ConsentGiven,
    Crashed,
    Declined,
    Done,
    Failed,
    Heartbeat,
    Request,
    Restarting,
    decode,
    encode,
)

CONNECT_SECONDS = 10.0
"""Seconds to connect; the accepting thread of the warm process competes with its work for the interpreter."""
SILENCE_SECONDS = 60.0
"""Seconds between any two messages of the warm process, which sends a heartbeat every 2 s."""
MAX_LINE_BYTES = 1 << 28
"""Bytes of one message."""
AGAIN_HINT = "try again in some seconds"


@dataclass(frozen=True, slots=True)
class WarmConnections:
    """Makes a connection to the warm process at ``endpoint`` for each request."""

    endpoint: Endpoint

    async def replies(
        self, request: Request, consent: AsyncConsent | None = None
    ) -> AsyncGenerator[Any, None]:
        """The replies to a request, up to the end of the work; closing the generator ends the work.

        ``consent`` is asked when the warm process asks. Raises WarmError if it does not do the work, and the
        LocalCragError that the work raised.
        """
        reader, writer = await self._connect()
        try:
            writer.write(encode(request))
            while line := await asyncio.wait_for(reader.readline(), SILENCE_SECONDS):
                match decode(line):
                    case Done():
                        return
                    case Heartbeat():
                        pass
                    case Failed() as failed:
                        raise failed.error()
                    case Crashed(reason=reason):
                        raise LocalCragError(
                            f"an unexpected error: {reason}",
                            hint="the terminal of localcrag serve shows more",
                        )
                    case Restarting(reason=reason) | Declined(reason=reason):
                        raise WarmError(f"the warm process begins again: {reason}", hint=AGAIN_HINT)
                    case ConsentAsked(query=query):
                        allowed = await consent(query) if consent else None
                        writer.write(encode(ConsentGiven(query, allowed)))
                    case reply:
                        yield reply
        except (OSError, TimeoutError, BadMessage, ValueError) as error:
            raise WarmError(f"the warm process does not answer: {error}", hint=AGAIN_HINT) from error
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        raise WarmError("the warm process went away", hint=AGAIN_HINT)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection. Raises WarmError."""
        try:
            link = await asyncio.to_thread(connect, self.endpoint, CONNECT_SECONDS)
            if link is None:
                raise WarmError("the warm process is ending", hint=AGAIN_HINT)
            link.setblocking(False)
            return await asyncio.open_connection(sock=link, limit=MAX_LINE_BYTES)
        except OSError as error:
            raise WarmError(f"the warm process does not answer: {error}", hint=AGAIN_HINT) from error
