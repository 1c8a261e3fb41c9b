"""A real ``localcrag serve --http``: what a program and a page get from it, and what they cannot do to it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from localcrag.cli.main import main
from localcrag.serve.endpoint import UNIX
from tests.forked import completed
from tests.serve.conftest import DEADLINE, until
from tests.serve.http_api.conftest import QUESTION, UNKNOWN, WarmDoor, sent_events

pytestmark = pytest.mark.skipif(not UNIX, reason="processes of Unix")
UPLOADS = "/api/knowledge-bases/{}/documents"
WEB = {"question": UNKNOWN, "options": {"web": "ask"}}


def localcrag(door: WarmDoor, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = ["-m", "localcrag", "--home", str(door.home), *arguments]
    return completed(program, env=door.environment, timeout=DEADLINE)


def timeless(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "usage"}


def nearly(answer: dict[str, Any]) -> dict[str, Any]:
    """What an answer computed elsewhere must equal.

    A warm model reads a prompt behind what it has in memory of another one, in pieces of other sizes than a
    fresh one, and so the last digits of a confidence may differ.
    """
    grades = [
        {**grade, "confidence": pytest.approx(grade["confidence"], abs=0.02)} for grade in answer["grades"]
    ]
    return {**timeless(answer), "grades": grades}


def test_the_address_carries_the_token_and_the_log_does_not(warm_door: WarmDoor) -> None:
    assert warm_door.url.startswith("http://127.0.0.1:")
    assert (warm_door.home / "http-token").read_text().strip() == warm_door.token
    assert (warm_door.home / "http-token").stat().st_mode & 0o777 == 0o600
    with warm_door.client() as client:
        assert client.get("/").status_code == 200 and client.get("/api/status").status_code == 200
        assert client.get("/api/status", headers={"Authorization": "Bearer x"}).status_code == 401


def test_an_answer_is_that_of_the_command(warm_door: WarmDoor) -> None:
    with warm_door.client() as client:
        body = {"question": QUESTION}
        answer = client.post("/api/ask", json=body, headers={"Accept": "application/json"}).json()
        events = sent_events(client.post("/api/ask", json=body).text)
        hits = client.post("/api/search", json={"query": "dose of Zeldrine"}).json()
    command = json.loads(localcrag(warm_door, "ask", QUESTION, "--json").stdout)
    printed = localcrag(warm_door, "ask", QUESTION, "--jsonl").stdout
    lines = [json.loads(line) for line in printed.splitlines()]
    assert timeless(answer) == nearly(command) and answer["status"] == "answered"
    assert [event.name for event in events] == [line["event"] for line in lines]
    assert timeless(events[-1].data) == nearly(lines[-1])
    assert hits == json.loads(localcrag(warm_door, "search", "dose of Zeldrine", "--json").stdout)


@pytest.mark.parametrize(
    ("options", "status", "code"),
    [
        ({"filter": "source ="}, 400, "FilterError"),
        ({"model": "nothing-of-that-name"}, 404, "ModelNotFound"),
        ({"evaluator": "nothing"}, 404, "ModelNotFound"),
        ({"mode": "sing"}, 400, "UsageError"),
    ],
)
def test_errors_are_problems(warm_door: WarmDoor, options: dict[str, str], status: int, code: str) -> None:
    with warm_door.client() as client:
        done = client.post("/api/ask", json={"question": QUESTION, "options": options})
    assert (done.status_code, done.json()["code"]) == (status, code) and done.json()["hint"]


def test_many_at_once_all_get_their_own_answer(warm_door: WarmDoor) -> None:
    with warm_door.client() as client, ThreadPoolExecutor(12) as pool:
        questions = [QUESTION, "Who makes Zeldrine?"] * 6

        def ask(question: str) -> dict[str, Any]:
            headers = {"Accept": "application/json"}
            answer: dict[str, Any] = client.post(
                "/api/ask", json={"question": question}, headers=headers
            ).json()
            return answer

        answers = list(pool.map(ask, questions))
    assert [answer["question"] for answer in answers] == questions
    assert len({answer["answer"] for answer in answers}) == 2


def test_a_question_that_is_left_is_ended(warm_door: WarmDoor) -> None:
    with warm_door.client() as client:
        with client.stream("POST", "/api/ask", json=WEB) as reply:
            assert "event: consent" in reply.iter_lines()
        answer = client.post(
            "/api/ask", json={"question": QUESTION}, headers={"Accept": "application/json"}
        ).json()
    assert "35 mg" in answer["answer"]


@pytest.mark.parametrize("allow", [True, False])
def test_the_exact_line_is_shown_and_sent_only_after_a_yes(warm_door: WarmDoor, allow: bool) -> None:
    before = len(warm_door.searxng.requests)
    shown = []
    with warm_door.client() as client, client.stream("POST", "/api/ask", json=WEB) as reply:
        name = ""
        for line in reply.iter_lines():
            name = line.removeprefix("event: ") if line.startswith("event: ") else name
            if name == "consent" and line.startswith("data: "):
                data = json.loads(line.removeprefix("data: "))
                assert len(warm_door.searxng.requests) == before, "nothing was sent yet"
                shown.append(data["query"])
                with warm_door.client() as other:
                    other.post(f"/api/consents/{data['id']}", json={"allow": allow})
            if name == "finished" and line.startswith("data: "):
                answer = json.loads(line.removeprefix("data: "))
    sent = [request.form["q"] for request in warm_door.searxng.requests[before:]]
    assert shown and sent == (shown if allow else [])
    assert [query["sent"] for query in answer["web"]] == [allow] * len(shown)


# ---------------------------------------------------------------------------------- documents


def test_documents_are_uploaded_asked_and_shown(warm_door: WarmDoor, tmp_path: Path) -> None:
    paper = tmp_path / "paper.pdf"
    canvas = Canvas(str(paper))
    canvas.drawString(72, 700, "The lighthouse of Velm was built in 1874 by the harbour company.")
    canvas.save()
    with warm_door.client() as client:
        files = [("files", ("paper.pdf", paper.read_bytes())), ("files", ("broken.pdf", b"%PDF-1.7 no"))]
        events = sent_events(client.post(UPLOADS.format("papers"), files=files).text)
        assert events[-1].name == "ingested" and events[-1].data["added"] == 1
        assert [Path(skip["source"]).name for skip in events[-1].data["skipped"]] == ["broken.pdf"]
        held = client.get(UPLOADS.format("papers")).json()
        assert len(held["documents"]) == 1 and len(held["skipped"]) == 1
        source = held["documents"][0]["source"]
        assert source == str(warm_door.home / "uploads" / "papers" / "paper.pdf")
        place = {"kb": "papers", "source": source, "page": 1, "start": 4, "end": 22}
        text = client.get("/api/citations/text", params=place).json()
        assert (text["quote"], text["picture"]) == ("lighthouse of Velm", True)
        drawn = client.get("/api/citations/page", params=place)
        assert drawn.headers["content-type"] == "image/png" and drawn.content.startswith(b"\x89PNG")
        Path(source).write_bytes(paper.read_bytes() + b"\n% changed")
        gone = client.get("/api/citations/page", params=place)
        assert (gone.status_code, gone.json()["code"]) == (410, "DocumentGone")
        text = client.get("/api/citations/text", params=place).json()
        assert (text["quote"], text["picture"]) == ("lighthouse of Velm", False) and "changed" in text["note"]


def test_an_ingestion_that_is_left_is_killed(warm_door: WarmDoor, tmp_path: Path) -> None:
    text = "".join(f"Paragraph {number} is about nothing at all, and goes on.\n\n" for number in range(4000))
    files = [("files", (f"{number}.txt", f"{number} {text}".encode())) for number in range(6)]
    with (
        warm_door.client() as client,
        client.stream("POST", UPLOADS.format("left"), files=files) as reply,
    ):
        lines = reply.iter_lines()
        assert next(lines) == "event: discovered"
        assert children_of(warm_door.processes[-1].pid, "ingest")
    until(lambda: not children_of(warm_door.processes[-1].pid, "ingest"))


def children_of(parent: int, word: str) -> list[int]:
    """The processes of a parent whose command line has a word."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            state = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if int(state[1]) == parent and word.encode() in words:
                found.append(int(folder.name))
        except (OSError, ValueError):
            continue
    return found


