"""ZIP containers (Office, EPUB) opened with care: sizes are checked before anything is parsed.

Nothing is ever written to disk. The container's directory says how large each part becomes, and a
directory that lies is found out by reading every part within the size it claims.
"""

from __future__ import annotations

import io
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from xml.parsers.expat import ExpatError
from xml.sax import SAXException

from localcrag.documents.extracted import MEBIBYTE, Limits
from localcrag.errors import UnreadableError

_MARKUP = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx", ".vml")
_TOTAL_FACTOR = 8
_RATIO = 400
_RATIO_FROM = 8 * MEBIBYTE
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError),
    *(ExpatError, SAXException, SyntaxError, RecursionError),
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
)
"""What unpacking, XML parsers, and code that expects parts a file does not have are known to raise."""


@contextmanager
def opened(data: bytes, what: str, limits: Limits) -> Iterator[zipfile.ZipFile]:
    """The container, proved harmless; ``what`` names the format in errors.

    What goes wrong in the body of the ``with``, where the parts are parsed, means a damaged file too.

    Raises UnreadableError: damaged, encrypted, or a bomb (its markup may become as large as
    the limit on data, everything together eight times that, and no large part may have been squeezed
    more than 400 to 1).
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check(archive.infolist(), what, limits)
            bad = archive.testzip()
            if bad is not None:
                raise UnreadableError(f"damaged {what} ({bad})")
            yield archive
    except _DAMAGED as error:
        raise UnreadableError(f"damaged {what}") from error


def _check(parts: list[zipfile.ZipInfo], what: str, limits: Limits) -> None:
    if any(part.flag_bits & 1 for part in parts):
        raise UnreadableError(f"encrypted {what} (needs a password)")
    markup = [part for part in parts if part.filename.lower().endswith(_MARKUP)]
    for size, limit in (
        (sum(part.file_size for part in markup), limits.data),
        (sum(part.file_size for part in parts), limits.data * _TOTAL_FACTOR),
    ):
        if size > limit:
            raise UnreadableError(
                f"archive expands to {size / MEBIBYTE:.0f} MiB (limit {limit // MEBIBYTE})",
                hint="If you trust the file, raise the limit with --max-size.",
            )
    for part in parts:
        if part.file_size > _RATIO_FROM and part.file_size > _RATIO * max(part.compress_size, 1):
            ratio = part.file_size // max(part.compress_size, 1)
            raise UnreadableError(f"archive is squeezed {ratio} to 1 (limit {_RATIO}): a zip bomb?")
