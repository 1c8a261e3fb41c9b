"""An evaluator computed as the product computes it, so that what is fitted and measured holds there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localcrag.llm.evaluator import GgufEvaluator
from localcrag.llm.gguf import read_metadata
from localcrag.llm.multilingual_evaluator import MultilingualEvaluator, is_upper_part


@contextmanager
def product_evaluator(
    path: Path, threads: int | None = None
) -> Iterator[GgufEvaluator | MultilingualEvaluator]:
    """The evaluator of a file; what is converted of it lies in a temporary folder while it is used."""
    with tempfile.TemporaryDirectory() as cache:
        if is_upper_part(read_metadata(path)):
            with MultilingualEvaluator(path, Path(cache), threads=threads) as multilingual:
                yield multilingual
        else:
            with GgufEvaluator(path, threads=threads, cache=Path(cache)) as evaluator:
                yield evaluator
