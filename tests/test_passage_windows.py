"""The window of a long passage around the words of a question."""

from __future__ import annotations

from training.passage_windows import WINDOW_CHARACTERS, nearest_window

from localcrag.crag.questions.query_terms import terms
from localcrag.types import Passage

FILLER = [f"Sentence {i} tells of the harbour and of the ships that lay there in summer." for i in range(14)]


def passage(*sentences: str) -> Passage:
    text = " ".join(sentences)
    return Passage("p", "d", "s", "", "", None, 100, 100 + len(text), text)


def test_it_holds_the_sentence_that_has_most_words_of_the_question() -> None:
    long = passage(*FILLER[:9], "The toll for a barge was four shillings.", *FILLER[9:])
    found = nearest_window(long, terms("What was the toll for a barge?"))
    assert found is not None and "four shillings" in found.text
    assert len(found.text) <= WINDOW_CHARACTERS
    assert long.text[found.start - 100 : found.end - 100] == found.text


def test_a_short_passage_and_one_without_any_word_have_none() -> None:
    assert nearest_window(passage("The toll was four shillings."), terms("What was the toll?")) is None
    assert nearest_window(passage(*FILLER), terms("Which zebra?")) is None
