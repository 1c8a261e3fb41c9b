"""The requests for the objects of one knowledge base: get, put on a condition, list, delete.

Each is bounded in time and size. It is sent again if the server is busy or the connection broke off, and
never if it took too long or was refused. Redirects are refused, since the objects are the texts of documents
and only the host that the environment names may get them.
"""

from __future__ import annotations

import hashlib
import html
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from localcrag.egress import refuse_outside
from localcrag.errors import ObjectStorageError
from localcrag.object_address import ObjectAddress
from localcrag.object_storage.object_endpoint import ObjectEndpoint
from localcrag.object_storage.request_signing import (
    EMPTY_SHA256,
    UnsignedRequest,
    encoded_path,
    encoded_query,
    signed_headers,
)
from localcrag.store.kb_record import remake_hint

if TYPE_CHECKING:
    from localcrag.web.http import HttpCall, ResponseHead

Result = TypeVar("Result")

MAX_SMALL_BYTES = 64 << 20
"""The most bytes of the head, of a lease, of a list and of an error."""
MAX_OBJECT_BYTES = 5 << 30
"""The most bytes that S3 takes in one put."""
CONNECT_SECONDS, REQUEST_SECONDS = 10.0, 30.0
"""The longest time until the connection is there, and of a request, without that of its bytes."""
LEAST_BYTES_PER_SECOND = 256 << 10
"""The slowest transfer that is waited for."""
RETRY_SECONDS = (0.5, 2.0)
"""The pauses before a request is sent again, and so how often."""
_BUSY_STATUSES = (409, 429, 500, 502, 503, 504)
_WRONG_KEY_CODES = (
    "SignatureDoesNotMatch",
    "InvalidAccessKeyId",
    "InvalidToken",
    "ExpiredToken",
    "RequestTimeTooSkewed",
)
"""The words of S3 for a request that is not signed by keys of a user of it, at this time."""
_PIECE_BYTES = 1 << 20
_ERROR_CODE = re.compile(rb"<Code>([A-Za-z]{1,60})</Code>")
_LISTED = re.compile(r"<Contents>.*?<Key>(.*?)</Key>.*?<Size>(\d+)</Size>.*?</Contents>", re.DOTALL)
_NEXT_PAGE = re.compile(r"<NextContinuationToken>(.*?)</NextContinuationToken>")
_MAX_LISTS = 10_000


@dataclass(frozen=True, slots=True)
class StoredObject:
    """The bytes of an object, and the tag of its version; no bytes if it still has the tag that is known."""

    body: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    body: bytes
    etag: str

    @property
    def code(self) -> str:
        """The word of S3 for an error; "" for none."""
        found = _ERROR_CODE.search(self.body)
        return found[1].decode("ascii") if found else ""


class MissingObject(ObjectStorageError):
    """Raised for an object that is listed and is not there: it is lost, or a writer has replaced it."""


class _BusyError(Exception):
    """The server is to be asked again; the message says why."""


