"""``localcrag ask`` and ``search`` with the embedded models, on real documents."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from localcrag.cli.standard_input import piped_text
from localcrag.crag.pipeline import NOT_FOUND
from localcrag.errors import UsageError
from localcrag.events import Delta, Finished
from localcrag.options import AskOptions
from localcrag.types import Action, Answer, Mode, Policy, Status
from tests.cli.conftest import Run
from tests.documents.builders import xlsx
from tests.shape_models import shape

QUESTION = "What is the usual dose of Zeldrine?"
UNKNOWN = "How many moons does Jupiter have?"


def test_the_answer_is_on_stdout_and_opens_at_its_page(run: Run, documents: Path) -> None:
    done = run("ask", QUESTION)
    assert done.code == 0, done.err
    assert "35 mg once a day" in done.out and "[1]" in done.out
    assert "Error" not in done.out and "searched" not in done.out
    assert "leaflet.pdf, page 2" in done.err


def test_json_is_the_promised_object_and_its_quotes_are_slices_of_the_stored_text(run: Run) -> None:
    done = run("ask", QUESTION, "--json")
    found = done.json
    assert found["status"] == "answered" and found["mode"] == "quote"
    citation = found["citations"][0]
    assert Path(citation["source"]).name == "leaflet.pdf" and citation["page"] == 2
    stored = next(
        page["text"]
        for document in run("kb", "export").lines
        if document["source"] == citation["source"]
        for page in document["pages"]
        if page["number"] == citation["page"]
    )
    assert stored[citation["start"] : citation["end"]] == citation["quote"]
    assert found["usage"]["tokens_evaluated"] > 0


def test_what_the_documents_do_not_answer_is_said_and_exits_3(run: Run) -> None:
    done = run("ask", UNKNOWN, "--json")
    assert done.code == 3
    assert done.json["status"] == "not_found"
    assert done.json["citations"] == []
    assert done.json["corrections"], "it should have searched again in another way"


def test_jsonl_prints_the_events_and_ends_with_the_answer(run: Run) -> None:
    events = run("ask", QUESTION, "--jsonl").lines
    names = [event["event"] for event in events]
    assert names[0] == "retrieved" and names[-1] == "finished"
    assert {"retrieved", "reranked", "graded", "decided", "refined", "delta", "verified"} <= set(names)
    assert events[-1]["answer"] == "".join(e["text"] for e in events if e["event"] == "delta").strip()


def test_trace_shows_each_passage_with_its_grade_and_why(run: Run) -> None:
    done = run("ask", QUESTION, "--trace")
    assert "P=" in done.err and "leaflet.pdf, page 2" in done.err
    assert "correct (crag): best grade" in done.err
    assert "tokens read" in done.err


@pytest.mark.parametrize("grader", ["yesno", "evaluator", "fused"])
def test_every_grader_gives_strict_verdicts(run: Run, grader: str) -> None:
    grades = run("ask", QUESTION, "--grader", grader, "--json").json["grades"]
    assert grades
    assert {grade["verdict"] for grade in grades} <= {"yes", "no"}
    assert all(0 <= grade["confidence"] <= 1 for grade in grades)


def test_without_an_evaluator_the_language_model_grades_alone(run: Run) -> None:
    done = run("ask", QUESTION, "--evaluator", "none", "--json")
    assert done.code in (0, 3), done.err
    assert done.json["grades"]


def test_an_evaluator_that_is_not_there_cannot_grade(run: Run) -> None:
    done = run("ask", QUESTION, "--evaluator", "none", "--grader", "evaluator")
    assert done.code == 2
    assert "needs an evaluator" in done.err


def test_filters_narrow_the_search(run: Run) -> None:
    done = run("ask", QUESTION, "--filter", 'team = "y"', "--json")
    assert done.code == 3
    assert run("ask", QUESTION, "--filter", 'team = "x" and page = 2', "--json").code == 0


@pytest.mark.parametrize("filter_", ["nonsense", "page <", 'colour = "red"', "page = 'two'", "source < 3"])
def test_a_filter_that_cannot_be_used(run: Run, filter_: str) -> None:
    done = run("ask", QUESTION, "--filter", filter_)
    assert done.code == 2
    assert done.err.startswith("Error: ") and done.out == ""


@pytest.mark.parametrize("question", ["", "   ", "x" * 1_000_000])
def test_a_question_that_cannot_be_asked(run: Run, question: str) -> None:
    done = run("ask", "-", stdin=question)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: the question")


def test_a_question_from_stdin(run: Run) -> None:
    assert run("ask", "-", "--json", stdin=QUESTION + "\n").json["question"] == QUESTION


def test_a_question_that_is_not_all_text_is_asked_without_what_is_none(run: Run) -> None:
    found = run("ask", QUESTION + " \udcff", "--json")
    assert (found.code, found.json["question"]) == (0, QUESTION + " \ufffd"), found.err


def test_a_question_from_stdin_that_is_not_utf_8(home: Path) -> None:
    command = [sys.executable, "-m", "localcrag", "--home", str(home), "ask", "-", "--json"]
    for utf_8_mode in ("0", "1"):
        done = subprocess.run(
            command,
            input=QUESTION.encode() + b" caf\xe9",
            capture_output=True,
            env={**os.environ, "PYTHONUTF8": utf_8_mode, "LC_ALL": "C.UTF-8"},
        )
        assert done.returncode in (0, 3), done.stderr
        assert json.loads(done.stdout)["question"] == QUESTION + " caf\ufffd"


MAIL = "Dear all,\n\nThe harbour office wants 75 EUR for the boat by the end of March.\n\nKind regards [4]\n"
FEE = "How much does the harbour office want for the boat?"


def test_a_piped_text_is_evidence_for_this_question_only(run: Run) -> None:
    done = run("ask", *FEE.split(), "--json", "--filter", 'source != "x"', stdin=MAIL)
    assert done.code == 0 and "75 EUR" in done.json["answer"]
    [citation] = done.json["citations"]
    assert (citation["source"], citation["origin"], citation["page"]) == ("stdin", "documents", None)
    assert MAIL[citation["start"] : citation["end"]] == citation["quote"]
    shown = run("ask", FEE, stdin=MAIL).err
    assert "[1] stdin\n" in shown
    assert shown.startswith(f"Context from standard input: {len(MAIL)} characters.\n")
    assert run("ask", FEE).code == 3 and run("ask", FEE, stdin=" \n").code == 3
    both = run("ask", QUESTION, "--json", stdin=MAIL).json
    assert {Path(citation["source"]).name for citation in both["citations"]} == {"leaflet.pdf"}


def test_a_file_is_piped_into_a_process(home: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "localcrag", "--home", str(home), "ask", "-q", FEE]
    (tmp_path / "mail.txt").write_bytes(MAIL.encode("utf-16"))
    with (tmp_path / "mail.txt").open("rb") as mail:
        done = subprocess.run(command, stdin=mail, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "") and "75 EUR" in done.stdout


@pytest.mark.parametrize(
    ("data", "error"),
    [(b"\x00\x01\x02\x03" * 99, "is no context: binary"), (b"x " * 250_000, "the limit is 400,000")],
)
def test_what_cannot_be_context_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: bytes, error: str
) -> None:
    (tmp_path / "piped").write_bytes(data)
    monkeypatch.setattr("sys.stdin", (tmp_path / "piped").open(encoding="utf-8"))
    with pytest.raises(UsageError, match=error) as raised:
        AskOptions.of(context=piped_text())
    assert "ingest" in raised.value.hint
    sys.stdin.close()


def test_a_pipe_into_which_nothing_is_written_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("localcrag.cli.standard_input.PATIENCE_SECONDS", 0.0)
    reading, writing = os.pipe()
    with os.fdopen(reading) as pipe, os.fdopen(writing, "w") as other_end:
        monkeypatch.setattr("sys.stdin", pipe)
        assert piped_text() == ""
        assert capsys.readouterr().err.startswith("Nothing came on standard input")
        assert (piped_text(quiet=True), capsys.readouterr().err) == ("", "")
        other_end.write(MAIL)
        other_end.close()
        assert piped_text() == MAIL
    with open(os.devnull) as device:  # noqa: PTH123
        monkeypatch.setattr("sys.stdin", device)
        assert piped_text() == ""
    monkeypatch.setattr("sys.stdin", None)
    assert piped_text() == ""


def test_quiet_prints_the_answer_and_nothing_else(run: Run) -> None:
    done = run("ask", "--quiet", QUESTION)
    assert (done.code, done.err) == (0, "") and done.out == run("ask", QUESTION).out
    assert "standard input" not in run("ask", QUESTION).err
    done = run("ask", "-q", UNKNOWN)
    assert (done.code, done.err, done.out) == (3, "", "Your documents do not answer this.\n")
    assert run("ask", "-q", QUESTION, "--kb", "nowhere").err.startswith("Error: ")
    assert run("ask", "-q", "--trace", QUESTION).code == 2


def test_options_are_found_between_the_words_of_a_question(run: Run) -> None:
    done = run("ask", "What", "is", "--mode", "quote", "the", "usual", "--json", "dose", "of", "Zeldrine")
    assert done.json["question"] == "What is the usual dose of Zeldrine"
    assert run("ask", "--json", "--", "--dose", "of", "Zeldrine").json["question"] == "--dose of Zeldrine"


def test_an_unknown_knowledge_base_names_those_there_are(run: Run) -> None:
    done = run("ask", QUESTION, "--kb", "defalt")
    assert done.code == 1
    assert "defalt" in done.err and "default" in done.err.replace("defalt", "")


def test_the_web_without_a_server_is_an_error_that_says_how_to_get_one(run: Run) -> None:
    done = run("ask", QUESTION, "--web", "auto")
    assert done.code == 1
    assert "no SearXNG is configured" in done.err and "web.url" in done.err


def test_the_chat_model_that_travels_quotes_unless_it_is_told_to_write(run: Run) -> None:
    assert run("ask", QUESTION, "--json").json["mode"] == "quote"
    found = run("ask", QUESTION, "--mode", "write", "--json").json
    assert found["mode"] == "write"
    assert not found["answer"] or re.fullmatch(r"([^\[\]]+[.!?] (\[\d+\])+ ?)+", found["answer"])


def test_a_chat_model_writes_and_cites_only_what_exists(run: Run) -> None:
    """The weights are random, so the text is nonsense; the constraint and the checks are real."""
    small = ("--model", str(shape("llama2")))
    assert run("ask", QUESTION, *small, "--json").json["mode"] == "quote", "until it is checked"
    done = run("ask", QUESTION, *small, "--mode", "write", "--json")
    assert done.code in (0, 3), done.err
    found = done.json
    assert found["mode"] == "write"
    assert {grade["verdict"] for grade in found["grades"]} <= {"yes", "no"}
    keys = {str(citation["key"]) for citation in found["citations"]}
    assert set(re.findall(r"\[(\d+)\]", found["answer"])) <= keys


@pytest.mark.parametrize(
    ("status", "text", "code"),
    [
        (Status.TRUNCATED, "Take it dai", 0),
        (Status.UNSURE, "Take it daily.", 0),
        *((Status.TRUNCATED, nothing, 3) for nothing in NOT_FOUND.values()),
        *((Status.NOT_FOUND, nothing, 3) for nothing in NOT_FOUND.values()),
    ],
)
def test_what_was_answered_exits_0_though_it_cites_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, status: Status, text: str, code: int
) -> None:
    answer = Answer("q?", status, text, Mode.WRITE, Policy.CRAG, Action.CORRECT, found=code == 0)
    monkeypatch.setattr(
        "localcrag.knowledge_base.KnowledgeBase.stream", lambda *_: iter([Delta(text), Finished(answer)])
    )
    done = run("ask", "q?")
    assert (done.code, done.out) == (code, f"{text}\n")


def test_a_citation_names_sheet_and_row(fresh: Run, tmp_path: Path) -> None:
    fees = [["Vehicle", "Parking fee"], ["Car", "48 EUR"], ["Motorcycle", "35 EUR"], ["Lorry", "112 EUR"]]
    (tmp_path / "fees.xlsx").write_bytes(xlsx({"Notes": [["Ask at the gate."]], "Tariffs": fees}))
    (tmp_path / "staff.csv").write_text("Name,Telephone extension\nAda Byron,4711\nCarl Gauss,4712\n")
    assert fresh("ingest", str(tmp_path)).code == 0
    asked = fresh("ask", "What is the parking fee for a motorcycle?")
    assert "fees.xlsx, sheet Tariffs, row 3" in asked.err
    [citation] = fresh("ask", "--json", "What is the parking fee for a motorcycle?").json["citations"]
    assert (citation["sheet"], citation["rows"], citation["page"]) == ("Tariffs", [3, 3], 2)
    assert "staff.csv, row 2" in fresh("ask", "What is the telephone extension of Ada Byron?").err
    assert "fees.xlsx, sheet Tariffs, rows 2–4" in fresh("search", "parking fee motorcycle").out
    fresh("chat", "--thread", "fees", stdin="What is the parking fee for a motorcycle?\n")
    assert "fees.xlsx, sheet Tariffs, row 3](" in fresh("threads", "export", "fees").out


def test_search_prints_hits_with_place_score_and_snippet(run: Run) -> None:
    done = run("search", "sunny place for lavender", "-k", "2")
    assert done.code == 0
    assert "notes.md" in done.out and "Lavender needs a sunny place" in done.out
    found = run("search", "sunny place for lavender", "-k", "2", "--json").json
    assert list(found) == ["query", "kb", "hits"]
    assert [hit["rank"] for hit in found["hits"]] == [1, 2]
    assert list(found["hits"][0]) == [
        "rank", "score", "source", "title", "page", "start", "end", "text", "meta", "sheet", "rows", "kb",
    ]  # fmt: skip
    assert found["hits"][0]["meta"] == {"team": "x"}


class TestModelFiles:
    """A GGUF that cannot be used gets one line, and the hint what to do."""

    def refused(self, run: Run, model: Path | str, word: str) -> None:
        done = run("ask", QUESTION, "--model", str(model))
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith("Error: ") and done.err.count("\n") <= 2
        assert word in done.err.lower(), done.err

    def test_missing(self, run: Run) -> None:
        self.refused(run, "/nowhere/model.gguf", "there is no model")

    def test_not_a_gguf(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "model.gguf"
        path.write_text("hello")
        self.refused(run, path, "gguf")

    def test_truncated(self, run: Run, tmp_path: Path) -> None:
        from localcrag.llm.registry import embedded_folder

        whole = (embedded_folder() / "localcrag-evaluator-v6.gguf").read_bytes()
        path = tmp_path / "model.gguf"
        path.write_bytes(whole[: len(whole) // 2])
        self.refused(run, path, "incomplete")

    def test_an_evaluator_where_a_generator_is_meant(self, run: Run) -> None:
        self.refused(run, "localcrag-evaluator-v6", "evaluator")

    def test_a_context_too_small_for_one_passage(self, run: Run) -> None:
        """No grade can be had, so none counts as a no: the answer is unsure, and says why."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LOCALCRAG_MODEL_CONTEXT", "64")
            found = run("ask", QUESTION, "--grader", "yesno", "--json").json
        assert found["status"] == "unsure"
        assert {grade["verdict"] for grade in found["grades"]} == {"error"}
        assert "do not fit the context of 64 tokens" in found["degraded"][0]
