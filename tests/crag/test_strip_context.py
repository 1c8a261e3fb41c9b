"""A strip is judged below its headings, after what leads in to it."""

from __future__ import annotations

from dataclasses import replace

from localcrag.crag.refinement.knowledge_strips import statements, strips
from localcrag.crag.refinement.recomposition import with_surroundings
from localcrag.crag.refinement.strip_context import in_context, judged_text, lead_in, led_to
from localcrag.documents.block_text import BlockText
from localcrag.documents.html_blocks import add_html
from localcrag.types import BlockKind, Passage
from tests.crag.values import HANDBOOK, passage, structured


def passage_of_html(html: str) -> Passage:
    made = BlockText()
    add_html(made, html)
    page = made.page()
    return replace(passage(page.text), blocks=page.blocks)


def test_an_item_is_judged_with_what_leads_in_to_it() -> None:
    *_, lead, _, second = strips(HANDBOOK)
    assert in_context(second) == f"Dose\n{lead.text} a glass of water"
    assert in_context(lead) == f"Dose\n{lead.text}"
    assert in_context(strips(HANDBOOK)[0]) == f"What is Zeldrine?\n{strips(HANDBOOK)[0].text}"


def test_an_item_of_an_inner_list_is_judged_after_the_item_around_it_if_that_goes_on() -> None:
    page = passage_of_html(
        "<p>To open it:</p><ul><li>If it is locked,<ul><li>turn the key.</li><li>push.</li></ul></li>"
        "<li>It may be open.<ul><li>Go in.</li></ul></li></ul>"
    )
    assert [in_context(strip) for strip in strips(page)] == [
        "To open it:",
        "To open it: If it is locked,",
        "If it is locked, turn the key.",
        "If it is locked, push.",
        "To open it: It may be open.",
        "To open it: Go in.",
    ]


def test_an_answer_is_judged_below_the_question_that_the_document_asks() -> None:
    faq = structured(
        (BlockKind.HEADING, "Ordering"),
        (BlockKind.PARAGRAPH, "We bake daily. How late can I\nchange my order?"),
        (BlockKind.PARAGRAPH, "Until four o'clock on the day before. Then no more."),
        (BlockKind.PARAGRAPH, "Is there a minimum? Yes: fifteen pounds in the town."),
    )
    told = {strip.text: in_context(strip) for strip in statements(faq)}
    until, later, least = (
        "Until four o'clock on the day before.",
        "Then no more.",
        "Yes: fifteen pounds in the town.",
    )
    assert told[f"{until} {later}"] == f"Ordering\nHow late can I change my order? {until} {later}"
    assert told[least] == f"Ordering\nIs there a minimum? {least}"


def test_a_later_sentence_of_an_item_is_judged_with_its_term() -> None:
    groups = structured(
        (BlockKind.PARAGRAPH, "These are the groups of a fresh system:"),
        (BlockKind.ITEM, "adm: A group for watching the system. Members of it can read many log files."),
        (BlockKind.ITEM, "A fresh group has no members. It is made by the system."),
    )
    lead, first, second, third, fourth = strips(groups)
    assert lead_in(second) == first and in_context(second) == f"{first.text} {second.text}"
    assert lead_in(first) == lead_in(third) == lead_in(fourth) == lead


def test_a_paragraph_that_speaks_of_this_option_is_judged_and_shown_with_its_item() -> None:
    options = structured(
        (BlockKind.PARAGRAPH, "The options are:"),
        (BlockKind.ITEM, "-k, --keep: Don't delete the input files."),
        (BlockKind.PARAGRAPH, "This option also reads a file that has more than one hard link."),
        (BlockKind.PARAGRAPH, "Files are read one after the other."),
        (BlockKind.ITEM, "Nothing is deleted by it."),
        (BlockKind.PARAGRAPH, "With this option the file stays."),
    )
    _, keep, also, others, item, stays = strips(options)
    assert lead_in(also) == keep and in_context(also) == f"{keep.text} {also.text}"
    assert with_surroundings([also]) == [keep, also]
    assert lead_in(others) is None and lead_in(stays) is None
    assert item.text == "Nothing is deleted by it."


def test_names_of_fields_are_judged_in_words() -> None:
    record = structured((BlockKind.ROW, "items.name: Horn\nitems.on_loan_to: Lena_O"))
    settings = structured((BlockKind.CODE, "[limits]\nmax_body_mb = 25\nidle_seconds = 5"))
    prose = structured((BlockKind.PARAGRAPH, "the_name: This is a sentence."))
    assert judged_text(strips(record)[0]).endswith("name: Horn\non loan to: Lena_O")
    assert judged_text(strips(settings)[1]).endswith("[limits]\nidle seconds = 5")
    assert judged_text(strips(prose)[0]).endswith("the_name: This is a sentence.")


def test_a_strip_is_judged_below_its_headings() -> None:
    flat = replace(passage("It closes at noon."), heading="Rules > Hours")
    assert in_context(strips(flat)[0]) == "Rules > Hours\nIt closes at noon."
    assert in_context(strips(passage("It closes at noon."))[0]) == "It closes at noon."


