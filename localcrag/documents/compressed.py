"""Files that are one compressed document, as ``changelog.gz``, unpacked in memory within the limits.

The document inside has the name without the last extension, and is read as if it lay there unpacked.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib

from localcrag.documents.extracted import MEBIBYTE, Limits
from localcrag.documents.format_names import uncompressed_name
from localcrag.documents.format_recognition import Compression, compression_of
from localcrag.documents.zip_guard import check_ratio
from localcrag.errors import UnreadableError

_BLOCK_BYTES = MEBIBYTE
_DAMAGE_ERRORS = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


def uncompressed(name: str, data: bytes, limits: Limits) -> tuple[str, bytes]:
    """The name and the bytes of the document in a compressed file; those given, if it is not compressed.

    Raises UnreadableError: damaged, more than ``limits.data`` bytes, or squeezed like a bomb.
    """
    compression = compression_of(data)
    if compression is None:
        return uncompressed_name(name), data
    unpacked = bytearray()
    try:
        with _opened(compression, io.BytesIO(data)) as stream:
            while block := stream.read(_BLOCK_BYTES):
                unpacked += block
                check_ratio(len(data), len(unpacked))
                if len(unpacked) > limits.data:
                    raise UnreadableError(
                        f"it unpacks to more than {limits.data // MEBIBYTE} MiB",
                        hint="If you trust the file, raise the limit with --max-size.",
                    )
    except _DAMAGE_ERRORS as error:
        raise UnreadableError(f"damaged {compression} file") from error
    return uncompressed_name(name), bytes(unpacked)


def _opened(compression: Compression, packed: io.BytesIO) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    match compression:
        case Compression.GZIP:
            return gzip.GzipFile(fileobj=packed)
        case Compression.BZIP2:
            return bz2.BZ2File(packed)
        case Compression.XZ:
            return lzma.LZMAFile(packed)
