"""The evaluator for other languages: its file's upper layers on a package's lower ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from localcrag import e5_conversion
from localcrag.calibration.calibration_file import Calibration
from localcrag.calibration.scale import Scale, log_odds
from localcrag.errors import ModelError, ModelFileError, ModelNotInstalled
from localcrag.languages import beyond_english, is_across_english
from localcrag.llm.ctranslate_bert import CLASSIFIER
from localcrag.llm.evaluator_by_language import EvaluatorByLanguage
from localcrag.llm.multilingual_evaluator import ACROSS_KEY, WINDOW_TOKENS, MultilingualEvaluator
from localcrag.loaded_models import LoadedModels
from localcrag.settings import ModelSettings
from localcrag.types import GraderKind, Thresholds
from tests.small_e5_package import upper_part, use_small_package

GERMAN = "Die Gebühr für ein Boot beträgt 75 Euro im Jahr, und sie ist im März fällig."
ENGLISH = "The fee of a boat is 75 euros a year, and it is due in March."
ROW = "Boat | 75 | March"
SCALE = {"localcrag.evaluator.temperature": 2.0, "localcrag.evaluator.bias": 0.25}


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    values = use_small_package(tmp_path, monkeypatch, layers=2)
    return upper_part(tmp_path / "upper.gguf", values, 1, SCALE)


@pytest.fixture
def evaluator(file: Path, tmp_path: Path) -> Iterator[MultilingualEvaluator]:
    with MultilingualEvaluator(file, tmp_path / "cache", threads=2) as made:
        yield made


def both(file: Path, folder: Path) -> EvaluatorByLanguage:
    """Two evaluators of the same file, so that what each has read tells which one was asked."""
    english, others = (MultilingualEvaluator(file, folder / "cache", threads=1) for _ in range(2))
    return EvaluatorByLanguage(english, others)


def test_it_reads_the_layers_of_both_files(evaluator: MultilingualEvaluator, tmp_path: Path) -> None:
    numbers = evaluator.numbers("die Frist", [GERMAN, "费用 35", ENGLISH])
    assert len(set(numbers)) == 3
    values = use_small_package(tmp_path, pytest.MonkeyPatch(), layers=2)
    values["l1.fi.w"] = values["l1.fi.w"] * 0.5
    other = upper_part(tmp_path / "other.gguf", values, 1)
    with MultilingualEvaluator(other, tmp_path / "cache", threads=1) as changed:
        assert changed.numbers("die Frist", [GERMAN]) != numbers[:1]


def test_a_pair_beyond_the_window_is_cut(evaluator: MultilingualEvaluator) -> None:
    evaluator.numbers("die Frist", ["die " * 900])
    assert evaluator.tokens.evaluated == WINDOW_TOKENS


def test_a_damaged_network_is_made_again(evaluator: MultilingualEvaluator, tmp_path: Path) -> None:
    expected = evaluator.numbers("die Frist", [GERMAN])
    evaluator.close()
    [made] = (path for path in (tmp_path / "cache").iterdir() if path.is_dir())
    for name in ("model.bin", CLASSIFIER):
        (made / name).unlink()  # other homes have the same file
        (made / name).write_bytes(b"damaged")
        assert evaluator.numbers("die Frist", [GERMAN]) == expected
        evaluator.close()


def test_a_file_trained_on_other_weights_is_refused(
    evaluator: MultilingualEvaluator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_small_package(tmp_path, monkeypatch, layers=1)
    with pytest.raises(ModelFileError, match="trained on other weights"):
        evaluator.load()


def test_without_the_package_or_a_place_it_says_so(
    evaluator: MultilingualEvaluator, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(ModelError, match="cannot be made in"):
        MultilingualEvaluator(file, tmp_path / "taken").load()
    monkeypatch.setattr(e5_conversion, "_weights_file", lambda: None)
    with pytest.raises(ModelNotInstalled):
        evaluator.load()


@pytest.mark.parametrize(
    ("query", "texts", "expected"),
    [
        ("What is the fee of a boat?", [ENGLISH, ROW], [False, False]),
        ("fee boat 2024", [ROW, "x"], [False, False]),
        ("What is the fee of a boat?", [GERMAN, ENGLISH], [True, False]),
        ("What is the fee of a boat?", [GERMAN, GERMAN, "Gilt ab Mai."], [True, True, True]),
        ("Wie hoch ist die Gebühr für ein Boot?", [ENGLISH, ROW], [True, True]),
        ("船的费用是多少？", [ENGLISH], [True]),
        ("Сколько стоит лодка?", [ROW], [True]),
    ],
)
def test_each_pair_goes_to_the_evaluator_that_knows_its_languages(
    file: Path, tmp_path: Path, query: str, texts: list[str], expected: list[bool]
) -> None:
    pair = both(file, tmp_path)
    assert beyond_english(query, texts) == expected
    scores = pair.score(query, texts)
    assert scores == pair.others.score(query, texts)
    assert (pair.english.tokens.evaluated > 0) == (not all(expected))
    pair.close()


@pytest.mark.parametrize(
    ("query", "texts", "expected"),
    [
        ("What is the fee of a boat?", [GERMAN, ENGLISH], [True, False]),
        ("What is the fee of a boat?", [GERMAN, GERMAN, ROW], [True, True, True]),
        ("Wie hoch ist die Gebühr für ein Boot?", [GERMAN, ENGLISH, ROW], [False, True, False]),
        ("Boot 75", [GERMAN, ENGLISH], [False, False]),
    ],
)
def test_what_numbers_lack_across_languages_is_added(
    file: Path, tmp_path: Path, query: str, texts: list[str], expected: list[bool]
) -> None:
    assert is_across_english(query, texts) == expected
    values = use_small_package(tmp_path, pytest.MonkeyPatch(), layers=2)
    raised = upper_part(tmp_path / "raised.gguf", values, 1, SCALE | {ACROSS_KEY: 1.5})
    with (
        MultilingualEvaluator(file, tmp_path / "cache", threads=1) as plain,
        MultilingualEvaluator(raised, tmp_path / "cache", threads=1) as other,
    ):
        gained = [
            b - a for a, b in zip(plain.numbers(query, texts), other.numbers(query, texts), strict=True)
        ]
    assert gained == pytest.approx([1.5 if across else 0.0 for across in expected], abs=1e-4)


def test_plainly_english_pairs_load_neither_the_library_nor_the_other_evaluator(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "py3langid", raising=False)
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    pair = both(file, tmp_path)
    pair.score("What is the fee of a boat?", [ENGLISH, ROW, "", "Anna Weber, Köln"])
    assert pair.others.tokens.evaluated == 0
    assert pair.tokens == pair.english.tokens
    pair.close()


def test_a_calibration_maps_the_probabilities_of_both_alike(file: Path, tmp_path: Path) -> None:
    pair = both(file, tmp_path)
    texts = [GERMAN, ENGLISH]
    before = [log_odds(p) for p in pair.score("What is the fee?", texts)]
    slope, bias = 0.5, 1.0
    scale = pair.own_scale.then(slope, bias)
    pair.calibration = Calibration(
        GraderKind.EVALUATOR, ("print",), scale, Thresholds(0.8, 0.2), 9, 9, "2026-11-24"
    )
    after = [log_odds(p) for p in pair.score("What is the fee?", texts)]
    assert after == pytest.approx([slope * number + bias for number in before])
    assert pair.thresholds == Thresholds(0.8, 0.2) and pair.scale == scale
    pair.calibration = None
    assert [log_odds(p) for p in pair.score("What is the fee?", texts)] == pytest.approx(before)
    assert isinstance(pair.own_scale, Scale)
    pair.close()


def test_pairs_are_remembered_by_both_until_it_is_closed(file: Path, tmp_path: Path) -> None:
    pair = both(file, tmp_path)
    pair.remember(10)
    first = pair.score("What is the fee?", [GERMAN, ENGLISH])
    count = pair.tokens
    assert pair.score("What is the fee?", [GERMAN, ENGLISH]) == first and pair.tokens == count
    pair.close()
    assert pair.score("What is the fee?", [GERMAN, ENGLISH]) == first and pair.tokens == count + count


def test_it_is_used_with_the_default_evaluator_if_its_package_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_small_package(tmp_path, monkeypatch)
    models = LoadedModels(ModelSettings(), tmp_path)
    assert isinstance(models.evaluator, EvaluatorByLanguage) and len(models.evaluator_files()) == 2
    assert models.evaluator.name == "localcrag-evaluator-v6"
    own = LoadedModels(ModelSettings(evaluator=str(models.evaluator_file)), tmp_path)
    assert not isinstance(own.evaluator, EvaluatorByLanguage) and len(own.evaluator_files()) == 1
    alone = LoadedModels(ModelSettings(evaluator="localcrag-multilingual-evaluator-v2"), tmp_path)
    assert isinstance(alone.evaluator, MultilingualEvaluator)
    monkeypatch.setattr(e5_conversion, "_weights_file", lambda: None)
    without = LoadedModels(ModelSettings(), tmp_path)
    assert not isinstance(without.evaluator, EvaluatorByLanguage) and len(without.evaluator_files()) == 1
