"""The sign-off of a mail is furniture; what tells more stays evidence."""

from __future__ import annotations

import time
from email.message import EmailMessage

import pytest

from localcrag.documents.extracted import Limits
from localcrag.documents.readers.mail import read_mail
from localcrag.types import BlockKind


def told(text: str, sender: str = "Wiebke Thun <w.thun@example.org>", subtype: str = "plain") -> list[str]:
    """The blocks of a mail below its header, with "~" in front of furniture."""
    mail = EmailMessage()
    mail["From"] = sender
    mail.set_content(text, subtype=subtype)
    (page,) = read_mail(bytes(mail), Limits()).pages
    return [
        ("~" if block.kind is BlockKind.FURNITURE else "") + page.text[block.start : block.end]
        for block in page.blocks[1:]
    ]


@pytest.mark.parametrize(
    "signed",
    [
        *("Wiebke", "Wiebke Thun", "— W. Thun", "Kind regards\nWiebke Thun", "Kind regards,\n\nWiebke"),
        *(
            "Best, Wiebke",
            "Cheers!\nWiebke",
            "Thanks",
            "Many thanks in advance,",
            "Yours sincerely\nDr. Ann Lee",
        ),
        *("Mit freundlichen Grüßen\nWiebke Thun", "Viele Grüße aus Kiel\nAnna", "LG Wiebke", "Vielen Dank!"),
        *(
            "Cordialement,\nAnne de la Tour",
            "Un cordial saludo,\nJosé",
            "Cordiali saluti",
            "Met vriendelijke groet\nJan",
        ),
    ],
)
def test_a_sign_off_is_furniture(signed: str) -> None:
    first, *rest = told(f"The price is 18 EUR.\n\n{signed}\n")
    assert first == "The price is 18 EUR." and rest == [f"~{part}" for part in signed.split("\n\n")]


@pytest.mark.parametrize(
    "kept",
    [
        *(
            "Hilde Brandt, treasurer",
            "Kind regards\nHilde Brandt, treasurer",
            "Kind regards\nWiebke\nTel. 123",
        ),
        *(
            "Thanks for the photos.",
            "Best of all: Wiebke won",
            "Love is all you need",
            "Jens",
            "Thanks to Wiebke",
        ),
        "Wiebke Thun, Kiel",
    ],
)
def test_what_tells_more_than_a_sign_off_stays(kept: str) -> None:
    assert told(f"The price is 18 EUR.\n\n{kept}\n")[1:] == [kept]


def test_a_closing_stands_at_the_end() -> None:
    long = "The key is with Jens. " * 8
    assert told(f"Best\n\n{long}\n\nMore.\n\nThanks\n\nPS: Bring it.") == [
        *("Best", long.strip(), "More.", "~Thanks", "PS: Bring it."),
    ]
    assert told(f"Kind regards\nWiebke\n\n{long}\n\nMore.")[0] == "~Kind regards\nWiebke"


def test_the_sign_off_of_an_earlier_mail_has_the_name_of_its_sender() -> None:
    text = "Jens\n\nOn Mon, 2 Mar 2026, Hilde Brandt <h@example.org> wrote:\n> Close all taps.\n>\n> Hilde\n"
    assert told(text, "Jens <jens@example.org>") == [
        "~Jens",
        "On Mon, 2 Mar 2026, Hilde Brandt <h@example.org> wrote:",
        "Close all taps.",
        "~Hilde",
    ]
    header = (
        "<p><b>From:</b> Judith Penrose<br><b>Sent:</b> 28 May<br><b>To:</b> Ada<br><b>Subject:</b> meter</p>"
    )
    assert told(f"<p>It is 71.</p>{header}<p>It is 96.</p><p>Judith</p><p>Ada</p>", subtype="html")[2:] == [
        *("It is 96.", "~Judith", "Ada")
    ]


def test_many_lines_take_linear_time() -> None:
    began = time.monotonic()
    told("Kind regards\n\n" * 20_000 + "x" * 200_000)
    assert time.monotonic() - began < 20
