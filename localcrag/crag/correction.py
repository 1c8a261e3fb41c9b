"""Correction: further searches of the same documents, and of the web if that is allowed.

Section 4.5 of the CRAG paper (Yan et al. 2024, arXiv 2401.15884) corrects by a web search; the local
corrections are tried before it. Each of them makes a bounded number of searches, and returns the hits
that no earlier search had found; if it made the question plainer, all of its hits are to be graded anew.
If a call of the model fails, a Degraded event says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from localcrag.crag import prompts
from localcrag.crag.questions.plain_question import is_plainer, may_have_talk
from localcrag.crag.questions.query_terms import rewrite
from localcrag.crag.questions.rewrite_check import (
    is_refusal_foreseen,
    leak_refusal,
    line_refusal,
    phrasing_refusal,
)
from localcrag.crag.refinement.strip_kinds import prose_of
from localcrag.crag.retrieval import distinct
from localcrag.crag.state import QuestionState
from localcrag.errors import LedgerError, ModelError, OfflineError, UsageError, WebError, WebNotConfigured
from localcrag.events import Condensed, Corrected, Degraded, Graded, PageRead, Rewritten, Steps, WebAsked
from localcrag.filters import matches
from localcrag.languages import is_in_english
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

UNSENT_ERRORS = (LedgerError, OfflineError, UsageError, WebNotConfigured)
"""The errors of a web search that are raised before anything is sent."""
NOT_ALLOWED = "not allowed"
"""The reason if the user refuses a query; a refusal is no degradation of the answer."""
HYPOTHESIS_TOKENS = 160
"""The most tokens of a hypothetical passage."""
MAX_PAGE_PASSAGES = 40
"""The most passages of one web page that are ranked; the rest of a longer page is ignored."""
WRITTEN_BY_MODEL = (CorrectionKind.REWRITE, CorrectionKind.PHRASINGS, CorrectionKind.HYDE)
"""The corrections that search for lines of the model's own."""


def corrections_for(state: QuestionState) -> tuple[CorrectionKind, ...]:
    """The local corrections of a question, in their order.

    A model that writes English alone writes no search for a question in another language.
    """
    kinds = state.options.corrections
    return tuple(kind for kind in kinds if kind not in WRITTEN_BY_MODEL) if _is_foreign(state) else kinds


def _is_foreign(state: QuestionState) -> bool:
    """Whether the model does not write the language of the question, or of the passages if that is open."""
    passages = (prose_of(grade.hit.passage) for grade in state.grades)
    return state.options.english_only and not is_in_english(state.question, passages)


def correct_by(kind: CorrectionKind, state: QuestionState) -> Steps[list[Hit]]:
    """Make one correction of the given kind; returns the hits that no earlier search had found."""
    match kind:
        case CorrectionKind.REWRITE:
            return search_rewritten(state)
        case CorrectionKind.PHRASINGS:
            return search_phrasings(state)
        case CorrectionKind.HYDE:
            return search_hypothesis(state)
        case CorrectionKind.NEIGHBOURS:
            return add_neighbours(state)
        case CorrectionKind.WEB:
            return search_web(state)


def search_rewritten(state: QuestionState) -> Steps[list[Hit]]:
    """Search the documents again with the question rewritten as one search line.

    A line that asks the same in fewer words (:mod:`.plain_question`) takes the question's place: what it
    finds is judged by it, and all its hits are returned; once they are graded, :func:`keep_better_question`
    may take it back. Otherwise those are returned that no earlier
    search had found; none, without a search, if the line was tried before, is refused
    (:mod:`.rewrite_check`), or the model fails. No model is asked if a refusal is foreseen, and one that may
    only keep the question's own words none about a question that has nothing to leave out.
    """
    has_nothing_to_leave_out = state.options.extractive and not may_have_talk(state.question)
    if has_nothing_to_leave_out or is_refusal_foreseen(state.question):
        return []
    line = yield from _line(state, state.question)
    if not line:
        return []
    if is_plainer(line, state.question) and not state.has_tried(line):
        return (yield from _ask_plainly(state, line))
    return (yield from _search_again(state, CorrectionKind.REWRITE, [line]))


