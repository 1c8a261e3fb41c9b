"""Bytes to text: byte order marks, UTF-8, UTF-16, then a guess among the old code pages."""

from __future__ import annotations

import codecs
import re

from localcrag.errors import UnreadableError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CODE_PAGES = [
    *("cp1252", "cp1250", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("shift_jis", "euc_jp", "iso2022_jp", "gb18030", "big5", "euc_kr"),
]
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_LATIN_1 = frozenset({"iso-8859-1", "iso8859-1", "latin-1", "latin1"})
_WIDE = re.compile(r"utf[-_]?(16|32)", re.IGNORECASE)
_SAMPLE = 256 * 1024
_WESTERN_SHARE = 0.1
_FEW_LETTERS = 200
_WESTERN_SHARE_OF_FEW = 0.25
_CONTROL_SHARE = 0.01
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\v\x1b")


def charset_of(content_type: str) -> str:
    """The encoding that a content type names; "" where it names none."""
    named = _CHARSET.search(content_type)
    return named[1] if named else ""


def decode(data: bytes, declared: str = "") -> str:
    """The text of ``data``; ``declared`` is the encoding that the document or its server names, if any.

    Raises UnreadableError where the bytes are not text.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, errors="replace")
    for name in (_meant(declared, data), "utf-8"):
        text = _strictly(data, name)
        if text is not None and "\x00" not in text:
            return text
    if b"\x00" in data:
        return _wide(data)
    mended = data.decode("utf-8", errors="replace")
    if _mostly_utf8(mended):
        return mended
    if _control_share(data[:_SAMPLE]) > _CONTROL_SHARE:
        raise UnreadableError("binary, no text")
    return _western(data) or _guessed(data)


def _meant(declared: str, data: bytes) -> str:
    """As browsers read it: Latin-1 is its superset Windows-1252; no UTF-16 or UTF-32 is without a NUL."""
    if b"\x00" not in data and _WIDE.match(declared):
        return ""
    return "cp1252" if declared.lower() in _LATIN_1 else declared


def _strictly(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name) if name else None
    except (ValueError, LookupError):
        return None


def _mostly_utf8(text: str) -> bool:
    """Whether a text with bytes that are not UTF-8 still is: ten good letters beyond ASCII for a bad one."""
    bad = text.count("\ufffd")
    good = len(text) - len(text.encode("ascii", errors="ignore")) - bad
    return good > 10 * bad


def _wide(data: bytes) -> str:
    """UTF-16 without a mark: nearly every second byte of most scripts' text is then the same; else binary."""
    sample = data[: _SAMPLE & ~1]
    half = len(sample) // 2
    for high, name in ((sample[1::2], "utf-16-le"), (sample[0::2], "utf-16-be")):
        if half and high.count(0) > 0.7 * half:
            text = _strictly(data, name)
            if text is not None and text.count("\x00") < 0.001 * len(text):
                return text
    raise UnreadableError("binary, no text")


def _western(data: bytes) -> str | None:
    """Windows-1252, the superset of Latin-1, where the text reads like a western language.

    A detector that counts letter pairs mistakes short Latin-1 texts for their neighbours (cp1250,
    cp1251), so western text is told by its shape: few accented letters among plain ones, and no
    sign such as ``³`` or ``¿`` in the middle of a word.
    """
    text = _strictly(data, "cp1252")
    if text is None:
        return None
    sample = text[:_SAMPLE]
    letters = sum(map(str.isalpha, sample))
    accented = sum(1 for c in sample if c > "\x7f" and c.isalpha())
    inside = any(
        c > "\x7f" and not c.isalpha() and c not in "\xa0\xad’‘–—" and a.isalpha() and b.isalpha()
        for a, c, b in zip(sample, sample[1:], sample[2:], strict=False)
    )
    share = _WESTERN_SHARE_OF_FEW if letters < _FEW_LETTERS else _WESTERN_SHARE
    return text if accented <= share * max(letters, 1) and not inside else None


def _guessed(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE], cp_isolation=_CODE_PAGES).best()
    if best is None:
        raise UnreadableError("binary, no text")
    return data.decode(best.encoding, errors="replace")


def _control_share(sample: bytes) -> float:
    return sum(1 for byte in sample if byte < 32 and byte not in _TEXT_CONTROLS) / max(len(sample), 1)
