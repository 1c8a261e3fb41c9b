"""The kind of text that a strip is."""

from __future__ import annotations

from dataclasses import replace

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_kinds import ends_as_question, is_command, prose_of, says_more
from localcrag.types import BlockKind
from tests.crag.values import passage, structured


def test_a_name_that_has_only_words_of_the_question_says_nothing() -> None:
    def says(text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> bool:
        (strip,) = strips(structured((kind, text)))
        return says_more(strip, "How do I show progress bars while I wait?")

    assert not says("Progress Bars") and not says("☛   ✟", BlockKind.CODE)
    assert says("Progress bars show.") and says("Progress bars of Rich") and says("Yes, you may")
    assert says("Progress bar", BlockKind.ROW) and says("progress.bar", BlockKind.CODE)


def test_rows_and_code_are_no_prose() -> None:
    found = structured((BlockKind.PARAGRAPH, "Fees."), (BlockKind.ROW, "A: b"), (BlockKind.CODE, "x = 1"))
    assert prose_of(found) == "Fees."
    assert prose_of(passage("Plain.")) == "Plain."


def test_the_header_of_a_mail_tells_of_the_mail_alone() -> None:
    header = "From: Ann <ann@example.org> · Date: Wed, 12 Feb 2025 · Subject: Re: rehearsal weekend"
    (strip,) = strips(structured((BlockKind.ROW, header)))
    assert not says_more(strip, "When is the rehearsal weekend?")
    assert says_more(strip, "When was the mail about the rehearsal weekend sent?")
    assert says_more(strip, "Who wants a rehearsal weekend?")


def test_a_salutation_tells_of_the_letter_alone() -> None:
    def says(text: str, question: str = "What is the phone number of Dr. Lund?") -> bool:
        (strip,) = strips(structured((BlockKind.PARAGRAPH, text)))
        return says_more(strip, question)

    for salutation in ("Dear Dr. Lund,", "Sehr geehrte Frau Lund", "Hello Ann and Tom,"):
        assert not says(salutation) and says(salutation, "To whom is the letter addressed?")
    assert says("Dear Dr. Lund, call 5512") and says("Hello world") and says("Dear customers pay.")


def test_front_matter_is_told_if_the_question_is_about_its_fields() -> None:
    row = "title: Bike · status: on hold · date bought: 2026-01-02"
    meta = {"status": "on hold", "date_bought": "2026-01-02"}
    document = replace(structured((BlockKind.ROW, row), (BlockKind.ROW, row), start=0), meta=meta)
    front, other = strips(document)
    without_fields, _ = strips(replace(document, meta={}))
    for question in (
        *("Why is the bike on hold?", "Warum ruht das?", "How is the bike locked?"),
        *("Which points are open for the bike?", "What is the bike for?"),
    ):
        assert not says_more(front, question)
        assert says_more(other, question) and says_more(without_fields, question)
    for question in (
        "Is the bike on hold?",
        "What is on hold?",
        "How many days?",
        "How did the status change?",
    ):
        assert says_more(front, question)


def test_who_asks_the_same_in_a_chat_answers_nothing() -> None:
    def says(text: str) -> bool:
        (strip,) = strips(structured((BlockKind.PARAGRAPH, text)))
        return says_more(strip, "who ate the jam")

    assert not says("[03/03/2025, 08:02] Odette: who ate my quince jam")
    assert says("[03/03/2025, 08:02] Odette: Marisol ate my quince jam")
    assert says("[03/03/2025, 08:02] Odette: who ate my bread")


def test_the_mark_in_an_address_is_none_of_a_question() -> None:
    assert ends_as_question("Where is it?") and ends_as_question("“Is it?”")
    assert not ends_as_question("opened: 1982 · map: https://maps.example.org/?")


def test_the_message_that_a_question_quotes_says_no_more_than_it() -> None:
    [message, port] = strips(
        structured((BlockKind.CODE, "Cannot append (...)"), (BlockKind.CODE, "port = 80"))
    )
    assert not says_more(message, "What do I do about 'Cannot append'?")
    assert says_more(port, "Is the port 80?") and says_more(message, "What does it say?")


def test_what_a_section_announces_says_nothing() -> None:
    text = "This section shows how to turn the relay into a server."
    [strip] = strips(passage(text))
    assert not says_more(strip, "How do I make a server of the relay?")
    assert says_more(strip, "Which section is about the server?")


def test_where_something_is_told_says_nothing() -> None:
    [pointer, other] = strips(
        passage(
            "Balancing is described in the section called “To a Statement”. The key is found under the mat."
        )
    )
    assert not says_more(pointer, "How do I balance an account?")
    assert says_more(pointer, "Where is balancing described?") and says_more(other, "How do I get in?")


def test_a_line_of_a_table_of_contents_says_nothing() -> None:
    lines = [f"{n} Where do the names of part {n} come from? … {10 + n}" for n in range(1, 4)]
    contents = strips(structured(*((BlockKind.ITEM, line) for line in lines)))
    assert not any(says_more(strip, "Where does the name come from?") for strip in contents)
    prices = strips(structured(*((BlockKind.ITEM, f"Tea of kind {n} … {n}") for n in (3, 2, 4))))
    assert all(says_more(strip, "What does tea cost?") for strip in prices)


def test_a_line_with_an_option_is_a_command() -> None:
    lines = (
        "arrayctl --zero /dev/sdX",
        "rm -r build",
        "See the manual of arrayctl -h for more.",
        "a mere name",
    )
    assert [is_command(*strips(passage(line))) for line in lines] == [True, True, False, False]
