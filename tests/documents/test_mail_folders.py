"""Mail folders are read message by message."""

from __future__ import annotations

import pytest

from localcrag.documents.extracted import Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import parse
from localcrag.documents.readers.mail_folder import read_mail_folder
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind

FOLDER = b"""From ada@example.org Mon May 12 10:00:00 2025
From: Ada <ada@example.org>
To: Bob <bob@example.org>
Date: Mon, 12 May 2025 10:00:00 +0000
Subject: The boat

The boat is moored at pier 4.

From bob@example.org Tue May 13 11:00:00 2025
From: Bob <bob@example.org>
Date: Tue, 13 May 2025 11:00:00 +0000

Pier 4 is closed from Friday on.
"""


@pytest.mark.parametrize("name", ["club.mbox", "Inbox"])
def test_a_folder_is_told_by_its_name_or_by_its_content(name: str) -> None:
    assert format_of(name, FOLDER) is DocumentFormat.MAIL_FOLDER
    assert (
        format_of("notes", b"From here on it is easy.\nNobody wrote this as a mail.") is DocumentFormat.TEXT
    )


def test_each_message_stands_below_its_subject_with_its_headers() -> None:
    (page,) = parse(DocumentFormat.MAIL_FOLDER, FOLDER, Limits()).pages
    found = [(block.kind, page.text[block.start : block.end]) for block in page.blocks]
    assert [text for kind, text in found if kind is BlockKind.HEADING] == ["The boat", "(no subject)"]
    assert [text.partition(" · ")[0] for kind, text in found if kind is BlockKind.ROW] == [
        "From: Ada <ada@example.org>",
        "From: Bob <bob@example.org>",
    ]
    assert found[-1] == (BlockKind.PARAGRAPH, "Pier 4 is closed from Friday on.")


def test_a_damaged_message_is_named_and_the_others_are_read() -> None:
    torn = b"\nFrom x Wed May 14 11:00:00 2025\nSubject: Torn\n\n\x00\x01\x02\x00 no text \x00\x03\n"
    (page,) = read_mail_folder(FOLDER + torn, Limits()).pages
    assert "pier 4" in page.text
    (named,) = [page.text[b.start : b.end] for b in page.blocks if b.kind is BlockKind.FURNITURE]
    assert named.startswith("Not read: message 3, Torn (")


def test_a_folder_without_messages_is_refused() -> None:
    with pytest.raises(UnreadableError, match="without a message"):
        read_mail_folder(b"nothing parts this\n", Limits())
