"""Stage `tokenizer`: byte-level BPE on a sample of the text and on all questions."""

from __future__ import annotations

from itertools import islice

from .. import byte_bpe
from ..data import read_questions, read_texts
from ..job import Job

READ_EVERY = 8
"""One text of so many is read."""


def run(job: Job) -> None:
    """Train the tokenizer and leave it under `out`. Raises DataError."""
    questions = [record["question"] for record in read_questions(job.data)]
    texts = islice(read_texts(job.data), 0, None, READ_EVERY)
    trained = byte_bpe.train([*texts, *questions])
    byte_bpe.save(trained, job.tokenizer)
    print(f"tokenizer: {trained.get_vocab_size()} pieces")
