"""The manual's pictures of the page: a real ``localcrag serve --http`` in a real browser, light and dark.

``./scripts/demo --page FOLDER`` calls it with the documents of the tour.
"""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1400, 1010
"""The size of a picture, in pixels."""
COLOURS = 128
"""The colours of a picture; more make the file larger, and look the same."""
PATIENCE_MILLISECONDS = 180_000
PICTURES: dict[Literal["light", "dark"], str] = {"light": "page.png", "dark": "page-dark.png"}
"""The files of the pictures, by the colours that the page is shown in."""


class NoBrowserError(Exception):
    """Raised if there is no browser to draw the page with; its text says what is missing."""


def draw_page(serve: Sequence[str], kb: str, question: str, folder: Path) -> list[Path]:
    """Ask a question on the page, open its first source, and write a picture of it for each of the colours.

    Args:
        serve: the command that serves the page, and prints its address.
        kb: the knowledge base that is asked.
        question: what is asked.
        folder: where the pictures go.

    Raises NoBrowserError.
    """
    with browser() as chromium, served(serve) as address:
        drawn = []
        for colours, name in PICTURES.items():
            context = chromium.new_context(
                viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=colours, reduced_motion="reduce"
            )
            with context:
                page = context.new_page()
                page.set_default_timeout(PATIENCE_MILLISECONDS)
                page.goto(address)
                page.select_option("#kb", kb)
                open_answer(page, question)
                drawn.append(folder / name)
                drawn[-1].write_bytes(small_png(page.screenshot()))
        return drawn


def open_answer(page: Page, question: str) -> None:
    """Ask, unfold the way of the loop, and open the first source at its page."""
    page.fill("#question", question)
    page.press("#question", "Enter")
    page.wait_for_selector(".status")
    page.click(".way > summary")
    page.click(".card")
    page.wait_for_function("() => document.querySelector('#source-body img')?.naturalWidth > 0")
    page.evaluate("document.querySelector('.turns').scrollTop = 0")
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)


@contextmanager
def browser() -> Iterator[Browser]:
    """Chromium under Playwright. Raises NoBrowserError."""
    program = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if program is None:
        raise NoBrowserError("there is no Chromium to draw the page with: install Debian's package chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise NoBrowserError("Playwright is not installed: pip install playwright") from None
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program)
        yield chromium
        chromium.close()


@contextmanager
def served(command: Sequence[str]) -> Iterator[str]:
    """The address that a server prints; it is ended with the block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def small_png(picture: bytes) -> bytes:
    """A picture with few colours, without dithering, which would blur its letters."""
    from PIL import Image

    written = io.BytesIO()
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    whole.quantize(COLOURS, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return written.getvalue()
