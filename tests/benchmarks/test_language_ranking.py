"""The part `language_ranking` of the benchmark: the same questions in each language, and their paragraphs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard
from benchmarks.language_ranking import measure
from benchmarks.report import Room

from localcrag.settings import ModelSettings

ROWS = [
    ("en", "0/0", "a", "Who built the old mill?", "The old mill was built by Anna Berg in 1850."),
    ("en", "0/1", "b", "Where does the heron stand?", "The heron stands in the reeds of the lake."),
    ("de", "0/1", "b", "Wo steht der Reiher?", "Der Reiher steht im Schilf des Sees."),
    ("de", "0/0", "a", "Wer baute die alte Mühle?", "Die alte Mühle wurde 1850 von Anna Berg gebaut."),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    keys = ("language", "paragraph", "id", "question", "passage")
    lines = "\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in ROWS)
    folder = tmp_path / "data" / "qa" / "languages"
    folder.mkdir(parents=True)
    (folder / "xquad_dev.jsonl.zst").write_bytes(zstandard.compress(lines.encode()))
    return tmp_path / "data"


def test_each_language_is_asked_in_itself_and_in_english(data: Path, tmp_path: Path) -> None:
    options = {"data": str(data), "languages": "de", "questions": "2", "model": ModelSettings().embedding}
    (scratch := tmp_path / "scratch").mkdir()
    report = measure(Room(scratch, tmp_path / "cache", options=options))
    values = {figure.name: figure.value for figure in report.figures}
    assert values.pop("questions of each") == 2
    assert list(values) == [
        "English questions, English documents",
        "German questions, German documents",
        "English questions, German documents",
    ]
    assert values["English questions, English documents"] == 1.0
    assert all(0 < value <= 1 for value in values.values())


def test_without_data_nothing_is_measured(tmp_path: Path) -> None:
    assert measure(Room(tmp_path, tmp_path)).figures == ()
