"""Questions about whole documents: those that travel with the program, and the groups made of them."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.llm import ScriptedEvaluator

pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[1]
MINUTES = """# Minutes of the rowing club

Present: Ada Wren, Lucia Fenn
Apologies: Sven Malloy
Next meeting: 14 May

## Boats

The old eight is sold to Hollow Bridge for 2,750 euros. The new eight comes in August.
Its hull is red, its deck white.

## Keys

Whoever loses a key pays 22 euros.
"""
SHIPPED_KINDS = """
    administration building clubs commerce devices factory family farming health hospitality knowledge letters
    mail manuals minutes prose public records rules science services sheets software systems tables travel
"""
QUESTIONS: list[dict[str, Any]] = [
    {"file": "m.md", "question": "Who sent apologies?", "answer": "Sven Malloy", "evidence": ["Apologies:"]},
    {
        "file": "m.md",
        "question": "What did Hollow Bridge pay?",
        "answer": "2,750 euros",
        "evidence": ["is sold to Hollow Bridge", "2,750 euros"],
        "heading": "Boats",
    },
    {
        "file": "m.md",
        "question": "What does the new eight cost?",
        "answer": None,
        "near": ["new eight comes"],
    },
    {
        "file": "m.md",
        "question": "Is it blue?",
        "answer": "no",
        "evidence": ["hull is red"],
        "heading": "Keys",
    },
]


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    """The package under `scripts/`, importable for this module."""
    sys.path.insert(0, str(ROOT / "scripts"))
    yield
    sys.path.remove(str(ROOT / "scripts"))


def folder_of(folder: Path, questions: list[dict[str, Any]]) -> Path:
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "m.md").write_text(MINUTES)
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)))
    return folder


def test_strips_that_answer_and_that_tempt_are_found(tmp_path: Path) -> None:
    from training.labelled_documents import read_labelled_documents

    found = read_labelled_documents([folder_of(tmp_path, QUESTIONS)])
    assert [each.question for each in found] == [str(row["question"]) for row in QUESTIONS[:3]], (
        "no strip below the heading that the last one names says so"
    )
    texts = [[each.document.strips[at].text for at in (*each.answering, *each.tempting)] for each in found]
    assert texts == [
        ["Apologies: Sven Malloy"],
        ["The old eight is sold to Hollow Bridge for 2,750 euros."],
        ["The new eight comes in August."],
    ]
    assert [bool(each.answering) for each in found] == [True, True, False]


def test_a_question_about_an_unknown_document_is_an_error(tmp_path: Path) -> None:
    from training.data import DataError
    from training.labelled_documents import read_labelled_documents

    wrong = {**QUESTIONS[0], "file": "other.md"}
    with pytest.raises(DataError, match=r"no document 'other\.md'"):
        read_labelled_documents([folder_of(tmp_path, [wrong])])


def test_groups_hold_one_answer_and_texts_that_do_not_tell_it(tmp_path: Path) -> None:
    from training.labelled_documents import DocumentGroups, read_labelled_documents

    groups = DocumentGroups(read_labelled_documents([folder_of(tmp_path, QUESTIONS)]))
    rng = random.Random(0)
    drawn = [groups.draw(rng) for _ in range(60)]
    answers = {str(row["question"]): str(row["answer"]) for row in QUESTIONS if row["answer"]}
    for group in drawn:
        positives = [text for text, label in zip(group.texts, group.labels, strict=True) if label]
        negatives = [text for text, label in zip(group.texts, group.labels, strict=True) if not label]
        assert negatives
        assert len(positives) == (1 if group.question in answers else 0)
        assert all(answers[group.question] in text for text in positives)
        assert not any(answers.get(group.question, "cost?") in text for text in negatives)


def test_questions_about_documents_of_ones_own_are_asked_often_however_few_they_are(tmp_path: Path) -> None:
    from training.labelled_documents import DocumentGroups, own_folders, read_labelled_documents

    folders = [folder_of(tmp_path / "documents" / name, QUESTIONS) for name in ("mine", "theirs")]
    assert own_folders(tmp_path) == folders
    questions = read_labelled_documents(folders)
    one = [replace(questions[0], question="Mine?"), *questions[1:]]
    few = [each for each in one if each.question == "Mine?" or each.document.name.startswith("theirs/")]
    groups, rng = DocumentGroups(few, own={"mine"}), random.Random(0)
    drawn = sum(groups.draw(rng).question == "Mine?" for _ in range(100))
    assert 25 < drawn < 65


def test_the_documents_that_travel_are_read_and_whole_documents_are_held_out() -> None:
    from training.data import read_jsonl
    from training.labelled_documents import (
        SHIPPED_DOCUMENTS,
        document_folders,
        is_held_out,
        read_labelled_documents,
    )

    folders = document_folders(ROOT / "no such data")
    assert [folder.name for folder in folders] == SHIPPED_KINDS.split()
    assert all(folder.parent == SHIPPED_DOCUMENTS for folder in folders)
    asked = {folder.name: list(read_jsonl(folder / "questions.jsonl")) for folder in folders}
    names = {f"{folder}/{row['file']}" for folder, rows in asked.items() for row in rows}
    assert 6 <= sum(map(is_held_out, names)) < len(names) / 3
    found = read_labelled_documents(folders[:1])
    assert len(found) > 0.97 * len(asked["letters"])
    assert all(each.held_out is is_held_out(each.document.name) for each in found)


def test_the_unseen_documents_are_never_among_those_for_training_and_their_answers_are_found() -> None:
    from training.labelled_documents import document_folders, read_labelled_documents, unseen_folders

    unseen = unseen_folders()
    assert len(unseen) == 3 and not set(unseen) & set(document_folders(ROOT / "no-data"))
    found = read_labelled_documents(unseen)
    written = [
        line for folder in unseen for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()
    ]
    assert len(found) >= 0.99 * len(written)
    assert 0.25 < sum(not question.answering for question in found) / len(found) < 0.35


def test_what_answers_is_looked_for_among_all_strips_and_passages(tmp_path: Path) -> None:
    import numpy as np
    from training.document_search import document_rows
    from training.labelled_documents import read_labelled_documents

    asked = read_labelled_documents([folder_of(tmp_path, QUESTIONS)])

    def embed(texts: Any) -> Any:
        return np.ones((len(texts), 1), np.float32)

    evaluator = ScriptedEvaluator(lambda _, text: 0.9 if "apologies" in text.lower() else 0.1)
    rows = document_rows(evaluator, embed, {"made": asked}, most=10)
    strips, passages = rows
    assert [(row.part, row.subject, row.method) for row in rows] == [
        ("documents", "made", "strips"),
        ("documents", "made", "passages"),
    ]
    assert strips.figures["first"] == 0.5, "who apologised is found, what was paid is not"
    assert strips.figures["questions"] == 3
    assert 0 < strips.figures["auc"] < 1
    assert passages.figures["first"] > 0
