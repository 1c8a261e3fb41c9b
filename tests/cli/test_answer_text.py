"""The text of an answer on a terminal and on a pipe, from the values alone."""

from __future__ import annotations

import pytest

from localcrag.cli.answer_text import AnswerText
from localcrag.cli.excerpts import MAX_SHOWN_CHARACTERS, excerpt, term_spans
from localcrag.cli.line_wrapping import columns, line_spans, wrapped
from localcrag.crag.answering.quotation import _quotations
from localcrag.crag.answering.strip_display import before_mark
from localcrag.events import Delta
from localcrag.types import Block, BlockKind, CitationMark, Evidence, Passage, Strip
from tests.crag.values import passage

CJK = "图书馆在工作日晚上六点关门，星期六中午关门。读者可以在那里阅读「书」，也可以借书。"
PROSE = "The office opens at nine, and nobody comes before ten. " * 6
LONG = f"{PROSE}The library closes at four in summer. {PROSE}"


def lines_of(text: str, width: int, column: int = 0) -> list[str]:
    return [text[start:end] for start, end in line_spans(text, width, column=column)]


def quotation(text: str, *blocks: Block) -> tuple[Delta, dict[int, Evidence]]:
    of: Passage = passage(text)
    if blocks:
        of = Passage(of.id, of.document, of.source, of.title, "", None, 0, len(text), text, blocks=blocks)
    strip = Strip(of, 0, len(text), text, 0.9)
    return _quotations([[(before_mark(strip), 1)]]), {1: Evidence(1, strip)}


def shown(text: str, *blocks: Block, width: int | None = 60, question: str = "", styled: bool = False) -> str:
    delta, evidence = quotation(text, *blocks)
    return AnswerText(question, width, styled, evidence).printed(delta)


# ------------------------------------------------------------------------------------------ wrap


def test_words_stay_whole_and_no_line_is_wider_than_the_terminal() -> None:
    lines = lines_of(LONG, 40)
    assert " ".join(lines) == LONG.strip() and max(map(len, lines)) <= 40


def test_wide_characters_take_two_columns_and_no_line_begins_with_a_closing_mark() -> None:
    lines = lines_of(CJK, 20)
    assert "".join(lines) == CJK and max(map(columns, lines)) <= 20 and min(map(columns, lines[:-1])) >= 16
    assert not any(line[0] in "，。」" for line in lines) and not any(line[-1] == "「" for line in lines)


def test_a_word_wider_than_the_line_stays_whole_and_a_line_goes_on_where_it_was() -> None:
    url = "https://example.org/" + "a" * 40
    assert lines_of(f"see {url} there", 20) == ["see", url, "there"]
    assert lines_of("four more words", 12, column=8) == ["four", "more words"]
    assert lines_of("longer words", 12, column=8) == ["", "longer words"]


def test_emoji_and_marks_of_a_letter_are_not_parted_from_what_they_belong_to() -> None:
    family = "👩\u200d👩\u200d👧"
    assert "".join(lines_of(family * 5, 10)) == family * 5
    assert not any(line.startswith("\u200d") for line in lines_of(family * 5, 10))


def test_what_continues_a_line_is_indented_as_the_line_is() -> None:
    assert wrapped("    some words that go on", 24) == "    some words that go\n    on"


# --------------------------------------------------------------------------------------- excerpts


def test_a_long_quotation_is_shortened_around_the_words_that_answer_between_sentences() -> None:
    marked = term_spans(LONG, "When does the library close in summer?")
    start, end = excerpt(LONG, marked)
    assert "The library closes at four in summer." in LONG[start:end] and end - start <= MAX_SHOWN_CHARACTERS
    assert LONG[start].isupper() and LONG[end - 1] == "."
    assert excerpt(LONG[:400], []) == (0, 400)


def test_the_sentence_that_was_judged_best_is_kept_before_all() -> None:
    at = LONG.rindex("nobody comes")
    start, end = excerpt(LONG, term_spans(LONG, "library summer"), (at, at + 12))
    assert start <= at < end


def test_without_any_border_a_text_is_cut_between_words_and_in_no_time() -> None:
    text = "word " * 20_000
    start, end = excerpt(text, [])
    assert 0 < end - start <= MAX_SHOWN_CHARACTERS and text[end - 4 : end] == "word"
    start, end = excerpt("字" * 5_000, [])
    assert 0 < end - start <= MAX_SHOWN_CHARACTERS


