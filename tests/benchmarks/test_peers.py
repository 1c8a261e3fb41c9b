"""The benchmark against the peers: its protocol, what it counts, and that it runs; no times."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from benchmarks import shapes  # noqa: E402
from benchmarks.peers import Run, turned  # noqa: E402
from benchmarks.peers.questions import (  # noqa: E402
    ANSWER,
    GRADED,
    KEPT,
    RETRIEVED,
    Question,
    documented,
    of_file,
    reranking,
)
from benchmarks.peers.results import report  # noqa: E402
from benchmarks.peers.wire import Cost, Setup, Worker, WorkerError  # noqa: E402

from tests.shape_models import CACHE, NoVocabulariesError  # noqa: E402

if TYPE_CHECKING:
    from llama_cpp import Llama

    from localcrag.protocols import Evaluator

TEXTS = tuple(
    f"Passage {number}: the {word} opens at {number + 6} o'clock, and closes when the last visitor has left."
    for number, word in enumerate(
        ("bakery", "library", "harbour", "school", "theatre", "museum", "pool", "bank")
    )
)
MORE = tuple(
    f"The tower number {number} was built of brick in the year {1700 + number}." for number in range(16)
)
QUESTION = Question("When does the library open?", (*TEXTS, *MORE), tuple(range(8)), (1, 4))
TOKENS = 12


@pytest.fixture(scope="module")
def model() -> str:
    try:
        return str(shapes.model("qwen3", CACHE))
    except NoVocabulariesError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def evaluator(tmp_path_factory: pytest.TempPathFactory) -> Evaluator:
    return reranking(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def worker(model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    setup = Setup(model, context=2048, threads=1, batch=512)
    own = Worker(Path(sys.executable), "benchmarks.peers.own", setup, tmp_path_factory.mktemp("own") / "log")
    yield own
    own.close()


def test_plain_rag_evaluates_the_tokens_of_its_prompt_every_time(worker: Worker, model: str) -> None:
    from benchmarks.peers.given import hits

    from localcrag.crag import prompts
    from localcrag.crag.refinement.knowledge_strips import whole
    from localcrag.crag.refinement.recomposition import numbered
    from localcrag.llm.language_model import LlamaCppModel

    evidence = numbered([whole(hit.passage, 1.0) for hit in hits(TEXTS)])
    with LlamaCppModel(model, context=2048, threads=1) as same:
        expected = same.count(prompts.answer(QUESTION.text, evidence))
    costs = [worker.ask(QUESTION.request("plain", 1)) for _ in range(2)]
    assert [(cost.evaluated, cost.generated, cost.evaluator) for cost in costs] == [(expected, 1, 0)] * 2
    assert costs[0].kept == tuple(range(8))


def test_what_is_said_is_scripted(worker: Worker) -> None:
    cost = worker.ask(QUESTION.request("plain-kept", TOKENS))
    assert cost.text and ANSWER.startswith(cost.text)
    assert cost.kept == (1, 4)


@pytest.mark.parametrize("contender", ["yesno", "yesno-joint", "cascade", "cascade-joint"])
def test_labels_decide_what_is_kept_and_the_grades_are_paid_for(worker: Worker, contender: str) -> None:
    kept_only = worker.ask(QUESTION.request("plain-kept", TOKENS))
    cost = worker.ask(QUESTION.request(contender, TOKENS))
    assert cost.kept == (1, 4)
    assert cost.text == kept_only.text
    assert cost.generated == TOKENS
    assert (cost.evaluator > 0) == contender.startswith("cascade")
    if contender.startswith("yesno"):
        assert cost.evaluated > worker.ask(QUESTION.request("plain", TOKENS)).evaluated


def test_other_labels_keep_other_passages(worker: Worker) -> None:
    other = Question(QUESTION.text, QUESTION.candidates, QUESTION.graded, (0, 7))
    assert worker.ask(other.request("yesno", TOKENS)).kept == (0, 7)


def text_of(llama: Llama, prompt: str) -> str:
    completion = llama(prompt, max_tokens=9, temperature=0)
    assert not isinstance(completion, Iterator)
    return completion["choices"][0]["text"]


def test_for_the_peers_tokens_are_counted_where_llama_cpp_reads_them(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from llama_cpp import Llama

    for name in ("generate", "eval", "sample"):
        monkeypatch.setattr(Llama, name, getattr(Llama, name))
    from benchmarks.peers.rehearsed import rehearsing

    rehearsal = rehearsing()
    llama = Llama(model, n_ctx=256, n_threads=1, verbose=False)
    prompt, more = "The tower was built of brick in the year 1700.", " The bakery opens at six."
    length, longer = (len(llama.tokenize(text.encode(), add_bos=False)) for text in (prompt, prompt + more))
    with rehearsal.says(llama, "yes, it was"):
        assert text_of(llama, prompt) == "yes, it was"
    assert (rehearsal.evaluated, rehearsal.generated) == (length, 4)
    with rehearsal.says(llama, "no"):
        assert text_of(llama, prompt + more) == "no"
    assert (rehearsal.evaluated, rehearsal.generated) == (longer, 5)
    llama.close()


def test_a_worker_that_ends_says_why(tmp_path: Path) -> None:
    setup = Setup(str(tmp_path / "none.gguf"), 512, 1, 512)
    with pytest.raises(WorkerError, match=r"none\.gguf"):
        Worker(Path(sys.executable), "benchmarks.peers.own", setup, tmp_path / "log").ask(
            QUESTION.request("plain", TOKENS)
        )


def test_questions_of_the_standard_library_keep_their_passages(evaluator: Evaluator) -> None:
    first, second = documented(2, 400, evaluator)
    assert first.text != second.text
    for question in (first, second):
        assert len(set(question.candidates)) == RETRIEVED
        assert len(set(question.graded)) == GRADED
        assert len(question.kept) == KEPT and set(question.kept) <= set(question.graded)
        assert sum(question.labels) == KEPT
        name = question.text.split()[2]
        assert any(name in question.candidates[number] for number in question.kept)
        assert all(len(text) <= 400 for text in question.passages)


def test_questions_of_a_file(evaluator: Evaluator, tmp_path: Path) -> None:
    row = {"question": "When does the library open?", "passages": [*TEXTS, *MORE[:4]], "kept": [1]}
    lost = {"question": "When does the library open?", "passages": [*TEXTS, *MORE[:4]], "kept": [11]}
    file = tmp_path / "own.jsonl"
    file.write_text(f"{json.dumps(lost)}\n\n{json.dumps(row)}\n", "utf-8")
    (question,) = of_file(file, 3, 60, evaluator)
    assert [question.candidates[number] for number in question.kept] == [TEXTS[1][:60]]
    assert sum(question.labels) == 1
    file.write_text(json.dumps(lost), "utf-8")
    with pytest.raises(ValueError, match=r"own\.jsonl"):
        of_file(file, 3, 60, evaluator)


def test_ratios_are_taken_within_a_round() -> None:
    def run(contender: str, number: int, evaluated: int, seconds: float) -> Run:
        return Run("0.6b", contender, "?", number, Cost(evaluated, 0, 7, seconds, (0,), ""))

    runs = [
        run("plain", 0, 1000, 1.0), run("plain", 1, 2000, 2.0), run("plain", 2, 4000, 4.0),
        run("langgraph", 0, 2000, 3.0), run("langgraph", 1, 4000, 6.0), run("langgraph", 2, 8000, 12.0),
        run("cascade", 0, 500, 1.0), run("cascade", 1, 1000, 2.0), run("cascade", 2, 4000, 4.0),
    ]  # fmt: skip
    measured = report(runs)
    values = {(figure.name, figure.unit): (figure.value, figure.wanted) for figure in measured.figures}
    assert values["0.6b: localcrag cascade / plain RAG", "ratio of tokens"] == (0.5, "≤ 0.65")
    assert values["0.6b: localcrag cascade / LangGraph", "ratio of tokens"] == (0.25, "≤ 0.4")
    assert values["0.6b: LangGraph / localcrag cascade, evaluator included", "times as fast"] == (
        3.0,
        "≥ 2.5",
    )
    assert values["0.6b: localcrag cascade, evaluator", "tokens evaluated"] == (7.0, "")
    tokens, seconds = measured.charts
    assert tokens.labels == seconds.labels == ("plain RAG", "LangGraph", "localcrag cascade")
    assert tokens.lines[0].points == ((0, 2000), (1, 4000), (2, 1000))


def test_each_round_another_contender_is_first() -> None:
    assert [turned(["a", "b", "c"], number)[0] for number in range(4)] == ["a", "b", "c", "a"]


def test_a_packed_shape_has_the_layers_of_what_it_stands_for(tmp_path: Path) -> None:
    from dataclasses import replace

    from gguf import GGUFReader

    from tests.shape_models import made

    real = shapes.MODELS["0.6b"]
    thin = replace(real.size, layers=1, width=64)
    wanted = replace(real, name="thin", vocabulary="llama-spm", tokens={}, size=thin)  # quick to read back
    try:
        path = made(wanted, tmp_path)
    except NoVocabulariesError as error:
        pytest.skip(str(error))
    tensors = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    assert list(tensors["token_embd.weight"].shape) == [64, 32000]
    assert list(tensors["blk.0.attn_q.weight"].shape) == [64, 2048]
    assert list(tensors["blk.0.attn_k.weight"].shape) == [64, 1024]
    assert list(tensors["blk.0.ffn_down.weight"].shape) == [3072, 64]
    assert tensors["blk.0.ffn_up.weight"].tensor_type.name == "Q4_0"
    assert not list(tmp_path.glob("*.part"))


def test_quick(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALCRAG_HOME", str(tmp_path / "users"))
    plots = tmp_path / "plots"
    command = [sys.executable, "-m", "benchmarks", "peers", "--quick", "--json", "--plots", str(plots)]
    own = ["--set", "contenders=plain,plain-kept,yesno,cascade"]
    done = subprocess.run(
        [*command, *own],
        cwd=ROOT / "scripts",
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = {
        (item["name"], item["unit"]): item["value"] for item in json.loads(done.stdout)["peers"]["figures"]
    }
    read = "tokens evaluated"
    assert figures["qwen3: plain RAG, kept only", read] < figures["qwen3: plain RAG", read]
    assert figures["qwen3: localcrag", read] > figures["qwen3: localcrag cascade", read]
    assert figures["qwen3: localcrag", "tokens generated"] == 48
    assert not (tmp_path / "users").exists(), "nothing is kept in the home of whoever runs it"
    assert {path.name for path in plots.iterdir()} == {"peers-tokens-qwen3.svg", "peers-seconds-qwen3.svg"}
    kept = Path(done.stderr.rsplit("every query is in ", 1)[1].splitlines()[0])
    rows = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    assert [row["contender"] for row in rows] == ["plain", "plain-kept", "yesno", "cascade"]
    kept.unlink()


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": f"{ROOT / 'scripts'}{os.pathsep}{ROOT}"}
