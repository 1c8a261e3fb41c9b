"""Reader of mail messages (EML): the main headers, the texts, and the attachments whose format is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import Compat32

from localcrag.documents.block_text import BlockText
from localcrag.documents.compressed import uncompressed
from localcrag.documents.document_fields import MAX_VALUE_CHARACTERS, fields_of, mail_day
from localcrag.documents.encoding import decode
from localcrag.documents.extracted import ExtractedText, Limits, clean, one_line
from localcrag.documents.format_names import has_known_name, refuse_by_name
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat, Markup, markup_of
from localcrag.documents.mail_body import LEVEL, add_mail_text, with_earlier_headings
from localcrag.documents.mail_sign_offs import marked_sign_offs
from localcrag.errors import UnreadableError
from localcrag.types import CELL_SEPARATOR, NO_META, BlockKind, Meta, Page

_PLAIN, _HTML = "text/plain", "text/html"
_FAR_MORE, _MORE_WORDS = 1.5, 40
"""How many times the words of a plain text its HTML has, and some more, if the plain one is a remnant."""
_MAX_FORWARD_DEPTH = 10
"""Levels of forwarded messages that are read."""
_MAX_ATTACHMENTS = 20
"""Attachments that are read, those of attached messages among them."""
_MAX_ATTACHMENT_DEPTH = 2
"""Levels of attachments that are read: those of the message, and those of the messages among them."""
_MAX_HEADER_CHARACTERS = 8000
_SHOWN_HEADERS = {"From": 300, "To": 600, "Cc": 400, "Date": 100, "Subject": 600}
"""The headers that are shown, and the characters of each."""
_KINDS_WITHOUT_TEXT = {"image": "an image", "audio": "a sound", "video": "a film"}
_SIGNATURES = frozenset(
    f"application/{kind}" for kind in ("pgp-signature", "pkcs7-signature", "x-pkcs7-signature", "pgp-keys")
)
"""The media types of what a program signs a mail with."""
# The standard library's parser of broken messages raises these.
_PARSER_ERRORS = (MessageError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)


class _BoundedHeaders(Compat32):
    """A policy that cuts a header to 8000 characters, and decodes one with bytes beyond ASCII.

    The policy that parses headers into addresses takes seconds for one of 40,000 characters.
    """

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_MAX_HEADER_CHARACTERS]

    def header_fetch_parse(self, name: str, value: str) -> str:
        data = value.encode("utf-8", "surrogateescape")
        try:
            return data.decode()
        except UnicodeDecodeError:
            return data.decode("cp1252", "replace")


def read_mail(data: bytes, limits: Limits) -> ExtractedText:
    """Read a message; its plain text is preferred to its HTML. Raises UnreadableError."""
    made = BlockText(limits)
    reader = MailReader(made, limits)
    title = reader.read(data)
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.MAIL], (made.page(),), meta=reader.fields)


def subject_of(data: bytes) -> str:
    """The subject of a message, "" if it has none or cannot be parsed."""
    try:
        return _header(BytesHeaderParser(policy=_BoundedHeaders()).parsebytes(data), "Subject", 1000)
    except _PARSER_ERRORS:
        return ""


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A part without parts of its own.

    ``name`` is its file name or "", ``attached`` whether it is marked as an attachment.
    """

    part: Message
    media_type: str
    name: str
    attached: bool

    def is_text(self, *media_types: str) -> bool:
        """Whether it is a text of one of these media types and not an attachment."""
        return self.media_type in media_types and not self.attached


