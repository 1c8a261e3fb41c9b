"""Many documents at once: read in processes of their own, each on its own risk, and none left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from localcrag.documents import LocalCorpus, LocalFile, prefetch, process_pool
from localcrag.documents import corpus as corpus_module
from localcrag.documents.prefetch import read_ahead
from localcrag.egress import OFFLINE_VARIABLE, offline
from localcrag.errors import CorpusError, OfflineError
from localcrag.types import NO_META, ReadResult, StillReading
from tests.documents import misbehaving
from tests.documents.builders import FOX, nested_mail, pdf

ROOT = Path(__file__).parents[2]
MEBIBYTE = 1024 * 1024


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Even one small file is read in another process; the ids of those that were started."""
    started: list[int] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            started.append(self.pid)

    monkeypatch.setattr(corpus_module, "MAX_BYTES_AT_HAND", -1)
    monkeypatch.setattr(prefetch, "cores", lambda: 2)
    monkeypatch.setattr(subprocess, "Popen", Noted)
    return started


@pytest.fixture
def misbehave(processes: list[int], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.setattr(process_pool, "_PROGRAM", misbehaving.PROGRAM)
    return processes


def files(folder: Path, *names: str) -> list[LocalFile]:
    found = []
    for name in names:
        (folder / name).write_text(f"{name}. {FOX}")
        info = (folder / name).stat()
        found.append(LocalFile(str(folder / name), str(folder / name), info.st_size, info.st_mtime_ns))
    return found


def readings(corpus: LocalCorpus, found: list[LocalFile]) -> dict[str, ReadResult]:
    read = corpus.read_all([(file, {"team": "x"}) for file in found])
    return {Path(r.source).name: r for r in read if isinstance(r, ReadResult)}


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z"


def soon(condition: Any, seconds: float = 240) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


# ------------------------------------------------------------------------------ what is read


def test_another_process_reads_what_this_one_would(
    corpus: LocalCorpus, processes: list[int], tmp_path: Path
) -> None:
    found = files(tmp_path, "a.md", "b.txt")
    (tmp_path / "p.pdf").write_bytes(pdf([FOX], [FOX]))
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    found += [LocalFile(str(p), str(p), 100, 1) for p in (tmp_path / "p.pdf", tmp_path / "broken.pdf")]
    apart_ = readings(corpus, found)
    assert 1 <= len(processes) <= 2 and all(map(gone, processes))
    assert apart_.pop("broken.pdf") == ReadResult(str(tmp_path / "broken.pdf"), None, reason="damaged PDF")
    for file in found[:3]:
        document = corpus.read(file, {"team": "x"})
        assert apart_[file.name] == ReadResult(file.source, document, corpus.split(document))


@pytest.mark.parametrize("apart_", [False, True])
def test_a_hostile_mail_costs_itself_only(
    corpus: LocalCorpus, request: pytest.FixtureRequest, tmp_path: Path, apart_: bool
) -> None:
    started = request.getfixturevalue("processes") if apart_ else []
    found = files(tmp_path, "a.txt", "deep.eml", "b.txt")
    (tmp_path / "deep.eml").write_bytes(nested_mail(1500))
    read = readings(corpus, found)
    assert read["deep.eml"].reason == "mail nested too deeply" and bool(started) == apart_
    assert read["a.txt"].document and read["b.txt"].document


def test_a_little_starts_no_process(
    corpus: LocalCorpus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    assert list(readings(corpus, files(tmp_path, "a.txt", "b.txt"))) == ["a.txt", "b.txt"]


def test_how_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    for cores in (1, 4, 64):
        monkeypatch.setattr(prefetch, "cores", lambda cores=cores: cores)
        counted.append(prefetch.most_processes())
    assert counted == [2, 4, prefetch.MAX_PROCESSES]
    assert not prefetch.pays_several([1000] * 50)
    assert prefetch.pays_several([1000] * 2000) and prefetch.pays_several([5 * MEBIBYTE])


def test_where_python_cannot_be_started_again_it_reads_itself(
    corpus: LocalCorpus, processes: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert set(readings(corpus, files(tmp_path, "a.txt"))) == {"a.txt"} and not processes


# ------------------------------------------------------------------------------ parsers that misbehave


def test_a_crash_skips_its_file_and_no_other(
    corpus: LocalCorpus, misbehave: list[int], tmp_path: Path
) -> None:
    names = ["a.txt", "crash.txt", "b.txt", "crash.again.txt", "c.txt", "d.txt"]
    found = readings(corpus, files(tmp_path, *names))
    assert {name for name, reading in found.items() if reading.document} == {
        "a.txt", "b.txt", "c.txt", "d.txt",
    }  # fmt: skip
    for name in ("crash.txt", "crash.again.txt"):
        assert found[name].reason == "reading it ended the process that did (SIGSEGV)"
    assert all(map(gone, misbehave))


def test_a_parser_that_never_ends_is_given_up(
    corpus: LocalCorpus, misbehave: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process_pool, "MAX_READ_SECONDS", 1.0)
    hanging, *others = files(tmp_path, "hang.txt", "a.txt", "b.txt")
    patient = [replace(file, size=10 * MEBIBYTE) for file in others]  # a busy machine may need it
    found = readings(corpus, [hanging, *patient])
    assert found["hang.txt"].reason == "reading it was given up after 3 s"
    assert found["a.txt"].document and found["b.txt"].document and all(map(gone, misbehave))


def test_a_reader_that_knows_of_more_work_gets_more_time(
    corpus: LocalCorpus, misbehave: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process_pool, "MAX_READ_SECONDS", 1.0)
    assert readings(corpus, files(tmp_path, "patient.txt"))["patient.txt"].document


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of processor time")
def test_a_parser_that_lets_nothing_else_run_ends_even_without_its_parent(
    misbehave: list[int], monkeypatch: pytest.MonkeyPatch, tokenizer: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr(process_pool, "MAX_READ_SECONDS", 1.0)
    (spinning,) = files(tmp_path, "spin.txt")
    with process_pool.ReaderPool(1, {"tokenizer": tokenizer}) as readers:
        monkeypatch.setattr(readers._pool._processes[0], "end_if_overdue", lambda: None)
        assert "was given up after" in readers.read(spinning, NO_META).reason
    assert soon(lambda: all(map(gone, misbehave)))


def test_a_killed_process_is_replaced(corpus: LocalCorpus, misbehave: list[int], tmp_path: Path) -> None:
    """As the system does when memory runs out: here while a document is being read."""
    found = files(tmp_path, "hang.txt", *(f"{n}.txt" for n in range(20)))

    def kill_the_one_that_hangs() -> None:
        soon(lambda: len(taken) == 20 and Path(f"{found[0].source}.begun").exists())
        for pid in misbehave:
            os.kill(pid, signal.SIGKILL)

    taken: list[ReadResult] = []
    killer = threading.Thread(target=kill_the_one_that_hangs)
    killer.start()
    taken.extend(iter_into(taken, corpus.read_all([(file, NO_META) for file in found])))
    killer.join()
    reasons = {Path(r.source).name: r.reason for r in taken if r.document is None}
    assert reasons == {"hang.txt": "reading it ended the process that did (SIGKILL: was memory short?)"}
    assert len(taken) == 21


def iter_into(taken: list[ReadResult], readings: Iterator[ReadResult | StillReading]) -> list[ReadResult]:
    for reading in readings:
        if isinstance(reading, ReadResult):
            taken.append(reading)
    return []


def test_what_a_parser_prints_disturbs_nobody(
    corpus: LocalCorpus, misbehave: list[int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert readings(corpus, files(tmp_path, "noise.txt"))["noise.txt"].document
    assert capfd.readouterr() == ("", "")


def test_the_processes_are_light(corpus: LocalCorpus, misbehave: list[int], tmp_path: Path) -> None:
    document = readings(corpus, files(tmp_path, "modules.txt"))["modules.txt"].document
    assert document and document.pages[0].text == "none of them"


def test_they_are_offline_where_this_process_is(
    corpus: LocalCorpus, misbehave: list[int], tmp_path: Path
) -> None:
    with offline(), pytest.raises(OfflineError) as caught:
        readings(corpus, files(tmp_path, "connect.txt"))
    assert OFFLINE_VARIABLE in caught.value.hint


def test_a_mistake_of_ours_is_not_hidden(corpus: LocalCorpus, misbehave: list[int], tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError, match="a mistake of ours") as caught:
        readings(corpus, files(tmp_path, "bug.txt", "a.txt"))
    assert "misbehaving.py" in "".join(caught.value.__notes__)
    assert soon(lambda: all(map(gone, misbehave)))


def test_too_little_memory_for_one_document(
    corpus: LocalCorpus, misbehave: list[int], tmp_path: Path
) -> None:
    found = readings(corpus, files(tmp_path, "memory.txt", "a.txt"))
    assert found["memory.txt"].reason == "not enough memory to read it" and found["a.txt"].document


def test_a_process_that_cannot_start_says_so(
    corpus: LocalCorpus, processes: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process_pool, "_PROGRAM", "raise SystemExit(7)")
    with pytest.raises(CorpusError, match="cannot be started: exit code 7") as caught:
        readings(corpus, files(tmp_path, "a.txt"))
    assert caught.value.hint


def test_a_process_that_ended_while_it_waited_costs_no_file(
    processes: list[int], tokenizer: Path, tmp_path: Path
) -> None:
    first, second = files(tmp_path, "a.txt", "b.txt")
    with process_pool.ReaderPool(1, {"tokenizer": tokenizer}) as readers:
        assert readers.read(first, NO_META).document
        os.kill(processes[0], signal.SIGKILL)
        child = readers._pool._processes[0]._child
        assert child is not None and soon(lambda: child.poll() is not None)
        assert readers.read(second, NO_META).document
    assert len(processes) == 2


# ------------------------------------------------------------------------------ nobody is left behind


def test_who_stops_taking_leaves_no_process(
    corpus: LocalCorpus, misbehave: list[int], tmp_path: Path
) -> None:
    reading = corpus.read_all([(f, NO_META) for f in files(tmp_path, "a.txt", "hang.txt", "hang.2.txt")])
    assert Path(next(reading).source).name == "a.txt"
    started = time.monotonic()
    reading.close()
    assert time.monotonic() - started < 120  # and not the ten minutes of the one that hangs
    assert soon(lambda: misbehave and all(map(gone, misbehave)))


@pytest.mark.skipif(sys.platform == "win32", reason="there SIGKILL does not exist")
def test_a_killed_parent_leaves_no_process(tmp_path: Path, tokenizer: Path) -> None:
    found = files(tmp_path, "pid.txt", "hang.txt", "hang.2.txt")
    code = f"""if True:
        from pathlib import Path
        from localcrag.documents import LocalCorpus, LocalFile, corpus, prefetch, process_pool
        from localcrag.types import ReadResult
        from tests.documents import misbehaving
        corpus.MAX_BYTES_AT_HAND, prefetch.cores = -1, lambda: 2
        process_pool._PROGRAM = misbehaving.PROGRAM
        wanted = [(LocalFile(p, p, 10, 1), {{}}) for p in {[file.path for file in found]!r}]
        for reading in LocalCorpus(Path({str(tokenizer)!r})).read_all(wanted):
            if isinstance(reading, ReadResult):
                print(reading.document.pages[0].text, flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    reader = int(process.stdout.readline())
    assert soon(lambda: all((tmp_path / f"{name}.begun").exists() for name in ("hang.txt", "hang.2.txt")))
    assert not gone(reader), "it is in the middle of the next document"
    process.kill()
    process.wait()
    process.stdout.close()
    assert soon(lambda: gone(reader))


# ------------------------------------------------------------------------------ how far ahead


@pytest.mark.parametrize(("size", "most"), [(100, prefetch.MAX_FILES_AHEAD), (20 * MEBIBYTE, 1), (0, 4)])
def test_reading_ahead_is_bounded_by_files_and_by_bytes(size: int, most: int) -> None:
    begun = []
    together = threading.Semaphore(0)

    def read(file: Any, meta: Any) -> ReadResult:
        begun.append(file.source)
        together.release()
        return ReadResult(file.source, None, reason="nothing")

    wanted = [(LocalFile(str(n), str(n), size, 1), NO_META) for n in range(prefetch.MAX_FILES_AHEAD + 200)]
    reading = read_ahead(wanted, read)
    assert next(reading).source == "0"
    for _ in range(most):
        together.acquire(timeout=240)
    time.sleep(0.2)
    assert len(begun) <= most + 1
    assert [r.source for r in reading] == [file.source for file, _ in wanted[1:]]
