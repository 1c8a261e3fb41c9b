"""``ask --report``: the file, beside what the command prints as ever."""

from __future__ import annotations

from pathlib import Path

from lxml import html

from tests.cli.conftest import Run

DOSE = "What is the usual dose of Zeldrine?"


def test_a_report_shows_the_answer_its_page_and_its_models(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "answer.html"
    done = run("ask", DOSE, "--report", str(file), "--json")
    tree = html.document_fromstring(file.read_text("utf-8"))
    assert done.code == 0 and str(file) in done.err
    assert "35 mg" in done.json["answer"] and "35 mg" in tree.xpath("//*[@class='answer']")[0].text_content()
    (picture,) = tree.xpath("//img")
    assert picture.get("alt") == "Page 2 of the document, with the quoted words boxed"
    assert len(tree.xpath("//section[@aria-labelledby='models-title']//*[@class='digest']")) >= 2
    assert "Nothing. The ledger has no line" in tree.text_content()


def test_a_report_without_a_folder_is_refused_before_the_question(run: Run, tmp_path: Path) -> None:
    done = run("ask", DOSE, "--report", str(tmp_path / "nowhere" / "answer.html"))
    assert done.code == 2 and "there is no folder" in done.err and not done.out
