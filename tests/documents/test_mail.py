"""Mails as blocks: the texts without their wrapping, the attachments, and messages made to do harm."""

from __future__ import annotations

import time
from email.message import EmailMessage

import pytest

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.mail_body import add_mail_text
from localcrag.documents.readers.mail import read_mail
from localcrag.types import BlockKind
from tests.documents.builders import docx, pdf

WRAPPED = """Dear Bob,

the tablets that you asked about have to be kept in a dry place and
must not be taken by children below twelve years of age, as the
leaflet says.

Ann Example
Long Road 1

On Monday Bob wrote:
> May my children take the tablets that were left over from the last
> time?
>> An older question.
> Thanks
-\x20one
-\x20two
--\x20
Ann
Tel.\x20123"""


def blocks(text: str, *, flowed: bool = False, delete_space: bool = False) -> list[tuple[str, str]]:
    made = BlockText()
    add_mail_text(made, text, flowed=flowed, delete_space=delete_space)
    page = made.page()
    return [(block.kind.value, page.text[block.start : block.end]) for block in page.blocks]


def test_a_mail_text_is_read_into_paragraphs_quotes_items_and_a_signature() -> None:
    assert blocks(WRAPPED) == [
        ("paragraph", "Dear Bob,"),
        (
            "paragraph",
            "the tablets that you asked about have to be kept in a dry place and must not be taken by "
            "children below twelve years of age, as the leaflet says.",
        ),
        ("paragraph", "Ann Example\nLong Road 1"),
        ("paragraph", "On Monday Bob wrote:"),
        ("paragraph", "May my children take the tablets that were left over from the last time?"),
        *(("paragraph", "An older question."), ("paragraph", "Thanks"), ("item", "one"), ("item", "two")),
        ("furniture", "Ann\nTel. 123"),
    ]


def test_an_earlier_mail_below_the_signature_is_read() -> None:
    text = "We go on the 19th.\n-- \nAnn, teacher\nThink before you print.\n\n{}"
    quoted = (
        "On Mon, 12 May 2025, Tom Reed\n<tom@school.example> wrote:\n> The price is £14.50.\n> -- \n> Tom\n\n"
    )
    begun = [("paragraph", "We go on the 19th."), ("furniture", "Ann, teacher\nThink before you print.")]
    assert blocks(text.format(quoted + "Mine again.")) == [
        *begun,
        ("paragraph", "On Mon, 12 May 2025, Tom Reed\n<tom@school.example> wrote:"),
        ("paragraph", "The price is £14.50."),
        ("furniture", "Tom"),
        ("paragraph", "Mine again."),
    ]
    original = "-----Original Message-----\nFrom: Tom Reed\n\nThe price is £14.50."
    head, *_, last = blocks(text.format(original))[2:]
    assert head[0] == "paragraph"
    assert last == ("paragraph", "The price is £14.50.")


def test_what_stands_above_an_earlier_mail_at_the_end_is_its_heading() -> None:
    quoted = "On Mon, 12 May 2025, Tom\n<tom@x.org> wrote:\n> Hello,\n> Ada wrote:\n>> It costs 14.\n> \n"
    assert leveled(f"It costs 16 now.\n\n{quoted}") == [
        ("paragraph", 0, "It costs 16 now."),
        ("heading", 2, "On Mon, 12 May 2025, Tom\n<tom@x.org> wrote:"),
        ("paragraph", 0, "Hello,"),
        ("heading", 3, "Ada wrote:"),
        ("paragraph", 0, "It costs 14."),
    ]
    header = "From: Tom\nSent: Monday, 2 June\nTo: Ada\nSubject: Room"
    assert leveled(f"Room 204.\n\n-----Original Message-----\n{header}\n\nRoom 117.") == [
        ("paragraph", 0, "Room 204."),
        ("heading", 2, f"Original Message\n{header}"),
        ("paragraph", 0, "Room 117."),
    ]
    assert leveled(f"Room 204.\n{header}\nRoom 117.")[1:] == [
        ("heading", 2, header),
        ("paragraph", 0, "Room 117."),
    ]


def test_an_answer_between_quoted_questions_stands_below_no_earlier_mail() -> None:
    text = (
        "On 5 June, Ada wrote:\n> What is the deposit?\n\nIt is 120 euros.\n\n> And jackets?\n\nIn the shed."
    )
    assert {kind for kind, *_ in leveled(text)} == {"paragraph"}
    assert {kind for kind, *_ in leveled("From: Berlin\nTo: Oslo\nDate: 3 May")} == {"paragraph"}


def leveled(text: str) -> list[tuple[str, int, str]]:
    made = BlockText()
    add_mail_text(made, text)
    page = made.page()
    return [(block.kind.value, block.level, page.text[block.start : block.end]) for block in page.blocks]


def test_many_signatures_take_linear_time() -> None:
    started = time.perf_counter()
    blocks("-- \nAnn\n> quoted\n" * 20_000)
    blocks("From: Ann\n" * 20_000)
    blocks("".join(f"{'>' * (number % 50)} Ann wrote:\n" for number in range(20_000)))
    assert time.perf_counter() - started < 10


def test_flowed_lines_are_joined() -> None:
    text = "A line \nthat flows.\nNot this.\n> quoted \n> too\n From here"
    assert blocks(text, flowed=True) == [
        *(
            ("paragraph", "A line that flows.\nNot this."),
            ("paragraph", "quoted too"),
            ("paragraph", "From here"),
        )
    ]
    assert blocks("to \nday", flowed=True, delete_space=True) == [("paragraph", "today")]


def message(*attachments: tuple[str, bytes, str], subject: str = "S") -> EmailMessage:
    """A message with attachments of (name, content, media type)."""
    made = EmailMessage()
    made["Subject"] = subject
    made.set_content("The body.")
    for name, content, media_type in attachments:
        main, _, sub = media_type.partition("/")
        made.add_attachment(content, maintype=main, subtype=sub, filename=name)
    return made


