"""The address of a knowledge base on object storage, in place of its name: ``s3://bucket/prefix``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from localcrag.errors import UsageError

SCHEME = "s3://"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PREFIX_PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
MAX_PREFIX_CHARACTERS = 120


def is_object_address(name: str) -> bool:
    """Whether a knowledge base is named by an address on object storage, and not by a name."""
    return name[: len(SCHEME)].lower() == SCHEME


@dataclass(frozen=True, slots=True)
class ObjectAddress:
    """A bucket, and the prefix of the keys of all objects of one knowledge base, without slashes around."""

    bucket: str
    prefix: str

    @classmethod
    def parse(cls, name: str) -> ObjectAddress:
        """The parts of an address. Raises UsageError for one that cannot be used."""
        bucket, _, prefix = name[len(SCHEME) :].partition("/")
        prefix = prefix.rstrip("/")
        parts = prefix.split("/")
        fits = len(prefix) <= MAX_PREFIX_CHARACTERS and all(map(_PREFIX_PART.fullmatch, parts))
        if not is_object_address(name) or not _BUCKET.fullmatch(bucket) or ".." in bucket or not fits:
            raise UsageError(
                f"{name[:160]!r} cannot be the address of a knowledge base",
                hint="an address looks like s3://bucket/prefix, the prefix of letters, digits, '.', '_', '-' "
                f"and '/', at most {MAX_PREFIX_CHARACTERS}",
            )
        return cls(bucket, prefix)

    def __str__(self) -> str:
        return f"{SCHEME}{self.bucket}/{self.prefix}"
