"""Clients of the warm process that send garbage, half requests, too much, never read, or go away at once."""

from __future__ import annotations

import json
import random as random_numbers
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from torturing import forked
from torturing.campaign import MEBIBYTE, Broken, Budget, Campaign, Case, Outcome, random_of, run_cases
from torturing.hostile_documents import resident
from torturing.warm_home import WarmHome

QUERY = ("search", "which number is kept in a drawer", "--json")
ASKED_EVERY = 8
"""After so many hostile clients a real command asks, and must get the right answer."""
MAX_HELD = 24
"""Connections that are kept open without reading."""
MAX_GROWTH = 300 * MEBIBYTE
"""Bytes by which the warm process may grow."""
STATUS_SECONDS = 15.0


@dataclass(frozen=True)
class HostileClients:
    """Hostile clients of the warm process."""

    name: str = "clients"
    share: float = 5.0
    unit: str = "clients"
    holds: str = "the others are answered in time and rightly, by the same process"

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Connect until the time is over."""
        forked.preload()
        warm = WarmHome.of(budget.folder / "warm", random_of(seed, self.name, -1))
        right = warm.run(*QUERY).checked("search")
        warm.begin("--background")
        kinds: Counter[str] = Counter()
        worst, sizes = [0.0], [0]
        clients = _Clients(warm)
        try:
            process = warm.ready()
            if warm.run(*QUERY).checked("search").out != right.out:
                raise Broken("the warm process gives another answer")
            sizes.append(resident(process))

            def attempt(case: Case) -> None:
                kinds[clients.attack(case.random)] += 1
                began = time.monotonic()
                if warm.status() != process:
                    raise Broken("another warm process answers")
                took = time.monotonic() - began
                worst[0] = max(worst[0], took)
                if took > STATUS_SECONDS:
                    raise Broken(f"the state of the warm process took {took:.1f} s")
                if case.number % ASKED_EVERY == 0 and warm.run(*QUERY).checked("search").out != right.out:
                    raise Broken("a search gives another answer")
                sizes.append(resident(process))
                if sizes[-1] > sizes[1] + MAX_GROWTH:
                    raise Broken(f"the warm process grew by {(sizes[-1] - sizes[1]) >> 20} MiB")

            outcome = run_cases(self.name, budget, seed, attempt)
        finally:
            clients.close()
            warm.end()
        outcome.worst_seconds, outcome.peak_memory = worst[0], max(sizes)
        outcome.notes.append(f"{len(kinds)} kinds, the longest time is that of an honest client")
        return outcome


@dataclass
class _Clients:
    """The hostile clients of one warm process; ``held`` are the connections that stay open."""

    warm: WarmHome
    held: list[socket.socket] = field(default_factory=list)

    def attack(self, random: random_numbers.Random) -> str:
        """Be a hostile client; returns of which kind."""
        kinds: Mapping[str, Callable[[random_numbers.Random], None]] = {
            "garbage": lambda r: self._send(r.randbytes(r.randrange(1, 4000))),
            "garbage line": lambda r: self._send(
                r.randbytes(r.randrange(1, 400)).replace(b"\n", b"") + b"\n"
            ),
            "half a request": lambda r: self._send(self._request()[: r.randrange(1, 300)]),
            "half, and waits": lambda r: self._hold(self._request()[: r.randrange(1, 300)]),
            "never reads": lambda r: self._hold(self._request(k=50)),
            "goes at once": lambda r: self._send(self._request()),
            "says nothing": lambda r: self._send(b""),
            "waits": lambda r: self._hold(b""),
            "too much": lambda r: self._send(b"x" * (20 << 20)),
            "deep": lambda r: self._send(b"[" * 100_000 + b"\n"),
            "wrong fields": lambda r: self._read(self._changed(r)),
            "a reply": lambda r: self._read(
                r.choice([b'["Done", {}]\n', b'["Heartbeat", {"queued": true}]\n'])
            ),
            "an event": lambda r: self._read(b'["Finished", {"answer": {}}]\n'),
            "odd numbers": lambda r: self._read(self._request(k=r.choice([0, -1, 2**40, 2**70]))),
            "odd filter": lambda r: self._read(
                self._request(filter=r.choice(["(" * 3000, "x = ", "a" * 9000]))
            ),
            "odd name": lambda r: self._read(self._request(kb=r.choice(["../../etc", "", "\0", "x" * 9000]))),
            "many at once": lambda r: self._send_often(self._request()[:20]),
            "two requests": lambda r: self._read(self._request() * 2),
        }
        kind = random.choice(sorted(kinds))
        with suppress(OSError):  # the server may hang up whenever it likes
            kinds[kind](random)
        return kind

    def close(self) -> None:
        """Close the connections that are held open."""
        for link in self.held:
            link.close()
        self.held.clear()

    def _send(self, data: bytes) -> None:
        with self.warm.connected() as link:
            link.settimeout(5)
            link.sendall(data)

    def _send_often(self, data: bytes) -> None:
        """Send the same on forty connections, one after the other."""
        for _ in range(40):
            self._send(data)

    def _read(self, data: bytes) -> None:
        """Send, and read for a moment."""
        with self.warm.connected() as link:
            link.settimeout(0.3)
            link.sendall(data)
            for _ in range(20):
                if not link.recv(1 << 16):
                    break

    def _hold(self, data: bytes) -> None:
        """Send, and keep the connection open without reading."""
        from localcrag.serve.endpoint import endpoint_of

        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.settimeout(5)
        link.connect(str(endpoint_of(self.warm.home).address))
        self.held.append(link)
        link.sendall(data)
        if len(self.held) > MAX_HELD:
            self.held.pop(0).close()

    def _request(self, *, k: int = 3, filter: str | None = None, kb: str = "default") -> bytes:
        """A search as a command of this home sends it."""
        import os

        from localcrag.serve.client import start_conditions
        from localcrag.serve.protocol import SearchRequest, encode
        from localcrag.settings import load
        from torturing.warm_home import SMALL

        kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("LOCALCRAG_")}
        os.environ.update(SMALL)
        try:
            settings = load(home=self.warm.home)
            start = start_conditions(settings, self.warm.home)
            request = SearchRequest(start, kb, settings.model, "heron", min(k, 2**63 - 1), filter)
            return encode(request).replace(b'"k":9223372036854775807', f'"k":{k}'.encode())
        finally:
            for name in SMALL:
                del os.environ[name]
            os.environ.update(kept)

    def _changed(self, random: random_numbers.Random) -> bytes:
        """A request of which one field is of another type, or missing."""
        name, fields = json.loads(self._request())
        odd: list[Any] = [None, 3, [], {}, "x", True, 1e300]
        key = random.choice(sorted(set(fields) - {"start"}))
        if random.random() < 0.3:
            del fields[key]
        else:
            fields[key] = random.choice(odd)
        return json.dumps([name, fields]).encode() + b"\n"


CAMPAIGNS: Mapping[str, Campaign] = {"clients": HostileClients()}
