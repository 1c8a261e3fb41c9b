"""The scripts that make the embedded models: a smoke run on synthetic data, the manifest, the errors."""

from __future__ import annotations

import hashlib
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gguf")
pytest.importorskip("zstandard")
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[1]
TOWNS = {
    "Warsaw": "Vistula", "Lyon": "Rhone", "Vienna": "Danube", "Cologne": "Rhine", "Turin": "Po",
    "Porto": "Douro", "Prague": "Vltava", "Seville": "Guadalquivir", "Dresden": "Elbe", "Basel": "Rhine",
    "Bordeaux": "Garonne", "Steam engine": "Thames",
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def embedded() -> Iterator[None]:
    """The package under `scripts/`, importable for this module."""
    sys.path.insert(0, str(ROOT / "scripts"))
    yield
    sys.path.remove(str(ROOT / "scripts"))


def train(*arguments: object) -> int:
    from embedded import command

    return command.train([str(a) for a in arguments])


def write_data(folder: Path) -> Path:
    """A data folder with one small labelled set and a little text."""
    questions, texts = [], []
    for town, river in TOWNS.items():
        passage = f"{town} lies on the {river}. Its old market opened in 1{len(town)}50. Bread is sold there."
        texts.append({"text": f"{passage} The people of {town} like rivers and bread. " * 30})
        for question, answer in (
            (f"Which river runs through {town}?", river),
            (f"When did {town} open it?", "1"),
        ):
            start = passage.index(answer)
            record = {"dataset": "squad_v2", "question": question, "title": town, "passage": passage}
            questions.append({**record, "answers": [answer], "answer_starts": [start], "relevant": True})
        unanswered = {
            "question": f"Who sings in {town}?",
            "answers": [],
            "answer_starts": [],
            "relevant": False,
        }
        questions.append({**record, **unanswered})
    for name, records in (("qa/train/towns.jsonl", questions), ("text/towns.jsonl", texts)):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return folder


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `out` folder after every stage, a second or two each."""
    data = write_data(tmp_path_factory.mktemp("data"))
    out = tmp_path_factory.mktemp("out")
    for stage in ("tokenizer", "pretrain", "evaluator", "tasks", "export"):
        assert train(stage, "--data", data, "--out", out, "--minutes", 0.02) == 0, stage
    return out


def test_smoke_run_exports_models_that_llama_cpp_loads(trained: Path) -> None:
    from embedded.runtime import GgufEvaluator, GgufLanguageModel
    from embedded.tasks import grade_message, rewrite_message

    judge = GgufEvaluator(trained / "models" / "localcrag-evaluator-v1.gguf")
    scores = judge.score([("Which river?", "Lyon lies on the Rhone."), ("Which river?", "Bread.")] * 20)
    assert np.isfinite(scores).all()
    assert np.allclose(scores[::2], scores[0], atol=0.02)
    assert judge.metadata("localcrag.evaluator.temperature")
    judge.close()
    writer = GgufLanguageModel(trained / "models" / "localcrag-mini-v1.gguf")
    assert isinstance(writer.line(rewrite_message("hi, which river is it?"), most=4), str)
    assert np.isfinite(writer.yes_margin(grade_message("Which river?", "The Rhone.")))
    writer.close()
    assert not list(trained.rglob("*.part"))


def test_exported_scores_agree_with_pytorch(trained: Path, tmp_path: Path) -> None:
    from embedded import evaluator, publish
    from embedded.checkpoint import load
    from embedded.runtime import GgufEvaluator

    model = evaluator.CrossEncoder(evaluator.base_folder())
    model.load_state_dict(load(trained / "evaluator" / "checkpoint.pt")["model"])
    words = evaluator.PairTokenizer(evaluator.base_folder())
    pairs = [
        ("Which river runs through Köln?", "The city lies on the Rhine, 59 m above the sea."),
        ("a?", "b"),
    ]
    for kind, tolerance in (("f32", 0.01), ("f16", 0.01), ("q8_0", 0.1)):
        path = tmp_path / f"{kind}.gguf"
        publish.export_evaluator(model, words, path, None, kind)
        judge = GgufEvaluator(path)
        assert [judge.pair(*pair) for pair in pairs] == words.pairs(pairs)
        assert np.allclose(judge.score(pairs), model.score(words, pairs), atol=tolerance), kind
        judge.close()


def test_language_model_tokens_agree_with_the_trainer(trained: Path) -> None:
    from embedded import tokenizer as bpe
    from embedded.runtime import GgufLanguageModel

    words = bpe.load(trained / "tokenizer.json")
    writer = GgufLanguageModel(trained / "models" / "localcrag-mini-v1.gguf")
    for text in ("Which river?\n\n  1750 naïve – they're", "<|end|> is data", "日本 x²", " "):
        assert writer.tokens(text.replace("<|end|>", "< |end|>")) == bpe.plain(words, text)
    assert writer.prompt("Bread") == bpe.chat(words, "Bread")
    writer.close()


def test_fine_tunes_on_a_users_own_file(trained: Path, tmp_path: Path) -> None:
    lines = [
        {"question": f"Where is {town}?", "passage": f"{name} lies on the {river}.", "relevant": name == town}
        for town in TOWNS
        for name, river in TOWNS.items()
    ]
    data = tmp_path / "own.jsonl"
    data.write_text("".join(json.dumps(line) + "\n" for line in lines))
    start = trained / "models" / "localcrag-evaluator-v1.gguf"
    common = ("--data", data, "--out", tmp_path / "out", "--minutes", 0.02)
    assert train("evaluator", *common, "--init", start) == 0
    assert train("export", *common) == 0
    assert (tmp_path / "out" / "models" / "localcrag-evaluator-v1.gguf").stat().st_size > 20e6


@pytest.mark.parametrize("models", [ROOT / "models"])
def test_manifest_tells_the_truth(models: Path) -> None:
    entries = tomllib.loads((models / "manifest.toml").read_text())["model"]
    assert {entry["role"] for entry in entries} == {"language", "evaluator"}
    for entry in entries:
        path = models / entry["file"]
        assert path.stat().st_size == entry["bytes"] <= 40e6
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"]
        assert path.with_suffix(".md").exists(), "a model has no card"


def test_errors_are_one_line_and_leave_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, empty, out = write_data(tmp_path / "good"), tmp_path / "empty", tmp_path / "out"
    empty.mkdir()
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"question": "a", "passage": "b", "relevant": true}\n{"question": \n')
    untyped = tmp_path / "untyped.jsonl"
    untyped.write_text('{"question": "a", "passage": "b", "relevant": "yes"}\n')
    few = tmp_path / "few.jsonl"
    few.write_text('{"question": "a", "passage": "b", "relevant": true}\n')
    cases = {
        ("tokenizer", "--data", tmp_path / "absent"): "no data at",
        ("tokenizer", "--data", empty): "no folder",
        ("evaluator", "--data", broken): "malformed",
        ("evaluator", "--data", untyped): "line 1",
        ("evaluator", "--data", few): "too few",
        ("evaluator", "--data", good, "--minutes", 0): "too small",
        ("evaluator", "--data", good, "--init", tmp_path / "absent.gguf"): "no evaluator",
        ("pretrain", "--data", good): "run the stage 'tokenizer' first",
        ("export", "--data", good): "run the stage 'evaluator' first",
    }
    for arguments, expected in cases.items():
        assert train(*arguments, "--out", out) == 1, arguments
        printed = capsys.readouterr()
        assert expected in printed.err and printed.err.count("\n") == 1, printed.err
        assert not out.exists()
