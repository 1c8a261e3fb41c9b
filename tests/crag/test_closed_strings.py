"""A function is not quoted without the end of its docstring."""

from __future__ import annotations

from localcrag.crag.refinement.closed_strings import with_closed_strings
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import BlockKind
from tests.crag.values import structured

HEAD = 'def rota(people):\n    """Plan the days.'
MIDDLE = "Nobody waters twice."
TAIL = 'Raises:\n        RotaError: There are too few.\n    """\n    return plan(people)'
OTHER = "MAX = 3"


def told(*parts: str) -> list[str]:
    found = strips(structured(*((BlockKind.CODE, part) for part in parts)))
    return [strip.text for strip in with_closed_strings(found)]


def test_a_function_is_shown_up_to_the_end_of_its_docstring_and_the_code_behind() -> None:
    whole = f"{HEAD}\n\n{MIDDLE}\n\n{TAIL}"
    assert told(HEAD, MIDDLE, TAIL, OTHER) == [whole, MIDDLE, TAIL, OTHER]
    assert told(HEAD, MIDDLE, TAIL)[0] == whole
    assert told(*(part.replace('"""', "'''") for part in (HEAD, TAIL)))[0].endswith("return plan(people)")


def test_other_code_is_shown_as_it_was_picked() -> None:
    module = ('"""Plan the days.', 'The rota is fair.\n"""')
    assert told(*module) == [*module]
    assert told(HEAD, OTHER) == [HEAD, OTHER], "its docstring ends in another passage"
    text = ("x" * 80 + "\n") * 20
    assert told(HEAD, text + TAIL)[0] == HEAD, "a long string is a text of its own"
