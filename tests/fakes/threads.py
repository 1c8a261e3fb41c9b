"""A store of conversations that lasts as long as the test."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from localcrag.conversations import checked_name
from localcrag.errors import StoreError, UnknownThread
from localcrag.types import Thread, Turn


class MemoryThreads:
    """A :class:`~localcrag.protocols.ThreadStore` in memory; ``broken`` makes every writing fail."""

    def __init__(self) -> None:
        self.broken = False
        self._threads: dict[str, Thread] = {}
        self._turns: dict[str, list[Turn]] = {}

    def threads(self) -> list[Thread]:
        newest = reversed(self._threads.values())
        return sorted(newest, key=lambda thread: -thread.used)

    def open(self, name: str) -> Thread:
        if checked_name(name) not in self._threads:
            now = time.time()
            self._threads[name] = Thread(name, None, None, 0, now, now)
            self._turns[name] = []
        return self._threads[name]

    def turns(self, name: str) -> list[Turn]:
        self._known(name)
        return list(self._turns[name])

    def append(self, name: str, turns: Sequence[Turn]) -> None:
        self._known(name)
        if self.broken or any(turn.role not in ("user", "assistant") for turn in turns):
            raise StoreError("the turns cannot be kept")
        self._turns[name] += [Turn(turn.role, _text(turn.text), _text(turn.record)) for turn in turns]
        self._change(name, turns=len(self._turns[name]))

    def set_filter(self, name: str, filter: str | None) -> None:
        self._change(name, filter=filter)

    def set_kb(self, name: str, kb: str | None) -> None:
        self._change(name, kb=kb)

    def forget(self, name: str) -> None:
        self._known(name)
        self._turns[name] = []
        self._threads[name] = replace(self._threads[name], turns=0)

    def delete(self, name: str) -> None:
        self._known(name)
        del self._threads[name], self._turns[name]

    def _change(self, name: str, **values: object) -> None:
        thread = self._known(name)
        self._threads[name] = replace(thread, used=time.time(), **values)  # type: ignore[arg-type]

    def _known(self, name: str) -> Thread:
        if name not in self._threads:
            raise UnknownThread(f"there is no conversation {name!r}", hint="")
        return self._threads[name]


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
