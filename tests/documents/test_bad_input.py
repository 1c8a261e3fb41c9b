"""Files that cannot be read: each says why in a line, and none does harm."""

from __future__ import annotations

import gzip
import io
import os
import random
import zipfile
from pathlib import Path
from typing import BinaryIO

import pytest

from localcrag.documents import LocalCorpus, LocalFile, sources
from localcrag.documents.readers import plain_text as text_reader
from localcrag.errors import UnreadableError
from tests.documents.builders import (
    FOX,
    bomb,
    docx,
    epub,
    nested_mail,
    pdf,
    pptx,
    replaced,
    spoilt,
    xlsx,
    zipped,
)
from tests.documents.conftest import ReadFunction
from tests.documents.opendocument_builders import cell, opendocument, row
from tests.documents.test_outlook import compound

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500
MEBIBYTE = 1024 * 1024


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("x.pdf", pdf([FOX], password="secret"), "encrypted PDF (needs a password)"),
        ("x.pdf", pdf([FOX])[:400], "damaged PDF"),
        ("x.pdf", b"not a PDF at all", "damaged PDF"),
        ("x.pdf", pdf([], []), "PDF without a text layer (scanned?): localcrag[ocr] reads it"),
        ("x.docx", compound({"EncryptedPackage": b"x"}), "encrypted DOCX (needs a password)"),
        ("x", OLE, "damaged Office file"),
        ("x", b"%!PS-Adobe-3.0\n/Times findfont", "PostScript is not read"),
        ("x.txt", b"%!PS-Adobe-3.0\n/Times findfont", "PostScript is not read"),
        ("x.ps.gz", gzip.compress(b"%!PS-Adobe-3.0", mtime=0), "PostScript (.ps) is not read"),
        ("x.doc", compound({"Catalog": b"x"}), "a file of a program that is not known"),
        ("x.docx", docx()[:2000], "damaged DOCX"),
        ("x.docx", b"no zip", "damaged DOCX"),
        ("x.docx", zipped({"a": "b"}), "damaged DOCX"),
        ("x.docx", replaced(docx(), {"word/document.xml": "<w:p><"}), "damaged DOCX"),
        ("x.pptx", pptx(("T", [], ""))[:-900], "damaged PPTX"),
        ("x.pptx", replaced(pptx(("T", [], "")), {"ppt/presentation.xml": "<a"}), "damaged PPTX"),
        ("x.xlsx", replaced(xlsx({"S": [[1]]}), {"xl/worksheets/sheet1.xml": "<a"}), "damaged XLSX"),
        ("x.xlsx", replaced(xlsx({"S": [[1]]}), {"xl/workbook.xml": "junk"}), "damaged XLSX"),
        ("x.epub", zipped({"META-INF/container.xml": "<a"}), "damaged EPUB (META-INF/container.xml)"),
        ("x.epub", zipped({"META-INF/container.xml": "<a/>"}), "damaged EPUB (no rootfile)"),
        ("x.epub", epub([("One", "x")], locked=True), "encrypted EPUB (copy protected)"),
        ("x", zipped({"META-INF/MANIFEST.MF": "b"}), "an archive is not read"),
        ("x.vsdx", zipped({"[Content_Types].xml": "<a/>", "visio/a.xml": "b"}), "an archive is not read"),
        ("x.zip", b"PK", "damaged ZIP"),
        ("x.zip", zipped({"a.bin": "b"}), "an archive without a document that can be read"),
        ("x.jar", b"PK", "binary, no text (.jar)"),
        ("x.gif", b"GIF89a", "binary, no text (.gif)"),
        ("x.weird", bytes(range(256)) * 4, "binary, no text"),
        ("x.txt", b"\x01\x02\x03\x8d\x9d" * 50, "binary, no text"),
        ("x.txt", b"", "no text in it"),
        ("x.txt", b" \n\t\r\n", "no text in it"),
        ("x.html", b"<html><script>1</script></html>", "no text in it"),
        ("x.html", b"<div>" * 3000 + b"x" + b"</div>" * 3000, "HTML nested too deeply"),
        ("x.json", b"[" * 100_000 + b"]" * 100_000, "JSON nested too deeply"),
        ("x.eml", nested_mail(1500), "mail nested too deeply"),
        ("x.ipynb", b'{"cells": 1}', "damaged notebook"),
        ("x.ipynb", b"[", "damaged notebook"),
    ],
)
def test_the_reason_is_one_clear_line(read: ReadFunction, name: str, data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read(name, data)
    assert str(caught.value) == reason


def test_a_reader_that_recurses_too_deeply_costs_its_file_only(
    read: ReadFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*_: object) -> str:
        return endless()

    monkeypatch.setattr(text_reader, "read_rows", endless)
    with pytest.raises(UnreadableError, match=r"^CSV nested too deeply$"):
        read("x.csv", "a,b\n1,2\n")


GOOD = {
    "x.docx": docx(),
    "x.pptx": pptx(("A", ["x", "y"], "note")),
    "x.xlsx": xlsx({"S": [["a", "b"], [1, "x"]]}),
    "x.epub": epub([("One", "text"), ("Two", "more")]),
    "x.pdf": pdf([FOX], ["two"]),
    "x.odt": opendocument(
        "text",
        "<text:h>One</text:h><text:list><text:list-item><text:p>a</text:p></text:list-item></text:list>",
    ),
    "x.ods": opendocument("spreadsheet", f"<table:table>{row(cell('a'))}{row(cell('b'))}</table:table>"),
    "x.zip": zipped({"a.docx": docx(), "b.txt": "text"}),
    "x.ipynb": b'{"cells": [{"cell_type": "code", "source": ["1"], "outputs": [{"text": ["2"]}]}]}',
}


@pytest.mark.parametrize("name", GOOD)
def test_a_spoilt_file_is_read_or_refused_but_never_breaks_the_run(read: ReadFunction, name: str) -> None:
    """Parts left out, tags lost, bytes changed: whatever the parser does, one kind of error comes out."""
    rng = random.Random(name)
    outcomes = {"read": 0, "refused": 0}
    for _ in range(25):
        try:
            read(name, spoilt(GOOD[name], rng))
            outcomes["read"] += 1
        except UnreadableError as error:
            assert "\n" not in str(error)
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 0


@pytest.mark.parametrize(
    "header", ["From: <<>,;:\n", "Date: \udcff\n", "Content-Type: text/plain; charset=no-such\n"]
)
def test_mail_with_broken_headers_is_still_read(read: ReadFunction, header: str) -> None:
    text = read("x.eml", f"Subject: Hi\n{header}\nBody text.".encode(errors="surrogateescape")).pages[0].text
    assert "Subject: Hi\n\nBody text." in text


# ---------------------------------------------------------------------------------- bombs


@pytest.mark.parametrize("name", ["x.docx", "x.pptx", "x.xlsx", "x.epub", "x.odt", "x.zip"])
def test_a_zip_bomb_is_refused_before_it_is_opened(
    read: ReadFunction, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = bomb(65 * MEBIBYTE)
    assert len(data) < MEBIBYTE
    monkeypatch.setattr(
        zipfile.ZipFile, "open", lambda *args, **kwargs: pytest.fail("something was unpacked")
    )
    with pytest.raises(UnreadableError, match=r"^archive expands to 66 MiB \(limit 64\)$"):
        read(name, data)


def test_a_part_squeezed_beyond_measure_is_refused(read: ReadFunction) -> None:
    with pytest.raises(UnreadableError, match=r"squeezed \d{3,4} to 1 .* zip bomb"):
        read("x.docx", bomb(20 * MEBIBYTE))


def test_a_container_that_lies_about_its_sizes_is_damaged(read: ReadFunction) -> None:
    size = 1_234_567
    data = replaced(docx(), {"word/document.xml": b" " * size})
    true, false = size.to_bytes(4, "little"), (1000).to_bytes(4, "little")
    assert data.count(true) == 2
    with pytest.raises(UnreadableError, match="damaged DOCX"):
        read("x.docx", data.replace(true, false))


def test_an_encrypted_container_says_so(read: ReadFunction) -> None:
    data = bytearray(docx())
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        start = archive.start_dir
    data[start + 8] |= 1
    with pytest.raises(UnreadableError, match=r"^encrypted DOCX \(needs a password\)$"):
        read("x.docx", bytes(data))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.csv", "h" * 99 + "\n" + "1\n" * 50_000),
        ("x.json", '{"' + "k" * 5000 + '": [' + ",".join(["[1]"] * 5000) + "]}"),
    ],
)
def test_text_that_says_its_headers_too_often_is_refused(
    read: ReadFunction, tokenizer: Path, name: str, data: str
) -> None:
    corpus = LocalCorpus(tokenizer, max_bytes=MEBIBYTE)
    with pytest.raises(UnreadableError, match=r"^its text expands to more than 4 million characters$"):
        read(name, data, corpus)


