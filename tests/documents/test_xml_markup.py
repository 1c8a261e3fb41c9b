"""XML of any kind: texts as blocks, data as records, and files that are not well-formed."""

from __future__ import annotations

import pytest

from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import parse
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind

HEADING, PARAGRAPH, ITEM, ROW, CODE, CAPTION, FURNITURE = BlockKind
LETTERS = """<?xml version="1.0"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:lang="en"><teiHeader><fileDesc><titleStmt>
<title>Letters of Mary Hale</title><author>Hale, Mary</author></titleStmt></fileDesc></teiHeader>
<text><body><div type="letter"><head>To her brother</head>
<p>Dear Tom, the <hi rend="it">mill</hi> was sold
 for &pound;400 &amp; nobody<lb/>told us.</p>
<list type="ordered"><item>Flour</item><item>Two sacks of <hi>oats</hi></item></list>
<table><head>What it cost</head><row role="label"><cell>Thing</cell><cell>Price</cell></row>
<row><cell>Oats</cell><cell>2 s</cell></row><row><cell>Rye</cell><cell>3 s</cell></row></table>
</div></body></text></TEI>"""
STUDY = """<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96)//EN" "JATS-archivearticle1.dtd">
<article><front><article-meta><title-group><article-title>Do bees sleep?</article-title></title-group>
<abstract><p>Bees sleep for 5 hours <xref>1</xref>.</p></abstract></article-meta></front>
<body><sec id="s1"><title>Methods</title><p>We watched 12 hives.</p>
<table-wrap id="t1"><label>Table 1</label><caption><p>Hours by age.</p></caption><table><thead><tr>
<th>Age</th><th>Hours</th></tr></thead><tbody><tr><td>young</td><td>8</td></tr><tr><td>old</td><td>5</td></tr></tbody>
</table></table-wrap></sec></body></article>"""
DISCS = """<?xml version="1.0" encoding="iso-8859-1"?>
<discs><cd id="1"><title>Blå himmel</title><price currency="EUR">10.90</price></cd>
<cd id="2"><title>Hide &amp; seek</title><price currency="EUR">9.90</price></cd></discs>"""
STORY = (
    "Showers went on & AT&T fell < 3 pct, which the traders of\ncocoa said was less than they had feared.\n"
) * 3
WIRE = f"""<!DOCTYPE wire SYSTEM "wire.dtd">
<story nr=1><day>26 March</day><text>&#2;<title>COCOA REVIEW</title><body>{STORY}    "We wait," one said.
    It rained.</body></text></story>
<story nr=2><day>27 March</day><text><title>OIL</title><body>{STORY}<P>More oil came.</body></text></story>"""
TOLD = " ".join(STORY.split())


def read(name: str, text: str, encoding: str = "utf-8") -> ExtractedText:
    data = text.encode(encoding)
    return parse(format_of(name, data), data, Limits())


def blocks(text: ExtractedText) -> list[tuple[BlockKind, str]]:
    page = text.pages[0]
    return [(block.kind, page.text[block.start : block.end]) for block in page.blocks]


def test_a_text_of_tei_is_read_by_its_elements() -> None:
    found = read("hale.xml", LETTERS)
    assert (found.title, found.meta) == ("Letters of Mary Hale", {"language": "en"})
    assert blocks(found) == [
        (HEADING, "Letters of Mary Hale"),
        (ROW, "author: Hale, Mary"),
        (HEADING, "To her brother"),
        (PARAGRAPH, "Dear Tom, the mill was sold for £400 & nobody told us."),
        (ITEM, "Flour"),
        (ITEM, "Two sacks of oats"),
        (CAPTION, "What it cost"),
        (ROW, "Thing: Oats · Price: 2 s"),
        (ROW, "Thing: Rye · Price: 3 s"),
    ]


def test_an_article_of_a_journal_is_read_by_its_elements() -> None:
    found = read("bees.nxml", STUDY)
    assert found.title == "Do bees sleep?"
    assert blocks(found) == [
        (HEADING, "Do bees sleep?"),
        (PARAGRAPH, "Bees sleep for 5 hours 1."),
        (HEADING, "Methods"),
        (PARAGRAPH, "We watched 12 hives."),
        (CAPTION, "Table 1"),
        (CAPTION, "Hours by age."),
        (ROW, "Age: young · Hours: 8"),
        (ROW, "Age: old · Hours: 5"),
    ]


