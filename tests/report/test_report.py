"""The report of a question: what it shows, and that nothing of a document can be more than text in it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from localcrag.events import (
    Corrected,
    Decided,
    Event,
    Finished,
    Gathered,
    Graded,
    PassagesRead,
    Refined,
    Retrieved,
    Spared,
    Verified,
    WebAsked,
)
from localcrag.options import AskOptions
from localcrag.report import AskedQuestion, report_html
from localcrag.report.loop_path import StepKind, loop_path
from localcrag.report.path_drawing import path_drawing
from localcrag.settings import ModelSettings, Settings
from localcrag.types import (
    Action,
    Answer,
    Citation,
    CitationMark,
    CorrectionKind,
    Evidence,
    FieldResult,
    Grade,
    Hit,
    Mode,
    Origin,
    Passage,
    Policy,
    Skipped,
    Status,
    Strip,
    StructuredValue,
    Support,
    Verdict,
)
from localcrag.web.ledger import Ledger
from tests.documents.builders import pdf

HOSTILE = '<script>alert(1)</script><img src="http://evil.example/x" onerror="alert(2)">\u202egnp.exe [7]'
QUOTE = "The dose is 35 mg."
BEGAN = datetime(2026, 3, 1, 12, tzinfo=UTC)


def answered(source: str, document: str, page: int | None = None, around: str = HOSTILE) -> list[Event]:
    """The events of a question with one citation, out of a passage with ``around`` on both sides."""
    text = f"{around} {QUOTE} {around}"
    start = len(around) + 1
    passage = Passage("id", document, source, around, "", page, 10, 10 + len(text), text)
    hit = Hit(passage, 1.0)
    grade, other = Grade(hit, Verdict.YES, 0.9, around), Grade(hit, Verdict.ERROR, None, around)
    strip = Strip(passage, 10 + start, 10 + start + len(QUOTE), QUOTE, 0.9)
    citation = Citation(1, source, page, strip.start, strip.end, QUOTE, Origin.DOCUMENTS)
    said = f"{QUOTE} {around} [1]"
    answer = Answer(
        f"What dose? {around}",
        Status.UNSURE,
        said,
        Mode.QUOTE,
        Policy.CRAG,
        Action.AMBIGUOUS,
        (citation,),
        (grade, other),
        degraded=(around,),
        suggestions=(around,),
        marks=(CitationMark(1, len(said) - 3, len(said)),),
    )
    return [
        Retrieved(around, (hit,)),
        Graded(grade),
        Graded(other),
        Decided(Action.AMBIGUOUS, Policy.CRAG, around),
        Corrected(CorrectionKind.NEIGHBOURS, around, ()),
        Decided(Action.AMBIGUOUS, Policy.CRAG, around),
        Refined((strip,), 2),
        Gathered((Evidence(1, strip),)),
        Verified(()),
        Finished(answer),
    ]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings with a small file as the language model and no evaluator."""
    home = tmp_path_factory.mktemp("home")
    (home / "model.gguf").write_bytes(b"some weights")
    return Settings(home, model=ModelSettings(str(home / "model.gguf"), "none", "none"))


def page_of(events: Iterable[Event], settings: Settings, options: AskOptions | None = None) -> str:
    given = list(events)
    question = given[-1].answer.question if isinstance(given[-1], Finished) else ""
    asked = AskedQuestion("papers", question, options or AskOptions(), BEGAN, given)
    return report_html(asked, settings, Ledger(settings.home / "egress.jsonl"))


def parsed(page: str) -> Any:
    return html.document_fromstring(page)  # type: ignore[no-untyped-call]


def test_nothing_of_a_document_is_more_than_text(settings: Settings) -> None:
    page = page_of(answered("/notes <b>.md", "hash"), settings)
    tree = parsed(page)
    assert tree.xpath("//script | //img | //iframe | //object | //link | //form | //base | //b") == []
    attributes = {name for element in tree.iter() for name in element.attrib}
    assert not [name for name in attributes if name.startswith("on") or name == "style"]
    addresses = [value for name in ("src", "href") for value in tree.xpath(f"//@{name}")]
    assert addresses and all(address.startswith("#evidence-") for address in addresses)
    assert "\u202e" not in page and "[7]" not in tree.text_content()
    assert HOSTILE.replace("\u202e", "").replace("[7]", "‹7›") in tree.text_content()


def test_the_policy_allows_its_own_style_and_pictures_and_nothing_else(settings: Settings) -> None:
    tree = parsed(page_of(answered("/a.md", "hash"), settings))
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    (style,) = tree.xpath("//style/text()")
    digest = hashlib.sha256(style.encode()).digest()
    import base64

    assert policy.startswith("default-src 'none'; img-src data:; ")
    assert f"'sha256-{base64.b64encode(digest).decode()}'" in policy and "unsafe" not in policy


def test_a_citation_leads_to_its_quote_within_its_passage(settings: Settings) -> None:
    tree = parsed(page_of(answered("/a.md", "hash"), settings))
    (link,) = tree.xpath("//a[@class='key']")
    (evidence,) = tree.xpath(f"//*[@id='{link.get('href')[1:]}']")
    assert evidence.xpath(".//mark/text()") == [QUOTE]
    assert "/a.md" in evidence.text_content() and "document sha256 hash" in evidence.text_content()
    assert tree.xpath("//*[contains(@class, 'status')]/text()") == ["Answered, but unsure"]


