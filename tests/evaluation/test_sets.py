"""``scripts/train sets``: what it writes is what ``localcrag eval`` reads, about unseen documents only."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from localcrag.evaluation.labels import label
from localcrag.evaluation.question_set import Question, read_questions
from tests.evaluation.values import held

pytest.importorskip("zstandard")

SCRIPTS = Path(__file__).parents[2] / "scripts"
TOWNS = {"Warsaw": "Vistula", "Normans": "Seine", "Lyon": "Rhone", "Vienna": "Danube"}


@pytest.fixture(autouse=True)
def scripts() -> Iterator[None]:
    """The package under `scripts/`, importable for a test."""
    sys.path.insert(0, str(SCRIPTS))
    yield
    sys.path.remove(str(SCRIPTS))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two articles that training never saw and two that it did; one set of searches beside them."""
    rows: list[dict[str, object]] = []
    for town, river in TOWNS.items():
        passage = f"{town} lies on the {river}. Its old market opened in 1850, and bread is sold there today."
        common: dict[str, object] = {"dataset": "squad_v2", "title": town, "passage": passage, "id": town}
        rows.append(
            {**common, "question": f"Which river is at {town}?", "answers": [river], "answer_starts": [0]}
        )
        lost: dict[str, object] = {
            "question": f"Who sings in {town}?",
            "answers": [],
            "answer_starts": [],
            "relevant": False,
        }
        rows += [{**common, **lost, "question": f"Who {verb} in {town}?"} for verb in ("sings", "paints")]
    for number in range(200):
        passage = (
            f"The film number {number} was made in a studio near the sea, and many people liked it a lot."
        )
        film = {"dataset": "boolq", "id": str(number), "title": f"film {number}", "passage": passage}
        rows.append({**film, "question": f"is film {number} good", "answers": ["yes"], "answer_starts": [-1]})
    folder = tmp_path / "data" / "qa" / "train"
    folder.mkdir(parents=True)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "data"


def made(data: Path, out: Path) -> dict[str, tuple[Question, ...]]:
    from training.__main__ import main

    assert main(["sets", "--data", str(data), "--out", str(out), "--questions", "10"]) == 0
    return {folder.name: read_questions(folder / "questions.jsonl").questions for folder in out.iterdir()}


def test_only_unseen_documents_are_asked_about(data: Path, tmp_path: Path) -> None:
    found = made(data, tmp_path / "out")
    assert set(found) == {"encyclopaedia", "searches"}
    towns = found["encyclopaedia"]
    assert {q.sources for q in towns if q.answerable} == {("Warsaw.txt",), ("Normans.txt",)}
    documents = {path.name for path in (tmp_path / "out" / "encyclopaedia" / "documents").iterdir()}
    assert documents == {f"{town}.txt" for town in TOWNS}, "the others are there to be confused with"


def test_every_gold_passage_is_in_its_document(data: Path, tmp_path: Path) -> None:
    for name, questions in made(data, tmp_path / "out").items():
        folder = tmp_path / "out" / name / "documents"
        labelled, unknown = label(questions, [held(str(path)) for path in folder.iterdir()])
        assert not unknown and any(q.answerable for q in questions)
        for each in labelled:
            if each.question.answerable:
                assert each.question.passages[0] in (folder / each.question.sources[0]).read_text()


def test_what_is_not_answered_looks_like_it_or_is_about_something_else(data: Path, tmp_path: Path) -> None:
    towns = made(data, tmp_path / "out")["encyclopaedia"]
    hopeless = [q.text for q in towns if q.answerable is False]
    assert sum("film" in text for text in hopeless) == 1
    assert sum("sings" in text or "paints" in text for text in hopeless) == 2


def test_yes_and_no_are_no_answers_to_look_for(data: Path, tmp_path: Path) -> None:
    found = made(data, tmp_path / "out")
    assert {q.answers for q in found["encyclopaedia"] if q.answerable} == {("Vistula",), ("Seine",)}
    assert {q.answers for q in found["searches"]} == {()}


def test_without_data_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from training.__main__ import main

    assert main(["sets", "--data", str(tmp_path / "absent"), "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.startswith("error: no folder")
