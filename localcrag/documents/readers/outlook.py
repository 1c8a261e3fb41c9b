"""Reader of the messages that Outlook saves (MSG): each is put into the form of a mail and read as one.

oxmsg reads the properties, whose numbers are those of MS-OXPROPS.
"""

from __future__ import annotations

import io
import re
from base64 import b64encode
from datetime import datetime
from email.header import Header
from email.message import Message
from email.parser import HeaderParser
from email.utils import format_datetime
from itertools import islice
from typing import TYPE_CHECKING

from localcrag.documents.block_text import BlockText
from localcrag.documents.encoding import decode
from localcrag.documents.extracted import ExtractedText, Limits, one_line
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.mail import MailReader, decoded_header
from localcrag.errors import UnreadableError

if TYPE_CHECKING:
    from oxmsg.properties import Properties
    from oxmsg.storage import Storage

_SUBJECT, _BODY, _HTML, _TRANSPORT_HEADERS = 0x0037, 0x1000, 0x1013, 0x007D
_SENT, _DELIVERED, _CODE_PAGE = 0x0039, 0x0E06, 0x3FDE
_SENDERS = ((0x0C1A, (0x5D01, 0x0C1F)), (0x0042, (0x5D02, 0x0065)))
"""The name and the addresses of who sent a message, and of whom it was sent for."""
_NAME, _ADDRESSES = 0x3001, (0x39FE, 0x3003)
_RECIPIENT_TYPE, _TYPE_BITS, _TO, _CC = 0x0C15, 0xF, 1, 2
_SHOWN_RECIPIENTS = {"To": (_TO, 0x0E04), "Cc": (_CC, 0x0E03)}
"""The headers of recipients: the type of these, and the property with all their names."""
_FILE_NAMES, _MEDIA_TYPE, _DATA = (0x3707, 0x3704, _NAME), 0x370E, 0x3701
_EMBEDDED_MESSAGE = "__substg1.0_3701000D"
_MESSAGE_START, _EMBEDDED_START, _PART_START = 32, 24, 8
"""Where the properties of a message begin, of one attached to it, and of a recipient or an attachment."""
_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_MAX_CHARACTERS = 1000
"""Characters of a header, more than are shown of one."""
_MAX_RECIPIENTS = 100
_DIRECTORY_ADDRESS = re.compile(r"/o=", re.IGNORECASE)
"""How an address begins that only the server of a firm knows."""
_MEDIA_TYPE_FORM = re.compile(r"(?!multipart/|message/)[a-z]+/[\w.+-]+", re.IGNORECASE | re.ASCII)


def read_outlook(data: bytes, limits: Limits) -> ExtractedText:
    """Read a message as :func:`~localcrag.documents.readers.mail.read_mail` does, attachments included.

    Raises UnreadableError: damaged, or more text than ``limits.text``.
    """
    from olefile import OleFileIO
    from oxmsg.storage import Storage

    try:
        with OleFileIO(io.BytesIO(data)) as opened:
            mail = _mail(Storage.from_ole(opened), _MESSAGE_START).as_bytes()
    except RecursionError:
        raise
    except Exception as error:  # olefile and oxmsg raise whatever a wrong offset or code page leads to
        raise UnreadableError("damaged Outlook message", hint="Save it as EML.") from error
    made = BlockText(limits)
    reader = MailReader(made, limits)
    title = reader.read(mail)
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.OUTLOOK], (made.page(),), meta=reader.fields)


def _mail(storage: Storage, start: int) -> Message:
    """The message in a storage, whose properties begin at ``start``, as a mail."""
    from oxmsg.properties import Properties

    properties = Properties(storage, start)
    mail = Message()
    for name, value in _headers(storage, properties).items():
        mail[name] = value if value.isascii() else Header(value, "utf-8").encode()
    parts = [*_bodies(properties), *map(_attachment, storage.iter_attachment_storages())]
    mail["MIME-Version"] = "1.0"
    mail["Content-Type"] = "multipart/mixed"
    mail.set_payload([*parts])
    return mail


def _headers(storage: Storage, properties: Properties) -> dict[str, str]:
    """The headers that are shown, in one line each: those with which it was sent, else of its properties."""
    sent = HeaderParser().parsestr(_string(properties, _TRANSPORT_HEADERS))
    found = {name: decoded_header(str(sent.get(name, ""))) for name in _HEADERS}
    given = {
        "From": next(filter(None, (_person(properties, *sender) for sender in _SENDERS)), ""),
        **_recipients(storage, properties),
        "Date": _date(properties),
        "Subject": _string(properties, _SUBJECT),
    }
    shown = {name: one_line(found[name] or given[name], _MAX_CHARACTERS) for name in _HEADERS}
    return {name: value for name, value in shown.items() if value}