def text_of(mail: EmailMessage) -> str:
    return read_mail(mail.as_bytes(), Limits()).pages[0].text


def test_attachments_are_read_under_a_heading_of_their_name() -> None:
    binary = "application/octet-stream"
    inner = message(("deep.txt", b"Deep words.", "text/plain"), subject="Inner")
    found = read_mail(
        message(
            *(("leaflet.docx", docx(), binary), ("größe.pdf", pdf(["Keep it dry."]), "application/pdf")),
            *(("table.csv", b"drug,dose\naspirin,100\n", "text/csv"), ("photo.png", b"\x89PNG", "image/png")),
            *(("inner.eml", inner.as_bytes(), binary), ("a.zip", b"PK", binary), ("x.dat", b"abc", binary)),
        ).as_bytes(),
        Limits(),
    )
    (page,) = found.pages
    headings = [
        (page.text[block.start : block.end], block.level)
        for block in page.blocks
        if block.kind is BlockKind.HEADING
    ]
    assert headings == [
        *(("Attachment: leaflet.docx", 1), ("Dosage", 2), ("Children", 3), ("Attachment: größe.pdf", 1)),
        *(("Attachment: table.csv", 1), ("Attachment: inner.eml", 1), ("Attachment: deep.txt", 1)),
    ]
    for words in (
        "- after a meal\n\nage: 6 · dose: half",
        "Keep it dry.",
        "drug: aspirin · dose: 100",
        "Deep words.",
    ):
        assert words in page.text
    assert page.text.endswith(
        "Attachments that were not read: photo.png (an image), a.zip (damaged ZIP), "
        "x.dat (of a kind that is not read)"
    )


PGP = "-----BEGIN PGP {}-----\n"


def test_what_a_program_signs_a_mail_with_is_no_text() -> None:
    signature = PGP.format("SIGNATURE") + "\niEYEARECAAYFAksDL\n=eL9p\n-----END PGP SIGNATURE-----"
    made = message(("signature.asc", signature.encode(), "application/pgp-signature"))
    made.replace_header("Subject", "Signed")
    assert "iEYEAR" not in text_of(made)
    assert text_of(made).endswith("Attachments that were not read: signature.asc (a signature)")
    signed = EmailMessage()
    signed.set_content(f"{PGP.format('SIGNED MESSAGE')}Hash: SHA1\n\nIt moves to May.\n{signature}\n")
    assert text_of(signed) == "It moves to May."


def test_the_attachments_that_are_read_are_bounded() -> None:
    text = text_of(message(*((f"{i}.txt", f"text {i}.".encode(), "text/plain") for i in range(22))))
    assert "text 19." in text and "text 20." not in text
    assert text.endswith("20.txt (more than 20 attachments), 21.txt (more than 20 attachments)")
    nested = message(("bottom.txt", b"bottom", "text/plain"))
    for _ in range(4):
        nested = message(("m.eml", nested.as_bytes(), "application/octet-stream"))
    assert "bottom" not in text_of(nested) and "an attachment of an attachment)" in text_of(nested)


def test_headers_are_decoded_and_cut() -> None:
    raw = (
        b"Subject: =?utf-8?q?Gr=C3=B6=C3=9Fe?= der Dosis\nFrom: M\xc3\xbcller <m@example.org>\n"
        b"To: " + b", ".join(b"a%d@example.org" % i for i in range(500)) + b"\n\nBody."
    )
    found = read_mail(raw, Limits())
    row, body = found.pages[0].text.split("\n\n")
    assert found.title == "Größe der Dosis" and body == "Body."
    assert row.startswith("From: Müller <m@example.org> · To: a0@example.org, a1@") and len(row) < 1000
    assert " … · Subject: Größe der Dosis" in row


@pytest.mark.parametrize(
    "header",
    [
        b"To: " + b", ".join(b"Name %d <a%d@example.org>" % (i, i) for i in range(35_000)),
        b"To: " + b",\n ".join(b"Name %d <a%d@example.org>" % (i, i) for i in range(35_000)),
        b"To: " + b"=?utf-8?q?=C3=A4?= " * 60_000,
        b"Content-Type: text/plain; " + b"; ".join(b"a%d=b" % i for i in range(80_000)),
        b"Content-Type: text/plain; " + b"(" * 1_000_000,
        b"X-A: b\n" * 30_000 + b"X-B: c",
    ],
    ids=["to", "folded to", "encoded words", "parameters", "brackets", "headers"],
)
def test_a_header_of_a_megabyte_costs_little(header: bytes) -> None:
    start = time.process_time()
    assert "Body." in read_mail(b"Subject: S\n" + header + b"\n\nBody.", Limits()).pages[0].text
    assert time.process_time() - start < 2


def test_the_header_of_an_earlier_mail_in_html_is_its_heading() -> None:
    message = EmailMessage()
    message.set_content(
        "<p>It is now 71.</p><div><p><b>From:</b> Judith Penrose &lt;j@example.org&gt;<br>"
        "<b>Sent:</b> 28 May 2025<br><b>Subject:</b> meter</p></div><p>From: nobody. It says 96.</p>",
        subtype="html",
    )
    (page,) = read_mail(bytes(message), Limits()).pages
    header = "From: Judith Penrose <j@example.org> Sent: 28 May 2025 Subject: meter"
    assert [(block.kind, page.text[block.start : block.end]) for block in page.blocks][-3:] == [
        (BlockKind.PARAGRAPH, "It is now 71."),
        (BlockKind.HEADING, header),
        (BlockKind.PARAGRAPH, "From: nobody. It says 96."),
    ]
