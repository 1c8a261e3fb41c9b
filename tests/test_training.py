"""The scripts that make the embedded models: a smoke run on synthetic data, the manifest, the errors."""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt
import pytest
import torch
from filelock import FileLock

from localcrag.calibration.fit import fit
from localcrag.calibration.scale import Scale
from localcrag.crag import prompts
from localcrag.crag.judges.yes_no_choices import ask_each
from localcrag.crag.questions.query_terms import STOP_WORDS, content_words
from localcrag.crag.retrieval import reranking_scores
from localcrag.embedding.embedder import SentenceTransformerEmbedder
from localcrag.llm.chat_template import ChatFormat
from localcrag.llm.evaluator import GgufEvaluator, _Pairs
from localcrag.llm.kv_cache import TokenizedPrompt
from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.llama_model import Model
from localcrag.llm.multilingual_evaluator import MultilingualEvaluator
from localcrag.loaded_models import LoadedModels
from localcrag.rank_fusion import rrf
from localcrag.settings import ModelSettings
from localcrag.types import Choice
from tests.small_e5_package import use_small_package
from tests.tiny_llama import TinySize, random_pairs, write_base

pytest.importorskip("gguf")
pytest.importorskip("zstandard")
pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[1]
TOWNS = {
    "Warsaw": "Vistula", "Lyon": "Rhone", "Vienna": "Danube", "Cologne": "Rhine", "Turin": "Po",
    "Porto": "Douro", "Prague": "Vltava", "Seville": "Guadalquivir", "Dresden": "Elbe", "Basel": "Rhine",
    "Bordeaux": "Garonne", "Steam engine": "Thames",
}  # fmt: skip


LABELLED = ROOT / "scripts" / "training" / "documents" / "letters"
FEW_DOCUMENTS = ("itinerary.html", "minutes_parents.md", "choir_trip.eml", "todo_june.md")
"""Labelled documents, of which the first two are held out."""
QUESTIONS_A_DOCUMENT = 6


