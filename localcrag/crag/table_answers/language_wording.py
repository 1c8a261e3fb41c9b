"""Questions over a table in one other language, in the English words that :mod:`.table_questions` reads.

Only the words that ask and compare are put into English; names of columns and of values stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Replacement = str | Callable[[re.Match[str]], str]


@dataclass(frozen=True, slots=True)
class LanguageWording:
    """How a language asks over a table.

    Attributes:
        asking: how such a question begins; any other one stays as it is.
        words: what stands for what, in order: the first that applies decides.
        before: what is put into the order of English first.
    """

    asking: re.Pattern[str]
    words: Sequence[tuple[re.Pattern[str], str]]
    before: Sequence[tuple[re.Pattern[str], Replacement]] = ()

    def in_english(self, question: str) -> str:
        """A question with its words that ask and compare in English; one that does not begin so as it is."""
        if self.asking.match(question.strip()) is None:
            return question
        for pattern, replacement in (*self.before, *self.words):
            question = pattern.sub(replacement, question)
        return question
