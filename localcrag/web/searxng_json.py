"""Parsing the JSON of a SearXNG search, none of which is trusted.

Answers and info boxes (in which Wikipedia and Wikidata appear by default) become results like the
others. Markup is removed from texts, results without an http(s) address are dropped, and results with
the same address are merged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import unescape

from localcrag._platform import storable
from localcrag.types import JsonValue, WebResult

MAX_TITLE_CHARACTERS = 300
MAX_SNIPPET_CHARACTERS = 2_000
MAX_URL_CHARACTERS = 2_000
MAX_MARKUP_CHARACTERS = 20_000

Json = Mapping[str, JsonValue]


def _tags(names: str) -> re.Pattern[str]:
    """A pattern for the start and end tags of the elements ``names``, with their attributes."""
    attribute = r"""\s+[a-z-]+(?:=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))?"""
    return re.compile(rf"</?(?:{names})(?:{attribute})*\s*/?>", re.IGNORECASE)


_BREAK_TAGS = _tags("br|p|div|li|ul|ol|tr|td|th|table|hr|h[1-6]|blockquote|pre")
_INLINE_TAGS = _tags("a|abbr|b|big|cite|code|em|font|i|img|mark|q|s|small|span|strong|sub|sup|tt|u|wbr")


@dataclass(frozen=True, slots=True)
class Reply:
    """The results of a search, best first, and the engines that failed, each with its reason."""

    results: tuple[WebResult, ...]
    failed: tuple[tuple[str, str], ...]


def parsed(reply: Json) -> Reply:
    """The reply in the top-level JSON object; keys that are missing or of another type count as empty."""
    merged: dict[str, WebResult] = {}
    for result in _all(reply):
        key = result.url.partition("#")[0].rstrip("/")
        merged[key] = _merged(merged[key], result) if key in merged else result
    return Reply(tuple(merged.values()), tuple(_failures(reply)))


def _all(reply: Json) -> Iterator[WebResult]:
    """Answers, then info boxes, then results: from the most to the least direct."""
    for answer in _objects(reply, "answers"):
        yield from _result(answer, title="", snippet=_text(answer, "answer"))
    for box in _objects(reply, "infoboxes"):
        yield from _infobox(box)
    for found in _objects(reply, "results"):
        yield from _result(found, title=_text(found, "title"), snippet=_text(found, "content"))


def _infobox(box: Json) -> Iterator[WebResult]:
    """An info box as a result: its first web address, and its text followed by its facts."""
    facts = [f"{_text(fact, 'label')}: {_text(fact, 'value')}" for fact in _objects(box, "attributes")]
    addresses = [box.get("id"), *(link.get("url") for link in _objects(box, "urls"))]
    url = next((address for address in addresses if _is_web(address)), None)
    snippet = " ".join(filter(None, [_text(box, "content"), *(f"{fact}." for fact in facts)]))
    yield from _result({**box, "url": url}, title=_text(box, "infobox"), snippet=snippet)


def _result(item: Json, *, title: str, snippet: str) -> Iterator[WebResult]:
    url = item.get("url")
    if isinstance(url, str) and _is_web(url):
        yield WebResult(
            url=url.strip(),
            title=title[:MAX_TITLE_CHARACTERS],
            snippet=snippet[:MAX_SNIPPET_CHARACTERS],
            engine=_text(item, "engine"),
        )


def _is_web(url: JsonValue) -> bool:
    return (
        isinstance(url, str)
        and url.strip().lower().startswith(("http://", "https://"))
        and len(url) <= MAX_URL_CHARACTERS
        and url.strip().isprintable()
    )


def _merged(first: WebResult, second: WebResult) -> WebResult:
    """The first of two results, with the title of the second if it has none and the longer snippet."""
    return replace(
        first,
        title=first.title or second.title,
        snippet=max(first.snippet, second.snippet, key=len),
        engine=first.engine or second.engine,
    )


def _failures(reply: Json) -> Iterator[tuple[str, str]]:
    engines = reply.get("unresponsive_engines")
    for pair in engines if isinstance(engines, list) else ():
        if isinstance(pair, list) and pair:
            yield plain(str(pair[0])), plain(str(pair[1])) if len(pair) > 1 else "no reason given"


def _objects(item: Json, key: str) -> Iterator[Json]:
    values = item.get(key)
    return (value for value in values if isinstance(value, Mapping)) if isinstance(values, list) else iter(())


def _text(item: Json, key: str) -> str:
    value = item.get(key)
    return plain(value) if isinstance(value, str) else ""


def plain(text: str) -> str:
    """The text on one line, without markup and lone surrogates, with character references resolved.

    Only tags of the elements that engines put into titles and snippets are removed. An HTML parser would
    take ``vector<int>`` and ``if (a<b && c>d)`` for markup too, and drop them.
    """
    text = _BREAK_TAGS.sub(" ", text[:MAX_MARKUP_CHARACTERS])
    return storable(" ".join(unescape(_INLINE_TAGS.sub("", text)).split()))
