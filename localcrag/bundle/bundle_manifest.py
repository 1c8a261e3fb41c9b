"""The manifest of a bundle: what is in it, for which platform, and the sha256 of every file.

It is JSON in one canonical form: the same content has the same bytes, so that a signature of it, and the
archive that it describes, can be made again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from localcrag.errors import BundleError

FORMAT_NAME = "localcrag-bundle"
FORMAT_VERSION = 1
"""The version of the form of bundles that this code makes and reads."""


@dataclass(frozen=True, slots=True)
class BundledFile:
    """A file of a bundle: its path with "/" between the parts, its size, and its hexadecimal sha256."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BundledPackage:
    """A Python package of a bundle, and the name of its wheel in the folder ``wheels``."""

    name: str
    version: str
    wheel: str


@dataclass(frozen=True, slots=True)
class BundledModel:
    """A model of a bundle.

    Attributes:
        name: the name by which it is chosen.
        role: "language", "evaluator", "adapter" or "embedding".
        path: its file or folder in the bundle; "" if a package carries it.
        package: the package that carries it, or "".
    """

    name: str
    role: str
    path: str = ""
    package: str = ""


@dataclass(frozen=True, slots=True)
class BundledKnowledgeBase:
    """A knowledge base of a bundle, in the folder ``knowledge/NAME``, and the model that embedded it."""

    name: str
    embedding_model: str


@dataclass(frozen=True, slots=True)
class BundleTarget:
    """The platform that a bundle is for.

    Attributes:
        system: the operating system as Python names it, such as "Linux".
        machine: the processor type as Python names it, such as "x86_64".
        python: the version of Python, such as "3.11".
        tag: the platform tag of wheels, such as "linux_x86_64".
    """

    system: str
    machine: str
    python: str
    tag: str


@dataclass(frozen=True, slots=True)
class BundleManifest:
    """The content of a bundle. ``settings`` are names and values that its models need, in pairs."""

    localcrag: str
    target: BundleTarget
    packages: tuple[BundledPackage, ...]
    models: tuple[BundledModel, ...]
    knowledge_bases: tuple[BundledKnowledgeBase, ...]
    settings: tuple[tuple[str, str], ...]
    files: tuple[BundledFile, ...]
    format: str = FORMAT_NAME
    version: int = FORMAT_VERSION

    def encoded(self) -> bytes:
        """The bytes of ``manifest.json``."""
        return (json.dumps(asdict(self), indent=1, sort_keys=True) + "\n").encode()

    def files_below(self, folder: str) -> Iterator[BundledFile]:
        """The files in a folder of the bundle, or the file of that path itself."""
        return (file for file in self.files if file.path == folder or file.path.startswith(f"{folder}/"))


def decoded_manifest(data: bytes) -> BundleManifest:
    """The manifest of these bytes.

    Raises BundleError if they are none, are of another version, or name a file beyond the bundle.
    """
    import msgspec

    try:
        content = json.loads(data)
        if isinstance(content, dict) and content.get("version") not in (None, FORMAT_VERSION):
            raise BundleError(
                f"the bundle is of version {content['version']}, and this localcrag reads {FORMAT_VERSION}",
                hint="use the localcrag that is in the bundle",
            )
        manifest = msgspec.convert(content, BundleManifest)
    except (ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise _foreign_manifest() from error
    paths = [file.path for file in manifest.files]
    in_order = paths == sorted(set(paths)) and all(map(is_inner_path, paths))
    if not in_order or manifest.format != FORMAT_NAME or manifest.encoded() != data:
        raise _foreign_manifest()
    return manifest


def is_inner_path(path: str) -> bool:
    """Whether a path stays in the folder that it is put in, on every system."""
    parts = path.split("/")
    plain = path.isprintable() and not set(path) & set('\\:*?"<>|')
    return plain and all(part not in ("", ".", "..") for part in parts)


def _foreign_manifest() -> BundleError:
    return BundleError(
        "its manifest is not one that localcrag wrote", hint="fetch or make the bundle again, and verify it"
    )
