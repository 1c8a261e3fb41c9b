"""What a client of the MCP server says and gets: the arguments of the tools, and the objects they bring.

The JSON Schemas that a client sees are made from these types, and arguments are checked against them.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

import msgspec
from msgspec import Meta

from localcrag.json_schema import AnswerObject
from localcrag.serve.cited_text import MAX_TEXT_CHARACTERS

MAX_HITS = 50
"""The most passages that one search brings."""
MAX_PATHS = 100
"""The most files and folders of one ingestion."""

KbArgument = Annotated[
    str | None,
    Meta(description="Name of the knowledge base, as list_knowledge_bases has it; by default one."),
]
FilterArgument = Annotated[
    str | None,
    Meta(
        description='Only documents like this, for example: team = "x" and year > 2023. The fields are those '
        "that list_knowledge_bases names, and source, title, page, heading."
    ),
]


class SearchArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of ``search``."""

    query: Annotated[str, Meta(description="A question, or words that the passage is likely to have.")]
    kb: KbArgument = None
    filter: FilterArgument = None
    k: Annotated[int, Meta(ge=1, le=MAX_HITS, description="The most passages to return.")] = 8


class AskArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of ``ask``."""

    question: Annotated[
        str, Meta(description="One question that stands for itself: nothing of a conversation is known here.")
    ]
    kb: KbArgument = None
    filter: FilterArgument = None
    mode: Annotated[
        Literal["write", "quote"] | None,
        Meta(
            description="Write an answer, or only quote verbatim sentences; by default what fits the model."
        ),
    ] = None


class ReadArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of ``read``."""

    source: Annotated[str, Meta(description="The source, exactly as a citation or a hit has it.")]
    kb: KbArgument = None
    page: Annotated[
        int | None,
        Meta(description="Number of the page, slide or sheet; leave it out if the citation has none."),
    ] = None
    start: Annotated[int, Meta(ge=0, description="First character of the part, as in the citation.")] = 0
    end: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="End of the part, as in the citation; by default as far as one call goes."),
    ] = None
    around: Annotated[
        int, Meta(ge=0, le=MAX_TEXT_CHARACTERS, description="Characters to show before and after the part.")
    ] = 600


class ListArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of ``list_knowledge_bases``: none."""


class IngestArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of ``ingest``."""

    paths: Annotated[
        list[str],
        Meta(min_length=1, max_length=MAX_PATHS, description="Files or folders below the allowed folder."),
    ]
    kb: KbArgument = None
    metadata: Annotated[
        dict[str, str | int | float | bool],
        Meta(description='Fields that every document gets, for filters, for example {"team": "x"}.'),
    ] = {}


class PassageObject(TypedDict):
    """A passage that a search found; ``start`` and ``end`` are characters of the page's stored text."""

    rank: int
    score: float
    source: str
    title: str
    page: int | None
    start: int
    end: int
    text: str
    meta: dict[str, str | int | float | bool | list[str]]
    sheet: str
    rows: tuple[int, int] | None
    uri: str


class SearchObject(TypedDict):
    """The passages that a search found, best first."""

    query: str
    kb: str
    hits: list[PassageObject]


class AskObject(AnswerObject):
    """The answer, with everything that led to it."""

    kb: str


class ReadObject(TypedDict):
    """A part of a document with its surroundings; ``length`` is that of the page's or document's text."""

    kb: str
    source: str
    title: str
    page: int | None
    start: int
    end: int
    length: int
    before: str
    text: str
    after: str


class ServedObject(TypedDict):
    """A knowledge base, and the fields of its documents that filters know."""

    name: str
    documents: int
    passages: int
    fields: list[str]
    default: bool


class UnreadableObject(TypedDict):
    """A knowledge base that cannot be read, and why."""

    name: str
    reason: str


class ListObject(TypedDict):
    """The knowledge bases."""

    knowledge_bases: list[ServedObject]
    unreadable: list[UnreadableObject]