# ---------------------------------------------------------------------------------- files that move


def found(path: Path) -> LocalFile:
    info = path.stat()
    return LocalFile(str(path), str(path), info.st_size, info.st_mtime_ns)


def test_a_file_over_the_limit_is_refused_unread(corpus: LocalCorpus, tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as stream:
        stream.truncate(200_000_000)
    with pytest.raises(UnreadableError) as caught:
        corpus.read(found(path))
    assert str(caught.value) == "too large (200 MB; limit 64 MiB, raise with --max-size)"


def test_a_file_that_vanished(corpus: LocalCorpus, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("text")
    file = found(path)
    path.unlink()
    with pytest.raises(UnreadableError, match=r"^it vanished before it was read$"):
        corpus.read(file)


@pytest.mark.parametrize("change", [b"grows", b""], ids=["grows", "is emptied"])
def test_a_file_that_changes_while_it_is_read(
    corpus: LocalCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: bytes
) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"some text " * 300_000)
    bounded = sources._bounded

    def while_somebody_writes(stream: BinaryIO, limit: int) -> bytes:
        data = bounded(stream, limit)
        with path.open("ab" if change else "wb") as writer:
            writer.write(change)
        return data

    monkeypatch.setattr(sources, "_bounded", while_somebody_writes)
    with pytest.raises(UnreadableError, match=r"^it changed while it was read$") as caught:
        corpus.read(found(path))
    assert "again" in caught.value.hint


def test_a_file_that_may_not_be_read(
    corpus: LocalCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.txt"
    path.write_text("text")
    file = found(path)
    if os.geteuid():
        path.chmod(0)
    else:  # nothing is locked for root

        def refuse(*args: object) -> BinaryIO:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(UnreadableError, match=r"^no permission to read it$"):
        corpus.read(file)
