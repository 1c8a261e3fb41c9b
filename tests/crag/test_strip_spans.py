"""Where strips begin and end in what people and programs write in lines."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.crag.refinement.strip_spans import sentences, spans_of_passage
from localcrag.types import Block, BlockKind, Passage
from tests.crag.values import passage


def block_of(kind: BlockKind, text: str) -> Passage:
    return replace(passage(text), blocks=(Block(kind, 0, len(text)),))


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@given(st.text(alphabet="ab. \n!?–é“”1|-*)", max_size=80))
def test_sentences_cover_all_but_white_space_once(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(a < b and text[a:b] == text[a:b].strip() for a, b in spans)


def test_lines_with_labels_are_strips_of_their_own() -> None:
    text = "Present: Ada Wren, Lucia Fenn\nApologies: Sven Malloy\nStart 19:05, in the Anchor\nRent: 40"
    assert [strip.text for strip in strips(passage(text))] == text.split("\n")


def test_a_line_goes_on_where_it_begins_with_a_small_letter() -> None:
    assert cut("Help desk: extension 4400, Tuesday\nfrom 7:30\nFaults: extension 4410") == [
        "Help desk: extension 4400, Tuesday\nfrom 7:30",
        "Faults: extension 4410",
    ]


def test_prose_is_not_cut_at_its_lines() -> None:
    text = (
        "They came from three places: the hill of\nHollow, the lane behind the chapel, and the\nMill at Wren."
    )
    assert cut(text) == [text]


def test_entries_of_a_log_are_strips_of_their_own() -> None:
    text = "2024-05-14 22:00:01 INFO operator on duty\n2024-05-14 22:00:02 WARN pool bravo is nearly full"
    assert cut(text) == text.split("\n")


LINES = st.sampled_from(
    ["[a]", "b:", "c = 1", "  d: 2", "# e", "", "}", "F: g", "h i", "2024-05-14 22:00 x", "Who: Ada.", "1. j"]
)


@given(st.lists(LINES, max_size=12), st.sampled_from([BlockKind.CODE, BlockKind.PARAGRAPH]))
def test_all_text_is_in_exactly_one_strip(lines: list[str], kind: BlockKind) -> None:
    text = "\n".join(lines)
    spans = spans_of_passage(block_of(kind, text))
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    kept = "".join(text[start:end] for start, end in spans)
    assert "".join(kept.split()) == "".join(text.split())


def test_a_word_that_answers_belongs_to_the_sentence_after_it() -> None:
    text = "Yes.  However, the routines must be safe as well. Nothing else counts."
    assert [text[slice(*span)] for span in spans_of_passage(passage(text))] == [
        "Yes.  However, the routines must be safe as well.",
        "Nothing else counts.",
    ]
    two = "No, sorry. You have to start another program for that."
    assert spans_of_passage(passage(two)) == [(0, len(two))]
    asked = "Why so? Nobody knows what the reason for it was."
    assert len(spans_of_passage(passage(asked))) == 2


def test_a_short_question_is_not_joined_to_the_sentence_before_it() -> None:
    text = "It costs 84 pounds a day, and the deposit is 300. Who drives? Say so. I can."
    assert [strip.text for strip in strips(block_of(BlockKind.PARAGRAPH, text))] == [
        "It costs 84 pounds a day, and the deposit is 300.",
        "Who drives? Say so. I can.",
    ]


def test_an_ordinal_number_ends_no_sentence() -> None:
    german = "Die Reise ist am 8. Juni. Im 2. Obergeschoss ist das Bad, die 3. Etage ist leer."
    assert cut(german) == [german[:25], german[26:]]
    polish = "Z dniem 3. maja 2025 r. regulamin traci moc. Nowy regulamin obowiązuje od tego dnia."
    assert cut(polish) == [polish[:44], polish[45:]]
    spanish = "La vecina del art. 1.º pide una llave. El piso de arriba no tiene ninguna."
    assert cut(spanish) == [spanish[:38], spanish[39:]]


def test_a_sentence_ends_with_a_number() -> None:
    german = "Die Gäste wohnen in Zimmer 3. Danach kommen wir alle noch einmal wieder."
    assert cut(german) == [german[:29], german[30:]]


def test_the_text_outvotes_the_language_that_its_page_declares() -> None:
    text = "Die Fahrt beginnt am Montag, dem 8. Juni, um 9 Uhr an der Schule. Wir sind am Freitag wieder da."
    declared = replace(block_of(BlockKind.PARAGRAPH, text), meta={"language": "en"})
    assert [strip.text for strip in strips(declared)] == [text[:65], text[66:]]


def test_a_heading_without_a_body_is_a_strip_below_the_outer_ones() -> None:
    parts = [
        (1, "2024-05-02 Thu"),
        (2, "08:10 pump 3 set back to 5 bar"),
        (2, "09:00 visitors of the school"),
    ]
    text, blocks = "", list[Block]()
    for level, line in parts:
        blocks.append(Block(BlockKind.HEADING, len(text), len(text) + len(line), level))
        text += f"{line}\n"
    diary = replace(passage(text), blocks=tuple(blocks))
    found = strips(diary)
    assert [strip.text for strip in found] == [line for _, line in parts[1:]]
    assert [headings_above(strip) for strip in found] == ["2024-05-02 Thu"] * 2
    assert strips(replace(diary, page=1)) == [], "on paper the next page may go on with it"
    body = replace(diary, blocks=(*blocks[:2], replace(blocks[2], kind=BlockKind.PARAGRAPH, level=0)))
    assert [strip.text for strip in strips(body)] == [parts[2][1]]


def test_a_number_at_the_end_of_a_block_is_no_strip_of_its_own() -> None:
    voted = block_of(BlockKind.PARAGRAPH, "The square is called Wren Square. For 8, against 4, abst. 2.")
    assert [strip.text for strip in strips(voted)][-1].endswith("abst. 2.")


CHAT = """2012-10-17T11:26:50+0000  <joao> renzhi, what version are you running?
2012-10-17T11:27:09+0000  *** Guest2100 is now known as pentabular
2012-10-17T11:27:13+0000  <renzhi> joao: argonaut
2012-10-17T11:27:23+0000  <joao> on all three monitors?
2012-10-17T11:27:34+0000  <renzhi> yes
2012-10-17T11:29:00+0000  <ada> nhm: do the disks get slower with the time?
2012-10-17T11:29:41+0000  <joao> sage, the fixes are pushed now
2012-10-17T11:30:10+0000  <nhm> ada: a little. Writes get more seeky after some weeks of work.
2012-10-17T11:31:00+0000  <sage> I am leaving for the day, see you all tomorrow in the office.
2012-10-17T11:31:10+0000  <joao> see you"""


def test_a_question_of_a_chat_is_one_strip_with_its_reply_and_a_short_line_with_the_one_before() -> None:
    lines = CHAT.split("\n")
    expected = ["\n".join(lines[start:end]) for start, end in ((0, 5), (5, 8), (8, 10))]
    assert [strip.text for strip in strips(block_of(BlockKind.PARAGRAPH, CHAT))] == expected
    assert [strip.text for strip in strips(passage(CHAT))] == expected
    bare = "\n".join(line.partition("  ")[2] for line in lines)
    assert strips(block_of(BlockKind.PARAGRAPH, bare))[0].text.endswith("<renzhi> yes")


def test_messages_with_names_behind_the_time_are_a_chat_and_one_speaker_is_none() -> None:
    asked = "[12/05/2024, 10:15] Ada Wren: When does the ferry leave?"
    told = "[12/05/2024, 10:16] Tom: At six, from the north quay."
    assert [strip.text for strip in strips(passage(f"{asked}\n{told}"))] == [f"{asked}\n{told}"]
    alone = told.replace("Tom", "Ada Wren")
    assert [strip.text for strip in strips(passage(f"{asked}\n{alone}"))] == [asked, alone]
