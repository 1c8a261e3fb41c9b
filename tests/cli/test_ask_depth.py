"""What else a question can be asked with: parts, corrections, strips, evidence, suggestions, the agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.shape_models import shape

QUESTION = "What is the usual dose of Zeldrine?"
TWO = "What is the usual dose of Zeldrine? Where does the garden club meet?"
UNKNOWN = "How many moons does Jupiter have?"


def test_each_part_of_a_question_has_its_own_evidence_and_status(run: Run) -> None:
    found = run("ask", TWO, "--json").json
    assert [(part["question"], part["status"] != "not_found") for part in found["parts"]] == [
        ("What is the usual dose of Zeldrine?", True),
        ("Where does the garden club meet?", True),
    ]
    sources = {Path(citation["source"]).name for citation in found["citations"]}
    assert {"leaflet.pdf", "notes.md"} <= sources
    assert "35 mg" in found["answer"] and "old mill" in found["answer"]


def test_a_part_without_an_answer_is_named(run: Run) -> None:
    done = run("ask", f"{QUESTION} {UNKNOWN}")
    assert done.code == 0
    assert "35 mg" in done.out
    assert f"{UNKNOWN}\nThe documents do not answer this." in done.out
    assert f"nothing was found for: {UNKNOWN}" in done.err


def test_corrections_can_be_chosen_and_left_out(run: Run) -> None:
    assert run("ask", UNKNOWN, "--corrections", "none", "--json").json["corrections"] == []
    found = run("ask", UNKNOWN, "--corrections", "neighbours", "--json").json
    assert [correction["kind"] for correction in found["corrections"]] == ["neighbours"]


@pytest.mark.parametrize("correction", ["web", "magic"])
def test_a_correction_that_is_none_is_refused(run: Run, correction: str) -> None:
    done = run("ask", QUESTION, "--corrections", correction)
    assert (done.code, done.out) == (2, "")
    assert f"'{correction}' is none of" in done.err


@pytest.mark.parametrize("strips", ["window", "none"])
def test_larger_strips_quote_more_of_the_passage(run: Run, strips: str) -> None:
    by_sentence = run("ask", QUESTION, "--json").json["citations"][0]
    larger = run("ask", QUESTION, "--strips", strips, "--json").json["citations"][0]
    assert by_sentence["quote"] in larger["quote"]
    assert len(larger["quote"]) > len(by_sentence["quote"])


def test_the_evidence_is_shown_around_the_quote(run: Run) -> None:
    done = run("ask", QUESTION, "--show-evidence")
    assert "Swallow the tablet with water" in " ".join(done.err.split())
    assert "Swallow the tablet with" not in run("ask", QUESTION).err


def test_a_filter_that_hides_the_answer_is_never_dropped_but_offered(run: Run) -> None:
    done = run("ask", QUESTION, "--filter", 'team = "y"', "--json")
    assert done.code == 3
    assert "leaflet.pdf" in done.json["suggestions"][0]
    assert all("leaflet" not in grade["source"] for grade in done.json["grades"])


def test_a_chat_model_without_sense_still_ends_and_cites_only_what_exists(run: Run) -> None:
    """Random weights behind a real vocabulary: plans, labels and checks that mean nothing."""
    for extra in (["--agent"], ["--grader", "rubric", "--corrections", "hyde"]):
        done = run("ask", QUESTION, "--model", str(shape("qwen3")), *extra, "--json")
        assert done.code in (0, 3), done.err
        keys = {citation["key"] for citation in done.json["citations"]}
        assert all(key > 0 for key in keys)
        assert done.json["degraded"] or done.json["grades"]


def test_passages_can_lie_on_one_table(run: Run) -> None:
    chat = ["--model", str(shape("qwen3")), "--mode", "write", "--layout", "joint"]
    done = run("ask", QUESTION, *chat, "--json")
    assert done.code in (0, 3), done.err
    assert {grade["verdict"] for grade in done.json["grades"]} <= {"yes", "no"}
    refused = run("ask", QUESTION, *chat, "--strips", "sentence")
    assert (refused.code, refused.out) == (2, "")
    assert "layout joint answers from whole passages" in refused.err and "--strips none" in refused.err


def test_the_embedded_models_quote_sentences_whatever_the_layout(run: Run) -> None:
    joint = run("ask", QUESTION, "--layout", "joint", "--grader", "yesno", "--json").json
    assert {grade["verdict"] for grade in joint["grades"]} <= {"yes", "no"}
    quoted = run("ask", QUESTION, "--layout", "joint", "--json").json["citations"][0]["quote"]
    assert quoted == run("ask", QUESTION, "--json").json["citations"][0]["quote"]
