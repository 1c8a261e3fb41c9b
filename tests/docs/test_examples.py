"""Every Python example of README and manual runs, on the example handbook, with the embedded models."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sybil import Document, Example
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

from tests.docs.manual import FILES, MANUAL, fences, named

QUESTIONS = (
    "When does unused leave expire?",
    "What do I get for a day of travelling?",
    "Who approves parking?",
)
OPTIONAL_LIBRARIES = {
    "integrations": (
        *("langchain_core", "langchain_openai", "llama_index.core", "openai", "starlette", "uvicorn"),
        *("llama_index.llms.openai_like", "llama_index.embeddings.openai"),
    )
}
"""What the examples of a page need besides localcrag itself."""
PAGES_WITH_DOOR = {"integrations"}
PAGES = [path for path in FILES if fences(path, "python")]


@pytest.fixture
def handbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the handbook that the quickstart has its readers make, and a home of its own."""
    [(_, script)] = fences(MANUAL / "quickstart.md", "sh")
    subprocess.run(["sh", "-e", "-c", script], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LOCALCRAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LOCALCRAG_KB", "handbook")
    yield tmp_path / "handbook"


@pytest.fixture
def http_door(handbook: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """``localcrag serve --http`` for the handbook, where its readers are told that a client finds it."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(handbook.parent))
    monkeypatch.setenv("LOCALCRAG_LOOP_GRADER", "evaluator")  # for the time that it takes
    command = [sys.executable, "-m", "localcrag", "serve", "--http", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address, _, token = process.stdout.readline().strip().partition("/#token=")
            monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
            monkeypatch.setenv("OPENAI_API_KEY", token)
            yield
        finally:
            process.terminate()


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_the_examples_of_a_page_run_one_after_the_other(
    path: Path, handbook: Path, request: pytest.FixtureRequest
) -> None:
    for library in OPTIONAL_LIBRARIES.get(path.stem, ()):
        pytest.importorskip(library, reason=f"its examples need {library}, which an extra brings")
    if path.stem in PAGES_WITH_DOOR:
        request.getfixturevalue("http_door")
    document = Document.parse(str(path), PythonCodeBlockParser(), SkipParser())
    ran = 0
    for example in document.examples():
        run(example)
        ran += 1
    assert ran >= len(fences(path, "python"))


def run(example: Example) -> None:
    """An example that fails is named by its file and line."""
    try:
        example.evaluate()
    except Exception as error:
        error.add_note(f"in the example at {example.path}, line {example.line}")
        raise


def test_what_the_quickstart_shows_is_true(handbook: Path) -> None:
    """Its three questions have the answers and citations that it shows."""
    import localcrag

    kb = localcrag.open("handbook")
    kb.ingest([str(handbook)])
    shown = (MANUAL / "quickstart.md").read_text("utf-8")
    for question in QUESTIONS:
        answer = kb.ask(question)
        assert f'"{question}"' in shown and f"\n{answer.text}\n" in shown, question
        for citation in answer.citations:
            source = f"[{citation.key}] handbook/{Path(citation.source).name}"
            place = f"characters {citation.start}–{citation.end}: “{citation.quote}”"
            assert f"{source}\n    {place}\n" in shown
