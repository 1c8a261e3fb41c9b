"""An ingestion with the real corpus, splitter and store, and vectors that cost no time.

For what does not hang on the model: memory, and how long everything beside it takes. Run as
``python -m benchmarks.scripted HOME FOLDER`` it ingests, in a process of its own, into the
knowledge base ``default``, which the tool then takes for one made with the installed model.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localcrag.types import IngestReport


class RandomEmbedder:
    """Random unit vectors under the name of the installed model, which takes its memory if ``loaded``.

    ``cache`` is the folder for the converted model.
    """

    def __init__(self, cache: Path, *, loaded: bool) -> None:
        import numpy as np

        from localcrag.embedding.embedder import SentenceTransformerEmbedder

        model = SentenceTransformerEmbedder(cache=cache)
        self.name, self.dimension = model.name, model.dimension
        if loaded:
            model.encode(["word " * 500] * 5)
        self._random = np.random.default_rng(0)

    def encode(self, texts: Sequence[str]) -> Any:
        import numpy as np

        vectors = self._random.standard_normal((len(texts), self.dimension), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def encode_questions(self, texts: Sequence[str]) -> Any:
        return self.encode(texts)


def ingest(home: Path, folder: Path, *, loaded: bool = False) -> IngestReport:
    import localcrag
    from localcrag.events import report_of
    from localcrag.ingestion import Ingestion
    from localcrag.store.knowledge_bases import KnowledgeBases

    corpus = localcrag.open("default", home=home).corpus
    embedder = RandomEmbedder(home / "cache", loaded=loaded)
    store = KnowledgeBases(home).create("default", embedder.name, embedder.dimension)
    return report_of(Ingestion("default", corpus, embedder, store).run([str(folder)]))


if __name__ == "__main__":
    print(ingest(Path(sys.argv[1]), Path(sys.argv[2]), loaded=True).passages)
