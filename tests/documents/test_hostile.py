"""Documents that are made to hang a parser, to eat the memory, or to take time beyond their size."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from localcrag.documents import LocalCorpus, LocalFile, process_pool
from localcrag.documents.prose_blocks import prose_blocks
from localcrag.types import ReadResult, StillReading
from tests.documents.builders import FOX, pdf
from tests.documents.test_read_all import ROOT, gone, soon

MEBIBYTE = 1024 * 1024
PAGES = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>"]
FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F %d 0 R>>>>"
IN_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited there only")


def written(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, the first of which is its root."""
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(places) + 1, len(out))
    return out + head + table + tail


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<<%b/Length %d>>stream\n%b\nendstream" % (entries, len(data), data)


def page(resources: bytes = b"") -> bytes:
    box = b"/MediaBox[0 0 99 99]/Contents 4 0 R"
    return b"<</Type/Page/Parent 2 0 R%b/Resources<<%b>>>>" % (box, resources)


def drawing_itself_twice() -> bytes:
    draws = page(b"/XObject<</F 5 0 R>>")
    return written([*PAGES, draws, stream(b"/F Do"), stream(b"/F Do /F Do", FORM % 5)])


def doubling(levels: int = 40) -> bytes:
    """A form that draws another one twice, which draws another one twice, and so on."""
    forms = [stream(b"/F Do /F Do", FORM % (6 + level)) for level in range(levels)]
    last = stream(b"q Q", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]")
    return written([*PAGES, page(b"/XObject<</F 5 0 R>>"), stream(b"/F Do"), *forms, last])


