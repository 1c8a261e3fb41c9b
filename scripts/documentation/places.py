"""Where the documents of the repository are, and how they are taken apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
MANUAL = ROOT / "localcrag/docs"
INDEX = MANUAL / "README.md"
IMAGES = MANUAL / "images"
SCHEMAS = MANUAL / "schema"
RESULTS = ROOT / "scripts/benchmarks/results"
TORTURE = ROOT / "scripts/torturing/last_run.json"
REPOSITORY = "https://github.com/localcrag/localcrag"
BLOCK = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def pages() -> list[Path]:
    """The pages of the manual, without its list of pages."""
    return sorted(path for path in MANUAL.glob("*.md") if path != INDEX)


def documents() -> Iterator[Path]:
    """Every Markdown file whose links are checked."""
    yield README
    yield ROOT / "CHANGELOG.md"
    yield from sorted(MANUAL.glob("*.md"))
    yield from sorted((ROOT / ".github").rglob("*.md"))
    yield from sorted((ROOT / "models").glob("*.md"))
    yield ROOT / "searxng/README.md"


def written(path: Path) -> str:
    """The text of a page that people wrote: without what is generated."""
    return BLOCK.sub("", path.read_text("utf-8"))


def shown(path: Path) -> str:
    """A path as it is named in messages."""
    return str(path.relative_to(ROOT))
