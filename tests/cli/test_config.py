"""``localcrag config``, and names that the shell completes."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from localcrag.cli.main import cli
from localcrag.conversations import SqliteThreads
from tests.cli.conftest import Run

COMMENTED = """# mine
kb = "papers"  # the usual one

[loop]
# fewer is faster
passages = 4   # not 6
policy = "score"
"""


@pytest.fixture
def file(fresh_home: Path) -> Path:
    fresh_home.mkdir()
    return fresh_home / "config.toml"


def test_a_setting_is_set_and_everything_else_stays(fresh: Run, file: Path) -> None:
    file.write_text(COMMENTED)
    done = fresh("config", "set", "loop.passages", "8")
    assert (done.code, done.out, done.err) == (0, "", f"loop.passages = 8 in {file}\n")
    assert file.read_text() == COMMENTED.replace("= 4 ", "= 8 ")
    for name, value in (("kb", "notes"), ("web.timeout", "2.5"), ("offline", "yes")):
        assert fresh("config", "set", name, value).code == 0
    assert fresh("config", "set", "loop.corrections", "hyde, rewrite").code == 0
    text = file.read_text()
    assert all(comment in text for comment in ("# mine", "# the usual one", "# fewer is faster", "# not 6"))
    assert tomllib.loads(text) == {
        "kb": "notes",
        "offline": True,
        "loop": {"passages": 8, "policy": "score", "corrections": ["hyde", "rewrite"]},
        "web": {"timeout": 2.5},
    }
    shown = tomllib.loads(fresh("config").out)
    assert (shown["kb"], shown["loop"]["passages"], shown["offline"]) == ("notes", 8, True)


def test_a_setting_is_taken_out(fresh: Run, file: Path) -> None:
    file.write_text(COMMENTED)
    assert fresh("config", "unset", "loop.passages").code == 0
    assert tomllib.loads(file.read_text()) == {"kb": "papers", "loop": {"policy": "score"}}
    done = fresh("config", "unset", "loop.passages")
    assert done.code == 1 and f"loop.passages is not in {file}" in done.err
    file.write_text("[loop]\npasages = 3\n")
    assert fresh("config").code == 1
    assert fresh("config", "unset", "loop.pasages").code == 0 and fresh("config").code == 0


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("loop.passages", "many", "loop.passages: 'many' is not a whole number"),
        ("loop.passages", "0", "loop.passages: 0 is less than 1"),
        ("loop.policy", "careful", "is not one of crag"),
        ("loop.corrections", "rewrite,prayer", "is not a list of: rewrite"),
        ("loop.pasages", "3", "there is no setting 'loop.pasages'"),
        ("home", "/tmp", "there is no setting 'home'"),
        ("loop.policy.x", "3", "there is no setting"),
        ("loop.lower", "0.9", "loop.lower, 0.9, is more than loop.upper, 0.5"),
    ],
)
def test_a_wrong_value_leaves_the_file_as_it_is(
    fresh: Run, file: Path, name: str, value: str, error: str
) -> None:
    file.write_text("[loop]\nupper = 0.5\n")
    done = fresh("config", "set", name, value)
    assert (done.code, done.out) == (1, "") and error in done.err
    assert file.read_text() == "[loop]\nupper = 0.5\n"
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("text", ["kb = ", "loop = 3\n", "[nothing]\nx = 1\n", "kb = 7\n"])
def test_a_file_that_is_wrong_already_is_not_written_to(fresh: Run, file: Path, text: str) -> None:
    file.write_text(text)
    done = fresh("config", "set", "loop.passages", "8")
    assert done.code == 1 and str(file) in done.err and file.read_text() == text


def test_a_variable_that_takes_its_place_is_named(
    fresh: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALCRAG_LOOP_PASSAGES", "2")
    assert "LOCALCRAG_LOOP_PASSAGES is set" in fresh("config", "set", "loop.passages", "8").err
    assert tomllib.loads(file.read_text()) == {"loop": {"passages": 8}}


def test_the_editor_changes_it_and_what_is_wrong_is_not_kept(
    fresh: Run, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor.py"

    def edit(old: str, new: str) -> str:
        program = "import pathlib, sys; p = pathlib.Path(sys.argv[1]); t = p.read_text()"
        editor.write_text(f"{program}\np.write_text(t.replace({old!r}, {new!r}))\n")
        monkeypatch.setenv("VISUAL", f"{sys.executable} {editor}")
        return fresh("config", "edit").err

    assert edit("# Settings", '[web]\nurl = "http://localhost"\n# Settings') == f"Kept in {file}.\n"
    assert tomllib.loads(file.read_text()) == {"web": {"url": "http://localhost"}}
    kept = file.read_text()
    assert "unknown setting web.ulr" in edit("url", "ulr") and file.read_text() == kept
    assert edit("nothing", "like it") == "Nothing was changed.\n"


# ---------------------------------------------------------------------------------- completion


def completed(home: Path, arguments: list[str], incomplete: str = "") -> list[str]:
    completer = ShellComplete(cli, {}, "localcrag", "_LOCALCRAG_COMPLETE")
    return [item.value for item in completer.get_completions(["--home", str(home), *arguments], incomplete)]


def test_names_complete(fresh_home: Path) -> None:
    for name in ("papers", "plans", "minutes"):
        (fresh_home / "knowledge" / name).mkdir(parents=True)
    for thread in ("keys", "the porter's keys"):
        SqliteThreads(fresh_home / "threads.db").open(thread)
    home = fresh_home
    assert completed(home, ["ask", "--kb"], "p") == ["papers", "plans"]
    for command in (["kb", "show"], ["kb", "remove"], ["kb", "check"], ["search", "--kb"], ["mcp", "--kb"]):
        assert completed(home, command) == ["minutes", "papers", "plans"], command
    for command in (["threads", "show"], ["threads", "delete"], ["chat", "--thread"]):
        assert completed(home, command) == ["keys"], command  # the other one would need quotation marks
    models = ["smollm2-135m-instruct", "qwen2.5-coder-1.5b-instruct"]
    assert completed(home, ["ask", "--model"]) == models
    assert completed(home, ["ask", "--evaluator"], "n") == ["none"]
    assert "none" in completed(home, ["ask", "--adapter"])
    assert completed(home, ["config", "set"], "loop.pa") == ["loop.passages", "loop.parts"]


def test_what_cannot_be_read_completes_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "threads.db").write_text("no database")
    (tmp_path / "models.toml").write_text("no [toml")
    (tmp_path / "knowledge").write_text("no folder")
    (tmp_path / "config.toml").write_text("no [toml")
    assert completed(tmp_path, ["ask", "--kb"]) == completed(tmp_path, ["threads", "show"]) == []
    assert completed(tmp_path, ["ask", "--model"]) == [""]  # files


@pytest.mark.parametrize("words", ["ask --kb ", "ask --model ", "config set loop."])
def test_the_shell_does_not_wait_for_libraries(home: Path, words: str) -> None:
    program = (
        "import os, sys; line = sys.argv[1];"
        "os.environ.update(_LOCALCRAG_COMPLETE='bash_complete', COMP_WORDS='localcrag ' + line,"
        "COMP_CWORD=str(len(line.split(' '))));"
        "import atexit; atexit.register(lambda: print([m for m in ('lancedb', 'numpy', 'rich', 'llama_cpp', "
        "'msgspec', 'prompt_toolkit', 'tomlkit', 'torch') if m in sys.modules]));"
        "sys.argv[:] = ['localcrag']; from localcrag.cli.main import main; main()"
    )
    line = f"--home {home} {words}"
    done = subprocess.run([sys.executable, "-c", program, line], capture_output=True, text=True)
    *found, imported = done.stdout.splitlines()
    assert found and imported == "[]", done


@pytest.mark.parametrize(
    "address", ["http://", "http://box:99999", "http://me:secret@box:80", "http://box?x=1"]
)
def test_an_address_that_no_model_server_can_have_is_not_written(fresh: Run, address: str) -> None:
    done = fresh("config", "set", "model.language", address)
    assert done.code == 1 and "the address of the model server" in done.err and "secret" not in done.err
    assert "model.language" not in fresh("config").out and "http://" not in fresh("config").out
    assert fresh("config", "set", "model.language", "http://box:8080#qwen").code == 0
