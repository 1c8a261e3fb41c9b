"""Two users on one machine, with real user ids: neither gets at the other's warm process."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from localcrag.serve.protocol import StatusRequest, encode
from tests.serve.conftest import DEADLINE, QUESTION, House, Result, until

OTHER = 65534
SEARCH = ("search", "dose of Zeldrine", "--json")
LAST = b"the last thing that is said"
LISTENER = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.listen()
while True:
    link, _ = listener.accept()
    link.settimeout(120)
    try:
        print(len(link.recv(65536)), flush=True)
    except OSError as error:
        print(error, flush=True)
"""
CALLER = """
import socket, sys
link = socket.socket(socket.AF_UNIX)
link.settimeout(120)
link.connect(sys.argv[1])
try:
    link.sendall(bytes.fromhex(sys.argv[2]))
    print(len(link.recv(65536)))
except OSError:
    print(0)
"""


def as_other(*command: str) -> subprocess.Popen[str]:
    """Python in a process of the other user."""
    become = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]
    return subprocess.Popen(
        [*become, sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def may_become_another() -> bool:
    """Whether these tests can run: as root, with an interpreter that others may run too."""
    if not hasattr(os, "getuid") or os.getuid() != 0:
        return False
    try:
        return as_other("-c", "import localcrag.cli.main").wait(DEADLINE) == 0
    except OSError:
        return False


pytestmark = pytest.mark.skipif(not may_become_another(), reason="needs root, to be two users")


@pytest.fixture
def shared(house: House) -> Iterator[House]:
    """A home of the other user's that both can read, with the socket below it."""
    with tempfile.TemporaryDirectory(prefix="lc-") as place:
        folder = Path(place)
        folder.chmod(0o755)
        home = folder / "home"
        shutil.copytree(house.home, home)
        for path in (home, *home.rglob("*")):
            os.chown(path, OTHER, OTHER)
            path.chmod(0o755 if path.is_dir() else 0o644)
        runtime = folder / "runtime"
        runtime.mkdir()
        runtime.chmod(0o777)  # anybody's, so that none of the two uses it
        house.patch.setenv("XDG_RUNTIME_DIR", str(runtime))
        house.patch.setenv("HOME", str(folder))
        shared = House(home, house.patch)
        assert shared.endpoint.folder == home / "run"
        yield shared
        shared.endpoint.address.unlink(missing_ok=True)  # nobody is asked: the folder may be unsafe by now
        shared.end()


def asked(house: House, *arguments: str) -> Result:
    process = as_other("-m", "localcrag", "--home", str(house.home), *arguments)
    out, err = process.communicate(timeout=DEADLINE)
    return Result(process.returncode, out, err)


def test_another_user_is_refused_and_does_the_work_alone(shared: House) -> None:
    cold = asked(shared, *SEARCH)
    assert cold.code == 0 and json.loads(cold.out)["hits"]
    shared.serve()
    assert asked(shared, *SEARCH) == cold  # the folder is closed
    shared.endpoint.folder.chmod(0o755)
    shared.endpoint.address.chmod(0o666)
    traced = asked(shared, "ask", QUESTION, "--trace")  # now only its owner tells whose it is
    assert traced.code == 0 and "35 mg" in traced.out
    assert "done without the warm process" in traced.err and "belongs to another user" in traced.err
    shared.endpoint.folder.chmod(0o700)
    assert shared.server.answered == 0


def test_the_server_answers_no_other_user_even_where_the_files_are_open(shared: House) -> None:
    server = shared.client("serve")
    until(lambda: shared.served is not None)
    shared.endpoint.folder.chmod(0o755)
    shared.endpoint.address.chmod(0o666)
    caller = as_other("-c", CALLER, str(shared.endpoint.address), encode(StatusRequest()).hex())
    out, err = caller.communicate(timeout=DEADLINE)
    assert (out, err) == ("0\n", "")
    server.kill()
    assert "refused: a process of another user" in server.communicate(timeout=DEADLINE)[1]


def test_a_folder_that_another_user_planted_is_refused(shared: House) -> None:
    shared.endpoint.folder.mkdir()
    os.chown(shared.endpoint.folder, OTHER, OTHER)
    planted = plant(shared)
    done = shared.run("ask", QUESTION, "--trace")
    assert done.code == 0 and "35 mg" in done.out
    assert "belongs to another user" in done.err
    assert heard(shared, planted) == ""


def test_a_socket_that_another_user_planted_is_told_nothing(shared: House) -> None:
    shared.endpoint.folder.mkdir()
    shared.endpoint.folder.chmod(0o777)
    planted = plant(shared)
    shared.endpoint.folder.chmod(0o700)
    done = shared.run("ask", QUESTION, "--trace")
    assert done.code == 0 and "35 mg" in done.out
    assert "another user's" in done.err
    assert heard(shared, planted) == "0\n"


def plant(house: House) -> subprocess.Popen[str]:
    """The other user listens where this user's commands look."""
    process = as_other("-c", LISTENER, str(house.endpoint.address))
    until(house.endpoint.address.exists)
    with socket.socket(socket.AF_UNIX) as probe:  # wait until it really listens
        until(lambda: probe.connect_ex(str(house.endpoint.address)) == 0)
    assert process.stdout is not None and process.stdout.readline() == "0\n"
    return process


def heard(house: House, process: subprocess.Popen[str]) -> str:
    """What the listener was sent, in bytes a connection; it takes them one by one, and ours is the last."""
    with socket.socket(socket.AF_UNIX) as last:
        last.connect(str(house.endpoint.address))
        last.sendall(LAST)
    assert process.stdout is not None
    lines = iter(process.stdout.readline, f"{len(LAST)}\n")
    said = "".join(takewhile(bool, lines))
    process.kill()
    process.communicate(timeout=DEADLINE)
    return said
