"""Kept strips, with what they are read with, and joined where they touch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.strip_display import shown_text
from localcrag.crag.refinement.completed_quotations import completed_quotations
from localcrag.crag.refinement.knowledge_strips import strip_at, strips, whole
from localcrag.crag.refinement.recomposition import joined, numbered, with_surroundings
from localcrag.crag.refinement.strip_context import MAX_LED_TO
from localcrag.crag.refinement.strip_kinds import is_row
from localcrag.crag.refinement.telling_headings import with_telling_headings
from localcrag.types import BlockKind, Passage
from tests.crag.values import HANDBOOK, TEXT, passage, structured


def test_an_item_is_shown_with_what_leads_in_to_it() -> None:
    *_, lead, first, second = strips(HANDBOOK)
    assert [s.text for s in with_surroundings([second])] == [lead.text, second.text]
    assert [s.text for s in with_surroundings([lead, first])] == [lead.text, first.text]
    [shown] = joined(with_surroundings([first, second]))
    assert shown.text == f"{lead.text}\n\n- {first.text}\n\n- {second.text}"
    assert HANDBOOK.text[shown.start - 7 : shown.end - 7] == shown.text


def test_a_sentence_that_begins_in_its_heading_is_shown_with_it() -> None:
    heading = "Pump back from Lund: sensor 265, post 19. The guarantee was over"
    for text, shown in (("since June.", [heading, "since June."]), ("It leaks.", ["It leaks."])):
        made = structured((BlockKind.HEADING, heading), (BlockKind.PARAGRAPH, text))
        assert [s.text for s in with_surroundings(strips(made)[-1:])] == shown


def test_a_sentence_brings_the_rows_of_the_narrow_table_that_it_leads_to() -> None:
    lead, wide = "These directories must be there:", "Directory: bin · Description: " + "commands " * 20
    rows = ["Directory: bin · Description: commands", "Directory: etc · Description: settings"]
    made = structured((BlockKind.PARAGRAPH, lead), *((BlockKind.ROW, row) for row in rows))
    first, second, third = strips(made)
    assert [s.text for s in with_surroundings([first])] == [lead, *rows]
    assert [s.text for s in with_surroundings([first, third])] == [lead, third.text]
    assert [s.text for s in with_surroundings([first, second], whole_lists=True)] == [lead, second.text]
    too_wide = structured((BlockKind.PARAGRAPH, lead), (BlockKind.ROW, wide), (BlockKind.ROW, wide))
    assert [s.text for s in with_surroundings(strips(too_wide)[:1])] == [lead]


def test_what_a_sentence_leads_to_may_stand_in_the_next_passage() -> None:
    before = structured((BlockKind.PARAGRAPH, "You need:"), (BlockKind.FURNITURE, "Page 3"), start=0)
    rest = ((BlockKind.FURNITURE, "A guide"), (BlockKind.ITEM, "a glass of water"))
    after = replace(structured(*rest, start=900), ordinal=1)
    turned = replace(structured(*rest, start=0), page=4, ordinal=1)
    earlier = replace(structured(*rest, start=0), ordinal=-1)
    [lead] = strips(before)
    alone = [lead.text]
    assert [s.text for s in with_surroundings([lead])] == alone
    assert [s.text for s in with_surroundings([lead], lambda _: [after])] == ["You need:", "a glass of water"]
    assert [s.text for s in with_surroundings([lead], lambda _: [turned])] == alone
    assert [s.text for s in with_surroundings([lead], lambda _: [earlier])] == alone
    listed = structured((BlockKind.ITEM, "a spoon"), (BlockKind.PARAGRAPH, "You need:"), start=0)
    assert [s.text for s in with_surroundings(strips(listed)[1:], lambda _: [])] == alone
    on_page = replace(lead, passage=replace(before, page=3))
    assert len(with_surroundings([on_page], lambda _: [turned])) == 2


def test_a_later_sentence_of_an_item_is_shown_with_its_term() -> None:
    groups = structured(
        (BlockKind.PARAGRAPH, "These are the groups of a fresh system:"),
        (BlockKind.ITEM, "adm: A group for watching the system. Members of it can read many log files."),
    )
    _, first, second = strips(groups)
    assert [s.text for s in with_surroundings([second])] == [first.text, second.text]


def test_a_sentence_brings_the_code_or_the_list_that_its_colon_leads_to() -> None:
    made = structured(
        (BlockKind.PARAGRAPH, "It is off at first. Using this flag looks like this:"),
        (BlockKind.CODE, "$ run --now"),
        (BlockKind.PARAGRAPH, "You need both of these:"),
        (BlockKind.ITEM, "a prescription"),
        (BlockKind.ITEM, "a glass of water"),
        (BlockKind.PARAGRAPH, "This goes to a formula:"),
        (BlockKind.PARAGRAPH, "width times height gives the area"),
        (BlockKind.PARAGRAPH, "And this goes nowhere:"),
        (BlockKind.PARAGRAPH, "A paragraph that is long. " * 20),
    )
    off, flag, code, need, first, second, formula, area, nowhere, *_ = strips(made)
    assert [s.text for s in with_surroundings([flag])] == [flag.text, code.text]
    assert [s.text for s in with_surroundings([off])] == [off.text]
    assert [s.text for s in with_surroundings([need])] == [need.text, first.text, second.text]
    assert [s.text for s in with_surroundings([need, second])] == [need.text, second.text]
    steps = with_surroundings([need, second], whole_lists=True)
    assert [s.text for s in steps] == [need.text, first.text, second.text]
    assert [s.text for s in with_surroundings([formula])] == [formula.text, area.text]
    assert [s.text for s in with_surroundings([nowhere])] == [nowhere.text]
    [shown] = joined(with_surroundings([flag]))
    assert shown_text(shown) == f"{flag.text}\n$ run --now"


def test_a_sentence_that_does_not_end_leads_to_the_code_below_it_and_code_brings_it() -> None:
    made = structured(
        (BlockKind.PARAGRAPH, "Packages can go in two ways. From a prompt they are removed by"),
        (BlockKind.CODE, "pkg remove one"),
        (BlockKind.PARAGRAPH, "That is all there is to it."),
        (BlockKind.CODE, "pkg list"),
        (BlockKind.PARAGRAPH, "Here it is drawn:"),
        (BlockKind.CODE, "☛   ✟"),
    )
    _, prompt, remove, ended, listing, drawn, *_ = strips(made)
    assert [s.text for s in with_surroundings([prompt])] == [prompt.text, remove.text]
    assert [s.text for s in with_surroundings([remove])] == [prompt.text, remove.text]
    assert [s.text for s in with_surroundings([ended, listing])] == [ended.text, listing.text]
    assert [s.text for s in with_surroundings([listing])] == [listing.text]
    assert [s.text for s in with_surroundings([drawn])] == [drawn.text]


def test_the_caption_of_a_formula_is_one_strip_and_brings_the_formula() -> None:
    made = structured(
        (BlockKind.PARAGRAPH, "Equation 2.1. The static accounting equation"),
        (BlockKind.PARAGRAPH, "Assets - Liabilities = Equity"),
        (BlockKind.PARAGRAPH, "Figure 3. How they move. The arrows mean money."),
        (BlockKind.PARAGRAPH, "This one is about something else."),
    )
    caption, equation, figure, *_ = strips(made)
    assert caption.text == "Equation 2.1. The static accounting equation"
    [shown] = joined(with_surroundings([caption]))
    assert shown_text(shown) == f"{caption.text}\n{equation.text}"
    assert [s.text for s in with_surroundings([figure])] == [figure.text]


@pytest.mark.parametrize(
    ("lead", "address"),
    [
        ("To leave the list, please send mail to", "list-REQUEST@example.org"),
        ("To leave the list, please write to", "<list>-leave@example.org"),
    ],
)
def test_a_sentence_that_stops_at_a_preposition_goes_on_with_the_address_and_the_rest_below_it(
    lead: str, address: str
) -> None:
    parts = (lead, address, "with the word `leave'.", "Ask us.")
    made = structured(*((BlockKind.PARAGRAPH, part) for part in parts))
    assert [s.text for s in with_surroundings(strips(made)[:1])] == list(parts[:3])


def test_a_sentence_that_ends_is_not_gone_on_with() -> None:
    ended = structured((BlockKind.PARAGRAPH, "Send mail."), (BlockKind.PARAGRAPH, "list@example.org"))
    assert [s.text for s in with_surroundings(strips(ended)[:1])] == ["Send mail."]


def test_of_a_long_list_only_the_first_items_follow_the_sentence_that_leads_to_it() -> None:
    items = [(BlockKind.ITEM, f"item number {n}") for n in range(3 * MAX_LED_TO)]
    made = structured((BlockKind.PARAGRAPH, "These are all:"), *items)
    assert len(with_surroundings(strips(made)[:1])) == 1 + MAX_LED_TO


def test_pictures_between_the_steps_of_a_list_do_not_end_it() -> None:
    made = structured(
        (BlockKind.PARAGRAPH, "To create one, perform the following steps:"),
        (BlockKind.ITEM, "Open the window of the program."),
        (BlockKind.CAPTION, "Figure 1. The window of the program"),
        (BlockKind.ITEM, "Enter the name that it should have."),
        (BlockKind.PARAGRAPH, "That is all there is to it."),
        (BlockKind.ITEM, "An item of another list altogether."),
    )
    lead, first, _, second, *_ = strips(made)
    assert [s.text for s in with_surroundings([lead])] == [lead.text, first.text, second.text]
    assert [s.text for s in with_surroundings([second])] == [lead.text, second.text]


def test_what_a_step_goes_on_with_does_not_end_the_list_and_its_code_is_shown() -> None:
    made = structured(
        (BlockKind.PARAGRAPH, "To create one, perform the following steps:"),
        (BlockKind.ITEM, "Open a window of the terminal, and type this:"),
        (BlockKind.CODE, "make new"),
        (BlockKind.PARAGRAPH, "It takes a minute or so on most machines."),
        (BlockKind.ITEM, "Enter the name that it should have."),
    )
    inside = tuple(replace(b, level=int(at in (2, 3))) for at, b in enumerate(made.blocks))
    lead, first, code, _, second = strips(replace(made, blocks=inside))
    assert [s.text for s in with_surroundings([lead])] == [lead.text, first.text, code.text, second.text]
    outside, *_ = strips(made)
    assert [s.text for s in with_surroundings([outside])] == [lead.text, first.text]


def test_a_mere_name_above_other_items_is_not_shown() -> None:
    def shown(lead: str) -> list[str]:
        items = ((BlockKind.ITEM, "Number of instances: 150"), (BlockKind.ITEM, "Number of attributes: 4"))
        _, first, second = strips(structured((BlockKind.PARAGRAPH, lead), *items))
        assert [strip.text for strip in with_surroundings([first])] == [lead, first.text]
        return [strip.text for strip in with_surroundings([second])]

    assert shown("Data set characteristics:") == ["Number of attributes: 4"]
    assert shown("These are not part of it:") == ["These are not part of it:", "Number of attributes: 4"]


def test_strips_that_touch_become_one_and_others_do_not() -> None:
    one = passage(TEXT, id="one")
    first, second, third = strips(one)
    assert [s.text for s in joined([first, second])] == [
        "Steam engines came first. They were large and slow machines."
    ]
    assert joined([first, third]) == [first, third]
    other = strips(passage(TEXT, id="other"))[1]
    assert joined([first, other]) == [first, other]


def test_keys_count_from_one() -> None:
    strip = whole(passage(TEXT, start=7), 0.8)
    assert [item.key for item in numbered([strip, strip])] == [1, 2]


def test_rows_of_a_table_stay_apart_where_sentences_are_joined() -> None:
    table = structured((BlockKind.ROW, "Kind: Boat · Fee: 75"), (BlockKind.ROW, "Kind: Car · Fee: 48"))
    assert [s.text for s in joined(strips(table))] == ["Kind: Boat · Fee: 75", "Kind: Car · Fee: 48"]
    assert all(map(is_row, strips(table))) and not any(map(is_row, strips(passage(TEXT))))


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
    assert [strip.text for strip in completed_quotations([replace(cut[0], score=0.9), cut[1]])] == [
        short,
        short,
    ]
    assert [strip.text for strip in completed_quotations([replace(cut[1], score=0.9), cut[0]])] == [short]
    [beside, followed] = completed_quotations([cut[0], replace(cut[2], score=0.9)])
    assert beside == cut[0] and followed.start == cut[2].start
    assert followed.text == " ".join([cut[2].text] * 11), "of a long paragraph what follows is quoted as well"
    referring = cut[-5]
    assert referring.text == "This also decides who reads it."
    [shown] = completed_quotations([referring])
    assert shown.text == "A long sentence about mail. This also decides who reads it."
    for other in cut[-4:]:
        assert completed_quotations([other]) == [other]
    assert completed_quotations([]) == []
    sure = replace(cut[0], score=0.9)
    assert completed_quotations([sure], 0.55) == [sure], "a sentence that surely answers is enough"


def test_a_short_paragraph_of_a_script_without_spaces_has_a_third_of_the_characters() -> None:
    clause = "乙方不得擅自转租本合同约定的房屋。"
    for count, is_whole in ((6, True), (7, False)):
        text = clause * count
        cut = strips(structured((BlockKind.PARAGRAPH, text)))
        [shown] = completed_quotations([replace(cut[0], score=0.4)])
        assert (shown.text == text) is is_whole, len(text)
        assert shown.text == clause * 6


def test_a_sure_sentence_of_a_definition_is_quoted_with_the_rest_if_that_tells_what_is_asked_for() -> None:
    first, second = "RLE : acronyme pour « run-length encoding ».", "Il convient aux images de synthèse."
    asked = frozenset({"rl", "convient"})
    for kind in (BlockKind.ITEM, BlockKind.PARAGRAPH):
        made = structured((kind, f"{first} {second}"), (kind, f"{first[6:]} {second}"))
        made = replace(made, blocks=tuple(replace(block, level=1) for block in made.blocks))
        cut = [replace(strip, score=0.9) for strip in strips(made)]
        assert [s.text for s in completed_quotations(cut[:1], 0.55, asked)] == [f"{first} {second}"]
        assert completed_quotations(cut[:1], 0.55, frozenset({"rl"})) == cut[:1], "it tells that itself"
        assert completed_quotations(cut[2:3], 0.55, asked) == cut[2:3], "it defines no term"
    long = structured((BlockKind.ITEM, f"{first} {second * 9}"))
    assert completed_quotations(strips(long)[:1], 0.0, asked) == strips(long)[:1]


def test_a_statement_is_quoted_with_what_qualifies_it() -> None:
    texts = (
        "Flights are not paid. Exception: the train takes nine hours.",
        "The shop opens at nine. But on Monday it opens at ten. Please ask at the front desk.",
        "The authors declare no interest. Ms Lund owns shares.",
        "The shop opens at nine. Please ask at the front desk.",
    )
    made = structured(*((BlockKind.ITEM, text) for text in texts))
    firsts = [replace(strip, score=0.9) for strip in strips(made) if strip.start in _starts(made)]
    shown = [strip.text for strip in completed_quotations(firsts, 0.55)]
    assert shown == [
        "Flights are not paid. Exception: the train takes nine hours.",
        "The shop opens at nine. But on Monday it opens at ten.",
        "The authors declare no interest. Ms Lund owns shares.",
        "The shop opens at nine.",
    ]
    window = strip_at(made, made.blocks[2].start, made.blocks[3].start + len("The shop opens at nine."), 0.9)
    assert completed_quotations([window], 0.55) == [window]
    long = structured((BlockKind.PARAGRAPH, f"It is not so. However, {'very ' * 90}late."))
    assert completed_quotations(strips(long)[:1], 0.0) == strips(long)[:1]


def _starts(made: Passage) -> set[int]:
    return {block.start for block in made.blocks}


def test_a_heading_stands_above_its_sentence_if_the_question_asks_for_what_it_tells() -> None:
    news = structured(
        (BlockKind.HEADING, "Changes in 2.52.1"),
        (BlockKind.ITEM, "The old scheme is gone."),
        (BlockKind.ITEM, "It needs version 4 now."),
    )
    gone, needs = strips(news)

    def told(question: str) -> list[str]:
        return [strip.text for strip in with_telling_headings([gone], question)]

    assert told("In which release was the scheme dropped?") == ["Changes in 2.52.1", gone.text]
    assert told("Which git-annex release dropped the scheme?") == ["Changes in 2.52.1", gone.text]
    assert told("When was it dropped?") == ["Changes in 2.52.1", gone.text]
    assert told("Is the scheme gone?") == [gone.text]
    assert with_telling_headings([needs], "Which version is it?") == [needs], "it tells one by itself"
    assert len(with_telling_headings([needs], "Which release needs version 4?")) == 2, "only what was asked"
    last = structured(
        (BlockKind.HEADING, "Version 3.4.0"),
        (BlockKind.ITEM, "This is the last release for Python 2; later ones need Python 3.6."),
    )
    head, _ = with_telling_headings(strips(last), "What is the last release that runs on Python 2?")
    assert head.text == "Version 3.4.0", "other versions than its own"
    diary = structured((BlockKind.HEADING, "2026-05-02"), (BlockKind.PARAGRAPH, "Planted 12 tomatoes."))
    day, _ = with_telling_headings(strips(diary), "When were the tomatoes planted?")
    assert day.text == "2026-05-02", "twelve is no day"
    deal = structured((BlockKind.HEADING, "Contract 24-02: roof"), (BlockKind.PARAGRAPH, "Plants come last."))
    assert with_telling_headings(strips(deal), "When do the plants come?") == strips(deal), "no day"
    rules = structured((BlockKind.HEADING, "5 Pets"), (BlockKind.PARAGRAPH, "Dogs need a written consent."))
    section, _ = with_telling_headings(strips(rules), "Which section is about dogs?")
    assert section.text == "5 Pets"
    assert with_telling_headings(strips(rules), "When do dogs need it?") == strips(rules)


def levelled(*parts: tuple[int, str], ordinal: int = 0, start: int = 0) -> Passage:
    """A passage of headings with their levels; a level of 0 makes an item."""
    kinds = [(BlockKind.HEADING if level else BlockKind.ITEM, text) for level, text in parts]
    made = structured(*kinds, start=start)
    levels = zip(made.blocks, parts, strict=True)
    blocks = tuple(replace(block, level=level) for block, (level, _) in levels)
    return replace(made, blocks=blocks, ordinal=ordinal)


def test_of_the_headings_above_a_strip_the_nearest_that_tells_is_shown() -> None:
    gone = "The old feed, deprecated in 2.1."
    log = levelled((2, "4.0.1 – 2024-03-05"), (3, "Removed"), (0, gone))
    [item] = strips(log)
    question = "In which version was the old feed removed?"
    assert [s.text for s in with_telling_headings([item], question)] == ["4.0.1 – 2024-03-05", gone]
    assert with_telling_headings([item], "Which version deprecated the feed?") == [item], (
        "it tells one itself"
    )

    changes = levelled((2, "Version 22.0 (24 Jan 2023)"), (0, "Dropped Qt 5 (Qt must now be 6.2)."))
    shown = with_telling_headings(strips(changes), "Which release dropped Qt 5?")
    assert [s.text for s in shown][:1] == ["Version 22.0 (24 Jan 2023)"], "6.2 is another number"

    rest = replace(levelled((3, "Removed"), (0, gone), ordinal=1, start=90), heading="4.0.1 – 2024-03-05")
    before = levelled((2, "4.0.1 – 2024-03-05"), (3, "Added"), (0, "A new feed."))
    shown = with_telling_headings(strips(rest), question, lambda _: [before])
    assert [s.text for s in shown] == ["4.0.1 – 2024-03-05", gone], "it stands in the passage before"

    diary = levelled((1, "2024-05-02 Thu"), (2, "Garden"), (0, "14:30 hedge cut"))
    shown = with_telling_headings(strips(diary), "When was the hedge cut?")
    assert [s.text for s in shown] == ["2024-05-02 Thu", "14:30 hedge cut"], "a time is no day"


def test_rows_below_different_headings_are_told_apart_by_them() -> None:
    table = structured(
        (BlockKind.HEADING, "Outward"),
        (BlockKind.ROW, "Ferry: N 4 · Departs: 9:10"),
        (BlockKind.HEADING, "Return"),
        (BlockKind.ROW, "Ferry: N 7 · Departs: 18:40"),
    )
    out, back = strips(table)
    shown = with_telling_headings([back, out], "What time does the ferry leave?")
    assert [s.text for s in shown] == ["Return", back.text, "Outward", out.text]
    assert with_telling_headings([back], "What time does the ferry leave?") == [back]
    other = structured((BlockKind.HEADING, "Prices"), (BlockKind.ROW, "Ferry: N 4 · Single: 12 euros"))
    rows = [out, *strips(other)]
    assert with_telling_headings(rows, "What does the ferry cost?") == rows, "their columns tell them apart"


def test_a_sentence_that_refers_to_a_value_of_the_one_before_stands_after_it() -> None:
    first, second = (
        "A job that cannot start gives 75.",
        "If a job ends with this code, it is tried again later.",
    )
    long = structured((BlockKind.PARAGRAPH, f"{first} {second} {'Nothing else matters here at all. ' * 12}"))
    assert [s.text for s in completed_quotations(strips(long)[1:2], 0.0)] == [f"{first} {second}"]


def test_the_case_of_a_short_paragraph_is_quoted_with_the_other_cases() -> None:
    text = "More than 60 days before, the deposit is paid back. Less than 60 days before, half of it is kept."
    cut = [replace(strip, score=0.9) for strip in strips(structured((BlockKind.PARAGRAPH, text)))]
    assert [s.text for s in completed_quotations(cut[:1], 0.55)] == [text]
    other = structured(
        (BlockKind.PARAGRAPH, "More than 60 days before, it is paid back. Up to 8 guests may come.")
    )
    first, *_ = (replace(strip, score=0.9) for strip in strips(other))
    assert completed_quotations([first], 0.55) == [first]


def test_a_short_list_of_which_two_items_were_picked_is_not_torn() -> None:
    lead = "The name and the number are separated by all of these:"
    made = structured((BlockKind.PARAGRAPH, lead), *((BlockKind.ITEM, f"a {c} mark") for c in "abcdefgh"))
    _, first, *more = (replace(strip, score=0.5) for strip in strips(made))
    short = structured((BlockKind.PARAGRAPH, lead), *((BlockKind.ITEM, f"a {c} mark") for c in "abc"))
    _, one, _, three = strips(short)
    assert [s.text for s in with_surroundings([one, three], lambda _: [])][2] == "a b mark"
    assert "a b mark" not in [s.text for s in with_surroundings([first, more[3]], lambda _: [])]
    many = with_surroundings([first, more[3]], lambda _: [], evidence=[first, *more[2:5]])
    assert "a b mark" in [s.text for s in many], "half of the items are evidence"
    options = structured(*((BlockKind.ITEM, f"-{c}: {c} is a mark") for c in "abcdefgh"))
    cut = [replace(strip, score=0.5) for strip in strips(options)]
    assert with_surroundings([cut[0], cut[2]], lambda _: [], evidence=cut) == [cut[0], cut[2]]


def test_an_item_that_ends_in_a_comma_of_any_script_leads_to_what_is_nested_in_it() -> None:
    nested = levelled((0, "If it was taken over,"), (0, "delete it."), (0, "If it was changed:"))
    nested = replace(nested, blocks=(nested.blocks[0], replace(nested.blocks[1], level=1), nested.blocks[2]))
    first, second, _ = strips(nested)
    for comma in ",，":
        told = with_surroundings([replace(first, text=f"If it was taken over{comma}")])
        assert [s.start for s in told] == [first.start, second.start]


def test_a_sentence_of_a_step_is_quoted_with_the_rest_of_the_step() -> None:
    steps = structured(
        (BlockKind.PARAGRAPH, "Templates are made so."),
        (BlockKind.ITEM, "Choose File, Create. There is no shortcut."),
        (BlockKind.ITEM, "-t: Make one. There is no other option."),
    )
    best, _, none, _, other = strips(steps)
    picked = [replace(best, score=0.9), replace(none, score=0.5), replace(other, score=0.5)]
    texts = [best.text, "Choose File, Create. There is no shortcut.", "There is no other option."]
    assert [strip.text for strip in completed_quotations(picked, whole_steps=True)] == texts
    assert completed_quotations(picked)[1].text == "There is no shortcut."
