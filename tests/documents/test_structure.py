"""What is not marked up has a structure, too: code has runs of lines."""

from __future__ import annotations

from localcrag.documents.formats import Markup
from localcrag.documents.structure import first_heading, structured
from localcrag.types import BlockKind, Page
from tests.documents.test_markdown_blocks import told

CODE = BlockKind.CODE


def test_code_is_cut_at_blank_lines_and_stays_as_it_is() -> None:
    text = "# a comment\nLIMIT = 30\n\n\ndef run():\n    stop()\n"
    page = structured(Page(None, text), Markup.LINES)
    assert page.text == text
    assert told(page) == [(CODE, 0, "# a comment\nLIMIT = 30"), (CODE, 0, "def run():\n    stop()")]


def test_a_page_of_blocks_is_kept_and_the_first_heading_found() -> None:
    page = structured(Page(2, "intro\n\n# *Fees*\n\nText."), Markup.MARKDOWN)
    assert structured(page, Markup.PROSE) is page
    assert first_heading([Page(1, "nothing"), page]) == "Fees" and first_heading([Page(1, "x")]) == ""
