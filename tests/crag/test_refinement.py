"""Strips: cut without loss, judged, kept in order, joined where they touch."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag.refinement import (
    MAX_LED_TO,
    before_mark,
    completed,
    in_context,
    is_row,
    joined,
    judged_text,
    lead_in,
    narrowed,
    numbered,
    prose_of,
    refine,
    says_more,
    shown_text,
    standing_out,
    statements,
    strips,
    whole,
    windows,
    with_surroundings,
)
from localcrag.crag.strip_spans import sentences
from localcrag.types import Block, BlockKind, Passage
from tests.crag.values import passage

TEXT = (
    "Steam engines came first. They were large and slow machines. "
    "Dr. Watt made them better in 1769. See p. 4."
)


def judged(*words: str) -> list[float]:
    """The scores of a judge of TEXT's strips that likes those with one of the words."""
    return [0.9 if any(word in strip.text for word in words) else 0.1 for strip in strips(passage(TEXT))]


@given(st.text(alphabet="ab. \n!?–é“”1|-*)", max_size=80))
def test_sentences_cover_all_but_white_space_once(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(a < b and text[a:b] == text[a:b].strip() for a, b in spans)


def test_strips_keep_their_span_in_the_stored_text() -> None:
    stored = "A page begins here. " + TEXT
    cut = strips(passage(TEXT, start=20))
    assert [stored[s.start : s.end] for s in cut] == [s.text for s in cut]
    assert [s.text for s in cut] == [
        "Steam engines came first.",
        "They were large and slow machines.",
        "Dr. Watt made them better in 1769. See p. 4.",
    ]


def test_a_row_of_a_table_is_one_strip() -> None:
    row = "Kind: Boat · Note: See p. 4. Paid at once. · Fee: 75 EUR"
    text = f"What it costs:\n\n{row}\n\nKind: Car · Fee: 48 EUR"
    assert [s.text for s in strips(passage(text))] == text.split("\n\n")


def structured(*parts: tuple[BlockKind, str], start: int = 7) -> Passage:
    """A passage of blocks with a blank line between them; an item has a marker before it."""
    text, blocks = "", []
    for kind, part in parts:
        text += ("\n\n" if text else "") + ("- " if kind is BlockKind.ITEM else "")
        blocks.append(Block(kind, start + len(text), start + len(text) + len(part)))
        text += part
    return replace(passage(text, start=start), blocks=tuple(blocks))


HANDBOOK = structured(
    (BlockKind.HEADING, "What is Zeldrine?"),
    (BlockKind.PARAGRAPH, "Zeldrine is a drug of the Orlan company. It is new."),
    (BlockKind.HEADING, "Dose"),
    (BlockKind.PARAGRAPH, "Twice a day."),
    (BlockKind.FURNITURE, "Handbook, page 7"),
    (BlockKind.ROW, "Age: 6. or 7. · Dose: half. A tablet."),
    (BlockKind.CODE, "# a comment\nrun()\n\nstop()"),
    (BlockKind.PARAGRAPH, "It is quite new. Before you take it, you need both of these:"),
    (BlockKind.ITEM, "a prescription of a doctor"),
    (BlockKind.ITEM, "a glass of water"),
)


def test_a_strip_lies_within_a_block_and_headings_and_furniture_are_none() -> None:
    cut = strips(HANDBOOK)
    assert [s.text for s in cut] == [
        "Zeldrine is a drug of the Orlan company. It is new.",
        "Twice a day.",
        "Age: 6. or 7. · Dose: half. A tablet.",
        "# a comment\nrun()",
        "stop()",
        "It is quite new.",
        "Before you take it, you need both of these:",
        "a prescription of a doctor",
        "a glass of water",
    ]
    assert all(HANDBOOK.text[s.start - 7 : s.end - 7] == s.text for s in cut)
    assert strips(structured((BlockKind.HEADING, "What is Zeldrine?"))) == []


def test_an_item_is_judged_and_shown_with_what_leads_in_to_it() -> None:
    *_, lead, first, second = strips(HANDBOOK)
    assert in_context(second) == f"Dose\n{lead.text} a glass of water"
    assert in_context(lead) == f"Dose\n{lead.text}"
    assert in_context(strips(HANDBOOK)[0]) == f"What is Zeldrine?\n{strips(HANDBOOK)[0].text}"
    assert [s.text for s in with_surroundings([second])] == [lead.text, second.text]
    assert [s.text for s in with_surroundings([lead, first])] == [lead.text, first.text]
    [shown] = joined(with_surroundings([first, second]))
    assert shown.text == f"{lead.text}\n\n- {first.text}\n\n- {second.text}"
    assert HANDBOOK.text[shown.start - 7 : shown.end - 7] == shown.text


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


def test_a_window_does_not_end_with_a_question() -> None:
    asked = structured(
        (BlockKind.PARAGRAPH, "The order can be changed until four."),
        (BlockKind.PARAGRAPH, "Is there a minimum for an order?"),
    )
    assert [window.text for window in windows(asked)] == ["The order can be changed until four."]


def test_lines_that_stand_for_themselves_are_shown_as_lines() -> None:
    log = "10:00:01 INFO  started on port 80\n10:00:07 WARN  the disk is full"
    entries = structured((BlockKind.PARAGRAPH, log))
    [window] = windows(entries)
    assert shown_text(window) == "10:00:01 INFO started on port 80\n10:00:07 WARN the disk is full"


def test_a_later_sentence_of_an_item_is_judged_and_shown_with_its_term() -> None:
    groups = structured(
        (BlockKind.PARAGRAPH, "These are the groups of a fresh system:"),
        (BlockKind.ITEM, "adm: A group for watching the system. Members of it can read many log files."),
        (BlockKind.ITEM, "A fresh group has no members. It is made by the system."),
    )
    lead, first, second, third, fourth = strips(groups)
    assert lead_in(second) == first and in_context(second) == f"{first.text} {second.text}"
    assert [s.text for s in with_surroundings([second])] == [first.text, second.text]
    assert lead_in(first) == lead_in(third) == lead_in(fourth) == lead


def test_names_of_fields_are_judged_in_words_and_shown_without_their_path() -> None:
    record = structured((BlockKind.ROW, "items.name: Horn\nitems.on_loan_to: Lena_O"))
    settings = structured((BlockKind.CODE, "[limits]\nmax_body_mb = 25\nidle_seconds = 5"))
    prose = structured((BlockKind.PARAGRAPH, "the_name: This is a sentence."))
    assert judged_text(strips(record)[0]).endswith("name: Horn\non loan to: Lena_O")
    assert judged_text(strips(settings)[1]).endswith("[limits]\nidle seconds = 5")
    assert judged_text(strips(prose)[0]).endswith("the_name: This is a sentence.")
    assert shown_text(strips(record)[0]) == "name: Horn · on_loan_to: Lena_O"


def test_a_sentence_brings_the_code_or_the_list_that_its_colon_leads_to() -> None:
    made = structured(
        (BlockKind.PARAGRAPH, "It is off at first. Using this flag looks like this:"),
        (BlockKind.CODE, "$ run --now"),
        (BlockKind.PARAGRAPH, "You need both of these:"),
        (BlockKind.ITEM, "a prescription"),
        (BlockKind.ITEM, "a glass of water"),
        (BlockKind.PARAGRAPH, "And this goes nowhere:"),
        (BlockKind.PARAGRAPH, "A paragraph."),
    )
    off, flag, code, need, first, second, nowhere, _ = strips(made)
    assert [s.text for s in with_surroundings([flag])] == [flag.text, code.text]
    assert [s.text for s in with_surroundings([off])] == [off.text]
    assert [s.text for s in with_surroundings([need])] == [need.text, first.text, second.text]
    assert [s.text for s in with_surroundings([need, second])] == [need.text, second.text]
    assert [s.text for s in with_surroundings([nowhere])] == [nowhere.text]
    [shown] = joined(with_surroundings([flag]))
    assert shown_text(shown) == f"{flag.text}\n$ run --now"


def test_of_a_long_list_only_the_first_items_follow_the_sentence_that_leads_to_it() -> None:
    items = [(BlockKind.ITEM, f"item number {n}") for n in range(3 * MAX_LED_TO)]
    made = structured((BlockKind.PARAGRAPH, "These are all:"), *items)
    assert len(with_surroundings(strips(made)[:1])) == 1 + MAX_LED_TO


def test_a_strip_is_judged_below_its_headings() -> None:
    flat = replace(passage("It closes at noon."), heading="Rules > Hours")
    assert in_context(strips(flat)[0]) == "Rules > Hours\nIt closes at noon."
    assert in_context(strips(passage("It closes at noon."))[0]) == "It closes at noon."


def test_a_list_that_nothing_leads_in_to_has_no_lead_in() -> None:
    alone = structured((BlockKind.PARAGRAPH, "It rains."), (BlockKind.ITEM, "an umbrella"))
    assert lead_in(strips(alone)[1]) is None
    first = structured((BlockKind.ITEM, "an umbrella"), (BlockKind.ITEM, "a coat"))
    assert [lead_in(strip) for strip in strips(first)] == [None, None]


def test_windows_are_runs_of_sentences_that_cover_the_passage_in_order() -> None:
    stored = "A page begins here. " + TEXT
    cut = windows(passage(TEXT, start=20), 2)
    assert [s.text for s in cut] == [
        "Steam engines came first. They were large and slow machines.",
        "Dr. Watt made them better in 1769. See p. 4.",
    ]
    assert [stored[s.start : s.end] for s in cut] == [s.text for s in cut]


def test_the_number_of_an_item_belongs_to_the_item() -> None:
    text = (
        "You must do this first of all. 2. Then you must do that as well. (b) And this one comes last. Yes."
    )
    assert [s.text for s in strips(passage(text))] == [
        "You must do this first of all.",
        "2. Then you must do that as well.",
        "(b) And this one comes last. Yes.",
    ]


def test_a_row_of_a_table_and_an_item_of_a_list_are_strips_of_their_own() -> None:
    text = (
        "These are the settings that there are:\n"
        "| name | what it is for |\n| `web.url` | address of your search |\n"
        "| `web.results` | results read |\n"
        "And these are the ways to set them:\n- on the command line\n- in the file, or in the environment\n"
        "1. First comes the flag, as everywhere\n2. then the file\n"
    )
    stored = "Before. " + text
    cut = strips(passage(text, start=8))
    assert [stored[s.start : s.end] for s in cut] == [s.text for s in cut]
    assert [s.text for s in cut if "web." in s.text] == [
        "| `web.url` | address of your search |",
        "| `web.results` | results read |",
    ]
    assert "And these are the ways to set them:" in [s.text for s in cut]
    assert "- in the file, or in the environment" in [s.text for s in cut]


def test_the_best_are_kept_in_document_order_and_the_rest_counted() -> None:
    kept, dropped = refine(strips(passage(TEXT)), judged("Watt", "Steam"), limit=5, floor=0.5, keep_best=True)
    assert [s.text.split()[0] for s in kept] == ["Steam", "Dr."]
    assert dropped == 1


def test_the_best_strip_is_kept_below_the_floor_only_if_that_is_asked_for() -> None:
    kept, dropped = refine(strips(passage(TEXT)), judged("Watt"), limit=5, floor=0.95, keep_best=True)
    assert [s.text.split()[0] for s in kept] == ["Dr."]
    assert dropped == 2
    assert refine(strips(passage(TEXT)), judged("Watt"), limit=5, floor=0.95, keep_best=False) == ([], 3)


def test_a_strip_stands_out_if_it_is_five_times_as_probable_as_the_next() -> None:
    first, *others = cut = strips(passage(TEXT))
    assert others
    assert standing_out(cut, [0.05] + [0.01] * len(others)) == [replace(first, score=0.05)]
    assert standing_out(cut, [0.049] + [0.01] * len(others)) == []
    assert standing_out([first], [0.01]) == [replace(first, score=0.01)] and standing_out([], []) == []


def test_less_is_enough_if_it_alone_has_a_word_of_the_question() -> None:
    cut = strips(passage(TEXT))
    scores = [0.01, 0.01, 0.03]
    assert standing_out(cut, scores, "Who improved them in 1769?") == [replace(cut[2], score=0.03)]
    assert standing_out(cut, scores, "Who made the machines better?") != []
    assert standing_out(cut, scores, "Which machines were large?") == [], "other strips have these words"
    assert standing_out(cut, [0.01, 0.013, 0.03], "Who improved them in 1769?") == []


def test_windows_end_at_a_heading() -> None:
    cut = windows(
        structured(
            (BlockKind.HEADING, "Notice"),
            (BlockKind.PARAGRAPH, "Three months are the rule. A move is an exception."),
            (BlockKind.HEADING, "Animals"),
            (BlockKind.PARAGRAPH, "A dog needs our consent. Two cats at most are allowed."),
        )
    )
    assert [strip.text for strip in cut] == [
        "Three months are the rule. A move is an exception.",
        "A dog needs our consent. Two cats at most are allowed.",
    ]


@pytest.mark.parametrize("mark", ["?", "?”", "？"])
def test_a_question_in_a_document_is_no_evidence(mark: str) -> None:
    mail = passage(f"They wrote: what was wrong with the boiler{mark} The heat exchanger had a crack.")
    assert [strip.text for strip in statements(mail)] == ["The heat exchanger had a crack."]


def test_a_name_that_has_only_words_of_the_question_says_nothing() -> None:
    def says(text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> bool:
        (strip,) = strips(structured((kind, text)))
        return says_more(strip, "How do I show progress bars while I wait?")

    assert not says("Progress Bars")
    assert says("Progress bars show.") and says("Progress bars of Rich") and says("Yes, you may")
    assert says("Progress bar", BlockKind.ROW) and says("progress.bar", BlockKind.CODE)


def test_a_mere_name_above_other_items_is_not_shown() -> None:
    def shown(lead: str) -> list[str]:
        items = ((BlockKind.ITEM, "Number of instances: 150"), (BlockKind.ITEM, "Number of attributes: 4"))
        _, first, second = strips(structured((BlockKind.PARAGRAPH, lead), *items))
        assert [strip.text for strip in with_surroundings([first])] == [lead, first.text]
        return [strip.text for strip in with_surroundings([second])]

    assert shown("Data set characteristics:") == ["Number of attributes: 4"]
    assert shown("These are not part of it:") == ["These are not part of it:", "Number of attributes: 4"]


def test_no_more_than_the_limit_is_kept() -> None:
    kept, dropped = refine(strips(passage(TEXT)), judged("a"), limit=1, floor=0.0, keep_best=False)
    assert (len(kept), dropped) == (1, 2)


def test_strips_that_touch_become_one_and_others_do_not() -> None:
    one = passage(TEXT, id="one")
    first, second, third = strips(one)
    assert [s.text for s in joined([first, second])] == [
        "Steam engines came first. They were large and slow machines."
    ]
    assert joined([first, third]) == [first, third]
    other = strips(passage(TEXT, id="other"))[1]
    assert joined([first, other]) == [first, other]


def test_without_an_evaluator_a_passage_is_one_strip_and_keys_count_from_one() -> None:
    strip = whole(passage(TEXT, start=7), 0.8)
    assert (strip.start, strip.end, strip.score) == (7, 7 + len(TEXT), 0.8)
    assert [item.key for item in numbered([strip, strip])] == [1, 2]


def test_what_is_shown_has_lines_only_where_they_mean_something() -> None:
    *_, code, _, _, _, first, second = strips(HANDBOOK)
    assert shown_text(code) == "# a comment\nrun()"
    [listed] = joined(with_surroundings([first, second]))
    lead = "Before you take it, you need both of these:"
    assert shown_text(listed) == f"{lead}\n• a prescription of a doctor\n• a glass of water"
    assert shown_text(second) == "a glass of water"
    wrapped = structured((BlockKind.PARAGRAPH, "It is\nwrapped."))
    assert (
        shown_text(strips(wrapped)[0])
        == shown_text(strips(passage("It is\nwrapped."))[0])
        == "It is wrapped."
    )


def test_rows_of_a_table_stay_apart_where_sentences_are_joined() -> None:
    table = structured((BlockKind.ROW, "Kind: Boat · Fee: 75"), (BlockKind.ROW, "Kind: Car · Fee: 48"))
    assert [s.text for s in joined(strips(table))] == ["Kind: Boat · Fee: 75", "Kind: Car · Fee: 48"]
    assert all(map(is_row, strips(table))) and not any(map(is_row, strips(passage(TEXT))))


def test_a_record_of_several_lines_is_shown_in_one() -> None:
    record = structured((BlockKind.ROW, "building: 9\ncause: a dry rail"))
    assert shown_text(strips(record)[0]) == "building: 9 · cause: a dry rail"


@pytest.mark.parametrize("nothing", ["–", "-", "—", "n/a", "/"])
def test_a_last_cell_that_says_nothing_is_shown_as_it_stands(nothing: str) -> None:
    for text in (f"From: 2 May · Until: {nothing}", f"2 May · {nothing}"):
        assert shown_text(strips(structured((BlockKind.ROW, text)))[0]) == text
    assert shown_text(strips(passage(f"Until: {nothing}"))[0]) == f"Until: {nothing}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("- a photo of yourself,", "a photo of yourself"),
        ("• Fee: 35 EUR ·", "Fee: 35 EUR"),
        ("| Fee | 35 EUR |", "Fee | 35 EUR"),
        ("It is 35 EUR –", "It is 35 EUR"),
        ("-5 degrees, at night.", "-5 degrees, at night."),
        ("•", "•"),
    ],
)
def test_a_quotation_has_no_marker_in_front_and_no_separator_behind(text: str, shown: str) -> None:
    assert shown_text(strips(passage(text))[0]) == shown