def test_records_of_data_are_rows_with_their_attributes() -> None:
    assert blocks(read("discs.xml", DISCS, "iso-8859-1")) == [
        (ROW, "id: 1\ntitle: Blå himmel\nprice: 10.90\nprice.currency: EUR"),
        (ROW, "id: 2\ntitle: Hide & seek\nprice: 9.90\nprice.currency: EUR"),
    ]


ATOMS = """<?xml version="1.0"?><list>
<atom id="Ga"><scalar dictRef="bo:number">31</scalar><label dictRef="bo:name" xml:lang="en" value="Gallium"/>
<scalar dataType="xsd:float" dictRef="bo:melting" units="siUnits:kelvin" error="2">302.9</scalar></atom>
<atom id="W"><scalar dictRef="bo:number">74</scalar><label dictRef="bo:name" xml:lang="en" value="Tungsten"/>
<scalar dataType="xsd:float" dictRef="bo:melting" units="siUnits:kelvin">3695</scalar></atom></list>"""


def test_what_an_attribute_names_is_a_field_of_its_record() -> None:
    """The properties of an element, the tags of a map: one row with all of them, not one for each."""
    assert blocks(read("elements.xml", ATOMS)) == [
        (ROW, "id: Ga\nnumber: 31\nname (en): Gallium\nmelting (kelvin): 302.9\n"
              "melting (kelvin).error: 2"),
        (ROW, "id: W\nnumber: 74\nname (en): Tungsten\nmelting (kelvin): 3695"),
    ]  # fmt: skip
    tags = (("bench", "Old bench"), ("cafe", "Lis"))
    nodes = "".join(
        f'<node id="{n}"><tag k="amenity" v="{what}"/><tag k="name" v="{name}"/></node>'
        for n, (what, name) in enumerate(tags, 1)
    )
    found = blocks(read("map.osm", f'<?xml version="1.0"?><osm>{nodes}</osm>'))
    assert found[1] == (ROW, "id: 2\namenity: cafe\nname: Lis")


def test_nothing_but_how_a_value_is_written_is_lost_of_a_field() -> None:
    """What an attribute says beside the name and the value of a field is told below its name."""
    tel, age = (
        '<f name="tel" type="work" value="old">{}</f>',
        '<f name="age" dataType="int" unit="a" value="4{}"/>',
    )
    people = "".join(f"<p>{tel.format(n)}{age.format(n)}</p>" for n in (1, 2))
    text = read("people.xml", f'<?xml version="1.0"?><list>{people}</list>').pages[0].text
    assert text.startswith("tel: 1\ntel.type: work\ntel.value: old\nage (a): 41\n\ntel: 2")


def test_a_field_hides_nothing_of_the_same_name() -> None:
    """The number of a record stays, though one of its fields is called so too."""
    nodes = "".join(f'<n id="{n}"><t k="id" v="way {n}"/><t k="kind" v="path"/></n>' for n in (1, 2))
    text = read("map.osm", f'<?xml version="1.0"?><osm>{nodes}</osm>').pages[0].text
    assert "id: 2" in text and "way 2" in text
    teams = "".join(f'<p><f name="a" value="{n}"/><f name="b" value="x{n}"/><a>y{n}</a></p>' for n in (1, 2))
    text = read("teams.xml", f'<?xml version="1.0"?><list>{teams}</list>').pages[0].text
    assert "x2" in text and "y2" in text and "2" in text.replace("x2", "").replace("y2", "")


def test_what_only_has_a_name_is_no_field() -> None:
    """Holidays have names of their own in each country: they are things, and keep what is told of them."""

    def dates(*days: tuple[str, str]) -> str:
        return "".join(f'<date name="{name}" value="{day}" kind="public"/>' for name, day in days)

    norway = dates(("Constitution day", "17 May"), ("Boxing day", "26 Dec"))
    peru = dates(("Independence", "28 July"), ("Navy day", "8 Oct"))
    countries = f'<country name="Norway">{norway}</country><country name="Peru">{peru}</country>'
    text = read("holidays.xml", f'<?xml version="1.0"?><list>{countries}</list>').pages[0].text
    assert "date.name: Boxing day\ndate.value: 26 Dec\ndate.kind: public" in text


def test_what_stands_once_is_a_record_beside_the_lists_in_it() -> None:
    project = """<project><name>gate</name><properties><java.version>17</java.version></properties>
    <dependencies><dependency><id>junit</id><version>4</version></dependency></dependencies></project>"""
    assert blocks(read("pom.xml", project)) == [
        (ROW, "name: gate\nproperties.java.version: 17"),
        (ROW, "dependencies.id: junit\ndependencies.version: 4"),
    ]


