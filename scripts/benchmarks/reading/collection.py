"""The collections of documents that are asked about, each a knowledge base of its own.

A folder of ``collections/`` has ``sources/`` (see :mod:`benchmarks.reading.documents`), ``questions.jsonl``
(see :mod:`benchmarks.reading.questions`) and ``collection.toml``: what it is about, the embedding model it is
read with if it is not the default one, and, if it was asked before anyone had looked at an answer, what came
of it then.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.reading.documents import Document, documents
from benchmarks.reading.questions import Question, all_questions, packages, with_documents
from localcrag.settings import ModelSettings

FOLDER = Path(__file__).parent / "collections"
DEFAULT_EMBEDDING = ModelSettings().embedding


@dataclass(frozen=True)
class Collection:
    """Documents with the questions about them.

    ``first_sight`` has the shares that were measured before anything was mended for the sake of this
    collection, by name: how well it goes with documents that nobody has tuned the program to. It is empty
    if that was not measured.
    """

    folder: Path
    about: str
    embedding: str = DEFAULT_EMBEDDING
    first_sight: Mapping[str, float] | None = None

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @cached_property
    def documents(self) -> list[Document]:
        """The documents that can be made, by name."""
        return documents(self.folder / "sources")

    @cached_property
    def packages(self) -> list[Document]:
        """The documents of installed packages that are asked about."""
        return packages(self.questions)

    @property
    def asked(self) -> list[tuple[Question, Document]]:
        """The questions with their documents, without those that an installed package no longer answers."""
        return with_documents(self.questions, [*self.documents, *self.packages])

    @cached_property
    def questions(self) -> list[Question]:
        """All its questions, those about packages that are not installed too."""
        return list(all_questions(self.folder / "questions.jsonl"))


def collections() -> list[Collection]:
    """All collections, by name."""
    return [_read(folder) for folder in sorted(FOLDER.iterdir())]


def _read(folder: Path) -> Collection:
    said = tomllib.loads((folder / "collection.toml").read_text("utf-8"))
    return Collection(folder, **said)
