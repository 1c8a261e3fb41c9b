"""Checks an unpacked bundle before it is installed: the platform, and every file against the manifest.

A bundle carries this module as ``check.py``, and the Python of the room runs it before localcrag is there. So
it uses the standard library alone, and nothing that an older Python cannot read: its user is to be told so.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys

NOT_LISTED = ("manifest.json", "manifest.json.sig")
READ_CHUNK_BYTES = 1 << 20
MAX_SHOWN_PROBLEMS = 10
INTERRUPTED_EXIT_CODE = 130


def main(folder: str) -> int:
    """Print what is wrong with the bundle in a folder, in some lines; the exit code is 0 if nothing is."""
    try:
        problems = problems_of(folder)
    except KeyboardInterrupt:
        return INTERRUPTED_EXIT_CODE
    for problem in problems[:MAX_SHOWN_PROBLEMS]:
        print("not installed: " + problem, file=sys.stderr)
    if len(problems) > MAX_SHOWN_PROBLEMS:
        print(f"not installed: and {len(problems) - MAX_SHOWN_PROBLEMS} more", file=sys.stderr)
    return 1 if problems else 0


def problems_of(folder: str) -> list[str]:
    """What is wrong with the bundle in a folder."""
    try:
        with open(os.path.join(folder, "manifest.json"), "rb") as file:  # noqa: PTH118, PTH123 - by any Python
            manifest = json.loads(file.read())
        return [*platform_problems(manifest["target"]), *file_problems(folder, manifest["files"])]
    except OSError as error:
        return [f"{error.filename} cannot be read: {error.strerror}"]
    except (ValueError, LookupError, TypeError):
        return ["manifest.json cannot be understood: unpack the bundle again"]


def platform_problems(target: dict[str, str]) -> list[str]:
    """The differences between this platform and the one that a bundle is for."""
    python = "%d.%d" % sys.version_info[:2]  # noqa: UP031 - by any Python
    found = []
    if python != target["python"]:
        found.append(
            f"the bundle needs Python {target['python']}, and {sys.executable} is {python}: "
            f"set PYTHON to one that fits"
        )
    if (platform.system(), platform.machine()) != (target["system"], target["machine"]):
        here = f"{platform.system()} on {platform.machine()}"
        found.append(f"the bundle is for {target['system']} on {target['machine']}, and this is {here}")
    return found


def file_problems(folder: str, listed: list[dict[str, object]]) -> list[str]:
    """The files that are missing, not as they are listed, or not listed."""
    present: set[str] = set()
    for place, _, names in os.walk(folder):
        inner = os.path.relpath(place, folder).replace(os.sep, "/")
        present.update(name if inner == "." else f"{inner}/{name}" for name in names)
    known = {str(item["path"]): item for item in listed}
    found = [f"{path} does not belong to the bundle" for path in sorted(present - {*known, *NOT_LISTED})]
    for path, item in known.items():
        if path not in present:
            found.append(f"{path} is missing")
        elif sha256(os.path.join(folder, *path.split("/"))) != item["sha256"]:  # noqa: PTH118 - by any Python
            found.append(f"{path} is not as the manifest says")
    return found


def sha256(path: str) -> str:
    """The hexadecimal digest of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:  # noqa: PTH123 - by any Python
        for chunk in iter(lambda: file.read(READ_CHUNK_BYTES), b""):
            digest.update(chunk)
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120 - by any Python
