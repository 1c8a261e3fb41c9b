"""What a follow-up leaves out is put before it, in the words of earlier questions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localcrag.crag.questions.follow_ups import MAX_CARRIED_WORDS, completed
from localcrag.crag.questions.query_terms import WORD_PATTERN
from localcrag.languages import UNSPACED


@pytest.mark.parametrize(
    ("earlier", "question", "carried"),
    [
        (["What is throat cancer?"], "Is it treatable?", "throat cancer"),
        (["What is throat cancer?", "Is it treatable?"], "What are its symptoms?", "throat cancer"),
        (["What is throat cancer?"], "Tell me about lung cancer.", ""),
        (["What is throat cancer?", "Tell me about lung cancer."], "Can it spread?", "lung cancer"),
        (["Who was Anne Bonny?"], "Who was she married to?", "Anne Bonny"),
        (["What is the usual dose of Zeldrine?"], "Who makes it?", "Zeldrine"),
        (["What is the usual dose of Zeldrine?"], "Why?", "Zeldrine"),
        (["What is the usual dose of Zeldrine?"], "What are the side effects?", "Zeldrine"),
        (["What was the revenue of Orlan in 2018?"], "And in 2019?", "revenue Orlan"),
        (["What was the revenue of Orlan?", "And in 2019?"], "Why was it so low?", "Orlan"),
        (["Who makes Zeldrine?"], "What about Brantol?", "makes"),
        (["Who makes Zeldrine?", "What about Brantol?"], "Is it dangerous?", "Brantol"),
        (["What is the average salary in the UK?"], "What about in the US?", "average salary"),
        (["What is throat cancer?"], "Which drugs treat lung cancer when it has spread?", ""),
        (["Wann wird Lavendel geschnitten?"], "Und wie viel Wasser braucht die Pflanze?", ""),
        ([], "Is it treatable?", ""),
        (["Who approves parking?"], "And who approves travel?", ""),
        (["Who approves parking?"], "Or who approves travel?", ""),
        (["Who approves parking?"], "And who is responsible for travel?", ""),
        (["Who approves parking?"], "And what is the policy on travel?", ""),
        (["Who approves parking?"], "And is travel approved?", ""),
        (["Who approves parking?", "And who approves travel?"], "And who pays?", "approves travel"),
        (["Who approves travel?"], "And what is the dose of Zeldrine?", ""),
        (["Who makes Zeldrine?"], "And what does Brantol cost?", ""),
        (["Who makes Zeldrine?"], "And Brantol?", "makes"),
        (["Who makes Zeldrine?"], "And what about Brantol?", "makes"),
        (["What is the dose of Zeldrine?"], "And who makes it?", "dose Zeldrine"),
        (["What is the dose of Zeldrine?"], "Or who makes it?", "dose Zeldrine"),
        (["What is the dose of Zeldrine?"], "And when should children take it?", "dose Zeldrine"),
        (["What is the dose of Zeldrine?"], "And in children?", "dose Zeldrine"),
        (["What is the dose of Zeldrine?"], "Or for adults?", "dose Zeldrine"),
        (["What is the dose of Zeldrine?"], "And the price?", "dose Zeldrine"),
        (["What is the dose of Zeldrine?"], "And what are the side effects?", "dose Zeldrine"),
        (["What is the dose of Zeldrine?"], "And what is the dose for children?", "Zeldrine"),
        (["What is the dose of Zeldrine?"], "And how many tablets for children?", "dose Zeldrine"),
        (["What is the dose of Zeldrine?"], "And which patients?", "dose Zeldrine"),
        (["When does the ferry leave Kiel?"], "how early must we be there?", "Kiel"),
        (["What salt does Zeldrine hold?", "how much of it?"], "and Brantol?", "salt hold"),
    ],
)
def test_what_a_question_leans_on_is_put_before_it(earlier: list[str], question: str, carried: str) -> None:
    assert completed(question, earlier) == (f"{carried}: {question}" if carried else question)


@pytest.mark.parametrize(
    ("earlier", "question", "carried"),
    [
        (["Was kostet der Eintritt ins Bad?"], "Und für Kinder?", "kostet Eintritt Bad"),
        (["Was kostet der Eintritt ins Bad?"], "Was ist mit der Sauna?", "kostet Bad"),
        (["Wann fährt die Fähre nach Kiel?"], "Und was kostet sie?", "fährt Fähre Kiel"),
        (["Wann fährt die Fähre nach Kiel?"], "Was kostet sie?", "Fähre Kiel"),
        (["Wann fährt die Fähre nach Kiel?"], "Was kosten Sie?", ""),
        (["Wann fährt die Fähre nach Kiel?"], "Gibt es einen Hafen in Rostock?", ""),
        (["Combien coûte la chambre au mois d'août ?"], "et le petit-déjeuner ?", "coûte mois d'août"),
        (["Combien coûte la chambre ?"], "Combien de lits a-t-elle ?", "coûte chambre"),
        (["Combien coûte la chambre ?"], "Quand faut-il payer la caution ?", ""),
        (["¿Cuánto cuesta el barco?"], "¿Y para niños?", "cuesta barco"),
        (["Quanto costa la barca?"], "E per i bambini?", "costa barca"),
        (["Hoeveel kost de boot?"], "En voor kinderen?", "kost boot"),
        (["Qual é o preço da casa?"], "E para crianças?", "preço casa"),
        (["成人门票多少钱?"], "儿童呢?", "成人门票"),
        (["成人门票多少钱?"], "停车费是多少?", ""),
    ],
)
def test_a_question_in_another_language_leans_on_those_before_it(
    earlier: list[str], question: str, carried: str
) -> None:
    assert completed(question, earlier) == (f"{carried}: {question}" if carried else question)


@settings(deadline=None)
@given(st.lists(st.text(max_size=60), max_size=5), st.text(max_size=60))
def test_any_conversation_only_adds_words_that_were_asked(earlier: list[str], question: str) -> None:
    standalone = completed(question, earlier)
    assert standalone.endswith(question)
    added = standalone.removesuffix(question).removesuffix(": ").split()
    assert len(added) <= MAX_CARRIED_WORDS
    asked = {word for text in earlier for word in WORD_PATTERN.findall(text)}
    asked |= {run for text in earlier for run in UNSPACED.findall(text)}
    assert set(added) <= asked, "whole words, or runs of a language that is written without spaces"


@pytest.mark.parametrize(
    ("earlier", "question", "found"),
    [
        (
            ["How much is my baggage insured for?", "What is the excess for that?"],
            "and for cancellation?",
            "excess: and for cancellation?",
        ),
        (["What is the fee for children on a boat?"], "and for adults?", "fee boat: and for adults?"),
        (["When is the lido open on Saturday?"], "what does it cost?", "lido open: what does it cost?"),
        (["When is the lido open on Saturday?"], "and on Sunday?", "lido open: and on Sunday?"),
        (["Who does the tiles in the bathroom?"], "and the plumbing?", "bathroom: and the plumbing?"),
        (
            ["What does the slim frame cost?"],
            "and what about a wide one?",
            "cost: and what about a wide one?",
        ),
        (["What is the price of a slim frame?"], "and the deposit?", "price slim frame: and the deposit?"),
    ],
)
def test_what_is_put_in_the_place_of_another_thing_replaces_it(
    earlier: list[str], question: str, found: str
) -> None:
    assert completed(question, earlier) == found
