"""What the strips near the best one lack of the answer that a question expects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.doubts.expected_answers import lacks_expected
from localcrag.crag.refinement.knowledge_strips import strips, whole
from localcrag.types import BlockKind
from tests.crag.values import passage, structured


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("How many children came on 3 May?", "On 3 May the children came at 9:30.", True),
        ("How many children came on 3 May?", "On 3 May 14 children came.", False),
        ("How many keys has room 12?", "No: 4 · What: key of room 12", True),
        ("How many keys has room 12?", "No: 4 · What: room 12 · Keys: three", False),
        ("After how many seconds is it over?", "The seconds of no motion that end an event.", True),
        ("After how many seconds is it over?", "An event ends after 60 s of no motion.", False),
        ("After how many minutes is it over?", "An event ends a minute after all motion.", False),
        ("For how many weeks is it open?", "It is open for a fortnight.", False),
        ("How many years did it take?", "It took no time at all.", True),
        ("On which day does the boat run?", "The boat runs to the island.", True),
        ("On which day does the boat run?", "The boat runs on Sundays.", False),
        ("On which day did they pay the invoice?", "Invoice of 3 May. Please pay by 17 May.", True),
        ("On which day did they pay the invoice?", "Please pay by 17 May. They paid on 9 May.", True),
        ("On which day did they pay the invoice?", "They wanted to pay on 9 May. Please pay soon.", False),
        ("By when do they have to pay the invoice?", "Please pay by 17 May.", False),
        ("How many grants are there?", "The grant is 1,150 euros.", True),
        ("How many euros is the grant?", "The grant is 1,150 euros.", False),
        ("¿Cuántas ayudas hay?", "La ayuda será de 1.150 euros y de 1.480 euros en el resto.", True),
        ("¿Cuántas ayudas hay?", "Se conceden 12 ayudas de 1.150 euros.", False),
        ("¿Cuántas ayudas hay?", "Se conceden doce ayudas.", False),
        ("Quanti euro sono?", "Sono 1.150 euro.", False),
        ("Quando comincia il cantiere?", "Il preventivo è di Bruno Riva.", True),
        ("Quando comincia il cantiere?", "Comincia lunedì.", False),
        ("¿Cuándo empieza la obra?", "La obra es de Bruno Riva, de Madrid.", True),
        ("¿Cuándo empieza la obra?", "La obra empieza en otoño, después de la feria.", False),
    ],
)
def test_a_count_or_a_day(question: str, text: str, lacks: bool) -> None:
    assert lacks_expected(question, [whole(passage(text), 0.9)]) is lacks


def test_what_is_shown_with_a_strip_counts_and_what_is_far_less_probable_does_not() -> None:
    question = "What is Ms Orr's phone number?"
    told = structured((BlockKind.PARAGRAPH, "Ms Orr is the plumber here. Ring her at 0555 240 77."))
    first, _ = strips(told)
    assert not lacks_expected(question, [replace(first, score=0.9)])
    known = whole(passage("Ms Orr is the plumber."), 0.9)
    assert lacks_expected(question, [known, whole(passage("The fax is 0555 240 78."), 0.3)])
    assert not lacks_expected(question, [known, whole(passage("The phone is 0555 240 78."), 0.6)])
    assert not lacks_expected(question, [])
