"""py3langid's classifier: the same from the unpacked model as from the packed one, unpacked once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import localcrag
from localcrag import language_identifier
from localcrag.language_identifier import classifier, keep_unpacked_in

TEXTS = (
    "Wer reparierte den Kran?",
    "La redevance est due au printemps, et tout retard coûte davantage.",
    "def close(self): self._file.close(); return None",
    "35",
    "",
)


@pytest.fixture(autouse=True)
def _loaded_anew(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let each test load the classifier, with no folder named."""
    monkeypatch.setattr(language_identifier, "_folders", [])
    classifier.cache_clear()
    yield
    classifier.cache_clear()


def _found() -> list[tuple[str, float]]:
    """What a classifier that is loaded now finds of some texts."""
    classifier.cache_clear()
    return [classifier()(text) for text in TEXTS]


def test_the_unpacked_model_finds_the_same_and_is_unpacked_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = _found()
    keep_unpacked_in(tmp_path / "models")
    assert _found() == packed
    monkeypatch.setattr(language_identifier, "_packed", lambda: pytest.fail("unpacked again"))
    assert _found() == packed


@pytest.mark.parametrize("damage", ["cut off", "removed"])
def test_an_unpacked_model_that_is_damaged_is_made_again(tmp_path: Path, damage: str) -> None:
    keep_unpacked_in(tmp_path)
    expected = _found()
    (file,) = tmp_path.glob("*/nb_ptc.npy")
    if damage == "removed":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:1000])
    assert _found() == expected
    assert file.stat().st_size > 1000


def test_without_a_place_for_it_the_model_is_unpacked_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    keep_unpacked_in(tmp_path / "file" / "models")
    assert _found()[0][0] == "de"


def test_a_knowledge_base_keeps_it_among_the_models_of_its_home(tmp_path: Path) -> None:
    localcrag.open("notes", home=tmp_path)
    _found()
    assert list(tmp_path.glob("cache/models/langid-*"))