def _ask_plainly(state: QuestionState, plain: str) -> Steps[list[Hit]]:
    """Search for a plainer question, which takes the place of the question; returns all hits."""
    yield Condensed(state.question, plain)
    kind, queries = CorrectionKind.REWRITE, state.mark_tried([plain])
    yield Rewritten(kind, tuple(queries))
    hits = yield from state.retriever.search(queries, plain, state.filter)
    state.ask_plainly(plain, hits)
    yield Corrected(kind, plain, tuple(state.mark_seen(hits)))
    return hits


def keep_better_question(state: QuestionState) -> Steps[None]:
    """Ask the question again that a plainer one took the place of, if what it found was graded higher.

    Its grades are emitted again, since those of the plainer one stand in their place.
    """
    if restored := state.take_back_plainer():
        yield Condensed(restored.plainer, state.question)
        for grade in restored.grades:
            yield Graded(grade)


def search_phrasings(state: QuestionState) -> Steps[list[Hit]]:
    """Search for several other phrasings of the question together, fused by reciprocal rank.

    The model writes ``options.phrasings`` of them, one at a time; if it fails, or one is refused
    (:mod:`.rewrite_check`), those written before are searched for. Returns the hits that no earlier search
    had found.
    """
    lines: list[str] = []
    for _ in range(state.options.phrasings):
        try:
            line = state.adapters.model.line(prompts.phrasing(state.question, [*state.tried, *lines]))
        except ModelError as error:
            yield Degraded("phrasings", str(error))
            break
        if refusal := phrasing_refusal(line, state.question):
            yield Degraded("phrasings", f"“{line}” was refused: {refusal}")
            break
        lines.append(line)
    return (yield from _search_again(state, CorrectionKind.PHRASINGS, lines))


def search_hypothesis(state: QuestionState) -> Steps[list[Hit]]:
    """Search near a hypothetical passage that the model writes (HyDE).

    The search vector is the mean of the vectors of the question and of the hypothetical passage (Gao et
    al. 2022, arXiv 2212.10496, section 3.2). The words of the passage are not searched for, and it is
    never evidence. Returns the hits that no earlier search had found.
    """
    prompt = prompts.hypothesis(state.question)
    try:
        text = state.adapters.model.line(prompt, max_tokens=HYPOTHESIS_TOKENS)
    except ModelError as error:
        yield Degraded("hyde", str(error))
        return []
    if refusal := leak_refusal(text, state.question):
        yield Degraded("hyde", f"the hypothetical passage was refused: {refusal}")
        return []
    fresh = state.mark_tried([text])
    yield Rewritten(CorrectionKind.HYDE, tuple(fresh))
    return (yield from search_near(state, text)) if fresh else []


def search_near(state: QuestionState, text: str) -> Steps[list[Hit]]:
    """Search with the normalised mean of the embeddings of the question and of a hypothetical passage.

    BM25 searches for the words of the question. Returns the hits that no earlier search had found.

    Args:
        state: the question and its adapters.
        text: the hypothetical passage.
    """
    embedder = state.adapters.embedder
    middle = embedder.encode_questions([state.question]) + embedder.encode([text])
    length = float((middle @ middle.T)[0, 0]) ** 0.5 or 1.0
    search = state.retriever.search([state.question], state.question, state.filter, vectors=middle / length)
    hits = state.mark_seen((yield from search))
    yield Corrected(CorrectionKind.HYDE, text, tuple(hits))
    return hits


def add_neighbours(state: QuestionState) -> Steps[list[Hit]]:
    """Fetch the passages before and after the two that were graded best.

    An answer may begin where a passage ends. Neighbours that the filter excludes are left out. Returns
    the hits that no earlier search had found, with their cosine to the question as the score.
    """
    judged = [grade for grade in state.grades if grade.confidence is not None]
    best = sorted(judged, key=lambda grade: -(grade.confidence or 0.0))[:2]
    around = [
        passage
        for grade in best
        if grade.hit.passage.origin is Origin.DOCUMENTS
        for passage in state.adapters.store.neighbours(grade.hit.passage)
        if state.filter is None or matches(state.filter, passage)
    ]
    fresh = state.mark_seen(distinct(_measured(state, around)))
    yield Corrected(CorrectionKind.NEIGHBOURS, state.question, tuple(fresh))
    return fresh


