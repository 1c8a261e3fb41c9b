"""The text, title, pages and headings of each format."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from email.mime.base import MIMEBase
from email.mime.image import MIMEImage
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from pathlib import Path

import pytest

from localcrag.documents import LocalCorpus
from localcrag.documents.extracted import Limits
from localcrag.documents.readers.epub import read_epub
from localcrag.documents.readers.pdf_hyphens import mend_hyphens
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page
from tests.documents.builders import FOX, docx, epub, mail, pdf, pptx, replaced, xlsx, xlsx_far_corner, zipped
from tests.documents.conftest import ReadFunction

UNREAD_MESSAGE = "Attachments that were not read: message/rfc822 (a message that cannot be read)"
XXE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file://{path}">]>'


def blocks(page: Page) -> list[tuple[BlockKind, int, str]]:
    return [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]


def headings(corpus: LocalCorpus, document: object) -> list[str]:
    return [passage.heading for passage in corpus.split(document)]  # type: ignore[arg-type]


def test_pdf_pages_title_and_paragraphs(read: ReadFunction) -> None:
    document = read("x.pdf", pdf([FOX, "Second line."], [], ["Third page."], title="A Real Title"))
    assert document.media_type == "application/pdf" and document.title == "A Real Title"
    assert [(p.number, p.text) for p in document.pages] == [(1, f"{FOX} Second line."), (3, "Third page.")]


@pytest.mark.parametrize("title", ["untitled", "", "report.doc"])
def test_a_pdf_without_a_telling_title_is_called_as_its_file(read: ReadFunction, title: str) -> None:
    assert read("My Paper.v2.pdf", pdf([FOX], title=title)).title == "My Paper.v2"


def test_pdf_words_cut_at_a_line_end_are_mended(read: ReadFunction) -> None:
    lines = ["The treat-", "ment of Anglo-", "Saxon kings took 10-", "20 days.", "A treatment."]
    assert read("x.pdf", pdf(lines)).pages[0].text == (
        "The treatment of Anglo-Saxon kings took 10-20 days.\n\nA treatment."
    )


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ("inter\x02national", "international"),
        ("well\x02known; a well and the known", "well-known; a well and the known"),
        ("well\x02known. It is well-known", "well-known. It is well-known"),
        ("Anglo\x02Saxon", "Anglo-Saxon"),
        ("10\x0220", "10-20"),
        ("re\ufffesign, to resign", "resign, to resign"),
    ],
)
def test_hyphens_are_mended_by_what_the_document_shows(text: str, mended: str) -> None:
    assert mend_hyphens([text]) == [mended]


def test_docx(read: ReadFunction, corpus: LocalCorpus) -> None:
    document = read("x.docx", docx(title="The Leaflet"))
    assert document.title == "The Leaflet" and [p.number for p in document.pages] == [None]
    text = document.pages[0].text
    assert text.startswith("Dosage\n\nTake one tablet with water.\n\n\nChildren\n\nHalf a tablet")
    assert "- after a meal\n\nage: 6 · dose: half" in text
    assert [(block.kind, block.level) for block in document.pages[0].blocks] == [
        *((BlockKind.HEADING, 1), (BlockKind.PARAGRAPH, 0), (BlockKind.HEADING, 2), (BlockKind.PARAGRAPH, 0)),
        *((BlockKind.ITEM, 0), (BlockKind.ROW, 0)),
    ]
    small = LocalCorpus(corpus._tokenizer, passage_tokens=16)
    assert headings(small, document)[:2] == ["Dosage", "Dosage > Children"]


def test_a_docx_without_a_title_is_called_as_its_file(read: ReadFunction) -> None:
    assert read("leaflet.docx", docx()).title == "leaflet"


def test_office_files_read_nothing_from_outside(read: ReadFunction, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("TOPSECRET")
    part = XXE.format(path=secret) + (
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r>'
        "<w:t>seen &e; too</w:t></w:r></w:p></w:body></w:document>"
    )
    text = read("x.docx", replaced(docx(), {"word/document.xml": part})).pages[0].text
    assert "seen" in text and "TOPSECRET" not in text


def test_pptx_slides_are_pages(read: ReadFunction, corpus: LocalCorpus) -> None:
    document = read(
        "x.pptx", pptx(("Doses", ["one", "two"], "say it slowly"), ("", [], ""), ("End", ["bye"], ""))
    )
    assert [p.number for p in document.pages] == [1, 3] and document.title == "Doses"
    assert blocks(document.pages[0]) == [
        (BlockKind.HEADING, 1, "Doses"),
        (BlockKind.ITEM, 0, "one"),
        (BlockKind.ITEM, 0, "two"),
        (BlockKind.PARAGRAPH, 0, "Notes: say it slowly"),
    ]
    assert document.pages[0].text == "Doses\n\n- one\n- two\n\nNotes: say it slowly"
    assert document.pages[1].text == "End\n\nbye\n\ndrug: aspirin · dose: 100|mg\n\ngrouped words"
    assert headings(corpus, document) == ["Doses", "End"]


def test_xlsx_sheets_are_pages_and_rows_stand_alone(read: ReadFunction, corpus: LocalCorpus) -> None:
    sheets: dict[str, Sequence[Sequence[object]]] = {
        "Doses": [["drug", "dose in mg", "safe"], ["aspirin", 100.0, True], ["ibuprofen", 2.5, None]],
        "Hidden": [["no"]],
        "N_o_tes": [["just a *note*"]],
    }
    document = read("x.xlsx", xlsx(sheets, hidden=["Hidden"]))
    assert [(p.number, p.text) for p in document.pages] == [
        (1, "Doses\n\ndrug: aspirin · dose in mg: 100 · safe: yes\ndrug: ibuprofen · dose in mg: 2.5"),
        (3, "N_o_tes\n\njust a *note*"),
    ]
    assert blocks(document.pages[1]) == [
        (BlockKind.HEADING, 1, "N_o_tes"),
        (BlockKind.ROW, 1, "just a *note*"),
    ]
    assert headings(corpus, document) == ["Doses", "N_o_tes"]


def numbers(page: Page) -> list[int]:
    return [block.level for block in page.blocks if block.kind is BlockKind.ROW]


def test_rows_have_the_numbers_that_the_file_gives_them(read: ReadFunction, corpus: LocalCorpus) -> None:
    title: list[Sequence[object]] = [["Fees of 2026"], [], ["kind", "fee"], ["car", 48], [], [], ["boat", 75]]
    document = read("x.xlsx", xlsx({"Old": [["just a note"]], "Tariffs": title}))
    assert [numbers(page) for page in document.pages] == [[1], [4, 7]]
    first, second = corpus.split(document)
    assert (first.sheet, first.rows()) == ("Old", (1, 1))
    assert (second.sheet, second.rows()) == ("Tariffs", (4, 7))
    row = second.blocks[-1]
    assert second.rows(row.start, row.end) == (7, 7)
    text = 'kind,fee\ncar,"48\nEUR"\n\n\nboat,75\n'
    document = read("x.csv", text)
    assert numbers(document.pages[0]) == [2, 5], "a cell of two lines is one row; blank rows count"
    [passage] = corpus.split(document)
    assert (passage.sheet, passage.rows()) == ("", (2, 5))
    table = read("x.md", TABLE)
    assert set(numbers(table.pages[0])) == {0} and corpus.split(table)[0].rows() is None
    archive = read("x.zip", zipped({"x.csv": text.encode()}))
    assert corpus.split(archive)[0].rows() is None, "the number alone would not say in which file"


def test_a_sheet_with_a_cell_in_its_farthest_corner_costs_little(read: ReadFunction) -> None:
    text = read("x.xlsx", xlsx_far_corner()).pages[0].text
    assert "near" in text and len(text) < 1000


@pytest.mark.parametrize("is_locked", [False, True])
def test_an_epub_that_was_packed_with_its_folder(
    is_locked: bool,
) -> None:
    """As ``zip -r book.epub book`` makes it."""
    packed = io.BytesIO()
    made = epub([("One", "First chapter."), ("Two", "Second chapter.")], title="The Book", locked=is_locked)
    with zipfile.ZipFile(io.BytesIO(made)) as book, zipfile.ZipFile(packed, "w") as again:
        for name in book.namelist():
            again.writestr(f"book/{name}", book.read(name))
    if is_locked:
        with pytest.raises(UnreadableError, match="copy protected"):
            read_epub(packed.getvalue(), Limits())
        return
    (page,) = read_epub(packed.getvalue(), Limits()).pages
    assert "First chapter." in page.text and "Second chapter." in page.text


def test_epub_chapters_in_reading_order(read: ReadFunction, corpus: LocalCorpus) -> None:
    document = read("x.epub", epub([("One", "First chapter."), ("Two", "Second chapter.")], title="The Book"))
    assert document.title == "The Book"
    assert document.pages[0].text == "One\n\nFirst chapter.\n\n\n\nTwo\n\nSecond chapter."


def test_html_text_and_title(read: ReadFunction) -> None:
    paragraph = " ".join([FOX] * 5)
    html = (
        "<html><head><title>Doses &amp; more</title><style>p{}</style></head><body>"
        "<nav><a href=/>Home</a></nav>"
        f"<article><h1>Dosage of some_drug_name</h1><p>{paragraph}</p><h2>Children</h2><p>{paragraph}</p>"
        "<script>alert(1)</script></article><footer>Imprint</footer></body></html>"
    )
    document = read("x.html", html)
    assert document.title == "Doses & more"
    text = document.pages[0].text
    assert text.startswith("Dosage of some_drug_name\n\nThe quick") and "\n\n\nChildren\n\nThe" in text
    assert text.endswith("Imprint") and not any(word in text for word in ("Home", "alert", "p{}"))


def test_html_without_headings_of_its_own_gives_all_visible_text(read: ReadFunction) -> None:
    rows = "".join(f"<div><span>item {i}</span></div>" for i in range(5))
    document = read("x.htm", f"<body><h1>Parts</h1>{rows}<p style='display:none'>unseen</p></body>")
    assert document.title == "Parts"
    assert all(f"item {i}" in document.pages[0].text for i in range(5))


@pytest.mark.parametrize(
    ("text", "is_html"),
    [
        ("\n<h1>Starlines</h1>\n<p>Of <em>Hawaii</em>.</p>", True),
        ('<p class="a">One <b>bold</b> word.</p>', True),
        ("<h1> is the largest heading", False),
        ("<person>Ann</person>", False),
        ("See <p>one</p>.", False),
    ],
)
def test_a_page_without_a_head_is_html_whatever_its_name(
    read: ReadFunction, text: str, is_html: bool
) -> None:
    assert ("<" not in read("description.en.utf8", text).pages[0].text) is is_html


def test_html_in_the_encoding_it_declares(read: ReadFunction) -> None:
    html = '<meta charset="koi8-r"><title>Доза</title><p>Одна таблетка</p>'.encode("koi8-r")
    document = read("x.html", html)
    assert (document.title, document.pages[0].text) == ("Доза", "Одна таблетка")
    wide = read("y.html", '<meta charset="utf-16"><title>Größe</title><p>Vier Tabletten</p>')
    assert (wide.title, wide.pages[0].text) == ("Größe", "Vier Tabletten")


def test_markdown_is_read_without_its_markup(read: ReadFunction, corpus: LocalCorpus) -> None:
    text = "---\ntitle: 'Front *matter*'\n---\n\n# Dosage\n\nOne `tablet`."
    document = read("x.md", text)
    assert document.pages[0].text == "title: Front *matter*\n\n\n\nDosage\n\nOne tablet."
    assert document.title == "Front *matter*"
    assert read("y.md", "intro\n\nThe **bold** `title`\n====\n\ntext").title == "The bold title"
    assert read("z.md", "```\n# no title\n```\n").title == "z"


def test_restructuredtext_headings(read: ReadFunction) -> None:
    text = f"=====\nGuide\n=====\n\n{FOX}\n\nDosage\n======\n\n{FOX}\n\nChildren\n--------\n\n{FOX}\n"
    document = read("x.rst", text)
    assert document.title == "Guide" and "====" not in document.pages[0].text
    from tests.documents.conftest import tokenizer_file

    small = LocalCorpus(tokenizer_file(), passage_tokens=16)
    assert headings(small, document) == ["Guide", "Guide > Dosage", "Guide > Dosage > Children"]


def test_settings_whose_name_says_that_they_are_a_table(read: ReadFunction) -> None:
    lines = [f"# How often passengers change, at most, part {n} of this remark." for n in range(5)]
    document = read("simuconf.tab", "\n".join([*lines, "max_transfers = 9", "", "# Stops.", "stops = 2"]))
    assert "max_transfers = 9" in document.pages[0].text and "·" not in document.pages[0].text
    assert BlockKind.ROW not in [kind for kind, _, _ in blocks(document.pages[0])]
    table = read("votes.tab", "# of 1984\n# by state\nstate\tvote\nUtah\t24\nOhio\t40\n")
    assert "state: Utah · vote: 24" in table.pages[0].text


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_rows_stand_alone(read: ReadFunction, delimiter: str) -> None:
    rows = [["name", "note"], ["Ann", '"a, b;\nc"'], ["Bob", ""], ["", ""], ["Cy", "x"]]
    document = read("x.tsv" if delimiter == "\t" else "x.csv", "\n".join(delimiter.join(row) for row in rows))
    assert document.pages[0].text == "name: Ann · note: a, b; c\nname: Bob\nname: Cy · note: x"
    assert {kind for kind, _, _ in blocks(document.pages[0])} == {BlockKind.ROW}


def test_apostrophes_in_a_csv_are_letters(read: ReadFunction) -> None:
    lines = ["name,note", "Ann,'tis fine", "Bob,it isn't", "'Cy','x'", 'Di,"a ""b"", c"']
    assert read("x.csv", "\n".join(lines)).pages[0].text == (
        "name: Ann · note: 'tis fine\nname: Bob · note: it isn't\n"
        "name: 'Cy' · note: 'x'\nname: Di · note: a \"b\", c"
    )
    lines = ["name;note", "Ann;'a', 'b', 'c'", "Bob;'d', 'e', 'f'"]
    assert read("y.csv", "\n".join(lines)).pages[0].text == (
        "name: Ann · note: 'a', 'b', 'c'\nname: Bob · note: 'd', 'e', 'f'"
    )


def test_a_title_above_a_table_is_kept(read: ReadFunction) -> None:
    rows = ["Doses of 2026,,", ",,", "drug,dose,safe", "aspirin,100,yes", "ibuprofen,,"]
    assert read("x.csv", "\n".join(rows)).pages[0].text == (
        "Doses of 2026\n\ndrug: aspirin · dose: 100 · safe: yes\ndrug: ibuprofen"
    )


def test_notes_above_the_rows_of_a_csv_are_told_apart(read: ReadFunction) -> None:
    wordy = "code\tname\tnote\nE1\tEntity\nE2\tEvent\ta, b, c, d\nE3\tDay\ta, b, c, d\nE4\tEra\ta, b, c, d\n"
    assert read("x.tsv", wordy).pages[0].text.endswith("code: E4 · name: Era · note: a, b, c, d")
    (page,) = read("x.tsv", "# Country codes\n#\n#code\tname\nSI\tSlovenia\nSK\tSlovakia\n").pages
    assert page.text == "Country codes\n\ncode: SI · name: Slovenia\ncode: SK · name: Slovakia"
    assert [block.level for block in page.blocks[1:]] == [4, 5], "the rows as the file counts them"
    zones = "# Zones\n#code\tzone\tnote\nSI\tLjubljana\nAQ\tCasey\tof Casey\n# the\n# end\n"
    assert read("z.tab", zones).pages[0].text.split("\n\n") == [
        "Zones",
        "code: SI · zone: Ljubljana\ncode: AQ · zone: Casey · note: of Casey",
        "the end",
    ]
    assert read("x.csv", "# 2025, all\na;b\n1;2\n").pages[0].text == "2025, all\n\na: 1 · b: 2"
    assert read("x.csv", "# of club #A\na;b\n1;2\n").pages[0].text.startswith("of club #A\n")
    assert "#2" in read("x.csv", "No,Name\n#1,x\n#2,y\n").pages[0].text
    assert read("x.csv", "#1,x\n#2,y\n").pages[0].blocks[-1].kind is BlockKind.ROW


def test_a_csv_without_a_header_numbers_its_columns(read: ReadFunction) -> None:
    assert read("x.csv", "1,2\n3,4\n").pages[0].text == "column 1: 1 · column 2: 2\ncolumn 1: 3 · column 2: 4"
    assert read("y.csv", "a,b\nc,d,e\n").pages[0].text == "a: c · b: d · column 3: e"


TABLE = "| Category | Fee |\n|---|---:|\n| **Motorcycle** | `35` EUR |\n| Car<br>van | 48 EUR |\n|  |  |\n"


def test_the_rows_of_a_markdown_table_stand_alone(read: ReadFunction, corpus: LocalCorpus) -> None:
    document = read("x.md", f"# Fees\n\nWhat it costs:\n\n{TABLE}\nAfter.\n\n```\n{TABLE}```\n")
    assert document.pages[0].text == (
        "Fees\n\nWhat it costs:\n\nCategory: Motorcycle · Fee: 35 EUR\nCategory: Car van · Fee: 48 EUR"
        f"\n\nAfter.\n\n{TABLE}".rstrip("\n")
    )
    assert headings(corpus, document) == ["Fees"]


def test_a_table_without_names_has_its_header_in_the_first_row(read: ReadFunction) -> None:
    """If numbers stand below it; else each row is a name and its value."""
    head = "|  |  |\n|---|---|\n| Category | Fee |\n"
    rows = read("x.md", f"{head}| Boat | 75 |\n| Car | 48 |\n| Van | 60 |\n").pages[0].text.split("\n")
    assert rows == ["Category: Boat · Fee: 75", "Category: Car · Fee: 48", "Category: Van · Fee: 60"]
    assert read("x.md", f"{head}| Boat | 75 |\n").pages[0].text == "Category: Fee\nBoat: 75"


def test_the_rows_of_html_docx_and_slides_stand_alone(read: ReadFunction) -> None:
    cells = "<tr><th>Category</th><th>Fee</th></tr><tr><td>Motorcycle</td><td>35 EUR</td></tr>"
    page = f"<html><body><main><p>{FOX}</p><table>{cells}</table></main></body></html>"
    assert "Category: Motorcycle · Fee: 35 EUR" in read("x.html", page).pages[0].text


def test_json_records(read: ReadFunction) -> None:
    value = {"name": "Kit", "size": {"h": 1.5, "tags": ["a", "b"]}, "parts": [{"id": 1}, {"id": None}]}
    assert read("x.json", json.dumps(value)).pages[0].text == (
        "name: Kit\nsize.h: 1.5\nsize.tags: a, b\n\nparts.id: 1\n\nparts.id: null"
    )
    records = blocks(read("x.json", json.dumps(value)).pages[0])
    assert [text for _, _, text in records] == [
        "name: Kit\nsize.h: 1.5\nsize.tags: a, b",
        "parts.id: 1",
        "parts.id: null",
    ]
    deep: object = "bottom"
    for _ in range(50):
        deep = {"k": deep}
    text = read("y.json", json.dumps([deep])).pages[0].text
    assert text.startswith("k.k.k.k.k.k.k.k: {") and "bottom" in text
    commented = '// settings\n{"a": 1}'
    document = read("z.json", commented)
    assert document.pages[0].text == commented and document.media_type == "text/x-source"


def test_json_lines_keep_what_is_no_json(read: ReadFunction) -> None:
    assert read("x.jsonl", '{"a": 1, "b": "x\u2028y"}\nbroken {\n\n{"a": 2}').pages[0].text == (
        "a: 1\nb: x\u2028y\n\nbroken {\n\na: 2"
    )


def test_notebooks(read: ReadFunction) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Study\n", "Text."]},
        {
            "cell_type": "code",
            "source": "print('```')",
            "outputs": [
                {"output_type": "stream", "text": ["```\n"]},
                {"output_type": "display_data", "data": {"image/png": "xx", "text/plain": "<Figure>"}},
                {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["long"]},
            ],
        },
    ]
    book = {"cells": cells, "metadata": {"language_info": {"name": "python"}}}
    document = read("x.ipynb", json.dumps(book))
    assert document.title == "Study"
    assert document.pages[0].text == ("Study\n\nText.\n\nprint('```')\n\n```\n\n<Figure>\n\nValueError: bad")


def test_mail(read: ReadFunction) -> None:
    document = read("x.eml", mail())
    assert document.title == "Größe der Dosis"
    headers = (
        "From: Ann <ann@example.org> · To: bob@example.org · Date: Mon, 02 Mar 2026 10:00:00 +0000 · "
        "Subject: Größe der Dosis"
    )
    unread = "Attachments that were not read: leaflet.pdf (damaged PDF)"
    page = document.pages[0]
    assert page.text == f"{headers}\n\nTake one tablet – täglich.\n\n{unread}"
    assert page.blocks[0].kind is BlockKind.ROW and page.blocks[1].kind is BlockKind.PARAGRAPH
    assert f"{headers}\n\nTake one tablet.\n\n" in read("y.eml", mail(html=True)).pages[0].text


def mixed(*parts: MIMEBase, subtype: str = "mixed", subject: str = "") -> MIMEMultipart:
    message = MIMEMultipart(subtype)
    if subject:
        message["Subject"] = subject
    for part in parts:
        message.attach(part)
    return message


def test_mail_texts_around_a_picture_are_all_read(read: ReadFunction) -> None:
    picture = MIMEImage(b"\x89PNG", "png", name="leaf.png")
    named = MIMEText("as a file")
    named.add_header("Content-Disposition", "inline", filename="notes.txt")
    twins = mixed(MIMEText("last"), MIMEText("<p>twin</p>", "html"), subtype="alternative")
    parts = mixed(MIMEText("first"), picture, MIMEText("<i>then</i>", "html"), named, twins, subject="S")
    assert read("x.eml", parts.as_bytes()).pages[0].text == (
        "Subject: S\n\nfirst\n\nthen\n\nlast\n\n\n\nAttachment: notes.txt\n\nas a file\n\n"
        "Attachments that were not read: leaf.png (an image)"
    )
    only = mixed(named, subject="S").as_bytes()
    assert read("y.eml", only).pages[0].text == "Subject: S\n\nas a file"


def test_html_is_read_if_the_plain_text_beside_it_is_a_remnant(read: ReadFunction) -> None:
    details = " ".join(f"line {number} of the booking" for number in range(20))
    html = MIMEText(f"<p>New inquiry</p><p>{details}</p>", "html")
    rich = mixed(MIMEText("New inquiry"), html, subtype="alternative", subject="S")
    assert details in read("x.eml", rich.as_bytes()).pages[0].text
    alike = mixed(MIMEText(f"New inquiry: {details}"), html, subtype="alternative", subject="S")
    assert "New inquiry: line 0" in read("y.eml", alike.as_bytes()).pages[0].text


def test_a_later_text_of_a_mail_that_cannot_be_read_is_named(read: ReadFunction) -> None:
    deep = MIMEText("<div>" * 3000 + "x" + "</div>" * 3000, "html")
    parts = mixed(MIMEText("first"), deep, MIMEMessage(deep), MIMEText("last"), subject="S")
    text = read("x.eml", parts.as_bytes()).pages[0].text
    assert "first\n\nlast\n\nAttachments that were not read: text/html (HTML nested too deeply)" in text
    with pytest.raises(UnreadableError, match=r"^HTML nested too deeply$"):
        read("y.eml", mixed(deep, subject="S").as_bytes())


def test_a_forwarded_mail_is_read_with_the_one_around_it(read: ReadFunction) -> None:
    message: MIMEBase = MIMEText("the innermost")
    for number in range(12):
        forward = MIMEMessage(message)
        if not number:
            forward.add_header("Content-Disposition", "attachment", filename="inner.eml")
        message = mixed(MIMEText(f"see below {number}"), forward, subject=f"Fwd {number}")
    text = read("x.eml", message.as_bytes()).pages[0].text
    forwarded = "\n\n\nForwarded message\n\nSubject: Fwd 10\n\nsee below 10\n\n"
    assert text.startswith(f"Subject: Fwd 11\n\nsee below 11{forwarded}")
    assert text.endswith(f"Subject: Fwd 1\n\nsee below 1\n\n{UNREAD_MESSAGE}")
    near = mixed(MIMEText("see below"), MIMEMessage(MIMEText("inner text")), subject="Fwd").as_bytes()
    assert read("y.eml", near).pages[0].text.endswith("see below\n\n\nForwarded message\n\ninner text")
    bare = near.replace(b"Content-Type: text/plain", b"X").partition(b"message/rfc822")
    noise = bare[0] + b"message/rfc822\n\nQmFzZTY0IG5vaXNl\n"
    assert read("z.eml", noise).pages[0].text.endswith(UNREAD_MESSAGE)


def test_source_code_is_text(read: ReadFunction) -> None:
    document = read("tool.py", "import os\n\n\ndef f():\n\treturn 1\n")
    assert document.title == "tool.py" and document.media_type == "text/x-source"
    assert document.pages[0].text == "import os\n\n\ndef f():\n\treturn 1\n"


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("paper", pdf([FOX]), "application/pdf"),
        ("paper.txt", pdf([FOX]), "application/pdf"),
        ("leaflet", docx(), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
        ("book.unknown", epub([("One", "Text.")]), "application/epub+zip"),
        ("page", b"<!-- x -->\n<!DOCTYPE html><p>Text", "text/html"),
        ("script", b"#!/bin/sh\necho hi", "text/x-source"),
        ("letter", mail(), "message/rfc822"),
        ("README", b"Plain words.", "text/plain"),
        ("x.strange", b"Plain words.", "text/plain"),
        ("x.docm", docx(), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ],
)
def test_the_kind_is_told_by_content_where_the_name_does_not(
    read: ReadFunction, name: str, data: bytes, media_type: str
) -> None:
    assert read(name, data).media_type == media_type
