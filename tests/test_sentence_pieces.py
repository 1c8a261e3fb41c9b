"""A vocabulary that is written for SentencePiece is read as ``tokenizers`` reads the same one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer

from localcrag import e5_conversion
from localcrag.sentence_pieces import FILE_NAME, SentencePieces, write_pieces
from tests.small_e5_package import PIECES, use_small_package

TEXTS = [
    "die Frist",
    "  passage: 费用 35\n\n３５ Frist ",
    "Frist\x01die dieFrist",
    "<s> und </s>",
    "",
    " \n",
    "ab😀c",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_small_package(tmp_path, monkeypatch)
    return e5_conversion.converted(tmp_path / "cache")


def test_its_ids_are_those_of_the_tokenizer_of_the_same_vocabulary(folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(folder / e5_conversion.TOKENIZER))
    plain = [text for text in TEXTS if "<s>" not in text]
    expected = [tokenizer.encode(text.strip(), add_special_tokens=False).ids for text in plain]
    assert SentencePieces(folder).ids(plain) == expected


def test_a_text_cannot_write_the_pieces_that_no_text_has(folder: Path) -> None:
    [found] = SentencePieces(folder).ids(["<s> und </s>"])
    assert not {0, 1, 2} & set(found) and found


def test_what_is_no_unicode_is_read_as_something_unknown(folder: Path) -> None:
    broken, marked = SentencePieces(folder).ids(["die \ud800 Frist", "die ? Frist"])
    assert broken == marked


def test_combining_marks_keep_their_order(tmp_path: Path) -> None:
    marks = ["\u064e", "\u0651"]  # Unicode's own normal form has the second one first
    vocabulary = [("<unk>", 0.0), ("▁", -1.0), *((mark, -2.0) for mark in marks)]
    write_pieces(tmp_path, vocabulary, unknown=0, special=())
    assert SentencePieces(tmp_path).ids(["".join(reversed(marks)), "".join(marks)]) == [[1, 3, 2], [1, 2, 3]]


def test_a_file_without_pieces_is_damaged(tmp_path: Path) -> None:
    for content in (b"", b"damaged"):
        (tmp_path / FILE_NAME).write_bytes(content)
        with pytest.raises(RuntimeError):
            SentencePieces(tmp_path)


def test_without_the_library_the_package_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_conversion, "_PIECES_LIBRARY", "no_such_library")
    assert not e5_conversion.is_installed()


def test_long_pieces_are_written_whole(tmp_path: Path) -> None:
    long = "x" * 300
    write_pieces(tmp_path, [*PIECES, (long, -1.0)], unknown=3, special=(0, 1, 2))
    assert SentencePieces(tmp_path).ids([long]) == [[4, len(PIECES)]]
