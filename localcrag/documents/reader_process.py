"""The program of a process that reads documents, until its parent closes the pipe or ends.

It imports the readers and the splitter, but neither torch nor LanceDB. The environment tells it whether
it is offline. Its stdout is the pipe to the parent, so the descriptor is moved before anything else runs,
and the output of libraries goes to stderr, which is discarded. It ignores Ctrl-C, which the parent handles.
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
    """Read the settings of the corpus from stdin, then answer jobs until the pipe is closed.

    A job is ``(file, meta)``. Its answer is ``(ReadResult without passages, cuts)``, or the exception that
    was raised.
    """
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
    """Put the frames of ``stream`` into ``jobs``; end this process when the parent is gone.

    It runs in a thread, so that the process ends in the middle of a document, too.
    """
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
    except Exception as error:  # noqa: BLE001 - it is raised again in the parent process
        return _portable(error)


def _portable(error: Exception) -> Exception:
    """The error with its traceback as a note, or a RuntimeError with that text if it cannot be pickled."""
    import pickle
    import traceback

    error.add_note("In a process that reads documents:\n" + "".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever a foreign exception does when it is copied
        return RuntimeError("".join(traceback.format_exception(error)))
    return error
