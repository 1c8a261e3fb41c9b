"""Stage `verbalise`: short answers of labelled questions as full sentences, said by the base itself.

What stands in the file already is not asked again, so that a run goes on where another one ended.
"""

from __future__ import annotations

import time

from localcrag.llm.language_model import LlamaCppModel

from ..base_model import base_of
from ..job import Job
from ..labelled_documents import document_folders, read_labelled_documents
from ..verbalised import read_asked, short_answers, write_said

CONTEXT_TOKENS = 1024


def run(job: Job) -> None:
    """Write sentences until the budget is spent. Raises DataError, LocalCragError (no base)."""
    began = time.monotonic()
    known = read_asked(job.said)
    questions = read_labelled_documents(document_folders(job.data))
    asked = [each for each in short_answers(questions) if each[1:] not in known]
    job.out.mkdir(parents=True, exist_ok=True)
    with LlamaCppModel(base_of(job.base).file, context=CONTEXT_TOKENS) as model:
        for done in write_said(model, asked, job.said):
            if done % 100 == 0:
                print(f"{done:,} of {len(asked):,} answers said", flush=True)
            if time.monotonic() - began > 60 * job.minutes:
                return