# ---------------------------------------------------------------------------------- the process


def test_a_command_with_other_conditions_leaves_the_door_open(warm_door: WarmDoor) -> None:
    environment = {**warm_door.environment, "LOCALCRAG_LOOP_PASSAGES": "1"}
    program = ["-m", "localcrag", "--home", str(warm_door.home), "ask", QUESTION, "--trace"]
    done = completed(program, env=environment, timeout=DEADLINE)
    assert done.returncode == 0 and "it was started otherwise, and stays so" in done.stderr
    with warm_door.client() as client:
        assert client.get("/api/status").status_code == 200


def test_a_second_door_is_refused(warm_door: WarmDoor) -> None:
    done = localcrag(warm_door, "serve", "--http", "0")
    assert done.returncode == 1 and "runs already" in done.stderr and "token" not in done.stdout


def test_a_changed_model_file_begins_it_again_at_the_same_address(warm_door: WarmDoor) -> None:
    (warm_door.home / "models.toml").write_text("")
    with warm_door.client() as client:
        until(lambda: answered(client))
        assert client.get("/api/status").status_code == 200
    assert warm_door.processes[-1].poll() is None


def answered(client: Any) -> bool:
    """Whether a search is answered; while the process begins again, it is 503 or nobody listens."""
    import httpx2

    try:
        done = client.post("/api/search", json={"query": "dose"})
    except httpx2.TransportError:
        return False
    assert done.status_code in (200, 503)
    if done.status_code == 503:
        assert done.headers["retry-after"]
    return bool(done.status_code == 200)


