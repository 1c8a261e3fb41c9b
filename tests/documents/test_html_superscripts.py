"""What is raised in HTML is read as a power, as letters of an ordinal, or not at all if it marks a note."""

from __future__ import annotations

import pytest

from localcrag.documents.block_text import BlockText
from localcrag.documents.html_blocks import add_html


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("Starts (numbers) 1996<sup>1</sup>", "Starts (numbers) 1996"),
        ("Rent per dwelling<SUP>2</SUP> (£)", "Rent per dwelling (£)"),
        ("1,142.0<sup>a</sup> and 12.5<sup>2,3</sup>", "1,142.0 and 12.5"),
        ("a plot of 40 m<sup>2</sup>", "a plot of 40 m2"),
        ("10<sup>6</sup> and 10<sup>-3</sup> and 2<sup>16</sup>", "10⁶ and 10⁻³ and 2¹⁶"),
        ("the 21<sup>st</sup> and the XIX<sup>e</sup>", "the 21st and the XIXe"),
        ("<sup>1</sup> Without garages.", "1 Without garages."),
        ("so they say<sup>[4]</sup>", "so they say[4]"),
        ("so they say<sup><a href='#n'>&#91;4&#93;</a></sup>", "so they say[4]"),
        ("so they say<sup class='noprint reference'>[4]</sup>, often", "so they say, often"),
    ],
)
def test_a_raised_figure_joins_no_number_and_no_word(html: str, text: str) -> None:
    made = BlockText()
    add_html(made, f"<p>{html}</p>")
    assert made.page(None).text == text
