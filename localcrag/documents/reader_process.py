"""The program of a process that reads documents, see :mod:`localcrag.isolation.isolated_program`.

It imports the readers and the splitter, but neither torch nor LanceDB.
"""

from __future__ import annotations

import contextlib
from typing import Any

from localcrag.errors import CorpusError, UnreadableError
from localcrag.isolation import isolated_program
from localcrag.types import Document, ReadResult


def main() -> None:
    """Answer jobs ``(file, meta)``, with a corpus made of the setting.

    An answer is ``(ReadResult without passages, cuts)``, or the exception that was raised.
    """
    isolated_program.run(_prepare)


def _prepare(setting: Any) -> isolated_program.Answer:
    from localcrag.documents.corpus import LocalCorpus
    from localcrag.documents.splitting import load_tokenizer

    corpus = LocalCorpus(**setting)
    with contextlib.suppress(CorpusError):  # it is the first document's to say so
        load_tokenizer(setting["tokenizer"])
    return lambda job: _answer(corpus, *job)


def _answer(corpus: Any, file: Any, meta: Any) -> object:
    document: Document | None = None
    try:
        document = corpus.read(file, meta)
        return ReadResult(file.source, document), corpus.cuts(document)
    except UnreadableError as error:
        return ReadResult(file.source, None, reason=str(error)), []
    except MemoryError:
        return ReadResult(file.source, None, reason="not enough memory to read it"), []
