"""Hypothesis strategies for documents that are made to harm, over the structure of each format.

Most documents are almost right: elements of the format in the wrong places, numbers that lie, references in
circles, nesting without end, parts that are missing or twice there. Some have bytes changed on top.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from torturing.container_documents import archive, docx, epub, opendocument, pptx, xlsx
from torturing.generated_parts import spoilt
from torturing.pdf_documents import pdf
from torturing.text_documents import csv, html, json_text, jsonl, mail, markdown, notebook, rst, rtf

DOCUMENTS_OF_FORMAT = 4
"""Documents that are made of one format before another one's turn."""


@dataclass(frozen=True, slots=True)
class HostileDocument:
    """A file name and the bytes that are found under it."""

    name: str
    data: bytes


def hostile_documents(number: int, count: int) -> list[HostileDocument]:
    """About so many documents; the same number always gives the same ones.

    A few are made of one format, then a few of another one: Hypothesis makes what it makes next out of what
    it made before, and would make the same ones again and again.
    """
    random = Random(number)
    made: list[HostileDocument] = []
    while len(made) < count:
        made += documents_of(random.choice(sorted(FORMATS)), random.getrandbits(32))
    return made


def documents_of(kind: str, number: int) -> list[HostileDocument]:
    """A few documents of one format, without the first one, which is always the simplest."""
    made: list[HostileDocument] = []

    @seed(number)
    @settings(
        max_examples=1 + DOCUMENTS_OF_FORMAT,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(document(kind))
    def collect(found: HostileDocument) -> None:
        made.append(found)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collect()
    return made[1:]


FORMATS: Mapping[str, Callable[[], SearchStrategy[bytes]]] = {
    "pdf": pdf,
    "html": html,
    "docx": docx,
    "xlsx": xlsx,
    "pptx": pptx,
    "odt": lambda: opendocument("text"),
    "ods": lambda: opendocument("spreadsheet"),
    "odp": lambda: opendocument("presentation"),
    "eml": mail,
    "epub": epub,
    "csv": csv,
    "json": json_text,
    "jsonl": jsonl,
    "ipynb": notebook,
    "md": markdown,
    "rst": rst,
    "rtf": rtf,
    "zip": archive,
}


@st.composite
def document(draw: DrawFn, kind: str) -> HostileDocument:
    """A document of a format, under a name of that or of another format."""
    data = draw(spoilt(FORMATS[kind]()))
    suffix = (
        kind
        if draw(st.integers(0, 11))
        else draw(st.sampled_from([*sorted(FORMATS), "txt", "xhtml", "tsv", ""]))
    )
    return HostileDocument(f"made.{suffix}" if suffix else "made", data)
