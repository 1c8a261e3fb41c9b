"""Keeping results of checks, and finding them again by the model's files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from localcrag.errors import ModelFileError
from localcrag.fitness.fitness_result import FITNESS_EDITION
from localcrag.fitness.fitness_results_folder import FitnessResults
from tests.fitness.values import FIT, fitness_result


@pytest.fixture
def results(tmp_path: Path) -> FitnessResults:
    return FitnessResults(tmp_path / "home", tmp_path / "embedded")


def test_a_result_is_found_by_its_files_and_by_no_others(results: FitnessResults) -> None:
    with_adapter = fitness_result(fingerprints=(*FIT.fingerprints, "a" * 64), model="with an adapter")
    for result in (FIT, with_adapter):
        results.put(result)
    assert results.find(FIT.fingerprints) == FIT
    assert results.find(with_adapter.fingerprints) == with_adapter
    assert results.find(("0" * 64,)) is None
    assert results.find(("f" * 63 + "0",)) is None  # begins as one that is kept


def test_a_new_result_takes_the_place_of_the_old_one(results: FitnessResults) -> None:
    results.put(FIT)
    file = results.put(fitness_result(made="2027-01-01"))
    found = results.find(FIT.fingerprints)
    assert found is not None and found.made == "2027-01-01"
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_a_result_of_an_earlier_edition_counts_no_more(results: FitnessResults) -> None:
    results.put(fitness_result(edition=FITNESS_EDITION - 1))
    assert results.find(FIT.fingerprints) is None


def test_a_result_that_came_with_localcrag_counts_until_the_user_makes_one(results: FitnessResults) -> None:
    shipped = results.embedded / "fitness" / "any-name.json"
    shipped.parent.mkdir(parents=True)
    shipped.write_text(json.dumps({**FIT.to_dict(), "verdict": "fit", "hints": []}))
    assert results.find(FIT.fingerprints) == FIT
    results.put(fitness_result(model="checked here"))
    found = results.find(FIT.fingerprints)
    assert found is not None and found.model == "checked here"


def test_no_model_file_is_read_if_nothing_was_ever_checked(results: FitnessResults) -> None:
    computed: list[str] = []

    def costly() -> Iterator[str]:
        computed.append("a fingerprint")
        yield "f"

    assert results.find(costly()) is None and not computed


@pytest.mark.parametrize("damage", ["{", "[]", '{"model": 3}', ""])
def test_a_damaged_result_is_an_error_with_a_way_out(results: FitnessResults, damage: str) -> None:
    results.put(FIT).write_text(damage)
    with pytest.raises(ModelFileError, match="cannot be understood") as caught:
        results.find(FIT.fingerprints)
    assert "models check" in caught.value.hint


def test_a_result_that_cannot_be_kept_is_an_error(results: FitnessResults) -> None:
    results.home.mkdir()
    results.folder.write_text("a file in the way")
    with pytest.raises(ModelFileError, match="cannot be kept"):
        results.put(FIT)
