"""A model that a Python package carries, and a manifest that lists it, in place of the real ones."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import tomli_w

from localcrag.llm import model_entry, registry
from tests.tiny_llama import write_base, write_lora

PACKAGE, MODULE = "tiny-weights", "tiny_weights"
NAME, ADAPTER = "tiny", "tiny-adapter"


@dataclass(frozen=True)
class PackagedModel:
    """The package's file, and the folder of the manifest; the package fails if it is imported."""

    file: Path
    folder: Path
    patch: pytest.MonkeyPatch

    @property
    def digest(self) -> str:
        """The sha256 of the file as the manifest lists it."""
        return model_entry.sha256(self.file)

    def list(self, *further: dict[str, object]) -> None:
        """Write the manifest: the model, and further tables."""
        table = {
            "name": NAME,
            "package": PACKAGE,
            "file": f"{MODULE}/{self.file.name}",
            "role": "language",
            "sha256": self.digest,
            "bytes": self.file.stat().st_size,
            "requantise": "Q4_0",
        }
        (self.folder / "manifest.toml").write_text(tomli_w.dumps({"model": [table, *further]}))

    def list_with_adapter(self, **changes: object) -> Path:
        """Write the manifest with an adapter for the model; returns the adapter's file."""
        path = write_lora(self.folder / "tiny-adapter.gguf")
        table = {
            "name": ADAPTER,
            "file": path.name,
            "role": "adapter",
            "sha256": model_entry.sha256(path),
            "bytes": path.stat().st_size,
            "base": NAME,
            "base_sha256": self.digest,
        }
        self.list(table | changes)
        return path

    def list_in_parts(self, parts: int = 3) -> None:
        """Divide the file among as many packages, and write the manifest for them."""
        whole, site = self.file.read_bytes(), self.file.parents[1]
        size = -(-len(whole) // parts)
        for number in range(1, parts + 1):
            folder = site / f"{MODULE}_part{number}"
            folder.mkdir()
            (folder / "__init__.py").write_text("raise ImportError('the package of a part was imported')")
            part = whole[(number - 1) * size : number * size]
            (folder / f"part{number:02}.bin").write_bytes(part)
        table = {
            "name": NAME,
            "package": f"{PACKAGE}-part{{part}}",
            "parts": parts,
            "file": f"{MODULE}_part{{part}}/part{{part:02}}.bin",
            "role": "language",
            "sha256": self.digest,
            "bytes": len(whole),
            "requantise": "Q4_0",
        }
        (self.folder / "manifest.toml").write_text(tomli_w.dumps({"model": [table]}))

    def uninstall(self) -> None:
        """Let Python not find the package any more."""
        self.patch.setitem(sys.modules, MODULE, None)


def packaged(folder: Path, patch: pytest.MonkeyPatch) -> PackagedModel:
    """A package with a model in it, below ``folder``, that is found for the length of a test."""
    module, embedded = folder / "site" / MODULE, folder / "embedded"
    embedded.mkdir(parents=True)
    made = PackagedModel(write_base(module / "tiny.F32.gguf"), embedded, patch)
    (module / "__init__.py").write_text("raise ImportError('the package of a model was imported')")
    patch.syspath_prepend(folder / "site")
    patch.setattr(registry, "embedded_folder", lambda: embedded)
    made.list()
    return made
