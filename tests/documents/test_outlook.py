"""Messages that Outlook saves are read as mails.

``files/crossing.msg`` was written by the ``cfb`` module of SheetJS, from words of our own: a message with a
plain text and HTML, three recipients, a table, a picture, a message attached to it, and a file that is only
referred to. The other messages are written here, see :func:`compound`.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path
from typing import TypeAlias, Union

import pytest

from localcrag.documents import LocalCorpus
from localcrag.documents.extracted import Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import parse
from localcrag.documents.readers.mail import read_mail
from localcrag.documents.readers.outlook import read_outlook
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind
from tests.documents.conftest import ReadFunction

CROSSING = (Path(__file__).parent / "files" / "crossing.msg").read_bytes()

Tree: TypeAlias = Mapping[str, Union[bytes, "Tree"]]
Value: TypeAlias = str | bytes | int | datetime
Properties: TypeAlias = Mapping[int, Value | tuple[int, bytes | None]]

SUBJECT, SENDER, BODY, HTML, SENT = 0x0037, 0x0C1A, 0x1000, 0x1013, 0x0039
TRANSPORT_HEADERS, NAME, ADDRESS, KIND, CODE_PAGE = 0x007D, 0x3001, 0x3003, 0x0C15, 0x3FDE
FILE_NAME, MEDIA_TYPE, DATA = 0x3707, 0x370E, 0x3701
TEXT_8 = 0x001E
NO_SECTOR, LAST_SECTOR, FAT_SECTOR = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def compound(tree: Tree) -> bytes:
    """A compound file (MS-CFB) with these streams and storages, each stream shorter than 4096 bytes."""
    entries: list[bytes] = []
    small, small_fat = bytearray(), []

    def entry(name: str, kind: int, right: int, child: int, start: int, size: int) -> bytes:
        letters = name.encode("utf-16-le")
        form = "<64sHBB3I36sIQ"
        length = len(letters) + 2
        return struct.pack(form, letters, length, kind, 1, NO_SECTOR, right, child, b"", start, size)

    def children(inner: Tree) -> int:
        first = NO_SECTOR
        for name, node in reversed(list(inner.items())):
            first = add(name, node, first)
        return first

    def add(name: str, node: bytes | Tree, right: int) -> int:
        number = len(entries)
        entries.append(b"")
        if isinstance(node, bytes):
            start, count = len(small) // 64, -(-len(node) // 64)
            small.extend(node.ljust(count * 64, b"\0"))
            small_fat.extend([*range(start + 1, start + count), LAST_SECTOR][:count])
            start = start if count else LAST_SECTOR
            entries[number] = entry(name, 2, right, NO_SECTOR, start, len(node))
        else:
            entries[number] = entry(name, 1, right, children(node), 0, 0)
        return number

    entries.append(b"")
    first = children(tree)
    parts = [-(-len(entries) * 128 // 512), -(-len(small_fat) * 4 // 512) or 1, -(-len(small) // 512)]
    begins = [1, 1 + parts[0], 1 + parts[0] + parts[1]]
    entries[0] = entry("Root Entry", 5, NO_SECTOR, first, begins[2] if small else LAST_SECTOR, len(small))
    fat = [FAT_SECTOR]
    for begin, count in zip(begins, parts, strict=True):
        fat += [*range(begin + 1, begin + count), LAST_SECTOR][:count]
    head = struct.pack(
        "<8s16s5H6s9I",
        *(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, 1, begins[0], 0, 4096),
        *(begins[1], parts[1], LAST_SECTOR, 0),
    )
    return b"".join(
        (
            head + struct.pack("<109I", 0, *[NO_SECTOR] * 108),
            struct.pack("<128I", *fat, *[NO_SECTOR] * (128 - len(fat))),
            b"".join(entries).ljust(parts[0] * 512, b"\0"),
            struct.pack(f"<{len(small_fat)}I", *small_fat).ljust(parts[1] * 512, b"\xff"),
            bytes(small).ljust(parts[2] * 512, b"\0"),
        )
    )


def storage(start: int, properties: Properties) -> dict[str, bytes | Tree]:
    """The streams of properties, which begin at ``start``; one with None as its value has no stream."""
    streams: dict[str, bytes | Tree] = {}
    lines = bytes(start)
    for number, value in properties.items():
        kind, content = _stored(value)
        lines += struct.pack("<HHI8s", kind, number, 6, content if kind in (3, 0x40) else b"")
        if content is not None and kind not in (3, 0x40):
            streams[f"__substg1.0_{number:04X}{kind:04X}"] = content
    return {"__properties_version1.0": lines, **streams}


def _stored(value: Value | tuple[int, bytes | None]) -> tuple[int, bytes | None]:
    match value:
        case str():
            return 0x1F, value.encode("utf-16-le")
        case bytes():
            return 0x102, value
        case int():
            return 3, struct.pack("<i", value)
        case datetime():
            ticks = int((value - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10_000_000
            return 0x40, struct.pack("<Q", ticks)
        case _:
            return value


def message(
    properties: Properties, recipients: Sequence[Properties] = (), attachments: Sequence[Tree] = ()
) -> bytes:
    """A message with these properties; an attachment is the tree of its storage."""
    people = {f"__recip_version1.0_#{i:08X}": storage(8, each) for i, each in enumerate(recipients)}
    attached = {f"__attach_version1.0_#{i:08X}": each for i, each in enumerate(attachments)}
    return compound({**storage(32, properties), **people, **attached})


def text_of(data: bytes) -> str:
    return read_outlook(data, Limits()).pages[0].text


def test_a_message_is_read_with_its_attachments_and_the_message_attached_to_it() -> None:
    found = read_outlook(CROSSING, Limits())
    (page,) = found.pages
    assert found.title == "Überfahrt am Montag" and found.media_type == "application/vnd.ms-outlook"
    assert found.meta == {
        "from": "Grete Müller <grete@nordwind.example>",
        "to": "Ole Hansen <ole@hafen.example>, steg@hafen.example",
        "cc": "Büro <buero@nordwind.example>",
        "subject": "Überfahrt am Montag",
        "date": "2024-03-01",
    }
    assert [page.text[block.start : block.end] for block in page.blocks] == [
        "From: Grete Müller <grete@nordwind.example> · To: Ole Hansen <ole@hafen.example>, "
        "steg@hafen.example · Cc: Büro <buero@nordwind.example> · "
        "Date: Fri, 01 Mar 2024 09:30:00 +0000 · Subject: Überfahrt am Montag",
        "Hallo Ole,",
        "die Fähre fährt am Montag erst um neun, weil der Steg gestrichen wird.",
        "Grete",
        "Attachment: gebühren.csv",
        "Fahrzeug: Auto · Gebühr: 31",
        "Fahrzeug: Boot · Gebühr: 17",
        "Attachments that were not read: STEG.PNG (an image), plan.docx (damaged DOCX)",
        "Forwarded message",
        "From: Ole Hansen <ole@hafen.example> · To: Grete Müller <grete@nordwind.example> · "
        "Date: Tue, 27 Feb 2024 16:00:00 +0000 · Subject: Farbe",
        "Der Steg wird grün.",
    ]


@pytest.mark.parametrize("name", ["crossing.msg", "crossing", "crossing.txt", "crossing.doc"])
def test_a_message_is_known_by_its_content(read: ReadFunction, corpus: LocalCorpus, name: str) -> None:
    document = read(name, CROSSING)
    assert document.title == "Überfahrt am Montag" and "erst um neun" in corpus.split(document)[0].text


def test_a_message_that_is_attached_to_a_mail_is_read() -> None:
    mail = EmailMessage()
    mail.set_content("See below.")
    mail.add_attachment(CROSSING, maintype="application", subtype="vnd.ms-outlook", filename="crossing.msg")
    text = read_mail(mail.as_bytes(), Limits()).pages[0].text
    assert "Attachment: crossing.msg" in text and "erst um neun" in text and "Der Steg wird grün." in text


def test_the_headers_with_which_a_message_was_sent_come_first() -> None:
    headers = (
        "From: =?utf-8?q?J=C3=B6rg?= <joerg@example.org>\r\nTo: ann@example.org,\r\n bob@example.org\r\n"
        "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nDate: Sat, 1 Jun 2024 10:00:00 +0200\r\nX-Spam: no\r\n"
    )
    properties = {TRANSPORT_HEADERS: headers, SUBJECT: "Other", SENDER: "Somebody", BODY: "Words."}
    found = read_outlook(message(properties, [{NAME: "Carl", KIND: 2}]), Limits())
    assert found.title == "Grüße" and found.meta["date"] == "2024-06-01"
    assert found.pages[0].text == (
        "From: Jörg <joerg@example.org> · To: ann@example.org, bob@example.org · Cc: Carl · "
        "Date: Sat, 1 Jun 2024 10:00:00 +0200 · Subject: Grüße\n\nWords."
    )


@pytest.mark.parametrize("word", ["=?utf-8?b?A?=", "=?x-none?q?Gr?="])
def test_a_header_in_a_broken_encoding_is_shown_as_it_is(word: str) -> None:
    assert text_of(message({TRANSPORT_HEADERS: f"Subject: {word}\n\n"})) == f"Subject: {word}"


def test_html_is_read_where_there_is_no_plain_text() -> None:
    page = "<h2>Größe</h2><p>It is 71.</p>".encode("cp1252")
    assert (
        text_of(message({SUBJECT: "S", HTML: page, CODE_PAGE: 1252})) == "Subject: S\n\n\nGröße\n\nIt is 71."
    )
    utf_8 = message({SUBJECT: "S", HTML: "<p>Höhe</p>".encode()})
    assert text_of(utf_8) == "Subject: S\n\nHöhe"
    assert text_of(message({SUBJECT: "S", HTML: "<p>It is 72.</p>"})) == "Subject: S\n\nIt is 72."


def test_a_message_without_a_text_has_its_headers_only() -> None:
    found = read_outlook(message({SUBJECT: "Empty", SENT: datetime(2024, 2, 1, 8, tzinfo=UTC)}), Limits())
    assert found.pages[0].text == "Date: Thu, 01 Feb 2024 08:00:00 +0000 · Subject: Empty"
    assert found.title == "Empty" and found.meta["date"] == "2024-02-01"
    assert not read_outlook(message({}), Limits()).pages[0].blocks


def test_line_breaks_in_a_property_add_no_header() -> None:
    properties = {SUBJECT: "Hi\r\nCc: eve@example.org\r\n\r\nNot the text", SENDER: "A\nDate: x", BODY: "B."}
    attached = storage(8, {FILE_NAME: "a\r\nX: y.txt", MEDIA_TYPE: "text/plain\r\nX: y", DATA: b"Words."})
    found = read_outlook(message(properties, attachments=[attached]), Limits())
    first, *rest = (found.pages[0].text[block.start : block.end] for block in found.pages[0].blocks)
    assert first == "From: A Date: x · Subject: Hi Cc: eve@example.org Not the text"
    assert rest == ["B.", "Attachment: a X: y.txt", "Words."] and "cc" not in found.meta


def test_addresses_that_are_none_are_shown_as_they_are() -> None:
    people: list[Properties] = [
        {NAME: "<<>> @@, ;", ADDRESS: "no address", KIND: 1},
        {NAME: "Jürgen", ADDRESS: "/O=FIRM/OU=X/CN=JURGEN", KIND: 1},
        {NAME: "Hidden", KIND: 3},
        {ADDRESS: "only@example.org", KIND: 0x10000002},
        {},
    ]
    assert text_of(message({BODY: "B."}, people)) == (
        "To: <<>> @@, ; <no address>, Jürgen · Cc: only@example.org\n\nB."
    )
    many = [{NAME: f"Person {number}"} for number in range(90)]
    assert text_of(message({}, many)).endswith(" …")


def test_a_text_in_another_code_page_than_the_message_says_is_read() -> None:
    data = message({CODE_PAGE: 65001, BODY: (TEXT_8, "Die Größe der Tür ist 71.".encode("cp1252"))})
    assert text_of(data) == "Die Größe der Tür ist 71."


def test_a_property_without_a_stream_is_empty() -> None:
    assert text_of(message({SUBJECT: "S", BODY: (0x1F, None), HTML: (0x102, None)})) == "Subject: S"


def test_an_attachment_without_its_bytes_is_named() -> None:
    attached = [storage(8, {NAME: "drawing.doc", DATA: (0x0D, None)}), storage(8, {FILE_NAME: "x.bin"})]
    text = text_of(message({BODY: "B."}, attachments=attached))
    assert text.startswith("B.\n\nAttachments that were not read: drawing.doc (")
    assert text.endswith("x.bin (of a kind that is not read)")


@pytest.mark.parametrize("data", [b"", b"Subject: a mail", CROSSING[:600], compound({"Workbook": b"x"})])
def test_a_damaged_message_says_so(data: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"^damaged Outlook message$") as caught:
        read_outlook(data, Limits())
    assert caught.value.hint == "Save it as EML."


@pytest.mark.parametrize("part", range(1, 21))
def test_a_message_that_was_cut_is_read_as_far_as_it_goes_or_says_so(part: int) -> None:
    try:
        parse(DocumentFormat.OUTLOOK, CROSSING[: len(CROSSING) * part // 21], Limits())
    except UnreadableError as error:
        assert str(error) == "damaged Outlook message"


def test_messages_within_messages_are_bounded() -> None:
    inner = storage(24, {SUBJECT: "Bottom", BODY: "The bottom."})
    for number in range(40):
        attached = {**storage(8, {}), "__substg1.0_3701000D": inner}
        inner = {**storage(24, {SUBJECT: f"S{number}"}), "__attach_version1.0_#00000000": attached}
    attached = {**storage(8, {}), "__substg1.0_3701000D": inner}
    text = text_of(message({SUBJECT: "Top"}, attachments=[attached]))
    assert "Subject: S39" in text and "The bottom." not in text


def test_more_text_than_the_limit_is_refused() -> None:
    with pytest.raises(UnreadableError, match="expands"):
        read_outlook(CROSSING, Limits(text=20))


@pytest.mark.parametrize(
    ("name", "data", "format_"),
    [
        ("notes.msg", b"Just some words.", DocumentFormat.TEXT),
        ("a.msg", b"From: a@b.c\nDate: today\nSubject: S\n\nWords.", DocumentFormat.MAIL),
        ("a.msg", CROSSING, DocumentFormat.OUTLOOK),
        ("a.xls", compound({"Workbook": b"x", "MBD1": storage(24, {SUBJECT: "S"})}), DocumentFormat.XLS),
    ],
)
def test_the_format_is_that_of_the_content(name: str, data: bytes, format_: DocumentFormat) -> None:
    assert format_of(name, data) is format_


def test_headings_of_a_message_are_those_of_what_is_attached() -> None:
    (page,) = read_outlook(CROSSING, Limits()).pages
    headings = [
        page.text[block.start : block.end] for block in page.blocks if block.kind is BlockKind.HEADING
    ]
    assert headings == ["Attachment: gebühren.csv", "Forwarded message"]
