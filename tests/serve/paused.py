"""A warm process that stops after the first thing it says, so that a test can do something just then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localcrag.protocols import Consent
from localcrag.serve.ask_request import AskRequest
from localcrag.serve.client import start_conditions
from localcrag.serve.endpoint import claimed, endpoint_of
from localcrag.serve.protocol import WorkRequest
from localcrag.serve.server import Server
from localcrag.serve.worker import Worker
from localcrag.settings import load

HOME, GATE = Path(sys.argv[1]), Path(sys.argv[2])


class Paused(Worker):
    def do(self, request: WorkRequest, consent: Consent | None = None) -> Iterator[Any]:
        for number, reply in enumerate(super().do(request, consent)):
            yield reply
            while isinstance(request, AskRequest) and number == 0 and not GATE.exists():
                time.sleep(0.02)


settings = load(home=HOME)
with claimed(endpoint_of(settings.home)) as listener:
    assert listener is not None
    server = Server(
        endpoint_of(settings.home), listener, start_conditions(settings, HOME), Paused(settings), limit=0
    )
    server.run()
    server.close()