def test_the_names_of_settings_stand_with_their_texts() -> None:
    strings = (
        '<resources><string name="app">Ferry</string><string name="ok">All <b>right</b></string></resources>'
    )
    assert [text for _, text in blocks(read("strings.xml", strings))] == [
        "name: app\nstring: Ferry",
        "name: ok\nstring: All right",
    ]


def test_the_entries_of_a_feed_are_rows_if_they_are_short_and_texts_if_they_are_long() -> None:
    item = "<item><title>{0}</title><link>http://x/{0}</link><description>{1}</description></item>"
    short = item.format("A", "Short &lt;b&gt;words&lt;/b&gt;.") + item.format("B", "Others.")
    begin, end = "<rss version='2.0'><channel><title>News</title>", "</channel></rss>"
    assert [text for _, text in blocks(read("a.rss", begin + short + end))] == [
        "title: News",
        "item.title: A\nitem.link: http://x/A\nitem.description: Short words.",
        "item.title: B\nitem.link: http://x/B\nitem.description: Others.",
    ]
    told = "It rained all day, and the ferry did not leave. " * 8
    long = item.format("A", f"&lt;p&gt;{told}&lt;/p&gt;") + item.format("B", told)
    assert blocks(read("a.rss", begin + long + end)) == [
        (HEADING, "News"),
        (HEADING, "A"),
        (ROW, "link: http://x/A"),
        (PARAGRAPH, told.strip()),
        (HEADING, "B"),
        (ROW, "link: http://x/B"),
        (PARAGRAPH, told.strip()),
    ]


def test_a_file_of_several_roots_with_bare_signs_and_open_tags_is_mended() -> None:
    assert blocks(read("wire.sgml", WIRE)) == [
        (ROW, "nr: 1\nday: 26 March"),
        (HEADING, "COCOA REVIEW"),
        (PARAGRAPH, TOLD),
        (PARAGRAPH, '"We wait," one said.'),
        (PARAGRAPH, "It rained."),
        (ROW, "nr: 2\nday: 27 March"),
        (HEADING, "OIL"),
        (PARAGRAPH, TOLD),
        (PARAGRAPH, "More oil came."),
    ]


def test_no_entity_is_expanded_and_a_bomb_of_them_is_refused() -> None:
    inside = '<!ENTITY passwd SYSTEM "file:///etc/passwd"><!ENTITY v "1.2">'
    found = read("a.xml", f"<!DOCTYPE a [{inside}]><a><b>one &passwd; &v; &eacute;</b></a>")
    assert blocks(found) == [(ROW, "b: one passwd v é")]
    bomb = '<!ENTITY a0 "ha ha ha">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 30}">' for i in range(1, 9))
    for name, end in (("a8", ""), ("b", '<!ENTITY b "&b;">')):
        with pytest.raises(UnreadableError, match="expand without bound"):
            read("a.xml", f"<!DOCTYPE a [{bomb}{end}]><a><b>one &{name};</b></a>")


@pytest.mark.parametrize(
    "text",
    [
        "<a>" * 5000 + "deep words" + "</a>" * 5000,
        "no markup & <nothing",
        "<settings><!-- Licence. --><!-- Set this to the folder you want: <folder>x</folder> --></settings>",
        "<svg xmlns='http://www.w3.org/2000/svg'><title>x</title></svg>",
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'><xs:element name='x'/></xs:schema>",
    ],
)
def test_what_is_no_text_and_no_data_stays_as_it_is(text: str) -> None:
    found = read("a.xml", text)
    assert (found.media_type, found.pages[0].text) == ("text/x-source", text)


def test_a_feed_with_a_few_comments_tells_all_in_its_attributes() -> None:
    players = "".join(f"<player name='P{n}' yds='{n}00' team='Lions of the north'/>" for n in range(9))
    text = f"<leaders week='1'><!-- generated --><!-- at noon -->{players}</leaders>"
    found = read("a.xml", text)
    assert found.media_type == "application/xml" and "name: P3\nplayer.yds: 300" in found.pages[0].text
    told = f"<leaders week='1'><!-- generated --><!-- {'at noon ' * 9}-->{players}</leaders>"
    assert read("a.xml", told).media_type == "text/x-source", "many comments, as a file of settings has them"


def test_xml_is_known_by_its_declaration_and_pages_of_html_stay_pages() -> None:
    assert format_of("export", b'<?xml version="1.0"?><a/>') is DocumentFormat.XML
    page = b'<?xml version="1.0"?><!DOCTYPE html><html><body>x</body></html>'
    assert format_of("a.xml", page.replace(b'<?xml version="1.0"?>', b"")) is DocumentFormat.HTML
