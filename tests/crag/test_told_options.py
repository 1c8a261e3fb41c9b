"""An option that is asked about and that nothing found has is named."""

from __future__ import annotations

import pytest

from localcrag.crag.doubts.told_options import lacks_name_in_code, missing_options
from localcrag.crag.refinement.knowledge_strips import whole
from tests.crag.values import passage

TEXT = "--[no-]trim: Cut lines. With --width=<n> they are cut there. -q is quiet."


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What does --parallel do in foo?", ["--parallel"]),
        ("What does --trim do?", []),
        ("What does --no-trim do, and -Q?", ["-Q"]),
        ("What does --width mean with -q?", []),
        ("What is a trim-width?", []),
        ("What do pre- and post-hooks do?", []),
    ],
)
def test_an_option_that_no_passage_has_is_missing(question: str, missing: list[str]) -> None:
    assert missing_options([whole(passage(TEXT), 0.9)], question) == missing
    assert missing_options([], question) == []


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("Which option keeps old copies?", "Old copies are kept as long as there is room.", True),
        ("Which retention option protects us?", "Old copies are kept as long as there is room.", True),
        ("Is there a flag that keeps old copies?", "Old copies are kept as long as there is room.", True),
        ("Which backup command thins them out?", "Old copies are kept as long as there is room.", True),
        ("Which option keeps old copies?", "Old copies are kept with --keep.", False),
        ("Which option keeps old copies?", "keep: Old copies are not removed.", False),
        ("Which setting keeps old copies?", "Old copies are kept if keep_old is set.", False),
        ("Which command keeps old copies?", "Use the copy command.", False),
        ("What happens to old copies?", "Old copies are kept as long as there is room.", False),
        ("What is the option for?", "Old copies are kept as long as there is room.", False),
    ],
)
def test_a_question_for_an_option_or_a_command_is_told_by_its_name(
    question: str, text: str, lacks: bool
) -> None:
    assert lacks_name_in_code(question, text, [whole(passage(f"{text} {TEXT}"), 0.9)]) is lacks
    assert not lacks_name_in_code(question, text, [whole(passage("Fish or meat."), 0.9)])
