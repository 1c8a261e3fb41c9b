"""The file of calibrations: the numbers that were fitted to a user's own questions.

It is ``calibrations.toml`` in the home folder of localcrag. An entry names its models by fingerprint
(:func:`localcrag.llm.gguf.fingerprint`), so that its numbers are never used with another model file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcrag._platform import replace_text
from localcrag.calibration.scale import Scale
from localcrag.errors import ModelFileError
from localcrag.types import GraderKind, Thresholds


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fitted numbers of one judge.

    ``models`` are the fingerprints of its model files. ``scale`` maps its log-odds to a probability. For the
    judge ``fused``, it is the scale of the evaluator that the ``weights`` (of the evaluator, the language
    model and the similarity, and the bias) were fitted on. For the judge ``cascade``, it is the scale of the
    evaluator that the ``thresholds`` are on, which are the band in which the language model is asked.
    ``questions`` and ``passages`` are the numbers of those that were used, and ``made`` is the date.
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
    """The calibrations in one home folder."""

    home: Path

    @property
    def file(self) -> Path:
        """The path of the file, which may not exist."""
        return self.home / "calibrations.toml"

    def find(self, judge: GraderKind, models: Iterable[str]) -> Calibration | None:
        """The calibration of a judge with exactly these models, or None if there is none.

        Args:
            judge: the grader that was calibrated.
            models: the fingerprints of its model files in their order. They are iterated only if there is
                an entry for this judge, so that a lazy iterable reads no model file without need.

        Raises ModelFileError if the file of calibrations cannot be understood.
        """
        held = [entry for entry in self.entries() if entry.judge is judge]
        if not held:
            return None
        wanted = tuple(models)
        return next((entry for entry in held if entry.models == wanted), None)

    def entries(self) -> list[Calibration]:
        """All calibrations in the file. Raises ModelFileError if it cannot be understood."""
        return list(_entries(self.file))

    def put(self, fitted: Sequence[Calibration]) -> None:
        """Store calibrations, each in place of an earlier one for the same judge and models.

        Raises ModelFileError if the file of calibrations cannot be understood.
        """
        replaced = {(entry.judge, entry.models) for entry in fitted}
        kept = [entry for entry in self.entries() if (entry.judge, entry.models) not in replaced]
        self._write([*kept, *fitted])

    def forget(self, models: Iterable[str]) -> list[Calibration]:
        """Remove the calibrations of judges that use one of these models; returns those removed.

        ``models`` are fingerprints. Raises ModelFileError if the file of calibrations cannot be understood.
        """
        gone = set(models)
        entries = self.entries()
        removed = [entry for entry in entries if gone & set(entry.models)]
        if removed:
            self._write([entry for entry in entries if entry not in removed])
        return removed

    def _write(self, entries: Sequence[Calibration]) -> None:
        """Write the file anew, and put it in place of the old one in one step."""
        import tomli_w

        self.home.mkdir(parents=True, exist_ok=True)
        replace_text(self.file, tomli_w.dumps({"calibration": [_table(entry) for entry in entries]}))


def _table(entry: Calibration) -> dict[str, object]:
    """A calibration as a table of the TOML file."""
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
    """The calibrations of a file; none if it does not exist. Raises ModelFileError."""
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
    """A calibration from a table of the TOML file. Raises KeyError, TypeError, ValueError for a wrong one."""
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
