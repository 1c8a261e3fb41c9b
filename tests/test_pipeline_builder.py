"""From settings and one question's options to what the loop is told."""

from __future__ import annotations

from pathlib import Path

import gguf
import pytest

from localcrag.calibration.calibration_file import Calibration
from localcrag.calibration.scale import Scale
from localcrag.crag.judges.fused_strips import FusedStrips
from localcrag.crag.judges.graders import CalibratedGrader, CascadeGrader, FusedGrader, Grader
from localcrag.crag.state import LOCAL_CORRECTIONS, PipelineOptions
from localcrag.errors import UsageError
from localcrag.loaded_models import LoadedModels, models_for
from localcrag.options import AskOptions
from localcrag.pipeline_builder import UNCALIBRATED_THRESHOLDS, PipelineBuilder
from localcrag.settings import Settings
from localcrag.types import (
    CorrectionKind,
    GraderKind,
    Grounding,
    Layout,
    Mode,
    Policy,
    StripKind,
    Thresholds,
)
from tests.fakes.store import MemoryStore
from tests.fitness.values import UNFIT_ANSWERS, UNFIT_FOLLOW_UPS, UNFIT_JSON, UNFIT_YES_NO, fitness_result
from tests.shape_models import encoder, shape


def grader(home: Path, given: AskOptions, *, loop: dict[str, float] | None = None, **model: str) -> Grader:
    settings = Settings(home=home).with_values("model", **model).with_values("loop", **loop or {})
    models = models_for(settings.model, home)
    return PipelineBuilder(settings, models, given).grader(models.evaluator)


@pytest.fixture
def reranker(tmp_path: Path) -> str:
    """A reranker whose file has no thresholds."""
    return str(encoder(tmp_path / "other.gguf", pooling=gguf.PoolingType.RANK))


def options(home: Path, given: AskOptions, *, chat: bool = True, **loop: object) -> PipelineOptions:
    settings = Settings(home=home).with_values("loop", **loop)
    if chat:
        settings = settings.with_values("model", language=str(shape("llama2")))
    return PipelineBuilder(settings, models_for(settings.model, home), given).pipeline_options()


def test_strips_are_judged_by_both_models_where_passages_are(tmp_path: Path) -> None:
    models = models_for(Settings(home=tmp_path).model, tmp_path)

    def judge(given: AskOptions) -> FusedStrips | None:
        return (
            PipelineBuilder(Settings(home=tmp_path), models, given)
            .adapters(MemoryStore(), lambda _: [])
            .strip_judge
        )

    assert isinstance(judge(AskOptions()), FusedStrips)
    assert judge(AskOptions(grader=GraderKind.EVALUATOR)) is None


def test_a_question_may_say_how_many_passages_are_graded(tmp_path: Path) -> None:
    assert options(tmp_path, AskOptions(k=2), chat=False).passages == 2
    assert options(tmp_path, AskOptions(), chat=False, passages=9).passages == 9
    for k in (0, -1, 201, True, "six", 2.5):
        with pytest.raises(UsageError, match="k is") as raised:
            AskOptions(k=k)  # type: ignore[arg-type]
        assert raised.value.hint == "give a number from 1 to 200"


@pytest.mark.parametrize(
    ("given", "enough"),
    [
        (AskOptions(grader=GraderKind.CASCADE), 3),
        (AskOptions(grader=GraderKind.CASCADE, policy=Policy.NONE_RELEVANT), 3),
        (AskOptions(grader=GraderKind.RUBRIC), 3),
        (AskOptions(), 0),
        (AskOptions(grader=GraderKind.EVALUATOR), 0),
        (AskOptions(grader=GraderKind.CASCADE, policy=Policy.ANY_IRRELEVANT), 0),
        (AskOptions(grader=GraderKind.CASCADE, policy=Policy.SCORE), 0),
        (AskOptions(grader=GraderKind.CASCADE, agent=True), 0),
    ],
)
def test_grading_ends_early_only_where_a_grade_costs_a_passage_and_more_would_not_matter(
    tmp_path: Path, given: AskOptions, enough: int
) -> None:
    assert options(tmp_path, given).enough == enough


