"""Makes a bundle: wheels, models, knowledge bases, the manual, the SearXNG setup and an installer."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import localcrag
from localcrag._platform import cores
from localcrag.background import interruptible
from localcrag.bundle.bundle_archive import verify_archive, write_archive
from localcrag.bundle.bundle_manifest import (
    BundledFile,
    BundledKnowledgeBase,
    BundledPackage,
    BundleManifest,
    BundleTarget,
)
from localcrag.bundle.bundle_signature import require_key, signature_of
from localcrag.bundle.carried_kbs import copied_kb
from localcrag.bundle.carried_models import CarriedModels, models_to_carry
from localcrag.bundle.package_resolution import (
    FoundPackage,
    InstalledPackages,
    named_target,
    present_target,
    provided_extras,
    resolved_packages,
)
from localcrag.bundle.wheel_sources import (
    ForeignPackages,
    GivenWheels,
    NativePackages,
    built_wheel,
    installed_package,
    packed,
    unpacked_bytes,
    wheel_package,
)
from localcrag.errors import BundleError, UsageError
from localcrag.llm.model_entry import sha256
from localcrag.loaded_models import LoadedModels
from localcrag.settings import Settings

USER_EXTRAS = ("http", "mcp", "ocr", "old-office", "multilingual")
"""The extras that go along by default if they are installed; the others are for those who write programs."""
INSTALLER = "pip"
"""The package that installs the others in the room, where Python may have come without it."""
_PACKAGE = Path(__file__).parent
_SEARXNG_FILES = ("README.md", "compose.yaml", "settings.yml", ".env.example")
"""The files of the SearXNG setup: the folder may hold somebody's own secrets besides."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """What a bundle is to carry.

    Attributes:
        models: models by name or file, besides those in use.
        knowledge_bases: knowledge bases by name.
        extras: extras of localcrag; None for those that are installed.
        tag: the platform tag of wheels; None for the present platform.
        python: the version of Python; None for the present one.
        wheels: a folder of further wheels, which are taken first.
        key: the SSH key to sign with, or None.
    """

    models: tuple[str, ...] = ()
    knowledge_bases: tuple[str, ...] = ()
    extras: tuple[str, ...] | None = None
    tag: str | None = None
    python: str | None = None
    wheels: Path | None = None
    key: Path | None = None


def create_bundle(
    file: Path,
    settings: Settings,
    request: BundleRequest,
    *,
    installed: InstalledPackages | None = None,
    say: Say = lambda step: None,
) -> BundleManifest:
    """Make a bundle, and verify it before it gets its name.

    Args:
        file: the archive to make.
        settings: the settings, whose models and home are bundled.
        request: what to bundle, and for which platform.
        installed: where the packages are installed; by default in this environment.
        say: is told each step.

    Raises BundleError, ModelError, StoreError, UsageError.
    """
    if file.is_dir():
        raise BundleError(f"{file} is a folder", hint="give the name of a file in it")
    if not file.parent.is_dir():
        raise BundleError(f"there is no folder {file.parent}", hint="make it first, or give another name")
    if file.exists():
        raise BundleError(f"{file} exists already", hint="give another name, or delete it")
    if request.wheels and not request.wheels.is_dir():
        raise BundleError(f"there is no folder of wheels {request.wheels}", hint="check the spelling")
    if request.key:
        require_key(request.key)
    part = file.with_name(f".{file.name}.part")
    try:
        with tempfile.TemporaryDirectory(dir=file.parent, prefix=".bundle-") as folder:
            manifest, sources = _gathered(Path(folder), settings, request, installed, say)
            say(f"writing {sum(item.bytes for item in manifest.files) / 1e6:,.0f} MB")
            signature = signature_of(manifest.encoded(), request.key) if request.key else b""
            write_archive(part, manifest, sources, signature)
        say("verifying")
        verify_archive(part)
        part.replace(file)
    except OSError as error:
        raise BundleError(
            f"cannot write {file}: {error.strerror or error}", hint="give a folder with room for it"
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return manifest


def _gathered(
    folder: Path, settings: Settings, request: BundleRequest, installed: InstalledPackages | None, say: Say
) -> tuple[BundleManifest, Mapping[str, Path]]:
    """The manifest, and the place of each of its files; what has to be made is made in ``folder``."""
    target = named_target(request.tag, request.python)
    say("models")
    models = models_to_carry(settings, request.models)
    bases = tuple(_knowledge_bases(folder, settings, request.knowledge_bases, say))
    packages = _Packages(folder, target, request, installed or InstalledPackages())
    found = packages.resolve(models, settings.offline)
    say(f"wheels of {len(found)} packages for {target.tag} and Python {target.python}")
    wheels = packages.pack(found)
    sources = {**models.files, **_texts(folder, target, wheels)}
    for name in ("wheels", "knowledge"):
        sources |= _files_in(folder / name, name)
    manifest = BundleManifest(
        localcrag=next(wheel.version for wheel in wheels if wheel.name == "localcrag"),
        target=target,
        packages=wheels,
        models=tuple(models.models),
        knowledge_bases=bases,
        settings=tuple(_settings(settings, request, models)),
        files=tuple(
            BundledFile(path, sources[path].stat().st_size, sha256(sources[path])) for path in sorted(sources)
        ),
    )
    return manifest, sources


def _knowledge_bases(
    folder: Path, settings: Settings, names: Iterable[str], say: Say
) -> Iterator[BundledKnowledgeBase]:
    """Copy the knowledge bases, which have to be made with the embedding model in use."""
    for name in dict.fromkeys(names):
        say(f"knowledge base {name}")
        embedder = LoadedModels(settings.model, settings.home).embedder
        target = folder / "knowledge" / name
        yield copied_kb(settings.home, name, target, (embedder.name, embedder.dimension))


def _settings(settings: Settings, request: BundleRequest, models: CarriedModels) -> Iterator[tuple[str, str]]:
    """The settings that hold in the room as they do here."""
    yield from models.settings
    if settings.kb in request.knowledge_bases and settings.kb != Settings(settings.home).kb:
        yield "kb", settings.kb


@dataclass(frozen=True, slots=True)
class _Packages:
    """The packages of a bundle and their wheels, which are made in ``folder``."""

    folder: Path
    target: BundleTarget
    request: BundleRequest
    installed: InstalledPackages

    def resolve(self, models: CarriedModels, offline: bool) -> list[FoundPackage]:
        """localcrag, everything that it needs, the weights, and what installs them. Raises BundleError."""
        from packaging.requirements import Requirement

        given = GivenWheels(self.request.wheels)
        native = NativePackages(self.installed, given, self.target)
        downloads = self.folder / "downloads"
        downloads.mkdir()
        foreign = ForeignPackages(self.installed, given, self.target, downloads, offline)
        here = present_target()
        source = native if (self.target.tag, self.target.python) == (here.tag, here.python) else foreign
        root = self._root()
        extras = self.request.extras
        if extras is None:
            extras = self.installed.extras(root.requires, USER_EXTRAS)
        _require_extras(root, extras)
        wanted = f"localcrag[{','.join(sorted({*extras, *models.extras}))}]"
        first = _RootFirst(root, source)
        found = resolved_packages([wanted, INSTALLER], first, self.target)
        for weights in models.packages:
            found.setdefault(weights, source.find(Requirement(weights)))
        foreign.require_complete()
        return [found[name] for name in sorted(found)]

    def _root(self) -> FoundPackage:
        """localcrag as it runs: built of its sources in a checkout, else as it is installed."""
        checkout = Path(localcrag.__file__).parents[1]
        if self.installed.folders is None and (checkout / "pyproject.toml").is_file():
            built = self.folder / "built"
            built.mkdir()
            return wheel_package(built_wheel(checkout, built))
        if package := self.installed.find("localcrag"):
            return installed_package(package)
        raise BundleError("there is no installed package of localcrag", hint="install it with pip")

    def pack(self, packages: Iterable[FoundPackage]) -> tuple[BundledPackage, ...]:
        """Make the wheels, several at a time; what fails or is interrupted ends them all.

        Raises BundleError, OSError.
        """
        wheels = self.folder / "wheels"
        wheels.mkdir()
        largest_first = sorted(packages, key=unpacked_bytes, reverse=True)
        ended = Event()

        def check() -> None:
            if ended.is_set():
                raise CancelledError

        def pack_one(package: FoundPackage) -> Path:
            with interruptible(check):
                return packed(package, wheels)

        with ThreadPoolExecutor(cores()) as pool:
            try:
                files = list(pool.map(pack_one, largest_first))
            finally:
                ended.set()
        made = (
            BundledPackage(package.name, package.version, wheel.name)
            for package, wheel in zip(largest_first, files, strict=True)
        )
        return tuple(sorted(made, key=lambda package: package.name))


def _require_extras(root: FoundPackage, extras: Iterable[str]) -> None:
    """Raise UsageError if localcrag has none of these extras."""
    known = provided_extras(root.requires)
    if unknown := sorted({*extras} - {*known}):
        raise UsageError(f"localcrag has no extra {unknown[0]!r}", hint=f"there are: {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class _RootFirst:
    """A source of packages in which localcrag is the given one."""

    root: FoundPackage
    others: NativePackages | ForeignPackages

    def find(self, requirement: object) -> FoundPackage:
        """The package that meets a requirement. Raises BundleError."""
        from packaging.requirements import Requirement

        assert isinstance(requirement, Requirement)
        return self.root if requirement.name == self.root.name else self.others.find(requirement)


def _texts(folder: Path, target: BundleTarget, packages: Iterable[BundledPackage]) -> dict[str, Path]:
    """The installer, the pinned list of packages, the manual and the SearXNG setup, by path."""
    lines = [
        f"{package.name}=={package.version} --hash=sha256:{sha256(folder / 'wheels' / package.wheel)}\n"
        for package in packages
    ]
    made = {
        "requirements.txt": "".join(lines),
        "install.sh": (_PACKAGE / "installer/install.sh").read_text("utf-8"),
        "README.txt": (_PACKAGE / "installer/README.txt").read_text("utf-8"),
        "check.py": (_PACKAGE / "installer_check.py").read_text("utf-8"),
    }
    texts = folder / "texts"
    texts.mkdir()
    for name, text in made.items():
        (texts / name).write_bytes(text.replace("@PYTHON@", target.python).encode())
    searxng = _searxng_folder()
    setup = {f"searxng/{name}": searxng / name for name in _SEARXNG_FILES}
    return _files_in(texts, "") | _files_in(_PACKAGE.parent / "docs", "manual") | setup


def _searxng_folder() -> Path:
    """The folder of the SearXNG setup: inside an installed package, or beside it in a checkout."""
    installed = _PACKAGE.parent / "_searxng"
    return installed if installed.is_dir() else _PACKAGE.parents[1] / "searxng"


def _files_in(folder: Path, path: str) -> dict[str, Path]:
    """The files below a folder by their paths in the bundle, where the folder is ``path``."""
    found = sorted(file for file in folder.rglob("*") if file.is_file())
    return {f"{path}/{file.relative_to(folder).as_posix()}".lstrip("/"): file for file in found}


def archive_digest(file: Path) -> str:
    """The hexadecimal sha256 of a whole archive, to compare it by another way than it was carried."""
    with file.open("rb") as archive:
        return hashlib.file_digest(archive, "sha256").hexdigest()
