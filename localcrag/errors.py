"""Every error that localcrag raises on purpose.

::

    LocalCragError                  exit code 1
    ├── UsageError                  2   the call itself is wrong (an empty question, a bad option value)
    │   └── FilterError             2   a filter that does not parse, or names an unknown field
    ├── SettingsError               1   a configuration file or variable that cannot be understood
    ├── OfflineError                1   a connection was refused because localcrag is offline
    ├── CorpusError                 1   documents
    │   └── UnreadableError         1   one source cannot be read: the ingestion skips it and goes on
    ├── StoreError                  1   the knowledge base
    │   ├── UnknownKnowledgeBase    1
    │   ├── UnknownThread           1
    │   ├── EmbeddingMismatch       1   made with another embedding model
    │   └── StorageFull             1   no space left on the device
    ├── ModelError                  1   a model file or what it produced
    │   ├── ModelNotFound           1
    │   ├── ModelFileError          1   truncated, not a GGUF, or of another kind than is needed
    │   ├── ContextOverflow         1   a prompt that cannot fit the context
    │   └── ConstraintError         1   a constrained output that did not hold its constraint
    ├── WarmError                   1   the warm process cannot run here, or ended in the middle of an answer
    ├── EvaluationError             1   a question set that cannot be used for what was asked
    └── WebError                    1   SearXNG and page fetches
        ├── WebNotConfigured        1
        ├── ServerDown              1
        ├── JsonDisabled            1
        ├── RateLimited             1
        ├── EnginesFailed           1
        ├── BadReply                1   a reply that is not SearXNG's JSON
        ├── FetchRefused            1   a page that may not, or could not, be fetched
        └── LedgerError             1   what would leave cannot be written down, so it does not leave

Each carries one line that says what and why, and a ``hint``: what to do now.
"""

from __future__ import annotations


class LocalCragError(Exception):
    """Base of all; ``str(error)`` is one line, ``error.hint`` the next step ("" where there is none)."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(LocalCragError):
    exit_code = 2


class FilterError(UsageError):
    pass


class SettingsError(LocalCragError):
    pass


class OfflineError(LocalCragError):
    pass


class CorpusError(LocalCragError):
    pass


class UnreadableError(CorpusError):
    pass


class StoreError(LocalCragError):
    pass


class UnknownKnowledgeBase(StoreError):
    pass


class UnknownThread(StoreError):
    """There is no conversation of that name."""


class EmbeddingMismatch(StoreError):
    pass


class StorageFull(StoreError):
    pass


class ModelError(LocalCragError):
    pass


class ModelNotFound(ModelError):
    pass


class ModelFileError(ModelError):
    pass


class ContextOverflow(ModelError):
    pass


class ConstraintError(ModelError):
    pass


class WarmError(LocalCragError):
    """The warm process cannot run here, or ended in the middle of an answer that cannot be gone on with."""


class EvaluationError(LocalCragError):
    pass


class WebError(LocalCragError):
    pass


class WebNotConfigured(WebError):
    pass


class ServerDown(WebError):
    pass


class JsonDisabled(WebError):
    pass


class RateLimited(WebError):
    pass


class EnginesFailed(WebError):
    pass


class BadReply(WebError):
    pass


class FetchRefused(WebError):
    pass


class LedgerError(WebError):
    pass
