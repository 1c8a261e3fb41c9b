"""Puts the models and knowledge bases of an unpacked bundle into a home; its installer does this."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from localcrag.bundle.bundle_archive import MANIFEST_NAME
from localcrag.bundle.bundle_manifest import BundleManifest, decoded_manifest
from localcrag.bundle.carried_kbs import placed_kb
from localcrag.bundle.carried_models import place_models, settings_in
from localcrag.errors import BundleError
from localcrag.llm.model_entry import sha256


@dataclass(frozen=True, slots=True)
class BundleLoading:
    """What was done: a line about each model file and knowledge base, and the settings that go with them."""

    steps: tuple[str, ...]
    settings: Mapping[str, str]


def load_bundle(folder: Path, home: Path) -> BundleLoading:
    """Copy the models and knowledge bases of the bundle that was unpacked to ``folder`` into a home.

    Their files are compared with the manifest first. What is there under the same name stays. Raises
    BundleError, ModelError, StoreError.
    """
    path = folder / MANIFEST_NAME
    try:
        manifest = decoded_manifest(path.read_bytes())
    except OSError as error:
        raise BundleError(
            f"{folder} is no unpacked bundle: there is no {MANIFEST_NAME}",
            hint="unpack the bundle (tar xf FILE), and give the folder localcrag-bundle",
        ) from error
    try:
        _require_whole(folder, manifest)
        return BundleLoading(tuple(_placed(folder, manifest, home)), settings_in(home, manifest))
    except OSError as error:
        raise BundleError(
            f"cannot copy {folder} to {home}: {error.strerror or error}", hint="make room or mend permissions"
        ) from error


def _placed(folder: Path, manifest: BundleManifest, home: Path) -> Iterator[str]:
    """Put everything in place, and say so."""
    for name, new in place_models(folder, manifest, home):
        yield f"model {name}: {'added' if new else 'was there already'}"
    for base in manifest.knowledge_bases:
        new = placed_kb(folder / "knowledge" / base.name, base.name, home)
        state = "added" if new else "there is one of this name already, and it stays as it is"
        yield f"knowledge base {base.name}: {state}"


def _require_whole(folder: Path, manifest: BundleManifest) -> None:
    """Raise BundleError if a file of a model or a knowledge base is not as the manifest says."""
    for part in ("models", "knowledge"):
        listed = {file.path: file.sha256 for file in manifest.files_below(part)}
        present = {
            file.relative_to(folder).as_posix() for file in (folder / part).rglob("*") if not file.is_dir()
        }
        for path in sorted(present | listed.keys()):
            if path not in present or listed.get(path) != sha256(folder / path):
                raise BundleError(
                    f"{path} is not as the manifest says", hint="unpack the bundle again, and verify it"
                )