@dataclass(frozen=True)
class ObjectClient:
    """The objects below the prefix of one knowledge base; keys are relative to it.

    Every method raises ObjectStorageError if the storage cannot be used, and OfflineError.

    Attributes:
        address: the bucket and the prefix.
        endpoint: the server, with the keys.
        record: records (kind, target) in the ledger; its error stops the operation.
        seconds: the longest time of a request, without that of its bytes.
        pause: waits for some seconds.
    """

    address: ObjectAddress
    endpoint: ObjectEndpoint
    record: Callable[[str, str], None]
    seconds: float = REQUEST_SECONDS
    pause: Callable[[float], None] = field(default=time.sleep, repr=False)

    def announce(self, what: str) -> None:
        """Record an operation in the ledger before its requests. Raises LedgerError, OfflineError."""
        refuse_outside(self.endpoint.host)
        self.record("objects", f"{what} {self.address} at {self.endpoint.base}")

    # ------------------------------------------------------------------------------ small objects

    def read(self, key: str, *, known: str = "") -> StoredObject | None:
        """A small object; None if there is none, and without its bytes if its tag is the ``known`` one."""
        reply = self._repeated("read", lambda: self._exchange("GET", key, known=known))
        if reply.status == 404 and reply.code == "NoSuchBucket":
            raise self._without_bucket()
        if reply.status == 404:
            return None
        if reply.status == 304 and known:
            return StoredObject(b"", known)
        self._require(reply, 200, "read")
        if not reply.etag:
            raise self._unusable("it gives no ETag, by which versions are told apart")
        return StoredObject(reply.body, reply.etag)

    def put(self, key: str, body: bytes, *, instead_of: str = "") -> str | None:
        """Write a small object on a condition; returns its new tag, None if the condition does not hold.

        ``instead_of`` is the tag that it must have; "" if there must be none. After a connection that broke
        off, None may also mean that the object was written all the same.
        """
        condition = {"if-match": instead_of} if instead_of else {"if-none-match": "*"}
        reply = self._repeated("write to", lambda: self._exchange("PUT", key, body=body, headers=condition))
        if reply.status == 412 or (reply.status == 404 and instead_of and reply.code != "NoSuchBucket"):
            return None
        if reply.status == 404:
            raise self._without_bucket()
        self._require(reply, 200, "write to")
        if not reply.etag:
            raise self._unusable("it gives no ETag, by which versions are told apart")
        return reply.etag

    def delete(self, key: str) -> None:
        """Delete an object, if there is one."""
        reply = self._repeated("delete from", lambda: self._exchange("DELETE", key))
        if reply.status != 404:
            self._require(reply, (200, 204), "delete from")

    def list(self) -> dict[str, int]:
        """The bytes of each object below the prefix, by key."""
        found: dict[str, int] = {}
        query = {"list-type": "2", "prefix": f"{self.address.prefix}/"}
        for _ in range(_MAX_LISTS):
            reply = self._repeated("list", partial(self._exchange, "GET", None, query=dict(query)))
            self._require(reply, 200, "list")
            text = reply.body.decode("utf-8", "replace")
            for key, size in _LISTED.findall(text):
                found[html.unescape(key).removeprefix(query["prefix"])] = int(size)
            if not (following := _NEXT_PAGE.search(text)):
                return found
            query |= {"continuation-token": html.unescape(following[1])}
        raise self._unusable("its list of objects does not end")

    # ------------------------------------------------------------------------------ files

    def fetch(self, key: str, path: Path, size: int, sha256: str) -> None:
        """Write an object to a new file, and compare every byte. Raises OSError for the file."""

        def once() -> _Reply:
            call = self._call("GET", key, size=size)
            with self._opened(call) as head:
                if head.status != 200:
                    return self._whole(head)
                digest = hashlib.sha256()
                with path.open("wb") as file:
                    for piece in head.pieces():
                        digest.update(piece)
                        file.write(piece)
                if digest.hexdigest() != sha256:
                    raise _BusyError(f"{key} has another content than was written")
                return _Reply(200, b"", head.etag)

        reply = self._repeated("read", once)
        if reply.status == 404:
            raise MissingObject(
                f"the knowledge base {str(self.address)!r} is damaged: the object {key} is missing",
                hint=remake_hint(str(self.address)),
            )
        self._require(reply, 200, "read")

    def put_file(self, key: str, path: Path, size: int, sha256: str) -> None:
        """Write a file as an object that is never changed; one that is there already has this content.

        Raises ObjectStorageError also for a file that is too large, OSError for one that cannot be read.
        """
        if size > MAX_OBJECT_BYTES:
            raise self._unusable(f"{path.name} has more than the {MAX_OBJECT_BYTES >> 30} GiB of one object")

        def once() -> _Reply:
            headers = {"if-none-match": "*", "content-length": str(size)}
            call = self._call("PUT", key, headers=headers, sha256=sha256, size=size, content=_pieces(path))
            with self._opened(call) as head:
                return self._whole(head)

        reply = self._repeated("write to", once)
        if reply.status != 412:
            self._require(reply, 200, "write to")

    # ------------------------------------------------------------------------------ one request

    def _repeated(self, attempt: str, once: Callable[[], Result]) -> Result:
        """The result of a request that is sent again after a pause if the server is busy."""
        for waited in (*RETRY_SECONDS, None):
            try:
                return once()
            except _BusyError as why:
                if waited is None:
                    raise self._unusable(f"cannot {attempt} it: {why}") from why
                self.pause(waited)
        raise AssertionError("the last round returns or raises")

    def _exchange(
        self,
        method: str,
        key: str | None,
        *,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        known: str = "",
    ) -> _Reply:
        """Send one request with a small body, and give the whole reply."""
        sent = dict(headers or {})
        if known:
            sent["if-none-match"] = known
        if method == "PUT":
            sent["content-length"] = str(len(body))
        sha256 = hashlib.sha256(body).hexdigest()
        content = iter([body]) if method == "PUT" else None
        call = self._call(method, key, headers=sent, query=query, sha256=sha256, content=content)
        with self._opened(call) as head:
            return self._whole(head)

    def _call(
        self,
        method: str,
        key: str | None,
        *,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        sha256: str = EMPTY_SHA256,
        size: int = 0,
        content: Iterator[bytes] | None = None,
    ) -> HttpCall:
        """A signed request; ``size`` are the bytes of a file that it transfers. ``key`` None: the bucket."""
        from localcrag.web.http import HttpCall, HttpTarget

        place = self.endpoint
        path = f"{place.path}/" if key is None else f"{place.path}/{self.address.prefix}/{key}"
        request = UnsignedRequest(method, place.host_header, path, query or {}, headers or {}, sha256)
        signed = signed_headers(request, place.credentials, place.region, datetime.now(UTC))
        asked = f"?{encoded_query(query)}" if query else ""
        return HttpCall(
            HttpTarget.parse(f"{place.base}{encoded_path(path)}{asked}"),
            self.seconds + size / LEAST_BYTES_PER_SECOND,
            max(size, MAX_SMALL_BYTES),
            {"Accept-Encoding": "identity", **signed},
            connect_seconds=min(self.seconds, CONNECT_SECONDS),
            method=method,
            content=content,
        )

    @contextmanager
    def _opened(self, call: HttpCall) -> Iterator[ResponseHead]:
        """Send a request, and give the head of its reply. Raises _BusyError if it may be sent again."""
        from localcrag.web.http import Garbled, TimedOut, Unreachable, WireError, exchange

        refuse_outside(self.endpoint.host)
        try:
            with exchange(call) as head:
                if head.status in _BUSY_STATUSES:
                    raise _BusyError(f"it is busy, or fails (status {head.status})")
                if 300 <= head.status < 400 and head.status != 304:
                    raise ObjectStorageError(
                        f"the object storage at {self.endpoint.base} cannot be used: it redirects elsewhere",
                        hint="the bucket may be in another region: set AWS_REGION, or AWS_ENDPOINT_URL",
                    )
                yield head
        except TimedOut as error:
            raise self._unusable(str(error)) from error
        except Unreachable as error:
            raise ObjectStorageError(
                f"the object storage at {self.endpoint.base} cannot be reached: {error}",
                hint="look whether it runs, and at AWS_ENDPOINT_URL and AWS_REGION",
            ) from error
        except Garbled as error:
            raise _BusyError(str(error)) from error
        except WireError as error:
            raise self._unusable(str(error)) from error

    def _whole(self, head: ResponseHead) -> _Reply:
        return _Reply(head.status, head.read(), head.etag)

    def _require(self, reply: _Reply, statuses: int | tuple[int, ...], attempt: str) -> None:
        """Raise ObjectStorageError unless the reply has one of these statuses."""
        if reply.status in (statuses if isinstance(statuses, tuple) else (statuses,)):
            return
        said = f" ({reply.code})" if reply.code else ""
        if reply.code in _WRONG_KEY_CODES:
            raise ObjectStorageError(
                f"the object storage at {self.endpoint.base} does not take the keys{said}",
                hint="look at AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and at the "
                "clock of this machine",
            )
        if reply.code == "NoSuchBucket":
            raise self._without_bucket()
        if reply.status in (401, 403):
            raise ObjectStorageError(
                f"no permission to {attempt} {self.address} at {self.endpoint.base}{said}",
                hint="the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY need the rights to list and "
                "get objects there, and to put and delete them for writing",
            )
        raise self._unusable(f"cannot {attempt} it: status {reply.status}{said}")

    def _without_bucket(self) -> ObjectStorageError:
        return ObjectStorageError(
            f"there is no bucket {self.address.bucket} at {self.endpoint.base}",
            hint="make it with the tools of the storage, or look at its name and at AWS_ENDPOINT_URL",
        )

    def _unusable(self, why: str) -> ObjectStorageError:
        return ObjectStorageError(
            f"the object storage of {self.address} at {self.endpoint.base} cannot be used: {why}",
            hint="what was written before is kept: try again, and look at the log of the server",
        )


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece
