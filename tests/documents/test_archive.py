"""A ZIP of documents is one document with a section for each of them."""

from __future__ import annotations

import pytest

from localcrag.documents import LocalCorpus
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page
from tests.documents.builders import docx, pdf, pptx, zipped
from tests.documents.conftest import ReadFunction


def blocks(page: Page) -> list[tuple[BlockKind, int, str]]:
    return [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]


def test_each_document_is_a_section_with_its_blocks(read: ReadFunction) -> None:
    members: dict[str, str | bytes] = {
        "docs/notes.md": "# Doses *now*\n\n1. one\n   - deep\n2. two\n\nEnd.",
        "docs/.hidden.txt": "unseen",
        "__MACOSX/docs/notes.md": "unseen",
        "slides.pptx": pptx(("Fees", ["Boat", "Car"], "")),
        "letter.txt": "First line\nof it.\n\nSecond.",
        "run.py": "if x:\n\n    y()\n",
        "paper.pdf": pdf(["A line of the paper."]),
    }
    document = read("all.zip", zipped(members))
    assert (document.title, document.media_type) == ("all", "application/zip")
    (page,) = document.pages
    assert blocks(page) == [
        (BlockKind.HEADING, 1, "docs/notes.md"),
        (BlockKind.HEADING, 2, "Doses now"),
        (BlockKind.ITEM, 0, "one"),
        (BlockKind.ITEM, 1, "deep"),
        (BlockKind.ITEM, 0, "two"),
        (BlockKind.PARAGRAPH, 0, "End."),
        (BlockKind.HEADING, 1, "slides.pptx"),
        (BlockKind.HEADING, 2, "Fees"),
        (BlockKind.ITEM, 0, "Boat"),
        (BlockKind.ITEM, 0, "Car"),
        (BlockKind.ROW, 0, "drug: aspirin · dose: 100|mg"),
        (BlockKind.PARAGRAPH, 0, "grouped words"),
        (BlockKind.HEADING, 1, "letter.txt"),
        (BlockKind.PARAGRAPH, 0, "First line\nof it."),
        (BlockKind.PARAGRAPH, 0, "Second."),
        (BlockKind.HEADING, 1, "run.py"),
        (BlockKind.CODE, 0, "if x:\n\n    y()"),
        (BlockKind.HEADING, 1, "paper.pdf"),
        (BlockKind.PARAGRAPH, 0, "A line of the paper."),
    ]
    assert "1. one\n  - deep\n2. two" in page.text


def test_what_is_not_read_is_named_at_the_end(read: ReadFunction) -> None:
    members: dict[str, str | bytes] = {
        "a.mp3": b"x",
        "b.docx": docx()[:500],
        "c.txt": "words",
        "d.txt": " ",
        "e.zip": zipped({"f.txt": "inner"}),
    }
    (page,) = read("x.zip", zipped(members)).pages
    kind, _, named = blocks(page)[-1]
    assert kind is BlockKind.FURNITURE
    assert named == (
        "Not read: a.mp3 (binary, no text (.mp3)); b.docx (damaged DOCX); d.txt (no text in it); "
        "e.zip (an archive inside an archive is not read)"
    )
    assert page.text.startswith("c.txt\n\nwords")


def test_the_first_five_hundred_files_are_read(read: ReadFunction) -> None:
    members = {f"{number}.txt": f"word {number}" for number in range(520)}
    (page,) = read("x.zip", zipped(members)).pages
    assert "word 499" in page.text and "word 500" not in page.text
    assert page.text.endswith("Not read: 20 files after the first 500")


def test_the_documents_together_have_one_limit(corpus: LocalCorpus, read: ReadFunction) -> None:
    small = LocalCorpus(corpus._tokenizer, max_bytes=1024 * 1024)
    header = "a name of a column that is very long" * 2
    table = header + ",b\n" + "1,2\n" * 20_000
    with pytest.raises(UnreadableError, match="its text expands to more than 4 million characters"):
        read("x.zip", zipped({f"{n}.csv": table for n in range(3)}), small)


@pytest.mark.parametrize("name", ["x", "x.txt", "x.zip"])
def test_the_content_decides(read: ReadFunction, name: str) -> None:
    assert read(name, zipped({"a.txt": "words"})).media_type == "application/zip"
    assert "wordprocessingml" in read(name, docx()).media_type
