"""Reports over HTTP, and the plain page: who gets them, and for how long."""

from __future__ import annotations

import re

from starlette.testclient import TestClient

from localcrag.serve.http_api.report_shelf import MAX_QUESTIONS
from tests.serve.http_api.conftest import QUESTION, TOKEN, scripted_client, sent_events


def kept_id(client: TestClient, question: str = QUESTION) -> str:
    done = client.post("/api/ask", json={"question": question}, headers={"Accept": "text/event-stream"})
    (key,) = re.findall(r"^id: (.+)$", done.text, re.MULTILINE)
    assert sent_events(done.text)[-1].name == "finished"
    return str(key)


def plain(client: TestClient, **fields: str) -> tuple[int, str]:
    done = client.post("/plain", data=fields)
    return done.status_code, done.text


def test_a_report_is_sent_by_the_id_that_the_question_was_kept_under() -> None:
    client = scripted_client()
    done = client.get(f"/api/reports/{kept_id(client, 'dose & <b>?')}")
    assert done.text == "<!doctype html><title>dose &amp; &lt;b&gt;?</title>"
    policy = done.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")


def test_a_report_needs_the_token_and_an_id_that_is_remembered() -> None:
    client = scripted_client()
    key = kept_id(client)
    assert client.get(f"/api/reports/{key}", headers={"Authorization": ""}).status_code == 401
    assert client.get("/api/reports/another").json()["code"] == "ReportGone"
    for _ in range(MAX_QUESTIONS):
        kept_id(client)
    assert client.get(f"/api/reports/{key}").status_code == 404


def test_the_plain_page_asks_for_the_token_and_answers_with_a_report() -> None:
    client = scripted_client(headers={})
    form = client.get("/plain")
    assert form.status_code == 200 and TOKEN not in form.text
    assert "form-action 'self'" in form.headers["content-security-policy"]
    status, page = plain(client, token=TOKEN, question=QUESTION)
    assert (status, page) == (200, f"<!doctype html><title>{QUESTION}</title>")


def test_the_plain_page_refuses_in_words() -> None:
    client = scripted_client(headers={})
    for token in ("", "wrong", TOKEN[:-1], TOKEN + "t"):
        status, page = plain(client, token=token, question=QUESTION)
        assert status == 401 and "<p>the token is missing or wrong</p>" in page
    status, page = plain(client, token=TOKEN, question=QUESTION, kb="no <b>")
    assert status == 400 and "&lt;b&gt;" in page and "<b>" not in page
    assert client.post("/plain", json={"token": TOKEN}).status_code == 415
    foreign = {"Origin": "http://evil.example"}
    assert client.post("/plain", data={"token": TOKEN}, headers=foreign).status_code == 403