class MailReader:
    """Reads messages into one page, attached ones included."""

    def __init__(self, made: BlockText, limits: Limits) -> None:
        self._made, self._limits = made, limits
        self._attachments_left = _MAX_ATTACHMENTS
        self.fields: Meta = NO_META

    def read(self, data: bytes, depth: int = 0) -> str:
        """Append a message; returns its subject. ``depth`` counts the messages that it is attached to."""
        try:
            message = message_from_bytes(data, policy=_BoundedHeaders())
            if not depth:
                self.fields = _fields(message)
            self._message(message, _MAX_FORWARD_DEPTH, depth)
            return _header(message, "Subject", 1000)
        except _PARSER_ERRORS as error:
            raise UnreadableError("damaged mail message") from error

    def _message(self, message: Message, forwards: int, depth: int) -> None:
        """Append the headers, the texts and the attachments, then the messages inside it.

        A text with a file name counts as an attachment, unless no other text comes before it. Raises
        UnreadableError if the first text of the outermost message cannot be read; any other one is named
        among the attachments with the reason.
        """
        shown = {name: _header(message, name, limit) for name, limit in _SHOWN_HEADERS.items()}
        self._made.part()
        self._made.add(
            BlockKind.ROW, CELL_SEPARATOR.join(f"{name}: {value}" for name, value in shown.items() if value)
        )
        unread: list[str] = []
        messages: list[Message] = []
        texts = 0
        attachments: list[_Leaf] = []
        for leaf in _leaves(message, self._limits):
            inner = _forwarded(leaf) if forwards else None
            if inner is not None:
                messages.append(inner)
            elif leaf.is_text(_PLAIN, _HTML) and not (leaf.name and texts):
                texts += 1
                try:
                    self._body(leaf, shown["From"])
                except UnreadableError as error:
                    if texts == 1 and forwards == _MAX_FORWARD_DEPTH and not depth:
                        raise
                    unread.append(f"{leaf.media_type} ({error})")
            else:
                attachments.append(leaf)
        for leaf in attachments:
            reason = self._attachment(leaf, depth)
            if reason:
                unread.append(f"{one_line(leaf.name or leaf.media_type)} ({reason})")
        if unread:
            self._made.add(BlockKind.PARAGRAPH, f"Attachments that were not read: {', '.join(unread)}")
        for inner in messages:
            self._made.add(BlockKind.HEADING, "Forwarded message", level=LEVEL)
            self._message(inner, forwards - 1, depth)

    def _body(self, leaf: _Leaf, sender: str) -> None:
        text = _text_of(leaf)
        shown = BlockText(self._limits)
        if leaf.media_type == _HTML:
            from localcrag.documents.html_blocks import add_html

            add_html(shown, text)
            page = with_earlier_headings(shown.page())
        else:
            flowed = str(leaf.part.get_param("format", "")).lower() == "flowed"
            delete_space = str(leaf.part.get_param("delsp", "")).lower() == "yes"
            add_mail_text(shown, text, flowed=flowed, delete_space=delete_space)
            page = shown.page()
        self._made.add_page(marked_sign_offs(page, sender))

    def _attachment(self, leaf: _Leaf, depth: int) -> str:
        """Append an attachment under a heading; returns the reason if it was not read, else ""."""
        kind = _KINDS_WITHOUT_TEXT.get(leaf.media_type.partition("/")[0])
        if kind is not None:
            return kind
        if leaf.media_type in _SIGNATURES:
            return "a signature"
        if not (has_known_name(leaf.name) or leaf.media_type in MEDIA_TYPES.values()):
            return "of a kind that is not read"
        if leaf.part.is_multipart():
            return "a message that cannot be read"
        if depth == _MAX_ATTACHMENT_DEPTH:
            return "attached to an attachment of an attachment"
        if not self._attachments_left:
            return f"more than {_MAX_ATTACHMENTS} attachments"
        self._attachments_left -= 1
        try:
            self._read_attachment(leaf, depth)
        except UnreadableError as error:
            return str(error)
        except RecursionError:
            return "nested too deeply"
        return ""

    def _read_attachment(self, leaf: _Leaf, depth: int) -> None:
        from localcrag.documents.readers import parse

        refuse_by_name(leaf.name)
        name, data = uncompressed(leaf.name, _content(leaf.part), self._limits)
        format_ = format_of(name, data, leaf.media_type)
        heading = f"Attachment: {one_line(leaf.name or leaf.media_type)}"
        if format_ is DocumentFormat.MAIL:
            self._made.add(BlockKind.HEADING, heading, level=1)
            self.read(data, depth + 1)
            return
        found = parse(format_, data, self._limits, leaf.part.get("Content-Type", ""))
        if not any(page.text.strip() for page in found.pages):
            raise UnreadableError("no text in it")
        self._made.add(BlockKind.HEADING, heading, level=1)
        for page in found.pages:
            self._page(page, markup_of(found.media_type))

    def _page(self, page: Page, markup: Markup) -> None:
        if page.blocks:
            self._made.add_page(page, deeper=1)
        elif markup is Markup.MARKDOWN:
            from localcrag.documents.markdown_blocks import markdown_page

            self._made.add_page(markdown_page(clean(page.text)), deeper=1)
        elif markup is Markup.LINES:
            self._made.add(BlockKind.CODE, page.text)
        else:
            add_mail_text(self._made, clean(page.text))


