"""The Info manuals of GNU: nodes below their titles, without menus and indexes."""

from __future__ import annotations

from localcrag.documents.extracted import Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import parse
from localcrag.types import BlockKind

HEADING, PARAGRAPH, ITEM, ROW, CODE, CAPTION, FURNITURE = BlockKind
MANUAL = b"""This is gate.info, produced by makeinfo version 6.8 from gate.texi.

START-INFO-DIR-ENTRY
* gate: (gate).       Opens gates
END-INFO-DIR-ENTRY

\x1f
File: gate.info,  Node: Top,  Next: Options,  Up: (dir)

Gate
****

   A gate is opened by hand or
by *note Options::.

* Menu:

* Options::        What it takes,
                     and what not
* Index::          All terms

\x1f
File: gate.info,  Node: Options,  Prev: Top,  Up: Top

1.1 Options
===========

'-k'
'--keep'
     Keep it open
     all night.

Try this:

     $ gate -k
     $ gate -s

   * First
   * Second

\x1f
File: gate.info,  Node: Index,  Prev: Options,  Up: Top

Index
*****

\x00\x08[index\x00\x08]
* Menu:

* keep:                      Options.              (line 6)


\x1f
Tag Table:
Node: Top\x7f764
\x1f
End Tag Table
"""


def test_an_info_manual_is_read_below_its_titles_without_menus_and_index() -> None:
    assert format_of("gate.info", MANUAL) is DocumentFormat.INFO
    found = parse(DocumentFormat.INFO, MANUAL, Limits())
    page = found.pages[0]
    assert found.title == "Gate"
    assert [(block.kind, page.text[block.start : block.end]) for block in page.blocks] == [
        (HEADING, "Gate"),
        (PARAGRAPH, "A gate is opened by hand or by Options."),
        (HEADING, "1.1 Options"),
        (ITEM, "-k, --keep: Keep it open all night."),
        (PARAGRAPH, "Try this:"),
        (CODE, "$ gate -k\n$ gate -s"),
        (ITEM, "First"),
        (ITEM, "Second"),
        (HEADING, "Index"),
    ]