@pytest.fixture(scope="module", autouse=True)
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The package under `scripts/`, importable for this module, with a few of its labelled documents.

    It trains in smaller steps than it does elsewhere, and measures less.
    """
    sys.path.insert(0, str(ROOT / "scripts"))
    from training import benchmarks, document_search, labelled_documents, measure
    from training.model_files import cost_rows
    from training.stages import evaluator, export

    with pytest.MonkeyPatch.context() as patch:
        few = write_documents(tmp_path_factory.mktemp("documents"), FEW_DOCUMENTS)
        unseen = write_documents(tmp_path_factory.mktemp("unseen"), FEW_DOCUMENTS[1:2])
        patch.setattr(labelled_documents, "SHIPPED_DOCUMENTS", few)
        patch.setattr(labelled_documents, "UNSEEN_DOCUMENTS", unseen)
        patch.setitem(evaluator.POOLED_GROUPS, "cpu", 32)
        patch.setitem(evaluator.BATCH_TOKENS, "cpu", 1024)
        patch.setattr(benchmarks, "JUDGED_HITS", 10)
        patch.setattr(document_search, "STRIP_CANDIDATES", 6)
        patch.setattr(document_search, "PASSAGE_CANDIDATES", 4)
        patch.setattr(measure, "cost_rows", partial(cost_rows, seconds=0.3))
        for name in ("CALIBRATION_QUESTIONS", "FUSION_QUESTIONS", "STRIP_QUESTIONS"):
            patch.setattr(export, name, 8)
        yield
    sys.path.remove(str(ROOT / "scripts"))


def write_documents(folder: Path, names: Sequence[str]) -> Path:
    """A folder of labelled documents with these of those that travel, and the first questions of each."""
    (folder / "letters" / "docs").mkdir(parents=True)
    lines = (LABELLED / "questions.jsonl").read_text("utf-8").splitlines(keepends=True)
    kept: list[str] = []
    for name in names:
        shutil.copy(LABELLED / "docs" / name, folder / "letters" / "docs")
        kept += [line for line in lines if json.loads(line)["file"] == name][:QUESTIONS_A_DOCUMENT]
    (folder / "letters" / "questions.jsonl").write_text("".join(kept), "utf-8")
    return folder


def train(*arguments: object) -> int:
    """`scripts/train` with these arguments, in this process."""
    from training.__main__ import main

    return main([str(a) for a in arguments])


def measure(*arguments: object) -> int:
    return train("measure", *arguments)


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
    """The `out` folder after every stage, a second or two each; nothing may be changed in it.

    Of several test processes the first makes it for all.
    """
    own = tmp_path_factory.getbasetemp()
    out = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "trained"
    with FileLock(out.with_suffix(".lock")):
        if not out.exists():
            part = out.with_suffix(".part")
            train_all_stages(part)
            part.rename(out)
    return out


def train_all_stages(out: Path) -> None:
    """Fill a new folder with data, a base model, and what the stages make of them."""
    data = write_data(out / "data")
    base = write_base(out / "base.gguf", TinySize(context=4096))
    common = ("--data", data, "--out", out, "--base", base)
    for stage in ("evaluator", "chat"):
        assert train(stage, *common, "--minutes", 0.02) == 0, stage
    assert train("export", *common, "--anyway") == 0


def test_smoke_run_exports_models_that_the_product_loads(trained: Path) -> None:
    models = LoadedModels(
        ModelSettings(
            language=str(trained / "base.gguf"),
            adapter=str(trained / "models" / "localcrag-chat-v2.gguf"),
            evaluator=str(trained / "models" / "localcrag-evaluator-v6.gguf"),
        ),
        trained,
    )
    judge, writer = models.evaluator, models.language
    assert isinstance(judge, GgufEvaluator)
    with judge, writer:
        numbers = judge.numbers("Which river?", ["The Rhine.", "Bread is sold there."] * 20)
        assert np.isfinite(numbers).all()
        assert np.allclose(numbers[::2], numbers[0], atol=0.02)
        assert writer.trained, "its adapter was trained on the prompts"
        assert judge.own_scale != Scale() and 0 < judge.thresholds.lower <= judge.thresholds.upper < 1
        (choice,) = ask_each(writer, "Which river?", ["The Rhine."])
        assert isinstance(choice, Choice) and 0 < choice.probabilities[0] < 1
        assert models.fusion is not None, "the adapter's file names the evaluator it was fused with"
        assert models.strip_fusion is not None
    assert not list(trained.rglob("*.part"))


@pytest.mark.parametrize("stage", ["chat", "evaluator"])
def test_what_a_stage_reads_is_drawn_into_a_file_that_it_trains_on(
    trained: Path, tmp_path: Path, stage: str
) -> None:
    from training.checkpoint import load

    base, drawn, out = trained / "base.gguf", tmp_path / "read.drawn", tmp_path / "out"
    shutil.copytree(trained, out, ignore=shutil.ignore_patterns("checkpoint.pt", "data.sha256"))
    common = ("--out", out, "--base", base)
    assert train("draw", stage, "--data", trained / "data", *common, "--tokens", 0.01, "--to", drawn) == 0
    assert train(stage, "--data", drawn, "--out", tmp_path / "new", "--base", base, "--minutes", 0.02) == 0
    state = load(tmp_path / "new" / stage / "checkpoint.pt")
    assert state is not None and state["step"] > 0


def test_drawn_rows_and_groups_are_read_as_they_were(tmp_path: Path) -> None:
    from training.drawn import read_groups, read_rows, save_groups, save_rows
    from training.encoded_groups import Encoded
    from training.packed_rows import Decided, Decisions, Shared, Written, rows

    tasks = [
        Shared((Decided((1, 2, 3), 1.0), Decided((1, 2, 40000), 0.0))),
        Shared((Written((5, 6, 7, 8), 2),)),
    ]
    filled = [*rows(iter(tasks * 300), length=64)]
    save_rows(tmp_path / "rows.drawn", filled, 10**9, Decisions(11, 12))
    drawn = read_rows(tmp_path / "rows.drawn")
    assert (drawn.decisions, list(drawn.rows)) == (Decisions(11, 12), filled)
    groups = [Encoded([[1, 2], [3, 4, 5]], (1.0, 0.0), (0.75, 0.25)), Encoded([[9]], (0.0,), (0.0,))]
    save_groups(tmp_path / "groups.drawn", groups, 10**9)
    assert list(read_groups(tmp_path / "groups.drawn")) == groups
    save_groups(tmp_path / "few.drawn", iter(groups), 5)
    assert list(read_groups(tmp_path / "few.drawn")) == groups[:1], "no more tokens than asked for"


def test_a_file_drawn_for_another_stage_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from training.drawn import save_groups
    from training.encoded_groups import Encoded

    save_groups(tmp_path / "groups.drawn", [Encoded([[1, 2]], (1.0,), (1.0,))], 10)
    (tmp_path / "no.drawn").write_bytes(b"nothing of the kind")
    base = write_base(tmp_path / "base.gguf", TinySize(context=4096))
    for name, why in (("groups.drawn", "was drawn for another stage"), ("no.drawn", "not written by `draw`")):
        common = ("--data", tmp_path / name, "--out", tmp_path / "out", "--base", base, "--minutes", 0.02)
        assert train("chat", *common) == 1
        error = capsys.readouterr().err
        assert why in error and len(error.splitlines()) == 1
    assert train("draw", "chat", *common[:-2], "--to", tmp_path / "no.suffix") == 1
    assert "--to must end in .drawn" in capsys.readouterr().err


def test_log_softmax_is_taken_within_each_group() -> None:
    import torch
    from training.listwise import log_softmax_within

    scores, group = torch.tensor([1.0, -2.0, 80.0, 3.0]), torch.tensor([0, 1, 0, 1])
    within = [torch.log_softmax(scores[group == each], 0) for each in (0, 1)]
    assert torch.allclose(log_softmax_within(scores, group)[[0, 2, 1, 3]], torch.cat(within))


def test_an_adapter_exported_before_can_be_fused_anew(trained: Path, tmp_path: Path) -> None:
    adapter = trained / "models" / "localcrag-chat-v2.gguf"
    own = tmp_path / "own.jsonl"
    lines = [{"question": f"q{i}", "passage": f"p{i}", "relevant": i % 2 == 0} for i in range(40)]
    own.write_text("".join(json.dumps(line) + "\n" for line in lines))
    common = ("--data", own, "--out", tmp_path / "out", "--base", trained / "base.gguf")
    assert train("export", *common, "--models", tmp_path / "models", "--init", adapter) == 0
    before, after = (
        {tensor.name: tensor.data.tolist() for tensor in gguf.GGUFReader(path).tensors}
        for path in (adapter, tmp_path / "models" / adapter.name)
    )
    assert before == after


def test_trained_weights_are_averaged_with_those_of_a_file() -> None:
    from training import cross_encoder
    from training.evaluator_base import english_base

    shipped = ROOT / "models" / "localcrag-evaluator-v6.gguf"
    trained, file = (cross_encoder.CrossEncoder(english_base()) for _ in range(2))
    file.load_gguf(shipped)
    blended = copy.deepcopy(trained)
    blended.blend(shipped, 0.25)
    for mine, other, mixed in zip(*(model.parameters() for model in (trained, file, blended)), strict=True):
        assert torch.allclose(mixed, 0.25 * mine + 0.75 * other, atol=1e-6)
    assert any(not torch.equal(a, b) for a, b in zip(trained.parameters(), file.parameters(), strict=True))


def test_a_trained_adapter_is_averaged_with_the_one_before(trained: Path) -> None:
    from training.adapted_llama import AdaptedLlama

    base, path = trained / "base.gguf", trained / "models" / "localcrag-chat-v2.gguf"
    before, model = (AdaptedLlama.with_adapter(base, path) for _ in range(2))
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(1.0)
    model.blend(base, path, 0.25)
    for mine, other in zip(model.parameters(), before.parameters(), strict=True):
        assert torch.allclose(mine, other + 0.25, atol=1e-5)


def test_an_evaluator_with_more_layers_than_its_encoder_is_gone_on_from(tmp_path: Path) -> None:
    from training import cross_encoder, shipping
    from training.evaluator_base import english_base
    from training.pair_tokenizer import PairTokenizer

    shipped = ROOT / "models" / "localcrag-evaluator-v6.gguf"
    base = english_base(shipped)
    assert (base.name, base.layers) == ("ms-marco-MiniLM-L-12-v2", 12)
    model = cross_encoder.CrossEncoder(base)
    model.load_gguf(shipped)
    torch.save({"model": model.state_dict()}, tmp_path / "checkpoint.pt")
    restored = shipping.restored_evaluator(tmp_path / "checkpoint.pt")
    words = PairTokenizer(base.folder)
    pairs = [("How many live in Bern?", "Bern has 134,000 inhabitants."), ("Who baked it?", "It rains.")]
    with GgufEvaluator(shipped) as judge:
        numbers = [number for question, text in pairs for number in judge.numbers(question, [text])]
    assert numbers[0] > 0 > numbers[1]
    assert np.allclose(numbers, restored.score(words, pairs), atol=0.1)
    assert english_base(ROOT / "models" / "localcrag-chat-v2.gguf") == english_base(), "no evaluator"


def test_exported_scores_agree_with_pytorch(trained: Path, tmp_path: Path) -> None:
    from training import shipping
    from training.evaluator_base import english_base
    from training.pair_tokenizer import PairTokenizer

    model = shipping.restored_evaluator(trained / "evaluator" / "checkpoint.pt")
    words = PairTokenizer(english_base().folder)
    pairs = [
        ("Which river runs through Köln?", "The city lies on the Rhine, 59 m above the sea."),
        ("a?", "b"),
    ]
    for kind, tolerance in (("f32", 0.01), ("f16", 0.01), ("q8_0", 0.1)):
        path = tmp_path / f"{kind}.gguf"
        shipping.export_evaluator(model, words, path, None, kind)
        with GgufEvaluator(path) as judge:
            parts = judge._loaded()
            read = _Pairs(parts.model, parts.window)
            assert [ids for question, text in pairs for ids in read.of(question, [text])] == words.pairs(
                pairs
            )
            numbers = [number for question, text in pairs for number in judge.numbers(question, [text])]
            assert np.allclose(numbers, model.score(words, pairs), atol=tolerance), kind


@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
def test_adapters_of_each_architecture_score_in_llama_cpp_as_in_pytorch(
    architecture: str, tmp_path: Path
) -> None:
    from training.adapted_llama import AdaptedLlama
    from training.gguf_files import About, write_adapter

    base, path = write_base(tmp_path / "base.gguf", architecture=architecture), tmp_path / "adapter.gguf"
    model, ids = AdaptedLlama(base, rank=4), tuple(np.random.default_rng(1).integers(0, 256, 60).tolist())
    shape = model.shape

    def scores() -> npt.NDArray[np.float32]:
        seen = torch.ones(1, len(ids), len(ids), dtype=torch.bool).tril()
        with torch.no_grad():
            return model.logits(model(torch.tensor([ids]), torch.arange(len(ids))[None], seen))[0, -1].numpy()

    plain = scores()
    model.set_pairs(random_pairs())
    write_adapter(
        path, model.pairs(), model.alpha, About("tiny", ""), heads=shape.heads, kv_heads=shape.kv_heads,
        architecture=shape.architecture, permute=shape.is_permuted,
    )  # fmt: skip
    adapted = scores()
    for adapter, wanted in ((None, plain), (path, adapted)):
        with LlamaCppModel(base, adapter=adapter, context=1024, threads=1) as opened:
            found = opened._loaded().cache.read(TokenizedPrompt(ids))
        assert np.abs(found - wanted).max() < 0.06
    assert np.abs(adapted - plain).max() > 1.0, "the adapter changes too little to be seen"
    again = AdaptedLlama.with_adapter(base, path)
    for name, pair in model.pairs().items():
        for one, other in zip(pair, again.pairs()[name], strict=True):
            assert np.allclose(one, other, atol=1e-3), name


def test_a_base_of_another_architecture_is_refused(tmp_path: Path) -> None:
    from training.adapted_llama import AdaptedLlama
    from training.gguf_files import ShapeError

    base = write_base(tmp_path / "base.gguf", architecture="mamba")
    with pytest.raises(ShapeError, match="adapters can be trained for llama and qwen2, not mamba"):
        AdaptedLlama(base)


def test_trained_adapters_decide_in_llama_cpp_as_in_pytorch(trained: Path) -> None:
    """Texts that share a beginning in a packed row are judged as each is alone in the product."""
    from training.adapted_llama import AdaptedLlama
    from training.chat_tasks import Task
    from training.chat_tokens import ChatTokens
    from training.packed_rows import Row, RowBatch

    base, path = trained / "base.gguf", trained / "models" / "localcrag-chat-v2.gguf"
    model, loaded = AdaptedLlama.with_adapter(base, path), Model(base)
    tokens = ChatTokens(loaded)
    texts = ["The Rhine.", "Bread is sold there, as everywhere.", "It lies on the Rhine."]
    asked = [prompts.grade("Which river?", text, trained=True) for text in texts]
    row = Row()
    for task in (asked[:1], asked):
        row.add(tokens.of(Task("grade", tuple((prompt, "yes") for prompt in task))))
    assert len(row.ids) < sum(len(ChatFormat(loaded, loaded.template()).tokens(p)) for p in asked[:1] + asked)
    batch = RowBatch.of([row], len(row.ids) + 9)
    with torch.no_grad():
        states = model(batch.ids, batch.positions, batch.seen())[0][batch.decided]
        pair = model.logits(states, [tokens.decisions.yes, tokens.decisions.no])
    mine = torch.softmax(pair, -1)[:, 0].numpy()
    with LlamaCppModel(base, adapter=path, context=2048) as writer:
        choices = ask_each(writer, "Which river?", texts)
        theirs = [choice.probabilities[0] for choice in choices if isinstance(choice, Choice)]
    assert np.allclose(mine, [theirs[0], *theirs], atol=0.03)
    loaded.close()


def test_vectors_are_those_of_the_product() -> None:
    from training import cross_encoder
    from training.evaluator_base import english_base
    from training.pair_tokenizer import PairTokenizer

    base = english_base()
    texts = ["Lyon lies on the Rhone.", "Bread is sold there.", "Which river runs through Lyon?"]
    made = cross_encoder.CrossEncoder(base).embed(PairTokenizer(base.folder), texts)
    known = SentenceTransformerEmbedder().encode(texts)
    assert np.allclose(made @ made.T, known @ known.T, atol=0.02), "in bfloat16, but for that the same"


def test_a_training_is_resumed_where_it_ended(trained: Path, tmp_path: Path) -> None:
    from training.checkpoint import load

    out = tmp_path / "out"
    shutil.copytree(trained, out, symlinks=True)
    before = load(out / "evaluator" / "checkpoint.pt")
    assert train("evaluator", "--data", trained / "data", "--out", out, "--minutes", 0.06) == 0
    after = load(out / "evaluator" / "checkpoint.pt")
    assert before and after and after["step"] > before["step"] and after["tokens"] > before["tokens"]
    assert after["spent"] > before["spent"] >= 0.02 * 60


COPIED_FUNCTIONS = frozenset(
    {"sigmoid", "logit", "log_odds", "thresholds", "rrf", "fit", "rescaled", "standardized", "bare"}
)
"""Functions of the product that training could be given a version of its own of."""
BORROWED = frozenset({"llama_cpp", "sklearn.linear_model", "sklearn.metrics", "jinja2"})
"""Libraries for whose use the product has a module: training asks that module."""
COPIED_FORMULAS = {
    r"/ \((60|10) \+": "reciprocal ranks; localcrag.rank_fusion has them",
    r"1 / \(1 \+ (np|math|torch)\.exp": "a sigmoid; localcrag.calibration.scale has it",
    r"logaddexp|expit": "a sigmoid; localcrag.calibration.scale has it",
    r"roc_auc|LogisticRegression": "a fit or a metric; localcrag has both",
}


@pytest.mark.parametrize("path", sorted((ROOT / "scripts" / "training").rglob("*.py")), ids=lambda p: p.stem)
def test_training_has_no_copy_of_what_the_product_decides(path: Path) -> None:
    source = path.read_text("utf-8")
    for formula, meaning in COPIED_FORMULAS.items():
        assert not re.search(formula, source), meaning
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            assert node.name.lstrip("_") not in COPIED_FUNCTIONS, f"{node.name} is in localcrag"
        elif isinstance(node, ast.Import):
            assert not BORROWED & {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module not in BORROWED
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            said = set(node.value.lower().split())
            assert len(STOP_WORDS & said) < max(20, len(said) / 2), (
                "stop words are in localcrag.crag.questions.query_terms"
            )


def test_what_training_shares_is_the_product_s() -> None:
    from training import benchmarks, calibration, measure, model_files, retrieval, stages, wording

    assert vars(calibration)["fit"] is fit and vars(retrieval)["rrf"] is rrf
    assert vars(wording)["content_words"] is content_words
    assert vars(benchmarks)["reranking_scores"] is reranking_scores
    assert vars(measure)["ask_each"] is ask_each and vars(model_files)["GgufEvaluator"] is GgufEvaluator
    assert all(callable(stages.stage_of(name)) for name in stages.STAGES)
    assert wording.keywords("What is the name of the Rhone's source?") == "name Rhone's source"
    p, right = np.array([0.9, 0.5, 0.5, 0.5]), np.array([1.0, 1.0, 0.0, 0.0])
    logits = np.log(p / (1 - p))
    assert calibration.auc(right, logits) == pytest.approx(0.75)
    found = calibration.calibrate(np.tile(logits, 10), np.tile(right, 10))
    ties = found.probabilities(logits)
    assert found.thresholds.upper == pytest.approx(ties[0]), "passages of one P are on one side"


def own_questions(path: Path) -> Path:
    """A user's file: where each town is, with the passages of all towns."""
    lines = [
        {"question": f"Where is {town}?", "passage": f"{name} lies on the {river}.", "relevant": name == town}
        for town in TOWNS
        for name, river in TOWNS.items()
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_fine_tunes_on_a_users_own_file(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = own_questions(tmp_path / "own.jsonl")
    start = trained / "models" / "localcrag-evaluator-v6.gguf"
    common = ("--data", data, "--out", tmp_path / "out")
    assert train("evaluator", *common, "--minutes", 0.02, "--init", start, "--anyway") == 0
    printed = capsys.readouterr().out
    assert "held-out pairs: AUC" in printed and "before the fine-tuning: AUC" in printed
    with GgufEvaluator(tmp_path / "out" / "models" / start.name, threads=1) as tuned:
        near, far = tuned.score("Where is Lyon?", ["Lyon lies on the Rhone.", "Bread is sold there."])
        assert 0 < near < 1 and 0 < far < 1
        assert 0 < tuned.thresholds.lower <= tuned.thresholds.upper < 1


def test_the_multilingual_evaluator_is_trained_above_its_frozen_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training import cross_encoder, evaluator_base, shipping
    from training.pair_tokenizer import PairTokenizer

    use_small_package(tmp_path, monkeypatch, layers=2)
    monkeypatch.setattr(evaluator_base, "MULTILINGUAL_FROZEN_LAYERS", 1)
    out, data = tmp_path / "out", own_questions(tmp_path / "own.jsonl")
    teacher = ROOT / "models" / "localcrag-evaluator-v6.gguf"
    common = ("--data", data, "--out", out, "--minutes", 0.02, "--multilingual")
    assert train("evaluator", *common, "--teacher", teacher) == 0
    assert train("export", *common, "--anyway") == 0
    base = evaluator_base.multilingual_base(out / "base")
    before = cross_encoder.CrossEncoder(base).state_dict()
    model = shipping.restored_evaluator(out / "multilingual" / "checkpoint.pt", base)
    changed = {name for name, now in model.state_dict().items() if not torch.equal(now, before[name])}
    assert changed and all("layer.1." in name or "pooler" in name or "classifier" in name for name in changed)
    pairs = [("Where is Lyon?", "Lyon lies on the Rhone."), ("Wo liegt Lyon?", "Brot 35 费用")]
    with MultilingualEvaluator(out / "models" / f"{base.evaluator}.gguf", tmp_path / "cache") as judge:
        numbers = [number for question, text in pairs for number in judge.numbers(question, [text])]
        assert np.allclose(numbers, model.score(PairTokenizer(base.folder), pairs), atol=0.15)
        assert 0 < judge.thresholds.lower <= judge.thresholds.upper < 1


def test_results_of_other_data_are_not_resumed(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (trained / "evaluator" / "checkpoint.pt").read_bytes()
    other = own_questions(tmp_path / "own.jsonl")
    assert train("evaluator", "--data", other, "--out", trained, "--minutes", 0.02) == 1
    assert "from other data" in capsys.readouterr().err
    assert (trained / "evaluator" / "checkpoint.pt").read_bytes() == before


def test_an_evaluator_worse_than_the_cosine_is_not_exported(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = tmp_path / "models"
    refused = train("export", "--data", trained / "data", "--out", trained, "--models", models)
    printed = capsys.readouterr().err
    assert refused == 1 and "no better than the cosine" in printed and printed.count("\n") == 1
    assert not list(models.iterdir())


def test_every_bar_is_held_against_what_was_measured(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = trained / "evaluator" / "checkpoint.pt"
    common = ("--data", trained / "data", "--models", trained / "models", "--base", trained / "base.gguf")
    assert measure(*common, "--questions", 3, "--checkpoint", checkpoint, "--json") == 0
    made = json.loads(capsys.readouterr().out)
    bars = {(bar["name"], bar["subject"]): bar for bar in made["bars"]}
    assert {name for name, _ in bars} == {
        "sentence pick, 10 points above cosine", "sentence AUC", "AUC of passages in the top 8",
        "calibration error", "nDCG@10 reranked, no worse than the best search",
        "nDCG@10 gained over the best search",
        "AUC of whole passages, unanswerable questions",
        "AUC lost from f32 to Q8_0", "size, MB", "pairs a second", "grade AUC alone",
        "grade AUC fused, above the evaluator", "AUC of near misses, with the evaluator",
        "recall@4 of the rewritten line, of a chatty question",
        "written answers: gold contained", "written answers: unanswerable declined",
        "written answers: right citations",
    }  # fmt: skip
    of_documents = {row["method"] for row in made["figures"] if row["part"] == "documents"}
    assert {"strips", "strips, evaluator", "strips, evaluator + language model"} <= of_documents
    pick = bars["sentence pick, 10 points above cosine", "squad_v2"]
    assert pick["wanted"] == f">= {pick['cosine'] + 0.1:.3f}"
    assert pick["verdict"] == ("met" if pick["got"] >= pick["cosine"] + 0.1 else "not met")
    declined = bars["written answers: unanswerable declined", ""]
    assert declined["verdict"] == "not met", "the weights are random"
    assert bars["pairs a second", ""]["got"] > 0
    lost = bars["AUC lost from f32 to Q8_0", "all"]["got"]
    assert abs(lost) < 0.25, "of few pairs, and weights of a few seconds: some may change places"
    sizes = [bar for bar in made["bars"] if bar["name"] == "size, MB"]
    assert {(bar["model"], bar["verdict"]) for bar in sizes} == {
        ("evaluator", "met"),
        ("language model", "met"),
    }


def test_the_table_says_met_or_not() -> None:
    from training import bars
    from training.result_row import Row

    def rows(auc: float) -> list[Row]:
        judges = {"evaluator": auc, "cosine": 0.8, "BM25": 0.7}
        return [Row("grades", "towns", judge, {"auc": each, "ece": 0.01}) for judge, each in judges.items()]

    table = bars.table(bars.held_against(rows(0.93)))
    assert "met evaluator AUC of passages in the top 8 towns >= 0.9 0.930 0.800 0.700" in " ".join(
        table.split()
    )
    good, bad = (bars.held_against(rows(auc))[0].verdict for auc in (0.90, 0.89))
    assert (good, bad) == ("met", "not met")


def test_both_halves_of_the_held_out_questions_share_no_passage() -> None:
    from training import benchmarks
    from training.data import Example

    held = [
        Example(
            "squad_v2",
            "Warsaw",
            f"Who is number {i}?",
            (f"Number {i % 40} is the mayor, and so on. " * 3,),
            (0,),
            True,
        )
        for i in range(80)
    ]
    train = [Example("squad_v2", "Lyon", "Who?", ("The mayor of Lyon is somebody else. " * 3,), (0,), True)]
    (fits,) = benchmarks.collections(train, held, 100, fitting=True)
    (reports,) = benchmarks.collections(train, held, 100)
    assert len(fits.questions) + len(reports.questions) == 80 and fits.passages == reports.passages
    assert not frozenset().union(*fits.right) & frozenset().union(*reports.right)


@pytest.mark.parametrize("models", [ROOT / "models"])
def test_manifest_tells_the_truth(models: Path) -> None:
    entries = tomllib.loads((models / "manifest.toml").read_text())["model"]
    assert {entry["role"] for entry in entries} == {"language", "evaluator", "adapter", "queries"}
    for entry in entries:
        if "package" in entry:
            continue
        path = models / entry["file"]
        assert path.stat().st_size == entry["bytes"] <= 40e6
        assert hashlib.sha256(path.read_bytes()).hexdigest() == entry["sha256"]
        assert path.with_suffix(".md").exists(), "a model has no card"


def one_line(capsys: pytest.CaptureFixture[str], expected: str) -> None:
    printed = capsys.readouterr()
    assert expected in printed.err and printed.err.count("\n") == 1, printed.err


def test_errors_are_one_line_and_leave_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, empty, out = write_data(tmp_path / "good"), tmp_path / "empty", tmp_path / "out"
    empty.mkdir()
    (tmp_path / "nothing" / "qa" / "train").mkdir(parents=True)
    texts = {
        "broken": '{"question": "a", "passage": "b", "relevant": true}\n{"question": \n',
        "untyped": '{"question": "a", "passage": "b", "relevant": "yes"}\n',
        "blank": '{"question": "a", "passage": " ", "relevant": true}\n',
        "few": '{"question": "a", "passage": "b", "relevant": true}\n',
        "array": "[1, 2]\n",
        "hollow": "",
    }
    files = {name: tmp_path / f"{name}.jsonl" for name in texts}
    for name, text in texts.items():
        files[name].write_text(text)
    packed = tmp_path / "cut.jsonl.zst"
    packed.write_bytes(b"\x28\xb5\x2f\xfd\x04")
    base = write_base(tmp_path / "base.gguf")
    cut = tmp_path / "cut.gguf"
    cut.write_bytes((ROOT / "models" / "localcrag-evaluator-v6.gguf").read_bytes()[:5_000_000])
    cases = {
        ("evaluator", "--data", tmp_path / "absent"): "no data at",
        ("evaluator", "--data", empty): "no folder",
        ("evaluator", "--data", tmp_path / "nothing"): "no .jsonl",
        ("evaluator", "--data", files["broken"]): "malformed",
        ("evaluator", "--data", files["untyped"]): "line 1",
        ("evaluator", "--data", files["blank"]): "empty question or passage",
        ("evaluator", "--data", files["array"]): "not a JSON object",
        ("evaluator", "--data", files["few"]): "too few",
        ("evaluator", "--data", files["hollow"]): "no records",
        ("evaluator", "--data", packed): "no records",
        ("evaluator", "--data", good, "--minutes", 0): "too small",
        ("evaluator", "--data", good, "--workers", 0): "--workers",
        ("evaluator", "--data", good, "--init", tmp_path / "absent.gguf"): "no model to go on from",
        ("chat", "--data", good, "--base", tmp_path / "absent.gguf"): "no chat model at",
        ("chat", "--data", good, "--base", base, "--init", files["few"]): "no GGUF, or a damaged one",
        ("chat", "--data", good, "--base", base, "--init", base): "is no LoRA adapter",
        ("evaluator", "--data", good, "--init", cut): "damaged or incomplete",
        ("evaluator", "--data", good, "--init", files["few"]): "not a GGUF file",
        ("evaluator", "--data", good, "--init", base): "is no evaluator but a text generator",
        ("export", "--data", good): "run the stage 'evaluator', 'chat' or 'tables' first",
    }
    for arguments, expected in cases.items():
        assert train(*arguments, "--out", out) == 1, arguments
        one_line(capsys, expected)
        assert not out.exists(), arguments


def test_a_damaged_checkpoint_is_named(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = tmp_path / "out" / "evaluator" / "checkpoint.pt"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.write_bytes((trained / "evaluator" / "checkpoint.pt").read_bytes()[:100_000])
    assert train("export", "--data", trained / "data", "--out", tmp_path / "out") == 1
    one_line(capsys, "remove it to start over")
    assert not (tmp_path / "out" / "models").exists()


def test_models_that_do_not_match_their_manifest_are_not_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, models = write_data(tmp_path / "data"), tmp_path / "models"
    assert measure("--data", data, "--models", models) == 1
    one_line(capsys, "no manifest.toml")
    models.mkdir()
    manifest = models / "manifest.toml"
    for text, expected in (
        ("[[model", "cannot be understood"),
        ('[[model]]\nname = "a"\n', "cannot be understood"),
    ):
        manifest.write_text(text)
        assert measure("--data", data, "--models", models) == 1
        one_line(capsys, expected)
    shutil.copy(ROOT / "models" / "manifest.toml", manifest)
    assert measure("--data", data, "--models", models) == 1
    one_line(capsys, "the file is missing")
    for path in (ROOT / "models").glob("*.gguf"):
        shutil.copy(path, models)
    with (models / "localcrag-evaluator-v6.gguf").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"x")
    assert measure("--data", data, "--models", models) == 1
    one_line(capsys, "the sha256 differs")
    assert measure("--data", data / "absent", "--models", models) == 1
    one_line(capsys, "no data folder")


def test_data_without_a_known_set_cannot_be_measured_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "qa" / "train"
    folder.mkdir(parents=True)
    record = {
        "dataset": "mine",
        "id": "1",
        "question": "Which river?",
        "title": "Lyon",
        "passage": "The Rhone.",
    }
    (folder / "mine.jsonl").write_text(json.dumps(record) + "\n")
    assert measure("--data", tmp_path, "--models", ROOT / "models") == 1
    assert "nothing to measure on" in capsys.readouterr().err
