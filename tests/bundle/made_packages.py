"""Small packages as an installer leaves them: files, scripts, data, and a RECORD with their checksums."""

from __future__ import annotations

import base64
import hashlib
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from localcrag.bundle.package_resolution import InstalledPackages

CALLED = """import sys


def main():
    print("called:", *sys.argv[1:])
"""
PURE_TAG = "py3-none-any"


@dataclass(frozen=True)
class MadePackage:
    """A package to install; ``outside`` are files by their paths below the environment."""

    name: str
    version: str = "1.0"
    requires: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    outside: Mapping[str, str] = field(default_factory=dict)
    starters: tuple[str, ...] = ()
    tag: str = PURE_TAG


LOCALCRAG = MadePackage(
    "localcrag",
    "9.9",
    ("tiny.lib>=1", 'tiny-extra; extra == "http"', 'not-there; extra == "ocr"', 'other; sys_platform == "x"'),
    {"localcrag/__init__.py": "", "localcrag/cli.py": CALLED},
    starters=("localcrag = localcrag.cli:main",),
)
LIBRARY = MadePackage(
    "tiny.lib",
    "1.2",
    files={"tiny/lib.py": "VALUE = 7\n", "tiny/deep, odd/data.bin": "x" * 5000},
    outside={
        "bin/tiny-script": "#!/somewhere/bin/python3\nprint('run')\n",
        "share/tiny/words.txt": "a b c\n",
    },
)
EXTRA = MadePackage("tiny-extra", "2.0+cpu", files={"tinyextra.py": ""}, tag="cp311-cp311-linux_x86_64")


def environment(folder: Path, *packages: MadePackage) -> InstalledPackages:
    """An environment in ``folder`` with these packages, and with the pip of this one."""
    site = folder / "lib/python3/site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "pyvenv.cfg").write_text("home = /nowhere\n")
    for package in packages:
        install(site, package)
    return InstalledPackages((str(site), sysconfig.get_path("purelib")))


def install(site: Path, package: MadePackage) -> None:
    """Put the files of a package into a folder ``site-packages``, with what pip adds."""
    info = f"{package.name.replace('-', '_')}-{package.version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {package.name}\nVersion: {package.version}\n" + "".join(
        f"Requires-Dist: {line}\n" for line in package.requires
    )
    metadata += "Provides-Extra: http\nProvides-Extra: ocr\n" if package is LOCALCRAG else ""
    starters = {
        f"../../../bin/{line.split()[0]}": "#!/somewhere/bin/python3\nimport starter\n"
        for line in package.starters
    }
    files = {
        **package.files,
        **{f"../../../{path}": text for path, text in package.outside.items()},
        **starters,
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {package.tag}\n",
        f"{info}/INSTALLER": "pip\n",
        f"{info}/entry_points.txt": "[console_scripts]\n" + "\n".join(package.starters) + "\n",
    }
    lines = []
    for path, text in files.items():
        place = site / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        shown = f'"{path}"' if "," in path else path
        lines.append(f"{shown},{checksum(text.encode())},{len(text)}")
        if place.suffix == ".py":
            lines.append(f"{place.parent.relative_to(site)}/__pycache__/{place.stem}.cpython-311.pyc,,")
    for path in package.outside:
        (site / "../../.." / path).chmod(0o755 if path.startswith("bin/") else 0o644)
    (site / info / "RECORD").write_text("\n".join([*lines, f"{info}/RECORD,,"]) + "\n")


def checksum(content: bytes) -> str:
    """The checksum of a content as a RECORD has it."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"
