"""Documentation in XML: DocBook and Mallard, as blocks without markup."""

from __future__ import annotations

import pytest

from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import parse
from localcrag.types import BlockKind

HEADING, PARAGRAPH, ITEM, ROW, CODE, CAPTION, FURNITURE = BlockKind
DOCBOOK = """<?xml version="1.0"?>
<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "docbookx.dtd" [
  <!ENTITY gate "<application>Gate</application>">
]>
<book lang="de"><bookinfo><title>Das Tor</title><author><surname>Wren</surname></author></bookinfo>
<chapter><title>Öffnen<indexterm><primary>x</primary></indexterm></title>
<para>&gate; und &tern; &ndash; <quote>offen</quote><footnote><para>immer</para></footnote>.</para>
<variablelist><varlistentry><term>-k</term><listitem><para>Behält es.</para></listitem></varlistentry>
</variablelist>
<orderedlist><listitem><para>Drücken Sie <keycombo>&Strg;<keycap>O</keycap></keycombo>.</para>
</listitem></orderedlist>
<programlisting>gate --open
gate --shut</programlisting>
<sect1><title>Fragen</title><qandaset><qandaentry><question><para>Ist es zu?</para></question>
<answer><para>Nein.</para></answer></qandaentry></qandaset>
<informaltable><tgroup cols="2"><thead><row><entry>Tor</entry><entry>Preis</entry></row></thead>
<tbody><row><entry>Nord</entry><entry>12 EUR</entry></row></tbody></tgroup></informaltable></sect1>
</chapter></book>"""
MALLARD = """<page xmlns="http://projectmallard.org/1.0/" type="topic" id="x">
<info><link type="guide" xref="y"/><credit><name>Ada</name></credit><desc>Short.</desc></info>
<title>How to back up</title>
<p>Press <keyseq><key>Ctrl</key><key>B</key></keyseq> in <guiseq><gui>File</gui><gui>Save</gui></guiseq>.</p>
<steps><item><p>Open it.</p></item></steps>
<terms><item><title>Home</title><p>Your files.</p></item></terms>
<section id="z"><title>Disks</title><note style="tip"><p>Keep one elsewhere.</p></note>
<screen>$ save</screen></section></page>"""


def read(name: str, text: str) -> ExtractedText:
    data = text.encode()
    return parse(format_of(name, data), data, Limits())


def blocks(text: ExtractedText) -> list[tuple[BlockKind, str]]:
    page = text.pages[0]
    return [(block.kind, page.text[block.start : block.end]) for block in page.blocks]


def test_docbook_is_read_by_its_elements_and_entities() -> None:
    found = read("tor.xml", DOCBOOK)
    assert (found.title, found.meta) == ("Das Tor", {"language": "de"})
    assert blocks(found) == [
        (HEADING, "Das Tor"),
        (HEADING, "Öffnen"),
        (PARAGRAPH, "Gate und tern – “offen” (immer)."),
        (ITEM, "-k: Behält es."),
        (ITEM, "Drücken Sie Strg+O."),
        (CODE, "gate --open\ngate --shut"),
        (HEADING, "Fragen"),
        (HEADING, "Ist es zu?"),
        (PARAGRAPH, "Nein."),
        (ROW, "Tor: Nord · Preis: 12 EUR"),
    ]


def test_mallard_is_read_by_its_elements() -> None:
    found = read("back-up.page", MALLARD)
    assert found.title == "How to back up"
    assert blocks(found) == [
        (HEADING, "How to back up"),
        (PARAGRAPH, "Press Ctrl+B in File → Save."),
        (ITEM, "Open it."),
        (ITEM, "Home: Your files."),
        (HEADING, "Disks"),
        (PARAGRAPH, "Keep one elsewhere."),
        (CODE, "$ save"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<page><title>x</title></page>",
        '<?xml version="1.0"?>\n<config><book>x</book></config>',
        "<article><body>x</body></article>",
        "<article><front><x/></front><body><title>x</title></body></article>",
    ],
)
def test_other_xml_is_no_such_documentation(text: str) -> None:
    assert format_of("a.xml", text.encode()) is DocumentFormat.XML


def test_entities_neither_grow_without_bound_nor_come_from_other_files() -> None:
    bomb = '<!ENTITY a0 "ha ha ha">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 30}">' for i in range(1, 9))
    other = '<!ENTITY passwd SYSTEM "file:///etc/passwd">'
    body = "<article><title>T</title><para>one &passwd; &a8;</para></article>"
    found = read("a.xml", f"<!DOCTYPE article [{bomb}{other}]>\n{body}")
    assert "root:" not in found.pages[0].text and len(found.pages[0].text) < 1_000_000


def test_a_term_within_a_sentence_is_a_word_of_it() -> None:
    text = """<?xml version="1.0"?><!DOCTYPE glossary PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "x.dtd">
<glossary><title>Words</title><glossentry><glossterm>step</glossterm><glossdef>
<para>It goes some <glossterm>pixels</glossterm>, &eg; 50.</para></glossdef></glossentry></glossary>"""
    assert blocks(read("words.docbook", text))[1:] == [(ITEM, "step: It goes some pixels, e.g. 50.")]
