"""What a question tells before it asks."""

from __future__ import annotations

import pytest

from localcrag.crag.questions.told_stories import told_around


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("The desk is dead. What do I do?", "The desk is dead. "),
        ("it smokes - where do we meet", "it smokes - "),
        ("Mr. Brandt has which key?", ""),
        ("Mr. Brandt has left. He took the key.", ""),
        ("What do I do? The desk is dead.", ""),
        ("What is the fee?", ""),
        ("who on earth is IM in the minutes", "who on earth is   in the minutes"),
        ("What does E21 on the display mean?", "What does   on the display mean?"),
        ("What's the PIN of the safe?", ""),
    ],
)
def test_the_story_and_the_place_of_a_code(question: str, told: str) -> None:
    assert told_around(question) == told
