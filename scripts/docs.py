"""The generated parts of the manual, and what is checked of README and manual.

Generated are the blocks between ``<!-- generated: NAME -->`` and ``<!-- end -->`` (see
``documentation/blocks.py``), the pictures of the benchmarks, and the JSON Schemas. Without arguments:
name what is out of date or wrong, and exit with 1. With ``--write``: bring up to date what can be.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from benchmarks.picture import svg  # noqa: E402
from benchmarks.report import charts_of  # noqa: E402
from documentation.blocks import BLOCKS  # noqa: E402
from documentation.checks import problems  # noqa: E402
from documentation.places import BLOCK, IMAGES, README, RESULTS, SCHEMAS, pages, shown  # noqa: E402

from localcrag import answer_schema, event_schema  # noqa: E402


def fresh() -> Iterator[tuple[Path, str]]:
    """Every file with something generated in it, as it should be."""
    made: set[str] = set()

    def renewed(block: re.Match[str]) -> str:
        made.add(block[2])
        return block[1] + "\n" + BLOCKS[block[2]]().rstrip() + "\n\n" + block[3]

    for path in (README, *pages()):
        yield path, BLOCK.sub(renewed, path.read_text("utf-8"))
    if missing := BLOCKS.keys() - made:
        raise SystemExit(f"no page has a block for: {', '.join(sorted(missing))}")
    for path in sorted(RESULTS.glob("*.json")):
        for chart in charts_of(json.loads(path.read_text("utf-8"))):
            yield IMAGES / f"{chart.name}.svg", svg(chart)
    for name, schema in (("answer", answer_schema()), ("events", event_schema())):
        yield SCHEMAS / f"{name}.schema.json", json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    stale = [(path, text) for path, text in fresh() if not path.is_file() or path.read_text("utf-8") != text]
    if "--write" in arguments:
        for path, text in stale:
            path.write_text(text, "utf-8")
            print(f"wrote {shown(path)}")
        stale = []
    for path, _ in stale:
        print(f"{shown(path)} is out of date: ./scripts/check --fix", file=sys.stderr)
    wrong = list(problems())
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if stale or wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