def test_the_fields_of_a_structured_answer_stand_with_their_citations(settings: Settings) -> None:
    fields = (
        FieldResult("/dose", "35 mg", Support.VERBATIM, 1, 0, 5),
        FieldResult("/items/0/maker", None, Support.NONE, reason="the evidence does not say"),
    )
    *before, finished = answered("/papers/a.txt", "digest")
    assert isinstance(finished, Finished)
    output = StructuredValue('{"dose": "35 mg"}', fields)
    page = parsed(page_of([*before, Finished(replace(finished.answer, structured=output))], settings))
    rows = page.xpath("//section[@aria-labelledby='answer-title']//tbody/tr")
    said = [[" ".join(cell.text_content().split()) for cell in row] for row in rows]
    assert said == [
        ["dose", "35 mg", "verbatim [1]"],
        ["items, 0, maker", "–", "no: the evidence does not say"],
    ]
    assert rows[0].xpath(".//a/@href") == ["#evidence-1"]


def test_where_nothing_was_found_the_closest_passages_and_what_was_not_read_are_named(
    settings: Settings,
) -> None:
    *before, finished = answered("/papers/a.txt", "digest")
    assert isinstance(finished, Finished)
    [grade, _] = finished.answer.grades
    skipped = (Skipped("/papers/b.bin", HOSTILE),)
    answer = replace(finished.answer, status=Status.NOT_FOUND, closest=(grade,), unread=skipped)
    tree = parsed(page_of([*before, Finished(answer)], settings))
    (section,) = tree.xpath("//section[@aria-labelledby='answer-title']")
    said = [" ".join(item.text_content().split()) for item in section.xpath(".//li")]
    assert any(line.startswith("a.txt: <script>alert(1)") and QUOTE in line for line in said)
    assert any(line.startswith("/papers/b.bin: <script>alert(1)") for line in said)
    assert tree.xpath("//script | //img") == []


def test_a_page_of_a_pdf_is_shown_as_a_picture_unless_the_file_has_changed(
    settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "leaflet.pdf"
    file.write_bytes(pdf([QUOTE]))
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    tree = parsed(page_of(answered(str(file), digest, 1), settings))
    (picture,) = tree.xpath("//img")
    assert picture.get("src").startswith("data:image/png;base64,iVBOR")
    assert picture.get("alt") == "Page 1 of the document, with the quoted words boxed"
    changed = parsed(page_of(answered(str(file), "another", 1), settings))
    assert not changed.xpath("//img") and "has changed since it was read" in changed.text_content()


def test_models_are_named_with_the_digest_of_the_file_that_was_used(settings: Settings) -> None:
    text = parsed(page_of(answered("/a.md", "hash"), settings)).text_content()
    assert hashlib.sha256(b"some weights").hexdigest() in text
    weights = re.findall(r"embedding model.*?([0-9a-f]{64})", text, re.DOTALL)
    assert len(weights) == 1


def test_settings_say_which_of_them_the_question_gave(settings: Settings) -> None:
    options = AskOptions(policy=Policy.SCORE, filter='team = "x"')
    text = parsed(page_of(answered("/a.md", "hash"), settings, options)).text_content()
    assert 'filter (of this question)team = "x"' in text and "policy (of this question)score" in text
    assert "loop.modeunset: as fits the models" in text


def test_what_left_for_this_question_is_shown_and_nothing_else(settings: Settings, tmp_path: Path) -> None:
    own = replace(settings, home=tmp_path)
    events = answered("/a.md", "hash")
    assert "Nothing. The ledger has no line" in page_of(events, own)
    ledger = Ledger(tmp_path / "egress.jsonl")
    question = f"What dose? {HOSTILE}"
    ledger.record("query", "dose of <zeldrine>", question)
    ledger.record("query", "something else", "another question")
    tree = parsed(page_of(events, own))
    (row,) = tree.xpath("//section[@aria-labelledby='egress-title']//tbody/tr")
    assert row.xpath(".//bdi/text()") == ["dose of <zeldrine>"]
    later = AskedQuestion("kb", question, AskOptions(), datetime.now(UTC) + timedelta(hours=1), events)
    assert "Nothing. The ledger has no line" in report_html(later, own, ledger)


# ---------------------------------------------------------------------------------- the path


def test_the_path_goes_aside_for_corrections_and_comes_back() -> None:
    steps = loop_path(answered("/a.md", "hash", around="x"))
    assert [step.aside for step in steps] == [False, False, True, False, False, False, False]
    assert [step.kind for step in steps].count(StepKind.DECISION) == 2
    assert [len(step.grades) for step in steps if step.grades] == [2]
    drawing = path_drawing(steps)
    places = [step.y for step in drawing.steps]
    assert places == sorted(places) and places[-1] < drawing.height
    assert len({step.x for step in drawing.steps}) == 2 and len(drawing.rails) == len(steps) - 1


def test_what_was_sent_and_what_was_not_are_steps_of_their_own() -> None:
    steps = loop_path([WebAsked("a line", True, 3), WebAsked("another", False, 0, "no consent"), Spared(())])
    assert [step.title for step in steps] == ["Sent this line to your SearXNG", "Nothing was sent to the web"]
    assert "no consent" in steps[1].detail and "not graded" in steps[1].detail


def test_what_the_chat_model_read_is_told_with_the_step_before_it() -> None:
    [step] = loop_path([Decided(Action.AMBIGUOUS, Policy.CRAG, "best grade 0.40"), PassagesRead(5, 0.873)])
    assert step.detail == "best grade 0.40 · the chat model read 5 passages whole: P(they answer) = 0.87"


def test_long_words_are_cut_to_the_width_of_the_drawing() -> None:
    (step,) = path_drawing(loop_path([Retrieved("word " * 300, ())])).steps
    assert len(step.lines) == 3 and step.lines[-1][1].endswith("…")
