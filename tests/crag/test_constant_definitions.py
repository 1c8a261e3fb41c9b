"""The value of a name in code is told by what defines it."""

from __future__ import annotations

import pytest

from localcrag.crag.judges.constant_definitions import DEFINED_WEIGHT, defined_names
from localcrag.crag.refinement.knowledge_strips import whole
from tests.crag.values import passage

COMMENT = "The value of POOL_SIZE is how many are kept."
USE = "if size == POOL_SIZE:\n    close(size=POOL_SIZE)"


@pytest.mark.parametrize(
    "definition",
    [
        "POOL_SIZE = 12",
        "POOL_SIZE: Final[int] = 12",
        "export const POOL_SIZE = 12;",
        "private static final int POOL_SIZE = 12;",
        "#define POOL_SIZE 12",
        "POOL_SIZE=12",
    ],
)
def test_what_defines_a_name_tells_its_value(definition: str) -> None:
    found = [whole(passage(text), 0.5) for text in (COMMENT, definition, USE, "IDLE = 4")]
    gains = {0: -DEFINED_WEIGHT, 1: DEFINED_WEIGHT, 2: -DEFINED_WEIGHT}
    for question in ("What is the value of POOL_SIZE?", "what is POOL_SIZE set to", "What is POOL_SIZE?"):
        assert defined_names(question, found) == gains


def test_nothing_is_gained_without_a_definition_or_if_no_value_is_asked_for() -> None:
    found = [whole(passage(text), 0.5) for text in (COMMENT, USE)]
    assert not defined_names("What is the value of POOL_SIZE?", found)
    found.append(whole(passage("POOL_SIZE = 12"), 0.5))
    assert not defined_names("What is the default value of POOL_SIZE?", found)
    assert not defined_names("Where is POOL_SIZE checked?", found)
    assert not defined_names("What is the value of the pool?", found)
