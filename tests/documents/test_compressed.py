"""A compressed document is read as the one inside; what is inside is bounded, and damage is one line."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from email.message import EmailMessage
from hashlib import sha256

import pytest

from localcrag.documents import LocalCorpus
from localcrag.documents.extracted import MEBIBYTE
from localcrag.errors import UnreadableError
from tests.documents.builders import pdf, zipped
from tests.documents.conftest import ReadFunction

NOTES = b"# Fees\n\nA boat costs *75* euros."


@pytest.mark.parametrize(
    ("ending", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_a_compressed_document_is_read_as_the_one_inside(
    read: ReadFunction, ending: str, compress: Callable[[bytes], bytes]
) -> None:
    packed = compress(NOTES)
    document = read(f"fees.md.{ending}", packed)
    assert (document.title, document.media_type) == ("Fees", "text/markdown")
    assert document.pages[0].text == "Fees\n\nA boat costs 75 euros."
    assert document.hash == sha256(packed).hexdigest()  # that of the file, by which a moved one is known


def test_any_format_may_be_compressed_and_a_name_need_not_say_so(read: ReadFunction) -> None:
    assert read("paper.pdf.gz", gzip.compress(pdf(["A line of it."]))).pages[0].text == "A line of it."
    assert read("README.gz", gzip.compress(b"Read me.")).title == "README"
    assert read("notes.txt", gzip.compress(b"Read me.")).pages[0].text == "Read me."
    assert read("notes.txt.gz", b"A server unpacked it.").pages[0].text == "A server unpacked it."
    assert read("notes.txt", b"BZhivago begins.").pages[0].text == "BZhivago begins."


def test_several_streams_in_one_file_are_one_document(read: ReadFunction) -> None:
    assert (
        read("a.log.gz", gzip.compress(b"One.\n") + gzip.compress(b"Two.\n")).pages[0].text == "One.\nTwo.\n"
    )


@pytest.mark.parametrize("inner", ["all.tar", "song.mp3", "again.txt.gz"])
def test_an_archive_or_a_binary_inside_is_refused_by_its_name(read: ReadFunction, inner: str) -> None:
    with pytest.raises(UnreadableError, match=rf"^binary, no text \(\.{inner.rpartition('.')[2]}\)$"):
        read(f"{inner}.gz", gzip.compress(b"words"))


def test_a_bomb_is_refused_before_it_is_unpacked_whole(read: ReadFunction) -> None:
    with pytest.raises(UnreadableError, match=r"^it is squeezed \d{3,4} to 1 \(limit 400\): a zip bomb\?$"):
        read("x.txt.gz", gzip.compress(b" " * 20 * MEBIBYTE))


def test_what_unpacks_to_more_than_the_limit_is_refused(corpus: LocalCorpus, read: ReadFunction) -> None:
    small = LocalCorpus(corpus._tokenizer, max_bytes=MEBIBYTE)
    with pytest.raises(UnreadableError, match=r"^it unpacks to more than 1 MiB$"):
        read("x.txt.gz", gzip.compress(b"word " * 300_000), small)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_damaged_file_is_refused_in_one_line(
    read: ReadFunction, compress: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(UnreadableError, match=r"^damaged (gzip|bzip2|xz) file$"):
        read("x.txt.gz", compress(NOTES * 1000)[:-20])


def test_compressed_documents_in_archives_and_mails_are_read(read: ReadFunction) -> None:
    members: dict[str, str | bytes] = {"docs/fees.md.gz": gzip.compress(NOTES)}
    assert read("all.zip", zipped(members)).pages[0].text.endswith("A boat costs 75 euros.")
    mail = EmailMessage()
    mail["Subject"] = "Fees"
    mail.set_content("See the notes.")
    mail.add_attachment(gzip.compress(NOTES), maintype="application", subtype="gzip", filename="fees.md.gz")
    assert "A boat costs 75 euros." in read("x.eml", bytes(mail)).pages[0].text
