"""Ignore files are read as git reads them, in a time that no pattern can stretch."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from localcrag.documents.ignore import MAX_IGNORE_BYTES, Rules
from localcrag.documents.ignore_patterns import ignore_patterns

LINES = r"""
# a comment, and an escaped one
\#notes
*.log
!keep.log
\!loud.txt
/top
build/
docs/draft.md
**/cache/**/x.*
assets/**
a?c
[ab]d.[!x]
[[:digit:]]*.csv
sp\ ce 
trailing   
[z-a]
[open
no\
a//b
""".strip("\n")  # noqa: W291
FILES = [
    "#notes",
    "a.log",
    "keep.log",
    "sub/a.log",
    "sub/keep.log",
    "!loud.txt",
    "loud.txt",
    "top/x",
    "sub/top/x",
    "build/x",
    "sub/build/x",
    "sub2/build",
    "docs/draft.md",
    "docs/docs/draft.md",
    "cache/x.py",
    "cache/deep/x.py",
    "sub/cache/a/b/x.y",
    "sub/cache/a/b/y.x",
    "assets/x",
    "assets/y/z",
    "assets2/x",
    "abc",
    "ac",
    "a/c",
    "ad.y",
    "ad.x",
    "cd.y",
    "1.csv",
    "x1.csv",
    "z",
    "a/b",
    "trailing",
    "[open",
    "no",
    "sub/#notes",
]


def taken(root: Path) -> set[str]:
    """The files that are not left out."""
    found, pending = set(), [(root, Rules())]
    while pending:
        folder, rules = pending.pop()
        rules = rules.entering(str(folder))
        for entry in folder.iterdir():
            if entry.name == ".git" or rules.exclude(str(entry), is_folder=entry.is_dir()):
                continue
            if entry.is_dir():
                pending.append((entry, rules))
            else:
                found.add(entry.relative_to(root).as_posix())
    return found


@pytest.mark.skipif(shutil.which("git") is None, reason="git is asked what it would take")
def test_patterns_mean_what_they_mean_to_git(tmp_path: Path) -> None:
    for name in (*FILES, "sp ce"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text(LINES + "\n")
    (tmp_path / "docs/docs/.gitignore").write_text("!*.log\n/draft*\n")
    asked = ["git", "-C", str(tmp_path), "-c", "core.excludesFile=", "ls-files", "-z", "--others"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    out = subprocess.run([*asked, "--exclude-standard"], capture_output=True, text=True, check=True).stdout
    wanted = set(filter(None, out.split("\0")))
    assert taken(tmp_path) == wanted
    assert {"keep.log", "loud.txt", "cd.y", "sub2/build"} <= wanted and "assets/y/z" not in wanted


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("*a" * 40 + "b", ["a" * 250]),
        ("**/a/" * 40 + "b", ["a"] * 500),
        ("*a*" * 40 + "/" + "[a-b]*" * 40 + "c", ["a" * 250, "a" * 250]),
        ("?" * 200 + "*" * 200 + "b", ["a" * 250]),
    ],
)
def test_no_pattern_takes_for_ever(line: str, names: list[str]) -> None:
    (pattern,) = ignore_patterns([line])
    began = time.process_time()
    assert not pattern.takes(names, is_folder=False)
    assert time.process_time() - began < 5, "milliseconds; with backtracking more than a lifetime"


def test_of_an_endless_ignore_file_a_part_is_read(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\n" + "#" * MAX_IGNORE_BYTES + "\n*.md\n")
    rules = Rules().entering(str(tmp_path))
    assert rules.exclude(str(tmp_path / "a.log"), is_folder=False)
    assert not rules.exclude(str(tmp_path / "a.md"), is_folder=False)
