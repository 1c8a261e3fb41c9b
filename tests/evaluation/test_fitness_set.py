"""The labelled set of the fitness check, and what is refused of another one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from localcrag.errors import EvaluationError
from localcrag.evaluation.fitness_set import SET_FILE, JsonKind, Miss, load_fitness_set


def test_the_set_is_balanced_and_has_every_task() -> None:
    tasks = load_fitness_set()
    passages = [passage for question in tasks.question for passage in question.passages]
    assert Counter(passage.helps for passage in passages) == {True: 20, False: 20}
    assert {passage.misses for passage in passages if not passage.helps} == set(Miss)
    assert (len(tasks.chatty), len(tasks.follow_up), len(tasks.question)) == (10, 10, 10)
    assert sum(not question.supporting_keys for question in tasks.question) == 3
    keys = Counter(key for question in tasks.question for key in question.supporting_keys)
    assert len(keys) == 3  # no key is always right
    assert {ask.kind for ask in tasks.json} == set(JsonKind)
    assert {bool(each.reply) for each in tasks.instruction} == {True, False}
    assert {each.verdict for each in tasks.instruction} == {"yes", "no", ""}


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("[[question]]", "[question", "cannot be used"),
        ('helps = true, text = "Bake', 'helps = false, text = "Bake', "helps and misses, or neither"),
        ("Melder bread at 230 degrees", "Melder bread at 220 degrees", "label is not that of the answer"),
        ("evidence = [1, 3, 4]", "evidence = [1, 3, 5]", "evidence that it does not have"),
        ('words = ["Pelorin", "milk"]', 'words = ["Pelorin", "cream"]', "does not have the word cream"),
        ('"Who founded the Orbeline cooperative?", "Hanne Vestrup."', '"Hello"', "a turn without a reply"),
        ("question = 9\npassage = 4", "question = 9\npassage = 5", "stands behind no passage"),
        ('verdict = "no"', 'verdict = "yes"', "wants the right verdict"),
        ('reply = "secret"', 'reply = ""', "must want a verdict or a reply"),
        ('kind = "plan"', 'kind = "poem"', "Invalid enum value 'poem'"),
        ('misses = "date"', 'misses = "luck"', "Invalid enum value 'luck'"),
    ],
)
def test_a_set_that_contradicts_itself_is_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    text = SET_FILE.read_text("utf-8")
    assert old in text
    wrong = tmp_path / "set.toml"
    wrong.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(EvaluationError, match=fault):
        load_fitness_set(wrong)
