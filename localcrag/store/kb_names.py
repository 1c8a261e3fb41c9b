"""The names of knowledge bases: what one may be, and several of them in one text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from localcrag.errors import UsageError
from localcrag.object_address import ObjectAddress, is_object_address

NAME_PATTERN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
NAMES_SEPARATOR = "+"
"""What stands between the names of several knowledge bases; it is in no name."""


def checked_name(name: str) -> str:
    """The name of a knowledge base. Raises UsageError if it cannot be one, such as a path elsewhere."""
    if isinstance(name, str) and len(several := name.split(NAMES_SEPARATOR)) > 1 and all(several):
        raise UsageError(
            f"{name[:80]!r} are several knowledge bases, which can only be searched and asked",
            hint="name one of them",
        )
    if isinstance(name, str) and is_object_address(name):
        raise UsageError(
            f"{name[:160]!r} is on object storage, where this cannot be done",
            hint="name a knowledge base of this machine: `localcrag kb list`",
        )
    if not isinstance(name, str) or not NAME_PATTERN.fullmatch(name):
        raise UsageError(
            f"{str(name)[:80]!r} cannot be the name of a knowledge base",
            hint="use up to 64 letters, digits, '.', '_' and '-', and no '.' in front",
        )
    return name


def joined_name(names: str | Iterable[str]) -> str:
    """The names of one knowledge base or of several as one text, each once.

    A text may name several itself: ``papers+mail``. An address on object storage, ``s3://bucket/prefix``, may
    stand for a name. Raises UsageError for what cannot be one, or for none.
    """
    if isinstance(names, str):
        listed = names.split(NAMES_SEPARATOR)
    else:
        listed = [part for name in names for part in _parts(name)] if isinstance(names, Iterable) else [names]
    return NAMES_SEPARATOR.join(dict.fromkeys(_name_or_address(name) for name in listed or [""]))


def _parts(named: str) -> list[str]:
    """The names in one of several names, which may be joined ones, or an address."""
    is_joined = isinstance(named, str) and NAMES_SEPARATOR in named and not is_object_address(named)
    return named.split(NAMES_SEPARATOR) if is_joined else [named]


def _name_or_address(named: str) -> str:
    """A name, or an address on object storage as it is always written. Raises UsageError."""
    if isinstance(named, str) and is_object_address(named):
        return str(ObjectAddress.parse(named))
    return checked_name(named)
