"""The ingestion by its events: only what changed, nothing lost, one bad file never stops the rest."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from localcrag.documents import LocalCorpus
from localcrag.documents.prefetch import MIN_FILES_FOR_SEVERAL
from localcrag.errors import CorpusError, PruneRefused, StorageFull
from localcrag.events import Discovered, Ingested, Processing, Progressed, SkippedSource, report_of
from localcrag.ingestion import Ingestion
from localcrag.ingestion_batches import BATCH_PASSAGES, LARGE_BATCH_PASSAGES, MIN_BATCH_PASSAGES
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.store.writer import StoreWriter
from localcrag.types import NO_META, READING, IngestReport, Meta, Skipped, StillReading
from tests.documents.builders import pdf
from tests.documents.conftest import tokenizer_file
from tests.documents.test_read_all import gone, soon
from tests.fakes.documents import ScriptedCorpus, ScriptedFile
from tests.fakes.store import HashEmbedder, MemoryStore, Vectors


def file(source: str, text: str = "some text", **more: object) -> ScriptedFile:
    return ScriptedFile(source, (text,), **more)  # type: ignore[arg-type]


def ingest(
    store: MemoryStore | LanceStore,
    *files: ScriptedFile,
    targets: Sequence[str] = ("/d",),
    meta: Meta = NO_META,
    **flags: bool,
) -> IngestReport:
    corpus = ScriptedCorpus(*files)
    return report_of(Ingestion("kb", corpus, HashEmbedder(), store).run(targets, meta=meta, **flags))


def counts(report: IngestReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.removed


def test_documents_are_added_with_their_passages() -> None:
    store = MemoryStore()
    report = ingest(store, file("/d/a", "one\n\ntwo"), file("/d/b", "three"))
    assert counts(report) == (2, 0, 0, 0)
    assert report.passages == 3
    assert {s: i.passages for s, i in store.indexed().items()} == {"/d/a": 2, "/d/b": 1}


def test_only_what_changed_is_written() -> None:
    store = MemoryStore()
    ingest(store, file("/d/a", "one"), file("/d/b", "two"))
    report = ingest(store, file("/d/a", "one"), file("/d/b", "new", mtime_ns=2), file("/d/c", "three"))
    assert counts(report) == (1, 1, 1, 0)
    assert store.text(store.indexed()["/d/b"].hash, None) == "new"


def test_a_touched_file_with_the_same_bytes_is_unchanged() -> None:
    store = MemoryStore()
    ingest(store, file("/d/a"))
    report = ingest(store, file("/d/a", mtime_ns=9))
    assert (counts(report), report.passages) == ((0, 0, 1, 0), 0)


def test_a_file_of_the_same_size_and_time_is_not_opened_unless_asked() -> None:
    store = MemoryStore()
    ingest(store, file("/d/a", "one"))
    changed = file("/d/a", "two")
    assert counts(ingest(store, changed)) == (0, 0, 1, 0)
    assert counts(ingest(store, changed, reread=True)) == (0, 1, 0, 0)


def test_what_was_read_in_an_older_way_is_read_anew() -> None:
    store, kept = MemoryStore(), file("/d/a")
    ingest(store, kept)
    assert counts(ingest(store, kept)) == (0, 0, 1, 0)
    held = store._held["/d/a"]
    held.entry = replace(held.entry, reading=READING - 1)
    assert counts(ingest(store, kept)) == (0, 1, 0, 0)
    assert counts(ingest(store, kept)) == (0, 0, 1, 0)


def test_meta_is_added_to_unchanged_documents_and_kept_when_they_change() -> None:
    store = MemoryStore()
    ingest(store, file("/d/a", "one"), meta={"team": "x"})
    assert counts(ingest(store, file("/d/a", "one"))) == (0, 0, 1, 0)
    assert counts(ingest(store, file("/d/a", "one"), meta={"year": 2024})) == (0, 1, 0, 0)
    ingest(store, file("/d/a", "two", mtime_ns=2))
    assert dict(store.indexed()["/d/a"].meta) == {"team": "x", "year": 2024}


def test_a_field_of_the_document_follows_the_document_and_a_given_one_stays(tmp_path: Path) -> None:
    path, store = tmp_path / "a.md", MemoryStore()
    corpus = LocalCorpus(tokenizer_file())

    def ingested(said: str, **given: str) -> dict[str, object]:
        path.write_text(f"---\nstatus: {said}\nteam: own\n---\nThe fee is 35 EUR.\n")
        report_of(Ingestion("kb", corpus, HashEmbedder(), store).run([str(path)], meta=given, reread=True))
        return dict(store.indexed()[str(path.resolve())].meta)

    assert ingested("draft") == {"status": "draft", "team": "own"}
    assert ingested("final") == {"status": "final", "team": "own"}
    assert ingested("final", team="own") == {"status": "final", "team": "own"}
    path.write_text("The fee is 35 EUR.")
    report_of(Ingestion("kb", corpus, HashEmbedder(), store).run([str(path)], reread=True))
    assert store.indexed()[str(path.resolve())].meta == {"team": "own"}, "it was given, and wins"
    assert ingested("final", status="mine") == {"status": "mine", "team": "own"}


def test_prune_forgets_what_is_gone_below_the_folders_given_and_nothing_else(tmp_path: Path) -> None:
    folder, other = tmp_path / "here", tmp_path / "here too"
    folder.mkdir()
    store = MemoryStore()
    names = [str(folder / "a"), str(folder / "b"), str(folder / "broken"), str(other / "c")]
    ingest(store, *map(file, names), targets=[str(folder), str(other)])
    left = [file(names[0]), file(names[2], error="damaged", mtime_ns=2)]
    report = ingest(store, *left, targets=[str(folder)], prune=True)
    assert counts(report) == (0, 0, 1, 1)
    assert set(store.indexed()) == {names[0], names[2], names[3]}


def test_prune_that_was_cut_off_and_run_again_leaves_nothing_of_what_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = HashEmbedder()
    store = KnowledgeBases(tmp_path / "home").create("kb", embedder.name, embedder.dimension)
    folder = tmp_path / "documents"
    folder.mkdir()
    here, gone = file(str(folder / "here"), "of herons"), file(str(folder / "gone"), "of storks")
    ingest(store, here, gone, targets=[str(folder)])
    with monkeypatch.context() as cut, pytest.raises(KeyboardInterrupt):
        cut.setattr(StoreWriter, "_delete_passages", interrupted)
        ingest(store, here, targets=[str(folder)], prune=True)
    ingest(store, here, targets=[str(folder)], prune=True)
    hits = store.search("storks", embedder.encode(["storks"])[0], k=9)
    assert [hit.passage.text for hit in hits] == ["of herons"]


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_prune_spares_what_lies_in_a_folder_that_could_not_be_looked_into(tmp_path: Path) -> None:
    inside = f"{tmp_path}/locked/a"
    store = MemoryStore()
    ingest(store, file(inside), targets=[str(tmp_path)])
    corpus = ScriptedCorpus(
        file(f"{tmp_path}/b"), unseen=[Skipped(f"{tmp_path}/locked", "permission denied")]
    )
    report = report_of(Ingestion("kb", corpus, HashEmbedder(), store).run([str(tmp_path)], prune=True))
    assert report.removed == 0 and inside in store.indexed()


def test_prune_knows_a_folder_by_another_way_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    store = MemoryStore()
    ingest(store, file(f"{folder}/gone", "another text"), targets=[str(folder)])
    corpus = ScriptedCorpus(file(f"{folder}/a"))
    corpus.discover = lambda _: iter([corpus.files[f"{folder}/a"]])  # type: ignore[method-assign,assignment]
    ingestion = Ingestion("kb", corpus, HashEmbedder(), store)
    assert report_of(ingestion.run([str(tmp_path / "link")], prune=True)).removed == 1


def test_prune_forgets_what_is_left_out_now(tmp_path: Path) -> None:
    for name in ("a.md", "private.md"):
        (tmp_path / name).write_text(name)
    store = MemoryStore()
    ingestion = Ingestion("kb", LocalCorpus(tokenizer_file()), HashEmbedder(), store)
    assert counts(report_of(ingestion.run([str(tmp_path)]))) == (2, 0, 0, 0)
    (tmp_path / ".localcragignore").write_text("private.md")
    assert counts(report_of(ingestion.run([str(tmp_path)], prune=True))) == (0, 0, 1, 1)
    assert set(store.indexed()) == {str(tmp_path.resolve() / "a.md")}


def test_without_prune_nothing_is_forgotten() -> None:
    store = MemoryStore()
    ingest(store, file("/d/a"), file("/d/b"))
    assert counts(ingest(store, file("/d/a"))) == (0, 0, 1, 0)
    assert len(store.indexed()) == 2


def test_one_bad_file_never_stops_the_rest_and_what_it_had_stays() -> None:
    store = MemoryStore()
    ingest(store, file("/d/a", "old"))
    bad = file("/d/a", "new!", error="encrypted PDF", mtime_ns=2)
    report = ingest(store, bad, file("/d/b"))
    assert report.skipped == (Skipped("/d/a", "encrypted PDF"),)
    assert counts(report) == (1, 0, 0, 0)
    assert store.text(store.indexed()["/d/a"].hash, None) == "old"


@pytest.mark.parametrize("processes", [False, True])
def test_what_was_emptied_is_forgotten_and_what_is_unreadable_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: bool
) -> None:
    if processes:
        monkeypatch.setattr("localcrag.documents.corpus.MAX_BYTES_AT_HAND", -1)
    now = {"blank.md": b" \n", "broken.pdf": b"%PDF-1.4 nothing", "empty.txt": b"", "scan.pdf": pdf([])}
    for name in now:
        (tmp_path / name).write_bytes(pdf(["Old words."]) if name.endswith("pdf") else b"Old words.")
    store = MemoryStore()
    ingestion = Ingestion("kb", LocalCorpus(tokenizer_file()), HashEmbedder(), store)
    assert counts(report_of(ingestion.run([str(tmp_path)]))) == (4, 0, 0, 0)
    for name, data in now.items():
        (tmp_path / name).write_bytes(data)
    report = report_of(ingestion.run([str(tmp_path)]))
    assert counts(report) == (0, 0, 0, 3)
    assert {Path(item.source).name: item.reason for item in report.skipped} == {
        "blank.md": "no text in it",
        "broken.pdf": "damaged PDF",
        "empty.txt": "no text in it",
        "scan.pdf": "PDF without a text layer (scanned?): localcrag[ocr] reads it",
    }
    assert set(store.indexed()) == {str(tmp_path.resolve() / "broken.pdf")}
    assert counts(report_of(ingestion.run([str(tmp_path)], prune=True))) == (0, 0, 0, 0)


def test_what_cannot_be_looked_at_is_reported() -> None:
    unseen = Skipped("/d/locked", "permission denied")
    corpus = ScriptedCorpus(file("/d/a"), unseen=[unseen])
    events = list(Ingestion("kb", corpus, HashEmbedder(), MemoryStore()).run(["/d"]))
    assert SkippedSource(unseen) in events
    assert report_of(events).skipped == (unseen,)


def test_progress_counts_every_source_once() -> None:
    corpus = ScriptedCorpus(file("/d/a", "aa"), file("/d/b", "b", error="broken"), file("/d/c", "ccc"))
    events = list(Ingestion("kb", corpus, HashEmbedder(), MemoryStore()).run(["/d"]))
    assert events[0] == Discovered(3, 6)
    done = [event for event in events if isinstance(event, Progressed)]
    assert {(event.source, event.size, event.outcome) for event in done} == {
        ("/d/a", 2, "added"),
        ("/d/b", 1, "skipped"),
        ("/d/c", 3, "added"),
    }
    assert isinstance(events[-1], Ingested)


def test_an_empty_folder_is_an_error_that_names_it() -> None:
    class Empty(ScriptedCorpus):
        def discover(self, targets: Sequence[Any]):  # type: ignore[no-untyped-def]
            return iter(())

    with pytest.raises(CorpusError, match="no documents in /d"):
        list(Ingestion("kb", Empty(), HashEmbedder(), MemoryStore()).run(["/d"]))


def test_batches_are_bounded_and_a_failed_write_keeps_the_batches_before_it() -> None:
    class Full(MemoryStore):
        writes = 0

        def replace(self, batch) -> None:  # type: ignore[no-untyped-def]
            self.writes += 1
            if self.writes == 2:
                raise StorageFull("no space left")
            super().replace(batch)

    sizes: list[int] = []

    class Counting(HashEmbedder):
        def encode(self, texts: Sequence[str]) -> Vectors:
            sizes.append(len(texts))
            return super().encode(texts)

    text = "\n\n".join(f"paragraph {n}" for n in range(100))
    files = [file(f"/d/{n}", f"{n}\n\n{text}") for n in range(10)]
    store = Full()
    with pytest.raises(StorageFull):
        list(Ingestion("kb", ScriptedCorpus(*files), Counting(), store).run(["/d"]))
    assert max(sizes) < BATCH_PASSAGES + 101
    held = 1
    assert len(store.indexed()) == held, "the first batch is a small one"
    report = report_of(Ingestion("kb", ScriptedCorpus(*files), Counting(), store).run(["/d"]))
    assert counts(report) == (10 - held, 0, held, 0)


def test_a_batch_is_written_while_the_next_is_embedded() -> None:
    written, embedding = threading.Event(), threading.Event()

    class Slow(MemoryStore):
        def replace(self, batch) -> None:  # type: ignore[no-untyped-def]
            if len(self.indexed()) == 0:
                assert embedding.wait(120), "the second batch is embedded meanwhile"
            super().replace(batch)
            written.set()

    calls: list[int] = []

    class Counting(HashEmbedder):
        def encode(self, texts: Sequence[str]) -> Vectors:
            calls.append(len(texts))
            if len(calls) == 2:
                embedding.set()
                assert written.wait(120)
            return super().encode(texts)

    text = "\n\n".join(f"paragraph {n}" for n in range(MIN_BATCH_PASSAGES - 1))
    files = [file(f"/d/{n}", f"{n}\n\n{text}") for n in range(2)]
    events = list(Ingestion("kb", ScriptedCorpus(*files), Counting(), Slow()).run(["/d"]))
    assert counts(report_of(events)) == (2, 0, 0, 0) and len(calls) == 2


def test_a_large_document_is_written_before_the_next_is_embedded() -> None:
    held: list[int] = []
    store = MemoryStore()

    class Looking(HashEmbedder):
        def encode(self, texts: Sequence[str]) -> Vectors:
            held.append(len(store.indexed()))
            return super().encode(texts)

    text = "\n\n".join(f"paragraph {n}" for n in range(LARGE_BATCH_PASSAGES))
    files = [file(f"/d/{n}", f"{n}\n\n{text}") for n in range(3)]
    list(Ingestion("kb", ScriptedCorpus(*files), Looking(), store).run(["/d"]))
    assert list(dict.fromkeys(held)) == [0, 1, 2]


class Steady(HashEmbedder):
    """Embeds 20 passages a second, by a clock of its own."""

    def __init__(self, clock: list[float]) -> None:
        super().__init__()
        self.clock = clock
        self.sizes: list[int] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.sizes.append(len(texts))
        self.clock[0] += len(texts) / 20
        time.sleep(0.05)  # for the writer
        return super().encode(texts)


def test_on_a_slow_machine_an_interruption_costs_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("localcrag.ingestion_batches.perf_counter", lambda: clock[0])
    text = "\n\n".join(f"paragraph {n}" for n in range(9))
    files = [file(f"/d/{n:03}", f"{n}\n\n{text}") for n in range(100)]
    files.append(file("/d/large", "\n\n".join(f"paragraph {n}" for n in range(1000))))
    embedder = Steady(clock)
    committed = []
    events = []
    for event in Ingestion("kb", ScriptedCorpus(*files), embedder, MemoryStore()).run(["/d"]):
        events.append(event)
        if isinstance(event, Progressed) and event.source != "/d/large":
            committed.append(clock[0])
    assert max(embedder.sizes) <= 80 + 10, "four seconds of work, and what the last document had more"
    assert max(later - earlier for earlier, later in pairwise([0.0, *committed])) <= 10
    assert Processing("embedding", "/d/large") in events, "the one that takes longer is named"


def test_the_first_embedding_is_announced_since_the_model_is_loaded_for_it() -> None:
    ingestion = Ingestion("kb", ScriptedCorpus(file("/d/a"), file("/d/b")), HashEmbedder(), MemoryStore())
    events = list(ingestion.run(["/d"]))
    assert [event for event in events if isinstance(event, Processing)] == [Processing("embedding", "/d/a")]
    assert not any(isinstance(event, Processing) for event in ingestion.run(["/d"]))


def test_a_batch_does_not_wait_for_a_document_that_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("localcrag.ingestion_batches.perf_counter", lambda: clock[0])
    store = MemoryStore()
    held = []

    class Held(ScriptedCorpus):
        def read_all(self, wanted: Any) -> Any:
            *others, last = super().read_all(wanted)
            yield from others
            for _ in range(9):
                clock[0] += 1.0
                yield StillReading("/d/slow")
                held.append(len(store.indexed()))
            yield last

    ingestion = Ingestion("kb", Held(file("/d/a"), file("/d/b"), file("/d/slow")), HashEmbedder(), store)
    events = list(ingestion.run(["/d"]))
    assert held[0] == 0 and held[-1] == 2 and counts(report_of(events)) == (3, 0, 0, 0)
    assert events.count(Processing("reading", "/d/slow")) == 9


def test_prune_does_not_empty_a_folder_unless_told(tmp_path: Path) -> None:
    """As of a disk that is not mounted."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk/a.txt").write_text("Herons stand in the reeds.")
    store = MemoryStore()
    ingestion = Ingestion("kb", LocalCorpus(tokenizer_file()), HashEmbedder(), store)
    target = [str(tmp_path / "disk")]
    assert counts(report_of(ingestion.run(target))) == (1, 0, 0, 0)
    (tmp_path / "disk/a.txt").unlink()
    with pytest.raises(PruneRefused, match="the document of it would be forgotten") as caught:
        list(ingestion.run(target, prune=True))
    assert "--prune-empty" in caught.value.hint and len(store.indexed()) == 1
    (tmp_path / "disk/link").symlink_to("nowhere")
    with pytest.raises(PruneRefused):
        list(ingestion.run(target, prune=True))
    assert counts(report_of(ingestion.run(target, prune="empty"))) == (0, 0, 0, 1)
    assert counts(report_of(ingestion.run(target, prune=True))) == (0, 0, 0, 0)


