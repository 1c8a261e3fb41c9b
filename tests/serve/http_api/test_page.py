"""The page in a real browser: Debian's Chromium, driven by Playwright, against a real door."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from localcrag.events import Event, Finished, Gathered, Retrieved
from localcrag.serve.http_api.backend import DoorQuestion
from localcrag.types import Citation, Evidence, Hit, Origin, Passage, Status, StoreInfo, Strip
from tests.documents.builders import pdf
from tests.fakes.door import ScriptedBackend, answer_to
from tests.serve.conftest import DEADLINE
from tests.serve.http_api.conftest import QUESTION, TOKEN, UNKNOWN, LiveDoor, WarmDoor, live_door

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from playwright.sync_api import Browser, Page

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium; Debian's package is called chromium"
)
MILLISECONDS = DEADLINE * 1000
HOSTILE = '<img src=x onerror="document.title=1"><b>bold</b> \u202egnp.exe [7]'
DROP_ON_FORM = """
(text) => {
  const dropped = new DataTransfer();
  dropped.items.add(new File([text], "dropped.json"));
  for (const kind of ["dragenter", "dragover", "drop"]) {
    const event = new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: dropped });
    document.getElementById("schema").dispatchEvent(event);
  }
}
"""
ZELDRINE_2 = ("How to store it.", "Zeldrine must be stored below 25 degrees, away from light.")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, address: str, **context: Any) -> Iterator[Page]:
    """The page at an address; at the end it must have complained of nothing, refused requests apart."""
    with browser.new_context(**context) as around:
        page = around.new_page()
        page.set_default_timeout(MILLISECONDS)
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.goto(address)
        page.wait_for_selector("#frame:not([hidden]), #door:not([hidden])")
        yield page
        assert [said for said in complaints if "Failed to load resource" not in said] == []


@pytest.fixture
def page(browser: Browser, warm_door: WarmDoor) -> Iterator[Page]:
    """The page of the real door."""
    with opened(browser, warm_door.address, viewport={"width": 1280, "height": 900}) as page:
        yield page


@contextmanager
def scripted(browser: Browser, backend: ScriptedBackend, **context: Any) -> Iterator[tuple[Page, LiveDoor]]:
    """The page of a door over a scripted backend."""
    with live_door(backend) as door, opened(browser, f"{door.url}/#token={TOKEN}", **context) as page:
        yield page, door


def ask(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")
    page.wait_for_selector(".turn:last-of-type .status")


def assert_accessible(page: Page) -> None:
    """axe-core finds nothing to complain of."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-core is not installed")

    page.wait_for_timeout(700)  # colours that still change have no contrast to measure
    found = axe.Axe().run(page).response["violations"]
    told = [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found]
    assert told == []


# ---------------------------------------------------------------------------------- the real door


def test_a_question_is_answered_and_its_citation_opens_at_the_quote(page: Page, warm_door: WarmDoor) -> None:
    assert warm_door.token not in page.url
    box = page.locator("#question").bounding_box()
    assert box and box["height"] > 24, "a line fits in"
    ask(page, QUESTION)
    assert page.inner_text(".status") == "Answered" and "35 mg" in page.inner_text(".answer")
    assert "nothing left this machine" in page.inner_text(".verdict")
    page.click(".way > summary")
    assert page.locator(".grade.yes .fill").count() >= 1 and page.locator(".rail").count() >= 2
    page.click(".cite")
    page.wait_for_selector("#source-body mark")
    assert "35 mg" in page.inner_text("#source-body mark")
    assert page.inner_text("#source-title") == "leaflet"
    assert_accessible(page)
    page.keyboard.press("Escape")
    assert page.is_hidden("#source") and page.evaluate("document.activeElement.className") == "cite"


def test_an_answer_can_be_one_of_given_words(page: Page) -> None:
    page.click("#form > summary")
    page.fill("#choices", "yes, no, unclear")
    assert page.inner_text("#form-words") == "yes or no or unclear"
    ask(page, "Is Zeldrine made by the Orlan company?")
    assert page.inner_text(".answer").strip('"') == "yes"
    assert page.inner_text(".values tbody").split("\t")[:2] == ["answer", "yes"]
    assert_accessible(page)
    page.click(".values .cite")
    page.wait_for_selector("#source-body mark")
    assert "Orlan" in page.inner_text("#source-body mark")


