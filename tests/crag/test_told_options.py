"""An option that is asked about and that nothing found has is named."""

from __future__ import annotations

import pytest

from localcrag.crag.doubts.told_options import missing_options
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
