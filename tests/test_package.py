"""What is installed: the package, its type marker and the embedded models."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_an_installed_wheel_finds_its_models(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = (
        "from localcrag.llm import model_entry, registry\n"
        "from pathlib import Path\n"
        "for entry in registry.Registry(Path('nowhere')).entries():\n"
        "    if not entry.package:\n"
        "        print(entry.name, model_entry.verify(entry) or 'ok', '_models' in str(entry.path))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    manifest = tomllib.loads((ROOT / "models/manifest.toml").read_text())
    carried = [model["name"] for model in manifest["model"] if "package" not in model]
    assert done.stdout.splitlines() == [f"{name} ok True" for name in carried]


def test_the_wheel_has_the_type_marker_and_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "localcrag/py.typed" in names
    assert not any(name.startswith("tests/") for name in names)


def test_the_wheel_has_the_manual_with_its_pictures(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    manual = ROOT / "localcrag/docs"
    wanted = {
        str(path.relative_to(ROOT)) for path in manual.rglob("*") if path.suffix in (".md", ".svg", ".json")
    }
    assert wanted <= names and "localcrag/docs/images/answer.svg" in names


def test_the_wheel_has_the_searxng_setup_and_nobody_s_secrets(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("localcrag/_searxng/")}
    files = ("README.md", "compose.yaml", "settings.yml", ".env.example")
    assert names == {f"localcrag/_searxng/{name}" for name in files}


def test_every_dependency_is_pinned() -> None:
    """The lock has a version for everything that pyproject.toml names."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["dev"], *extras["chat"], *extras["large"]]
    wanted += extras["multilingual"]
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pinned = {
        canonicalize_name(name): version.partition(";")[0].strip()
        for name, _, version in (line.partition("==") for line in lines if "==" in line and line[0] != "#")
    }
    for text in wanted:
        requirement = Requirement(text)
        version = pinned.get(canonicalize_name(requirement.name))
        assert version and requirement.specifier.contains(version), f"{text} is not in requirements.lock"
