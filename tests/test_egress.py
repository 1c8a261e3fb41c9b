"""The offline guard, tried in a process of its own: an audit hook cannot be removed again."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from localcrag import egress
from localcrag.errors import LocalCragError, OfflineError

ROOT = Path(__file__).resolve().parents[1]


def child(code: str, **variables: str) -> str:
    """What a fresh Python prints."""
    environment = {k: v for k, v in os.environ.items() if k != egress.OFFLINE_VARIABLE} | variables
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


ATTEMPT = """
import socket
from localcrag import egress
from localcrag.errors import OfflineError
egress.go_offline()
egress.go_offline()
udp = lambda family=socket.AF_INET: socket.socket(family, socket.SOCK_DGRAM)
try:
    {attempt}
except OfflineError as error:
    print("refused:", error)
except OSError as error:
    print("passed:", type(error).__name__)
else:
    print("passed")
"""

OUTSIDE = {
    "tcp": 'socket.create_connection(("192.0.2.1", 80), 1)',
    "tcp, a number for an address": 'socket.socket().connect(("3221225985", 80))',
    "connect_ex": 'socket.socket().connect_ex(("192.0.2.1", 80))',
    "ipv6": 'socket.create_connection(("2001:db8::1", 80), 1)',
    "ipv6, a mapped address": 'socket.create_connection(("::ffff:192.0.2.1", 80), 1)',
    "name": 'socket.create_connection(("example.org", 80), 1)',
    "name inside connect": 'socket.socket().connect(("example.org", 80))',
    "udp sendto a name": 'udp().sendto(b"x", 0, ("example.org", 53))',
    "name that looks local": 'socket.getaddrinfo("localhost.example.org", 80)',
    "gethostbyname": 'socket.gethostbyname("example.org")',
    "gethostbyname_ex": 'socket.gethostbyname_ex("example.org")',
    "reverse lookup": 'socket.gethostbyaddr("192.0.2.1")',
    "udp sendto": 'udp().sendto(b"x", ("192.0.2.1", 53))',
    "udp sendmsg": 'udp().sendmsg([b"x"], [], 0, ("192.0.2.1", 53))',
    "udp connect": 'udp(socket.AF_INET6).connect(("2001:db8::1", 53))',
    "bind to all": 'socket.socket().bind(("", 0))',
    "bind to all, ipv6": 'socket.socket(socket.AF_INET6).bind(("::", 0))',
    "link-local": 'socket.create_connection(("169.254.169.254", 80), 1)',
    "urllib": '__import__("urllib.request").request.urlopen("http://example.org/", timeout=1)',
}
INSIDE = {
    "tcp": 'socket.create_server(("127.0.0.1", 0)).getsockname()',
    "connect": 'socket.create_connection(("127.0.0.1", 9), 1)',
    "ipv6": 'socket.create_connection(("::1", 9), 1)',
    "localhost": 'socket.create_connection(("localhost", 9), 1)',
    "udp": 'udp().sendto(b"x", ("127.0.0.1", 9))',
    "unix pair": "socket.socketpair()[0].send(b'x')",
    "abstract unix": 'socket.socket(socket.AF_UNIX).connect("/nowhere")',
    "own host name": "socket.getfqdn('some.name.example')",
    "wildcard lookup": "socket.getaddrinfo(None, 80)",
}


@pytest.mark.parametrize("attempt", OUTSIDE.values(), ids=OUTSIDE.keys())
def test_what_leads_outside_is_refused(attempt: str) -> None:
    printed = child(ATTEMPT.format(attempt=attempt))
    assert printed.startswith("refused:") and "offline" in printed


@pytest.mark.parametrize("attempt", INSIDE.values(), ids=INSIDE.keys())
def test_what_stays_on_the_machine_passes(attempt: str) -> None:
    assert child(ATTEMPT.format(attempt=attempt)).startswith("passed")


def test_the_refusal_is_one_line_with_a_hint_and_no_oserror() -> None:
    """An OSError would be taken for a network hiccup, and retried or swallowed."""
    with egress.offline(), pytest.raises(OfflineError) as refused:
        socket.create_connection(("192.0.2.1", 80), 1)
    assert not isinstance(refused.value, OSError) and isinstance(refused.value, LocalCragError)
    assert "192.0.2.1" in str(refused.value) and "\n" not in str(refused.value)
    assert "--offline" in refused.value.hint


def test_a_library_that_swallows_oserrors_does_not_hide_it() -> None:
    code = """
