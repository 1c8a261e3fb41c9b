"""What Obsidian adds to Markdown loses its marks, and nothing that only looks like it is touched."""

from __future__ import annotations

import time

import pytest

from localcrag.documents.markdown_blocks import markdown_page


def told(text: str) -> list[tuple[str, str]]:
    page = markdown_page(text)
    return [(block.kind.name, page.text[block.start : block.end]) for block in page.blocks]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("On the [[NAS]].", "On the NAS."),
        ("On the [[NAS|network *storage*]].", "On the network *storage*."),
        ("See [[NAS#Disks]], [[#Users]] and [[NAS#^bay]].", "See NAS, Disks, Users and NAS."),
        ("A photo ![[img/nas-photo.jpg|300]] here.", "A photo nas-photo here."),
        ("Painted ==light **grey**== and ==`a == b`==.", "Painted light grey and a == b."),
        ("Open %%not yet%% now.", "Open now."),
        ("It ends in 2028. ^guarantee", "It ends in 2028."),
        ("[[_TOC_]]\n\nText.", "Text."),
    ],
)
def test_links_and_marks_become_the_words_that_are_shown(written: str, read: str) -> None:
    assert told(written) == [("PARAGRAPH", read)]


@pytest.mark.parametrize(
    "text",
    [
        "if a == b and c == d, foo==1.2, bar==1.3",
        "[[ -f x ]] or [[1, 2], [3, 4]] or x[[name]]",
        "100%% or 50%%, %%d and %%s",
        "E = x ^2 and word^abc, y ^n",
        "[!note] outside of a quotation",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert told(text) == [("PARAGRAPH", text)]


def test_code_keeps_all_signs() -> None:
    code = "%%\n[[NAS]] ==x==\n%%\ny ^block"
    assert told(f"```\n{code}\n```\n\n`[[NAS]] ==x== %%y%%`") == [
        ("CODE", code),
        ("PARAGRAPH", "[[NAS]] ==x== %%y%%"),
    ]


def test_links_with_addresses_keep_their_words() -> None:
    text = "[[a]](b.md), [[1]] and \\[[c]].\n\n[1]: http://example.org\n"
    assert told(text) == [("PARAGRAPH", "[a], [1] and [[c]].")]


def test_the_title_of_a_callout_leads_in_to_its_text() -> None:
    text = (
        "> [!tip]- Beeping NAS\n> Three short beeps.\n\n> [!NOTE]\n> Kept cold.\n\n"
        "> [!faq]+ Is it so?\n> Yes.\n\n> [!info] You need\n> - a key\n\n"
        "> [!todo] Alone\n\n> > [!quote|wide] Deep\n> > words\n"
    )
    assert told(text) == [
        ("PARAGRAPH", "Beeping NAS: Three short beeps."),
        ("PARAGRAPH", "Kept cold."),
        ("PARAGRAPH", "Is it so? Yes."),
        ("PARAGRAPH", "You need:"),
        ("ITEM", "a key"),
        ("PARAGRAPH", "Alone"),
        ("PARAGRAPH", "Deep: words"),
    ]


def test_an_embedded_file_that_stands_alone_is_a_caption() -> None:
    assert told("![[nas-photo.jpg]]\n\n- ![[x.pdf]]\n") == [("CAPTION", "nas-photo"), ("ITEM", "x")]


def test_a_comment_of_several_lines_is_left_out() -> None:
    text = "Above.\n%%\nsecret\n\n# more\n%%\n\nBelow.\n\n%% open\n\nStays.\n"
    assert told(text) == [
        ("PARAGRAPH", "Above."),
        ("PARAGRAPH", "Below."),
        ("PARAGRAPH", "%% open"),
        ("PARAGRAPH", "Stays."),
    ]


def test_an_id_below_a_table_or_a_list_is_left_out() -> None:
    text = "| a | b |\n|---|---|\n| [[NAS\\|x]] | [[NAS]] |\n\n^the-table\n\n- item ^37066d\n"
    assert told(text) == [("ROW", "a: x · b: NAS"), ("ITEM", "item")]


@pytest.mark.parametrize("sign", ["==a ", "%%a ", "[[a", " ^abc", "![[", "%%\n", "> [!a] ", "=="])
def test_no_repetition_takes_long(sign: str) -> None:
    began = time.monotonic()
    markdown_page(sign * 20_000)
    assert time.monotonic() - began < 60
