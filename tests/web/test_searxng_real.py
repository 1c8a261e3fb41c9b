"""The client against a real SearXNG that runs with the settings this project ships."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from localcrag.errors import EnginesFailed, JsonDisabled, WebNotConfigured
from localcrag.web.diagnose import ServerState, diagnose
from localcrag.web.searxng import SearxngOptions, SearxngSearch
from tests.web.searxng_server import (
    SHIPPED_SETTINGS,
    Corpus,
    Searxng,
    dead_port,
    running_searxng,
    settings_for,
)

PATIENCE = 120.0


def asking(server: Searxng, *engines: str) -> SearxngSearch:
    options = SearxngOptions(engines=engines)
    return SearxngSearch(server.url, record=lambda *_: None, timeout=PATIENCE, options=options)


def test_a_search(searxng: Searxng, corpus: Corpus) -> None:
    (result,) = asking(searxng).search("where heron stands?")
    assert result.url == corpus.url("heron")
    assert result.title == "The grey heron"
    assert result.snippet == "A grey heron stands still in shallow water & waits for fish."
    assert result.engine == "corpus"
    assert corpus.asked[-1] == "where heron stands?"


def test_truly_nothing_found(searxng: Searxng) -> None:
    assert asking(searxng).search("zzzz") == []


@pytest.mark.parametrize(
    "query", ["!!g heron", "!br heron", ":fr heron", "<3 heron", "!! heron", "!corpus heron"]
)
def test_commands_in_a_query_are_words(searxng: Searxng, corpus: Corpus, query: str) -> None:
    """Unneutralised, the first leads to an outside site and the second to the broken engine."""
    (result,) = asking(searxng).search(query)
    assert result.url == corpus.url("heron")
    assert corpus.asked[-1] == " ".join(word for part in query.split() if (word := part.lstrip("!:<")))


def test_infoboxes_and_answers(searxng: Searxng) -> None:
    answer, box = asking(searxng, "boxes").search("heron")
    assert (answer.url, answer.snippet) == ("http://answers.example/heron-height", "about 90 cm")
    assert (box.url, box.title) == ("http://encyclopedia.example/heron", "Heron")
    assert box.snippet == "A heron is a wading bird. Family: Ardeidae."


def test_answers_of_the_server_itself_have_no_address_and_are_no_results(searxng: Searxng) -> None:
    assert asking(searxng).search("avg 1 2 3") == []


def test_every_engine_failed(searxng: Searxng) -> None:
    with pytest.raises(EnginesFailed, match=r"broken \(.+\)"):
        asking(searxng, "broken").search("heron")


def test_an_unknown_engine_is_not_quietly_replaced(searxng: Searxng, corpus: Corpus) -> None:
    before = len(corpus.asked)
    with pytest.raises(WebNotConfigured, match="'corpora'") as error:
        asking(searxng, "corpora").search("heron")
    assert "corpus" in error.value.hint and len(corpus.asked) == before


def test_it_is_found_fine(searxng: Searxng) -> None:
    recorded: list[tuple[str, str]] = []
    diagnosis = diagnose(
        searxng.url, record=lambda kind, target: recorded.append((kind, target)), timeout=PATIENCE
    )
    assert diagnosis.fine and diagnosis.version.startswith("20") and diagnosis.engines == ("corpus",)
    assert recorded == [("query", "encyclopedia")]
    broken = SearxngOptions(engines=("broken",))
    failing = diagnose(searxng.url, record=lambda *_: None, timeout=PATIENCE, options=broken)
    assert failing.state is ServerState.ENGINES_FAILING and "broken" in failing.detail


def test_json_disabled(corpus: Corpus, tmp_path: Path) -> None:
    settings = settings_for(corpus) | {"search": {"formats": ["html"]}}
    with running_searxng(settings, tmp_path) as server:
        with pytest.raises(JsonDisabled):
            asking(server).search("heron")
        diagnosis = diagnose(server.url, record=lambda *_: None, timeout=PATIENCE)
    assert diagnosis.state is ServerState.JSON_DISABLED and "formats: [html, json]" in diagnosis.hint
    assert diagnosis.version and diagnosis.engines == ("corpus",)


def test_the_shipped_engines_load_and_nothing_else_talks(tmp_path: Path) -> None:
    """The shipped file as it is, but for a dead proxy on loopback, through which nothing gets out."""
    settings = yaml.safe_load(SHIPPED_SETTINGS.read_text())
    dead = f"http://127.0.0.1:{dead_port()}"
    settings["outgoing"] |= {"proxies": {"all://": [dead]}}
    with running_searxng(settings, tmp_path) as server:
        started = server.log.read_text()
        info = asking(server).info()
        with pytest.raises(EnginesFailed) as failed:
            asking(server).search("heron")
    assert set(info.engines) == {"duckduckgo", "mojeek", "wikipedia"}
    assert all(name in str(failed.value) for name in info.engines)
    assert "http://" not in started and "https://" not in started  # no request of its own was even tried