from localcrag import egress; egress.go_offline()
import httpcore2
try:
    httpcore2.request("GET", "http://example.org/")
except Exception as error:
    print(type(error).__name__)
"""
    assert child(code) == "OfflineError"


def test_a_child_process_inherits_it() -> None:
    code = """
import subprocess, sys
from localcrag import egress; egress.go_offline()
inner = '''
import socket
from localcrag import egress
print(egress.is_offline())
egress.obey_environment()
try: socket.create_connection(("192.0.2.1", 80), 1)
except egress.OfflineError: print("refused")
'''
print(subprocess.run([sys.executable, "-c", inner], capture_output=True, text=True).stdout)
"""
    assert child(code).split() == ["True", "refused"]


def test_a_forked_child_inherits_it() -> None:
    code = """
import multiprocessing, socket
from localcrag import egress
def attempt(answers):
    try: socket.create_connection(("192.0.2.1", 80), 1)
    except egress.OfflineError: answers.put("refused")
    else: answers.put("passed")
egress.go_offline()
context = multiprocessing.get_context("fork")
answers = context.SimpleQueue()
context.Process(target=attempt, args=(answers,)).start()
print(answers.get())
"""
    assert child(code) == "refused"


@pytest.mark.parametrize(
    ("value", "offline"), [("1", True), ("true", True), ("0", False), ("", False), ("off", False)]
)
def test_the_variable_is_obeyed(value: str, offline: bool) -> None:
    code = (
        "from localcrag import egress; egress.obey_environment(); import socket\n"
        "try: socket.gethostbyname('no-such-name.invalid')\n"
        "except egress.OfflineError: print('refused')\n"
        "except OSError: print('asked')\n"
        "print(egress.is_offline())"
    )
    assert child(code, LOCALCRAG_OFFLINE=value).split() == (
        ["refused", "True"] if offline else ["asked", "False"]
    )


def test_not_offline_until_asked_and_hubs_are_quiet_all_the_same() -> None:
    code = """
import os
from localcrag import egress
egress.obey_environment()
print(egress.is_offline(), os.environ["HF_HUB_OFFLINE"], os.environ["DO_NOT_TRACK"])
import huggingface_hub.constants as hub
print(hub.HF_HUB_OFFLINE, hub.HF_HUB_DISABLE_TELEMETRY)
"""
    assert child(code, HF_HUB_OFFLINE="0").split() == ["False", "1", "1", "True", "True"]


def test_a_proxy_on_loopback_is_no_way_out() -> None:
    code = """
from localcrag import egress; egress.go_offline()
import requests
try: requests.get("http://example.org/", timeout=2)
except Exception as error: print(type(error).__name__)
"""
    assert child(code, http_proxy="http://127.0.0.1:9", HTTP_PROXY="http://127.0.0.1:9") == "OfflineError"


def test_offline_for_a_block_only() -> None:
    before = os.environ.get(egress.OFFLINE_VARIABLE)
    assert not egress.is_offline()
    with egress.offline():
        assert egress.is_offline() and os.environ[egress.OFFLINE_VARIABLE] == "1"
        with egress.offline():
            pass
        with pytest.raises(OfflineError):
            egress.refuse_outside("example.org")
        egress.refuse_outside("127.0.0.1")
    assert not egress.is_offline() and os.environ.get(egress.OFFLINE_VARIABLE) == before
    with pytest.raises(OSError, match=r".*"):
        socket.create_connection(("127.0.0.1", 1), 1)
    egress.refuse_outside("example.org")


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("LOCALHOST.", True),
        ("a.localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("notlocalhost", False),
        ("127.0.0.1.example.org", False),
        ("", False),
    ],
)
def test_what_is_loopback(host: str, local: bool) -> None:
    assert egress.is_loopback(host) is local
