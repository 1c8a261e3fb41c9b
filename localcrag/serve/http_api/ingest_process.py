"""An ingestion as a process of its own: ``localcrag ingest --jsonl``, whose lines are its events.

So the server does not read what strangers wrote, and an ingestion that is not wanted any more can be killed
at any moment: what was finished is kept, and the same ingestion finishes the rest.
"""

from __future__ import annotations

import asyncio
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from localcrag import events
from localcrag.errors import CorpusError
from localcrag.events import Event, Ingested, json_name
from localcrag.serve.client import command_of
from localcrag.serve.protocol import StartConditions
from localcrag.types import IngestReport

MAX_LINE_BYTES = 1 << 26
"""Bytes of one event."""
MAX_ERROR_BYTES = 1 << 16
"""Bytes of the messages of the process that are kept; the last ones say how it ended."""
_KINDS: Mapping[str, type[Event]] = {
    json_name(kind): kind
    for kind in (
        events.Discovered,
        events.Progressed,
        events.Processing,
        events.MovedSource,
        events.SkippedSource,
        events.Optimizing,
        events.Questioned,
        events.Advanced,
        events.Degraded,
    )
}
"""The events of an ingestion by their names in JSON, but for the last one."""


async def ingestion(start: StartConditions, kb: str, files: Sequence[Path]) -> AsyncGenerator[Event, None]:
    """The events of reading files into a knowledge base, the last one Ingested.

    ``start`` are the conditions under which the process is started. Closing the generator kills it. Raises
    CorpusError if it ends without a report.
    """
    command = [*command_of(start)[:-2], "ingest", "--kb", kb, "--jsonl", "--", *map(str, files)]
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        limit=MAX_LINE_BYTES,
        env={**os.environ, **start.environment},
        start_new_session=True,
    )
    assert process.stdout is not None
    messages = asyncio.ensure_future(_tail(process))
    reported = False
    try:
        while line := await process.stdout.readline():
            event = _event(line)
            reported = reported or isinstance(event, Ingested)
            yield event
        await process.wait()
        if not reported:
            raise _failure(await messages, process.returncode)
    finally:
        messages.cancel()
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _event(line: bytes) -> Event:
    """The event of a line of ``ingest --jsonl``. Raises CorpusError."""
    try:
        fields = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        name = msgspec.json.decode(fields.pop("event"), type=str)
        body = msgspec.json.encode(fields)
        if name == json_name(Ingested):
            return Ingested(msgspec.json.decode(body, type=IngestReport))
        return msgspec.json.decode(body, type=_KINDS[name])
    except (msgspec.MsgspecError, KeyError) as error:
        raise CorpusError(f"an event of the ingestion cannot be read: {error}", hint="try again") from error


async def _tail(process: Process) -> str:
    """The last messages of a process."""
    assert process.stderr is not None
    kept = b""
    while more := await process.stderr.read(MAX_ERROR_BYTES):
        kept = (kept + more)[-MAX_ERROR_BYTES:]
    return kept.decode("utf-8", "replace")


def _failure(messages: str, code: int | None) -> CorpusError:
    """The error of a process that ended without a report, in its own words if it gave any."""
    found = {"Error": "", "Hint": ""}
    for line in messages.splitlines():
        label, mark, text = line.partition(": ")
        if mark and label in found:
            found[label] = text.strip()
    why = found["Error"] or f"it ended with the code {code}"
    return CorpusError(f"the documents were not ingested: {why}", hint=found["Hint"] or "try again")
