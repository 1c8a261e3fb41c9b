"""Correction: other searches of the same documents, and, if it is allowed, of the web.

Each step is tried at most once for a question, makes a bounded number of searches, and returns
the passages that no earlier search had brought. A step whose model call fails is reported as
degraded and brings nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from localcrag.crag import prompts
from localcrag.crag.parts import Inquiry
from localcrag.crag.retrieve import distinct
from localcrag.crag.rewrite import rewrite
from localcrag.errors import LedgerError, ModelError, OfflineError, UsageError, WebError, WebNotConfigured
from localcrag.events import Corrected, Degraded, PageRead, Rewritten, Steps, WebAsked
from localcrag.filters import matches
from localcrag.protocols import WebSearch
from localcrag.types import (
    CorrectionKind,
    Document,
    Hit,
    Origin,
    Page,
    Passage,
    WebPage,
    WebPolicy,
)

Step = Callable[[Inquiry], Steps[list[Hit]]]
UNSENT = (LedgerError, OfflineError, UsageError, WebNotConfigured)
"""The errors of a web search that come before anything is sent."""
NOT_ALLOWED = "not allowed"
"""The user's own refusal, which takes nothing away that was wanted."""
HYPOTHESIS_TOKENS = 160
PAGE_PASSAGES = 40
"""Passages of one web page that are looked at; the rest of a longer page is left alone."""


def by_rewriting(inquiry: Inquiry) -> Steps[list[Hit]]:
    """The question as one search line, searched again."""
    try:
        line = _line(inquiry, inquiry.question)
    except ModelError as error:
        yield Degraded("rewrite", str(error))
        return []
    return (yield from _search_again(inquiry, CorrectionKind.REWRITE, [line]))


def by_phrasings(inquiry: Inquiry) -> Steps[list[Hit]]:
    """The question in several other wordings, searched together and fused by rank."""
    lines: list[str] = []
    for _ in range(inquiry.options.phrasings):
        try:
            lines.append(
                inquiry.parts.model.line(prompts.phrasing(inquiry.question, [*inquiry.tried, *lines]))
            )
        except ModelError as error:
            yield Degraded("phrasings", str(error))
            break
    return (yield from _search_again(inquiry, CorrectionKind.PHRASINGS, lines))


def by_hypothesis(inquiry: Inquiry) -> Steps[list[Hit]]:
    """HyDE: a passage that could answer is made up, and what lies near it is searched for.

    The vector searched with is the mean of the question's and the made-up passage's (Gao et al. 2022,
    arXiv 2212.10496, section 3.2); its words are not searched for, and it is never evidence.
    """
    prompt = prompts.hypothesis(inquiry.question)
    try:
        text = inquiry.parts.model.line(prompt, max_tokens=HYPOTHESIS_TOKENS)
    except ModelError as error:
        yield Degraded("hyde", str(error))
        return []
    fresh = inquiry.untried([text])
    yield Rewritten(CorrectionKind.HYDE, tuple(fresh))
    return (yield from near(inquiry, text)) if fresh else []


def near(inquiry: Inquiry, text: str) -> Steps[list[Hit]]:
    """What lies between the question and a made-up passage in the space of meanings."""
    both = inquiry.parts.embedder.encode([inquiry.question, text])
    middle = both.sum(axis=0, keepdims=True)
    length = float((middle @ middle.T)[0, 0]) ** 0.5 or 1.0
    search = inquiry.retriever.search(
        [inquiry.question], inquiry.question, inquiry.filter, vectors=middle / length
    )
    hits = inquiry.unseen((yield from search))
    yield Corrected(CorrectionKind.HYDE, text, tuple(hits))
    return hits


def by_neighbours(inquiry: Inquiry) -> Steps[list[Hit]]:
    """The passages before and after the best two: an answer may begin where a passage ends."""
    judged = [grade for grade in inquiry.grades if grade.confidence is not None]
    best = sorted(judged, key=lambda grade: -(grade.confidence or 0.0))[:2]
    around = [
        passage
        for grade in best
        if grade.hit.passage.origin is Origin.DOCUMENTS
        for passage in inquiry.parts.store.neighbours(grade.hit.passage)
        if inquiry.filter is None or matches(inquiry.filter, passage)
    ]
    fresh = inquiry.unseen(distinct(_measured(inquiry, around)))
    yield Corrected(CorrectionKind.NEIGHBOURS, inquiry.question, tuple(fresh))
    return fresh


