"""``localcrag docs``: the manual in the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from localcrag.cli.main import cli
from tests.cli.conftest import Run, runner
from tests.docs.manual import MANUAL


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path / "home", monkeypatch)


def test_the_pages_are_listed_with_a_line_each(run: Run) -> None:
    done = run("docs")
    names = [line.split()[0] for line in done.out.splitlines()]
    assert done.code == 0 and names[0] == "quickstart"
    assert sorted(names) == sorted(path.stem for path in MANUAL.glob("*.md") if path.stem != "README")
    assert all(len(line) <= 100 for line in done.out.splitlines())


@pytest.mark.parametrize("path", sorted(MANUAL.glob("*.md")), ids=lambda path: path.stem)
def test_a_page_goes_into_a_pipe_as_it_stands(run: Run, path: Path) -> None:
    if path.stem != "README":
        assert run("docs", path.stem).out == path.read_text("utf-8")


@pytest.mark.parametrize("name", ["Warm-Process", "warm process", "warm_process", "warm-process.md"])
def test_a_page_may_be_named_loosely(run: Run, name: str) -> None:
    assert run("docs", name).out.startswith("# Warm process\n")


@pytest.mark.parametrize(
    ("name", "near"), [("filter", "filters"), ("privacy", "privacy-and-security"), ("seting", "settings")]
)
def test_a_page_that_is_not_there(run: Run, name: str, near: str) -> None:
    done = run("docs", name)
    assert (done.code, done.out) == (2, "")
    error, hint = done.err.splitlines()
    assert error == f"Error: the manual has no page {name!r}"
    assert hint.startswith("Hint: did you mean ") and near in hint and "localcrag docs lists them all" in hint


def test_nothing_like_it(run: Run) -> None:
    assert run("docs", "../errors").err.splitlines()[1] == "Hint: localcrag docs lists them all"


def test_the_shell_completes_the_names() -> None:
    completer = ShellComplete(cli, {}, "localcrag", "_LOCALCRAG_COMPLETE")
    assert [item.value for item in completer.get_completions(["docs"], "se")] == ["settings"]
    assert len(completer.get_completions(["docs"], "")) >= 15


@pytest.mark.parametrize("name", [path.stem for path in sorted(MANUAL.glob("*.md")) if path.stem != "README"])
def test_every_page_can_be_rendered(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from localcrag.cli import docs

    monkeypatch.setenv("COLUMNS", "80")
    shown = docs._rendered(docs._text(name))
    assert "generated:" not in shown and max(map(len, shown.splitlines())) <= 80


def test_on_a_terminal_it_is_rendered_in_the_pager(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    mine, theirs = pty.openpty()
    environment = {
        **os.environ,
        "PAGER": "cat",
        "COLUMNS": "80",
        "LOCALCRAG_HOME": str(tmp_path),
        "TERM": "xterm",
    }
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-m", "localcrag", "--offline", "docs", "chat"],
        stdout=theirs,
        stdin=theirs,
        env=environment,
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(mine, 4096):
                said += piece
        except OSError:  # the other side is closed
            pass
    os.close(mine)
    text = said.decode()
    assert process.returncode == 0
    assert "\x1b[" in text and "How are follow-ups understood?" in text and "# Chat" not in text


def test_no_model_and_no_index_is_loaded() -> None:
    program = (
        "import sys\nfrom localcrag.cli.main import main\nmain(['docs', 'chat'])\n"
        "print({'llama_cpp', 'lancedb', 'torch', 'numpy', 'rich'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "set()\n")
