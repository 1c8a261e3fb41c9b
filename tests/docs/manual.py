"""README and manual, as the tests of them need them: files, fenced blocks, typed lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "localcrag/docs"
FILES = [
    ROOT / "README.md",
    *sorted(MANUAL.glob("*.md")),
    ROOT / ".github/CONTRIBUTING.md",
    ROOT / "searxng/README.md",
]


def named(path: Path) -> str:
    """A file as the name of a test."""
    return str(path.relative_to(ROOT))


def tokens(path: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(path.read_text("utf-8"))


def fences(path: Path, language: str) -> list[tuple[int, str]]:
    """The blocks in one language, each with the number of its first line."""
    return [
        ((token.map or [0])[0] + 2, token.content)
        for token in tokens(path)
        if token.type == "fence" and token.info.strip() == language
    ]


def typed(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that a reader is to type into a shell, without their prompt."""
    for start, text in fences(path, "console"):
        for number, line in enumerate(text.splitlines(), start):
            if line.startswith("$ "):
                yield number, line.removeprefix("$ ")


def spans(path: Path) -> Iterator[str]:
    """The pieces of code within sentences and tables."""
    for token in tokens(path):
        for child in token.children or ():
            if child.type == "code_inline":
                yield child.content
