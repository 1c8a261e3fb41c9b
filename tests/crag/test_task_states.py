"""Which tasks of a list are told, if a question asks for open ones or for those that are done."""

from __future__ import annotations

import pytest

from localcrag.crag.refinement.knowledge_strips import strips, whole
from localcrag.crag.refinement.task_states import of_asked_state, without_unasked_tasks
from localcrag.types import BlockKind
from tests.crag.values import structured

LIST = structured(
    (BlockKind.PARAGRAPH, "The backup is planned as follows:"),
    (BlockKind.ITEM, "☑ Test a full restore"),
    (BlockKind.ITEM, "☐ Buy a second disk"),
    (BlockKind.ITEM, "☐ Write down the procedure"),
)
LEAD, RESTORE, DISK, PROCEDURE = (strip.text for strip in strips(LIST))


@pytest.mark.parametrize(
    "question",
    [
        *("Which points are still open?", "What is still to do?", "What has not been done yet?"),
        *(
            "What are the open points?",
            "What do we still have to do?",
            "What isn't finished?",
            "Show my to-dos",
        ),
        *(
            "Was ist noch offen?",
            "Was ist noch zu tun?",
            "Welche Punkte sind offen?",
            "Was ist nicht erledigt?",
        ),
    ],
)
def test_a_question_for_what_is_open_leaves_out_what_is_done(question: str) -> None:
    assert [strip.text for strip in of_asked_state(strips(LIST), question)] == [LEAD, DISK, PROCEDURE]


@pytest.mark.parametrize(
    "question", ["What has been done already?", "What is finished?", "Was ist erledigt?"]
)
def test_a_question_for_what_is_done_leaves_out_what_is_open(question: str) -> None:
    assert [strip.text for strip in of_asked_state(strips(LIST), question)] == [LEAD, RESTORE]


@pytest.mark.parametrize(
    "question", ["What is planned?", "What must be done for the backup?", "When is the shop open?"]
)
def test_other_questions_leave_all(question: str) -> None:
    assert of_asked_state(strips(LIST), question) == strips(LIST)


def test_a_strip_of_several_items_is_told_without_the_others() -> None:
    parts = of_asked_state([whole(LIST, 0.7)], "Which points are still open?")
    assert [(part.text, part.score) for part in parts] == [(LEAD, 0.7), (DISK, 0.7), (PROCEDURE, 0.7)]


def test_a_strip_of_several_items_is_judged_as_a_whole() -> None:
    question = "Which points are still open?"
    assert without_unasked_tasks([whole(LIST, 0.7), *strips(LIST)], question) == [
        whole(LIST, 0.7),
        *of_asked_state(strips(LIST), question),
    ]


def test_tasks_stay_if_no_other_is_left() -> None:
    done = strips(LIST)[1:2]
    assert of_asked_state(done, "Which points are still open?") == done
