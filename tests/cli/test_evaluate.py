"""``localcrag eval`` and ``calibrate`` with the embedded models, on real documents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from localcrag.crag.judges.graders import CascadeGrader, EvaluatorGrader
from localcrag.errors import ModelError
from localcrag.evaluation import run as running
from localcrag.evaluation.labels import Labelled
from localcrag.evaluation.observations import Observation, observe
from localcrag.events import Event
from localcrag.types import Grade, Hit
from tests.cli.conftest import Run, runner
from tests.tiny_llama import write_base

QUESTIONS: Sequence[dict[str, object]] = (
    {
        "question": "What is the usual dose of Zeldrine?",
        "answers": ["35 mg once a day"],
        "source": "leaflet.pdf",
        "passage": "The usual dose of Zeldrine is 35 mg once a day.",
        "page": 2,
    },
    {"question": "Where does the garden club meet?", "answers": ["the old mill"], "source": "notes.md"},
    {"question": "How many moons does Jupiter have?", "answerable": False},
)


def lines(*rows: object) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text(lines(*QUESTIONS))
    return path


def measures(found: dict) -> dict[tuple[str, str], dict]:  # type: ignore[type-arg]
    return {(m["group"], m["name"]): m for m in found["measures"]}


def test_what_is_measured_of_good_questions(run: Run, questions: Path) -> None:
    done = run("eval", str(questions), "--json")
    assert done.code == 0, done.err
    found = done.json
    assert (found["questions"], found["partial"], found["skipped"]) == (3, False, [])
    taken = measures(found)
    assert taken["retrieval", "recall@4, reranked"]["value"] == 1.0
    assert taken["retrieval", "recall@4, reranked"]["n"] == 2
    assert taken["answers", "holds the answer"]["value"] == 1.0
    assert taken["citations", "precision (the source is gold)"]["value"] == 1.0
    assert taken["abstention", "recall"] == {
        "group": "abstention", "name": "recall", "value": 1.0, "low": 1.0, "high": 1.0, "n": 1,
    }  # fmt: skip
    assert found["statuses"]["not answerable"]["not_found"] == 1
    assert found["confusion"]["needed_made"] == 1
    assert taken["tokens per question", "evaluated, mean"]["value"] > 0
    assert [row["status"] for row in found["asked"]][2] == "not_found"
    assert [row["ranks_reranked"] for row in found["asked"]] == [[1], [1], []]


def test_the_table_is_on_stdout_and_has_nothing_else(run: Run, questions: Path) -> None:
    done = run("eval", str(questions), "--limit", "2", "--k", "3")
    assert done.code == 0, done.err
    for word in ("questions, 2 questions", "recall@3, search", "95 % interval", "evaluated", "statuses"):
        assert word in done.out
    assert "abstention" in done.out and "calibration error" in done.out
    assert "searched your documents" not in done.out + done.err


def test_recall_is_measured_as_far_as_hits_are_kept(run: Run, questions: Path) -> None:
    done = run("eval", str(questions), "--limit", "1", "--k", "20", "--json")
    assert done.code == 0, done.err
    names = {name for group, name in measures(done.json) if group == "retrieval"}
    assert {"recall@20, search", "recall@6, reranked"} <= names and "recall@20, reranked" not in names
    [said] = [line for line in done.err.splitlines() if "recall@20" in line]
    assert said.startswith("instead of recall@20: recall@6, reranked;")
    assert "instead of recall" not in run("eval", str(questions), "--limit", "1", "--k", "6").err


def test_options_are_those_of_ask(run: Run, questions: Path) -> None:
    done = run(
        "eval", str(questions), "--policy", "any-irrelevant", "--filter", "page = 2", "--limit", "1", "--json"
    )
    assert done.code == 0, done.err
    [row] = done.json["asked"]
    assert row["action"] != "correct" or row["ranks_searched"] == [1]
    assert run("eval", str(questions), "--filter", "colour = 1").code == 2
    assert run("eval", str(questions), "--policy", "nonsense").code == 2


def test_broken_lines_are_named_and_skipped(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(lines(QUESTIONS[0], "{broken", {"question": "Who?", "source": "absent.pdf"}))
    done = run("eval", str(path), "--json")
    assert done.code == 0, done.err
    assert done.json["questions"] == 1
    assert [item["line"] for item in done.json["skipped"]] == [2, 3]
    assert "skipped line 2: it is not JSON" in done.err
    assert "skipped line 3: the knowledge base has no document 'absent.pdf'" in done.err


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "holds no question"),
        ("nonsense\n", "line 1: it is not JSON"),
        (lines({"question": "Who?", "source": "absent.pdf"}), "none of the documents"),
    ],
)
def test_a_file_without_a_good_line_is_an_error(run: Run, tmp_path: Path, content: str, word: str) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(content)
    for command in ("eval", "calibrate"):
        done = run(command, str(path))
        assert (done.code, done.out) == (1, "")
        assert word in done.err


def test_the_file_and_the_knowledge_base_must_be_there(run: Run, questions: Path) -> None:
    assert run("eval", "absent.jsonl").code == 1
    done = run("eval", str(questions), "--kb", "defalt")
    assert done.code == 1 and "defalt" in done.err


def interrupted(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes in the middle of a question."""
    left = iter([*[False] * after, True])

    def observed(events: Iterator[Event], asked: Labelled) -> Observation:
        if next(left, False):
            next(events)
            raise KeyboardInterrupt
        return observe(events, asked)

    monkeypatch.setattr(running, "observe", observed)