def test_it_ends_when_it_is_told_to(tmp_path: Path, warm_door: WarmDoor) -> None:
    from dataclasses import replace

    other = replace(warm_door, home=tmp_path / "home", processes=[])
    other.environment = {**warm_door.environment, "XDG_RUNTIME_DIR": str(tmp_path)}
    tmp_path.chmod(0o700)
    other.serve()
    assert other.token != warm_door.token
    process = other.processes[0]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130 and "ended" in err and other.token not in out + err


# ---------------------------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--http", "0.0.0.0:0"], 2, "can be reached by other machines"),
        (["--http", "192.168.0.1:80"], 2, "can be reached by other machines"),
        (["--http", "example.org:80"], 2, "can be reached by other machines"),
        (["--http", "[::]:0"], 2, "can be reached by other machines"),
        (["--http", "port"], 2, "is no address"),
        (["--http", "127.0.0.1:99999"], 2, "is no address"),
        (["--http", ":80"], 2, "is no address"),
        (["--allow-remote"], 2, "are about the HTTP door"),
        (["--read-only"], 2, "are about the HTTP door"),
    ],
)
def test_what_cannot_be_opened_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert main(["--home", str(tmp_path / "home"), "serve", *arguments]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "home").exists()


def test_the_risk_is_said_before_other_machines_are_let_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--home", str(tmp_path / "home"), "serve", "--http", "0.0.0.0:0"])
    assert "--allow-remote" in (said := capsys.readouterr().err) and "unencrypted" in said


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; sys.modules['uvicorn'] = None; from localcrag.cli.main import main; "
        "sys.exit(main(sys.argv[1:]))"
    )
    program = ["-c", code, "--home", str(tmp_path / "home"), "serve", "--http", "0"]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    tmp_path.chmod(0o700)
    done = completed(program, env=environment, timeout=DEADLINE)
    assert done.returncode == 1
    assert "needs uvicorn, which is not installed" in done.stderr
    assert "pip install 'localcrag[http]'" in done.stderr
