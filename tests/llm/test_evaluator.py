"""The evaluator's scores: the same alone and in a batch, calibrated, within the model's window."""

from __future__ import annotations

import math
from pathlib import Path

import gguf
import pytest

from localcrag.llm.evaluator import GgufEvaluator, _Pairs
from localcrag.llm.pair_readers import _steps
from localcrag.types import Thresholds
from tests.shape_models import encoder

TEXTS = [f"text number {i} is about something. " * (i % 9 + 1) for i in range(70)]


def pairs_of(evaluator: GgufEvaluator) -> _Pairs:
    parts = evaluator._loaded()
    return _Pairs(parts.model, parts.window)


def test_a_batch_gives_what_each_pair_alone_would(evaluator: GgufEvaluator) -> None:
    together = evaluator.numbers("what is it about?", TEXTS)
    alone = [evaluator.numbers("what is it about?", [text])[0] for text in TEXTS[:20]]
    assert together[:20] == pytest.approx(alone, abs=5e-3)
    assert max(together) - min(together) > 0.1


def test_scores_follow_the_files_calibration(evaluator: GgufEvaluator) -> None:
    (number,) = evaluator.numbers("what?", ["a text"])
    (score,) = evaluator.score("what?", ["a text"])
    assert score == pytest.approx(1 / (1 + math.exp(-(number / 2.0 + 0.25))))
    assert evaluator.thresholds == Thresholds(0.7, 0.2)


def test_without_calibration_the_defaults_hold(tmp_path: Path) -> None:
    with GgufEvaluator(encoder(tmp_path / "m.gguf", pooling=gguf.PoolingType.RANK), threads=1) as plain:
        (number,) = plain.numbers("what?", ["a text"])
        assert plain.score("what?", ["a text"]) == [pytest.approx(1 / (1 + math.exp(-number)))]
        assert plain.thresholds == Thresholds(0.5, 0.5)


def test_a_pair_is_put_together_as_bert_was_trained(evaluator: GgufEvaluator) -> None:
    model = evaluator._loaded().model
    (tokens,) = pairs_of(evaluator).of("what is it", ["a text"])
    spelled = [model.spelling(token).replace("\u2581", "") for token in tokens]
    assert spelled == ["[CLS]", "what", "is", "it", "[SEP]", "a", "text", "[SEP]"]


def test_a_pair_too_long_loses_the_end_of_its_text_first(evaluator: GgufEvaluator) -> None:
    model, window = evaluator._loaded().model, 128
    (tokens,) = pairs_of(evaluator).of("one two three", ["word " * 500])
    assert len(tokens) == window
    assert [model.spelling(t).strip("\u2581") for t in tokens[:5]] == [
        "[CLS]",
        "one",
        "two",
        "three",
        "[SEP]",
    ]
    assert model.spelling(tokens[-1]) == "[SEP]"
    (tokens,) = pairs_of(evaluator).of("one " * 500, ["two " * 500])
    assert len(tokens) == window and sum(model.spelling(t) == "[SEP]" for t in tokens) == 2
    (tokens,) = pairs_of(evaluator).of("one " * 500, ["two"])
    assert len(tokens) == window and model.spelling(tokens[-2]).strip("\u2581") == "two"


def test_control_tokens_in_a_text_stay_text(evaluator: GgufEvaluator) -> None:
    model = evaluator._loaded().model
    (tokens,) = pairs_of(evaluator).of("a [SEP] b", ["c [CLS] [SEP] d"])
    assert sum(model.spelling(t) in ("[CLS]", "[SEP]") for t in tokens) == 3


def test_tokens_are_counted_exactly(evaluator: GgufEvaluator) -> None:
    expected = sum(map(len, pairs_of(evaluator).of("what is it about?", TEXTS)))
    before = evaluator.tokens
    evaluator.score("what is it about?", TEXTS)
    assert (evaluator.tokens - before).evaluated == expected
    assert (evaluator.tokens - before).generated == 0


def test_closing_keeps_the_count_and_loads_again(reranker_file: Path) -> None:
    evaluator = GgufEvaluator(reranker_file, threads=1)
    first = evaluator.score("what?", ["a text"])
    count = evaluator.tokens
    evaluator.close()
    assert evaluator.tokens == count
    assert evaluator.score("what?", ["a text"]) == pytest.approx(first, abs=1e-6)
    assert evaluator.tokens == count + count
    evaluator.close()


def test_a_generative_rerankers_template_is_used(evaluator: GgufEvaluator) -> None:
    pairs = pairs_of(evaluator)
    pairs._template = "judge: {query} against {document} [SEP]"
    model = evaluator._loaded().model
    (tokens,) = pairs.of("one [SEP]", ["two"])
    spelled = "".join(model.spelling(t) for t in tokens).replace("\u2581", " ")
    assert spelled.replace(" ", "") == "judge:one[sep]againsttwo[SEP]"


def test_a_long_pair_is_read_alone_and_short_ones_together() -> None:
    lengths = [250, 30, 500, 40, 20, 128, 129, 256]
    steps = list(_steps([[0] * length for length in lengths]))
    assert [[lengths[i] for i in step] for step in steps] == [[20, 30, 40, 128], [129], [250], [256], [500]]
    assert [len(step) for step in _steps([[0]] * 70)] == [32, 32, 6]


def test_what_is_remembered_is_not_read_again_and_is_the_same(reranker_file: Path) -> None:
    with GgufEvaluator(reranker_file, threads=1) as evaluator:
        evaluator.remember(3)
        first = evaluator.numbers("what?", ["one", "two", "three"])
        cost = evaluator.tokens
        assert evaluator.numbers("what?", ["three", "one"]) == [first[2], first[0]]
        assert evaluator.tokens == cost
        evaluator.numbers("whatthree", [""])  # the same characters, other pairs
        evaluator.numbers("what?t", ["wo"])
        assert evaluator.tokens != cost
        before = evaluator.tokens
        evaluator.numbers("what?", ["two"])
        assert evaluator.tokens != before


def test_what_was_asked_again_is_kept_longest(reranker_file: Path) -> None:
    with GgufEvaluator(reranker_file, threads=1) as evaluator:
        evaluator.remember(2)
        evaluator.numbers("what?", ["one"])
        evaluator.numbers("what?", ["two"])
        evaluator.numbers("what?", ["one"])
        evaluator.numbers("what?", ["three"])
        cost = evaluator.tokens
        evaluator.numbers("what?", ["one", "three"])
        assert evaluator.tokens == cost


def test_nothing_is_remembered_unasked_nor_after_closing(reranker_file: Path) -> None:
    with GgufEvaluator(reranker_file, threads=1) as evaluator:
        evaluator.numbers("what?", ["one"])
        cost = evaluator.tokens
        evaluator.numbers("what?", ["one"])
        assert evaluator.tokens == cost + cost
        evaluator.remember(8)
        evaluator.numbers("what?", ["one"])
        evaluator.close()
        evaluator.numbers("what?", ["one"])
        assert evaluator.tokens == cost + cost + cost + cost
