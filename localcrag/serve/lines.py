"""Messages and events as lines.

A line is a JSON array ``[NAME, {fields}]``. It is read back by name as exactly that value, every
field checked against its type by msgspec; what does not fit is an error, and never half a message.
Events travel as themselves, so whoever shows them cannot tell where they came from.

Nothing but data is in a line: reading one runs no code, which is why it is not a pickle.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from localcrag.serve.messages import (
    Crashed,
    Done,
    Failed,
    Found,
    Held,
    Here,
    Info,
    Look,
    NotUnderstood,
    Report,
    Restarting,
    Search,
    Stop,
)


def line(message: object) -> bytes:
    """A message or an event as one line. Raises NotUnderstood for a value that JSON does not have."""
    try:
        return _ENCODER.encode((type(message).__name__, message)) + b"\n"
    except (TypeError, ValueError, NotImplementedError, msgspec.MsgspecError) as error:
        raise NotUnderstood(str(error)) from error


def read(text: bytes) -> Any:
    """The message or the event in a line. Raises NotUnderstood."""
    try:
        name, fields = _OUTER.decode(text)
        return _decoder(name).decode(fields)
    except (msgspec.MsgspecError, ValueError) as error:
        raise NotUnderstood(str(error)) from error


def _plain(value: object) -> object:
    """A mapping that cannot be written to, such as the meta fields of a passage, as one that can."""
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(f"{type(value).__name__} has no form in a message")


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
_OUTER = msgspec.json.Decoder(tuple[str, msgspec.Raw])
_OURS = (Search, Info, Look, Stop, Here, Done, Found, Held, Restarting, Failed, Crashed, Report)


@cache
def _decoder(name: str) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(_kind(name))


def _kind(name: str) -> type:
    """What a line with this name is; a search loads no events. Raises NotUnderstood."""
    for kind in _OURS:
        if kind.__name__ == name:
            return kind
    from localcrag import events
    from localcrag.serve.asking import Ask

    event = Ask if name == Ask.__name__ else getattr(events, name, None)
    if not (isinstance(event, type) and issubclass(event, Ask | events.Event)):
        raise NotUnderstood(f"there is no message {name[:40]!r}")
    return event
