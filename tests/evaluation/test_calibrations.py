"""What was fitted is kept under the models it was fitted for, and used with no other."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from localcrag.calibration.calibration_file import Calibration, Calibrations
from localcrag.calibration.scale import Scale
from localcrag.errors import ModelFileError
from localcrag.llm import gguf
from localcrag.llm.gguf import fingerprint
from localcrag.llm.registry import embedded_folder
from localcrag.types import GraderKind, Thresholds


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model file of the test's own."""
    return Path(shutil.copy(embedded_folder() / "localcrag-chat-v2.gguf", tmp_path / "model.gguf"))


def made(*models: Path, judge: GraderKind = GraderKind.YESNO, temperature: float = 2.0) -> Calibration:
    return Calibration(
        judge, tuple(map(fingerprint, models)), Scale(temperature, -0.5), Thresholds(0.8, 0.2), 40, 240,
        "2026-01-31",
    )  # fmt: skip


def test_what_is_put_is_found_again(tmp_path: Path, model: Path) -> None:
    kept = Calibrations(tmp_path / "home")
    fusion = replace(made(model, judge=GraderKind.FUSED), weights=(0.8, 0.0, 5.0, -3.0))
    kept.put([made(model), fusion])
    assert kept.find(GraderKind.YESNO, map(fingerprint, [model])) == made(model)
    assert kept.find(GraderKind.FUSED, map(fingerprint, [model])) == fusion
    assert kept.find(GraderKind.RUBRIC, map(fingerprint, [model])) is None


def test_a_second_calibration_takes_the_place_of_the_first(tmp_path: Path, model: Path) -> None:
    kept = Calibrations(tmp_path)
    kept.put([made(model)])
    kept.put([made(model, temperature=3.0)])
    assert [entry.scale.temperature for entry in kept.entries()] == [3.0]


@pytest.mark.parametrize("small", [True, False], ids=["whole", "sampled"])
def test_a_changed_file_is_not_used_with_old_numbers(
    tmp_path: Path, model: Path, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:
        monkeypatch.setattr(gguf, "WHOLE_FILE_BYTES", 1000)
    kept = Calibrations(tmp_path)
    kept.put([made(model)])
    assert kept.find(GraderKind.YESNO, map(fingerprint, [model])) is not None
    data = bytearray(model.read_bytes())
    weights = len(data) // 2
    data[weights:] = bytes(byte ^ 1 for byte in data[weights:])
    model.write_bytes(data)
    assert kept.find(GraderKind.YESNO, map(fingerprint, [model])) is None


def test_a_renamed_or_copied_file_keeps_its_numbers(tmp_path: Path, model: Path) -> None:
    kept = Calibrations(tmp_path)
    kept.put([made(model)])
    assert kept.find(GraderKind.YESNO, [fingerprint(model.rename(tmp_path / "other.gguf"))]) is not None


def test_without_calibrations_no_model_is_read(tmp_path: Path) -> None:
    assert Calibrations(tmp_path).find(GraderKind.YESNO, map(fingerprint, [tmp_path / "absent.gguf"])) is None


def test_forgetting_is_by_model(tmp_path: Path, model: Path) -> None:
    other = embedded_folder() / "localcrag-evaluator-v6.gguf"
    kept = Calibrations(tmp_path)
    kept.put(
        [made(model), made(other, judge=GraderKind.EVALUATOR), made(other, model, judge=GraderKind.FUSED)]
    )
    removed = kept.forget(map(fingerprint, [model]))
    assert {entry.judge for entry in removed} == {GraderKind.YESNO, GraderKind.FUSED}
    assert [entry.judge for entry in kept.entries()] == [GraderKind.EVALUATOR]
    assert kept.forget(map(fingerprint, [model])) == []


@pytest.mark.parametrize(
    "text",
    ["not toml [", "x = 1", '[[calibration]]\njudge = "yesno"', '[[calibration]]\njudge = "nobody"'],
)
def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "calibrations.toml").write_text(text)
    with pytest.raises(ModelFileError, match=r"calibrations\.toml") as caught:
        Calibrations(tmp_path).entries()
    assert "delete it" in caught.value.hint
