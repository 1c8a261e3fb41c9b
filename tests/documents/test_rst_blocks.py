"""reStructuredText becomes plain text in blocks; what other tools add to it keeps its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.documents.rst_blocks import rst_page
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind
from tests.documents.test_markdown_blocks import told

HEADING, PARAGRAPH, ITEM = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.ITEM
ROW, CODE, CAPTION = BlockKind.ROW, BlockKind.CODE, BlockKind.CAPTION


def test_structure_and_words() -> None:
    page = rst_page(
        "Fees\n====\n\nA *b* ``c_d`` `link <https://example.org>`_\nwrapped.\n\nBoats\n-----\n\n"
        "- one\n- two\n\n  3. deep\n  4. deeper\n\nterm\n   meaning\n\n:Author: Ann\n\n::\n\n    code()\n"
    )
    assert told(page) == [
        (HEADING, 1, "Fees"),
        (PARAGRAPH, 0, "A b c_d link wrapped."),
        (HEADING, 2, "Boats"),
        (ITEM, 0, "one"),
        (ITEM, 0, "two"),
        (ITEM, 1, "deep"),
        (ITEM, 1, "deeper"),
        (ITEM, 0, "term: meaning"),
        (ITEM, 0, "Author: Ann"),
        (CODE, 0, "code()"),
    ]
    assert "- two\n  3. deep\n  4. deeper" in page.text


def test_rows_stand_with_their_headers() -> None:
    page = rst_page(
        "=====  =====\nKind   Fee\n=====  =====\nBoat   75\nCar    48\n=====  =====\n\n"
        ".. list-table:: Fines\n   :header-rows: 1\n\n   * - Kind\n     - Fine\n   * - Boat\n     - 10\n"
    )
    assert told(page) == [
        (ROW, 0, "Kind: Boat · Fee: 75"),
        (ROW, 0, "Kind: Car · Fee: 48"),
        (CAPTION, 0, "Fines"),
        (ROW, 0, "Kind: Boat · Fine: 10"),
    ]


def test_a_header_whose_first_cell_is_empty_names_the_other_columns() -> None:
    table = "===== === =====\n      Min   Max\n{}===== === =====\narea:   1     2\n===== === =====\n"
    assert rst_page(table.format("")).text == "area · Min: 1 · Max: 2"
    assert rst_page(table.format("Part      (m.)\n")).text == "Part: area: · Min: 1 · Max / (m.): 2"


def test_words_of_a_header_that_stand_between_columns_belong_to_the_nearest() -> None:
    border = "======= ==== ===== ====="
    rows = "Iron    1    2     3\nAsh     1    2     3"
    table = f"{border}\n          Min   Max   Mean\n{border}\n{rows}\n{border}\n"
    assert rst_page(table).text == "Iron · Min: 1 · Max: 2 · Mean: 3\nAsh · Min: 1 · Max: 2 · Mean: 3"


def test_a_table_that_docutils_cannot_read_is_kept_as_it_stands() -> None:
    table = "+---+---+\n| A | B |\n+===+===+\n| x | too wide |\n+---+---+"
    assert told(rst_page(f"Fees\n\n{table}\n\nEnd.")) == [
        (BlockKind.PARAGRAPH, 0, "Fees"),
        (BlockKind.CODE, 0, table),
        (BlockKind.PARAGRAPH, 0, "End."),
    ]


def test_the_numbers_of_items_are_those_that_are_written() -> None:
    text = "C. elegans is a worm.\n\n(a) One\n(b) Two\n\niv. Four\n\n3) Three\n#) Next\n"
    assert rst_page(text).text == "C. elegans is a worm.\n\n(a) One\n(b) Two\n\niv. Four\n\n3) Three\n4) Next"


def test_what_docutils_does_not_know_keeps_its_words() -> None:
    page = rst_page(
        "See :ref:`the fees <fees>` and :class:`~shop.Till`.\n\n"
        ".. versionadded:: 2.0\n   :flag: x\n\n   A new :func:`pay`.\n\n   .. tab:: Inner\n\n      Deep.\n"
    )
    assert [text for *_, text in told(page)] == [
        "See the fees and shop.Till.",
        "2.0",
        "A new pay.",
        "Inner",
        "Deep.",
    ]


def test_nothing_is_read_from_elsewhere(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret is 42")
    page = rst_page(
        f".. include:: {secret}\n\n.. csv-table::\n   :file: {secret}\n\n"
        f".. raw:: html\n   :file: {secret}\n\n.. literalinclude:: {secret}\n\nEnd."
    )
    assert "the secret is" not in page.text and page.text.endswith("End.")


def test_comments_and_targets_are_no_text() -> None:
    assert rst_page(".. a comment\n\n.. _here:\n\n.. |x| replace:: y\n\nText |x|.").text == "Text y."


def test_too_deep() -> None:
    with pytest.raises(UnreadableError, match="nested too deeply"):
        rst_page("\n".join(f"{' ' * 2 * n}- x\n" for n in range(2000)))


def test_a_question_that_is_a_term_has_no_colon_behind_it() -> None:
    page = rst_page("How do I reset it?\n    Press the button.\n", None)
    assert told(page) == [(ITEM, 0, "How do I reset it? Press the button.")]


def test_a_literal_block_that_is_a_table_is_rows() -> None:
    rows = "    Car     120    30\n    Bike     30    10\n    Foot      8     4\n"
    table = f"Speeds::\n\n           Fast  Slow\n\n{rows}"
    assert "Bike · Fast: 30 · Slow: 10" in rst_page(table).text
    assert "Car     120" in rst_page(table.replace("Speeds::", ".. code-block:: text")).text
