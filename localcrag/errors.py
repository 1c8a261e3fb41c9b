"""The errors that localcrag raises on purpose.

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
    │   ├── DamagedKnowledgeBase    1   a part of it is missing, or is not as it was written
    │   ├── DocumentGone            1   changed or removed since it was found
    │   ├── UnknownThread           1
    │   ├── ArchiveError            1   a file that is no whole archive of a knowledge base
    │   ├── EmbeddingMismatch       1   made with another embedding model
    │   ├── ObjectStorageError      1   object storage that cannot be used, or does not do what is needed
    │   └── StorageFull             1   no space left on the device
    ├── ModelError                  1   a model file, or the output of a model
    │   ├── ModelNotFound           1
    │   │   └── ModelNotInstalled   1   the package that carries the model is not installed
    │   ├── ModelFileError          1   truncated, not a GGUF, or of another kind than is needed
    │   ├── ContextOverflow         1   a prompt that cannot fit the context
    │   ├── ConstraintError         1   a constrained output that did not hold its constraint
    │   └── ModelServerError        1   a model server that cannot be used, or does not do what is needed
    ├── BundleError                 1   a bundle that cannot be made, or is not as it was made
    ├── ClusterError                1   a Ray cluster cannot be used, or a node of it cannot do its part
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
        └── LedgerError             1   a request cannot be recorded, so nothing is sent

Each has a message of one line that says what failed and why, and a ``hint`` for what to do now.
"""

from __future__ import annotations


class LocalCragError(Exception):
    """The base of all errors of localcrag.

    ``str(error)`` is one line that says what failed and why; ``error.hint`` is the next step for the user, or
    "" if there is none. ``exit_code`` is the exit code of a command that ends with the error.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(LocalCragError):
    """Raised if the call itself is wrong, for example an empty question or an unknown value of an option."""

    exit_code = 2


class FilterError(UsageError):
    """Raised for a filter that cannot be parsed, or that names a field no document has."""


class SettingsError(LocalCragError):
    """Raised for a configuration file or a ``LOCALCRAG_*`` variable that cannot be understood."""


class OfflineError(LocalCragError):
    """Raised for a connection that is refused because localcrag is offline."""


class CorpusError(LocalCragError):
    """Raised if a target of an ingestion does not exist, or if there are no documents in it."""


class PruneRefused(CorpusError):
    """Raised if pruning would forget all documents of a folder, which may be a disk that is not mounted."""


class UnreadableError(CorpusError):
    """Raised for one source that cannot be read; the ingestion skips it and goes on."""


class StoreError(LocalCragError):
    """Raised if a knowledge base or the file of conversations cannot be read or written."""


class UnknownKnowledgeBase(StoreError):
    """Raised if there is no knowledge base of the given name."""


class DamagedKnowledgeBase(StoreError):
    """Raised if a part of a knowledge base is missing, or is not as it was written."""


class DocumentGone(StoreError):
    """Raised for a document that was changed in the knowledge base, or removed, since it was found."""


class UnknownThread(StoreError):
    """Raised if there is no conversation of the given name."""


class ArchiveError(StoreError):
    """Raised for a file that is no archive of a knowledge base, or not a whole one."""


class EmbeddingMismatch(StoreError):
    """Raised if a knowledge base was made with another embedding model than the one in use."""


class ObjectStorageError(StoreError):
    """Raised if object storage cannot be reached, refuses, or does not do what is needed."""


class StorageFull(StoreError):
    """Raised if no space is left on the device while a knowledge base is written."""


class ModelError(LocalCragError):
    """Raised if a model cannot do its work; the base of all errors of models."""


class ModelNotFound(ModelError):
    """Raised if there is no model of the given name, or its file does not exist."""


class ModelNotInstalled(ModelNotFound):
    """Raised if the Python package that carries a model is not installed."""


class ModelFileError(ModelError):
    """Raised for a file of or about models that cannot be used: damaged, not a GGUF, or of another kind."""


class ContextOverflow(ModelError):
    """Raised for a prompt that does not fit the context window of the model."""


class ConstraintError(ModelError):
    """Raised if a constraint cannot be made, or the output of the model does not hold it."""


class ModelServerError(ModelError):
    """Raised if a model server cannot be reached, refuses, or does not do what is needed."""


class BundleError(LocalCragError):
    """Raised if a bundle cannot be made, is none, or is not as it was made."""


class ClusterError(LocalCragError):
    """Raised if a Ray cluster cannot be used, or a node of it cannot do its part."""


class WarmError(LocalCragError):
    """Raised if the warm process cannot run here, or ended in the middle of an answer."""


class EvaluationError(LocalCragError):
    """Raised if a question set, or the grades of its questions, cannot be used for what was asked."""


class WebError(LocalCragError):
    """Raised if a web search or the fetch of a page fails; the base of all errors of the web."""


class WebNotConfigured(WebError):
    """Raised if the web was asked for and no SearXNG is configured, or its configuration cannot be used."""


class ServerDown(WebError):
    """Raised if the SearXNG server cannot be reached."""


class JsonDisabled(WebError):
    """Raised if the SearXNG server does not give out JSON (status 403)."""


class RateLimited(WebError):
    """Raised if the SearXNG server limits its users (status 429)."""


class EnginesFailed(WebError):
    """Raised if every search engine of the SearXNG server failed."""


class BadReply(WebError):
    """Raised for a reply that is not the JSON of a SearXNG server."""


class FetchRefused(WebError):
    """Raised for a page that may not, or could not, be fetched."""


class LedgerError(WebError):
    """Raised if the record of a request cannot be written or read; without a record nothing is sent."""
