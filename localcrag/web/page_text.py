"""The title and the main text of a web page, extracted in processes of their own.

A page is written by a stranger, and one that is made for it keeps trafilatura busy for ever. In a process the
work can be ended; in a thread it would use a core as long as the warm process runs. The processes are shared
by all questions, are started when a page is about to be fetched, and end by themselves when they were idle
for a while.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from localcrag.errors import FetchRefused
from localcrag.isolation import isolated_program
from localcrag.isolation.isolated_pool import IsolatedPool
from localcrag.isolation.isolated_process import (
    GIBIBYTE,
    JobLost,
    ProcessNotStarted,
    available,
    memory_budget,
)
from localcrag.isolation.message_frames import Budget

MAX_PROCESSES = 2
"""Processes that extract at the same time, so that one page that takes long does not hold up the others."""
MAX_EXTRACTION_MEMORY = GIBIBYTE
"""Bytes of memory for the extraction of one page."""
IDLE_SECONDS = 60.0
"""Seconds without a page after which a process ends."""
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from localcrag.web.page_text import main; main()"


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A page as it was fetched: its address, its bytes, and the encoding that the server named, or ""."""

    url: str
    content: bytes
    charset: str


def warm() -> None:
    """Start a process for pages that are about to be fetched."""
    if available():
        _pool().start_if_ended()


def main_text(page: FetchedPage, seconds: float) -> tuple[str, str]:
    """The title and the main text of a page, "" if it has none; may be called from any thread.

    Extracting may take ``seconds`` of processor time. Raises FetchRefused.
    """
    if not available():
        return extracted(page)
    try:
        title, text = _pool().ask(page, Budget(seconds, memory_budget(MAX_EXTRACTION_MEMORY)))
    except JobLost as lost:
        reason = "took too long" if lost.overdue else str(lost)
        raise FetchRefused(f"finding its text {reason}") from lost
    except ProcessNotStarted as error:
        raise FetchRefused(f"no process can be started to find its text: {error}") from error
    return title, text


def decoded(content: bytes, charset: str) -> str:
    """The text of a page, by the encoding that the server named, else as UTF-8."""
    try:
        return content.decode(charset or "utf-8", "replace")
    except (LookupError, ValueError):
        return content.decode("utf-8", "replace")


@cache
def _pool() -> IsolatedPool:
    """The processes that extract, shared by all questions; none is started yet."""
    return IsolatedPool(MAX_PROCESSES, _PROGRAM, IDLE_SECONDS, "pages")


# ---------------------------------------------------------------------------------- in the process


def main() -> None:
    """Answer jobs, each a FetchedPage, with its title and text, or the exception that was raised."""
    isolated_program.run(_prepare, IDLE_SECONDS)


def _prepare(_: Any) -> isolated_program.Answer:
    import trafilatura

    assert trafilatura
    return extracted


def extracted(page: FetchedPage) -> tuple[str, str]:
    """The title and the main text of a page, extracted in this process. Raises FetchRefused."""
    import trafilatura

    content = decoded(page.content, page.charset) if page.charset else page.content
    try:
        document = trafilatura.bare_extraction(
            content, url=page.url, include_comments=False, with_metadata=True
        )
    except ValueError as error:
        raise FetchRefused(f"its text cannot be extracted ({error})") from error
    except (MemoryError, RecursionError) as error:
        raise FetchRefused("its text cannot be extracted (too much for one page)") from error
    if document is None or isinstance(document, dict):
        return "", ""
    return document.title or "", document.text or ""
