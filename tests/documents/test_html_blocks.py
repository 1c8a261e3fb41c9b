"""HTML as blocks: nothing that a reader of the page sees is lost, and no markup is left."""

from __future__ import annotations

import io
import time
import zipfile

import pytest
from docx import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.html_blocks import add_html
from localcrag.documents.readers.docx import read_docx
from localcrag.documents.readers.epub import read_epub
from localcrag.documents.readers.html import read_html
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page
from tests.documents.builders import epub, replaced


def page_of(html: str) -> Page:
    made = BlockText()
    add_html(made, html)
    return made.page()


def text_of(html: str) -> str:
    return page_of(html).text


def blocks_of(html: str) -> list[tuple[str, str]]:
    page = page_of(html)
    return [(block.kind.value, page.text[block.start : block.end]) for block in page.blocks]


def local(html: str) -> ExtractedText:
    return read_html(html.encode(), Limits())


# ------------------------------------------------------------------ whole pages

SPHINX = """<html><head><title>Doses — Manual</title></head><body>
<div class="related" role="navigation"><ul><li><a href="/">index</a></li></ul></div>
<div class="body"><section><h1>Doses<a class="headerlink" href="#doses" title="Link">¶</a></h1>
<p>One tablet.</p><dl><dt class="sig"><code>take</code>(<em>n</em>)<a href="#take">¶</a></dt>
<dd><p>Take <em>n</em> tablets.</p><p>With water.</p></dd></dl></section></div>
<div class="sidebar"><p>Sidebar: keep dry.</p></div></body></html>"""
RUSTDOC = """<body><nav class="sidebar"><h2>Crate std</h2><ul><li><a href="x">All</a></li></ul></nav><main>
<header><h1>Struct <span>Vec</span><button>Copy item path</button></h1></header>
<details open><summary><h2 id="m"><a href="#m">§</a><a href="m.html">Methods</a></h2></summary>
<pre class="rust"><code><span>let x = 1;</span>
<span>  drop(x);</span></code></pre></details></main><footer><p>Version 1.9</p></footer></body>"""
DOCBOOK = """<body><div class="book"><div class="titlepage"><div><div><h1 class="title"><a name="id1"></a>The
Manual</h1></div><div><p class="releasenote">Release 3</p></div></div></div>
<aside><h3>Note</h3>Shake well.</aside>
<div class="sect1"><div class="titlepage"><h2>1. Use</h2></div><p>Use it.</p></div></div></body>"""


def test_what_turns_the_pages_of_a_manual_is_navigation() -> None:
    links = "Next: <a href='b'{}>Arrays, Unions</a>, Up: <a href='c'{}>Types</a> [<a href='i'>Index</a>]"
    panel = links.format(" rel='next'", " accesskey='u'")
    see = "<p>See <a href='x' rel='next'>the other chapter</a>.</p>"
    again = f"<p>{links.format('', '')}</p>"
    read = local(f"<div><p>{panel}</p></div><h2>Sizes</h2><p>One byte.</p>{see}{again}")
    assert read.pages[0].text == "Sizes\n\nOne byte.\n\nSee the other chapter."
    assert 0.5 < read.left_out < 1


@pytest.mark.parametrize(
    ("html", "headings", "texts"),
    [
        (SPHINX, ["Doses"], ["One tablet.", "take(n): Take n tablets.", "With water.", "Sidebar: keep dry."]),
        (RUSTDOC, ["Struct Vec", "Methods"], ["let x = 1;\n  drop(x);", "Version 1.9"]),
        (DOCBOOK, ["The Manual", "Note", "1. Use"], ["Release 3", "Shake well.", "Use it."]),
    ],
    ids=["sphinx", "rustdoc", "docbook"],
)
def test_a_page_of_a_manual_keeps_every_heading_and_all_visible_text(
    html: str, headings: list[str], texts: list[str]
) -> None:
    (page,) = local(html).pages
    found = [(block.kind, page.text[block.start : block.end]) for block in page.blocks]
    assert [text for kind, text in found if kind is BlockKind.HEADING] == headings
    assert [text for kind, text in found if kind is not BlockKind.HEADING] == texts


def test_navigation_is_left_out_and_its_share_told() -> None:
    links = "<li><a href=a>aaaaa</a><li><a href=b>bbbbb</a><li><a href=c>ccccc</a>"
    text = "<h1>T</h1><p>" + "x" * 79 + "</p>"
    for html in (
        f"<nav>{'n' * 20}</nav>{text}",
        f"<div role=navigation>{'n' * 20}</div>{text}",
        f"<div><ul>{links}</ul><div>{text}</div></div><div>ddddd</div>",
        f"<div>{text}</div>fffff<div class=links><ul>{links}</ul></div>",
    ):
        found = local(html)
        assert "nnn" not in found.pages[0].text and "bbb" not in found.pages[0].text
        assert found.left_out == pytest.approx(20 / 100 if "n" * 20 in html else 15 / 100, abs=0.01)
    assert local(text).left_out == 0


@pytest.mark.parametrize(
    "html",
    [
        "<h1>T</h1><p>{x}</p><h2>See also</h2><div><ul>{links}</ul></div>",
        "<h1>T</h1><p>{x}</p><p>See also:</p><div><ul>{links}</ul></div>",
        "<h1>T</h1><p>{x}</p><ul>{links}</ul>",
        "<h1>T</h1><div class=toc><ul>{links}{links}</ul></div>",
        "<ul>{links}</ul>",
        "<nav><ul>{links}</ul></nav>",
    ],
)
def test_links_that_are_content_stay(html: str) -> None:
    links = "<li><a href=a>aaaaa</a><li><a href=b>bbbbb</a><li><a href=c>ccccc</a>"
    found = local(html.format(x="x" * 200, links=links))
    assert "- bbbbb\n- ccccc" in found.pages[0].text and found.left_out == 0


def test_what_nobody_sees_is_dropped() -> None:
    html = (
        "<style>p{}</style><script>s()</script><noscript>n</noscript><template><p>t</p></template>"
        "<p hidden>h</p><div style='color:red; display : none'><p>d</p></div><p>seen</p>"
        "<svg><title>v</title></svg>"
    )
    assert text_of(html) == "seen"
    assert text_of("<p>a<script/>b</p><title/><p>c") == "ab\n\nc"


# ------------------------------------------------------------------ blocks


def test_a_heading_loses_its_permalink_and_keeps_its_links() -> None:
    html = "<h2>A <a href=x>link</a> <span>and <b>bold</b></span><a href='#a'>#</a></h2>"
    html += "<h3><div>In<br>div</div></h3>"
    assert blocks_of(html) == [("heading", "A link and bold"), ("heading", "In div")]
    assert [block.level for block in page_of(html).blocks] == [2, 3]
    assert blocks_of("<div role=heading aria-level=4>Four</div>") == [("heading", "Four")]
    assert blocks_of("<h1>Open<p>text") == [("heading", "Open"), ("paragraph", "text")]


def test_lists_keep_their_numbers_and_levels() -> None:
    html = "<ol start=5><li>five<ul><li>in<li>too</ul><li value=9><p>nine</p><p>more</p><li>ten</ol>"
    html += "<ul><li>new</ul>"
    assert text_of(html) == "5. five\n  - in\n  - too\n9. nine\n\nmore\n\n10. ten\n\n- new"
    assert text_of("<ol reversed><li>a<li>b</ol>") == "2. a\n1. b"
    assert text_of("<ol start=x><li>a</ol><ol start=99999999999999999999><li>b</ol>").startswith("1. a")


def test_what_an_item_goes_on_with_knows_that_it_stands_in_a_list() -> None:
    html = "<ol><li><p>Type:</p><pre>make</pre><p>Wait.</p><ul><li>a<p>b</p></ul></ol><p>Done.</p>"
    made = BlockText()
    add_html(made, html)
    page = made.page()
    levels = [(page.text[block.start : block.end], block.level) for block in page.blocks]
    assert levels == [("Type:", 0), ("make", 1), ("Wait.", 1), ("a", 1), ("b", 2), ("Done.", 0)]


def test_a_term_leads_its_definition() -> None:
    html = "<dl><dt>a<dt>b:<dd>both</dd><div><dt>c<dd><pre>code</pre>after</div><dt>alone</dl>"
    assert blocks_of(html) == [
        *(("item", "a / b: both"), ("item", "c"), ("code", "code"), ("paragraph", "after"), ("item", "alone"))
    ]


def test_code_keeps_its_lines() -> None:
    assert blocks_of("<pre>\n  a\n\n    b<br>c\n</pre>") == [("code", "  a\n\n    b\nc")]


