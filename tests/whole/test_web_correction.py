"""The whole loop with every real part: embedded models, LanceDB, and a real SearXNG on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import localcrag
from localcrag.events import PageRead, WebAsked
from localcrag.knowledge_base import AskOptions
from localcrag.settings import load
from localcrag.types import Origin, WebPolicy
from tests.web.searxng_server import Article, Corpus, Searxng, running_corpus, running_searxng, settings_for

LIGHTHOUSE = Article(
    name="lighthouse",
    title="The lighthouse of Velm",
    text="The lighthouse of Velm was built in 1874. Its lamp can be seen from twenty miles away.",
)
QUESTION = "When was the lighthouse of Velm built?"


@pytest.fixture(scope="module")
def corpus() -> Iterator[Corpus]:
    with running_corpus([LIGHTHOUSE]) as server:
        yield server


@pytest.fixture(scope="module")
def searxng(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searxng]:
    with running_searxng(settings_for(corpus), tmp_path_factory.mktemp("searxng")) as server:
        yield server


@pytest.fixture
def kb(corpus: Corpus, searxng: Searxng, tmp_path: Path) -> localcrag.KnowledgeBase:
    text = tmp_path / "garden.txt"
    text.write_text("Lavender needs a sunny place and very little water. My secret is the soil.")
    settings = load(home=tmp_path / "home").with_values("web", url=searxng.url, allow_private=(corpus.host,))
    kb = localcrag.open("garden", settings=settings)
    kb.ingest([text])
    return kb


def test_what_the_documents_do_not_hold_is_found_on_the_web_and_cited(
    kb: localcrag.KnowledgeBase, corpus: Corpus
) -> None:
    answer = kb.ask(QUESTION, web="auto")
    assert answer.status == "answered"
    assert "1874" in answer.text
    assert [(c.source, c.origin) for c in answer.citations] == [(corpus.url("lighthouse"), Origin.WEB)]
    [query] = answer.web
    assert query.sent and query.results == 1
    entries = kb.ledger.entries()
    assert [(e.kind, e.target, e.question) for e in entries] == [
        ("query", query.query, QUESTION),
        ("page", corpus.url("lighthouse"), QUESTION),
    ]
    assert all("secret" not in asked and "Lavender" not in asked for asked in corpus.asked)


def test_without_permission_nothing_is_sent(kb: localcrag.KnowledgeBase, corpus: Corpus) -> None:
    before = len(corpus.asked)
    answer = kb.ask(QUESTION)
    assert (answer.status, answer.web) == ("not_found", ())
    assert len(corpus.asked) == before and kb.ledger.entries() == []


def test_the_user_sees_the_line_before_it_is_sent_and_may_refuse(
    kb: localcrag.KnowledgeBase, corpus: Corpus
) -> None:
    shown: list[str] = []

    def refuse(query: str) -> None:
        shown.append(query)

    events = list(kb.stream(QUESTION, AskOptions(web=WebPolicy.ASK, consent=refuse)))
    [asked] = [event for event in events if isinstance(event, WebAsked)]
    assert shown == [asked.query] and not asked.sent
    assert not any(isinstance(event, PageRead) for event in events)
    assert kb.ledger.entries() == []