def test_ctrl_c_shows_what_was_measured(run: Run, questions: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(1, monkeypatch)
    done = run("eval", str(questions))
    assert done.code == 130
    assert "(partial), 1 questions" in done.out.replace("\n", " ")
    assert "interrupted, this is a part" in done.out.replace("\n", " ")


def test_ctrl_c_before_the_first_question_has_nothing_to_show(
    run: Run, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(0, monkeypatch)
    done = run("eval", str(questions))
    assert (done.code, done.out) == (130, "")


class TestCompare:
    @pytest.fixture
    def files(self, tmp_path: Path) -> list[str]:
        (tmp_path / "crag.toml").write_text('[loop]\npolicy = "crag"\n')
        (tmp_path / "wide.toml").write_text('[loop]\npolicy = "any-irrelevant"\npassages = 3\n')
        return ["--compare", str(tmp_path / "crag.toml"), str(tmp_path / "wide.toml")]

    def test_side_by_side(self, run: Run, questions: Path, files: list[str], tmp_path: Path) -> None:
        plot = tmp_path / "plot.svg"
        done = run("eval", str(questions), *files, "--limit", "2", "--json", "--plot", str(plot))
        assert done.code == 0, done.err
        found = done.json
        assert (found["a"]["name"], found["b"]["name"], found["paired"]) == ("crag", "wide", 2)
        rows = {(row["group"], row["name"]): row for row in found["differences"]}
        made = rows["correction", "made"]
        assert made["difference"] == pytest.approx(made["b"] - made["a"])
        assert made["b"] == 1.0, "one of any three passages is irrelevant"
        assert "wide: precision" in plot.read_text()

    def test_as_a_table(self, run: Run, questions: Path, files: list[str]) -> None:
        done = run("eval", str(questions), *files, "--limit", "1")
        assert done.code == 0, done.err
        assert "crag against wide" in done.out and "difference" in done.out

    def test_ctrl_c_before_the_second_leaves_the_first(
        self, run: Run, questions: Path, files: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        interrupted(1, monkeypatch)
        done = run("eval", str(questions), *files, "--limit", "1", "--json")
        assert done.code == 130
        assert (done.json["name"], done.json["questions"]) == ("crag", 1)

    @pytest.mark.parametrize(
        ("content", "word"),
        [
            ("[loop]\npolicy = 'x'\n", "is not one of"),
            ("[nothing]\n", "unknown setting"),
            (None, "there is no file"),
        ],
    )
    def test_a_configuration_that_cannot_be_used(
        self, run: Run, questions: Path, files: list[str], tmp_path: Path, content: str | None, word: str
    ) -> None:
        second = tmp_path / "second.toml"
        if content is not None:
            second.write_text(content)
        done = run("eval", str(questions), "--compare", files[1], str(second))
        assert (done.code, done.out) == (1, "")
        assert word in done.err

    def test_a_model_that_is_not_there_is_said_before_the_first_is_measured(
        self, run: Run, questions: Path, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(running, "observe", lambda *_: pytest.fail("nothing is to be asked"))
        (tmp_path / "absent.toml").write_text('[model]\nlanguage = "absent"\n')
        done = run("eval", str(questions), "--compare", files[1], str(tmp_path / "absent.toml"))
        assert done.code == 1 and "there is no model 'absent'" in done.err


def test_a_plot_that_cannot_be_made_is_said_first(run: Run, questions: Path) -> None:
    done = run("eval", str(questions), "--plot", "plot.pdf")
    assert (done.code, done.out) == (2, "") and ".png or .svg" in done.err


class TestGraders:
    GRADERS = ("--graders", "yesno, evaluator,cascade")

    def test_the_same_passages_by_every_grader(self, run: Run, questions: Path) -> None:
        done = run("eval", str(questions), *self.GRADERS, "--json")
        assert done.code == 0, done.err
        found = done.json
        assert (found["questions"], found["reference"], found["partial"]) == (3, "yesno", False)
        assert found["passages"] >= 9 and 2 <= found["right"] < found["passages"]
        graders = {each["grader"]: each for each in found["graders"]}
        assert list(graders) == ["yesno", "evaluator", "cascade"]
        asked = {k: each["figures"]["language model asked"]["value"] for k, each in graders.items()}
        assert asked["yesno"] == 1 > asked["cascade"] >= asked["evaluator"] == 0
        tokens = {k: each["figures"]["tokens, language model"]["value"] for k, each in graders.items()}
        assert tokens["yesno"] > tokens["cascade"] >= tokens["evaluator"] == 0
        assert graders["yesno"]["against"] is None
        assert graders["yesno"]["figures"]["tokens, evaluator"]["value"] == 0
        against = graders["evaluator"]["against"]
        assert against["as_good"] is True and against["margin"] == 0.02
        assert against["gained"] - against["lost"] == round(
            against["accuracy_difference"]["value"] * found["passages"]
        )

    def test_as_a_table_with_one_sentence_each(self, run: Run, questions: Path) -> None:
        done = run("eval", str(questions), *self.GRADERS, "--limit", "2", "--margin", "5")
        assert done.code == 0, done.err
        for words in ("against yesno", "Cohen's kappa", "McNemar", "language model asked", "2 questions"):
            assert words in done.out
        said = " ".join(done.out.partition("McNemar")[2].split())
        assert said.count("points of accuracy") == 2

    @pytest.mark.parametrize(
        ("options", "word"),
        [
            (("--graders", "yesno,nobody"), "'nobody' is not one of"),
            (("--graders", "yesno", "--plot", "x.svg"), "neither --compare nor --plot"),
            (("--graders", "yesno,cascade", "--evaluator", "none"), "needs an evaluator"),
        ],
    )
    def test_what_cannot_be_compared(
        self, run: Run, questions: Path, options: tuple[str, ...], word: str
    ) -> None:
        done = run("eval", str(questions), *options)
        assert (done.code, done.out) == (2, "") and word in done.err

    def test_labels_are_needed(self, run: Run, tmp_path: Path) -> None:
        path = tmp_path / "q.jsonl"
        path.write_text(lines({"question": "Who swims?"}))
        done = run("eval", str(path), *self.GRADERS)
        assert (done.code, done.out) == (1, "") and "no labelled question found a passage" in done.err

    def test_a_question_on_which_one_model_fails_counts_for_none(
        self, run: Run, questions: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real, left = EvaluatorGrader.grade, iter([True])

        def grade(self: EvaluatorGrader, question: str, hits: Sequence[Hit], *more: Any) -> list[Grade]:
            if next(left, False):
                raise ModelError("it broke")
            return real(self, question, hits, *more)

        monkeypatch.setattr(EvaluatorGrader, "grade", grade)
        found = run("eval", str(questions), *self.GRADERS, "--json").json
        assert found["questions"] == 2 and found["partial"] is False
        assert found["failed"] == [{"line": 1, "reason": "it broke"}]

    def test_ctrl_c_shows_what_all_have_graded(
        self, run: Run, questions: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real, left = CascadeGrader.grade, iter([False, True])

        def grade(self: CascadeGrader, question: str, hits: Sequence[Hit], *more: Any) -> list[Grade]:
            if next(left, False):
                raise KeyboardInterrupt
            return real(self, question, hits, *more)

        monkeypatch.setattr(CascadeGrader, "grade", grade)
        done = run("eval", str(questions), *self.GRADERS, "--json")
        assert (done.code, done.json["questions"], done.json["partial"]) == (130, 1, True)


# ---------------------------------------------------------------------------------- calibrate

TOWNS = {
    "Arn": "Ousk", "Belm": "Tyr", "Corin": "Vell", "Dask": "Morn", "Elva": "Sarn", "Firth": "Hale",
    "Gorn": "Leth", "Halm": "Brue", "Inver": "Calder", "Jora": "Wend", "Kell": "Stour",
}  # fmt: skip


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A home that knows eleven towns, and twenty-two questions about them."""
    folder, place = tmp_path_factory.mktemp("towns"), tmp_path_factory.mktemp("towns-home")
    rows = []
    for number, (town, river) in enumerate(TOWNS.items()):
        (folder / f"{town}.txt").write_text(
            f"{town} lies on the river {river}. Its market opened in 18{number + 10}."
        )
        rows.append(
            {"question": f"Which river does {town} lie on?", "answers": [river], "source": f"{town}.txt"}
        )
        rows.append({"question": f"When did the market of {town} open?", "source": f"{town}.txt"})
    questions = folder / "questions.jsonl"
    with pytest.MonkeyPatch.context() as patch:
        done = runner(place, patch)("ingest", str(folder / "*.txt"))
    assert done.code == 0, done.err
    questions.write_text(lines(*rows))
    return place, questions


@pytest.fixture
def town(towns: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Run, Path]]:
    """Runs commands in that home on few passages; nothing stays calibrated behind a test."""
    place, questions = towns
    monkeypatch.setenv("LOCALCRAG_LOOP_PASSAGES", "3")
    monkeypatch.setenv("LOCALCRAG_LOOP_CANDIDATES", "4")
    run = runner(place, monkeypatch)
    yield run, questions
    run("calibrate", "--forget")


def confidences(run: Run, *options: str) -> dict[str, float]:
    """P by document, of one question."""
    found = run("ask", "Which river does Dask lie on?", "--json", *options).json
    return {grade["source"]: grade["confidence"] for grade in found["grades"]}


def test_a_calibration_shows_in_the_next_question_until_it_is_forgotten(town: tuple[Run, Path]) -> None:
    run, questions = town
    before = confidences(run)
    done = run("calibrate", str(questions), "--write", "--json")
    assert done.code == 0, done.err
    found = done.json
    assert found["stored"] is True
    assert [each["judge"] for each in found["fitted"]] == ["evaluator", "fused"]
    fused = found["fitted"][1]
    assert len(fused["weights"]) == 4 and fused["questions"] == 22
    assert 0 <= fused["lower"] <= fused["upper"] <= 1
    assert fused["after"]["log_loss"] < fused["before"]["log_loss"]
    assert confidences(run) != pytest.approx(before)
    trace = run("ask", "Which river does Dask lie on?", "--policy", "crag").err
    assert f"{fused['upper']:.2f}" in trace
    assert "calibration: fused, on 22 questions of yours" in run("doctor").out
    forgotten = run("calibrate", "--forget")
    assert forgotten.code == 0 and forgotten.err.count("Forgot") == 2
    assert confidences(run) == pytest.approx(before, abs=0.01), "a chat model varies with what is cached"


def test_the_fused_grade_stays_where_the_evaluator_alone_is_calibrated(town: tuple[Run, Path]) -> None:
    run, questions = town
    fused, alone = confidences(run), confidences(run, "--grader", "evaluator")
    done = run("calibrate", str(questions), "--grader", "evaluator", "--write")
    assert done.code == 0, done.err
    assert "calibration error" in done.out and "Stored" in done.err
    assert confidences(run, "--grader", "evaluator") != pytest.approx(alone)
    again = confidences(run)
    common = fused.keys() & again.keys()
    assert len(common) >= 3, "log-odds are cut off: the order of what is surely irrelevant may be another"
    assert {s: again[s] for s in common} == pytest.approx({s: fused[s] for s in common}, abs=0.03)


def test_the_band_of_a_cascade_is_fitted_and_used(
    town: tuple[Run, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a model of random weights, whose word is worth nothing and costs little."""
    monkeypatch.setenv("LOCALCRAG_MODEL_LANGUAGE", str(write_base(tmp_path / "tiny.gguf")))
    monkeypatch.setenv("LOCALCRAG_MODEL_ADAPTER", "none")
    monkeypatch.setenv("LOCALCRAG_LOOP_PASSAGES", "2")
    run, questions = town
    compared = ("eval", str(questions), "--graders", "yesno,cascade", "--json")
    before = run(*compared).json["graders"][1]["figures"]
    done = run("calibrate", str(questions), "--grader", "cascade", "--write", "--json")
    assert done.code == 0, done.err
    assert [each["judge"] for each in done.json["fitted"]] == ["evaluator", "cascade"]
    band = done.json["fitted"][1]
    assert band["questions"] == 22 and 0 <= band["lower"] <= 0.5 <= band["upper"] <= 1
    assert band["after"]["accuracy"]["value"] >= band["model"] - band["margin"], (
        "the evaluator is the better one"
    )
    after = run(*compared).json["graders"][1]["figures"]
    asked = "language model asked"
    assert after[asked]["value"] < before[asked]["value"], "random weights are of no help"
    assert after["accuracy"]["value"] >= before["accuracy"]["value"]
    assert "calibration: cascade, on 22 questions of yours" in run("doctor").out
    shown = run("calibrate", str(questions), "--grader", "cascade", "--dry-run").out
    assert "against asking every time" in shown and "asked where the evaluator's P is from" in shown


def test_a_dry_run_stores_nothing(town: tuple[Run, Path]) -> None:
    run, questions = town
    before = confidences(run, "--grader", "evaluator")
    done = run("calibrate", str(questions), "--grader", "evaluator", "--dry-run")
    assert done.code == 0 and "Nothing was stored" in done.err
    assert confidences(run, "--grader", "evaluator") == pytest.approx(before)
    assert "Nothing was fitted" in run("calibrate", "--forget").err


def test_a_second_calibration_starts_from_the_first_and_ends_in_the_same_place(
    town: tuple[Run, Path],
) -> None:
    run, questions = town
    options = (str(questions), "--grader", "evaluator", "--write", "--json")
    [first], [second] = (run("calibrate", *options).json["fitted"] for _ in range(2))
    assert second["temperature"] == pytest.approx(first["temperature"], rel=0.05)
    assert second["upper"] == pytest.approx(first["upper"], abs=0.02)


def test_too_few_questions_and_no_class_to_tell_apart(town: tuple[Run, Path], tmp_path: Path) -> None:
    run, questions = town
    few = tmp_path / "few.jsonl"
    few.write_text(lines(*questions.read_text().splitlines()[:5]))
    done = run("calibrate", str(few), "--grader", "evaluator")
    assert (done.code, done.out) == (1, "")
    assert "only 5 labelled questions, at least 20 are needed" in done.err
    hopeless = tmp_path / "hopeless.jsonl"
    hopeless.write_text(lines(*({"question": f"Who is {n}?", "answerable": False} for n in range(20))))
    done = run("calibrate", str(hopeless), "--grader", "evaluator")
    assert done.code == 1 and "for only 0 of 20 questions" in done.err


def test_calibrate_needs_questions_and_an_evaluator(town: tuple[Run, Path]) -> None:
    run, questions = town
    assert run("calibrate").code == 2
    done = run("calibrate", str(questions), "--evaluator", "none", "--grader", "fused")
    assert done.code == 2 and "needs an evaluator" in done.err
