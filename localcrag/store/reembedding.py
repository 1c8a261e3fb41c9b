"""The steps of embedding a knowledge base again: what is missing, batch after batch, and then the switch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

from localcrag.events import Advanced, Optimizing, Steps
from localcrag.protocols import Embedder
from localcrag.store.second_space import SecondSpace

STEP_NAME = "refining"
"""The name of the step in the events."""
BATCH_SECONDS = 4.0
"""Seconds that embedding a batch should take; a kill costs no more."""
MIN_BATCH_ROWS, MAX_BATCH_ROWS = 32, 1024
"""The rows of the first batch, and the most of any."""


@dataclass(frozen=True, slots=True)
class Reembedding:
    """Fills a second space with the vectors of an embedder, and switches to it."""

    space: SecondSpace
    embedder: Embedder

    def run(self) -> Steps[int]:
        """Embed what is missing until nothing is, and switch; returns how many rows were embedded.

        Yields Advanced, first for what was done before. Documents may be written meanwhile: what they change
        is embedded too. Raises StoreError, OSError, UnknownKnowledgeBase, and what the embedder raises.
        """
        embedded = 0
        with self.space.held():
            while True:
                embedded += yield from self._fill()
                yield Optimizing("search index")
                self.space.index()
                if self.space.switch():
                    return embedded

    def _fill(self) -> Steps[int]:
        """Embed what is missing now, as long as no table is written to; returns how many rows it embedded."""
        missing = self.space.missing()
        total, left = self.space.total(), sum(len(ids) for _, ids in missing)
        yield Advanced(STEP_NAME, total - left, total)
        embedded = 0
        for name, ids in missing:
            for done in self._embed(name, ids):
                embedded += done
                yield Advanced(STEP_NAME, total - left + embedded, total)
        return embedded

    def _embed(self, name: str, ids: list[int]) -> Iterator[int]:
        """Embed the rows of a table with these ids; yields how many, batch by batch."""
        start, size = 0, MIN_BATCH_ROWS
        while start < len(ids):
            began = perf_counter()
            batch = self.space.batch(name, ids[start : start + size])
            if batch is None:
                return
            encode = self.embedder.encode_questions if batch.asked else self.embedder.encode
            self.space.add(batch, encode(batch.texts))
            start += len(batch.texts)
            yield len(batch.texts)
            wanted = int(len(batch.texts) * BATCH_SECONDS / max(perf_counter() - began, 1e-3))
            size = max(MIN_BATCH_ROWS, min(wanted, MAX_BATCH_ROWS))
