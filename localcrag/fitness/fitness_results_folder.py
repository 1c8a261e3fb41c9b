"""The folders that fitness results are kept in: one JSON file for each model.

A file is exactly the object that ``localcrag models check --json`` prints. It names its model by fingerprint
(:func:`localcrag.llm.gguf.fingerprint`), so that its figures are never used with another file. The results of
the user's own checks are in the home folder; those of the embedded models lie beside them and ship with
localcrag.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from localcrag._platform import replace_text
from localcrag.errors import ModelFileError
from localcrag.fitness.fitness_result import FITNESS_EDITION, FitnessResult

FOLDER_NAME = "fitness"
"""The name of the folder, in the home folder and beside the embedded models."""
_SHOWN_FINGERPRINT_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class FitnessResults:
    """The results in one home folder, and those that came with the embedded models.

    ``home`` is the home folder of localcrag, ``embedded`` the folder of the embedded models.
    """

    home: Path
    embedded: Path

    @property
    def folder(self) -> Path:
        """The folder of the user's own results, which may not exist."""
        return self.home / FOLDER_NAME

    def find(self, fingerprints: Iterable[str]) -> FitnessResult | None:
        """The result of exactly these files, or None if they were never checked by this edition.

        A check of the user's own takes precedence over one that came with localcrag.

        Args:
            fingerprints: those of the model and of its adapter, if it has one. They are iterated only if
                there is a result at all, so that a lazy iterable reads no model file without need.

        Raises ModelFileError if a result cannot be understood.
        """
        own, shipped = (
            sorted(folder.glob("*.json")) for folder in (self.folder, self.embedded / FOLDER_NAME)
        )
        if not own and not shipped:
            return None
        wanted = tuple(fingerprints)
        kept = self._file(wanted)
        for file in (*([kept] if kept in own else []), *shipped):
            result = _read(file)
            if result.fingerprints == wanted and result.edition == FITNESS_EDITION:
                return result
        return None

    def put(self, result: FitnessResult) -> Path:
        """Keep a result in place of an earlier one of the same files; returns its path.

        Raises ModelFileError if it cannot be written.
        """
        import json

        file = self._file(result.fingerprints)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_text(file, json.dumps(result.to_dict(), ensure_ascii=False, indent=2) + "\n")
        except OSError as error:
            raise ModelFileError(
                f"the result of the check cannot be kept in {file}: {error.strerror}",
                hint="make room, or mend its permissions, and try again",
            ) from error
        return file

    def _file(self, fingerprints: tuple[str, ...]) -> Path:
        """The path of the user's own result for these files."""
        name = "+".join(each[:_SHOWN_FINGERPRINT_CHARACTERS] for each in fingerprints)
        return self.folder / f"{name}.json"


def _read(file: Path) -> FitnessResult:
    """The result in a file. Raises ModelFileError."""
    import msgspec

    try:
        return msgspec.json.decode(file.read_bytes(), type=FitnessResult)
    except (OSError, msgspec.MsgspecError) as error:
        raise ModelFileError(
            f"the result of a check in {file} cannot be understood: {error}",
            hint="delete the file: `localcrag models check` makes it again",
        ) from error