def test_an_answer_can_have_the_form_of_a_schema(page: Page, tmp_path: Path) -> None:
    schema = {"title": "Leaflet", "type": "object", "properties": {"usual_dose": {"type": "string"}}}
    file = tmp_path / "leaflet.schema.json"
    file.write_text(json.dumps(schema), "utf-8")
    page.click("#form > summary")
    page.set_input_files("#schema-file", file)
    page.wait_for_selector("text=Leaflet, 1 field")
    assert page.is_disabled("#choices")
    assert_accessible(page)
    page.fill("#schema", "")
    page.evaluate(DROP_ON_FORM, json.dumps(schema | {"title": "Dropped"}))
    page.wait_for_selector("text=Dropped, 1 field")
    assert page.is_hidden("#dropping") and page.is_hidden("#intake"), "it is no document"
    ask(page, "What is the usual dose of Zeldrine?")
    assert page.inner_text(".values tbody th") == "usual_dose" and "35 mg" in page.inner_text(
        ".values tbody td"
    )
    assert page.locator(".answer").inner_text() == "", "the values stand in the table alone"
    page.click(".values .cite")
    page.wait_for_selector("#source-body mark")
    assert "35 mg" in page.inner_text("#source-body mark")


@pytest.mark.parametrize(
    ("box", "text", "reason"),
    [
        ("#schema", '{"type": ', "The schema is no JSON: "),
        ("#schema", '["yes", "no"]', "The schema is no JSON object. For example "),
        ("#schema", "x" * 65_537, "The schema is too long. Ask for less at once"),
        ("#choices", "yes", "One word alone is no choice. Give two words or more"),
    ],
)
def test_a_form_that_is_none_is_refused_before_it_is_asked(
    browser: Browser, box: str, text: str, reason: str
) -> None:
    with scripted(browser, ScriptedBackend()) as (page, door):
        page.click("#form > summary")
        page.fill(box, text)
        page.click("#form > summary")
        page.fill("#question", QUESTION)
        page.press("#question", "Enter")
        assert page.inner_text("#form-trouble").startswith(reason)
        assert page.evaluate("'#' + document.activeElement.id") == box
        assert page.input_value("#question") == QUESTION and not door.backend.asked
        assert_accessible(page)
        page.fill(box, "")
        page.press("#question", "Enter")
        page.wait_for_selector(".status")


def test_a_schema_that_cannot_be_filled_is_refused_with_the_reason(browser: Browser) -> None:
    with scripted(browser, ScriptedBackend()) as (page, door):
        page.click("#form > summary")
        page.fill("#schema", '{"type": "object", "properties": {"below": {"$ref": "#"}}}')
        page.fill("#question", QUESTION)
        page.press("#question", "Enter")
        page.wait_for_selector(".trouble")
        assert "The schema cannot be filled at /below/below: it is recursive" in page.inner_text(".trouble")
        assert not door.backend.asked


def test_a_follow_up_is_answered_and_says_how_it_was_understood(page: Page) -> None:
    ask(page, QUESTION)
    ask(page, "And who makes it?")
    turn = page.locator(".turn:last-of-type")
    assert "Orlan" in turn.locator(".answer").inner_text()
    turn.locator(".way > summary").click()
    step = turn.locator(".step", has=page.locator("h3", has_text="Understood the question"))
    understood = step.locator("p").inner_text()
    assert understood.startswith("“") and "Zeldrine" in understood
    assert "Understood the question" not in page.locator(".turn").first.inner_text()


def test_nothing_can_be_chosen_before_the_knowledge_bases_are_there(browser: Browser) -> None:
    """A file dropped before would have had no place to go to."""

    class SlowBackend(ScriptedBackend):
        async def knowledge_bases(self) -> list[StoreInfo]:
            await asyncio.sleep(0.5)
            return await super().knowledge_bases()

    with scripted(browser, SlowBackend()) as (page, _):
        assert page.input_value("#kb") == "default"


