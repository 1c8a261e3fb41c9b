"""Every way in which a SearXNG answers, against a scripted server; the real one is in test_searxng_real."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Callable
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag import egress
from localcrag.errors import (
    BadReply,
    EnginesFailed,
    JsonDisabled,
    LedgerError,
    LocalCragError,
    OfflineError,
    RateLimited,
    ServerDown,
    UsageError,
    WebNotConfigured,
)
from localcrag.types import JsonValue, WebResult
from localcrag.web.searxng import MAX_REPLY_BYTES, SearxngOptions, SearxngSearch
from localcrag.web.searxng_json import parsed, plain
from tests.web.scripted import Answer, ScriptedServer
from tests.web.searxng_server import dead_port

EMPTY: dict[str, object] = {
    "query": "x",
    "results": [],
    "answers": [],
    "corrections": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [],
}
KEYS = [*EMPTY, "url", "urls", "title", "content", "infobox", "id", "answer", "attributes", "label", "engine"]
Recorded = list[tuple[str, str]]


def searcher(url: str, recorded: Recorded | None = None, **more: object) -> SearxngSearch:
    record: Callable[[str, str], None] = lambda kind, target: (  # noqa: E731
        None if recorded is None else recorded.append((kind, target))
    )
    return SearxngSearch(url, record=record, **{"timeout": 120.0, **more})  # type: ignore[arg-type]


def replied(script: ScriptedServer, reply: dict[str, object]) -> list[WebResult]:
    script.answers["/search"] = Answer.json(EMPTY | reply)
    return searcher(script.url).search("heron", limit=10)


# ---------------------------------------------------------------------------------- what is sent


def test_the_query_goes_in_the_body_as_a_neutral_browserlike_request(script: ScriptedServer) -> None:
    script.answers["/search"] = Answer.json(EMPTY)
    recorded: Recorded = []
    options = SearxngOptions(safesearch=2)
    searcher(f"{script.url}/", recorded, language="de", options=options).search("!!g what is\na heron & co?")
    (request,) = script.requests
    assert (request.method, request.path) == ("POST", "/search")
    line = "g what is a heron & co?"
    assert request.form == {"q": line, "format": "json", "language": "de", "pageno": "1", "safesearch": "2"}
    assert recorded == [("query", line)]
    assert request.headers["accept-language"] == "en"
    assert "gzip" in request.headers["accept-encoding"]
    assert request.headers["user-agent"] == "Mozilla/5.0 (compatible; localcrag)"
    assert not {"cookie", "referer", "authorization"} & request.headers.keys()


def test_what_cannot_be_written_down_is_not_sent(script: ScriptedServer) -> None:
    def full(kind: str, target: str) -> None:
        raise LedgerError("no space")

    with pytest.raises(LedgerError):
        SearxngSearch(script.url, record=full).search("heron")
    assert script.requests == []


def test_a_blank_query_reaches_nobody(script: ScriptedServer) -> None:
    recorded: Recorded = []
    with pytest.raises(UsageError):
        searcher(script.url, recorded).search(" !! ")
    assert (script.requests, recorded) == ([], [])


def test_a_proxy_in_the_environment_is_not_used(
    script: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{dead_port()}")
    assert replied(script, {}) == []


def test_a_server_below_a_path(script: ScriptedServer) -> None:
    script.answers["/searx/search"] = Answer.json(EMPTY)
    assert searcher(f"{script.url}/searx").search("heron") == []


def test_unknown_engines_and_categories_are_refused_before_anything_is_sent(script: ScriptedServer) -> None:
    """The server would silently ask its default engines: a private query would go out to the web."""
    engine = {"name": "corpus", "enabled": True}
    script.answers["/config"] = Answer.json({"engines": [engine], "categories": ["general"]})
    script.answers["/search"] = Answer.json(EMPTY)
    recorded: Recorded = []
    for options in (SearxngOptions(engines=("corpora",)), SearxngOptions(categories=("private",))):
        with pytest.raises(WebNotConfigured, match="default engines") as error:
            searcher(script.url, recorded, options=options).search("heron")
        assert "corpus" in error.value.hint or "general" in error.value.hint
    assert recorded == [] and {r.path for r in script.requests} == {"/config"}
    known = searcher(script.url, options=SearxngOptions(engines=("corpus",), categories=("general",)))
    assert known.search("heron") == known.search("heron") == []
    form = script.requests[-1].form
    assert (form["engines"], form["categories"]) == ("corpus", "general")
    assert [r.path for r in script.requests].count("/config") == 3  # once for each client


# ---------------------------------------------------------------------------------- what goes wrong

NOT_SEARXNG = {
    "html instead of json": Answer(200, b"<html>results</html>"),
    "no content type": Answer(200, b"{}", media_type=""),
    "damaged json": Answer(200, b'{"results": [', "application/json"),
    "deep json": Answer(200, b"[" * 200_000, "application/json"),
    "json that is no object": Answer.json([1]),
    "json without results": Answer.json({}),
    "json of an error": Answer.json({"error": "the search failed"}),
    "results that are no list": Answer.json({"results": {"0": "a"}}),
    "not utf-8": Answer(200, b"\xff\xfe\xfa", "application/json"),
    "no query": Answer.json({"error": "No query"}, 400),
    "bad parameter": Answer.json({"error": "Invalid value 'xx' for parameter language"}, 400),
    "server error": Answer(500, b"<html>Internal Server Error</html>"),
    "uri too long": Answer(414, b"<html></html>"),
    "not found": Answer(404, b"<html></html>"),
    "password": Answer(401, b"<html></html>"),
    "unasked encoding": Answer(200, b"{}", "application/json", (("Content-Encoding", "br"),)),
    "damaged encoding": Answer(200, b"{}", "application/json", (("Content-Encoding", "gzip"),)),
}


@pytest.mark.parametrize("answer", NOT_SEARXNG.values(), ids=NOT_SEARXNG.keys())
def test_what_is_not_a_search_reply_says_so(script: ScriptedServer, answer: Answer) -> None:
    script.answers["/search"] = answer
    with pytest.raises(BadReply, match="did not answer like a SearXNG") as error:
        searcher(script.url).search("heron")
    assert_one_line(error.value)


def test_the_servers_own_reason_is_shown(script: ScriptedServer) -> None:
    script.answers["/search"] = NOT_SEARXNG["bad parameter"]
    with pytest.raises(BadReply, match="Invalid value 'xx'"):
        searcher(script.url).search("heron")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(script: ScriptedServer, status: int) -> None:
    script.answers["/search"] = Answer.redirect(f"{script.url}/elsewhere?q=heron", status)
    with pytest.raises(BadReply, match=r"elsewhere.*not followed"):
        searcher(script.url).search("heron")
    assert [r.path for r in script.requests] == ["/search"]


def test_json_disabled(script: ScriptedServer) -> None:
    script.answers["/search"] = Answer(403, b"<html>Forbidden</html>")
    with pytest.raises(JsonDisabled) as error:
        searcher(script.url).search("heron")
    assert "search: {formats: [html, json]}" in error.value.hint
    assert_one_line(error.value)


def test_rate_limited(script: ScriptedServer) -> None:
    script.answers["/search"] = Answer(429, b"<html>Too Many Requests</html>")
    with pytest.raises(RateLimited) as error:
        searcher(script.url).search("heron")
    assert "limiter: false" in error.value.hint


def test_every_engine_failed(script: ScriptedServer) -> None:
    failed = [["mojeek", "Suspended: too many requests"], ["duckduckgo", "timeout"]]
    with pytest.raises(
        EnginesFailed, match=r"mojeek \(Suspended: too many requests\), duckduckgo \(timeout\)"
    ):
        replied(script, {"unresponsive_engines": failed})


def test_an_engine_may_fail_while_others_find_something(script: ScriptedServer) -> None:
    found = {"url": "https://a.example/", "title": "A", "content": "a", "engine": "x"}
    assert len(replied(script, {"results": [found], "unresponsive_engines": [["y", "timeout"]]})) == 1


def test_truly_nothing_found(script: ScriptedServer) -> None:
    assert replied(script, {}) == []
    assert replied(script, {"answers": {}, "unresponsive_engines": "none"}) == []


def test_nothing_listens() -> None:
    with pytest.raises(ServerDown, match="Connection refused") as error:
        searcher(f"http://127.0.0.1:{dead_port()}").search("heron")
    assert_one_line(error.value)


def test_a_name_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:  # some networks know every name, and some take minutes
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(ServerDown, match="name is unknown"):
        searcher("http://no-such-host.invalid").search("heron")


def test_what_stands_before_it_is_up_and_it_is_down(script: ScriptedServer) -> None:
    script.answers["/search"] = Answer(502, b"<html>Bad Gateway</html>")
    with pytest.raises(ServerDown, match="502"):
        searcher(script.url).search("heron")


def test_the_time_limit_is_for_the_whole_reply(script: ScriptedServer) -> None:
    """Each byte comes well within the limit; all of them together do not."""
    script.answers["/search"] = Answer(200, b" " * 400, "application/json", drip=0.05)
    with pytest.raises(ServerDown, match="in time"):
        searcher(script.url, timeout=0.4).search("heron")


def test_a_reply_has_a_size_limit_also_when_it_is_compressed(script: ScriptedServer) -> None:
    bomb = gzip.compress(b" " * (MAX_REPLY_BYTES + 1))
    assert len(bomb) < 10_000
    script.answers["/search"] = Answer(200, bomb, "application/json", (("Content-Encoding", "gzip"),))
    with pytest.raises(BadReply, match="larger than 4,096 KiB"):
        searcher(script.url).search("heron")


def test_a_compressed_reply_is_read(script: ScriptedServer) -> None:
    body = gzip.compress(Answer.json(EMPTY).body)
    script.answers["/search"] = Answer(200, body, "application/json", (("Content-Encoding", "gzip"),))
    assert searcher(script.url).search("heron") == []


def test_offline_a_server_elsewhere_is_refused_and_one_here_is_asked(script: ScriptedServer) -> None:
    recorded: Recorded = []
    with egress.offline():
        for url in ("http://search.example.org", "http://192.0.2.1:8888", "http://10.0.0.2:8888"):
            with pytest.raises(OfflineError):
                searcher(url, recorded).search("heron")
        assert recorded == []
        assert replied(script, {}) == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "no SearXNG is configured"),
        ("localhost:8888", "http"),
        ("ftp://x.example", "http"),
        ("http://", "no host"),
        ("http://user:secret@x.example", "password"),
        ("http://x.example:99999", "port"),
    ],
)
def test_an_address_that_cannot_be_one(url: str, why: str) -> None:
    with pytest.raises(WebNotConfigured, match=why) as error:
        searcher(url).search("heron")
    assert error.value.hint


# ---------------------------------------------------------------------------------- what comes back


def test_markup_goes_and_text_stays(script: ScriptedServer) -> None:
    found = {
        "url": "https://a.example/x",
        "title": "The <em>grey</em>\nheron &amp; co",
        "content": "one<br/>two <B>im</b>portant<p class='x'>&lt;b&gt; <a href=\"/?a=1&b\" rel=x>link</a>",
        "engine": "mojeek",
    }
    (result,) = replied(script, {"results": [found]})
    assert result == WebResult(
        "https://a.example/x", "The grey heron & co", "one two important <b> link", "mojeek"
    )


@pytest.mark.parametrize(
    "text",
    ["if (a<b && c>d)", "std::vector<int> v", "I <3 x < y", "a <", "<![foo", "<!-- x -->", "Map<K, V>"],
)
def test_what_only_looks_like_markup_stays(script: ScriptedServer, text: str) -> None:
    (result,) = replied(script, {"results": [{"url": "https://a.example", "title": text, "content": ""}]})
    assert result.title == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6))
def test_no_reply_is_too_odd_to_read(reply: dict[str, JsonValue]) -> None:
    for result in parsed(reply).results:
        assert result.url.strip().startswith(("http://", "https://"))


@pytest.mark.parametrize("piece", ["<", "<a ", "<b x='", "&", "<!--", "<a href=x ", "</", "<a\n"])
def test_hostile_markup_takes_no_time(piece: str) -> None:
    started = process_time()
    plain(piece * 1_000_000)
    assert process_time() - started < 20  # a few milliseconds; a quadratic reader takes minutes


def test_half_a_character_becomes_a_mark_that_can_be_stored(script: ScriptedServer) -> None:
    half = "heron \ud83d"  # without its second half
    item = {
        "url": "https://a.example/",
        "title": half,
        "content": f"{half}<b>\ude00</b> bird",
        "engine": half,
    }
    [found] = replied(script, {"results": [item]})
    assert found.title == found.engine == "heron \ufffd"
    assert found.snippet == "heron \ufffd\ufffd bird"
    [found] = replied(script, {"results": [item | {"content": "a \U0001f600 bird"}]})
    assert found.snippet == "a \U0001f600 bird"


def test_results_without_a_web_address_are_dropped(script: ScriptedServer) -> None:
    bad = [
        None,
        "",
        7,
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ftp://a.example",
        "https://a b\n.example",
    ]
    items: list[object] = [{"url": url, "title": "t", "content": "c"} for url in bad]
    items += [None, "text", {"title": "no url"}, {"url": "https://ok.example", "title": None, "content": 3}]
    assert replied(script, {"results": items}) == [WebResult("https://ok.example", "", "", "")]


def test_infoboxes_and_answers_become_results_before_the_others(script: ScriptedServer) -> None:
    box = {
        "infobox": "Heron",
        "id": "https://en.wikipedia.example/wiki/Heron",
        "content": "Herons are <b>wading</b> birds.",
        "urls": [{"title": "Wikipedia", "url": "https://en.wikipedia.example/wiki/Heron"}],
        "attributes": [{"label": "Family", "value": "Ardeidae"}, {"label": "Height", "value": "90 cm"}],
        "engine": "wikipedia",
    }
    elsewhere = {"infobox": "Q1", "id": "Q1", "urls": [{"url": "https://data.example/Q1"}], "content": "c"}
    answers = [
        {"answer": "90 cm", "url": "https://a.example/height", "engine": "x"},
        {"answer": "no address", "url": None},
    ]
    item = {"url": "https://z.example", "title": "Z", "content": "z"}
    results = replied(script, {"infoboxes": [box, elsewhere], "answers": answers, "results": [item]})
    assert [(r.url, r.snippet) for r in results] == [
        ("https://a.example/height", "90 cm"),
        (
            "https://en.wikipedia.example/wiki/Heron",
            "Herons are wading birds. Family: Ardeidae. Height: 90 cm.",
        ),
        ("https://data.example/Q1", "c"),
        ("https://z.example", "z"),
    ]


def test_duplicates_are_merged_and_the_limit_counts_afterwards(script: ScriptedServer) -> None:
    found = [
        {"url": "https://a.example/x", "title": "", "content": "short"},
        {"url": "https://a.example/x/#part", "title": "A", "content": "a longer text"},
        {"url": "https://b.example", "title": "B", "content": "b"},
        {"url": "https://c.example", "title": "C", "content": "c"},
    ]
    script.answers["/search"] = Answer.json(EMPTY | {"results": found})
    results = searcher(script.url).search("heron", limit=2)
    assert results == [
        WebResult("https://a.example/x", "A", "a longer text"),
        WebResult("https://b.example", "B", "b"),
    ]


def test_texts_have_a_limit(script: ScriptedServer) -> None:
    found = {"url": "https://a.example", "title": "t" * 10_000, "content": "c" * 100_000}
    (result,) = replied(script, {"results": [found]})
    assert (len(result.title), len(result.snippet)) == (300, 2_000)


def assert_one_line(error: LocalCragError) -> None:
    assert len(str(error).splitlines()) == 1 and error.hint
