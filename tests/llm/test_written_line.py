"""A line under a pattern that is used once: it matches whatever the model, and has a probability."""

from __future__ import annotations

import re

import pytest

from localcrag.errors import ConstraintError, ContextOverflow
from localcrag.llm import written_line
from localcrag.types import Prompt
from tests.llm.conftest import Shaped

PROMPT = Prompt("Reply.", ("Which colour is it?",))
PATTERNS = (
    "(?:red|green|blue)",
    r"SELECT \"[A-Z][a-z]{1,4}\"(?: WHERE \"Größe\" = 'ä+')?|NONE",
    r"[0-9]{3}-[0-9]{2}",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_model_writes_a_line_that_matches(shaped: Shaped, pattern: str) -> None:
    written = shaped.model.write_line(PROMPT, pattern, max_tokens=200)
    assert re.fullmatch(pattern, written.text)
    assert 0 < written.probability <= 1
    assert 0 < written.tokens <= 200


def test_the_line_is_the_same_each_time_and_its_tokens_are_counted(shaped: Shaped) -> None:
    before = shaped.model.tokens.generated
    first, second = (shaped.model.write_line(PROMPT, PATTERNS[0]) for _ in range(2))
    assert first.text == second.text
    assert first.probability == pytest.approx(second.probability, rel=1e-3)
    assert shaped.model.tokens.generated - before == first.tokens + second.tokens


def test_a_line_that_does_not_end_is_an_error(shaped: Shaped) -> None:
    with pytest.raises(ConstraintError, match="not at its end"):
        shaped.model.write_line(PROMPT, "x{50}", max_tokens=3)


def test_a_prompt_that_does_not_fit_is_an_error(shaped: Shaped) -> None:
    with pytest.raises(ContextOverflow):
        shaped.model.write_line(Prompt("", ("word " * 5000,)), "yes")


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_likely_beside_a_line_is_tried_too(
    shaped: Shaped, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    for lines in (1, 3):
        monkeypatch.setattr(written_line, "MAX_LINES", lines)
        found[lines] = shaped.model.write_line(PROMPT, pattern, max_tokens=200)
    assert re.fullmatch(pattern, found[3].text)
    assert found[3].probability >= found[1].probability * 0.999
    assert found[3].tokens >= found[1].tokens


def test_a_line_that_is_not_likely_enough_is_given_up_and_its_tokens_are_counted(shaped: Shaped) -> None:
    """A pattern that the model would not write of its own accord is forced on it for as long as it goes."""
    before = shaped.model.tokens.generated
    with pytest.raises(ConstraintError, match="likely enough"):
        shaped.model.write_line(PROMPT, "(?:xq){12}", max_tokens=40, least=0.9)
    given_up = shaped.model.tokens.generated - before
    assert given_up < shaped.model.write_line(PROMPT, "(?:xq){12}", max_tokens=40).tokens / 2
