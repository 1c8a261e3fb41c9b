"""Bounds that hold on a real connection: heads, bodies, connections, the queue, and clients that go away."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import httpx2
import pytest

from localcrag.serve.http_api.admission import DoorLimits, WorkQueue
from tests.fakes.door import ScriptedBackend
from tests.serve.conftest import until
from tests.serve.http_api.conftest import TOKEN, LiveDoor, SentEvent, live_door, received, sent_events

HEAD = "POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer " + TOKEN + "\r\n"
JSON_HEAD = HEAD + "Content-Type: application/json\r\n"


class Gated(ScriptedBackend):
    """A backend whose questions wait after their first event until the gate is opened."""

    def __init__(self) -> None:
        super().__init__(gate=asyncio.Event())
        self.loops: list[asyncio.AbstractEventLoop] = []

    async def status(self):  # type: ignore[no-untyped-def]
        self.loops.append(asyncio.get_running_loop())
        return await super().status()

    def open(self) -> None:
        assert self.gate
        self.loops[-1].call_soon_threadsafe(self.gate.set)


def status_line(reply: bytes) -> bytes:
    return reply.partition(b"\r\n")[0]


# ---------------------------------------------------------------------------------- heads


def test_a_head_that_does_not_come_is_not_waited_for() -> None:
    with live_door(limits=DoorLimits(header_seconds=0.2)) as door:
        for beginning in (b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "):
            assert b" 408 " in status_line(door.said(beginning))


def test_a_second_head_that_does_not_come_is_not_waited_for_either() -> None:
    with live_door(limits=DoorLimits(header_seconds=0.2)) as door, door.connected() as link:
        link.sendall(f"GET /page.css HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\n\r\nGET / HT".encode())
        heard = received(link)
        assert b" 200 " in status_line(heard) and b"HeadTooSlow" in heard


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"y" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x00\xa5",
        b"GET / HTTP/1.1\nHost : x\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
    ],
)
def test_what_is_no_request_ends_its_connection(head: bytes) -> None:
    with live_door() as door:
        with door.connected() as link:
            with suppress(ConnectionError):  # it may be closed before all is sent
                link.sendall(head)
            assert status_line(received(link))[9:12] in (b"400", b"501", b"")
        with door.client() as client:
            assert client.get("/api/status").status_code == 200


def test_a_request_that_is_smuggled_behind_another_is_not_answered() -> None:
    backend = ScriptedBackend()
    with live_door(backend) as door:
        inner = (JSON_HEAD.format(port=door.port) + 'Content-Length: 16\r\n\r\n{"question":"x"}').encode()
        outer = JSON_HEAD.format(port=door.port) + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n"
        door.said(outer.encode() + b"0\r\n\r\n" + inner)
    assert not backend.asked


def test_connections_are_limited_and_others_are_told(tmp_path: object) -> None:
    with live_door(limits=DoorLimits(connections=3)) as door:
        links = [door.connected() for _ in range(3)]
        until(lambda: b"TooManyConnections" in door.said(b""))
        for link in links:
            link.close()
        until(lambda: b" 200 " in status_line(door.said(page_request(door))))


def page_request(door: LiveDoor) -> bytes:
    return f"GET /page.css HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\nConnection: close\r\n\r\n".encode()


# ---------------------------------------------------------------------------------- bodies


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    with live_door(limits=DoorLimits(json_seconds=0.2)) as door:
        head = JSON_HEAD.format(port=door.port) + "Content-Length: 100\r\n\r\n{"
        assert b" 408 " in status_line(door.said(head.encode()))


def test_an_upload_that_does_not_come_is_not_waited_for() -> None:
    with live_door(limits=DoorLimits(upload_seconds=0.2)) as door:
        head = HEAD.format(port=door.port).replace("/api/ask", "/api/knowledge-bases/default/documents")
        head += "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\n"
        assert b" 408 " in status_line(door.said(head.encode()))


@pytest.mark.parametrize("length", ["99999999999999999999", "1000000000"])
def test_a_body_that_is_announced_too_large_is_not_read(length: str) -> None:
    with live_door() as door:
        head = JSON_HEAD.format(port=door.port) + f"Content-Length: {length}\r\n\r\n"
        assert b" 413 " in status_line(door.said(head.encode()))


def test_a_body_without_an_end_is_cut_off() -> None:
    with live_door(limits=DoorLimits(json_bytes=10_000)) as door, door.connected() as link:
        link.sendall((JSON_HEAD.format(port=door.port) + "Transfer-Encoding: chunked\r\n\r\n").encode())
        with pytest.raises(ConnectionError):  # the door hangs up
            while True:
                link.sendall(b"400\r\n" + b"x" * 0x400 + b"\r\n")
                time.sleep(0.001)


def test_a_body_of_who_has_no_token_is_not_read() -> None:
    with live_door() as door:
        head = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\nContent-Length: 1000000\r\n\r\n"
        reply = door.said(head.encode())
        assert b" 401 " in status_line(reply) and b"connection: close" in reply.lower()


# ---------------------------------------------------------------------------------- the queue


def test_who_comes_when_the_queue_is_full_is_told_when_to_come_again() -> None:
    backend = Gated()
    with live_door(backend, DoorLimits(queued=2)) as door, ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask, door, f"question {number}") for number in range(8)]
        until(lambda: sum(one.done() for one in asked) == 4)
        backend.open()
        replies = [one.result() for one in asked]
    refused = [reply for reply in replies if reply.status_code == 429]
    assert len(refused) == 4 and all(int(reply.headers["retry-after"]) >= 1 for reply in refused)
    assert all(reply.json()["code"] == "QueueFull" for reply in refused)
    answered = [sent_events(reply.text) for reply in replies if reply.status_code == 200]
    assert [events[-1].name for events in answered] == ["finished"] * 4
    assert sorted(events[0].data["ahead"] for events in answered if events[0].name == "queued") == [1, 2]


def test_who_waits_too_long_is_told_so() -> None:
    backend = Gated()
    with live_door(backend, DoorLimits(queue_seconds=0.2)) as door, ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ask, door, "x") for _ in range(2)]
        until(lambda: len(backend.asked) == 2)
        with door.client() as client:
            late = client.post("/api/search", json={"query": "dose"})
        backend.open()
        assert [one.result().status_code for one in asked] == [200, 200]
    assert (late.status_code, late.json()["code"]) == (503, "QueueSlow") and late.headers["retry-after"]


def test_an_answer_that_takes_too_long_is_ended() -> None:
    backend = Gated()
    with live_door(backend, DoorLimits(work_seconds=0.2)) as door:
        events = sent_events(ask(door, "x").text)
        until(lambda: backend.closed == ["x"])
    assert (events[-1].name, events[-1].data["code"]) == ("error", "WorkTooLong")


def test_the_question_of_who_goes_away_is_ended() -> None:
    backend = Gated()
    with live_door(backend) as door, door.client() as client:
        with client.stream("POST", "/api/ask", json={"question": "first"}) as reply:
            assert next(reply.iter_lines()) == "event: decided"
        until(lambda: backend.closed == ["first"])
        with suppress(httpx2.ReadTimeout):
            client.post(
                "/api/ask", json={"question": "second"}, headers={"Accept": "application/json"}, timeout=0.3
            )
        until(lambda: backend.closed == ["first", "second"])
        backend.open()
        assert ask(door, "third").status_code == 200


def test_who_goes_away_from_the_queue_leaves_no_hole() -> None:
    backend = Gated()
    with live_door(backend, DoorLimits(queued=1)) as door, ThreadPoolExecutor(3) as pool:
        running = [pool.submit(ask, door, "x") for _ in range(2)]
        until(lambda: len(backend.asked) == 2)
        with door.client() as client, suppress(httpx2.ReadTimeout):
            client.post("/api/search", json={"query": "dose"}, timeout=0.3)
        backend.open()
        assert [one.result().status_code for one in running] == [200, 200]
        assert ask(door, "y").status_code == 200


def ask(door: LiveDoor, question: str) -> httpx2.Response:
    with door.client() as client:
        return client.post("/api/ask", json={"question": question}, headers={"Accept": "text/event-stream"})


def test_the_queue_is_fair() -> None:
    async def run() -> list[int]:
        queue, order = WorkQueue(1, 10, 60), []

        async def work(number: int) -> None:
            async with queue.turn():
                order.append(number)
                await asyncio.sleep(0)

        await asyncio.gather(*[work(number) for number in range(8)])
        return order

    assert asyncio.run(run()) == list(range(8))


# ---------------------------------------------------------------------------------- consent


def test_nothing_leaves_before_the_client_says_yes() -> None:
    backend = ScriptedBackend()
    body = {"question": "dose?", "options": {"web": "ask"}}
    with live_door(backend) as door, door.client() as client, door.client() as other:
        for allow in (True, False):
            with client.stream("POST", "/api/ask", json=body) as reply:
                lines = reply.iter_lines()
                assert next_event(lines).name == "decided"
                asked = next_event(lines)
                assert asked.name == "consent" and asked.data["query"] == "zeldrine dose"
                route = f"/api/consents/{asked.data['id']}"
                assert other.post("/api/consents/guess", json={"allow": True}).status_code == 404
                assert other.post(route, content=b'{"allow": true}').status_code == 415
                assert other.post(route, json={"allow": "yes"}).status_code == 400
                assert other.post(route, json={"allow": allow}).status_code == 204
                assert other.post(route, json={"allow": True}).status_code == 404
                rest = sent_events("\n".join(lines))
            assert [event.name for event in rest] == ["web_asked", "delta", "finished"]
            assert rest[0].data["sent"] is allow
    assert backend.consented == ["zeldrine dose", None]


def next_event(lines: Iterator[str]) -> SentEvent:
    block = []
    while line := next(lines):
        block.append(line)
    (event,) = sent_events("\n".join(block))
    return event


def test_no_answer_is_a_no() -> None:
    backend = ScriptedBackend()
    body = {"question": "dose?", "options": {"web": "ask"}}
    with live_door(backend, DoorLimits(consent_seconds=0.1)) as door, door.client() as client:
        events = sent_events(client.post("/api/ask", json=body).text)
    assert [event.name for event in events] == ["decided", "consent", "web_asked", "delta", "finished"]
    assert backend.consented == [None]


def test_a_client_that_cannot_be_asked_is_not() -> None:
    backend = ScriptedBackend()
    with live_door(backend) as door, door.client() as client:
        body = {"question": "dose?", "options": {"web": "ask"}}
        done = client.post("/api/ask", json=body, headers={"Accept": "application/json"})
    assert done.json()["status"] == "answered" and backend.asked[0].consent is None


def test_a_door_that_closes_ends_its_thread() -> None:
    with live_door():
        assert any(thread.name == "http" for thread in threading.enumerate())
    assert not any(thread.name == "http" for thread in threading.enumerate())
