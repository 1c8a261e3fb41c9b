"""Decoding bytes to text: by a byte order mark, as UTF-8 or UTF-16, then by a guess among code pages."""

from __future__ import annotations

import codecs
import re

from localcrag.errors import UnreadableError

_BYTE_ORDER_MARKS = (
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
_LATIN_1_NAMES = frozenset({"iso-8859-1", "iso8859-1", "latin-1", "latin1"})
_WIDE_ENCODING = re.compile(r"utf[-_]?(16|32)", re.IGNORECASE)
_SAMPLE_BYTES = 256 * 1024
_MAX_ACCENTED_SHARE = 0.1
_SHORT_TEXT_LETTERS = 200
_MAX_ACCENTED_SHARE_OF_SHORT_TEXT = 0.25
_MAX_CONTROL_SHARE = 0.01
_TEXT_CONTROL_BYTES = frozenset(b"\t\n\r\f\v\x1b")


def charset_of(content_type: str) -> str:
    """The encoding that a content type names; "" if it names none."""
    named = _CHARSET.search(content_type)
    return named[1] if named else ""


def decode(data: bytes, declared: str = "") -> str:
    """The text of ``data``; ``declared`` is the encoding that the document or its server names, or "".

    A byte order mark decides first, then the declared encoding, then UTF-8. Raises UnreadableError if the
    bytes are not text.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, errors="replace")
    for name in (_effective_encoding(declared, data), "utf-8"):
        text = _decoded_strictly(data, name)
        if text is not None and "\x00" not in text:
            return text
    if b"\x00" in data:
        return _decoded_wide(data)
    mended = data.decode("utf-8", errors="replace")
    if _mostly_utf8(mended):
        return mended
    if _control_share(data[:_SAMPLE_BYTES]) > _MAX_CONTROL_SHARE:
        raise UnreadableError("binary, no text")
    return _decoded_western(data) or _decoded_by_guess(data)


def _effective_encoding(declared: str, data: bytes) -> str:
    """The encoding to try for a declared one, as browsers do it (WHATWG Encoding Standard).

    Latin-1 is read as its superset Windows-1252. A declared UTF-16 or UTF-32 is dropped ("") if the bytes
    hold no NUL, because text in these encodings nearly always does.
    """
    if b"\x00" not in data and _WIDE_ENCODING.match(declared):
        return ""
    return "cp1252" if declared.lower() in _LATIN_1_NAMES else declared


def _decoded_strictly(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name) if name else None
    except (ValueError, LookupError):
        return None


def _mostly_utf8(text: str) -> bool:
    """Whether text decoded with replacements is UTF-8 with errors.

    It is if there are more than ten valid characters beyond ASCII for each replacement character.
    """
    bad = text.count("\ufffd")
    good = len(text) - len(text.encode("ascii", errors="ignore")) - bad
    return good > 10 * bad


def _decoded_wide(data: bytes) -> str:
    """Text in UTF-16 without a byte order mark, of a script whose high bytes are mostly zero.

    Raises UnreadableError for anything else that holds NUL bytes.
    """
    sample = data[: _SAMPLE_BYTES & ~1]
    half = len(sample) // 2
    for high, name in ((sample[1::2], "utf-16-le"), (sample[0::2], "utf-16-be")):
        if half and high.count(0) > 0.7 * half:
            text = _decoded_strictly(data, name)
            if text is not None and text.count("\x00") < 0.001 * len(text):
                return text
    raise UnreadableError("binary, no text")


def _decoded_western(data: bytes) -> str | None:
    """The text in Windows-1252, the superset of Latin-1, if it reads like a western language; else None.

    A detector that counts letter pairs mistakes short Latin-1 texts for similar code pages (cp1250,
    cp1251). Western text is therefore recognised by two properties: few accented letters among plain
    ones, and no sign such as ``³`` or ``¿`` in the middle of a word.
    """
    text = _decoded_strictly(data, "cp1252")
    if text is None:
        return None
    sample = text[:_SAMPLE_BYTES]
    letters = sum(map(str.isalpha, sample))
    accented = sum(1 for c in sample if c > "\x7f" and c.isalpha())
    inside = any(
        c > "\x7f" and not c.isalpha() and c not in "\xa0\xad’‘–—" and a.isalpha() and b.isalpha()
        for a, c, b in zip(sample, sample[1:], sample[2:], strict=False)
    )
    share = _MAX_ACCENTED_SHARE_OF_SHORT_TEXT if letters < _SHORT_TEXT_LETTERS else _MAX_ACCENTED_SHARE
    return text if accented <= share * max(letters, 1) and not inside else None


def _decoded_by_guess(data: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE_BYTES], cp_isolation=_CODE_PAGES).best()
    if best is None:
        raise UnreadableError("binary, no text")
    return data.decode(best.encoding, errors="replace")


def _control_share(sample: bytes) -> float:
    return sum(1 for byte in sample if byte < 32 and byte not in _TEXT_CONTROL_BYTES) / max(len(sample), 1)
