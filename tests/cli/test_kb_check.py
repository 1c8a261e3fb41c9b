"""Damaged knowledge bases at the command line: an error with the next step, never "no answer"."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run

QUESTION = "When does the garden club meet?"


@pytest.fixture
def damaged_home(home: Path, fresh_home: Path) -> Path:
    """The home of the test's own, with a copy of the knowledge base of the session."""
    shutil.copytree(home / "knowledge", fresh_home / "knowledge")
    return fresh_home


def _cut_texts(folder: Path) -> None:
    for path in folder.glob("lance/texts.lance/data/*"):
        os.truncate(path, path.stat().st_size // 2)


def _zero_passages(folder: Path) -> None:
    for path in folder.glob("lance/passages.lance/data/*"):
        path.write_bytes(bytes(path.stat().st_size))


def _delete_words(folder: Path) -> None:
    for path in folder.glob("lance/passages.lance/_indices/*/part_*_tokens.lance"):
        path.unlink()


REREAD = {"cut texts": _cut_texts, "overwritten passages": _zero_passages}


def refuses(run: Run, *arguments: str) -> str:
    """The hint of a command that ends with an error of the knowledge base."""
    done = run(*arguments)
    assert done.code == 1 and "do not answer" not in done.out + done.err and done.out == ""
    error, hint = done.err.splitlines()[-2:]
    assert error.startswith("Error: ") and "'default'" in error
    return hint


@pytest.mark.parametrize("damage", REREAD.values(), ids=list(REREAD))
def test_reread_mends_what_only_the_documents_have(
    fresh: Run, damaged_home: Path, documents: Path, damage: Callable[[Path], None]
) -> None:
    damage(damaged_home / "knowledge" / "default")
    assert "localcrag kb check default" in refuses(fresh, "ask", QUESTION)
    assert "localcrag kb check default" in refuses(fresh, "search", "club")
    assert "localcrag kb check default" in refuses(fresh, "ingest", str(documents))
    checked = fresh("kb", "check")
    assert checked.code == 1 and "localcrag ingest --reread --kb default PATH" in checked.out
    assert "localcrag ingest --reread --kb default" in refuses(fresh, "kb", "compact")
    assert "localcrag ingest --reread --kb default" in refuses(fresh, "ask", QUESTION)
    found = fresh("kb", "check", "--json")
    assert found.code == 1 and not found.json["whole"]
    assert {Path(problem["source"]).name for problem in found.json["problems"]} == {
        "inventory.csv", "leaflet.pdf", "notes.md",
    }  # fmt: skip
    reread = fresh("ingest", "--reread", str(documents), "--json")
    assert reread.code == 0 and reread.json["changed"] == 3
    assert fresh("kb", "check").code == 0
    done = fresh("search", QUESTION)
    assert done.code == 0 and "second Tuesday" in done.out


def test_compact_makes_a_deleted_part_of_an_index_anew(fresh: Run, damaged_home: Path) -> None:
    _delete_words(damaged_home / "knowledge" / "default")
    refuses(fresh, "search", "club")
    checked = fresh("kb", "check")
    assert checked.code == 1 and "`localcrag kb compact default` rebuilds it" in checked.out
    done = fresh("kb", "compact")
    assert done.code == 0 and "rebuilt: the search indexes" in done.err
    assert fresh("kb", "check").out == (
        "default is whole: files, tables, texts and search indexes were read\n"
    )
    assert fresh("search", "club").code == 0


def test_reread_alone_is_enough(fresh: Run, damaged_home: Path, documents: Path) -> None:
    _cut_texts(damaged_home / "knowledge" / "default")
    assert fresh("ingest", "--reread", str(documents)).code == 0
    assert fresh("kb", "check").code == 0


def test_there_is_nothing_to_check_of_an_unknown_name(fresh: Run) -> None:
    done = fresh("kb", "check", "none")
    assert done.code == 1 and "there is no knowledge base 'none'" in done.err
