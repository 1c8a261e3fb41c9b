"""The program of a process that reads documents, see :mod:`localcrag.isolation.isolated_program`.

It imports the readers and the splitter, but neither torch nor LanceDB.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from localcrag.errors import CorpusError, UnreadableError
from localcrag.isolation import isolated_program
from localcrag.types import Document, ReadResult

if TYPE_CHECKING:
    from localcrag.token_sums import TokenSums


def main() -> None:
    """Answer jobs ``(file, meta)``, with a corpus made of the setting.

    An answer is ``(ReadResult without passages, cuts)``, or the exception that was raised. If the setting
    names a file of ``token_vectors``, the result has the vectors of the passages.
    """
    isolated_program.run(_prepare)


def _prepare(setting: Any) -> isolated_program.Answer:
    from localcrag.documents.corpus import LocalCorpus
    from localcrag.documents.splitting import load_tokenizer, word_cache

    token_vectors = setting.pop("token_vectors", None)
    corpus, sums = LocalCorpus(**setting), None
    with contextlib.suppress(CorpusError):  # it is the first document's to say so
        tokenizer = load_tokenizer(setting["tokenizer"])
        if token_vectors is not None:
            from localcrag.token_sums import TokenSums

            sums = TokenSums(token_vectors, tokenizer, word_cache(tokenizer))
    return lambda job: _answer(corpus, sums, *job)


def _answer(corpus: Any, sums: TokenSums | None, file: Any, meta: Any) -> object:
    from localcrag.documents.splitting import passages_at

    document: Document | None = None
    try:
        document = corpus.read(file, meta)
        cuts = corpus.cuts(document)
        if sums is None or not cuts:
            return ReadResult(file.source, document), cuts
        vectors = sums.vectors([passage.searchable for passage in passages_at(document, cuts)])
        return ReadResult(file.source, document, vectors=vectors), cuts
    except UnreadableError as error:
        return ReadResult(file.source, None, reason=str(error)), []
    except MemoryError:
        return ReadResult(file.source, None, reason="not enough memory to read it"), []