def nested_flate(size: int = 3 << 30) -> bytes:
    """A content stream of blanks, compressed until it has a few hundred bytes."""
    packer = zlib.compressobj(9)
    first, again = (packer.compress(b" " * (1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    data = first + again * ((size >> 24) - 1) + packer.flush()
    filters = b"/FlateDecode "
    while len(data) > 3000:
        data, filters = zlib.compress(data, 9), filters + b"/FlateDecode "
    return written([*PAGES, page(), stream(data, b"/Filter[%b]" % filters)])


def put(folder: Path, **contents: bytes | str) -> list[LocalFile]:
    """Files of these contents; the last underscore of a name stands for the dot."""
    found = []
    for key, content in contents.items():
        path = folder / ".".join(key.rsplit("_", 1))
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        info = path.stat()
        found.append(LocalFile(str(path), str(path), info.st_size, info.st_mtime_ns))
    return found


def results(corpus: LocalCorpus, files: Sequence[LocalFile]) -> dict[str, ReadResult]:
    read = corpus.read_all([(file, {}) for file in files])
    return {Path(found.source).name: found for found in read if isinstance(found, ReadResult)}


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "MAX_READ_SECONDS", 2.0)
    monkeypatch.setattr(process_pool, "MAX_READ_MEMORY", 400 * MEBIBYTE)


@pytest.mark.parametrize("hostile", [drawing_itself_twice, doubling, nested_flate])
def test_a_pdf_that_hangs_or_eats_the_memory_costs_itself_only(
    corpus: LocalCorpus, hurried: None, tmp_path: Path, hostile: Any
) -> None:
    files = put(tmp_path, a_pdf=pdf([FOX]), hostile_pdf=hostile(), b_html=f"<p>{FOX}", c_txt=FOX)
    assert files[1].size < 10_000
    found = results(corpus, files)
    assert [name for name, result in found.items() if result.document is None] == ["hostile.pdf"]
    reason = found["hostile.pdf"].reason
    assert reason.startswith("reading it ") and len(reason.splitlines()) == 1
    assert any(word in reason for word in ("given up after", "GiB of memory", "memory short"))


@IN_LINUX
@pytest.mark.parametrize("limit", [0, 3 << 30])
def test_memory_is_limited_under_a_limit_of_the_user_too(tmp_path: Path, tokenizer: Path, limit: int) -> None:
    put(tmp_path, a_txt=FOX, flate_pdf=nested_flate(), z_html=f"<p>{FOX}")
    code = f"""if True:
        import resource
        from pathlib import Path
        from localcrag.documents import LocalCorpus
        from localcrag.types import ReadResult
        if {limit}:
            resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
        corpus = LocalCorpus(Path({str(tokenizer)!r}))
        for found in corpus.read_all([(file, {{}}) for file in corpus.discover([{str(tmp_path)!r}])]):
            if isinstance(found, ReadResult):
                print(Path(found.source).name, "read" if found.document else found.reason, flush=True)
        print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    """
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    lines = dict(line.split(" ", 1) for line in out.stdout.splitlines())
    assert (lines["a.txt"], lines["z.html"]) == ("read", "read")
    assert "memory" in lines["flate.pdf"]
    assert int(lines["peak"]) * 1024 < 1536 * MEBIBYTE


@pytest.mark.parametrize(
    "content",
    [
        "<table><tr>" + "<td colspan=1000 rowspan=1000>x" * 300 + "</table>",
        "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">text</p>",
        "<p>a" * 20_000,
        "<table><tr><td>" * 200 + "x",
    ],
)
def test_html_takes_time_in_proportion_to_its_size(corpus: LocalCorpus, tmp_path: Path, content: str) -> None:
    (found,) = results(corpus, put(tmp_path, x_html=content)).values()
    assert found.document, found.reason


def test_a_mail_to_very_many_is_read(corpus: LocalCorpus, tmp_path: Path) -> None:
    to = ", ".join(f"name{n}@example.org" for n in range(50_000))
    mail = f"From: a@b.c\nTo: {to}\nSubject: x\n\n{FOX}"
    (found,) = results(corpus, put(tmp_path, x_eml=mail)).values()
    assert found.document and FOX in found.document.pages[0].text


def test_blanks_take_no_time() -> None:
    began = time.process_time()
    assert prose_blocks("\t" * 200_000 + "\n" + " " * 200_000) == ()
    assert time.process_time() - began < 5, "an hour, if each blank is a beginning of its own"


def test_a_name_does_not_bring_another_format_into_this_process(
    corpus: LocalCorpus, hurried: None, tmp_path: Path
) -> None:
    (found,) = results(corpus, put(tmp_path, x_txt=drawing_itself_twice())).values()
    assert found.reason.startswith("reading it ")
    (late,) = put(tmp_path, y_txt=FOX)
    Path(late.path).write_bytes(pdf([FOX]))
    assert corpus._reading(late, {}, plain=True).reason == "it changed while it was read"


def test_the_one_that_takes_long_is_named(
    corpus: LocalCorpus, hurried: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_pool, "MAX_READ_MEMORY", 8 << 30)  # so that it is the time that ends it
    files = put(tmp_path, a_html=FOX, hang_pdf=doubling())
    read = corpus.read_all([(file, {}) for file in files])
    named = {Path(item.source).name for item in read if isinstance(item, StillReading)}
    assert "hang.pdf" in named


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_does_not_wait_for_a_parser(tmp_path: Path, tokenizer: Path, sign: signal.Signals) -> None:
    put(tmp_path, hang_pdf=doubling())
    code = f"""if True:
        from pathlib import Path
        from localcrag.documents import LocalCorpus
        corpus = LocalCorpus(Path({str(tokenizer)!r}))
        reading = corpus.read_all([(file, {{}}) for file in corpus.discover([{str(tmp_path)!r}])])
        next(reading)
        pool = reading.gi_frame.f_locals["pool"]
        child, = [process._child for process in pool._pool._processes if process._child]
        try:
            print(child.pid, flush=True)
            list(reading)
        except KeyboardInterrupt:
            reading.close()
            raise SystemExit(130)
    """
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    reader = int(process.stdout.readline())
    began = time.monotonic()
    os.kill(process.pid, sign)
    assert process.wait(60) == (130 if sign is signal.SIGINT else -sign)
    assert time.monotonic() - began < 15, "a fraction of a second on a machine with nothing else to do"
    process.stdout.close()
    assert soon(lambda: gone(reader), 60)