def test_who_stops_listening_keeps_what_was_written() -> None:
    text = "\n\n".join(f"paragraph {n}" for n in range(BATCH_PASSAGES))
    files = [file(f"/d/{n}", f"{n}\n\n{text}") for n in range(4)]
    store = MemoryStore()
    events = Ingestion("kb", ScriptedCorpus(*files), HashEmbedder(), store).run(["/d"])
    assert next(event for event in events if isinstance(event, Progressed)).source == "/d/0"
    events.close()  # type: ignore[attr-defined]
    held = len(store.indexed())
    assert 1 <= held <= 2
    report = report_of(Ingestion("kb", ScriptedCorpus(*files), HashEmbedder(), store).run(["/d"]))
    assert counts(report) == (4 - held, 0, held, 0)


SLOW = """if True:
    import sys, time
    from pathlib import Path
    from localcrag import ingestion_batches
    from localcrag.documents import LocalCorpus, corpus, prefetch
    from localcrag.store.knowledge_bases import KnowledgeBases
    from localcrag.ingestion import Ingestion
    from tests.documents.conftest import tokenizer_file
    from tests.fakes.store import HashEmbedder

    calls = []

    class Slow(HashEmbedder):
        def encode(self, texts):
            calls.append(len(texts))
            if len(calls) == 2 and len(sys.argv) == 4:
                while not store.indexed():
                    time.sleep(0.1)
                print("the first batch is written", flush=True)
                time.sleep(600)
            return super().encode(texts)

    corpus.MAX_BYTES_AT_HAND, prefetch.cores = -1, lambda: 2
    ingestion_batches.BATCH_PASSAGES = 256  # so that the second batch is full long before all is read
    store = KnowledgeBases(Path(sys.argv[1])).create("kb", "hash", 64)
    try:
        for event in Ingestion("kb", LocalCorpus(tokenizer_file()), Slow(), store).run([sys.argv[2]]):
            pass
    except KeyboardInterrupt:
        sys.exit(130)
    print(event.report.added, event.report.unchanged, event.report.skipped)
"""