def test_grading_can_be_made_to_end_earlier_or_never(tmp_path: Path) -> None:
    cascade = AskOptions(grader=GraderKind.CASCADE)
    assert options(tmp_path, cascade, enough=1).enough == 1
    assert options(tmp_path, cascade, enough=0).enough == 0


@pytest.mark.parametrize(
    ("given", "strips"),
    [
        (AskOptions(), StripKind.SENTENCE),
        (AskOptions(layout=Layout.JOINT, mode=Mode.WRITE), StripKind.NONE),
        (AskOptions(layout=Layout.JOINT, mode=Mode.QUOTE), StripKind.SENTENCE),
        (AskOptions(layout=Layout.JOINT, mode=Mode.QUOTE, strips=StripKind.WINDOW), StripKind.WINDOW),
    ],
)
def test_an_answer_from_a_table_is_written_from_whole_passages(
    tmp_path: Path, given: AskOptions, strips: StripKind
) -> None:
    assert options(tmp_path, given).strips is strips


def builder(home: Path, given: AskOptions | None = None, **model: str) -> PipelineBuilder:
    """A builder with a tiny chat model whose file the home's fitness results may name."""
    settings = Settings(home=home).with_values("model", **{"language": str(shape("llama2")), **model})
    return PipelineBuilder(settings, models_for(settings.model, home), given or AskOptions())


def keep_check(home: Path, **parts: object) -> None:
    """Keep a result of the tiny chat model's fitness check."""
    models = builder(home).models
    models.fitness_results.put(fitness_result(fingerprints=models.language_fingerprints, **parts))


def test_a_chat_model_that_was_never_checked_judges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert builder(tmp_path).mode is Mode.QUOTE, "a small one"
    monkeypatch.setattr("localcrag.configured_models.SMALL_MODEL_BYTES", 1000)
    unchecked = builder(tmp_path)
    assert unchecked.grader_kind is GraderKind.EVALUATOR
    assert not unchecked.pipeline_options().second_opinion
    assert (unchecked.mode, unchecked.pipeline_options().grounding) == (Mode.WRITE, Grounding.MARK)
    assert unchecked.pipeline_options().corrections == LOCAL_CORRECTIONS
    assert builder(tmp_path, evaluator="none").grader_kind is GraderKind.YESNO
    assert builder(tmp_path, AskOptions(grader=GraderKind.YESNO)).grader_kind is GraderKind.YESNO


def test_a_checked_model_has_the_defaults_that_follow_from_its_check(tmp_path: Path) -> None:
    keep_check(
        tmp_path,
        yes_no=UNFIT_YES_NO,
        answers=UNFIT_ANSWERS,
        follow_ups=UNFIT_FOLLOW_UPS,
        json=UNFIT_JSON,
    )
    unfit = builder(tmp_path)
    found = unfit.pipeline_options()
    assert (unfit.grader_kind, unfit.mode) == (GraderKind.EVALUATOR, Mode.QUOTE)
    assert found.corrections == (CorrectionKind.REWRITE, CorrectionKind.NEIGHBOURS)
    assert found.extractive and found.divide_by_rule and not found.contradictions
    keep_check(tmp_path)
    found = builder(tmp_path).pipeline_options()
    assert (builder(tmp_path).grader_kind, found.mode) == (GraderKind.EVALUATOR, Mode.WRITE)
    assert found.second_opinion and found.contradictions and not (found.extractive or found.divide_by_rule)


def test_what_the_user_chose_is_not_changed_by_a_check(tmp_path: Path) -> None:
    keep_check(tmp_path, yes_no=UNFIT_YES_NO, answers=UNFIT_ANSWERS, follow_ups=UNFIT_FOLLOW_UPS)
    given = AskOptions(grader=GraderKind.YESNO, mode=Mode.WRITE, corrections=[CorrectionKind.HYDE])
    chosen = builder(tmp_path, given)
    assert (chosen.grader_kind, chosen.mode) == (GraderKind.YESNO, Mode.WRITE)
    assert chosen.pipeline_options().corrections == (CorrectionKind.HYDE,)


