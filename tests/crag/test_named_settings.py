"""The setting that a question names, by its own name and that of its section."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.doubts.sureness import SURE_STRIP
from localcrag.crag.doubts.told_settings import is_barely_named
from localcrag.crag.judges.named_settings import NAMED_WEIGHT, named_settings
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import BlockKind
from tests.crag.values import structured

VESSELS = """[vessel.FV1]
setpoint_c = 19.0
crash_c = 2.0

[vessel.FV2]
setpoint_c = 18.5
crash_c = 0.5"""
MAIL = """[general]
practice = Oxley Street
language = en_GB

[smtp]
host = smtp.example
port = 2525"""


@pytest.mark.parametrize(
    ("text", "question", "named"),
    [
        (VESSELS, "What temperature is FV2 crash cooled to?", "crash_c = 0.5"),
        (VESSELS, "What is the setpoint of FV1?", "setpoint_c = 19.0"),
        (VESSELS, "What is the setpoint?", None),
        (VESSELS, "Was FV2 repaired?", None),
        (MAIL, "Which port does the practice's outgoing mail use?", "port = 2525"),
        (MAIL, "Which host and which port are used?", None),
        (MAIL, "port of the practice", None),
        (MAIL, "Which printer is used?", None),
    ],
)
def test_the_one_setting_that_is_named_best(text: str, question: str, named: str | None) -> None:
    found = strips(structured((BlockKind.CODE, text)))
    gains = named_settings(question, found)
    assert [found[at].text.splitlines()[-1] for at in gains] == ([named] if named else [])
    assert {*gains.values()} <= {NAMED_WEIGHT}


def test_prose_names_no_setting() -> None:
    assert not named_settings("Which port is it?", strips(structured((BlockKind.PARAGRAPH, "port = 2525"))))


@pytest.mark.parametrize(
    ("question", "score", "barely"),
    [
        ("Which port does the phone system use?", 0.3, True),
        ("Which port does the phone system use?", SURE_STRIP, False),
        ("Which smtp port?", 0.3, False),
    ],
)
def test_a_setting_of_which_a_question_has_one_word_is_to_be_checked(
    question: str, score: float, *, barely: bool
) -> None:
    found = strips(structured((BlockKind.CODE, MAIL)))
    port = replace(next(each for each in found if "port" in each.text), score=score)
    assert is_barely_named(question, [port]) is barely
    assert not is_barely_named(question, []) and not is_barely_named(
        question, strips(structured((BlockKind.PARAGRAPH, "port = 2525")))
    )