def test_a_picture_of_a_formula_is_read_without_its_commands() -> None:
    html = r"<p>through <img class='math' alt='5.1\ k\Omega'> or <img alt='a\b'></p>"
    assert blocks_of(html) == [("paragraph", r"through 5.1 kΩ or a\b")]


def test_paragraphs_captions_and_breaks() -> None:
    html = (
        "<blockquote><p>quoted</p></blockquote>one<br>line<br><br>two"
        "<details><summary>more</summary>in it</details>"
        "<figure><img alt='a plan'><figcaption>Plan</figcaption></figure>x&nbsp;y &lt;z&gt;"
    )
    assert blocks_of(html) == [
        *(("paragraph", text) for text in ("quoted", "one line", "two")),
        ("heading", "more"),
        *(("paragraph", "in it"), ("caption", "a plan")),
        *(("caption", "Plan"), ("paragraph", "x y <z>")),
    ]


def test_a_picture_and_its_numbered_line_are_captions_and_no_steps() -> None:
    html = (
        "<ol><li><p>Click <img alt='OK'> now:</p><div><img alt='the first page'></div><div>Figure 12. A page"
        "</div><li><div><img alt='another'></div><p>Save it.</p><li><img alt='alone'></ol>"
        "<p>Figure it out.</p>"
    )
    assert blocks_of(html) == [
        *(("item", "Click OK now:"), ("caption", "the first page"), ("caption", "Figure 12. A page")),
        *(("caption", "another"), ("item", "Save it."), ("caption", "alone")),
        ("paragraph", "Figure it out."),
    ]


# ------------------------------------------------------------------ tables


def test_a_row_has_the_headers_of_its_columns() -> None:
    html = (
        "<table><caption>Fees</caption>"
        "<thead><tr><th rowspan=2>Kind<th colspan=2>Fee<tr><th>2025<th>2026</thead>"
        "<tr><td rowspan=2>Car<td>40<td>48<tr><td>41<td><ul><li>a<li>b</ul><tr><td colspan=3>Boats</table>"
    )
    assert blocks_of(html) == [
        ("caption", "Fees"),
        ("row", "Kind: Car · Fee / 2025: 40 · Fee / 2026: 48"),
        ("row", "Kind: Car · Fee / 2025: 41 · Fee / 2026: a; b"),
        ("row", "Boats"),
    ]


def test_the_first_option_below_a_title_is_no_header() -> None:
    rows = "<tr><td colspan=3>{}", "<tr><td><td><code>{}</code><td>{}"
    group = rows[0].format("arguments") + rows[1].format("FILE", "the file to read")
    options = rows[1].format("--all", "read all lines") + rows[1].format("-n N, --lines N", "read N lines")
    html = f"<table>{group}{rows[0].format('options')}{options}</table>"
    assert blocks_of(html) == [
        ("row", "arguments"),
        ("row", "FILE: the file to read"),
        ("row", "options"),
        ("row", "--all: read all lines"),
        ("row", "-n N, --lines N: read N lines"),
    ]
    titled = "<table><tr><td colspan=3>Fees<tr><td>Kind<td>2025<td>2026<tr><td>Car<td>40<td>48</table>"
    assert blocks_of(titled)[1:] == [("row", "Kind: Car · 2025: 40 · 2026: 48")]


def test_tables_without_a_header_row() -> None:
    assert text_of("<table><tr><th>Born<td>1815<tr><th>Died<td>1852</table>") == "Born: 1815\nDied: 1852"
    assert text_of("<table><tr><td>age<td>dose<tr><td>6<td>half</table>") == "age: 6 · dose: half"
    assert text_of("<table><tr><th>a<th>b<tr><td>1<td></table>") == "b\na: 1"


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (
            "<tr><td>hide<td>User enjoys limited invisibility.<tr><td>jump<td>User skips over a space.<td>",
            "hide: User enjoys limited invisibility.\njump: User skips over a space.",
        ),
        (
            "<tr><td>January 2005<td>Wulf<td>First version<tr><td>02.02.2006<td>Wulf<td>History added",
            "January 2005 · Wulf · First version\n02.02.2006 · Wulf · History added",
        ),
        (
            "<tr><td>1.1 About<td>&nbsp;<td>Some facts<tr><td>1.2 Installation<td>&nbsp;<td>Getting it",
            "1.1 About: Some facts\n1.2 Installation: Getting it",
        ),
        ("<tr><td>May 2024<td>June 2024<tr><td>14<td>15", "May 2024: 14 · June 2024: 15"),
    ],
)
def test_the_first_of_several_entries_is_no_header(table: str, text: str) -> None:
    assert text_of(f"<table>{table}</table>") == text


