"""The command line in this process, on real documents, with the embedded models."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from localcrag.cli.main import main
from tests.documents.builders import pdf

LEAFLET = (
    ("Zeldrine tablets. Information for patients.", "Zeldrine is made by the Orlan company in Porto."),
    ("How to take it.", "The usual dose of Zeldrine is 35 mg once a day.", "Swallow the tablet with water."),
)
NOTES = """# Notes of the garden club

## Meetings

The garden club meets every second Tuesday in the old mill.

## Plants

Lavender needs a sunny place and very little water. Ferns like shade.
"""
INVENTORY = "item,price\nspade,19\nrake,12\nwatering can,8\n"


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Result]


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line below the home of the session."""
    return runner(home, monkeypatch)


def runner(home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: str, stdin: str = "") -> Result:
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        monkeypatch.setattr("localcrag.cli.command_state.go_offline", lambda: None)  # it would last
        with redirect_stdout(out), redirect_stderr(err):
            code = main(["--home", str(home), *arguments])
        return Result(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def fresh_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home of the test's own, outside its ``tmp_path``, and gone after it."""
    folder = tmp_path_factory.mktemp("fresh")
    yield folder / "home"
    shutil.rmtree(folder, ignore_errors=True)  # a process that ends may still write


@pytest.fixture
def fresh(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line below a home of the test's own."""
    return runner(fresh_home, monkeypatch)


@pytest.fixture(scope="session")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    (folder / "leaflet.pdf").write_bytes(pdf(*LEAFLET, title="Zeldrine"))
    (folder / "notes.md").write_text(NOTES)
    (folder / "inventory.csv").write_text(INVENTORY)
    return folder


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, documents: Path) -> Path:
    """A home with the documents ingested into the default knowledge base."""
    place = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        done = runner(place, patch)("ingest", str(documents), "--meta", "team=x")
    assert done.code == 0, done.err
    return place
