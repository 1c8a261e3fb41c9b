"""The head of a knowledge base on object storage: the files of one commit, and where their bytes are."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

HEAD_KEY = "localcrag.json"
FORMAT = 1
_OWN_NAME_FOLDERS = ("/data/", "/_indices/", "/_deletions/")
"""The folders of a table whose files LanceDB names at random, so that no name ever has two contents."""
_TABLES = "lance/"
_PATH = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9._-]*/)*[A-Za-z0-9_-][A-Za-z0-9._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{32}")
_FOLDERS = (_TABLES,)
"""The folders below that of a knowledge base which may have files."""


@dataclass(frozen=True, slots=True)
class ContentFile:
    """The size in bytes and the sha256 of a file."""

    size: int
    sha256: str

    def key(self, path: str) -> str:
        """The key of the object with the bytes of the file at this path below the folder."""
        if path.startswith(_TABLES) and any(folder in path for folder in _OWN_NAME_FOLDERS):
            return path
        return f"contents/{self.sha256}"


@dataclass(frozen=True, slots=True)
class Head:
    """The content of the head.

    Attributes:
        commit: a random name, so that two commits are never the same bytes.
        files: the files, by their paths below the folder of the knowledge base.
        retired: the keys of objects that no file has any more, with the time when, in seconds since 1970.
    """

    commit: str
    files: Mapping[str, ContentFile]
    retired: Mapping[str, float] = field(default_factory=dict)

    def keys(self) -> set[str]:
        """The keys of the objects that its files are in."""
        return {file.key(path) for path, file in self.files.items()}

    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files.values())

    def to_bytes(self) -> bytes:
        """The head as an object."""
        content = {
            "format": FORMAT,
            "commit": self.commit,
            "files": {path: [file.size, file.sha256] for path, file in sorted(self.files.items())},
            "retired": dict(self.retired),
        }
        return json.dumps({"sha256": _digest(content), "content": content}).encode()

    @classmethod
    def parse(cls, body: bytes) -> Head:
        """The head in an object. Raises ValueError, with the reason, for anything else."""
        try:
            found = json.loads(body)
            content = found["content"]
            if found["sha256"] != _digest(content):
                raise ValueError("it is not as it was written")
            if content["format"] != FORMAT:
                raise ValueError(f"it has format {content['format']!r}, and this localcrag reads {FORMAT}")
            files = {path: _file(path, *values) for path, values in content["files"].items()}
            retired = {str(key): float(when) for key, when in content["retired"].items()}
            commit = content["commit"]
        except (TypeError, LookupError, AttributeError, RecursionError, UnicodeDecodeError) as error:
            raise ValueError("it is not the list of files of a knowledge base") from error
        except json.JSONDecodeError as error:
            raise ValueError("it is not the list of files of a knowledge base") from error
        if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
            raise ValueError("it has no commit")
        return cls(commit, files, retired)


def _file(path: str, size: Any, sha256: Any) -> ContentFile:
    """A listed file. Raises ValueError for a path that could lead elsewhere, TypeError for other values."""
    inside = "/" not in path or path.startswith(_FOLDERS)
    if not inside or not _PATH.fullmatch(path) or not isinstance(size, int) or size < 0:
        raise ValueError(f"it lists a file that cannot be one: {path[:80]!r}")
    if not _SHA256.fullmatch(sha256):
        raise ValueError(f"it lists a file without a checksum: {path[:80]!r}")
    return ContentFile(size, sha256)


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
