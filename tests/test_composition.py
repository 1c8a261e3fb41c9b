"""From settings and one question's options to what the loop is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.app import models_for
from localcrag.composition import Composition
from localcrag.crag.calibrated import CalibratedGrader
from localcrag.crag.grade import CascadeGrader
from localcrag.crag.parts import Options
from localcrag.llm.calibrations import Calibration
from localcrag.models import Models
from localcrag.odds import Scale
from localcrag.options import AskOptions
from localcrag.settings import Settings
from localcrag.types import GraderKind, Layout, Mode, Policy, StripKind, Thresholds
from tests.shape_models import shape


def options(home: Path, given: AskOptions, *, chat: bool = True, **loop: object) -> Options:
    settings = Settings(home=home).with_values("loop", **loop)
    if chat:
        settings = settings.with_values("model", language=str(shape("llama2")))
    return Composition(settings, models_for(settings.model, home), given).options()


@pytest.mark.parametrize(
    ("given", "enough"),
    [
        (AskOptions(), 3),
        (AskOptions(policy=Policy.NONE_RELEVANT), 3),
        (AskOptions(grader=GraderKind.RUBRIC), 3),
        (AskOptions(grader=GraderKind.CASCADE), 3),
        (AskOptions(grader=GraderKind.EVALUATOR), 0),
        (AskOptions(policy=Policy.ANY_IRRELEVANT), 0),
        (AskOptions(policy=Policy.SCORE), 0),
        (AskOptions(agent=True), 0),
    ],
)
def test_grading_ends_early_only_where_a_grade_costs_a_passage_and_more_would_not_matter(
    tmp_path: Path, given: AskOptions, enough: int
) -> None:
    assert options(tmp_path, given).enough == enough


def test_the_embedded_models_grade_everything(tmp_path: Path) -> None:
    assert options(tmp_path, AskOptions(), chat=False).enough == 0


def test_grading_can_be_made_to_end_earlier_or_never(tmp_path: Path) -> None:
    assert options(tmp_path, AskOptions(), enough=1).enough == 1
    assert options(tmp_path, AskOptions(), enough=0).enough == 0


@pytest.mark.parametrize(
    ("given", "strips"),
    [
        (AskOptions(), StripKind.SENTENCE),
        (AskOptions(layout=Layout.JOINT), StripKind.NONE),
        (AskOptions(layout=Layout.JOINT, mode=Mode.QUOTE), StripKind.SENTENCE),
        (AskOptions(layout=Layout.JOINT, mode=Mode.QUOTE, strips=StripKind.WINDOW), StripKind.WINDOW),
    ],
)
def test_an_answer_from_a_table_is_written_from_whole_passages(
    tmp_path: Path, given: AskOptions, strips: StripKind
) -> None:
    assert options(tmp_path, given).strips is strips


def test_a_chat_model_is_asked_about_every_passage_until_a_band_was_fitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path).with_values("model", language=str(shape("llama2")))
    models = models_for(settings.model, tmp_path)
    assert Composition(settings, models, AskOptions()).judge is GraderKind.YESNO
    monkeypatch.setattr(Models, "band", Thresholds(0.8, 0.2))
    assert Composition(settings, models, AskOptions()).judge is GraderKind.CASCADE
    assert Composition(settings, models, AskOptions(grader=GraderKind.YESNO)).judge is GraderKind.YESNO


def test_within_the_band_the_language_models_word_is_on_its_own_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model whose yes/no was calibrated says the same as a part of a cascade."""
    settings = Settings(home=tmp_path).with_values("model", language=str(shape("llama2")))
    models = models_for(settings.model, tmp_path)
    fitted = Calibration(GraderKind.YESNO, (), Scale(2.0, -1.0), Thresholds(0.8, 0.2), 9, 9, "2026-11-21")
    monkeypatch.setattr(
        Models, "calibration", lambda self, kind: fitted if kind is GraderKind.YESNO else None
    )
    cascade = Composition(settings, models, AskOptions(grader=GraderKind.CASCADE)).grader(models.evaluator)
    alone = Composition(settings, models, AskOptions(grader=GraderKind.YESNO)).grader(models.evaluator)
    assert isinstance(cascade, CascadeGrader) and isinstance(alone, CalibratedGrader)
    assert cascade.asked == alone
