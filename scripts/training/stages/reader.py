"""Stage `reader`: low-rank adapters that read evidence: they say what answers, or that nothing does.

It learns the task `answer` of the stage `chat` alone, from the sentences that `verbalise` left, if it did.
"""

from __future__ import annotations

from ..job import Job
from .chat import train_tasks

SHARES = {"answer": 1.0}


def run(job: Job) -> None:
    """Train until the budget is spent; raises as the stage `chat` does."""
    train_tasks(job, SHARES, job.reader)
