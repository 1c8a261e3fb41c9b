"""The objects of a knowledge base as a whole: those that no commit has, those that are missing, and all.

Only keys of the forms that localcrag writes are deleted, so that other objects below the same prefix, such as
another knowledge base, stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from localcrag.object_storage.head import Head
from localcrag.object_storage.object_client import ObjectClient
from localcrag.store.kb_record import remake_hint
from localcrag.types import Mending, StoreProblem

_OWN_KEY = re.compile(r"contents/[0-9a-f]{64}|lance/[a-z0-9_]+\.lance/(?:data|_indices|_deletions)/[^/].*")


def delete_strays(client: ObjectClient, head: Head) -> None:
    """Delete what writers left that were killed before they committed; call it with the lease."""
    kept = head.keys() | head.retired.keys()
    for key in client.list():
        if key not in kept and _OWN_KEY.fullmatch(key):
            client.delete(key)


def delete_all(client: ObjectClient) -> None:
    """Delete all objects of a knowledge base whose head is deleted already; call it with the lease."""
    client.announce("delete all objects of")
    for key in client.list():
        if _OWN_KEY.fullmatch(key):
            client.delete(key)


def missing_objects(client: ObjectClient, head: Head) -> Iterator[StoreProblem]:
    """The objects that are listed and are not there, or have another size."""
    held, name = client.list(), str(client.address)
    for path, file in head.files.items():
        if held.get(file.key(path)) != file.size:
            yield StoreProblem(
                f"the object {file.key(path)} is missing or cut off", Mending.REMOVE, hint=remake_hint(name)
            )