def test_behind_code_the_citation_has_a_line_of_its_own() -> None:
    *_, code, _, _, _, _, second = strips(HANDBOOK)
    assert before_mark(code) == "# a comment\nrun()\n" and before_mark(second) == "a glass of water "


@pytest.mark.parametrize(
    ("language", "cut"),
    [
        (
            "de",
            ["Das gilt z. B. bis zum 3. Oktober 2020 nach Nr. 5 der Verordnung.", "Danach gilt es nicht."],
        ),
        ("fr", ["M. Dupont a payé la redevance de 35 € au printemps.", "Le retard coûte 5 € de plus."]),
        ("es", ["El Sr. Pérez vive en la Av. Juárez desde hace años.", "¿Cuánto paga por su barco?"]),
        ("zh", ["摩托车的费用是三十五欧元。", "逾期付款要多付五欧元！", "什么时候应该付款？"]),
        ("ja", ["料金は三十五ユーロです。", "遅れると五ユーロ高くなります。"]),
    ],
)
def test_sentences_end_as_in_the_language_of_the_passage(language: str, cut: list[str]) -> None:
    text = ("" if language in ("zh", "ja") else " ").join(cut)
    assert [strip.text for strip in strips(passage(text))] == cut


def test_a_language_that_a_document_declares_counts() -> None:
    text = "Siehe Nr. 5 der Norm. Ende."
    told = replace(passage(text), meta={"language": "de-AT"})
    assert [text[a:b] for a, b in sentences(text, "de")] == ["Siehe Nr. 5 der Norm.", "Ende."]
    assert [strip.text for strip in strips(told)] == [text]  # the second is too short to stand alone
    assert len(strips(replace(told, text=f"{text} Es gilt für alle Boote."))) == 2


