"""A process that reads documents for another one, until that one closes the pipe or is gone.

It imports what reads and cuts, and nothing of torch or LanceDB. It obeys the offline guard by the
environment. Whatever a library prints goes nowhere: stdout is the pipe, kept apart before anything
else runs. Ctrl-C is for the process that wants the documents.
"""

from __future__ import annotations

import os
import signal
import sys
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any

from localcrag.documents import message_frames
from localcrag.egress import obey_environment
from localcrag.errors import UnreadableError
from localcrag.types import Document, ReadResult

READY = "ready"


def main() -> None:
    """Answers (file, meta) with (ReadResult without its passages, cuts), or with the exception it met."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    obey_environment()
    jobs: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, jobs), daemon=True).start()

    from localcrag.documents.corpus import LocalCorpus

    corpus = LocalCorpus(**jobs.get())
    message_frames.send(out, READY)
    while True:
        file, meta = jobs.get()
        message_frames.send(out, _answer(corpus, file, meta))


def _listen(stream: IO[bytes], jobs: SimpleQueue[Any]) -> None:
    """In a thread, so that the end of the other process ends this one in the middle of a document, too."""
    try:
        while True:
            jobs.put(message_frames.receive(stream))
    except (EOFError, OSError):
        os._exit(0)


def _answer(corpus: Any, file: Any, meta: Any) -> object:
    document: Document | None = None
    try:
        document = corpus.read(file, meta)
        return ReadResult(file.source, document), corpus.cuts(document)
    except UnreadableError as error:
        return ReadResult(file.source, None, reason=str(error)), []
    except MemoryError:
        return ReadResult(file.source, None, reason="not enough memory to read it"), []
    except Exception as error:  # noqa: BLE001 - it is raised again where the document is wanted
        return _portable(error)


def _portable(error: Exception) -> Exception:
    """The error with where it was raised, or one that says the same where it cannot be pickled."""
    import pickle
    import traceback

    error.add_note("In a process that reads documents:\n" + "".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever a foreign exception does when it is copied
        return RuntimeError("".join(traceback.format_exception(error)))
    return error