def test_files_are_added_with_what_could_not_be_read_and_a_pdf_opens_as_a_picture(
    browser: Browser, warm_door: WarmDoor, tmp_path: Path
) -> None:
    leaflet, broken = tmp_path / "storing.pdf", tmp_path / "broken.pdf"
    leaflet.write_bytes(pdf(ZELDRINE_2))
    broken.write_bytes(b"%PDF-1.4 and nothing more")
    with opened(browser, warm_door.address, color_scheme="dark") as page:
        page.set_input_files("#files", [leaflet, broken])
        page.wait_for_selector("#intake-progress")
        page.wait_for_selector("#intake-progress", state="hidden")
        skips = page.inner_text("#intake-skips")
        assert page.inner_text("#intake-words") == "1 document added, 1 not read.", skips
        assert "broken.pdf: damaged PDF" in skips
        assert "2 documents" in page.inner_text("#kb-facts")
        page.click("#intake-close")
        ask(page, "Below how many degrees must Zeldrine be stored?")
        page.click(".card")
        page.wait_for_function("() => document.querySelector('#source-body img')?.naturalWidth > 0")
        assert "with the quoted words boxed" in (page.get_attribute("#source-body img", "alt") or "")
        assert_accessible(page)
        page.click("#show-text")
        assert "25 degrees" in page.inner_text("#source-body mark")


def test_a_line_leaves_only_after_the_dialog_that_shows_it(page: Page, warm_door: WarmDoor) -> None:
    def sent() -> int:
        return sum(request.path.startswith("/search") for request in warm_door.searxng.requests)

    page.click("#how summary")
    page.select_option("#web", "ask")
    for button, more, words in (
        ("#consent-no", 0, "nothing left this machine"),
        ("#consent-yes", 1, "1 line went to your SearXNG"),
    ):
        before = sent()
        page.fill("#question", UNKNOWN)
        page.press("#question", "Enter")
        page.wait_for_selector("#consent[open]")
        line = page.inner_text("#consent-line")
        assert line and page.evaluate("document.activeElement.id") == "consent-no" and sent() == before
        if not more:
            assert_accessible(page)
        page.click(button)
        page.wait_for_selector(".turn:last-of-type .status")
        assert sent() == before + more and words in page.inner_text(".turn:last-of-type .verdict")
        shown = page.locator(".turn:last-of-type .step", has_text="“" + line + "”")
        assert shown.count() >= 1


def test_a_question_can_be_stopped(page: Page) -> None:
    page.fill("#question", "Which of the companies in Porto makes it, how often is it taken, and by whom?")
    page.press("#question", "Enter")
    page.click("#stop")
    page.wait_for_selector("text=You stopped this question.")
    assert page.is_visible("#send") and page.is_hidden("#stop")
    ask(page, QUESTION)
    assert "35 mg" in page.inner_text(".turn:last-of-type .answer")


def test_a_conversation_is_kept_and_opened_again_with_its_sources(page: Page) -> None:
    page.click("#keep")
    page.fill("#keeping-name", "about the dose")
    page.press("#keeping-name", "Enter")
    ask(page, QUESTION)
    page.reload()
    page.click("text=about the dose")
    page.wait_for_selector(".card")
    assert page.inner_text(".asked") == QUESTION and "35 mg" in page.inner_text(".answer")
    page.click(".card")
    page.wait_for_selector("#source-body mark")


def test_a_report_is_saved_as_one_file_that_needs_nothing_else(page: Page, tmp_path: Path) -> None:
    ask(page, QUESTION)
    with page.expect_download() as saving:
        page.click("text=Save a report")
    file = tmp_path / "answer.html"
    saving.value.save_as(file)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert page.inner_text("h1") == QUESTION and page.locator("mark").count() == 1
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert_accessible(page)


def test_the_plain_page_answers_without_a_script(browser: Browser, warm_door: WarmDoor) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(warm_door.url)
        page.click("noscript a")
        page.fill("#question", QUESTION)
        page.fill("#token", "wrong")
        page.click("button")
        assert "the token is missing or wrong" in page.inner_text("main")
        page.click("text=Ask again")
        page.fill("#question", QUESTION)
        page.fill("#token", warm_door.token)
        page.click("button")
        page.wait_for_selector("mark", timeout=MILLISECONDS)
        assert "35 mg" in page.inner_text(".answer") and warm_door.token not in page.content()


# ---------------------------------------------------------------------------------- a scripted door