def test_the_best_strip_is_quoted_with_the_rest_of_its_short_paragraph() -> None:
    short = "gnats: Used by gnats. It had the number 41."
    long = f"{'A long sentence about mail. ' * 20}This also decides who reads it."
    found = structured(
        (BlockKind.ITEM, short),
        (BlockKind.PARAGRAPH, long),
        (BlockKind.PARAGRAPH, "Rent: 40 euros\nDeposit: 90 euros"),
        (BlockKind.CODE, "port = 80\nhost = 1"),
    )
    cut = strips(found)
    assert [strip.text for strip in completed([replace(cut[0], score=0.9), cut[1]])] == [short, short]
    assert [strip.text for strip in completed([replace(cut[1], score=0.9), cut[0]])] == [short]
    assert [strip.text for strip in completed([cut[0], replace(cut[2], score=0.9)])] == [
        *(cut[0].text, cut[2].text)
    ]
    referring = cut[-5]
    assert referring.text == "This also decides who reads it."
    [shown] = completed([referring])
    assert shown.text == "A long sentence about mail. This also decides who reads it."
    for other in cut[-4:]:
        assert completed([other]) == [other]
    assert completed([]) == []
    sure = replace(cut[0], score=0.9)
    assert completed([sure], 0.55) == [sure], "a sentence that surely answers is enough"


