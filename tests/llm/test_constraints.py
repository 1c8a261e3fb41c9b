"""Patterns are Outlines' own, and what is compiled is kept, unless it was damaged."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from localcrag.crag.answering.answer_form import answer_pattern
from localcrag.crag.prompts import NOT_IN_EVIDENCE
from localcrag.errors import ConstraintError
from localcrag.llm import constraints
from localcrag.llm.constraints import (
    LINE_PATTERN,
    Constraints,
    Walk,
    alternatives,
    one_of,
    pattern_of_schema,
)
from localcrag.llm.structured_output import schema_of
from tests.llm.conftest import Load, Shaped


@dataclass(frozen=True)
class Plan:
    """A class to make a pattern of."""

    query: str
    count: int
    kind: Literal["a", "b"]


def test_patterns_are_those_that_outlines_makes() -> None:
    code = """
from typing import Literal
from outlines.types.dsl import python_types_to_terms, to_regex, JsonSchema
import sys, json
print(to_regex(python_types_to_terms(Literal["yes", "no", "a b.c"])))
print(to_regex(JsonSchema(sys.argv[1])))
"""
    schema = schema_of(Plan)
    done = subprocess.run([sys.executable, "-c", code, schema], capture_output=True, text=True, check=True)
    choice, record = done.stdout.splitlines()
    assert one_of(["yes", "no", "a b.c"]) == choice
    assert f"({pattern_of_schema(schema)})" == record


@pytest.mark.parametrize("text", ["a", "two words", "[x] <y>", "Zürich 東京", "a "])
def test_a_line(text: str) -> None:
    assert re.fullmatch(LINE_PATTERN, text)


@pytest.mark.parametrize(
    "text", ["", " ", "\n", "a\nb", "a\rb", "a\u2028b", "a\x85b", "\ta", "a\x00", "\u00a0"]
)
def test_no_line(text: str) -> None:
    assert not re.fullmatch(LINE_PATTERN, text)


def test_a_mask_allows_exactly_what_the_pattern_does(load: Load) -> None:
    parts = load("llama2")._loaded()
    constraint = parts.constraints.of("(yes|no)")
    allowed = {parts.model.piece(int(t)) for t in constraint.begin().allowed().nonzero()[0]}
    assert all(
        any(f" {o}".encode().startswith(b" " + p.lstrip(b" ")) for o in ("yes", "no")) for p in allowed
    )
    assert {b"yes", b"no", b" yes", b" no"} <= allowed
    (yes,) = (t for t, piece in parts.model.pieces() if piece == b"yes")
    after = Walk(constraint, [yes])
    assert after.finished
    assert set(after.allowed().nonzero()[0]) == set(parts.model.endings)


def test_a_token_outside_the_pattern_is_an_error(load: Load) -> None:
    constraint = load("llama2")._loaded().constraints.of("(yes|no)")
    with pytest.raises(ConstraintError, match="does not hold"):
        Walk(constraint, [5])


@pytest.fixture
def fresh(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Constraints:
    monkeypatch.setattr(constraints, "_MIN_STORED_COMPILE_SECONDS", 0.0)
    return Constraints(load("llama2")._loaded().model, "vocabulary", tmp_path)


def again(before: Constraints, tmp_path: Path) -> Constraints:
    return Constraints(before._model, before._vocabulary, tmp_path)


def test_what_was_compiled_is_read_back(
    fresh: Constraints, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = fresh.of(r"\d{4}")
    (file,) = tmp_path.iterdir()
    assert file.suffix == ".index"
    monkeypatch.setattr(Constraints, "_compile", lambda self, pattern: pytest.fail("compiled again"))
    stored = again(fresh, tmp_path).of(r"\d{4}")
    assert (stored.begin().allowed() == compiled.begin().allowed()).all()


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 500])
def test_a_damaged_file_is_made_again(fresh: Constraints, tmp_path: Path, damage: bytes) -> None:
    expected = fresh.of("(yes|no)").begin().allowed()
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage)
    assert (again(fresh, tmp_path).of("(yes|no)").begin().allowed() == expected).all()
    assert file.read_bytes() == whole
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert (again(fresh, tmp_path).of("(yes|no)").begin().allowed() == expected).all()
    assert file.read_bytes() == whole


def test_another_vocabulary_or_pattern_has_another_file(fresh: Constraints, tmp_path: Path) -> None:
    fresh.of("(yes|no)")
    fresh.of("(ja|nein)")
    Constraints(fresh._model, "another vocabulary", tmp_path).of("(yes|no)")
    assert len(list(tmp_path.iterdir())) == 3


def test_a_folder_that_cannot_be_written_costs_only_time(fresh: Constraints, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert Constraints(fresh._model, "vocabulary", blocked / "folder").of("(yes|no)").begin().allowed().any()


def test_one_pattern_is_compiled_once(fresh: Constraints) -> None:
    assert fresh.of("(yes|no)") is fresh.of("(yes|no)")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a", ["a"]),
        ("a|b", ["a", "b"]),
        ("(a|b)c|[|(]d|\\|e|\\(f", ["(a|b)c", "[|(]d", "\\|e", "\\(f"]),
        ("(a|(b|c))", ["(a|(b|c))"]),
        (r"[^\[\]|]+|x", [r"[^\[\]|]+", "x"]),
        ("a|", ["a", ""]),
    ],
)
def test_the_alternatives_at_the_top_of_a_pattern(pattern: str, expected: list[str]) -> None:
    assert alternatives(pattern) == expected


def test_alternatives_are_walked_side_by_side_until_one_is_left(load: Load) -> None:
    parts = load("llama2")._loaded()
    constraint = parts.constraints.of(r"yes|yes, \d+|no")
    assert len(constraint.indexes) == 3

    def after(text: str) -> Walk:
        return Walk(constraint, parts.model.tokenize_continuation(text, special=False))

    yes = after("yes")
    assert yes.finished
    assert len(set(yes.allowed().nonzero()[0])) > len(parts.model.endings), "a comma may follow"
    assert not after("yes,").finished and after("yes, 5").finished
    assert set(after("no").allowed().nonzero()[0]) == set(parts.model.endings)
    with pytest.raises(ConstraintError, match="does not hold"):
        after("yes no")


IN_FORM = (
    "The dose is 5 mg a day. [1] Dr. No of the U.S. Army takes 3.5 mg! [2][1] Zürich’s “東京” is so. [2]"
)


def test_every_vocabulary_can_write_an_answer_in_form_and_decline(shaped: Shaped) -> None:
    parts = shaped.model._loaded()
    constraint = parts.constraints.of(answer_pattern([1, 2]))
    assert constraint.holds(IN_FORM)
    for text in (IN_FORM, NOT_IN_EVIDENCE):
        assert Walk(constraint, parts.model.tokenize_continuation(text, special=False)).finished
    for text in (
        "The dose is 5 mg. The",
        "The dose [",
        "Question: what",
        "The dose is 5 mg. [3]",
        "See <pass",
    ):
        with pytest.raises(ConstraintError):
            Walk(constraint, parts.model.tokenize_continuation(text, special=False))
