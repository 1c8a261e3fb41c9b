"""A knowledge base of three texts, asked with the embedded models."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import localcrag
from localcrag import settings
from localcrag.types import GraderKind

LEAFLET = "The usual dose of Zeldrine is 35 mg once a day. Zeldrine is made by the Orlan company in Porto."
NOTES = "Lavender needs a sunny place and very little water. Ferns like shade."
CLUB = "The garden club meets every second Tuesday in the old mill."
DOSE = "What is the usual dose of Zeldrine?"
MAKER = "Who makes it?"
CHESS = "Who won the chess championship of 1972?"


@pytest.fixture(scope="session")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[localcrag.KnowledgeBase]:
    """The evaluator alone judges, and what it judged it remembers: the tests ask the same again and again."""
    home = tmp_path_factory.mktemp("home")
    quick = settings.load(home=home).with_values("loop", grader=GraderKind.EVALUATOR, corrections=())
    with localcrag.open("library", settings=quick) as opened:
        opened.ingest_text(LEAFLET, name="leaflet", metadata={"team": "x"})
        opened.ingest_text(NOTES, name="notes")
        opened.ingest_text(CLUB, name="club")
        assert opened.models.evaluator is not None
        opened.models.evaluator.remember(1000)
        yield opened
