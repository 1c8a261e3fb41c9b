"""Kills, several processes at once, full disks: what a write leaves behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from localcrag.errors import StorageFull, StoreError
from localcrag.filters import parse
from localcrag.store import hybrid_search, native_memory, writer
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.store.storage_errors import storage_error
from tests.forked import Forked, completed
from tests.store.conftest import EMBEDDER, asked, item

ROOT = Path(__file__).parents[2]
CHILD = """
import os, signal, sys
from pathlib import Path
from localcrag.store.journal import Journal
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.writer import StoreWriter
from localcrag.store.tables import Tables
from tests.store.conftest import EMBEDDER, asked, item

store = KnowledgeBases(Path(sys.argv[1])).create("kb", EMBEDDER.name, EMBEDDER.dimension)

def kill_at(owner, method, after):
    inner = getattr(owner, method)
    def killed(*args, **kwargs):
        if after:
            inner(*args, **kwargs)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(owner, method, killed)
"""


def child(home: Path, code: str) -> Forked:
    return Forked(["-c", CHILD + textwrap.dedent(code), str(home)], cwd=ROOT)


def killed(home: Path, code: str) -> None:
    process = child(home, code)
    _, stderr = process.communicate(timeout=240)
    assert process.returncode == -signal.SIGKILL, stderr


OLD = {"/a": ["alpha one", "alpha two", "alpha three"], "/b": ["beta one"]}
NEW = {"/a": ["gamma one"], "/c": ["delta one", "delta two"]}
STEPS = [
    ("StoreWriter", "_add_texts", True),
    ("Journal", "begin", True),
    ("StoreWriter", "_replace_passages", True),
    ("StoreWriter", "_replace_documents", True),
    ("Journal", "end", True),
]


def contents(store: LanceStore) -> dict[str, list[str]]:
    """The passages by source, in their order, as a search finds them."""
    words = "alpha beta gamma delta one two three"
    hits = store.search(words, EMBEDDER.encode([words])[0], k=50)
    ordered = sorted(hits, key=lambda hit: hit.passage.ordinal)
    found: dict[str, list[str]] = {}
    for hit in ordered:
        found.setdefault(hit.passage.source, []).append(hit.passage.text)
        whole = store.text(hit.passage.document, None)
        assert whole[hit.passage.start : hit.passage.end] == hit.passage.text
    return found


@pytest.mark.parametrize(("owner", "method", "after"), STEPS)
def test_a_kill_leaves_the_old_or_the_new_and_the_same_write_finishes(
    bases: KnowledgeBases, lance: LanceStore, tmp_path: Path, owner: str, method: str, after: bool
) -> None:
    lance.replace([item(source, *texts) for source, texts in OLD.items()])
    new = [item(source, *texts) for source, texts in NEW.items()]
    killed(
        tmp_path,
        f"""
        kill_at({owner}, {method!r}, {after})
        store.replace([item(source, *texts) for source, texts in {NEW!r}.items()])
        """,
    )
    survivor = bases.open("kb")
    committed = (owner, method) in {
        ("StoreWriter", "_replace_passages"),
        ("StoreWriter", "_replace_documents"),
        ("Journal", "end"),
    }
    assert contents(survivor) == ({**OLD, **NEW} if committed else OLD)
    said = {source: entry.hash for source, entry in survivor.indexed().items()}
    if method == "end":
        assert said["/a"] == new[0][0].hash
    elif committed:
        assert said["/a"] == "", "what is listed must not look finished"
    survivor.replace(new)
    assert contents(survivor) == {**OLD, **NEW}
    assert {source: e.hash for source, e in survivor.indexed().items()} == {
        "/a": new[0][0].hash, "/b": item("/b", "beta one")[0].hash, "/c": new[1][0].hash
    }  # fmt: skip
    assert survivor.info().passages == 4


def test_after_a_kill_another_write_puts_things_in_order(
    bases: KnowledgeBases, lance: LanceStore, tmp_path: Path
) -> None:
    lance.replace([item(source, *texts) for source, texts in OLD.items()])
    killed(
        tmp_path,
        f"""
        kill_at(StoreWriter, "_replace_passages", True)
        store.replace([item(source, *texts) for source, texts in {NEW!r}.items()])
        """,
    )
    survivor = bases.open("kb")
    survivor.replace([item("/e", "beta five")])
    assert contents(survivor) == {"/a": NEW["/a"], "/b": OLD["/b"], "/e": ["beta five"]}
    held = survivor.indexed()
    assert (held["/a"].hash, held["/a"].size, held["/a"].mtime_ns) == ("", -1, -1)
    survivor.optimize()
    survivor.optimize()
    assert contents(survivor)["/a"] == NEW["/a"]
    assert survivor.remove(["/a"]) == 1
    assert "/a" not in contents(survivor)


@pytest.mark.parametrize(
    ("step", "after"), [("_delete_documents", False), ("_delete_documents", True), ("_delete_passages", True)]
)
def test_a_killed_removal_is_whole_after_the_next_write(
    bases: KnowledgeBases, lance: LanceStore, tmp_path: Path, step: str, after: bool
) -> None:
    lance.replace([item(source, *texts) for source, texts in OLD.items()])
    killed(tmp_path, f'kill_at(StoreWriter, "{step}", {after}); store.remove(["/a"])')
    survivor = bases.open("kb")
    survivor.optimize()
    gone = (step, after) != ("_delete_documents", False)
    assert ("/a" in contents(survivor), "/a" in survivor.indexed()) == (not gone, not gone)
    assert contents(survivor)["/b"] == OLD["/b"]


def test_a_killed_removal_is_whole_if_it_is_run_again(
    bases: KnowledgeBases, lance: LanceStore, tmp_path: Path
) -> None:
    lance.replace([item(source, *texts) for source, texts in OLD.items()])
    killed(tmp_path, 'kill_at(StoreWriter, "_delete_documents", True); store.remove(["/a"])')
    survivor = bases.open("kb")
    assert "/a" not in survivor.indexed(), "so that the command finds nothing to remove"
    assert survivor.remove([]) == 0
    assert contents(survivor) == {"/b": OLD["/b"]}


def test_a_kill_while_a_knowledge_base_is_made_leaves_none(tmp_path: Path) -> None:
    code = """
        import os, signal, sys
        from pathlib import Path
        from localcrag.store import tables
        from localcrag.store.knowledge_bases import KnowledgeBases
        real = tables.create_tables
        tables.create_tables = lambda *args: (real(*args), os.kill(os.getpid(), signal.SIGKILL))
        KnowledgeBases(Path(sys.argv[1])).create("kb", "m", 8)
    """
    process = completed(["-c", textwrap.dedent(code), str(tmp_path)], cwd=ROOT)
    assert process.returncode == -signal.SIGKILL
    bases = KnowledgeBases(tmp_path)
    assert bases.names() == []
    bases.create("kb", "hash", 64).replace([item("/a", "text")])
    assert bases.names() == ["kb"]


@pytest.mark.usefixtures("every_processor")
def test_two_processes_write_and_one_reads_at_once(lance: LanceStore, tmp_path: Path) -> None:
    code = """
        for n in range(12):
            store.replace([item(f"/{name}/{n}/{m}", f"alpha {name} {n} {m}", "two") for m in range(3)])
            store.replace([item("/shared", f"alpha from {name} {n}")])
        store.optimize()
    """
    lance.replace([item("/first", "alpha first")])
    writers = [child(tmp_path, f"name = {name!r}\n" + textwrap.dedent(code)) for name in "xy"]
    seen = 0
    while any(process.poll() is None for process in writers):
        found = lance.search("alpha", EMBEDDER.encode(["alpha"])[0], k=200)
        assert (
            sum(hit.passage.source == "/shared" for hit in found) <= 2
        )  # two reads, one commit between them
        assert lance.info().passages >= seen
        seen = lance.info().passages
    for process in writers:
        _, stderr = process.communicate()
        assert (process.returncode, stderr) == (0, "")
    assert lance.info().documents == 1 + 2 * 12 * 3 + 1
    assert lance.info().passages == 1 + 2 * 12 * 3 * 2 + 1
    assert len(lance.indexed()) == 74


@pytest.mark.usefixtures("every_processor")
def test_threads_with_stores_of_their_own_take_turns(bases: KnowledgeBases, lance: LanceStore) -> None:
    def write(name: str) -> None:
        own = bases.open("kb")
        for n in range(8):
            own.replace([item(f"/{name}/{n}", f"{name} {n}", meta={name: n})])

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, "xyz"))
    assert lance.info().documents == lance.info().passages == 24
    assert lance.info().fields[-3:] == ("x", "y", "z")


def fragments(table: Any) -> int:
    """The files of a table; LanceDB says TableStatistics, and gives a dictionary."""
    return int(table.stats()["fragment_stats"]["num_fragments"])


def test_long_ingestions_are_tidied_on_the_way(lance: LanceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "WRITES_PER_COMPACTION", 5)
    for n in range(11):
        lance.replace([item(f"/{n}", f"word{n}")])
    assert fragments(lance._tables.passages) <= 4
    assert lance.info().passages == 11


def test_a_large_table_is_not_compacted_for_few_new_rows(
    lance: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def files(table: str) -> int:
        return fragments(getattr(lance._tables, table))

    monkeypatch.setattr(writer, "WRITES_PER_COMPACTION", 5)
    lance.replace([item(f"/held/{n}", f"word{n}") for n in range(20)])
    lance.optimize()
    for n in range(15):
        lance.replace([item(f"/new/{n}", f"new{n}")])
    assert files("passages") == files("texts") == 16
    assert files("documents") < 5, "they are few"
    for n in range(15, 25):
        lance.replace([item(f"/new/{n}", f"new{n}")])
    assert files("passages") < 5 and files("texts") < 5, "there were twice as many"
    assert lance.info().passages == 45


def test_a_process_that_writes_gives_freed_memory_back(
    lance: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(native_memory, "release_large_blocks", lambda: told.append("give back"))
    lance.replace([item("/a.txt", "one")])
    lance.replace([item("/b.txt", "two")])
    assert told == ["give back"]


def test_unused_texts_go_at_the_second_upkeep(lance: LanceStore) -> None:
    old, new = item("/a", "old text"), item("/a", "new text")
    lance.replace([old])
    lance.replace([new])
    lance.optimize()
    assert lance.text(old[0].hash, None) == "old text"  # a reader may hold a passage of it
    lance.optimize()
    with pytest.raises(StoreError, match="no longer"):
        lance.text(old[0].hash, None)
    assert lance.text(new[0].hash, None) == "new text"


def test_rows_that_no_index_has_yet_are_found(lance: LanceStore, found: Callable[[str], list[str]]) -> None:
    lance.replace([item("/a", "indexed zebra")])
    lance.optimize()
    lance.replace([item("/b", "fresh zebra"), item("/c", "unrelated")])
    assert set(found("zebra")[:2]) == {"indexed zebra", "fresh zebra"}


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("東京", "私は東京都に住んでいます"),
        ("dosages", "the dosage is 2 grams"),
        ("cafes", "Un CAFÉ noir"),
        ("gravity's", "gravity"),
        ("2", "the dosage is 2 grams"),
        ("who is the C", "C is a language"),
    ],
)
def test_words_are_found_in_other_forms_and_scripts(
    lance: LanceStore, found: Callable[[str], list[str]], query: str, wanted: str
) -> None:
    texts = [
        "私は東京都に住んでいます",
        "the dosage is 2 grams",
        "Un CAFÉ noir",
        "gravity",
        "C is a language",
    ]
    lance.replace([item(f"/{n}", f"filler {n} of the who") for n in range(10, 30)])
    lance.replace([item(f"/doc{n}", text) for n, text in enumerate(texts)])
    assert found(query)[0] == wanted
    lance.optimize()
    assert found(query)[0] == wanted


def test_a_large_table_gets_a_vector_index(
    lance: LanceStore, found: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MAX_EXACT_PASSAGES", 500)
    lance.replace(
        [item(f"/{n}", *[f"word{n} item{m} thing{(n * m) % 17}" for m in range(30)]) for n in range(20)]
    )
    steps: list[str] = []
    lance.optimize(steps.append)
    assert lance.info().vector_index
    assert "vector index" in steps
    lance.replace([item("/late", "word7 item7 late")])
    assert found("word7 item7 late")[0] == "word7 item7 late"
    assert found("word3 item4 thing12")[0] == "word3 item4 thing12"
    steps.clear()
    lance.optimize(steps.append)
    assert "vector index" not in steps


def test_a_narrow_filter_finds_all_in_a_large_table(
    lance: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MAX_EXACT_PASSAGES", 500)
    monkeypatch.setattr(writer, "VECTORS_PER_PARTITION", 600 // 32)
    monkeypatch.setattr(hybrid_search, "probes", lambda partitions: 1)
    lance.replace(
        [item(f"/{n}", *[f"word{n} item{m} thing{(n * m) % 17}" for m in range(30)]) for n in range(20)]
    )
    lance.optimize()
    hits = lance.search("elsewhere", EMBEDDER.encode(["elsewhere"])[0], k=50, filter=parse('source = "/7"'))
    assert {hit.passage.ordinal for hit in hits} == set(range(30))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (
            "lance error: LanceError(IO): Generic error: No space left on device (os error 28)",
            StorageFull,
        ),
        ("write failed: Disk quota exceeded (os error 122)", StorageFull),
        ("Permission denied (os error 13), /rustc/x.rs:1", StoreError),
        ("something else\nwith a second line", StoreError),
    ],
)
def test_what_the_index_says_becomes_one_line(said: str, kind: type[StoreError]) -> None:
    error = storage_error(RuntimeError(said), "write to /kb")
    assert type(error) is kind
    assert "\n" not in str(error)
    assert "/kb" in str(error)


def test_a_full_disk(tmp_path: Path) -> None:
    """A real one: a file system of two mebibytes in a mount namespace of its own."""
    small = tmp_path / "small"
    small.mkdir()
    code = """
        from localcrag.errors import StorageFull
        store.replace([item("/a", "alpha one")])
        try:
            for n in range(500):
                store.replace([item(f"/{n}", *[f"{n} {m} " + "x" * 3000 for m in range(100)])])
        except StorageFull as error:
            print(error, "|", error.hint)
        hits = store.search("alpha", EMBEDDER.encode(["alpha"])[0], k=3)
        print(hits[0].passage.text, "/a" in store.indexed())
    """
    script = CHILD + textwrap.dedent(code)
    mount = f'mount -t tmpfs -o size=2m none "{small}" && exec "$@"'
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", mount, "sh", sys.executable, "-c", script, str(small)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("no space left on the device: cannot write to")
    assert "run the same command again" in first
    assert second == "alpha one True"
    assert done.stderr == ""


def test_no_permission_to_write_is_one_line_and_reading_goes_on() -> None:
    code = """
        store.replace([item("/a", "alpha one")])
        store.folder.chmod(0o555)
        store.folder.parent.chmod(0o755)
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            store.replace([item("/b", "beta")])
        except Exception as error:
            print(type(error).__name__, "|", error, "|", error.hint)
        print([hit.passage.text for hit in store.search("alpha", EMBEDDER.encode(["alpha"])[0], k=3)])
    """
    with TemporaryDirectory() as home:
        Path(home).chmod(0o755)
        process = child(Path(home), code)
        stdout, stderr = process.communicate(timeout=240)
        (Path(home) / "knowledge" / "kb").chmod(0o755)
    assert (process.returncode, stderr) == (0, "")
    first, second = stdout.splitlines()
    assert first.startswith("StoreError | no permission to write to the knowledge base in")
    assert "permissions" in first.rpartition("|")[2]
    assert second == "['alpha one']"


def test_what_another_user_keeps_is_one_line() -> None:
    code = """
        store.replace([item("/a", "alpha one")])
        if os.geteuid() == 0:
            os.setuid(65534)
        else:
            store.folder.parent.chmod(0)
        for use in (
            lambda: store.replace([item("/b", "beta")]),
            lambda: store.search("alpha", EMBEDDER.encode(["alpha"])[0], k=3),
        ):
            try:
                use()
            except Exception as error:
                print(type(error).__name__, "|", error)
    """
    with TemporaryDirectory() as home:
        Path(home).chmod(0o755)
        process = child(Path(home), code)
        stdout, stderr = process.communicate(timeout=240)
        (Path(home) / "knowledge").chmod(0o700)
    assert (process.returncode, stderr) == (0, "")
    assert len(stdout.splitlines()) == 2
    for line in stdout.splitlines():
        assert line.startswith("StoreError | no permission to ")


# ------------------------------------------------------------------------------ questions

ZEBRAS = "where do zebras live"
FILLER = [item(f"/f{n}", f"filler number{n} where do they live") for n in range(60)]


def led(store: LanceStore) -> str:
    """Whose passage a search for the question puts first."""
    return store.search(ZEBRAS, EMBEDDER.encode([ZEBRAS])[0], k=3)[0].passage.text


def ask_of(store: LanceStore, *written: tuple[object, ...]) -> None:
    store.add_questions([asked(passage, f"{ZEBRAS}?") for item_ in written for passage in item_[2]])  # type: ignore[attr-defined]


def test_without_questions_there_is_no_table_and_no_query(
    lance: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lance.replace([item("/a", "alpha one")])
    monkeypatch.setattr(hybrid_search, "_passages_led_to", lambda *_: pytest.fail("questions were searched"))
    assert led(lance) == "alpha one"
    lance.optimize()
    lance.remove(["/a"])
    assert {path.name for path in (lance.folder / "lance").iterdir()} == {
        "passages.lance", "documents.lance", "texts.lance",
    }  # fmt: skip


def test_questions_that_another_process_writes_are_searched(bases: KnowledgeBases, lance: LanceStore) -> None:
    written = item("/a", "savanna")
    lance.replace([*FILLER, written])
    assert led(lance) != "savanna"
    ask_of(bases.open("kb"), written)
    assert led(lance) == "savanna"


@pytest.mark.parametrize(
    ("owner", "method", "after"),
    [*STEPS, ("StoreWriter", "_delete_questions", False), ("StoreWriter", "_delete_questions", True)],
)
def test_after_a_kill_no_question_leads_to_a_text_it_was_not_written_for(
    bases: KnowledgeBases, lance: LanceStore, tmp_path: Path, owner: str, method: str, after: bool
) -> None:
    old, other = item("/a", "savanna", hash="same"), item("/b", "steppe")
    lance.replace([*FILLER, old, other])
    ask_of(lance, old, other)
    killed(
        tmp_path,
        f"""
        kill_at({owner}, {method!r}, {after})
        store.replace([item("/a", "tundra", hash="same")])
        """,
    )
    survivor = bases.open("kb")
    survivor.remove(["/b"])
    assert led(survivor) != "tundra"
    survivor.replace([item("/a", "tundra", hash="same")])
    assert led(survivor) != "tundra"
    assert survivor.info().questions == 0
    assert "tundra" in {passage.text for passage in survivor.questionless()}


@pytest.mark.parametrize(
    ("step", "after"),
    [("_delete_documents", True), ("_delete_passages", True), ("_delete_questions", True)],
)
def test_a_killed_removal_leaves_no_question_that_leads_nowhere(
    bases: KnowledgeBases, lance: LanceStore, tmp_path: Path, step: str, after: bool
) -> None:
    written = item("/a", "savanna")
    lance.replace([*FILLER, written])
    ask_of(lance, written)
    killed(tmp_path, f'kill_at(StoreWriter, "{step}", {after}); store.remove(["/a"])')
    survivor = bases.open("kb")
    assert (led(survivor) == "savanna") == (step == "_delete_documents")
    survivor.optimize()
    assert led(survivor) != "savanna"
    assert survivor.info().questions == 0


@pytest.mark.parametrize(
    ("owner", "method", "after", "there"),
    [
        ("Tables", "make_questions", False, False),
        ("Tables", "make_questions", True, False),
        ("shutil", "rmtree", True, False),
        ("StoreWriter", "_write_questions", False, False),
        ("StoreWriter", "_write_questions", True, True),
    ],
)
def test_a_kill_while_questions_are_written_leaves_them_or_none_and_the_same_write_finishes(
    bases: KnowledgeBases, lance: LanceStore, tmp_path: Path,
    owner: str, method: str, after: bool, there: bool,
) -> None:  # fmt: skip
    written = item("/a", "savanna", "bush")
    lance.replace([*FILLER, written])
    killed(
        tmp_path,
        f"""
        import shutil
        kill_at({owner}, {method!r}, {after})
        written = item("/a", "savanna", "bush")
        store.add_questions([asked(passage, "{ZEBRAS}?") for passage in written[2]])
        """,
    )
    survivor = bases.open("kb")
    assert (survivor.info().questions, led(survivor) == "savanna") == ((2, True) if there else (0, False))
    ask_of(survivor, written)
    assert (survivor.info().questions, led(survivor)) == (2, "savanna")


def test_a_kill_while_a_new_field_is_made_does_no_harm(
    bases: KnowledgeBases, lance: LanceStore, tmp_path: Path
) -> None:
    written = item("/a", "savanna")
    lance.replace([written])
    ask_of(lance, written)
    killed(
        tmp_path,
        """
        tables = store._tables
        tables.passages.add_columns = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        store.replace([item("/b", "bush", meta={"year": "2024"})])
        """,
    )
    survivor = bases.open("kb")
    assert led(survivor) == "savanna"
    survivor.replace([item("/b", "bush", meta={"year": 2024})])
    found = survivor.search("x", EMBEDDER.encode(["x"])[0], k=3, filter=parse("year = 2024"))
    assert [hit.passage.text for hit in found] == ["bush"]


def test_many_questions_get_a_vector_index(
    lance: LanceStore, found: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MAX_EXACT_PASSAGES", 500)
    written = [item(f"/{n}", f"plain text {n}") for n in range(200)]
    lance.replace(written)
    lance.add_questions(
        [
            asked(passages[0], *(f"word{n} item{m}?" for m in range(3)))
            for n, (*_, passages, _) in enumerate(written)
        ]
    )
    steps: list[str] = []
    lance.optimize(steps.append)
    assert steps.count("vector index") == 1 and not lance.info().vector_index
    assert found("word77 item2")[0] == "plain text 77"


def test_long_runs_of_questions_are_tidied_on_the_way(
    lance: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "WRITES_PER_COMPACTION", 5)
    written = item("/a", *(f"text {n}" for n in range(11)))
    lance.replace([written])
    for passage in written[2]:
        lance.add_questions([asked(passage, f"what is {passage.text}?")])
    asked_table = lance._tables.questions
    assert asked_table is not None
    assert fragments(asked_table) <= 5
    assert lance.info().questions == 11
