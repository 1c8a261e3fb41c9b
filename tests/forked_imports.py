"""What the programs of :mod:`tests.forked` find imported.

Nothing of it is used before they begin.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from tests.prepared_models import FOLDER_VARIABLE, keep_prepared

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
warnings.filterwarnings("ignore", category=RuntimeWarning, message="lancedb fork support")

for _name in (
    *("lancedb", "pyarrow", "filelock", "rich.progress", "tokenizers", "numpy", "msgspec", "llama_cpp"),
    *("localcrag.cli.main", "localcrag.cli.ask", "localcrag.cli.ingest", "localcrag.cli.kb"),
    *("localcrag.cli.serve", "localcrag.serve.client", "localcrag.serve.server", "localcrag.serve.worker"),
    *("localcrag.knowledge_base", "localcrag.ingestion", "localcrag.conversations", "localcrag.documents"),
    *(
        "localcrag.documents.readers",
        "localcrag.store.lance_store",
        "localcrag.store.knowledge_bases",
        "localcrag.store.writer",
    ),
    *("localcrag.store.tables", "localcrag.store.hybrid_search", "localcrag.embedding.ctranslate_encoder"),
):
    __import__(_name)

if _folder := os.environ.get(FOLDER_VARIABLE):
    keep_prepared(Path(_folder))