class HostileBackend(ScriptedBackend):
    """Whatever comes from documents and models tries to be markup."""

    async def stream(self, question: DoorQuestion) -> AsyncGenerator[Event, None]:
        passage = Passage("1", "hash", f"/d/{HOSTILE}.txt", HOSTILE, "", None, 0, len(HOSTILE), HOSTILE)
        yield Retrieved(HOSTILE, (Hit(passage, 1.0),))
        yield Gathered((Evidence(1, Strip(passage, 0, len(HOSTILE), HOSTILE, 1.0)),))
        answer = answer_to(question.text)
        citation = Citation(1, passage.source, None, 0, len(HOSTILE), HOSTILE, Origin.WEB)
        values = {name: getattr(answer, name) for name in answer.__slots__}
        yield Finished(
            type(answer)(
                **values
                | {
                    "text": HOSTILE + " [1]",
                    "marks": (),
                    "citations": (citation,),
                    "status": Status.UNSURE,
                    "degraded": (HOSTILE,),
                    "suggestions": (HOSTILE,),
                }
            )
        )


def test_text_of_documents_never_becomes_markup(browser: Browser) -> None:
    with scripted(browser, HostileBackend()) as (page, _):
        ask(page, HOSTILE)
        page.click(".card")
        page.wait_for_selector("#source-body mark")
        assert page.locator("#turns img, #turns b, #source img, #source b").count() == 0
        text = page.inner_text("body")
        assert "<b>bold</b>" in text and "\u202e" not in text and "[7]" not in text and "‹7›" in text
        assert page.title() == "localcrag"


def test_where_a_question_finds_nothing_the_closest_passages_can_be_opened(page: Page) -> None:
    ask(page, "What does a box of Zeldrine cost?")
    assert page.inner_text(".status") == "Your documents do not say"
    assert page.locator(".way[open]").count() == 0, "the way has folded, so the answer is in sight"
    page.click(".closest .card")
    page.wait_for_selector("#source-body mark, #source-body img")
    assert page.inner_text("#source-place").startswith("closest 1 · ")
    assert_accessible(page)


def test_errors_say_what_to_do_and_can_be_tried_again(page: Page) -> None:
    page.click("#how summary")
    page.fill("#filter", "team = ")
    page.fill("#question", QUESTION)
    page.press("#question", "Enter")
    page.wait_for_selector(".trouble")
    assert re.search(r"Column \d+: expected a value", page.inner_text(".trouble"))
    assert "What to do:" in page.inner_text(".trouble")
    page.fill("#filter", "")
    page.click("text=Ask again")
    page.wait_for_selector(".status")
    assert page.locator(".turn").count() == 1 and page.locator(".trouble").count() == 0


def test_without_the_token_there_is_a_door_that_says_where_it_is(browser: Browser) -> None:
    with live_door(ScriptedBackend()) as door, opened(browser, f"{door.url}/#token=wrong") as page:
        page.wait_for_selector("#door:not([hidden])")
        assert "no longer right" in page.inner_text("#door") and page.is_hidden("#frame")
        assert_accessible(page)
        page.fill("#token", TOKEN)
        page.click("#door button")
        page.wait_for_selector("#frame:not([hidden])")


def test_a_server_that_is_gone_is_said_in_words(browser: Browser) -> None:
    with scripted(browser, ScriptedBackend()) as (page, _):
        page.context.set_offline(True)
        page.fill("#question", QUESTION)
        page.press("#question", "Enter")
        page.wait_for_selector("text=Localcrag does not answer.")


def test_a_phone_shows_all_of_it_without_scrolling_aside(browser: Browser) -> None:
    phone = {"width": 360, "height": 740}
    with scripted(browser, ScriptedBackend(), viewport=phone) as (page, _):
        ask(page, QUESTION)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.click("#form > summary")
        heights = page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
        assert heights[0] == heights[1], "nothing lies below the screen"
        page.click("#form > summary")
        page.click(".cite")
        page.wait_for_selector("#source-body mark")
        box = page.locator("#source").bounding_box()
        assert box is not None and (box["x"], box["width"]) == (0, 360)
        page.click("#source-close")
        page.click("#menu")
        assert page.is_visible("#kb") and page.get_attribute("#menu", "aria-expanded") == "true"
        assert_accessible(page)


def test_all_can_be_done_with_the_keyboard(browser: Browser) -> None:
    with scripted(browser, ScriptedBackend()) as (page, _):
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("/")
        page.keyboard.type(QUESTION)
        page.keyboard.press("Enter")
        page.wait_for_selector(".cite")
        page.focus(".cite")
        page.keyboard.press("Enter")
        page.wait_for_selector("#source-body mark")
        assert page.evaluate("document.activeElement.id") == "source-title"
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.className") == "cite"
