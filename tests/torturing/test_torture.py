"""``scripts/torture`` finds what was broken on purpose, repeats its cases, and says so by its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from torturing import campaign, damage, driver, hostile_documents, hostile_web, knowledge_state
from torturing.campaign import Broken, Budget, Case, Failure, Outcome, run_cases
from torturing.document_strategies import FORMATS, HostileDocument
from torturing.document_strategies import hostile_documents as generated
from torturing.forked import tokenizer_file
from torturing.hashing_embedder import HashingEmbedder
from torturing.hostile_server import hostile_server
from torturing.knowledge_state import HeldDocument, HeldState, check_between, check_equal

import localcrag
from localcrag.loaded_models import LoadedModels
from localcrag.store.writer import StoreWriter

ROOT = Path(__file__).parents[2]
LOSING_STORE = """
import sys, time
from pathlib import Path
from torturing import campaign, forked, store_kills, store_scenarios
forked.preload()
from localcrag.store import sql
from localcrag.store.writer import StoreWriter

real = StoreWriter._replace_passages

def torn(self, rows, sources, are_new):
    self._tables.passages.delete(sql.one_of("source", sources))
    time.sleep(0.3)
    real(self, rows, sources, are_new)

StoreWriter._replace_passages = torn
campaign.MAX_FAILURES = 1
scenarios = [one for one in store_scenarios.SCENARIOS if one.name == "ingest-fields"]
kills = store_kills.StoreKills("kills", 1.0, tuple(scenarios))
outcome = kills.run(campaign.Budget(60.0, Path(sys.argv[1])), 1)
print(outcome.failures[0].said)
"""


def test_every_campaign_is_there_under_its_name() -> None:
    for name in driver.CAMPAIGNS:
        found = driver.campaign_of(name)
        assert found.name == name and found.share > 0 and found.unit and found.holds


def test_the_time_is_shared_out() -> None:
    campaigns = [driver.campaign_of(name) for name in ("kills", "web")]
    parts = driver.shares(campaigns, 100.0)
    assert sum(parts.values()) == pytest.approx(100.0)
    assert parts["kills"] > parts["web"] > 0


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Outcome]:
    """The outcomes that the driver gets instead of running the campaigns."""
    made = {
        "kills": Outcome(tries=7, peak_memory=3 << 20, notes=["a note"]),
        "web": Outcome(skipped="no web"),
    }
    monkeypatch.setattr(driver, "_run_apart", lambda name, seconds, given: made[name])
    return made


def run(*arguments: str) -> int:
    return driver.main(["--campaign", "kills", "--campaign", "web", *arguments])


def test_the_table_and_the_exit_code(
    outcomes: dict[str, Outcome], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run("--seed", "5") == 0
    shown = capsys.readouterr().out
    assert "7 kills" in shown and "a note" in shown and "skipped: no web" in shown and "seed 5" in shown
    outcomes["kills"].failures.append(Failure(3, "a document is lost", "/kept"))
    assert run("--seed", "5") == 1
    shown = capsys.readouterr().out
    assert "kills 3: a document is lost (kept in /kept)" in shown
    assert "./scripts/torture --campaign kills --seed 5 --case 3 --keep" in shown
    assert run("--json") == 1
    saved = json.loads(capsys.readouterr().out)
    assert saved["campaigns"]["kills"]["failures"][0]["case"] == 3


def test_a_campaign_that_crashes_is_a_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert driver.main(["--campaign", "web", "--minutes", "0.01"]) == 1
    assert "no outcome" in " ".join(capsys.readouterr().out.split())


def test_a_case_can_be_repeated_and_its_folder_is_kept(tmp_path: Path) -> None:
    drawn: dict[int, list[float]] = {}

    def attempt(case: Case) -> None:
        numbers = [case.random.random() for _ in range(3)]
        assert drawn.setdefault(case.number, numbers) == numbers, "the same seed gives the same numbers"
        (case.folder / "file").touch()
        if case.number == 2:
            raise Broken("the second one")
        if case.number == 4:
            raise ValueError("nobody expected this")

    outcome = run_cases("any", Budget(0.2, tmp_path, keep=True), 7, attempt)
    assert [failure.case for failure in outcome.failures] == [2, 4]
    assert outcome.failures[1].said.startswith("ValueError: nobody expected this (test_torture.py:")
    assert (Path(outcome.failures[0].folder) / "file").exists()
    assert not (tmp_path / "case-3").exists()
    again = run_cases("any", Budget(60.0, tmp_path, only=2), 7, attempt)
    assert again.tries == 1 and again.failures[0].said == "the second one"
    assert campaign.random_of(7, "any", 2).random() != campaign.random_of(8, "any", 2).random()


def test_it_ends_after_many_failures(tmp_path: Path) -> None:
    def attempt(case: Case) -> None:
        raise Broken("always")

    outcome = run_cases("any", Budget(60.0, tmp_path), 1, attempt)
    assert len(outcome.failures) == campaign.MAX_FAILURES


def test_a_store_that_tears_documents_apart_is_found(tmp_path: Path) -> None:
    paths = os.pathsep.join([str(ROOT / "scripts"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", LOSING_STORE, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "is neither its old self nor its new one" in done.stdout or "is lost" in done.stdout


def test_lost_and_torn_documents_are_told() -> None:
    old, new = HeldDocument("old", ("old",)), HeldDocument("new", ("new",))
    before, after = HeldState({"/a": old}, 1), HeldState({"/a": new, "/b": new}, 2)
    for fine in ({"/a": old}, {"/a": new}, {"/a": old, "/b": new}):
        check_between(HeldState(fine), before, after)
    for documents, word in (
        ({}, "is lost"),
        ({"/a": HeldDocument("new", ("old",))}, "neither"),
        (None, "is gone"),
    ):
        with pytest.raises(Broken, match=word):
            check_between(HeldState(documents), before, after)
    for found in (before, HeldState(after.documents, 3), HeldState(after.documents, 2, unfinished=True)):
        with pytest.raises(Broken):
            check_equal(found, after)


def test_a_removal_that_was_cut_off_is_taken_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sources stand in the journal as the tables keep them, below a folder that has a number."""
    monkeypatch.setattr(LoadedModels, "embedder", HashingEmbedder(tokenizer_file()))
    documents = tmp_path / "documents"
    documents.mkdir()
    for name in ("gone", "kept"):
        (documents / f"{name}.txt").write_text(f"The number of the drawer is {name}.")
    with localcrag.open(home=tmp_path / "home") as base:
        base.ingest(documents)
        with monkeypatch.context() as cut, pytest.raises(KeyboardInterrupt):
            cut.setattr(StoreWriter, "_delete_passages", interrupted)
            base.forget(str(documents / "gone.txt"))
    found = knowledge_state._read(tmp_path / "home")
    assert [Path(source).name for source in found.documents or ()] == ["kept.txt"]
    assert found.unfinished


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@dataclass
class Pool:
    """A pool that takes its time, or fails."""

    seconds: float = 0.0
    error: Exception | None = None
    reason: str = "no text in it"

    @property
    def _pool(self) -> Any:
        return self

    _processes = ()

    def read(self, file: object, meta: object) -> Any:
        time.sleep(self.seconds)
        if self.error:
            raise self.error
        return type("Result", (), {"document": None, "reason": self.reason, "passages": ()})


