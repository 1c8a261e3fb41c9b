"""Lines that mean something by themselves, and lines of prose."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.markdown_blocks import markdown_page
from localcrag.labelled_lines import flowing, line_ends

MINUTES = "Present: Ada Wren,\n  and Lucia Fenn\nApologies: Sven Malloy\n\nThe pipe is\nmended."


def test_labelled_lines_keep_their_ends() -> None:
    text = "Deposit: 900  EUR\nRent:  40 EUR,\nheating included\nPaid in May"
    assert flowing(text) == "Deposit: 900 EUR\nRent: 40 EUR, heating included\nPaid in May"


def test_messages_of_a_chat_keep_their_ends() -> None:
    chat = "[02/06/2025, 18:03:11] Ann: who has the key\n[02/06/2025, 18:05:40] Bo: me\nit hangs there"
    assert len(line_ends(chat)) == 1
    assert len(line_ends("02.06.25, 18:03 - Ann: who has it\n02.06.25, 18:05 - Bo: me")) == 1


def test_names_below_each_other_keep_their_ends() -> None:
    names = "Vera Sans Mono\nVera Sans\nVera Serif (experimental)\nVera Serif Bold"
    assert flowing(names) == names
    prose = "The wood is free and dry\nThe others cost six\nThe stove is warm\nand it is red."
    assert line_ends(prose) == set()


def test_rows_that_are_laid_out_in_columns_keep_their_ends() -> None:
    assert flowing("icmp\t1\tICMP\nigmp\t2\tIGMP\nggp\t3\tGGP") == "icmp 1 ICMP\nigmp 2 IGMP\nggp 3 GGP"
    assert len(line_ends("Kayak       12 EUR\nCanoe       15 EUR\nOar          2 EUR")) == 2
    assert line_ends("The wood is    free and\ndry. The others cost\nsix. It is warm.") == set()


def test_one_label_among_lines_of_prose_changes_nothing() -> None:
    text = "They came late. Note: the gate\nwas shut\nand the bell was broken."
    assert flowing(text) == " ".join(text.split())


def test_markdown_keeps_labelled_lines_apart_and_lets_prose_flow() -> None:
    assert markdown_page(MINUTES).text == (
        "Present: Ada Wren, and Lucia Fenn\nApologies: Sven Malloy\n\nThe pipe is mended."
    )


@given(st.text(alphabet="aB:1 \n-.", max_size=60))
def test_no_word_is_lost(text: str) -> None:
    assert flowing(text).split() == text.split()
    assert all(text[end - 1] == "\n" for end in line_ends(text))
