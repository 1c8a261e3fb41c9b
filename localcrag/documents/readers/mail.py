"""Reader of mail messages (EML): the main headers, the texts, and the names of the attachments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart

from localcrag.documents.encoding import decode
from localcrag.documents.extracted import ExtractedText, Limits, joined, one_line, whole
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.errors import UnreadableError

_PLAIN, _HTML = "text/plain", "text/html"
_MAX_FORWARD_DEPTH = 10
"""Levels of forwarded messages that are read."""
_SHOWN_HEADERS = ("Subject", "From", "To", "Cc", "Date")
# The standard library's parser of broken headers raises these.
_PARSER_ERRORS = (MessageError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)


def read_mail(data: bytes, limits: Limits) -> ExtractedText:
    """Read a message; its plain text is preferred to its HTML. Raises UnreadableError."""
    try:
        message = message_from_bytes(data, policy=policy.default)
        return whole(
            _header(message, "Subject"), MEDIA_TYPES[DocumentFormat.MAIL], joined(_parts(message), limits)
        )
    except _PARSER_ERRORS as error:
        raise UnreadableError("damaged mail message") from error


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A part without parts of its own.

    ``name`` is its file name or "", ``attached`` whether it is marked as an attachment.
    """

    part: MIMEPart
    media_type: str
    name: str
    attached: bool

    def says(self, *media_types: str) -> bool:
        """Whether it is a text of one of these media types and not an attachment."""
        return self.media_type in media_types and not self.attached


def _parts(message: EmailMessage, forwards: int = _MAX_FORWARD_DEPTH) -> Iterator[str]:
    """The headers, the texts and the names of attachments, then those of the messages inside it.

    A text with a file name counts as an attachment, unless no other text comes before it. Raises
    UnreadableError if the first text of the outermost message cannot be read; any other one is named among
    the attachments with the reason.
    """
    shown = {name: _header(message, name) for name in _SHOWN_HEADERS}
    yield "\n".join(f"{name}: {value}" for name, value in shown.items() if value)
    names, messages, texts = [], [], 0
    for leaf in _leaves(message):
        inner = _forwarded(leaf) if forwards else None
        if inner is not None:
            messages.append(inner)
        if leaf.says(_PLAIN, _HTML) and not (leaf.name and texts):
            texts += 1
            try:
                text = _body(leaf.part)
            except UnreadableError as error:
                if texts == 1 and forwards == _MAX_FORWARD_DEPTH:
                    raise
                names.append(f"{leaf.media_type} ({error})")
            else:
                yield text
        elif leaf.name or inner is None:
            names.append(one_line(leaf.name or leaf.media_type))
    if names:
        yield f"Attachments: {', '.join(names)}"
    for inner in messages:
        yield from _parts(inner, forwards - 1)


def _leaves(part: MIMEPart) -> list[_Leaf]:
    """The leaves of a part in their order.

    Of alternatives only the first with plain text is taken, else the first with HTML, else all of them.
    """
    media_type = part.get_content_type()
    if not media_type.startswith("multipart/"):
        return [_Leaf(part, media_type, part.get_filename() or "", part.is_attachment())]
    found = [_leaves(inner) for inner in part.iter_parts()]
    if media_type == "multipart/alternative":
        forms = (_PLAIN, _HTML)
        found = next(
            ([leaves] for form in forms for leaves in found if any(leaf.says(form) for leaf in leaves)), found
        )
    return [leaf for leaves in found for leaf in leaves]


def _forwarded(leaf: _Leaf) -> EmailMessage | None:
    """The forwarded message that a leaf holds; None for other parts and for one without headers."""
    if leaf.media_type != "message/rfc822" or not leaf.part.is_multipart():
        return None
    inner = leaf.part.get_payload(0)
    return inner if isinstance(inner, EmailMessage) and inner.keys() else None


def _header(message: EmailMessage, name: str) -> str:
    return one_line(str(message.get(name, "")), 1000)


def _body(part: MIMEPart) -> str:
    content = part.get_payload(decode=True)
    text = decode(content, part.get_content_charset("")) if isinstance(content, bytes) else ""
    if part.get_content_subtype() != "html":
        return text
    from localcrag.documents.readers.html import markdown_of

    return markdown_of(text)
