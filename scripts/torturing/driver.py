"""The command line: shares the time out, runs each campaign in a process of its own, prints a table."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.report import machine

from localcrag._platform import cores
from torturing.campaign import MEBIBYTE, Budget, Campaign, Failure, NotPossible, Outcome, said, tell

CAMPAIGNS: Mapping[str, str] = {
    "kills": "store_kills",
    "real-kills": "store_kills",
    "thread-kills": "thread_kills",
    "warm-kills": "warm_kills",
    "together": "contention",
    "full-disk": "full_disk",
    "damage": "damage",
    "documents": "hostile_documents",
    "web": "hostile_web",
    "clients": "hostile_clients",
    "clock": "clock",
    "soak": "soak",
}
"""The modules of the campaigns by the names of the campaigns, in the order in which they run."""
RESULT = Path(__file__).with_name("last_run.json")
"""The last saved run, of which ``scripts/docs.py --write`` makes the table of the manual."""
GRACE_SECONDS = 180.0
"""Seconds after its budget, and as much again as its budget, after which a campaign counts as hanging."""
FAILED, PASSED = 1, 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run campaigns; returns the exit code: 1 if anything failed."""
    given = _parser().parse_args(arguments)
    names = given.campaign or list(CAMPAIGNS)
    if given.case is not None and len(names) != 1:
        _parser().error("--case repeats a case of one campaign: name it with --campaign")
    began = time.monotonic()
    if given.inside:
        print(json.dumps(asdict(_run_here(names[0], given.minutes * 60, given))))
        return PASSED
    outcomes = _run_all([campaign_of(name) for name in names], given)
    saved = _as_saved(outcomes, given, time.monotonic() - began)
    if given.save:
        RESULT.write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if given.json:
        print(json.dumps(saved, indent=2, ensure_ascii=False))
    else:
        show(saved)
    return FAILED if any(outcome.failures for outcome in outcomes.values()) else PASSED


def campaign_of(name: str) -> Campaign:
    """The campaign of that name."""
    found: Campaign = import_module(f"torturing.{CAMPAIGNS[name]}").CAMPAIGNS[name]
    return found


def shares(campaigns: Sequence[Campaign], seconds: float) -> dict[str, float]:
    """The seconds of each campaign, by name."""
    whole = sum(campaign.share for campaign in campaigns)
    return {campaign.name: seconds * campaign.share / whole for campaign in campaigns}


def repeat_command(name: str, seed: int, case: int) -> str:
    """The command that runs one case again, and keeps its folder."""
    return f"./scripts/torture --campaign {name} --seed {seed} --case {case} --keep"


def show(saved: Mapping[str, Any]) -> None:
    """Print the table, and what failed."""
    from rich.console import Console
    from rich.table import Table

    table = Table("campaign", "tries", "failures", "longest s", "peak MiB", "notes")
    for name, row in saved["campaigns"].items():
        if row["skipped"]:
            table.add_row(name, "–", "–", "–", "–", f"skipped: {row['skipped']}")
            continue
        tries = f"{row['tries']:,} {row['unit']}"
        notes = "; ".join(row["notes"])
        table.add_row(
            name,
            tries,
            str(len(row["failures"])),
            _seconds(row),
            f"{row['peak_memory'] / MEBIBYTE:.0f}",
            notes,
        )
    console = Console()
    console.print(table)
    console.print(f"seed {saved['seed']}, {saved['seconds'] / 60:.1f} minutes")
    for name, row in saved["campaigns"].items():
        for failure in row["failures"]:
            kept = f" (kept in {failure['folder']})" if failure["folder"] else ""
            console.print(f"{name} {failure['case']}: {failure['said']}{kept}", markup=False, style="red")
            if failure["case"] >= 0:
                console.print(f"    {repeat_command(name, saved['seed'], failure['case'])}", markup=False)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/torture", description="Break localcrag on purpose, and check what has to hold."
    )
    parser.add_argument(
        "--campaign", action="append", choices=CAMPAIGNS, help="run this one only; repeatable", metavar="NAME"
    )
    parser.add_argument("--minutes", type=float, default=5.0, help="time for all of them (default 5)")
    parser.add_argument("--seed", type=int, default=1, help="what the random numbers follow from (default 1)")
    parser.add_argument("--jobs", type=int, default=min(2, cores()), help="campaigns at a time (default 2)")
    parser.add_argument("--case", type=int, metavar="N", help="run one case of a campaign again")
    parser.add_argument("--keep", action="store_true", help="keep the folders of the cases that failed")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--save", action="store_true", help=f"keep the figures in {RESULT.name}, for the manual"
    )
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser


def _run_all(campaigns: Sequence[Campaign], given: argparse.Namespace) -> dict[str, Outcome]:
    """Run each campaign in a process of its own, ``given.jobs`` at a time; the outcomes by name.

    Those that take longest begin, so that all of them end at about the same time.
    """
    jobs = min(given.jobs, len(campaigns))

    def run(name: str, seconds: float) -> Outcome:
        tell(f"{name}: {seconds:.0f} s")
        outcome = _run_apart(name, seconds, given)
        tell(f"{name}: {outcome.tries} tries, {len(outcome.failures)} failures")
        return outcome

    whole = given.minutes * 60
    parts = sorted(shares(campaigns, whole * jobs).items(), key=lambda part: -part[1])
    with ThreadPoolExecutor(jobs) as pool:
        begun = {name: pool.submit(run, name, min(seconds, whole)) for name, seconds in parts}
    return {campaign.name: begun[campaign.name].result() for campaign in campaigns}


def _run_apart(name: str, seconds: float, given: argparse.Namespace) -> Outcome:
    """Run one campaign in a process of its own, which a crash or a hang of it costs and no other."""
    command = [sys.executable, "-m", "torturing", "--inside", "--campaign", name, "--seed", str(given.seed)]
    command += ["--minutes", str(seconds / 60), *(["--keep"] if given.keep else [])]
    command += [] if given.case is None else ["--case", str(given.case)]
    paths = os.pathsep.join(filter(None, sys.path))
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, env={**os.environ, "PYTHONPATH": paths})
        try:
            code = process.wait(2 * seconds + GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return Outcome(failures=[Failure(-1, f"the campaign did not end {GRACE_SECONDS:.0f} s too late")])
        except BaseException:
            process.kill()
            raise
        out.seek(0)
        text = out.read()
    if code or not text.strip():
        return Outcome(failures=[Failure(-1, f"the campaign ended with exit code {code} and no outcome")])
    row = json.loads(text.splitlines()[-1])
    return Outcome(**{**row, "failures": [Failure(**failure) for failure in row["failures"]]})


def _run_here(name: str, seconds: float, given: argparse.Namespace) -> Outcome:
    """Run one campaign in this process."""
    scratch = Path(tempfile.mkdtemp(prefix=f"torture-{name}-"))
    outcome = Outcome()
    try:
        outcome = campaign_of(name).run(Budget(seconds, scratch, given.keep, given.case), given.seed)
    except NotPossible as error:
        outcome.skipped = str(error)
    except Exception as error:  # noqa: BLE001 - the others are still to run
        outcome.failures.append(Failure(-1, f"the campaign could not go on: {said(error)}"))
    finally:
        if not (given.keep and outcome.failures):
            shutil.rmtree(scratch, ignore_errors=True)
    return outcome


def _as_saved(outcomes: Mapping[str, Outcome], given: argparse.Namespace, seconds: float) -> dict[str, Any]:
    """The outcomes with the seed and the time, as they are printed and kept."""
    rows = {}
    for name, outcome in outcomes.items():
        campaign = campaign_of(name)
        rows[name] = {"unit": campaign.unit, "holds": campaign.holds, **asdict(outcome)}
    return {
        "seed": given.seed,
        "minutes": given.minutes,
        "seconds": round(seconds, 1),
        "machine": machine(),
        "campaigns": rows,
    }


def _seconds(row: Mapping[str, Any]) -> str:
    return f"{row['worst_seconds']:.1f}" if row["worst_seconds"] else "–"
