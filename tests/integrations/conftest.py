"""A knowledge base of three texts, asked with the embedded models."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

import localcrag

LEAFLET = "The usual dose of Zeldrine is 35 mg once a day. Zeldrine is made by the Orlan company in Porto."
NOTES = "Lavender needs a sunny place and very little water. Ferns like shade."
CLUB = "The garden club meets every second Tuesday in the old mill."
DOSE = "What is the usual dose of Zeldrine?"
MAKER = "Who makes it?"
CHESS = "Who won the chess championship of 1972?"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A suite of another library may have coroutines, which pytest-asyncio runs if they are marked."""
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.function):
            item.add_marker(pytest.mark.asyncio)


@pytest.fixture(scope="session")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[localcrag.KnowledgeBase]:
    with localcrag.open("library", home=tmp_path_factory.mktemp("home")) as opened:
        opened.ingest_text(LEAFLET, name="leaflet", metadata={"team": "x"})
        opened.ingest_text(NOTES, name="notes")
        opened.ingest_text(CLUB, name="club")
        yield opened
