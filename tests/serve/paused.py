"""A warm process that stops after the first thing it says, so that a test can do something just then."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localcrag.serve.asking import Ask
from localcrag.serve.client import start_of
from localcrag.serve.messages import Work
from localcrag.serve.place import claimed, place_of
from localcrag.serve.server import Server
from localcrag.serve.work import Worker
from localcrag.settings import load

HOME, GATE = Path(sys.argv[1]), Path(sys.argv[2])


class Paused(Worker):
    def do(self, request: Work) -> Iterator[Any]:
        for number, reply in enumerate(super().do(request)):
            yield reply
            while isinstance(request, Ask) and number == 0 and not GATE.exists():
                time.sleep(0.02)


settings = load(home=HOME)
with claimed(place_of(settings.home)) as listener:
    assert listener is not None
    server = Server(place_of(settings.home), listener, start_of(settings, HOME), Paused(settings), limit=0)
    server.run()
    server.close()
