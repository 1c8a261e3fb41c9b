"""What was fitted to a user's own questions, kept under the models it was fitted for.

One file, ``calibrations.toml`` in the user's home. An entry names its models by fingerprint, so that
numbers are never used with another file: a small model's is the sha256 of the whole file, that of a
large one covers its size, its header and a thousand blocks spread over its weights, which costs
milliseconds where a digest of gigabytes would cost seconds at every start.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from localcrag.errors import ModelFileError
from localcrag.llm.gguf import read_metadata
from localcrag.llm.registry import sha256
from localcrag.odds import Scale
from localcrag.types import GraderKind, Thresholds

SMALL = 64 << 20
"""Bytes up to which a file is read whole."""
BLOCKS, BLOCK = 1024, 4096


@dataclass(frozen=True, slots=True)
class Calibration:
    """The numbers of one judge.

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

    def find(self, judge: GraderKind, models: Sequence[Path]) -> Calibration | None:
        """What was fitted for this judge over exactly these model files; None where nothing was.

        Raises ModelFileError for a file that cannot be understood.
        """
        held = [entry for entry in self.entries() if entry.judge is judge]
        if not held:
            return None
        wanted = tuple(map(fingerprint, models))
        return next((entry for entry in held if entry.models == wanted), None)

    def entries(self) -> list[Calibration]:
        """All of them."""
        return list(_entries(self.file))

    def put(self, fitted: Sequence[Calibration]) -> None:
        """Keep these, each in place of what was kept for the same judge and models."""
        replaced = {(entry.judge, entry.models) for entry in fitted}
        kept = [entry for entry in self.entries() if (entry.judge, entry.models) not in replaced]
        self._write([*kept, *fitted])

    def forget(self, models: Sequence[Path]) -> list[Calibration]:
        """Remove all that rests on one of these model files; returns what was removed."""
        gone = set(map(fingerprint, models))
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


def fingerprint(path: Path) -> str:
    """What tells a model file from every other. Raises ModelNotFound, ModelFileError."""
    info = read_metadata(path)
    stat = path.stat()
    return _fingerprint(path.resolve(), stat.st_size, stat.st_mtime_ns, int(info.number("split.count", 1)))


@lru_cache(maxsize=16)
def _fingerprint(path: Path, size: int, _mtime_ns: int, parts: int) -> str:
    if size <= SMALL and parts == 1:
        return sha256(path)
    info = read_metadata(path)
    digest = hashlib.sha256(f"{size} {info.vocabulary} {info.metadata}".encode())
    for part in _parts(path, parts):
        digest.update(_sample(part))
    return f"sampled-{digest.hexdigest()}"


def _sample(path: Path) -> bytes:
    """The digest of blocks spread evenly over a file, its beginning and its end among them."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for number in range(BLOCKS):
            file.seek(max(0, size - BLOCK) * number // (BLOCKS - 1))
            digest.update(file.read(BLOCK))
    return digest.digest()


def _parts(path: Path, count: int) -> Iterator[Path]:
    """The files of a model, in llama.cpp's naming of those that were split."""
    match = re.fullmatch(r"(.*)-\d{5}-of-(\d{5})\.gguf", path.name)
    if match is None or count < 2:
        yield path
        return
    for number in range(1, count + 1):
        yield path.with_name(f"{match[1]}-{number:05}-of-{match[2]}.gguf")


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
