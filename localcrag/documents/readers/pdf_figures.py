"""What is written in the figures of a PDF: the numbers at an axis are no text."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[-−]?\d+(?:[.,]\d+)?%?")
_MIN_NUMBERS, _MIN_RUN = 4, 3
"""The fewest numbers of axes, and of one of them."""
_NUMBERS_PER_WORD = 4
"""How many numbers there are at least for each word of the name of an axis."""
_TOLERANCE = 1e-6


def is_axis(text: str) -> bool:
    """Whether a text is nothing but the numbers at one or several axes, and their names.

    Those of an axis rise in even steps, or are those of another one again: "0.0 0.5 1.0 Probability".
    """
    words = text.split()
    numbers = [word for word in words if _NUMBER.fullmatch(word)]
    if len(numbers) < _MIN_NUMBERS or len(numbers) < _NUMBERS_PER_WORD * (len(words) - len(numbers)):
        return False
    runs: list[list[float]] = []
    for number in (float(each.strip("%").replace(",", ".").replace("−", "-")) for each in numbers):
        if runs and number > runs[-1][-1]:
            runs[-1].append(number)
        else:
            runs.append([number])
    if any(len(run) < _MIN_RUN for run in runs):
        return False
    return all(map(_is_even, runs)) or (len(runs) > 1 and all(run == runs[0] for run in runs))


def _is_even(run: list[float]) -> bool:
    step = (run[-1] - run[0]) / (len(run) - 1)
    return all(abs(run[0] + i * step - number) <= _TOLERANCE * abs(step) for i, number in enumerate(run))
