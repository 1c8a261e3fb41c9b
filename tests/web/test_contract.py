"""What every WebSearch and every PageFetcher does: the real ones and the scripted ones of the other tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from localcrag.errors import EnginesFailed, LedgerError, UsageError
from localcrag.protocols import PageFetcher, WebSearch
from localcrag.types import WebResult
from localcrag.web.pages import HttpPageFetcher
from localcrag.web.searxng import SearxngOptions, SearxngSearch
from tests.fakes.web import FakeFetcher, FakeSearch
from tests.web.searxng_server import Article, Corpus, Searxng, running_corpus

RecordEgress = Callable[[str, str], None]


@dataclass
class Given:
    """Something to be asked about, under contract: ``made(record)`` builds the part."""

    search: Callable[[RecordEgress], WebSearch]
    failing: Callable[[RecordEgress], WebSearch]
    recorded: list[tuple[str, str]] = field(default_factory=list)

    def record(self, kind: str, target: str) -> None:
        self.recorded.append((kind, target))


HERON = WebResult("http://127.0.0.1/page/heron", "The grey heron", "A grey heron stands still.", "corpus")


@pytest.fixture(params=["fake", "real"])
def given(request: pytest.FixtureRequest) -> Given:
    if request.param == "fake":
        failed = EnginesFailed("every search engine failed: broken (timeout)", hint="wait a while")
        return Given(
            lambda record: FakeSearch({"heron": [HERON], "dose": [HERON, HERON]}, record=record),
            lambda record: FakeSearch({"heron": failed}, record=record),
        )
    url = request.getfixturevalue("searxng").url
    broken = SearxngOptions(engines=("broken",))
    return Given(
        lambda record: SearxngSearch(url, record=record),
        lambda record: SearxngSearch(url, record=record, options=broken),
    )


def test_results_are_plain_and_have_a_web_address(given: Given) -> None:
    (result,) = given.search(given.record).search("heron")
    assert result.url.startswith("http://") and result.url.endswith("/page/heron")
    assert result.title == "The grey heron" and result.snippet.startswith("A grey heron stands still")
    assert result.engine == "corpus"


def test_the_line_is_recorded_as_it_is_sent(given: Given) -> None:
    given.search(given.record).search("!!g  grey\nheron")
    assert given.recorded == [("query", "g grey heron")]


def test_nothing_found_is_an_empty_list(given: Given) -> None:
    assert given.search(given.record).search("zzzz") == []


def test_at_most_limit(given: Given) -> None:
    assert len(given.search(given.record).search("dose heron css", limit=1)) == 1


def test_a_query_without_a_word_is_refused_and_not_recorded(given: Given) -> None:
    with pytest.raises(UsageError):
        given.search(given.record).search(" !! ")
    assert given.recorded == []


def test_a_failure_is_not_nothing_found(given: Given) -> None:
    with pytest.raises(EnginesFailed, match="broken") as error:
        given.failing(given.record).search("heron")
    assert error.value.hint and given.recorded == [("query", "heron")]


def test_a_query_that_cannot_be_recorded_is_not_sent(given: Given, request: pytest.FixtureRequest) -> None:
    search = given.search(_full)
    with pytest.raises(LedgerError):
        search.search("unrecordable heron")
    if isinstance(search, FakeSearch):
        assert search.queries == []
    else:
        corpus: Corpus = request.getfixturevalue("corpus")
        assert "unrecordable heron" not in corpus.asked


def _full(kind: str, target: str) -> None:
    raise LedgerError("no space left", hint="make room")


# ---------------------------------------------------------------------------------- pages

LONG = "The grey heron stands still in shallow water for a long time and waits for small fish to come. "
BOOK = (
    Article("heron", "Heron", LONG * 4),
    Article("fish", "Fish", "Small fish swim in shallow water. " * 9),
)


@dataclass
class Pages:
    fetcher: Callable[[RecordEgress], PageFetcher]
    url: Callable[[str], str]


@pytest.fixture(params=["fake", "real"])
def pages(request: pytest.FixtureRequest) -> Pages:
    if request.param == "fake":
        url = "http://pages.example/{}".format
        texts = {url(article.name): article.text for article in BOOK}
        return Pages(lambda record: FakeFetcher(texts, record=record), url)
    corpus = request.getfixturevalue("book")
    return Pages(lambda record: HttpPageFetcher(record=record, allowed_private=[corpus.host]), corpus.url)


@pytest.fixture(scope="module")
def book() -> object:
    with running_corpus(BOOK) as corpus:
        yield corpus


def test_one_page_per_result_in_order_with_the_snippet_where_there_is_none(pages: Pages) -> None:
    recorded: list[tuple[str, str]] = []
    names = ["heron", "gone", "fish"]
    results = [WebResult(pages.url(name), f"Title of {name}", f"snippet of {name}") for name in names]
    heron, gone, fish = pages.fetcher(lambda kind, url: recorded.append((kind, url))).fetch(results)
    assert [page.url for page in (heron, gone, fish)] == [r.url for r in results]
    assert [page.title for page in (heron, gone, fish)] == [r.title for r in results]
    assert "waits for small fish" in heron.text and "swim in shallow" in fish.text
    assert heron.degraded == fish.degraded == ""
    assert gone.text == "snippet of gone" and "404" in gone.degraded
    assert sorted(recorded) == sorted(("page", r.url) for r in results)


def test_no_results_no_pages(pages: Pages) -> None:
    assert list(pages.fetcher(lambda *_: None).fetch([])) == []


def test_pages_that_cannot_be_recorded_are_not_fetched(pages: Pages) -> None:
    with pytest.raises(LedgerError):
        list(pages.fetcher(_full).fetch([WebResult(pages.url("heron"), "t", "s")]))


def test_the_real_ones_and_the_fakes_hold_the_protocols(searxng: Searxng) -> None:
    searches: list[WebSearch] = [FakeSearch(), SearxngSearch(searxng.url, record=lambda *_: None)]
    fetchers: list[PageFetcher] = [FakeFetcher(), HttpPageFetcher(record=lambda *_: None)]
    assert all(callable(s.search) for s in searches) and all(callable(f.fetch) for f in fetchers)
