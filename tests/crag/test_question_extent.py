"""How much of a document a question asks for."""

from __future__ import annotations

import pytest

from localcrag.crag.question_extent import things_asked_for


@pytest.mark.parametrize(
    "question",
    [
        "What are the advantages of this mode?",
        "Which directories must exist in the root file system?",
        "Which options does the command take, and which two gates are locked?",
        "What does the kit contain?",
        "What is not covered by the insurance?",
        "Name all members of the board.",
        "List the ports that are open",
        "Welche Unterlagen sind nötig?",
        "Was gehört in das Paket?",
        "Quelles sont les conditions ?",
        "¿Cuáles son las ventajas?",
        "¿Qué documentos necesito?",
    ],
)
def test_it_asks_for_several_things(question: str) -> None:
    assert things_asked_for(question)


@pytest.mark.parametrize(
    "question",
    [
        "What does a replacement tank cost?",
        "What is the name of the red dye?",
        "Which pear pollinates the Autumn Bell?",
        "On which days does the clinic open?",
        "What was the flat charge for power?",
        "When does the gate close?",
        "Welche Farbe hat der Schlüssel?",
        "¿Qué precio tiene?",
    ],
)
def test_it_asks_for_one_thing(question: str) -> None:
    assert not things_asked_for(question)


def test_they_are_its_content_words() -> None:
    assert things_asked_for("What are the advantages of this mode?") == {"advantag", "mod"}