def by_web(inquiry: Inquiry) -> Steps[list[Hit]]:
    """One line to SearXNG, the pages it names, and their best passages.

    The line is made from the user's own question alone: nothing of a document, a page or an
    earlier turn of the conversation can reach it.
    """
    web, fetcher = inquiry.parts.web, inquiry.parts.fetcher
    if web is None or fetcher is None or inquiry.options.web_policy is WebPolicy.NEVER:
        return []
    query, refusal = yield from _web_query(inquiry, web)
    if refusal:
        yield WebAsked(query, False, 0, refusal)
        if refusal != NOT_ALLOWED:
            yield Degraded("web search", refusal)
        return []
    try:
        results = web.search(query, limit=inquiry.options.web_results)
    except (WebError, OfflineError, UsageError) as error:
        yield WebAsked(query, not isinstance(error, UNSENT), 0, str(error))
        yield Degraded("web search", str(error))
        return []
    yield WebAsked(query, True, len(results))
    hits: list[Hit] = []
    try:
        for page in fetcher.fetch(results):
            yield PageRead(page.url, len(page.text), page.degraded)
            hits += _measured(inquiry, _passages(inquiry, page))
    except (WebError, OfflineError) as error:
        yield Degraded("web page", str(error))
    nearest = distinct(sorted(hits, key=lambda hit: -hit.score))
    fresh = inquiry.unseen(inquiry.retriever.narrowed(nearest, inquiry.question))
    yield Corrected(CorrectionKind.WEB, query, tuple(fresh))
    return fresh


STEPS: Mapping[CorrectionKind, Step] = {
    CorrectionKind.REWRITE: by_rewriting,
    CorrectionKind.PHRASINGS: by_phrasings,
    CorrectionKind.HYDE: by_hypothesis,
    CorrectionKind.NEIGHBOURS: by_neighbours,
    CorrectionKind.WEB: by_web,
}


def _line(inquiry: Inquiry, question: str) -> str:
    return rewrite(inquiry.parts.model, question, extractive=inquiry.options.extractive)


def _search_again(inquiry: Inquiry, kind: CorrectionKind, lines: Sequence[str]) -> Steps[list[Hit]]:
    queries = inquiry.untried(lines)
    yield Rewritten(kind, tuple(queries))
    if not queries:
        return []
    hits = yield from inquiry.retriever.search(queries, inquiry.question, inquiry.filter)
    fresh = inquiry.unseen(hits)
    yield Corrected(kind, " | ".join(queries), tuple(fresh))
    return fresh


def _web_query(inquiry: Inquiry, web: WebSearch) -> Steps[tuple[str, str]]:
    """The line to send, and the reason not to ("" where it may go)."""
    try:
        written = _line(inquiry, inquiry.asked)
    except ModelError as error:
        yield Degraded("rewrite", str(error))
        written = inquiry.asked
    try:
        query = web.line(written)
    except UsageError as error:
        return written, str(error)
    yield Rewritten(CorrectionKind.WEB, (query,))
    if inquiry.options.web_policy is WebPolicy.AUTO:
        return query, ""
    if inquiry.options.consent is None:
        return query, "nobody to ask for consent"
    if not (allowed := inquiry.options.consent(query)):
        return query, NOT_ALLOWED
    try:
        return web.line(allowed), ""
    except UsageError as error:
        return allowed, str(error)


def _passages(inquiry: Inquiry, page: WebPage) -> list[Passage]:
    """The first passages of a page of the web."""
    if not page.text.strip():
        return []
    digest = hashlib.sha256(page.text.encode()).hexdigest()
    document = Document(page.url, digest, page.title, "text/html", (Page(None, page.text),))
    return [replace(p, origin=Origin.WEB) for p in inquiry.parts.split(document)[:PAGE_PASSAGES]]


def _measured(inquiry: Inquiry, passages: Sequence[Passage]) -> list[Hit]:
    """Passages that no search ranked, scored by their cosine to the question."""
    if not passages:
        return []
    vectors = inquiry.parts.embedder.encode([inquiry.question, *(p.text for p in passages)])
    cosines = vectors[1:] @ vectors[0]
    return [Hit(p, float(cosine), float(cosine)) for p, cosine in zip(passages, cosines, strict=True)]