@pytest.mark.parametrize(
    ("pool", "word"),
    [
        (Pool(seconds=0.4), "took 0"),
        (Pool(error=ZeroDivisionError("by zero")), "ZeroDivisionError"),
        (Pool(reason="Traceback:\nline"), "no reason that one can read"),
        (Pool(reason=""), "no reason that one can read"),
    ],
)
def test_a_reader_that_hangs_or_fails_is_found(
    pool: Pool, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from localcrag.documents import process_pool

    monkeypatch.setattr(process_pool, "MAX_READ_SECONDS", 0.05)
    monkeypatch.setattr(hostile_documents, "SLACK_SECONDS", 0.0)
    document = HostileDocument("made.txt", b"text")
    with pytest.raises(Broken, match=word):
        hostile_documents._read(pool, hostile_documents._Watch(pool), document, tmp_path, [0.0])


def test_the_same_seed_makes_the_same_documents() -> None:
    assert generated(3, 4) == generated(3, 4)
    assert generated(3, 4) != generated(4, 4)
    assert len(FORMATS) >= 18


def test_a_search_that_hides_a_failure_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from localcrag.errors import LocalCragError
    from localcrag.web.searxng import SearxngSearch

    real = SearxngSearch.search

    def silent(self: SearxngSearch, query: str, *, limit: int = 5) -> list[Any]:
        try:
            return real(self, query, limit=limit)
        except LocalCragError:
            return []

    monkeypatch.setattr(SearxngSearch, "search", silent)
    monkeypatch.setattr(hostile_web, "CALL_SECONDS", 0.3)
    with hostile_server() as server, hostile_server() as canary:
        for number in range(40):
            try:
                hostile_web._search(server, canary, Random(number))
            except Broken as broken:
                assert "counts as nothing found" in str(broken)
                return
    pytest.fail("it was not found")


def test_damage_is_of_many_kinds_and_repeatable(tmp_path: Path) -> None:
    kinds = set()
    for number in range(30):
        file = tmp_path / "file"
        file.write_bytes(b"0123456789" * 9)
        first = damage.damage(file, Random(number)), file.read_bytes()
        file.write_bytes(b"0123456789" * 9)
        assert (damage.damage(file, Random(number)), file.read_bytes()) == first
        assert first[1] != b"0123456789" * 9 or "zeros" in first[0]
        kinds.add(first[0].split(" at ")[0].split(" from ")[0])
    assert len(kinds) == 6