def _fields(message: Message) -> Meta:
    """The fields in the headers of a message."""
    names = ("From", "To", "Cc", "Subject")
    shown = [(name, _header(message, name, MAX_VALUE_CHARACTERS)) for name in names]
    return fields_of([*shown, ("date", mail_day(str(message.get("Date", ""))))])


def _leaves(part: Message, limits: Limits) -> list[_Leaf]:
    """The leaves of a part in their order.

    Of alternatives only the first with plain text is taken, else the first with HTML, else all of them. If
    the HTML has far more text than the plain one, which then is a remnant, it is taken.
    """
    media_type = part.get_content_type()
    if not media_type.startswith("multipart/"):
        attached = part.get_content_disposition() == "attachment"
        return [_Leaf(part, media_type, one_line(decoded_header(part.get_filename("") or "")), attached)]
    found = [_leaves(inner, limits) for inner in _parts(part)]
    if media_type == "multipart/alternative":
        plain, html = (
            [leaves for leaves in found if any(leaf.is_text(form) for leaf in leaves)]
            for form in (_PLAIN, _HTML)
        )
        if plain and html and _has_far_more(html[0], plain[0], limits):
            plain = []
        found = plain[:1] or html[:1] or found
    return [leaf for leaves in found for leaf in leaves]


def _has_far_more(leaves: Sequence[_Leaf], than: Sequence[_Leaf], limits: Limits) -> bool:
    """Whether the texts of some leaves have far more words than those of others."""
    more, fewer = (sum(_word_count(leaf, limits) for leaf in each) for each in (leaves, than))
    return more >= fewer * _FAR_MORE + _MORE_WORDS


def _word_count(leaf: _Leaf, limits: Limits) -> int:
    """The number of words of a text; 0 of one that cannot be read."""
    if not leaf.is_text(_PLAIN, _HTML):
        return 0
    try:
        text = _text_of(leaf)
        if leaf.media_type == _HTML:
            from localcrag.documents.html_blocks import add_html

            shown = BlockText(limits)
            add_html(shown, text)
            text = shown.page().text
    except UnreadableError:
        return 0
    return len(text.split())


def _text_of(leaf: _Leaf) -> str:
    """The text of a leaf as it is sent. Raises UnreadableError."""
    return clean(decode(_content(leaf.part), leaf.part.get_content_charset("")))


def _parts(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    if isinstance(payload, list):
        yield from (inner for inner in payload if isinstance(inner, Message))


def _forwarded(leaf: _Leaf) -> Message | None:
    """The forwarded message that a leaf holds; None for other parts and for one without headers."""
    if leaf.media_type != "message/rfc822":
        return None
    inner = next(_parts(leaf.part), None)
    return inner if inner is not None and inner.keys() else None


def _content(part: Message) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _header(message: Message, name: str, limit: int) -> str:
    shown = one_line(decoded_header(str(message.get(name, ""))), limit + 1)
    return shown if len(shown) <= limit else f"{shown[:limit].rstrip()} …"


def decoded_header(value: str) -> str:
    """A header with its encoded words (RFC 2047) decoded."""
    try:
        return str(make_header(decode_header(value)))
    except (MessageError, ValueError, LookupError):
        return value
