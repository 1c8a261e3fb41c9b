"""Bibliographies in BibTeX: each entry is a section with one row, without markup, and nothing is lost."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import parse
from localcrag.documents.splitting import passages_of
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Document

ABSTRACT = "Thin ice hides the rock below it. " * 8
LIBRARY = rf"""% Encoding: UTF-8
@string{{jit = "Journal of Iberian Tectonics"}}
@preamble{{"\newcommand{{\noop}}[1]{{}}"}}
@comment{{jabref-meta: databaseType:bibtex;}}

@phdthesis{{dudek2026, author={{Dudek, Marek}}, title={{Gravity anomalies under {{T}}hin {{Ice}}}},
  school={{Faculty of Earth Sciences}}, year=2026, month=mar,
  abstract={{{ABSTRACT}

             It is \emph{{measured}} here.}}, keywords = {{gravity, ice}}}}
@ARTICLE {{robles2024,
  Author = "Robles, Aitana and Luis Quintero and {{Survey of Almar}} and others",
  TITLE = {{{{Shear zones: H$_2$O and 5\,\% of \textit{{all}}}}}},
  Journal = JIT # ", Series~" # {{B}},
  volume = 18, pages = {{201--219}}, doi = {{10.1000/a\_b~c}}, url = {{http://almar.example/~robles/50%25}}
}}
"""


def read(text: str, limits: Limits | None = None) -> ExtractedText:
    return parse(DocumentFormat.BIBTEX, text.encode(), limits or Limits())


def told(text: str) -> list[tuple[BlockKind, str]]:
    (page,) = read(text).pages
    return [(block.kind, page.text[block.start : block.end]) for block in page.blocks]


def row(fields: str) -> str:
    """The row of an entry with these fields, without its title, type and key."""
    (_, (_, shown), *_) = told(f"@misc{{k, title = {{x}}, {fields}}}")
    return shown.removeprefix("Title: x · ").removesuffix(" · Type: misc · Key: k")


def test_an_entry_is_a_section_with_a_row() -> None:
    assert read(LIBRARY).media_type == "text/x-bibtex"
    assert told(LIBRARY) == [
        (BlockKind.PARAGRAPH, "Encoding: UTF-8"),
        (BlockKind.HEADING, "Gravity anomalies under Thin Ice"),
        (
            BlockKind.ROW,
            "Title: Gravity anomalies under Thin Ice · Author: Marek Dudek"
            " · School: Faculty of Earth Sciences · Year: 2026 · Month: March · Keywords: gravity, ice"
            " · Type: phdthesis · Key: dudek2026",
        ),
        (BlockKind.PARAGRAPH, f"Abstract: {ABSTRACT.strip()}"),
        (BlockKind.PARAGRAPH, "It is measured here."),
        (BlockKind.HEADING, "Shear zones: H_2O and 5 % of all"),
        (
            BlockKind.ROW,
            "Title: Shear zones: H_2O and 5 % of all · Author: Aitana Robles, Luis Quintero, Survey of Almar,"
            " et al. · Journal: Journal of Iberian Tectonics, Series B · Volume: 18 · Pages: 201–219"
            " · DOI: 10.1000/a_b~c · URL: http://almar.example/~robles/50%25 · Type: article"
            " · Key: robles2024",
        ),
    ]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        (r"author = {Knuth, Jr., Donald E.}", "Author: Donald E. Knuth Jr."),
        (r"author = {van der Berg, Ann and {\'E}mile Du}", "Author: Ann van der Berg, Émile Du"),
        (r"author = {M. {D}e~{C}{\'a}ceres}", "Author: M. De Cáceres"),
        (r"author = {Sip{\H o}cz, B.~M.}", "Author: B. M. Sipőcz"),
        (r"author = {Ost, A., Lund, B., Wei, C.}", "Author: Ost, A., Lund, B., Wei, C."),
        (r"editor = {{Ost, Lund and Sons}}", "Editor: Ost, Lund and Sons"),
        (r"publisher = {Chapman \& Hall}", "Publisher: Chapman & Hall"),
        (r"publisher = {Chapman & Hall, 20% off}", "Publisher: Chapman & Hall, 20% off"),
        (r"note = {M{\"u}ller, Dvo\v{r}\'ak, \dj}", "Note: Müller, Dvořák, đ"),
        (r"note = {$\nu$ and \textregistered{} at}", "Note: ν and ® at"),
        (r"note = {\mbox{PM}$_{2.5}$ and $x^{2}$ at 5$^\circ$C}", "Note: PM_2.5 and x^2 at 5°C"),
        (r"journal = {\aj}", "Journal: aj"),
        (r"howpublished = {\url{http://a.example/~b_c--d}}", "How published: http://a.example/~b_c--d"),
        (r"booktitle = {Proc.}, issn = {1234-5678}", "Book title: Proc. · ISSN: 1234-5678"),
        ("date-added = {2024-01-02}, bdsk-file-1 = {YnBsaXN0}", "Date added: 2024-01-02"),
        ("month = 10", "Month: October"),
        ("month = {Sep.}", "Month: September"),
        ('month = "10~" # jan', "Month: 10 January"),
        ("month = {June/July}", "Month: June/July"),
        ("journal = unknown # { B}", "Journal: unknown B"),
        ("note = {one}, note = {two}", "Note: one · Note: two"),
        ("type = {Licentiate thesis}", "Kind: Licentiate thesis"),
        ("note = {}, year = {1999}", "Year: 1999"),
        ('note = "a {"}quoted{"} word"', 'Note: a "quoted" word'),
        ("note = {one # two}", "Note: one # two"),
    ],
)  # fmt: skip
def test_fields(fields: str, shown: str) -> None:
    assert row(fields) == shown


def test_what_has_no_title_is_called_by_its_key() -> None:
    assert told("@misc{lund99, author = {Lund, Ada}}\n@book(ost, year = 1999)\n@misc{bare}") == [
        (BlockKind.HEADING, "lund99"),
        (BlockKind.ROW, "Key: lund99 · Author: Ada Lund · Type: misc"),
        (BlockKind.HEADING, "ost"),
        (BlockKind.ROW, "Key: ost · Year: 1999 · Type: book"),
        (BlockKind.HEADING, "bare"),
        (BlockKind.ROW, "Key: bare · Type: misc"),
    ]


def test_an_entry_that_cannot_be_read_stays_as_it_is_written(caplog: pytest.LogCaptureFixture) -> None:
    broken = "@book{lund, title = {Oars}, and more, year = 1999}"
    open_ = "@book{ost,\n title = {Sails"
    with caplog.at_level(logging.INFO):
        assert told(f"{broken}\n{open_}\n@misc{{k, title = {{Masts}}}}\n% the end") == [
            (BlockKind.PARAGRAPH, "the end"),
            (BlockKind.HEADING, "lund"),
            (BlockKind.PARAGRAPH, broken),
            (BlockKind.HEADING, "ost"),
            (BlockKind.PARAGRAPH, open_),
            (BlockKind.HEADING, "Masts"),
            (BlockKind.ROW, "Title: Masts · Type: misc · Key: k"),
        ]
    assert not caplog.records


def test_entries_of_the_same_key_are_all_read() -> None:
    found = told("@misc{k, title={One}} @misc{k, title={Two}}\n@misc{k, title={Three}}")
    assert [text for kind, text in found if kind is BlockKind.HEADING] == ["One", "Two", "Three"]


def test_a_macro_may_stand_for_others_and_below_the_entry() -> None:
    text = '@misc{k, title={x}, journal=B}\n@string{a = {Annals}}\n@string(b = a # " of Rowing")\n'
    assert told(text)[1][1] == "Title: x · Journal: Annals of Rowing · Type: misc · Key: k"


def test_a_file_without_entries_is_plain_text() -> None:
    found = read("%A Ada Lund\n%T Oars\n")
    assert (found.media_type, found.pages[0].text) == ("text/plain", "%A Ada Lund\n%T Oars\n")
    assert read("").pages[0].text == ""


def test_the_entries_are_one_table(tokenizer: Path) -> None:
    found = read(LIBRARY)
    document = Document("/library.bib", "0", "library.bib", found.media_type, found.pages)
    passages = passages_of(document, tokenizer)
    (table,) = tables_of(passages)
    assert table.columns[:2] == ("Title", "Author")
    assert [cell for cell in table.cells("Year") if cell] == ["2026"]
    abstract = next(passage for passage in passages if "It is measured here." in passage.text)
    assert "Gravity anomalies under Thin Ice" in abstract.heading + abstract.text


@pytest.mark.parametrize(
    ("name", "start", "expected"),
    [
        ("library.bib", "", DocumentFormat.BIBTEX),
        ("export", LIBRARY, DocumentFormat.BIBTEX),
        ("export", "\n@InProceedings(k, title={x})", DocumentFormat.BIBTEX),
        ("export", "@article is no entry", DocumentFormat.TEXT),
        ("export", "@ann (by mail): the oars", DocumentFormat.TEXT),
        ("notes.txt", LIBRARY, DocumentFormat.TEXT),
    ],
)
def test_the_format_is_known_by_name_and_content(name: str, start: str, expected: DocumentFormat) -> None:
    assert format_of(name, start.encode()) is expected


def test_old_encodings_and_the_limit() -> None:
    data = "@misc{k, title = {Bücher über Flöße}}".encode("latin-1")
    assert parse(DocumentFormat.BIBTEX, data, Limits()).pages[0].text.startswith("Bücher über Flöße")
    with pytest.raises(UnreadableError, match="expands"):
        read(LIBRARY, Limits(text=200))


@given(st.text(alphabet="@misc{}(),=\"#\\$~%_^ \n'-aA1", max_size=300))
def test_no_file_breaks_it(text: str) -> None:
    read(text)
    read(f"@misc{{k, title = {{x}}, author = {{{text}}}}}")
    read(f'@misc{{k, title = "{text}", month = {text}')


@pytest.mark.parametrize(
    "text",
    [
        "{" * 200_000 + "x" + "}" * 200_000,
        r"\sqrt[" * 50_000,
        r"\emph{" * 50_000 + "}" * 50_000,
        "word " * 100_000,
        r"{\'a} " * 50_000,
        "A, B and " * 50_000,
        "\n@a{" * 50_000,
        '@a{"' * 50_000,
        "{a} # " * 50_000,
        "\n" * 300_000,
        "http://" * 50_000,
    ],
)
def test_hostile_files_take_linear_time(text: str) -> None:
    start = time.process_time()
    read(f"@misc{{k, title = {{x}}}}\n@misc{{l, abstract = {{{text}}}, author = {{{text}}}, note = {text}}}")
    assert time.process_time() - start < 30


def test_macros_that_stand_for_many_are_bounded() -> None:
    doubled = "".join(f"@string{{m{i + 1} = m{i} # m{i}}}\n" for i in range(60))
    found = read(f"@string{{m0 = {{many }}}}\n{doubled}@misc{{k, title = {{x}}, note = m60}}")
    assert len(found.pages[0].text) < 50_000
