"""The benchmark of mixed documents: its files and questions are sound, its rules find flaws, and it runs."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks import reading
from benchmarks.reading.collection import Collection, collections
from benchmarks.reading.documents import Document, write
from benchmarks.reading.office_files import pptx
from benchmarks.reading.pdf_files import pdf
from benchmarks.reading.questions import Cited, Outcome, Question, spread
from benchmarks.reading.readability import flaws
from benchmarks.reading.source_text import parsed, text_of
from benchmarks.reading.text_files import eml, ipynb
from benchmarks.reading.web_files import html
from benchmarks.report import Report, Room

from localcrag.documents import LocalCorpus
from localcrag.documents.extracted import Limits
from localcrag.documents.readers.pdf import read_pdf
from localcrag.documents.readers.pptx import read_pptx
from localcrag.evaluation.text_overlap import normalised, within
from localcrag.types import Mode, Skipped
from tests.documents.conftest import tokenizer_file

COLLECTIONS = collections()
ASKED = [row for each in COLLECTIONS for row in each.asked if row[1] in each.documents]
EACH_COLLECTION = pytest.mark.parametrize("collection", COLLECTIONS, ids=lambda each: each.name)
QUESTION = Question("minutes.txt", "What did the pipe cost?", ("2,610 euros",))
GUIDE = Document(
    "guide.pdf",
    "pdf",
    bytes,
    ("Faults F02 flow too low F05 sensor lost Rinse the grille every spring.",),
    headings=("Care", "Hot water"),
    furniture=("Guide · Edition 1.4",),
    rows=(("F02", "flow too low"), ("F05", "sensor lost")),
)


def shown(text: str, *, kind: str = "pdf", quote: str = "Rinse", **changes: object) -> Outcome:
    cited = (Cited("guide.pdf", 1, quote),)
    made = Outcome(QUESTION, kind, "answered", "quote", True, text, cited, 2.0, 100)
    return replace(made, **changes)  # type: ignore[arg-type]


def values(report: Report) -> dict[str, float]:
    return {figure.name: figure.value for figure in report.figures}


def test_there_are_enough_questions_about_enough_kinds_without_any_package() -> None:
    answerable = [(question, document) for question, document in ASKED if question.answers]
    assert len(answerable) >= 150
    assert len({document.kind for _, document in answerable}) >= 14
    assert len(ASKED) - len(answerable) >= 25
    assert sum(question.table for question, _ in answerable) >= 40
    assert max(Counter(question.question for question, _ in ASKED).values()) == 1


@EACH_COLLECTION
def test_each_document_has_a_name_of_its_own_and_each_question_is_asked_of_one(
    collection: Collection,
) -> None:
    names = [document.file_name for document in collection.documents]
    assert len(set(names)) == len(names)
    made = {question for question in collection.questions if ":" not in question.document}
    assert made == {question for question, document in collection.asked if document in collection.documents}
    assert collection.about and all(0 <= share <= 1 for share in (collection.first_sight or {}).values())


@EACH_COLLECTION
def test_a_gold_answer_stands_in_its_document_on_its_page(collection: Collection) -> None:
    for question, document in collection.asked:
        page = document.pages[question.page - 1] if question.page else "\n".join(document.pages)
        assert question.aggregate or question.answered_in(page) == bool(question.answers), question
        assert (len(document.pages) > 1 and bool(question.answers)) == (question.page is not None), question


def test_no_question_is_copied_from_its_document() -> None:
    copied = []
    for question, document in ASKED:
        words, text = normalised(question.question), normalised("\n".join(document.pages))
        if any(within(words[at : at + 6], text) for at in range(len(words) - 5)):
            copied.append(question.question)
    assert not copied


@EACH_COLLECTION
def test_documents_are_read_with_the_pages_they_were_made_with(
    collection: Collection, tmp_path: Path
) -> None:
    """Those of whose pages something is asked, and one of each kind: there are a thousand in all."""
    paged = [
        (question, document)
        for question, document in collection.asked
        if question.page and not question.table and not question.aggregate
    ]
    chosen = {document.kind: document for document in reversed(collection.documents)}
    chosen = {document.file_name: document for document in (*chosen.values(), *(each for _, each in paged))}
    corpus = LocalCorpus(tokenizer_file())
    found = corpus.discover([str(write([*chosen.values()], tmp_path / "documents"))])
    read = {Path(file.source).name: corpus.read(file) for file in found if not isinstance(file, Skipped)}
    assert set(read) == set(chosen)
    for question, document in paged:
        text = next(page.text for page in read[document.name].pages if page.number == question.page)
        assert question.answered_in(text), question.question


def test_a_page_that_is_too_full_is_not_made() -> None:
    with pytest.raises(OverflowError, match="longer than the page"):
        pdf(parsed("A line.\n\n" * 80))


def test_numbered_lists_keep_their_numbers_in_slides_and_pdf() -> None:
    source = parsed("---\ntitle: Gate\n---\n# Opening\n1. Turn the key\n2. Push\n- Wait\n")
    (slide,) = read_pptx(pptx(source), Limits()).pages
    assert "1. Turn the key" in slide.text and "2. Push" in slide.text and "Wait" in slide.text
    (page,) = read_pdf(pdf(source), Limits()).pages
    assert "1. Turn the key\n2. Push" in page.text


def test_a_mail_needs_no_attachment_and_a_page_may_be_in_another_language() -> None:
    fields = "Subject: Tor\nFrom: Ada\nTo: Ben\nDate: Mon, 1 Jan 2024 10:00:00 +0100\nlang: de"
    source = parsed(f"---\n{fields}\n---\nDas Tor ist zu.\n")
    assert b"Das Tor ist zu." in eml(source)
    assert b'<html lang="de">' in html(source)


def test_a_table_of_a_notebook_is_one_of_its_cell() -> None:
    made = json.loads(
        ipynb(parsed("---\ntitle: Fans\n---\n# Fans\n\n| Fans | Seeing |\n|---|---|\n| 20 | 2.6 |\n"))
    )
    assert made["cells"][0]["source"] == "# Fans\n\n| Fans | Seeing |\n|---|---|\n| 20 | 2.6 |"


def test_a_source_has_pieces_of_every_kind() -> None:
    source = parsed(
        "---\ntitle: Guide\n---\n# Care\n\nTake *care*.\n- one\n1. two\n:: term :: meaning\nNote: say it\n"
        ">>> 42\n\n| a | b |\n|---|---|\n| c | d |\n```python\n# no heading\n```\n\\page\nThe end.\n"
    )
    assert source.title == "Guide" and len(source.pages) == 2
    kinds = [piece.kind for piece in source.pieces]
    assert kinds[:5] == ["heading", "paragraph", "item", "number", "definition"]
    assert kinds[5:] == ["note", "output", "table", "code", "paragraph"]
    assert source.pieces[7].rows == (("a", "b"), ("c", "d"))
    assert text_of(source.pieces[1:5]) == "Take care.\none\ntwo\nterm meaning"


@pytest.mark.parametrize(
    ("outcome", "found"),
    [
        (shown("Rinse the grille every spring. [1]"), ()),
        (shown("Care\nRinse the grille every spring. [1]"), ()),
        (shown("Hot water is heated daily. [1]"), ()),
        (shown("F02 flow too low [1]"), ()),
        (shown("Rinse **every** spring. [1]"), ("markup",)),
        (shown("| F02 | flow too low | [1]"), ("markup",)),
        (shown("See [the book](https://example.org/book). [1]"), ("markup",)),
        (shown("## Care\nRinse. [1]"), ("markup",)),
        (shown("Rinse the grille. Hot water ¶ [1]"), ("markup", "glued heading")),
        (shown("<p>Rinse.</p> [1]"), ("markup",)),
        (shown("/** Rinse **/ [1]", kind="code"), ()),
        (shown("```python\nrinse() [1]", kind="code"), ("markup",)),
        (shown("Guide · Edition 1.4 rinse it. [1]"), ("furniture",)),
        (shown("Rinse it. Page 3 of 7 [1]"), ("furniture",)),
        (shown("Care Rinse the grille. [1]"), ("glued heading",)),
        (shown("Rinse the grille. Hot water [1]"), ("glued heading",)),
        (shown("F02 flow too low F05 sensor lost [1]"), ("dumped table",)),
        (shown("nse the grille [1]", quote="nse the grille"), ("cut word",)),
        (shown("Rinse the gri [1]", quote="Rinse the gri"), ("cut word",)),
        (shown("Rinse the gri [1]", quote="Rinse the gri", mode="write"), ()),
        (shown("Rinse it. " * 80), ("too long",)),
        (shown("Your **documents** do not answer this.", found=False), ()),
    ],
)
def test_what_is_hard_to_read_is_found(outcome: Outcome, found: tuple[str, ...]) -> None:
    assert flaws(outcome, {"guide.pdf": GUIDE}) == found


def test_shares_are_of_what_they_name() -> None:
    right = shown("It cost 2,610 euros. [1]", citations=(Cited("minutes.txt", None, "It cost 2,610 euros."),))
    unsure = replace(right, status="unsure", text="By Sparrow. [1]\n\nIt cost 2,610 euros. [2]", citations=())
    cell = replace(QUESTION, table=True, page=2)
    wrong = replace(right, question=cell, text="It cost 2,390 euros. [1]", kind="html")
    nothing = Question("minutes.txt", "Who paid?", ())
    withheld = replace(right, question=nothing, found=False, status="not_found")
    given = replace(right, question=nothing)
    rows = [(each, ()) for each in (unsure, wrong, withheld, given)]
    found = values(reading.report([(right, ("markup",)), *rows]))
    assert found["questions that a document answers"] == 3 and found["questions that none answers"] == 2
    assert found["right"] == pytest.approx(2 / 3)
    assert found["right ones: answered"] == found["right ones: unsure"] == 0.5
    assert found["right ones: in the first paragraph"] == 0.5
    assert found["right ones: cite the document, on the right page"] == 0.5
    assert found["wrong and answered"] == pytest.approx(1 / 3)
    assert found["cells of tables: right"] == 0
    assert found["not in any document: withheld"] == found["not in any document: answered"] == 0.5
    assert found["hard to read, of those shown"] == found["hard to read: markup"] == 0.25
    assert found["pdf: right"] == 1 and found["html: right"] == 0


@pytest.mark.parametrize(("cited", "right"), [(("guide.pdf", 2), True), (("guide.pdf", 1), False)])
def test_the_page_must_be_the_one_with_the_answer(cited: tuple[str, int], right: bool) -> None:
    asked = Question("package:some/guide.pdf", "How often?", ("every spring",), page=2)
    assert shown("", question=asked, citations=(Cited(*cited, "Rinse"),)).right_page is right


def test_a_limit_takes_questions_from_the_whole_set() -> None:
    chosen = spread(ASKED, 40)
    assert len(chosen) == 40 and len({document.kind for _, document in chosen}) >= 13
    assert all(any(row in each.asked for row in chosen) for each in COLLECTIONS)
    assert spread(ASKED, 10_000) == ASKED


def test_kinds_are_chosen_by_name(tmp_path: Path) -> None:
    rows = reading.chosen(Room(tmp_path, tmp_path, options={"kinds": "pdf,docx"}), ASKED)
    assert {document.kind for _, document in rows} == {"pdf", "docx"}


def test_a_chat_model_of_ones_own_is_asked_with_what_was_measured_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALCRAG_HOME", str(tmp_path / "mine"))
    checked = tmp_path / "mine" / "fitness" / "own.json"
    checked.parent.mkdir(parents=True)
    checked.write_text("{}")
    room = Room(tmp_path, tmp_path, options={"model": "own.gguf", "mode": "write"})

    settings = reading.settings_of(room, tmp_path / "home", "default")

    assert (settings.model.language, settings.loop.mode) == ("own.gguf", Mode.WRITE)
    assert (settings.home / "fitness" / "own.json").read_text() == "{}"


def test_it_asks_and_keeps_answers_that_can_be_judged_again(tmp_path: Path) -> None:
    kept = tmp_path / "answers.jsonl"
    first = reading.measure(Room(tmp_path / "a", tmp_path, quick=True, options={"answers": str(kept)}))
    rows = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    assert len(rows) == reading.QUICK_QUESTIONS
    assert {row["kind"] for row in rows} == set(reading.QUICK_KINDS)
    again = reading.measure(Room(tmp_path / "b", tmp_path, quick=True, options={"earlier": str(kept)}))
    assert values(again) == values(first)
    assert first.charts[0].labels == (reading.QUICK_COLLECTION,)


def test_each_of_several_gold_answers_may_be_asked_for() -> None:
    asked = replace(QUESTION, answers=("the pipe", "2,610 euros"))
    half = shown("It cost 2,610 euros. [1]", question=asked)
    assert half.right and not replace(half, question=replace(asked, every=True)).right
    whole = "F02 flow too low. F05 sensor lost. " + "Rinse it. " * 80
    several = replace(QUESTION, answers=("flow too low", "sensor lost"), every=True)
    assert flaws(shown(whole, question=several), {"guide.pdf": GUIDE}) == ()