@pytest.mark.parametrize(
    "table",
    [
        "<table role=presentation><tr><td>one<td>two<tr><td>three<td>four</table>",
        "<table><tr><td>one<td>two</table><table><tr><td>three<tr><td>four</table>",
        "<table><tr><td>one<td><table><tr><td>two<td>three</table></table>four",
    ],
)
def test_a_table_for_the_layout_is_read_as_its_content(table: str) -> None:
    assert blocks_of(table) == [("paragraph", text) for text in ("one", "two", "three", "four")]


# ------------------------------------------------------------------ hostile pages


@pytest.mark.parametrize(
    "html",
    [
        "<p " + " ".join(f"a{i}=x" for i in range(300_000)) + ">end",
        "<table><tr>"
        + "<th colspan=1000>x" * 300
        + "<tr>"
        + "<td colspan=1000 rowspan=1000>end" * 300
        + "</table>",
        "<b>" * 50_000 + "end",
        "<ul><li>" * 400 + "end",
        "<table><tr><td>" * 400 + "end",
        "<a>x" * 50_000 + "end",
    ],
    ids=["attributes", "spans", "bold", "lists", "tables", "links"],
)
def test_a_hostile_page_is_read_in_a_moment(html: str) -> None:
    start = time.process_time()
    assert text_of(html).endswith("end")
    assert time.process_time() - start < 2


def test_the_line_that_opens_what_is_folded_away_is_its_heading() -> None:
    html = (
        "<h2>FAQ</h2><details><summary>Is it <b>open</b>?</summary><p>Yes.</p></details>"
        f"<details><summary>{'long ' * 50}</summary>Text.</details>"
    )
    told = [(block.kind, block.level) for block in page_of(html).blocks]
    assert told == [
        (BlockKind.HEADING, 2),
        (BlockKind.HEADING, 3),
        (BlockKind.PARAGRAPH, 0),
        (BlockKind.PARAGRAPH, 0),
        (BlockKind.PARAGRAPH, 0),
    ]


def test_the_line_that_says_whose_the_page_is_is_furniture() -> None:
    page = page_of("<p>© is a sign.</p><footer><p>© 2025 Lido · Privacy</p><p>Phone: 555 0142</p></footer>")
    assert [block.kind for block in page.blocks] == [
        *(BlockKind.PARAGRAPH, BlockKind.FURNITURE, BlockKind.PARAGRAPH)
    ]


@pytest.mark.parametrize(
    "line", ["Gate · built 2025-08-19", "This page was generated by Gate 3", "Powered by Gate"]
)
def test_the_line_that_says_what_made_a_page_is_furniture(line: str) -> None:
    page = page_of(f"<p>Built 1902.</p><footer><p>{line}</p><p>Built for rowing, as all boats.</p></footer>")
    assert [block.kind for block in page.blocks] == [
        *(BlockKind.PARAGRAPH, BlockKind.FURNITURE, BlockKind.PARAGRAPH)
    ]


def test_a_warning_beside_its_picture_is_no_table_of_data() -> None:
    icon = "<td rowspan=2><img src=w.png alt='[Warning]'>"
    html = f"<table><tr>{icon}<th>Warning<tr><td><p>Keep the <b>lid</b> shut.</p></table>"
    assert blocks_of(html)[-2:] == [("paragraph", "Warning"), ("paragraph", "Keep the lid shut.")]


def test_text_beyond_the_limit_is_refused() -> None:
    cells = "<td>" + "x" * 150
    html = f"<table><tr><th>{'n' * 150}<th>b" + f"<tr>{cells}{cells}" * 9000 + "</table>"
    with pytest.raises(UnreadableError, match=r"^its text expands to more than 1 million characters$"):
        read_html(html.encode(), Limits(text=1024 * 1024))


# ------------------------------------------------------------------ DOCX and EPUB