def test_a_list_that_nothing_leads_in_to_has_no_lead_in() -> None:
    alone = structured((BlockKind.PARAGRAPH, "It rains."), (BlockKind.ITEM, "an umbrella"))
    assert lead_in(strips(alone)[1]) is None
    first = structured((BlockKind.ITEM, "an umbrella"), (BlockKind.ITEM, "a coat"))
    assert [lead_in(strip) for strip in strips(first)] == [None, None]


def test_a_row_is_judged_below_the_question_above_its_table() -> None:
    found = structured(
        (BlockKind.PARAGRAPH, "How much is it?"),
        (BlockKind.ROW, "Ticket: Adult · Price: 6"),
        (BlockKind.ROW, "Ticket: Child · Price: 3"),
    )
    assert judged_text(strips(found)[-1]) == "How much is it? Ticket: Child · Price: 3"


def test_what_a_mail_says_of_me_is_judged_after_the_name_of_its_sender() -> None:
    texts = (
        (BlockKind.ROW, "From: Marit Solheim <marit@example.org> · To: me@example.org"),
        (BlockKind.PARAGRAPH, "I am on leave, and Per stands in for me."),
        (BlockKind.PARAGRAPH, "The boat leaves at six."),
        (BlockKind.PARAGRAPH, "Ich bin im Mai da."),
    )
    mail = replace(structured(*texts), meta={"from": "Marit Solheim <marit@example.org>"}, title="Winter")
    header, mine, boat, german = (judged_text(strip) for strip in strips(mail))
    assert mine == "Winter\nMarit Solheim: I am on leave, and Per stands in for me."
    assert german == "Winter\nMarit Solheim: Ich bin im Mai da."
    assert boat == "Winter\nThe boat leaves at six." and "Marit Solheim: " not in header
    quoted = replace(mail, heading="On 3 May, Per wrote:")
    assert not any("Marit Solheim: " in judged_text(strip) for strip in strips(quoted))
    without = replace(mail, meta={"from": "marit@example.org"})
    assert judged_text(strips(without)[1]) == "Winter\nI am on leave, and Per stands in for me."


def test_what_a_statement_says_of_me_is_judged_after_how_it_introduces_its_speaker() -> None:
    made = structured(
        (BlockKind.PARAGRAPH, "Taken on 2 May by R. Oakes. I am Per Lund, 34, night porter of the mill."),
        (BlockKind.PARAGRAPH, "The lamp was lit when I made my round. The planks were dry and clean."),
    )
    _, first, mine, other = strips(made)
    assert judged_text(mine).startswith("Per Lund, 34, night porter of the mill: The lamp was lit")
    assert judged_text(other) == other.text
    assert judged_text(first) == first.text, "it introduces itself"


def test_a_paragraph_of_an_item_is_judged_below_what_the_item_is_called() -> None:
    text = "No more than 64 can be joined."
    flat = structured(
        (BlockKind.HEADING, "Limits"),
        (BlockKind.ITEM, "Tables in a join"),
        (BlockKind.PARAGRAPH, text),
        (BlockKind.CODE, "limit = 64"),
        (BlockKind.PARAGRAPH, "It cannot be raised."),
        (BlockKind.ITEM, "-k, --keep: Don't delete the input files, which is what is done without it."),
        (BlockKind.PARAGRAPH, "A copy is kept."),
        (BlockKind.ITEM, "Everything else is free."),
        (BlockKind.PARAGRAPH, "So it is."),
        (BlockKind.PARAGRAPH, "That is all."),
    )
    *inside, last = flat.blocks
    in_list = (replace(each, level=int(each.kind is not BlockKind.ITEM)) for each in inside)
    limits = replace(flat, blocks=(*in_list, last))
    told = {strip.text: in_context(strip) for strip in strips(limits)}
    assert told[text] == f"Limits\nTables in a join\n{text}"
    assert told["It cannot be raised."] == "Limits\nTables in a join\nIt cannot be raised."
    assert told["A copy is kept."] == "Limits\n-k, --keep\nA copy is kept."
    assert told["So it is."] == "Limits\nSo it is." and told["That is all."] == "Limits\nThat is all."


def test_a_sentence_that_stops_at_the_end_of_a_page_leads_to_its_end_on_the_next_one() -> None:
    torn = structured((BlockKind.PARAGRAPH, "In this window you need to enter the"))
    rest = "Date and the balance. " + "All else is told by the rest of a long paragraph. " * 8
    following = replace(structured((BlockKind.PARAGRAPH, rest.strip()), start=90), ordinal=1)
    [strip] = strips(torn)
    assert [each.text for each in led_to(strip, lambda _: [following])] == ["Date and the balance."]
    [whole] = strips(structured((BlockKind.PARAGRAPH, "In this window you enter it:")))
    assert led_to(whole, lambda _: [following]) == [], "a long paragraph is none to lead to"
