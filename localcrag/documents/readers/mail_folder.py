"""Reader of mail folders (mbox, RFC 4155), as Thunderbird and many servers keep them: message by message."""

from __future__ import annotations

import mailbox
import tempfile
from collections.abc import Iterator
from pathlib import Path

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.mail import MailReader, subject_of
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind

WITHOUT_SUBJECT = "(no subject)"


def read_mail_folder(data: bytes, limits: Limits) -> ExtractedText:
    """Read the messages of a folder in its order, each below its subject.

    A message that cannot be read is named. Raises UnreadableError: there is none that can be read, or more
    text than ``limits.text``.
    """
    made = BlockText(limits)
    unread: list[str] = []
    count = 0
    for count, message in enumerate(_messages(data), start=1):
        subject = subject_of(message) or WITHOUT_SUBJECT
        made.add(BlockKind.HEADING, subject, level=1)
        try:
            MailReader(made, limits).read(message)
        except UnreadableError as error:
            unread.append(f"message {count}, {subject} ({error})")
    if count == len(unread):
        raise UnreadableError("a mail folder without a message that can be read")
    if unread:
        made.add(BlockKind.FURNITURE, f"Not read: {'; '.join(unread)}")
    return ExtractedText("", MEDIA_TYPES[DocumentFormat.MAIL_FOLDER], (made.page(),))


def _messages(data: bytes) -> Iterator[bytes]:
    """The messages of a folder, without the lines "From …" that part them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mbox"
        file.write_bytes(data)
        box = mailbox.mbox(file, create=False)
        try:
            for key in box.iterkeys():
                yield box.get_bytes(key)
        finally:
            box.close()
