"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import compileall
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from benchmarks.report import Report, Room, as_json, draw, save, show

PARTS = (
    "ingest",
    "static",
    "static_ranking",
    "language_ranking",
    "cluster",
    "choose",
    "ask",
    "warm",
    "doors",
    "memory",
    "scale",
    "simulate",
    "decode",
    "form",
    "peers",
    "accuracy",
    "corrections",
    "reading",
    "extract",
    "bundle",
)
RESULTS = Path(__file__).resolve().parent / "results"
CACHE = Path(__file__).resolve().parents[2] / ".cache"
PACKAGE = Path(__file__).resolve().parents[2] / "localcrag"


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure localcrag.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="also draw what can be drawn, as SVG")
    parser.add_argument(
        "--save", action="store_true", help=f"keep the figures in {RESULTS.name}/, for the manual"
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often times are taken (default 3)")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run at all?")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="an option of a part")
    given = parser.parse_args()
    if unknown := [part for part in given.parts if part not in PARTS]:
        parser.error(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    options = dict(item.split("=", 1) for item in given.set)
    reports: dict[str, Report] = {}
    CACHE.mkdir(exist_ok=True)
    compileall.compile_dir(PACKAGE, quiet=2)  # commands start as an installed one does, from bytecode
    for part in given.parts or PARTS:
        print(f"bench: {part}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as scratch:
            room = Room(Path(scratch), CACHE, given.rounds, given.quick, options)
            reports[part] = import_module(f"benchmarks.{part}").measure(room)
        if given.save:
            save(part, reports[part], RESULTS)
        for chart in reports[part].charts if given.plots else ():
            print(f"bench: {draw(chart, given.plots)}", file=sys.stderr)
    if given.json:
        print(as_json(reports))
    else:
        show([figure for report in reports.values() for figure in report.figures])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