RELATIONS_PART = "word/_rels/document.xml.rels"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
FOOTNOTES = (
    f'<w:footnotes xmlns:w="{WORD}"><w:footnote w:id="7"><w:p><w:r><w:t>Not for children.</w:t></w:r></w:p>'
    "</w:footnote></w:footnotes>"
)
RELATION = (
    '<Relationship Id="rIdNotes" Target="footnotes.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"/></Relationships>'
)


def test_a_docx_keeps_its_numbers_header_rows_and_footnotes() -> None:
    document = Document()
    document.add_heading("Leaflet", 0)
    for text in ("first", "second"):
        document.add_paragraph(text, style="List Number")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("age", "dose", "6", "half"), strict=True):
        cell.text = text
    table.cell(1, 1).add_paragraph("a tablet")
    document.add_paragraph("Take it.").runs[0]._r.append(
        OxmlElement("w:footnoteReference", attrs={qn("w:id"): "7"})
    )
    out = io.BytesIO()
    document.save(out)
    with zipfile.ZipFile(out) as archive:
        relations = archive.read(RELATIONS_PART).decode()
    data = replaced(
        out.getvalue(),
        {
            "word/footnotes.xml": FOOTNOTES,
            RELATIONS_PART: relations.replace("</Relationships>", RELATION),
        },
    )
    (page,) = read_docx(data, Limits()).pages
    assert page.text == (
        "Leaflet\n\n1. first\n2. second\n\nage: 6 · dose: half a tablet\n\nTake it.[1]\n\n"
        "1. Not for children."
    )


def test_an_xhtml_chapter_with_closed_empty_elements_is_read_whole() -> None:
    chapter = (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>'
        '<title/><script src="x"/></head><body><h1><a id="p1"/>One</h1>'
        "<p>First<br/>line.</p><div/><p>Last.</p></body></html>"
    )
    book = replaced(epub([("x", "y"), ("Two", "End.")]), {"OEBPS/text/ch 0.xhtml": chapter})
    (page,) = read_epub(book, Limits()).pages
    assert page.text == "One\n\nFirst line.\n\nLast.\n\n\n\nTwo\n\nEnd."


def test_links_to_places_in_the_same_page_are_its_table_of_contents() -> None:
    page = (
        '<p><a href="#g1">G1. What is it?</a><br><a href="#g2">G2. Who pays...</a></p>'
        '<ul><li><a href="#a">Fees</a></li><li><a href="#b">Boats</a> need a lamp.</li></ul>'
        '<p><a href="b.html">Elsewhere</a></p>'
    )
    assert blocks_of(page) == [
        ("furniture", "G1. What is it? G2. Who pays..."),
        ("furniture", "Fees"),
        ("item", "Boats need a lamp."),
        ("paragraph", "Elsewhere"),
    ]


def test_a_list_of_figures_or_a_table_of_contents_is_furniture() -> None:
    entries = "".join(f"<dt>9.{n}. <a href=page{n}.html>The assistant at work {n}</a></dt>" for n in range(5))
    page = page_of(f"<h1>Guide</h1><div class=list-of-figures><p>List of Figures</p><dl>{entries}</dl></div>")
    assert "- 9.3. The assistant at work 3\n- 9.4." in page.text
    assert {block.kind for block in page.blocks} == {BlockKind.HEADING, BlockKind.FURNITURE}
    steps = "".join(f"<dt>Step {n}</dt><dd>Press the button.</dd>" for n in range(5))
    page = page_of(f"<h1>Guide</h1><div class=contents><dl>{steps}</dl></div>")
    assert {block.kind for block in page.blocks} == {BlockKind.HEADING, BlockKind.ITEM}


def test_a_table_that_turns_pages_is_dropped_however_long_the_names_of_chapters_are() -> None:
    turning = "<a accesskey=p href=a>Prev</a></td><td>{}</td><td><a accesskey=n href=b>Next</a>"
    name = "Chapter 16. Depreciation of what one owns, and how to write it down year after year"
    bar = f"<table><tr><th colspan=3>16.2. {name}</th></tr><tr><td>{turning.format(name)}</td></tr></table>"
    rest = "<h1>T</h1><p>It is told here.</p>"
    assert local(f"<div class=navheader>{bar}</div>{rest}").pages[0].text == "T\n\nIt is told here."
    assert name in local(f"<div><p>{name}</p>{turning}</div>{rest}").pages[0].text


