"""Real files of each format, made by the libraries that people make them with."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from random import Random

FOX = "The quick brown fox jumps over the lazy dog."


def pdf(*pages: Sequence[str], title: str = "", password: str | None = None) -> bytes:
    """A page per sequence of lines; a page of no lines has a drawing only, as a scan has."""
    from reportlab.lib.pdfencrypt import StandardEncryption
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, encrypt=StandardEncryption(password) if password is not None else None)
    canvas.setTitle(title)
    for lines in pages:
        canvas.rect(20, 20, 300, 300, fill=0 if lines else 1)
        for number, line in enumerate(lines):
            canvas.drawString(72, 780 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


class Sheet:
    """A page of a PDF to be drawn: texts in a font, and lines, in points from the lower left corner."""

    def __init__(self) -> None:
        self.texts: list[tuple[float, float, str, float, str]] = []
        self.rules: list[tuple[float, float, float, float]] = []

    def text(self, x: float, y: float, text: str, size: float = 10, font: str = "Helvetica") -> Sheet:
        """One line; the fonts are Helvetica, Helvetica-Bold and Courier."""
        self.texts.append((x, y, text, size, font))
        return self

    def lines(
        self, x: float, y: float, text: str, width: float, size: float = 10, pitch: float = 12
    ) -> float:
        """A paragraph broken to a width; the height of the next line is returned."""
        from reportlab.lib.utils import simpleSplit

        for line in simpleSplit(text, "Helvetica", size, width):
            self.text(x, y, line, size)
            y -= pitch
        return y

    def rows(
        self,
        xs: Sequence[float],
        y: float,
        rows: Sequence[Sequence[str]],
        pitch: float = 14,
        size: float = 10,
    ) -> float:
        """The cells of a table without rules; the height of the next row is returned."""
        for row in rows:
            for x, cell in zip(xs, row, strict=True):
                self.text(x, y, cell, size)
            y -= pitch
        return y

    def grid(self, xs: Sequence[float], ys: Sequence[float]) -> Sheet:
        """The rules around the cells of a table."""
        self.rules += [(xs[0], y, xs[-1], y) for y in ys]
        self.rules += [(x, ys[0], x, ys[-1]) for x in xs]
        return self


def drawn_pdf(*sheets: Sheet, turned: int = 0) -> bytes:
    """A PDF with what the sheets draw; ``turned`` is the rotation that a viewer applies, in degrees."""
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    for sheet in sheets:
        if turned:
            canvas.setPageRotation(turned)
            canvas.transform(0, 1, -1, 0, 595, 0)
        for x, y, text, size, font in sheet.texts:
            canvas.setFont(font, size)
            canvas.drawString(x, y, text)
        for x0, y0, x1, y1 in sheet.rules:
            canvas.line(x0, y0, x1, y1)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def docx(title: str = "") -> bytes:
    """Two levels of headings, a list and a table."""
    from docx import Document

    document = Document()
    document.core_properties.title = title
    document.add_heading("Dosage", 1)
    document.add_paragraph("Take one tablet with water.")
    document.add_heading("Children", 2)
    document.add_paragraph("Half a tablet below twelve years.")
    document.add_paragraph("after a meal", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("age", "dose", "6", "half"), strict=True):
        cell.text = text
    return _saved(document)


def pptx(*slides: tuple[str, Sequence[str], str]) -> bytes:
    """Slides of (title, points, speaker's notes); the last gets a table and a group."""
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    for title, points, notes in slides:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text_frame.text = "\n".join(points)
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    if slides:
        table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(1)).table
        for i, text in enumerate(("drug", "dose", "aspirin", "100|mg")):
            table.cell(i // 2, i % 2).text = text
        box = slide.shapes.add_group_shape().shapes.add_textbox(0, 0, Inches(1), Inches(1))
        box.text_frame.text = "grouped words"
    return _saved(deck)


def xlsx(sheets: Mapping[str, Sequence[Sequence[object]]], *, hidden: Sequence[str] = ()) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        if name in hidden:
            sheet.sheet_state = "hidden"
    return _saved(book)


def xlsx_far_corner() -> bytes:
    """One cell in the very last row and column of a sheet: 17 thousand million cells, if one counts them."""
    from openpyxl import Workbook

    book = Workbook()
    book.active["A1"] = "near"
    book.active["XFD1048576"] = "far"
    return _saved(book)


def epub(chapters: Sequence[tuple[str, str]], *, title: str = "A Book", locked: bool = False) -> bytes:
    """Chapters of (heading, paragraph), listed in the manifest in the opposite order of reading."""
    numbers = range(len(chapters))
    manifest = "".join(
        f'<item id="c{i}" href="text/ch%20{i}.xhtml" media-type="application/xhtml+xml"/>'
        for i in reversed(numbers)
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>{title}</dc:title></metadata><manifest>{manifest}</manifest>"
        f'<spine>{"".join(f"""<itemref idref="c{i}"/>""" for i in numbers)}</spine></package>',
    }
    for i, (heading, paragraph) in enumerate(chapters):
        parts[f"OEBPS/text/ch {i}.xhtml"] = (
            '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head>'
            f"<body><h1>{heading}</h1><p>{paragraph}</p></body></html>"
        )
    if locked:
        parts["META-INF/encryption.xml"] = (
            '<encryption><CipherReference URI="OEBPS/text/ch%200.xhtml"/></encryption>'
        )
    return zipped(parts)


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def replaced(archive: bytes, parts: Mapping[str, str | bytes]) -> bytes:
    """A copy of a ZIP container with some parts replaced or added."""
    with zipfile.ZipFile(io.BytesIO(archive)) as old:
        return zipped({name: old.read(name) for name in old.namelist()} | dict(parts))


def bomb(size: int) -> bytes:
    """A DOCX whose text part becomes ``size`` bytes."""
    return replaced(docx(), {"word/document.xml": b" " * size})


def spoilt(data: bytes, rng: Random) -> bytes:
    """A copy with something wrong: of a container mostly one part lost or without one of its tags."""
    if data.startswith(b"PK") and rng.random() < 0.8:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
        name = rng.choice(list(parts))
        tags = re.split(rb"(<[^>]*>)", bytes(parts[name]))  # type: ignore[arg-type]
        tags[rng.randrange(len(tags))] = b""
        parts[name] = b"".join(tags)
        if rng.random() < 0.2:
            del parts[name]
        return zipped(parts)
    changed = bytearray(data)
    for _ in range(rng.choice((1, 5, 30))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def mail(*, html: bool = False) -> bytes:
    message = EmailMessage()
    message["Subject"] = "Größe der Dosis"
    message["From"] = "Ann <ann@example.org>"
    message["To"] = "bob@example.org"
    message["Date"] = "Mon, 02 Mar 2026 10:00:00 +0000"
    if html:
        message.set_content("<p>Take <b>one</b> tablet.</p>", subtype="html")
    else:
        message.set_content("Take one tablet – täglich.", charset="utf-8")
        message.add_alternative("<p>HTML twin</p>", subtype="html")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="leaflet.pdf")
    return message.as_bytes()


def nested_mail(depth: int) -> bytes:
    """A multipart in a multipart, and so on; a text in the last."""
    parts = "".join(f'Content-Type: multipart/mixed; boundary="b{i}"\n\n--b{i}\n' for i in range(depth))
    return f"Subject: Deep\nFrom: ann@example.org\n{parts}Content-Type: text/plain\n\nbottom\n".encode()


def _saved(document: object) -> bytes:
    out = io.BytesIO()
    document.save(out)  # type: ignore[attr-defined]
    return out.getvalue()