def _recipients(storage: Storage, properties: Properties) -> dict[str, str]:
    """The recipients by the names of their headers."""
    from oxmsg.properties import Properties

    people: dict[int, list[str]] = {_TO: [], _CC: []}
    for inner in islice(storage.iter_recipient_storages(), _MAX_RECIPIENTS):
        recipient = Properties(inner, _PART_START)
        given = recipient.int_prop_value(_RECIPIENT_TYPE)
        kind = given & _TYPE_BITS if isinstance(given, int) else _TO
        if kind in people:
            people[kind].append(_person(recipient, _NAME, _ADDRESSES))
    return {
        header: ", ".join(filter(None, people[kind])) or _string(properties, names)
        for header, (kind, names) in _SHOWN_RECIPIENTS.items()
    }


def _person(properties: Properties, name_id: int, address_ids: tuple[int, ...]) -> str:
    """A name with its address, or the one of both that there is."""
    name = _string(properties, name_id).strip()
    given = (_string(properties, address_id) for address_id in address_ids)
    address = next((each for each in given if each and not _DIRECTORY_ADDRESS.match(each)), "").strip()
    return f"{name} <{address}>" if name and address and name != address else name or address


def _date(properties: Properties) -> str:
    """When a message was sent, else when it arrived; "" if it says neither."""
    for date_id in (_SENT, _DELIVERED):
        try:
            found: object = properties.date_prop_value(date_id)
        except OverflowError:
            continue
        if isinstance(found, datetime):
            return format_datetime(found)
    return ""


def _bodies(properties: Properties) -> list[Message]:
    """The texts of a message: the plain one, the HTML, or both as alternatives."""
    found = []
    if plain := _string(properties, _BODY):
        found.append(_part("text/plain", plain.encode("utf-8", "replace"), charset="utf-8"))
    if html := _bytes(properties, _HTML):
        says_it = isinstance(properties.int_prop_value(_CODE_PAGE), int)
        found.append(_part("text/html", html, **({"charset": properties.body_encoding} if says_it else {})))
    elif page := _string(properties, _HTML):
        found.append(_part("text/html", page.encode("utf-8", "replace"), charset="utf-8"))
    if len(found) < 2:
        return found
    both = Message()
    both["Content-Type"] = "multipart/alternative"
    both.set_payload([*found])
    return [both]


def _attachment(storage: Storage) -> Message:
    """A part with an attached file, or a message; one without its bytes has none."""
    from oxmsg.properties import Properties

    properties = Properties(storage, _PART_START)
    names = (one_line(_string(properties, name_id)) for name_id in _FILE_NAMES)
    name = next(filter(None, names), "")
    embedded = next((inner for inner in storage.storages if inner.name == _EMBEDDED_MESSAGE), None)
    if embedded is not None and "__properties_version1.0" in {stream.name for stream in embedded.streams}:
        made = Message()
        made["Content-Type"] = "message/rfc822"
        made.set_payload([_mail(embedded, _EMBEDDED_START)])
        return made
    media_type = _string(properties, _MEDIA_TYPE)
    media_type = media_type if _MEDIA_TYPE_FORM.fullmatch(media_type) else "application/octet-stream"
    made = _part(media_type, _bytes(properties, _DATA))
    made.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
    return made


def _part(media_type: str, data: bytes, **parameters: str) -> Message:
    made = Message()
    made.add_header("Content-Type", media_type, **parameters)
    made["Content-Transfer-Encoding"] = "base64"
    made.set_payload(b64encode(data).decode("ascii"))
    return made


def _string(properties: Properties, number: int) -> str:
    """A text among the properties; "" if it is not there, or is empty and has no stream.

    Raises UnreadableError if its bytes are in no encoding.
    """
    try:
        return properties.str_prop_value(number) or ""
    except KeyError:
        return ""
    except UnicodeDecodeError as error:
        return decode(error.object, error.encoding)


def _bytes(properties: Properties, number: int) -> bytes:
    """The bytes of a property; none if it is not there, or is empty and has no stream."""
    try:
        return properties.binary_prop_value(number) or b""
    except KeyError:
        return b""
