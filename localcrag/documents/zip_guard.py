"""Opening ZIP containers (Office, EPUB) safely: sizes are checked before anything is parsed.

Nothing is written to disk. The directory of the container says how large each part becomes; a false
size is detected by reading every part, and its checksum, up to the size that it claims.
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

_MARKUP_ENDINGS = (".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx", ".vml")
_MAX_TOTAL_FACTOR = 8
"""The size of all parts together, in multiples of the limit on data."""
_MAX_COMPRESSION_RATIO = 400
_MIN_RATIO_CHECKED_BYTES = 8 * MEBIBYTE
"""Bytes of an unpacked part from which on its compression ratio is checked."""
_DAMAGE_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError),
    *(ExpatError, SAXException, SyntaxError, RecursionError),
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
)
"""The errors of unpacking, of XML parsers, and of code that expects parts that a file does not have."""


@contextmanager
def opened(data: bytes, format_name: str, limits: Limits) -> Iterator[zipfile.ZipFile]:
    """The opened container, after its sizes were checked; ``format_name`` names the format in errors.

    An error in the body of the ``with``, where the parts are parsed, counts as a damaged file too.

    Raises UnreadableError: damaged, encrypted, or a zip bomb. The markup may unpack to ``limits.data`` bytes
    and everything together to eight times that; no part over 8 MiB may be compressed more than 400 to 1.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check(archive.infolist(), format_name, limits)
            bad = archive.testzip()
            if bad is not None:
                raise UnreadableError(f"damaged {format_name} ({bad})")
            yield archive
    except _DAMAGE_ERRORS as error:
        raise UnreadableError(f"damaged {format_name}") from error


def _check(parts: list[zipfile.ZipInfo], format_name: str, limits: Limits) -> None:
    if any(part.flag_bits & 1 for part in parts):
        raise UnreadableError(f"encrypted {format_name} (needs a password)")
    markup = [part for part in parts if part.filename.lower().endswith(_MARKUP_ENDINGS)]
    for size, limit in (
        (sum(part.file_size for part in markup), limits.data),
        (sum(part.file_size for part in parts), limits.data * _MAX_TOTAL_FACTOR),
    ):
        if size > limit:
            raise UnreadableError(
                f"archive expands to {size / MEBIBYTE:.0f} MiB (limit {limit // MEBIBYTE})",
                hint="If you trust the file, raise the limit with --max-size.",
            )
    for part in parts:
        check_ratio(part.compress_size, part.file_size)


def check_ratio(packed: int, unpacked: int) -> None:
    """Raise UnreadableError if more than 8 MiB were squeezed as only a bomb is; both sizes are in bytes."""
    packed = max(packed, 1)
    if unpacked > _MIN_RATIO_CHECKED_BYTES and unpacked > _MAX_COMPRESSION_RATIO * packed:
        raise UnreadableError(
            f"it is squeezed {unpacked // packed} to 1 (limit {_MAX_COMPRESSION_RATIO}): a zip bomb?"
        )
