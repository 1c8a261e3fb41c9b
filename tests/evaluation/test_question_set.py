"""Question sets: what a line may say, and the lines that are named and passed over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from localcrag.errors import EvaluationError
from localcrag.evaluation.question_set import Question, read_questions

GOOD = {"question": "What is the dose?", "answers": ["35 mg"], "source": "leaflet.pdf"}


def write(path: Path, *lines: bytes | Mapping[str, object]) -> Path:
    rows = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join(rows) + b"\n")
    return path


def test_a_line_with_everything(tmp_path: Path) -> None:
    line = {**GOOD, "source": ["a.txt", "b.txt"], "passage": "The dose is 35 mg.", "page": 2, "id": 7}
    [question] = read_questions(write(tmp_path / "q.jsonl", line)).questions
    assert question == Question(
        1, "What is the dose?", ("35 mg",), ("a.txt", "b.txt"), ("The dose is 35 mg.",), 2, True
    )


def test_what_is_not_said_is_not_known(tmp_path: Path) -> None:
    lines: tuple[Mapping[str, object], ...] = (
        {"question": "a?"},
        {"question": "b?", "answerable": False},
        {"question": "c?", "answers": ["x"]},
    )
    found = read_questions(write(tmp_path / "q.jsonl", *lines)).questions
    assert [question.answerable for question in found] == [None, False, True]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"question": "a?"', "it is not JSON"),
        (b'["a?"]', "it is not a JSON object"),
        (b'{"question": "\xff"}', "it is not UTF-8"),
        (b"[" * 100_000, "it is not JSON"),
        ({"answers": ["x"]}, 'it has no text "question"'),
        ({"question": 7}, 'it has no text "question"'),
        ({"question": "  "}, "the question is empty"),
        ({"question": "x" * 5000}, "the question has 5,000 characters"),
        ({**GOOD, "answers": [35]}, '"answers" must be'),
        ({**GOOD, "answers": [""]}, '"answers" must be'),
        ({**GOOD, "source": {"name": "a"}}, '"source" must be'),
        ({**GOOD, "page": "two"}, '"page" must be a whole number'),
        ({**GOOD, "page": True}, '"page" must be a whole number'),
        ({**GOOD, "answerable": "yes"}, '"answerable" must be true or false'),
        ({**GOOD, "answerable": False}, "it has answers and says that it is not answerable"),
    ],
)
def test_a_broken_line_is_counted_named_and_skipped(
    tmp_path: Path, line: bytes | Mapping[str, object], reason: str
) -> None:
    found = read_questions(write(tmp_path / "q.jsonl", GOOD, b"", line, GOOD))
    assert [question.line for question in found.questions] == [1, 4]
    [broken] = found.broken
    assert broken.line == 3
    assert broken.reason.startswith(reason)


@pytest.mark.parametrize(("content", "word"), [(b"", "holds no question"), (b"\n \n", "holds no question")])
def test_an_empty_file_is_an_error(tmp_path: Path, content: bytes, word: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(content)
    with pytest.raises(EvaluationError, match=word) as caught:
        read_questions(path)
    assert '{"question"' in caught.value.hint


def test_a_file_without_a_good_line_says_what_is_wrong_with_the_first(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"line 2: it is not JSON"):
        read_questions(write(tmp_path / "q.jsonl", b"", b"hello", b"world"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="No such file"):
        read_questions(tmp_path / "absent.jsonl")
