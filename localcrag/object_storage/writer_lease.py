"""The lease of the one process that writes to a knowledge base on object storage.

It is an object that is only made if there is none. Its holder writes it anew every few seconds. Whoever
waits takes one over that stays the same for longer: its holder was killed, or has lost the storage. No clocks
of two machines are compared. A holder that slept, and goes on after that, cannot do harm: the head is
replaced only on condition that it is still the one that this writer read.
"""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from localcrag.errors import LocalCragError, ObjectStorageError
from localcrag.object_storage.object_client import ObjectClient
from localcrag.store.storage_errors import writing_error

LEASE_KEY = "writer.lease"
RENEWAL_SECONDS = 10.0
"""How often a holder writes its lease anew."""
DEAD_SECONDS = 45.0
"""How long a lease stays the same until it is taken over."""
PATIENCE_SECONDS = 120.0
"""How long a writer waits for another one that is alive."""
POLL_SECONDS = 0.5
_NO_TAG = f'"{"0" * 32}"'
"""A tag that no object has."""
_CONDITIONAL: set[str] = set()
"""The buckets that were seen to take conditions."""


@dataclass(frozen=True)
class WriterLease:
    """The lease of a knowledge base.

    Attributes:
        client: its objects.
        dead: the seconds after which a lease that stays the same is taken over.
        patience: the seconds to wait for a holder that is alive.
        poll: the seconds between two looks at it.
        clock: the seconds of a clock of this machine, which only goes forward.
    """

    client: ObjectClient
    dead: float = DEAD_SECONDS
    patience: float = PATIENCE_SECONDS
    poll: float = POLL_SECONDS
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lease in the block.

        Raises StoreError if another process writes for long, ObjectStorageError also if the storage takes no
        conditions, so that two writers would not know of each other.
        """
        renewal = _Renewal(self.client, self._acquired(uuid.uuid4().hex))
        renewal.start()
        try:
            yield
        finally:
            tag = renewal.stop()
            with suppress(LocalCragError):  # else the next writer waits until it is dead
                found = self.client.read(LEASE_KEY, known=tag)
                if found is not None and found.etag == tag:
                    self.client.delete(LEASE_KEY)

    def _acquired(self, holder: str) -> str:
        """The tag of the lease, once this process holds it."""
        began, body = self.clock(), _lease_bytes(holder)
        seen, since = "", began
        while self.clock() - began <= self.patience:
            dead = seen if seen and self.clock() - since >= self.dead else ""
            if tag := self.client.put(LEASE_KEY, body, instead_of=dead):
                self._require_conditions(body)
                return tag
            found = self.client.read(LEASE_KEY)
            if found is not None and _holder_of(found.body) == holder:  # the reply was lost on the way
                return found.etag
            if found is None or found.etag != seen:
                seen, since = found.etag if found else "", self.clock()
            self.client.pause(self.poll)
        raise writing_error(str(self.client.address))

    def _require_conditions(self, body: bytes) -> None:
        """Raise ObjectStorageError if the storage writes an object although a condition does not hold."""
        place = f"{self.client.endpoint.base}{self.client.endpoint.path}"
        if place in _CONDITIONAL:
            return
        only_new = self.client.put(LEASE_KEY, body) is None
        if not only_new or self.client.put(LEASE_KEY, body, instead_of=_NO_TAG) is not None:
            raise ObjectStorageError(
                f"the object storage of {self.client.address} at {self.client.endpoint.base} cannot be "
                "written to: it takes no conditions, so two writers would not see each other",
                hint="use a server or a version with If-None-Match and If-Match; reading needs neither",
            )
        _CONDITIONAL.add(place)


class _Renewal:
    """A thread that writes a lease anew until it is stopped."""

    def __init__(self, client: ObjectClient, tag: str) -> None:
        self._client, self._tag = client, tag
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> str:
        """End it, and give the last tag of the lease."""
        self._stopped.set()
        self._thread.join()
        return self._tag

    def _run(self) -> None:
        while not self._stopped.wait(RENEWAL_SECONDS):
            with suppress(LocalCragError):  # the commit says whether somebody else took the lease over
                tag = self._client.put(LEASE_KEY, _lease_bytes(uuid.uuid4().hex), instead_of=self._tag)
                self._tag = tag or self._tag


def _lease_bytes(holder: str) -> bytes:
    return json.dumps({"holder": holder}).encode()


def _holder_of(body: bytes) -> str:
    try:
        return str(json.loads(body)["holder"])
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""
