"""Mail messages (EML): the headers that matter, the body, and the names of what is attached."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart

from localcrag.corpus.encoding import decode
from localcrag.corpus.kinds import MEDIA_TYPES, Kind
from localcrag.corpus.parsed import Limits, Parsed, joined, one_line, whole
from localcrag.errors import UnreadableError

_HEADERS = ("Subject", "From", "To", "Cc", "Date")
# The standard library's parser of broken headers raises these.
_BROKEN = (MessageError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)


def read_mail(data: bytes, limits: Limits) -> Parsed:
    """One message; its plain text is preferred to its HTML. Raises UnreadableError."""
    message = message_from_bytes(data, policy=policy.default)
    try:
        return whole(_header(message, "Subject"), MEDIA_TYPES[Kind.MAIL], joined(_parts(message), limits))
    except _BROKEN as error:
        raise UnreadableError("damaged mail message") from error


def _parts(message: EmailMessage) -> Iterator[str]:
    shown = {name: _header(message, name) for name in _HEADERS}
    yield "\n".join(f"{name}: {value}" for name, value in shown.items() if value)
    body = message.get_body(("plain", "html"))
    if body is not None:
        yield _body(body)
    names = [one_line(part.get_filename() or part.get_content_type()) for part in message.iter_attachments()]
    if names:
        yield f"Attachments: {', '.join(names)}"


def _header(message: EmailMessage, name: str) -> str:
    return one_line(str(message.get(name, "")), 1000)


def _body(part: MIMEPart) -> str:
    content = part.get_payload(decode=True)
    text = decode(content, part.get_content_charset("")) if isinstance(content, bytes) else ""
    if part.get_content_subtype() != "html":
        return text
    from localcrag.corpus.readers.html import markdown_of

    return markdown_of(text)
