"""The work of the tools of the MCP server, within the bounds that are set for its client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from localcrag.crag.answering.bracketed_numbers import disarmed
from localcrag.errors import LocalCragError, StoreError, UnknownKnowledgeBase
from localcrag.events import Discovered, Event, Progressed, answer_of, report_of
from localcrag.options import AskOptions
from localcrag.serve.mcp_api.document_part import document_part
from localcrag.serve.mcp_api.mcp_access import McpAccess
from localcrag.serve.mcp_api.mcp_objects import (
    AskArguments,
    IngestArguments,
    ListArguments,
    ListObject,
    ReadArguments,
    ReadObject,
    SearchArguments,
    ServedObject,
    UnreadableObject,
)
from localcrag.serve.mcp_api.mcp_resources import uri_of
from localcrag.serve.step_messages import step_message
from localcrag.types import Answer, Citation, Grade, Hit, IngestReport, Mode

if TYPE_CHECKING:
    from collections.abc import Generator

MAX_QUOTE_CHARACTERS = 400
"""The most characters of a quotation in the text of an answer; its object has all of them."""
Report = Callable[[int, int | None, str], None]
"""A function that is told how far the work is: a number that grows, the number at the end or None, a line.

It ends the work, by raising, if nobody waits for it any more. With an empty line it only looks for that.
"""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call brings: a text for a model to read, and the same as an object for a program."""

    text: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The work of the tools, within the bounds of ``access``; every method raises LocalCragError."""

    access: McpAccess

    def search(self, given: SearchArguments, report: Report) -> ToolResult:
        """Search a knowledge base."""
        base = self.access.askable(given.kb)
        report(0, None, f"searching {base.name}")
        hits = base.search(given.query, k=given.k, filter=given.filter)
        found = [
            hit.to_dict(rank) | {"uri": uri_of(base.name, hit.passage.source)}
            for rank, hit in enumerate(hits, 1)
        ]
        text = "\n\n".join(_hit_text(rank, hit) for rank, hit in enumerate(hits, 1))
        return ToolResult(text or "Nothing found.", {"query": given.query, "kb": base.name, "hits": found})

    def ask(self, given: AskArguments, report: Report) -> ToolResult:
        """Answer a question, and report each step."""
        base = self.access.askable(given.kb)
        mode = None if given.mode is None else Mode(given.mode)
        options = AskOptions(filter=given.filter, mode=mode, web=self.access.web)
        try:
            answer = answer_of(_reported(base.stream(given.question, options), report))
        except LocalCragError:
            raise
        except BaseException:  # given up, or a fault: what was interrupted may spoil the next numbers
            base.reset_models()
            raise
        return ToolResult(_answer_text(answer), answer.to_dict() | {"kb": base.name})

    def read(self, given: ReadArguments, report: Report) -> ToolResult:
        """Read a part of a document with its surroundings."""
        base = self.access.held(given.kb)
        report(0, None, f"reading {given.source}")
        part = document_part(base.document(given.source), given.page, given.start, given.end, given.around)
        values: ReadObject = {
            "kb": base.name,
            "source": part.source,
            "title": part.title,
            "page": part.page,
            "start": part.start,
            "end": part.end,
            "length": part.length,
            "before": part.before,
            "text": part.text,
            "after": part.after,
        }
        place = _place(part.source, part.page, part.start, part.end)
        shown = f"{part.before}⟦{part.text}⟧{part.after}" if part.before or part.after else part.text
        return ToolResult(f"{place} of {part.length}\n\n{shown}", values)

    def list_knowledge_bases(self, given: ListArguments, report: Report) -> ToolResult:
        """The knowledge bases that may be named."""
        served: list[ServedObject] = []
        unreadable: list[UnreadableObject] = []
        for number, name in enumerate(self.access.names()):
            report(number, None, "")
            try:
                info = self.access.held(name).info()
            except UnknownKnowledgeBase:  # removed since
                continue
            except StoreError as error:
                unreadable.append({"name": name, "reason": str(error)})
                continue
            served.append(
                {
                    "name": name,
                    "documents": info.documents,
                    "passages": info.passages,
                    "fields": list(info.fields),
                    "default": name == self.access.default,
                }
            )
        lines = [_served_text(item) for item in served]
        lines += [f"{item['name']} cannot be read: {item['reason']}" for item in unreadable]
        return ToolResult(
            "\n".join(lines) or "There is no knowledge base yet.",
            ListObject(knowledge_bases=served, unreadable=unreadable),
        )

    def ingest(self, given: IngestArguments, report: Report) -> ToolResult:
        """Read files into a knowledge base, and report each document."""
        paths = [self.access.ingestible(path) for path in given.paths]
        base = self.access.held(given.kb)
        events = base.stream_ingestion(paths, metadata=given.metadata)
        done = report_of(_reported(events, report))
        return ToolResult(_report_text(done), done.to_dict())


def _reported(events: Iterator[Event], report: Report) -> Iterator[Event]:
    """The events of some work, each reported; the work ends if ``report`` raises.

    An ingestion counts its documents, and a question its steps, of which nobody knows how many there are.
    """
    total: int | None = None
    done = 0
    with closing(cast("Generator[Event]", events)):
        for event in events:
            if isinstance(event, Discovered):
                total = event.sources
            if total is None or isinstance(event, Progressed):
                done += 1
                report(done, total, step_message(event))
            else:
                report(done, total, "")
            yield event


def _place(source: str, page: int | None, start: int, end: int) -> str:
    """A place in the words of the arguments of ``read``."""
    return f"source {source}, " + ("" if page is None else f"page {page}, ") + f"start {start}, end {end}"


def _hit_text(rank: int, hit: Hit) -> str:
    passage = hit.passage
    place = _place(passage.source, passage.page, passage.start, passage.end)
    return f"{rank}. {place} (score {hit.score:.3f})\n{disarmed(passage.in_context)}"


def _answer_text(answer: Answer) -> str:
    """An answer for a model to read: the status, the text, and where its citations are."""
    parts = [f"Status: {answer.status}", disarmed(answer.text, answer.marks)]
    if answer.citations:
        parts.append("\n".join(["Citations:", *map(_citation_text, answer.citations)]))
    if answer.closest:
        near = map(_closest_text, answer.closest)
        parts.append("\n".join(["Closest passages, which do not answer it:", *near]))
    notes = [
        *answer.degraded,
        *answer.suggestions,
        *(f"skipped: {s.source}: {s.reason}" for s in answer.unread),
    ]
    if notes:
        parts.append("\n".join(["Notes:", *notes]))
    return "\n\n".join(parts)


def _citation_text(citation: Citation) -> str:
    place = _place(citation.source, citation.page, citation.start, citation.end)
    return f"[{citation.key}] {place} ({citation.origin}): “{_shortened(citation.quote)}”"


def _closest_text(grade: Grade) -> str:
    passage = grade.hit.passage
    place = _place(passage.source, passage.page, passage.start, passage.end)
    return f"- {place} ({passage.origin}): “{_shortened(passage.text)}”"


def _shortened(text: str) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text.split())
    return disarmed(line if len(line) <= MAX_QUOTE_CHARACTERS else line[:MAX_QUOTE_CHARACTERS] + "…")


def _served_text(item: ServedObject) -> str:
    default = " (by default)" if item["default"] else ""
    fields = f"; fields: {', '.join(item['fields'])}" if item["fields"] else ""
    return f"{item['name']}{default}: {item['documents']} documents, {item['passages']} passages{fields}"


def _report_text(report: IngestReport) -> str:
    counts = f"{report.added} added, {report.changed} changed, {report.unchanged} unchanged"
    lines = [f"{report.kb}: {counts}, {report.passages} passages written"]
    lines += [f"moved {item.former}: now {item.source}" for item in report.moved]
    lines += [f"gone {source}: its file is not there" for source in report.gone]
    return "\n".join([*lines, *(f"skipped {item.source}: {item.reason}" for item in report.skipped)])