def test_the_bookmarks_of_a_browser_keep_their_addresses() -> None:
    links = (
        '<DL><p><DT><H3>Databases</H3><DL><p><DT><A HREF="https://tune.example/" ADD_DATE="1">Tuning</A>\n'
        '<DT><A HREF="https://wal.example/a?b=1&amp;c">Archiving</A>\n<DD>Read it.\n'
        '<DT><A HREF="javascript:void(0)">Script</A></DL><p></DL><p>'
    )
    assert blocks_of(f"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n{links}") == [
        ("heading", "Databases"),
        ("item", "Tuning: https://tune.example/"),
        ("item", "Archiving: https://wal.example/a?b=1&c: Read it."),
        ("item", "Script"),
    ]
    assert "https" not in text_of(links)


HELP_PAGE = """
*keep.txt*      For version 9

=======================================================================

1. Keeping changes\t\t\t\t*keep-changes*

When a buffer is left the editor forgets its changes.  By setting the option
it saves them in a file, and reads them when the buffer is opened again.

\t\t\t\t\t\t*:ea* *:earlier*
:earlier {N}m\t\tGo to the older text of about {N} minutes before.
:later {N}m\t\tGo to the newer text of about {N} minutes
\t\t\tlater, if there is one.

You can use these in commands of your own to name the file.  For example:

\tau Read * call Restore()
\tfunc Restore()

Such a file is never deleted.  You need to delete it yourself, and it is
not read if the text has changed.

The number of changes that are kept is set by another option, which has no
effect on those that were made before.
"""


def test_a_help_page_that_keeps_its_lines_is_prose() -> None:
    assert blocks_of(f"<h1>Keep</h1><pre>{HELP_PAGE}</pre>") == [
        ("heading", "Keep"),
        ("paragraph", "*keep.txt* For version 9"),
        ("heading", "1. Keeping changes"),
        ("furniture", "*keep-changes*"),
        (
            "paragraph",
            "When a buffer is left the editor forgets its changes. By setting the option it saves them in a "
            "file, and reads them when the buffer is opened again.",
        ),
        ("furniture", "*:ea* *:earlier*"),
        ("item", ":earlier {N}m: Go to the older text of about {N} minutes before."),
        ("item", ":later {N}m: Go to the newer text of about {N} minutes later, if there is one."),
        ("paragraph", "You can use these in commands of your own to name the file. For example:"),
        ("code", "\tau Read * call Restore()\n\tfunc Restore()"),
        (
            "paragraph",
            "Such a file is never deleted. You need to delete it yourself, and it is not read if the text "
            "has changed.",
        ),
        (
            "paragraph",
            "The number of changes that are kept is set by another option, which has no effect on those that "
            "were made before.",
        ),
    ]


def test_a_program_with_comments_is_no_prose() -> None:
    comment = "# This is what the next setting does, and it is off by default.\nsetting = off\n\n"
    (block,) = blocks_of(f"<pre>{comment * 6}</pre>")
    assert block[0] == "code"


def test_the_questions_of_a_definition_list_are_the_headings_of_their_answers() -> None:
    html = (
        "<h2>Trouble</h2><dl><dt>How do I reset <b>it</b>?</dt><dd><p>Press the button.<p>Wait:<ul><li>a</ul>"
        "<dt>Button<dd>A thing to press.<dt>Why?<dd>It may hang.</dl>"
    )
    assert blocks_of(html) == [
        ("heading", "Trouble"),
        ("heading", "How do I reset it?"),
        ("paragraph", "Press the button."),
        ("paragraph", "Wait:"),
        ("item", "a"),
        ("item", "Button: A thing to press."),
        ("item", "Why? It may hang."),
    ]


def test_the_head_of_an_entry_of_a_manual_is_its_heading_with_its_fields() -> None:
    row = "<td>mode</td><td>Use: <i>reply</i></td><td>Type: octal integer</td><td>Default: 0600</td>"
    html = f"<h3>Options</h3><table><tr>{row}</tr></table><p>This mode is used.</p>"
    assert blocks_of(html)[1:] == [
        ("heading", "mode"),
        ("paragraph", "Use: reply · Type: octal integer · Default: 0600"),
        ("paragraph", "This mode is used."),
    ]
    assert ("heading", "mode") not in blocks_of(html.replace("Type: octal integer", "octal"))
