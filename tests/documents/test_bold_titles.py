"""Lines in bold letters that are titles, in HTML, DOCX and Markdown."""

from __future__ import annotations

import io

import pytest

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.html_blocks import add_html_page
from localcrag.documents.markdown_blocks import markdown_page
from localcrag.documents.readers.docx import read_docx
from localcrag.types import BlockKind, Page

HEADING, PARAGRAPH = BlockKind.HEADING, BlockKind.PARAGRAPH
TEXT = "The hall is open to all who live in the village, and to their guests."


def html_told(html: str) -> list[tuple[BlockKind, int, str]]:
    made = BlockText()
    add_html_page(made, html)
    return told(made.page())


def told(page: Page) -> list[tuple[BlockKind, int, str]]:
    return [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]


def headings(html: str) -> list[str]:
    return [text for kind, _, text in html_told(html) if kind is HEADING]


@pytest.mark.parametrize(
    "title",
    [
        "<p><b>Who may come</b></p>",
        "<p><strong>Who</strong> <b>may <i>come</i></b></p>",
        "<div style='font-weight: bold'>Who may come</div>",
        "<center><b><a href='x.html'>Who may come</a></b></center>",
    ],
)
def test_a_bold_line_above_plain_text_is_its_heading(title: str) -> None:
    assert html_told(f"<h2>The hall</h2><p>{TEXT}</p>{title}<p>{TEXT}</p><h2>End</h2><p>{TEXT}</p>")[2:4] == [
        (HEADING, 3, "Who may come"),
        (PARAGRAPH, 0, TEXT),
    ]


@pytest.mark.parametrize(
    ("name", "is_heading"),
    [("icinga2_run_sudo", True), ("log.level4", True), ("2024", False), ("B12", False), ("run_4 now", False)],
)
def test_the_name_of_a_setting_in_bold_is_a_heading(name: str, is_heading: bool) -> None:
    page = f"<h2>Booleans</h2><p>{TEXT}</p><p><b>{name}</b></p><p>{TEXT}</p>"
    assert headings(page) == (["Booleans", name] if is_heading else ["Booleans"])


@pytest.mark.parametrize(
    "told_alone",
    [
        "The gate is locked at 22:00",
        "Do not open it.",
        "You need:",
        "Write to post@example.org",
        "Nobody may open the gate of the hall by night",
        f"{'Is it ' * 40} so?",
        "- - -",
    ],
)
def test_a_bold_line_that_tells_something_stays_a_paragraph(told_alone: str) -> None:
    assert headings(f"<p>{TEXT}</p><p><b>{told_alone}</b></p><p>{TEXT}</p>") == []


@pytest.mark.parametrize(
    "page",
    [
        f"<p>{TEXT}</p><p><b>Who may come</b> is told here.</p><p>{TEXT}</p>",
        f"<p>{TEXT}</p><p>{TEXT}</p><p><b>Who may come</b></p>",
        f"<p>{TEXT}</p><p><b>The hall</b></p><p><b>of the village</b></p>",
        f"<p>{TEXT}</p><p><b>Who may come<br>The hall</b></p><p>{TEXT}</p>",
        f"<p><b>Who may come</b></p><p><b>{TEXT}</b></p><p>Yes.</p>",
        f"<p>{TEXT}</p><ul><li><p><b>Who may come</b></p><p>{TEXT}</p></ul>",
        f"<p>{TEXT}</p><table><tr><td><p><b>Who</b></p><td>all<tr><td>When<td>now</table>",
        f"<p>{TEXT}</p><footer><p><b>Who may come</b></p><p>{TEXT}</p></footer>",
    ],
)
def test_what_is_bold_for_another_reason_is_no_heading(page: str) -> None:
    assert headings(page) == []


def test_a_title_above_a_heading_is_none() -> None:
    assert headings(f"<p>{TEXT}</p><p><b>Part one</b></p><h2>The hall</h2><p>{TEXT}</p>") == ["The hall"]


def test_where_most_numbered_lines_are_titles_all_are() -> None:
    faq = "".join(
        f"<p><b>({number}) {question}</b></p><p>{TEXT}</p>"
        for number, question in enumerate(
            ("Is it open?", "The key is lost", "Ich zahle 5 Euro.", "Who pays?"), 1
        )
    )
    assert headings(faq) == [
        "(1) Is it open?",
        "(2) The key is lost",
        "(3) Ich zahle 5 Euro.",
        "(4) Who pays?",
    ]
    closed = f"<p><b>Closed from 5 May on.</b></p><p>{TEXT}</p>"
    assert headings(faq + closed)[4:] == []
    asked = "".join(f"<p><b>{line}?</b></p><p>{TEXT}</p>" for line in ("Who pays", "Is it open"))
    assert headings(asked + closed)[2:] == ["Closed from 5 May on."], "most are questions"
    plain = "".join(
        f"<p><b>{line}</b></p><p>{TEXT}</p>" for line in ("The keys", "The rooms", "Open till 10")
    )
    assert headings(plain) == ["The keys", "The rooms"]


def test_the_bold_lines_of_a_letter_in_docx_are_headings() -> None:
    from docx import Document

    document = Document()
    for text, bold in (("Who may come", True), (TEXT, False), ("The keys", True), (TEXT, False)):
        document.add_paragraph().add_run(text).bold = bold
    made = io.BytesIO()
    document.save(made)
    (page,) = read_docx(made.getvalue(), Limits()).pages
    assert [kind for kind, *_ in told(page)] == [HEADING, PARAGRAPH, HEADING, PARAGRAPH]


def test_the_bold_lines_of_markdown_are_headings() -> None:
    page = markdown_page(
        f"# The hall\n\n**Who may come**\n\n{TEXT}\n\n__The keys__\n\n- a key\n- **one**\n\n  more\n\n"
        f"**Locked at 22:00**\n\n{TEXT}\n\n**Wide\nand bold**\n\n{TEXT}\n\n**Beside** it\n\n"
        "**Last**\n\n## End\n"
    )
    assert [(level, text) for kind, level, text in told(page) if kind is HEADING] == [
        (1, "The hall"),
        (2, "Who may come"),
        (2, "The keys"),
        (2, "End"),
    ]
    assert headings_of_markdown(f"**A**\n\n**B**\n\n{TEXT}\n") == [], "half of it is bold"


def headings_of_markdown(text: str) -> list[str]:
    return [said for kind, _, said in told(markdown_page(text)) if kind is HEADING]
