"""The file of calibrations: what was fitted to a user's own questions, by the models it was fitted for.

One file, ``calibrations.toml`` in the user's home. An entry names its models by fingerprint
(:func:`localcrag.llm.gguf.fingerprint`), so that numbers are never used with another file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcrag.calibration.scale import Scale
from localcrag.errors import ModelFileError
from localcrag.types import GraderKind, Thresholds


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fitted numbers of one judge.

    ``models`` are the fingerprints of its files. ``scale`` turns its log-odds into a probability;
    for judge ``fused`` it is the evaluator's scale that the ``weights`` (evaluator, language
    model, similarity, bias) were fitted on, for ``cascade`` the one that the ``thresholds`` are on:
    they are the band in which the language model is asked. ``questions`` and ``passages`` say on how
    much, and ``made`` on which day.
    """

    judge: GraderKind
    models: tuple[str, ...]
    scale: Scale
    thresholds: Thresholds
    questions: int
    passages: int
    made: str
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Calibrations:
    """The calibrations kept under one home folder."""

    home: Path

    @property
    def file(self) -> Path:
        return self.home / "calibrations.toml"

    def find(self, judge: GraderKind, models: Iterable[str]) -> Calibration | None:
        """The calibration of this judge over exactly these models; None if there is none.

        ``models`` are the fingerprints of the model files in their order. They are asked for only if
        something was fitted for this judge, so that a lazy iterable reads no model without need.
        Raises ModelFileError for a file that cannot be understood.
        """
        held = [entry for entry in self.entries() if entry.judge is judge]
        if not held:
            return None
        wanted = tuple(models)
        return next((entry for entry in held if entry.models == wanted), None)

    def entries(self) -> list[Calibration]:
        """All of them."""
        return list(_entries(self.file))

    def put(self, fitted: Sequence[Calibration]) -> None:
        """Keep these, each in place of what was kept for the same judge and models."""
        replaced = {(entry.judge, entry.models) for entry in fitted}
        kept = [entry for entry in self.entries() if (entry.judge, entry.models) not in replaced]
        self._write([*kept, *fitted])

    def forget(self, models: Iterable[str]) -> list[Calibration]:
        """Remove all that rests on one of these models, named by fingerprint; returns what was removed."""
        gone = set(models)
        entries = self.entries()
        removed = [entry for entry in entries if gone & set(entry.models)]
        if removed:
            self._write([entry for entry in entries if entry not in removed])
        return removed

    def _write(self, entries: Sequence[Calibration]) -> None:
        import tomli_w

        self.home.mkdir(parents=True, exist_ok=True)
        part = self.file.with_suffix(".part")
        part.write_text(tomli_w.dumps({"calibration": [_table(entry) for entry in entries]}), "utf-8")
        part.replace(self.file)


def _table(entry: Calibration) -> dict[str, object]:
    return {
        "judge": str(entry.judge),
        "models": list(entry.models),
        "temperature": entry.scale.temperature,
        "bias": entry.scale.bias,
        "upper": entry.thresholds.upper,
        "lower": entry.thresholds.lower,
        "weights": list(entry.weights),
        "questions": entry.questions,
        "passages": entry.passages,
        "made": entry.made,
    }


def _entries(file: Path) -> Iterator[Calibration]:
    try:
        for table in tomllib.loads(file.read_text("utf-8"))["calibration"]:
            yield _entry(table)
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelFileError(
            f"the calibrations in {file} cannot be understood: {error}",
            hint="mend the file, or delete it: `localcrag calibrate` makes it again",
        ) from error


def _entry(table: Mapping[str, Any]) -> Calibration:
    weights = tuple(float(weight) for weight in table["weights"])
    temperature = float(table["temperature"])
    if len(weights) not in (0, 4) or temperature <= 0:
        raise ValueError("weights or a temperature that make no sense")
    return Calibration(
        judge=GraderKind(table["judge"]),
        models=tuple(str(model) for model in table["models"]),
        scale=Scale(temperature, float(table["bias"])),
        thresholds=Thresholds(float(table["upper"]), float(table["lower"])),
        questions=int(table["questions"]),
        passages=int(table["passages"]),
        made=str(table["made"]),
        weights=weights,
    )
