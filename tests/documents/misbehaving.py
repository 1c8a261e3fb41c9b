"""What runs in a reading process of the tests: the real one, with parsers that do what parsers do."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import time
from pathlib import Path

from localcrag.documents.corpus import LocalCorpus
from localcrag.isolation.isolated_program import allow_more_time
from localcrag.protocols import SourceFile
from localcrag.types import NO_META, Document, Meta, Page

HEAVY = ("torch", "transformers", "sentence_transformers", "lancedb", "pyarrow", "llama_cpp", "numpy")
PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; import tests.documents.misbehaving as wrong; wrong.install();"
    "from localcrag.documents.reader_process import main; main()"
)

_read = LocalCorpus.read


def install() -> None:
    LocalCorpus.read = read  # type: ignore[method-assign,assignment]


def read(corpus: LocalCorpus, source: SourceFile, meta: Meta = NO_META) -> Document:
    """By the file's name; any other is read as it should be."""
    match os.path.basename(source.source).partition(".")[0]:  # noqa: PTH119
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "hang":
            Path(f"{source.source}.begun").touch()
            time.sleep(600)
        case "spin":
            re.match("(a+)+$", "a" * 64 + "b")  # Python runs nothing else meanwhile
        case "patient":
            allow_more_time(60.0)
            end = time.process_time() + 3
            while time.process_time() < end:
                pass
        case "noise":
            print("noise", flush=True)
            os.write(1, b"more noise")
        case "connect":
            socket.create_connection(("192.0.2.1", 9), timeout=1)
        case "bug":
            raise ZeroDivisionError("a mistake of ours")
        case "memory":
            raise MemoryError
        case "modules":
            _read(corpus, source, meta)
            found = ", ".join(name for name in HEAVY if name in sys.modules) or "none of them"
            return Document(source.source, "0" * 64, "modules", "text/plain", (Page(None, found),), meta)
        case "pid":
            return Document(
                source.source, "0" * 64, "pid", "text/plain", (Page(None, str(os.getpid())),), meta
            )
    return _read(corpus, source, meta)