def search_web(state: QuestionState) -> Steps[list[Hit]]:
    """Send one query to SearXNG, read the pages it names, and keep their best passages.

    The query is made from the user's own question alone: no text of a document, a page or an earlier
    turn of the conversation can get into it. Nothing is sent if there is no web search, the web policy
    forbids it, or the user does not allow the query. A failure is a Degraded event.

    Returns the hits that no earlier search had found.
    """
    web, fetcher = state.adapters.web, state.adapters.fetcher
    if web is None or fetcher is None or state.options.web_policy is WebPolicy.NEVER:
        return []
    query, refusal = yield from _web_query(state, web)
    if refusal:
        yield WebAsked(query, False, 0, refusal)
        if refusal != NOT_ALLOWED:
            yield Degraded("web search", refusal)
        return []
    try:
        results = web.search(query, limit=state.options.web_results)
    except (WebError, OfflineError, UsageError) as error:
        yield WebAsked(query, not isinstance(error, UNSENT_ERRORS), 0, str(error))
        yield Degraded("web search", str(error))
        return []
    yield WebAsked(query, True, len(results))
    hits: list[Hit] = []
    try:
        for page in fetcher.fetch(results):
            yield PageRead(page.url, len(page.text), page.degraded)
            hits += _measured(state, _passages(state, page))
    except (WebError, OfflineError) as error:
        yield Degraded("web page", str(error))
    nearest = distinct(sorted(hits, key=lambda hit: -hit.score))
    fresh = state.mark_seen(state.retriever.narrowed(nearest, state.question))
    yield Corrected(CorrectionKind.WEB, query, tuple(fresh))
    return fresh


def _line(state: QuestionState, question: str) -> Steps[str]:
    """The search line that the model makes of a question.

    It is "", with a Degraded event, if the model fails, or its line is refused (:mod:`.rewrite_check`).
    """
    try:
        line = rewrite(state.adapters.model, question, extractive=state.options.extractive)
    except ModelError as error:
        yield Degraded("rewrite", str(error))
        return ""
    if refusal := line_refusal(line, question):
        yield Degraded("rewrite", f"“{line}” was refused: {refusal}")
        return ""
    return line


def _search_again(state: QuestionState, kind: CorrectionKind, lines: Sequence[str]) -> Steps[list[Hit]]:
    """Search the documents for those lines that were not tried before; returns the new hits."""
    queries = state.mark_tried(lines)
    yield Rewritten(kind, tuple(queries))
    if not queries:
        return []
    hits = yield from state.retriever.search(queries, state.question, state.filter)
    fresh = state.mark_seen(hits)
    yield Corrected(kind, " | ".join(queries), tuple(fresh))
    return fresh


def _web_query(state: QuestionState, web: WebSearch) -> Steps[tuple[str, str]]:
    """The query for the web, and the reason why it may not be sent, or "" if it may.

    If the model cannot rewrite the question, or its line is refused, the query is the question itself.
    """
    line = "" if _is_foreign(state) else (yield from _line(state, state.asked))
    written = line or state.asked
    try:
        query = web.line(written)
    except UsageError as error:
        return written, str(error)
    yield Rewritten(CorrectionKind.WEB, (query,))
    if state.options.web_policy is WebPolicy.AUTO:
        return query, ""
    if state.options.consent is None:
        return query, "nobody to ask for consent"
    if not (allowed := state.options.consent(query)):
        return query, NOT_ALLOWED
    try:
        return web.line(allowed), ""
    except UsageError as error:
        return allowed, str(error)


def _passages(state: QuestionState, page: WebPage) -> list[Passage]:
    """The first ``MAX_PAGE_PASSAGES`` passages of a web page, with the web as their origin."""
    if not page.text.strip():
        return []
    digest = hashlib.sha256(page.text.encode()).hexdigest()
    document = Document(page.url, digest, page.title, "text/html", (Page(None, page.text),))
    return [replace(p, origin=Origin.WEB) for p in state.adapters.split(document)[:MAX_PAGE_PASSAGES]]


def _measured(state: QuestionState, passages: Sequence[Passage]) -> list[Hit]:
    """Hits for passages that no search ranked, scored by their cosine to the question."""
    if not passages:
        return []
    embedder = state.adapters.embedder
    asked = embedder.encode_questions([state.question])[0]
    cosines = embedder.encode([passage.searchable for passage in passages]) @ asked
    return [Hit(p, float(cosine), float(cosine)) for p, cosine in zip(passages, cosines, strict=True)]