def test_the_model_that_travels_writes_english_only_unless_corrections_were_chosen(tmp_path: Path) -> None:
    assert options(tmp_path, AskOptions(), chat=False).english_only
    assert not options(tmp_path, AskOptions()).english_only, "another model"
    assert not options(tmp_path, AskOptions(corrections=[CorrectionKind.REWRITE]), chat=False).english_only
    chosen = options(tmp_path, AskOptions(), chat=False, corrections=(CorrectionKind.REWRITE,))
    assert not chosen.english_only


def test_a_band_that_was_fitted_counts_more_than_a_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_check(tmp_path, yes_no=UNFIT_YES_NO)
    assert builder(tmp_path).grader_kind is GraderKind.EVALUATOR
    monkeypatch.setattr(LoadedModels, "band", Thresholds(0.8, 0.2))
    assert builder(tmp_path).grader_kind is GraderKind.CASCADE


def test_within_the_band_the_language_models_word_is_on_its_own_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model whose yes/no was calibrated says the same as a part of a cascade."""
    settings = Settings(home=tmp_path).with_values("model", language=str(shape("llama2")))
    models = models_for(settings.model, tmp_path)
    fitted = Calibration(GraderKind.YESNO, (), Scale(2.0, -1.0), Thresholds(0.8, 0.2), 9, 9, "2026-11-21")
    monkeypatch.setattr(
        LoadedModels, "calibration", lambda self, kind: fitted if kind is GraderKind.YESNO else None
    )
    cascade = PipelineBuilder(settings, models, AskOptions(grader=GraderKind.CASCADE)).grader(
        models.evaluator
    )
    alone = PipelineBuilder(settings, models, AskOptions(grader=GraderKind.YESNO)).grader(models.evaluator)
    assert isinstance(cascade, CascadeGrader) and isinstance(alone, CalibratedGrader)
    assert cascade.asked == alone


def test_a_fusion_is_used_with_the_evaluator_that_it_was_fitted_for(tmp_path: Path, reranker: str) -> None:
    fused = grader(tmp_path, AskOptions())
    assert isinstance(fused, FusedGrader)
    assert fused.fusion.model > 0 and fused.band is not None, (
        "the chat model is asked, where that is worth it"
    )
    assert grader(tmp_path, AskOptions(), evaluator=reranker).kind is GraderKind.EVALUATOR
    with pytest.raises(UsageError, match=r"no fusion of .* with tiny encoder") as caught:
        grader(tmp_path, AskOptions(grader=GraderKind.FUSED), evaluator=reranker)
    assert "calibrate FILE.jsonl --grader fused" in caught.value.hint


def test_a_chat_model_without_a_fusion_is_not_left_out_without_a_word(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no fusion"):
        grader(tmp_path, AskOptions(grader=GraderKind.FUSED), language=str(shape("llama2")))


def test_a_reranker_without_thresholds_has_a_band_in_which_the_model_is_asked(
    tmp_path: Path, reranker: str
) -> None:
    cascade = AskOptions(grader=GraderKind.CASCADE)
    found = grader(tmp_path, cascade, language=str(shape("llama2")), evaluator=reranker)
    assert isinstance(found, CascadeGrader)
    assert (found.band, found.thresholds) == (UNCALIBRATED_THRESHOLDS, Thresholds(0.5, 0.5))
    bounds = {"upper": 0.6, "lower": 0.6}
    found = grader(tmp_path, cascade, language=str(shape("llama2")), evaluator=reranker, loop=bounds)
    assert isinstance(found, CascadeGrader) and found.band == Thresholds(0.6, 0.6)


@pytest.mark.parametrize(
    ("bounds", "upper", "lower"),
    [({"upper": 0.05}, 0.05, 0.05), ({"lower": 0.01}, None, 0.01), ({"upper": 0.9, "lower": 0.8}, 0.9, 0.8)],
)
def test_the_lower_bound_is_never_above_the_upper_one(
    tmp_path: Path, bounds: dict[str, float], upper: float | None, lower: float
) -> None:
    own = grader(tmp_path, AskOptions()).thresholds
    assert own.lower > 0.05
    assert grader(tmp_path, AskOptions(), loop=bounds).thresholds == Thresholds(upper or own.upper, lower)