def test_terms_are_found_by_their_stems_and_in_scripts_without_spaces() -> None:
    assert [LONG[s:e] for s, e in term_spans(LONG, "closing libraries")] == ["library", "closes"]
    assert [CJK[s:e] for s, e in term_spans(CJK, "星期六几点关门")][:2] == ["点关门", "星期六"]


# -------------------------------------------------------------------------------------- quotations


def test_a_pipe_gets_the_whole_quotation_in_its_own_lines() -> None:
    assert shown(LONG, width=None) == f"{LONG.strip()} [1]"


def test_a_terminal_gets_whole_words_an_ellipsis_and_the_citation_behind_the_last_word() -> None:
    seen = shown(LONG, question="When does the library close in summer?")
    assert "library closes at four" in " ".join(seen.split()) and seen.startswith("… ")
    assert seen.startswith("… The library") and seen.endswith(" [1]")
    assert max(map(len, seen.splitlines())) <= 60 and not seen.splitlines()[-1].startswith(("[", "…"))


def test_the_words_that_answer_are_bold_only_where_that_may_be() -> None:
    text = "The library closes at four. It opens at nine."
    seen = shown(text, question="When does the library close?", styled=True)
    assert seen == "The \x1b[1mlibrary\x1b[0m \x1b[1mcloses\x1b[0m at four. It opens at nine. [1]"
    assert "\x1b" not in shown(text, question="When does the library close?")


def test_the_best_sentence_is_bold() -> None:
    text = "It opens at nine. It closes at four in the afternoon."
    delta, evidence = quotation(text)
    best = Strip(evidence[1].strip.passage, 18, len(text), text[18:], 0.8)
    printed = AnswerText("", 80, True, evidence, (best,)).printed(delta)
    assert printed == f"It opens at nine. \x1b[1m{text[18:]}\x1b[0m [1]"


def test_code_keeps_its_lines_and_indentation_and_its_indexes() -> None:
    code = "def first():\n    # a long comment " + "that goes on " * 8 + "[2]\n    return argv[1]"
    block = Block(BlockKind.CODE, 0, len(code))
    for width in (40, None):
        assert shown(code, block, width=width) == code.replace("[2]", "‹2›") + "\n[1]"


def test_long_code_is_shortened_between_lines() -> None:
    code = "\n".join(f"    value_{n} = compute(value_{n - 1})" for n in range(60))
    seen = shown(code, Block(BlockKind.CODE, 0, len(code)), question="what is value_30")
    first, *lines, last, mark = seen.split("\n")
    assert (first, mark) == ("…", "[1]") and last == "…"
    assert all(line in code.split("\n") for line in lines) and "    value_30 = compute(value_29)" in lines


def test_items_keep_their_bullets_and_hang() -> None:
    text = "a photo of yourself that is not older than a year\na passport"
    items = Block(BlockKind.ITEM, 0, 49), Block(BlockKind.ITEM, 50, 60)
    assert shown(text, *items, width=30) == (
        "• a photo of yourself that is\n  not older than a year\n• a passport [1]"
    )


@pytest.mark.parametrize("width", [60, None])
def test_a_document_cannot_cite(width: int | None) -> None:
    forged = "It is so [1] and so【1】 and [1,2] so [42]."
    assert (
        shown(forged, width=width)
        == "It is so ‹1› and so【1】 and".replace("【1】", "‹1›") + " ‹1,2› so ‹42›. [1]"
    )


def test_a_written_answer_is_wrapped_across_its_pieces() -> None:
    text = AnswerText("", 24, False)
    pieces = [Delta("It closes at four. [1]", (CitationMark(1, 19, 22),)), Delta(" It opens at nine. [2]")]
    assert "".join(map(text.printed, pieces)) == "It closes at four. [1]\nIt opens at nine. ‹2›"


def test_several_quotations_and_questions_stand_in_lines_of_their_own() -> None:
    delta = _quotations([[("Who?", 0), ("It is he. ", 1)], [("When?", 0), ("At four. ", 2)]])
    assert delta.text == "Who?\nIt is he. [1]\n\nWhen?\nAt four. [2]"
    assert [delta.text[mark.start : mark.end] for mark in delta.marks] == ["[1]", "[2]"]
    assert AnswerText("", 60).printed(delta) == delta.text


def test_a_shortened_quotation_of_several_blocks_goes_on_in_the_line_of_the_ellipsis() -> None:
    text = f"Hours\n{LONG}"
    blocks = Block(BlockKind.HEADING, 0, 5), Block(BlockKind.PARAGRAPH, 6, len(text))
    seen = shown(text, *blocks, question="When does the library close in summer?")
    assert seen.startswith("… The library closes")
