"""What the troubleshooting page says where the code has no words of its own.

``CLASSES`` introduces every error class. ``NEXT_STEP`` is for a message without a hint: by its text, or by
its class where the same step helps against all of them.
"""

from __future__ import annotations

CLASSES = {
    "UsageError": "The command line or the call is wrong. Exit code 2.",
    "FilterError": "A `--filter` cannot be understood. Exit code 2. The column counts from 1.",
    "SettingsError": "The configuration file or a `LOCALCRAG_*` variable cannot be understood.",
    "OfflineError": "A connection was refused because localcrag is offline.",
    "CorpusError": "What you named cannot be found, or cannot be read at all.",
    "PruneRefused": "All documents of a folder would be forgotten. Nothing was done.",
    "UnreadableError": "One document cannot be read. It is listed as skipped, and the rest is read.",
    "StoreError": "A knowledge base or a conversation cannot be read or written.",
    "UnknownKnowledgeBase": "There is no knowledge base of that name.",
    "DamagedKnowledgeBase": (
        "A part of a knowledge base is missing, or is not as it was written. No question is answered from it."
    ),
    "DocumentGone": "A document was changed or removed while a question was asked.",
    "UnknownThread": "There is no conversation of that name.",
    "ArchiveError": "A file is no archive of a knowledge base, or not a whole one. Nothing was kept of it.",
    "EmbeddingMismatch": "The knowledge base was made with another embedding model.",
    "ObjectStorageError": (
        "The object storage that a knowledge base is on cannot be reached, refuses, or does not do what is "
        "needed. What was written before is kept. See [Object storage](object-storage.md)."
    ),
    "MissingObject": "An object of a knowledge base on object storage is lost.",
    "StorageFull": "The disk is full.",
    "ModelNotFound": "A model is not where it should be.",
    "ModelNotInstalled": "The Python package that carries a model is not installed.",
    "ModelFileError": "A model file cannot be used.",
    "ModelError": "A model could not do its work.",
    "ContextOverflow": "A prompt is longer than the context window of the model.",
    "ConstraintError": (
        "The model's output did not hold its constraint. A grade that fails this way is shown as an error "
        "and the question goes on; elsewhere the command ends."
    ),
    "ModelServerError": "The model server that the settings name cannot be used, or fails.",
    "LocalCragError": "A grade that is neither yes nor no. It counts as an error, never as a no.",
    "BundleError": "A bundle for a room without a network cannot be made, or is not as it was made.",
    "ClusterError": "A Ray cluster cannot be used, or a node cannot do its part. What was written stays.",
    "WarmError": "The warm process cannot run here, or ended while it answered.",
    "EvaluationError": "A question set cannot be used for what was asked.",
    "WebNotConfigured": "The web was asked for, and there is no SearXNG, or its address is wrong.",
    "ServerDown": "Your SearXNG does not answer.",
    "JsonDisabled": "Your SearXNG does not give out JSON.",
    "RateLimited": "Your SearXNG limits its users.",
    "EnginesFailed": "Your SearXNG works, and none of its search engines answered.",
    "BadReply": "What answers at the address is not a SearXNG.",
    "FetchRefused": (
        "A page could not be fetched, or may not be. A page of a search is then replaced by its snippet; "
        "for an address that you gave to `localcrag ingest` this is the reason why it was skipped."
    ),
    "LedgerError": "The record of what leaves the machine cannot be written, so nothing leaves.",
    "Unreachable": "A server cannot be found.",
    "TimedOut": "A server took too long.",
    "Garbled": "A server sent something that cannot be read.",
    "Oversized": "A server sent more than is taken.",
}

_ANOTHER_WAY = "Download the page in a browser, and ingest the file"
_CHECK = "`localcrag kb check NAME` says what is broken and what mends it"
_AGAIN = "Ask again; if it comes back, use another model"
_SAVE_AGAIN = "Open it in its own program and save it again, or export it as PDF"
_NETWORK = "Check the address and the network, then try again"

NEXT_STEP = {
    "ConstraintError": _AGAIN,
    "DamagedKnowledgeBase": _CHECK,
    "FetchRefused": _ANOTHER_WAY,
    "Garbled": _NETWORK,
    "LocalCragError": _AGAIN,
    "ModelError": _AGAIN,
    "Oversized": _ANOTHER_WAY,
    "TimedOut": "Try again; for SearXNG raise `web.timeout`",
    "Unreachable": _NETWORK,
    "HTML nested too deeply": _ANOTHER_WAY,
    "HTML that cannot be parsed (…)": _ANOTHER_WAY,
    "JSON nested too deeply": "Flatten it, or save the part you need as text",
    "… nested too deeply": "Flatten it, or save the part you need as text",
    "it is squeezed … to 1 (limit 400): a zip bomb?": "If you trust it, unpack it and save it again",
    "binary, no text": "Nothing: there is no text in it to read",
    "binary, no text (.…)": "Nothing: there is no text in it to read",
    "damaged EPUB (no …)": "Get another copy of the book, or export it as PDF",
    "damaged EPUB (…)": "Get another copy of the book, or export it as PDF",
    "RTF nested too deeply": _SAVE_AGAIN,
    "the documents were not ingested: …": "Do what the rest of the line says, and send them again",
    "an archive inside an archive is not read": "Unpack it, and ingest the folder",
    "an archive without a document that can be read": "Nothing, or unpack it and ingest the folder",
    "a mail folder without a message that can be read": "Export the messages from the mail program again",
    "damaged … file": "Get another copy of it, or unpack it and look at what is inside",
    "damaged RTF": _SAVE_AGAIN,
    "damaged image": "Open it in a viewer and save it again",
    "reStructuredText nested too deeply": "Flatten it, or save the part you need as text",
    "damaged PDF": "Open it in a viewer and print it to a new PDF",
    "damaged PPTX": _SAVE_AGAIN,
    "damaged mail message": "Export the message from the mail program again",
    "damaged notebook": "Open it in Jupyter and save it again",
    "damaged …": _SAVE_AGAIN,
    "damaged … (…)": _SAVE_AGAIN,
    "encrypted EPUB (copy protected)": "Use a copy without copy protection",
    "encrypted … (needs a password)": "Save a copy without the password",
    "its text expands to more than … million characters": "Split the file",
    "no text in it": "Nothing: the file is empty, or holds pictures only",
    "the schema cannot be filled at …: …": "The hint says what to write instead",
    "what listens at the port of the warm process is something else": "Start it again: `localcrag serve`",
    "the model server at … cannot be reached: …": (
        "Start it, or correct `model.language`; if it is only slow, raise `model.server_timeout`"
    ),
    "the knowledge base … is damaged: the object … is missing": (
        "Restore the object, or `localcrag kb remove` and ingest again"
    ),
    "the knowledge base … cannot be …, as it is on object storage": (
        "Copy its objects with the tools of the storage, or ingest into another one"
    ),
    "the model server at … cannot be used: …": "The hint says what it must do; look at its log",
    "k is …, and must be 1 or more": "For example k=8",
    "the … is a …, and must be a string": "Pass text; `str()` makes it of most things",
    "… is …, and must be …": "The message names the values that are allowed",
    "…: … is not …": "The message says what it must be; correct the file or the variable",
}
