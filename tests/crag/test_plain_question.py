"""When a rewritten line is the question in fewer words, and what it may have left out."""

from __future__ import annotations

import pytest

from localcrag.crag.questions.plain_question import is_plainer, may_have_talk, omitted_matter

CHATTY = "Hi all, sorry to bother you, my boss asked me how many beds the clinic has, thanks a lot"


@pytest.mark.parametrize(
    ("line", "question", "plainer"),
    [
        ("How many beds does the clinic have", CHATTY, True),
        ("In what year was it built", "Good morning. Just curious. In what year was it built?", True),
        ("clinic beds", CHATTY, False),
        ("How many beds does the hospital have", CHATTY, False),
        ("How many beds has the clinic?", "So, how many beds has the clinic?", False),
        ("What is it", "Hello there, I was wondering what it is", False),
        ("Wie viele Betten gibt es", "Hallo zusammen, wie viele Betten gibt es denn hier, danke", False),
        ("What is OpenPGP", "Quelle longueur minimale doit avoir une clé OpenPGP ?", False),
        ("What is Eiche", "Quadratmeter Leimholzplatte Eiche kostet wie viel", False),
        ("What is the number of the clinic", "Can you help me? I need the number of the clinic.", True),
        ("What now", "The boiler hums and the flame goes out. What now?", False),
        ("Who pays", "the tap leaks, 80 to mend, who pays", False),
        ("Did the kettle come, and when", "did the refund for the kettle come, and when?", False),
        ("When we lose a key", "ok and who has to be told when we lose a key?", False),
        ("Until when can he sue", "Doyle: Until when can he sue?", False),
    ],
    ids=[
        "plain",
        "preposition",
        "keywords",
        "another word",
        "hardly shorter",
        "nothing left",
        "foreign",
        "English line of a French question",
        "English line of a question whose language is not told",
        "another opening word of an English question",
        "statement before it",
        "statement with a number",
        "what it is about",
        "another question",
        "topic that a chat has added",
    ],
)
def test_plainer(line: str, question: str, plainer: bool) -> None:
    assert is_plainer(line, question) == plainer


@pytest.mark.parametrize(
    ("line", "question", "omitted"),
    [
        ("How many beds has the clinic", CHATTY, []),
        ("What is the fee", "Hi, what is the fee for vans registered before 2010?", ["vans", "registered",
                                                                                     "before", "2010"]),
        ("When does it close", "I am in Berlin and it is late, when does it close?", ["Berlin", "late"]),
        ("When does the mill close", "It is 2024 now. Tell me, when does the mill close?", ["2024"]),
        ("Who owns the mill", "Excuse me, who owns the old mill, by the way?", ["old"]),
        ("Who owns the mill", "Reading about it all day. Who owns the mill? Kind regards", []),
        ("What now", "It rattles, what now?", ["rattles"]),
        ("When is it told", "Who has to know when it is told?", ["Who"]),
    ],
    ids=["talk", "condition", "name", "number", "between", "sentences", "statement", "question word"],
)  # fmt: skip
def test_what_may_have_been_asked_as_well(line: str, question: str, omitted: list[str]) -> None:
    assert omitted_matter(line, question) == omitted


@pytest.mark.parametrize(
    ("question", "talk"),
    [
        ("How high is the deposit of the flat?", False),
        ("In which year were the ditches of Ravensmoor blocked?", False),
        ("deposit garage amount", False),
        ("hi, sorry to bother you, how many beds does the clinic have? many thanks", True),
        ("My boss asked me when the clinic opens", True),
        ("Can you help me? I need the number of the clinic.", True),
        ("Tell me about the deposit that is due for the flat", True),
    ],
)
def test_where_there_may_be_talk(question: str, talk: bool) -> None:
    assert may_have_talk(question) is talk
