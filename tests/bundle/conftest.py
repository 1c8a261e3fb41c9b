"""A home with small models and a knowledge base, and a bundle of it with made packages."""

from __future__ import annotations

import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import localcrag
from localcrag.bundle.bundle_creation import BundleRequest, create_bundle
from localcrag.bundle.bundle_manifest import BundleManifest
from localcrag.bundle.package_resolution import InstalledPackages
from localcrag.llm.model_entry import Role
from localcrag.llm.registry import Registry
from localcrag.settings import ModelSettings, Settings
from tests.bundle.made_packages import EXTRA, LIBRARY, LOCALCRAG, environment
from tests.tiny_llama import write_base, write_lora

LEAFLET = "The usual dose of Zeldrine is 35 mg once a day."
REQUEST = BundleRequest(models=("spare",), knowledge_bases=("papers",))


@dataclass(frozen=True)
class MadeBundle:
    """A bundle, what it was made of, and the steps that were told."""

    file: Path
    settings: Settings
    installed: InstalledPackages
    manifest: BundleManifest
    steps: tuple[str, ...]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeBundle:
    """A bundle of a language model that was added, an adapter given as a file, and a knowledge base."""
    folder = tmp_path_factory.mktemp("bundle")
    registry = Registry(folder / "home")
    registry.add("tiny", write_base(folder / "tiny.gguf"), Role.LANGUAGE)
    registry.add("spare", write_base(folder / "spare.gguf", name="spare"), Role.LANGUAGE)
    model = ModelSettings(
        language="tiny", adapter=str(write_lora(folder / "tuned.gguf")), evaluator="none", queries="none"
    )
    settings = Settings(folder / "home", kb="papers", model=model)
    with localcrag.open("papers", settings=settings) as kb:
        kb.ingest_text(LEAFLET, name="leaflet")
    installed = environment(folder / "env", LOCALCRAG, LIBRARY, EXTRA)
    steps: list[str] = []
    file = folder / "one.tar"
    manifest = create_bundle(file, settings, REQUEST, installed=installed, say=steps.append)
    return MadeBundle(file, settings, installed, manifest, tuple(steps))


@pytest.fixture
def unpacked(made: MadeBundle, tmp_path: Path) -> Path:
    """The folder that the bundle unpacks to."""
    with tarfile.open(made.file) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "localcrag-bundle"
