"""Scripted model servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from localcrag.model_address import ModelAddress
from localcrag.model_server.served_model import ServedModel
from localcrag.model_server.server_connection import ServerConnection
from tests.web.scripted import ScriptedServer, running_script

Open = Callable[..., ServedModel]


@pytest.fixture
def script() -> Iterator[ScriptedServer]:
    with running_script() as server:
        yield server


@pytest.fixture
def ledger() -> list[tuple[str, str]]:
    """What was recorded: kind and target."""
    return []


@pytest.fixture
def opened(script: ScriptedServer, ledger: list[tuple[str, str]]) -> Open:
    """The model on the scripted server; keywords are those of the connection."""

    def open_(model: str = "", *, context: int = 4096, **more: Any) -> ServedModel:
        address = ModelAddress.parse(f"{script.url}#{model}")
        more = {"pause": lambda seconds: None, **more}
        connection = ServerConnection(address, lambda kind, target: ledger.append((kind, target)), **more)
        return ServedModel(connection, context=context)

    return open_
