"""``localcrag ingest`` on real files, good and bad."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from localcrag.ingest import BATCH
from tests.cli.conftest import Run
from tests.corpus.builders import pdf


def test_the_report_says_what_was_added_and_then_that_nothing_changed(fresh: Run, documents: Path) -> None:
    first = fresh("ingest", str(documents), "--json")
    assert first.code == 0
    assert first.json | {"seconds": 0} == {
        "kb": "default",
        "added": 3,
        "changed": 0,
        "unchanged": 0,
        "removed": 0,
        "passages": first.json["passages"],
        "skipped": [],
        "seconds": 0,
    }
    again = fresh("ingest", str(documents))
    assert again.code == 0 and again.out == ""
    assert "unchanged" in again.err


def test_skipped_files_are_listed_with_their_reasons_and_the_rest_is_read(fresh: Run, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("A good file about herons.")
    (tmp_path / "locked.pdf").write_bytes(pdf(["secret"], password="x"))
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 40)
    done = fresh("ingest", str(tmp_path), "--json")
    assert done.code == 0
    assert done.json["added"] == 1
    reasons = {Path(item["source"]).name: item["reason"] for item in done.json["skipped"]}
    assert "password" in reasons["locked.pdf"]
    assert "binary" in reasons["noise.bin"]
    shown = fresh("ingest", str(tmp_path), "--reread")
    assert "locked.pdf" in shown.err and "password" in shown.err


def test_a_folder_where_nothing_can_be_read_fails_and_leaves_no_knowledge_base(
    fresh: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing more")
    done = fresh("ingest", str(folder))
    assert done.code == 1
    assert "broken.pdf" in done.err
    assert fresh("kb", "list", "--json").json == []


@pytest.mark.parametrize("name", ["missing", "*.nothing"])
def test_a_target_that_does_not_exist(fresh: Run, tmp_path: Path, name: str) -> None:
    done = fresh("ingest", str(tmp_path / name))
    assert done.code == 1
    assert done.err.startswith("Error: ") and "Hint: " in done.err
    assert fresh("kb", "list", "--json").json == []


def test_an_empty_folder(fresh: Run, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    done = fresh("ingest", str(folder))
    assert done.code == 1
    assert f"no documents in {folder}" in done.err


def test_a_file_that_is_too_large_names_the_limit(fresh: Run, tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    big.write_text("word " * 300_000)
    done = fresh("ingest", str(big), "--max-size", "1", "--json")
    assert done.code == 1
    assert "too large" in done.json["skipped"][0]["reason"]


def test_stdin_is_a_document(fresh: Run, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "localcrag",
        "--home",
        str(home),
        "ingest",
        "--kb",
        "piped",
        "-",
        "--json",
    ]
    done = subprocess.run(command, input="A text about storks, from a pipe.", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"added": 1' in done.stdout


@pytest.mark.parametrize("pair", ["novalue", "bad key=1", "=x"])
def test_meta_that_is_not_key_and_value(fresh: Run, documents: Path, pair: str) -> None:
    done = fresh("ingest", str(documents), "--meta", pair)
    assert done.code == 2
    assert "is not key=value" in done.err


def test_another_embedding_model_is_refused_and_nothing_changes(
    run: Run, documents: Path, tmp_path: Path
) -> None:
    import shutil

    from localcrag.index.embedder import SentenceTransformerEmbedder

    folder = tmp_path / "other-model"
    shutil.copytree(SentenceTransformerEmbedder().folder, folder)
    before = run("kb", "show", "--json").json
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCALCRAG_MODEL_EMBEDDING", str(folder))
        done = run("ingest", str(documents))
        listed = run("kb", "show", "--json")
    assert done.code == 1
    assert "all-MiniLM-L6-v2" in done.err and "Hint: " in done.err
    assert listed.json == run("kb", "show", "--json").json == before


def test_interrupted_it_exits_130_and_the_same_command_finishes(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(BATCH + 100):
        (folder / f"{n:03}.txt").write_text(f"Document {n} speaks of herons.")
    command = [
        sys.executable,
        "-m",
        "localcrag",
        "--home",
        str(tmp_path / "home"),
        "ingest",
        str(folder),
        "--jsonl",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if '"outcome": "added"' in line:
            os.kill(process.pid, signal.SIGINT)
            break
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Interrupted" in err and "Traceback" not in err
    done = subprocess.run([*command[:-1], "--json"], capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert report["unchanged"] >= 1 and report["added"] + report["unchanged"] == BATCH + 100
