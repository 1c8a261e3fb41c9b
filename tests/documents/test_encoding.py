"""Text in the encodings that files are found in."""

from __future__ import annotations

import codecs

import pytest

from localcrag.documents.encoding import decode
from localcrag.documents.extracted import clean
from localcrag.errors import UnreadableError
from tests.documents.conftest import ReadFunction

FRENCH = "Café crème à la française, voilà."
GERMAN = "Müller sagt: Der größte Ärger über Straßen."
POLISH = "Zażółć gęślą jaźń. Wszystkie dzieci śpią w domu, a źrebięta biegają po łąkach."
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю."
JAPANESE = "これは日本語の文章です。東京は日本の首都です。"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "utf-8"),
        (FRENCH, "latin-1"),
        ("Müller", "latin-1"),
        (GERMAN, "cp1252"),
        ("“Quoted” — it’s 5 €, 20 °C, naïve.", "cp1252"),
        (POLISH, "cp1250"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        (FRENCH, "utf-16-le"),
        (FRENCH, "utf-16-be"),
        ("", "utf-8"),
    ],
)
def test_text_is_decoded_without_being_told(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_is_obeyed_and_left_out(mark: bytes, encoding: str) -> None:
    assert decode(mark + JAPANESE.encode(encoding)) == JAPANESE


def test_a_bad_byte_in_utf8_spoils_one_letter_only() -> None:
    assert decode((POLISH + RUSSIAN).encode() + b"\xff.") == POLISH + RUSSIAN + "\ufffd."


def test_a_bad_byte_far_from_the_start_is_judged_by_all_of_the_text() -> None:
    text = "plain " * 50_000 + POLISH
    assert decode(text.encode() + b"\xff.") == text + "\ufffd."


@pytest.mark.parametrize("declared", ["utf-16", "UTF-16LE", "utf_16_be", "utf-32"])
def test_what_has_no_nul_is_not_in_the_wide_encoding_it_declares(declared: str) -> None:
    assert decode(b"plain words.", declared) == "plain words."
    assert decode(GERMAN.encode() + b" " * 4, declared) == GERMAN + " " * 4
    assert decode(GERMAN.encode(declared), declared) == GERMAN


def test_a_declared_encoding_is_tried_first_and_may_be_wrong() -> None:
    assert decode("ąćę".encode("iso-8859-2"), "iso-8859-2") == "ąćę"
    assert decode("“5 €”".encode("cp1252"), "ISO-8859-1") == "“5 €”"
    assert decode(FRENCH.encode(), "ascii") == FRENCH
    assert decode(FRENCH.encode(), "no-such-encoding") == FRENCH


@pytest.mark.parametrize("data", [b"abc\x00def", b"\x00" * 100, bytes(range(256)), b"\x01\x02\x03\x81" * 20])
def test_bytes_that_are_not_text(data: bytes) -> None:
    with pytest.raises(UnreadableError, match=r"^binary, no text$"):
        decode(data)


def test_stored_text_has_plain_line_ends_and_nothing_unstorable(read: ReadFunction) -> None:
    document = read("x.txt", "\ufeffone\r\ntwo\rthree\ufeff\n")
    assert document.pages[0].text == "one\ntwo\nthree\n"
    assert (
        read("x.json", '{"a": "lone \\ud800 half, nul \\u0000."}').pages[0].text
        == "a: lone \ufffd half, nul ."
    )
    assert read("x.md", FRENCH.encode("utf-16")).pages[0].text == FRENCH


def test_letters_that_are_struck_over_for_printers_stand_once() -> None:
    struck = "N\bNA\bAM\bME\bE\n     _\bm_\br_\bt_\bg - one\b\b"
    assert clean(struck) == "NAME\n     mrtg - on"
    assert clean("a\nb") == "a\nb"