def test_of_a_window_of_rows_those_with_the_words_of_the_question_are_shown() -> None:
    rows = ("Item: Rent · Due: 1 May", "Item: Deposit · Due: 2 May", "Item: Parking · Due: 3 May")
    [window] = windows(structured(*((BlockKind.ROW, row) for row in rows)))
    assert [row.text for row in narrowed(window, "How much is the deposit?")] == [rows[1]]
    assert narrowed(window, "How much is it?") == [window]
    [prose] = windows(structured((BlockKind.PARAGRAPH, TEXT)), 9)
    assert narrowed(prose, "Watt?") == [prose]


def test_a_window_is_of_rows_of_one_block_of_code_or_of_prose() -> None:
    cut = windows(
        structured(
            (BlockKind.PARAGRAPH, "These are the settings."),
            (BlockKind.CODE, "a = 1\nb = 2"),
            (BlockKind.CODE, "c = 3\nd = 4"),
            (BlockKind.ROW, "Item: Rent · Due: 1 May"),
        )
    )
    assert [strip.text for strip in cut] == [
        *("These are the settings.", "a = 1\nb = 2", "c = 3\nd = 4", "Item: Rent · Due: 1 May")
    ]


def test_rows_and_code_are_no_prose() -> None:
    found = structured((BlockKind.PARAGRAPH, "Fees."), (BlockKind.ROW, "A: b"), (BlockKind.CODE, "x = 1"))
    assert prose_of(found) == "Fees."
    assert prose_of(passage("Plain.")) == "Plain."


def test_a_row_is_judged_below_the_question_above_its_table() -> None:
    found = structured(
        (BlockKind.PARAGRAPH, "How much is it?"),
        (BlockKind.ROW, "Ticket: Adult · Price: 6"),
        (BlockKind.ROW, "Ticket: Child · Price: 3"),
    )
    assert judged_text(strips(found)[-1]) == "How much is it? Ticket: Child · Price: 3"
