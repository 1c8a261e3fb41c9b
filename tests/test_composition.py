"""From settings and one question's options to what the loop is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.app import models_for
from localcrag.composition import Composition
from localcrag.crag.parts import Options
from localcrag.options import AskOptions
from localcrag.settings import Settings
from localcrag.types import GraderKind, Layout, Mode, Policy, StripKind
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