def children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # a thread that ended meanwhile
            found += map(int, (task / "children").read_text().split())
    return found


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are looked for in /proc")
@pytest.mark.parametrize(("sign", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_ended_while_other_processes_read_it_leaves_none_and_can_be_run_again(
    tmp_path: Path, sign: signal.Signals, code: int
) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    count = MIN_FILES_FOR_SEVERAL
    for n in range(count):
        (folder / f"{n}.txt").write_text(f"Document {n} speaks of herons.")
    command = [sys.executable, "-c", SLOW, str(tmp_path / "home"), str(folder)]
    process = subprocess.Popen([*command, "wait"], stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "the first batch is written\n"
    readers = children(process.pid)
    assert 1 <= len(readers) <= 2
    (os.killpg if sign is signal.SIGINT else os.kill)(process.pid, sign)
    assert process.wait(240) == code
    process.stdout.close()
    assert soon(lambda: all(map(gone, readers)))
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    added, unchanged, skipped = again.stdout.splitlines()[-1].split(maxsplit=2)
    assert int(unchanged) >= MIN_BATCH_PASSAGES and int(added) + int(unchanged) == count and skipped == "()"


def test_the_json_has_the_promised_fields() -> None:
    report = ingest(MemoryStore(), file("/d/a"), file("/d/b", error="broken"))
    found: Mapping[str, object] = report.to_dict()
    assert list(found) == [
        "kb", "added", "changed", "unchanged", "removed", "passages", "skipped", "seconds", "questions",
        "left_out", "moved", "gone", "not_english",
    ]  # fmt: skip
    assert found["skipped"] == [{"source": "/d/b", "reason": "broken"}]
