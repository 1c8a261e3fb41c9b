"""Measure the adapter that reads evidence, in llama.cpp, on questions about documents held out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.progress import track

from localcrag.calibration.scale import Scale, log_odds
from localcrag.configured_models import READER_SCALE_KEY
from localcrag.crag.reader import Reading, reading_of
from localcrag.evaluation.text_overlap import holds
from localcrag.llm.gguf import read_metadata
from localcrag.protocols import LineWriter
from localcrag.types import Strip

from .calibration import auc, calibrate, calibration_error
from .chat_tasks import evidence_of
from .labelled_documents import document_folders, read_labelled_documents
from .result_row import Row
from .written_answers import Answer, document_answers

MAX_DISTRACTORS = 4
QUESTIONS, SCALED_QUESTIONS = 200, 120
"""How many questions, at most, are asked to measure, and to fit a scale; half of them have no answer."""


@dataclass(frozen=True)
class Asked:
    """A question with strips, the short answer and the strip that tells it, or "", and what was read."""

    question: str
    strips: tuple[Strip, ...]
    answer: str
    telling: str
    reading: Reading


def held_out_questions(data: Path, most: int, seed: int = 0) -> list[tuple[Answer, str]]:
    """Questions about documents held out with their short answers, half of them without; in random order.

    Raises DataError.
    """
    asked = [each for each in read_labelled_documents(document_folders(data)) if each.held_out]
    golds = {each.question: each.answer for each in asked}
    rng = random.Random(seed)
    made = document_answers(asked)
    halves = [[each for each in made if bool(each.evidence) is answered] for answered in (True, False)]
    chosen = [each for half in halves for each in rng.sample(half, min(most // 2, len(half)))]
    rng.shuffle(chosen)
    return [(each, golds[each.question] if each.evidence else "") for each in chosen if each.distractors]


def ask(
    model: LineWriter, questions: Sequence[tuple[Answer, str]], scale: Scale | None = None
) -> list[Asked]:
    """Let a reader read the strips of each question, those that only seem to answer among them."""
    rng = random.Random(0)
    shown = track(questions, "evidence", console=Console(stderr=True))
    return [_asked(model, each, gold, scale or Scale(), rng) for each, gold in shown]


def _asked(model: LineWriter, each: Answer, gold: str, scale: Scale, rng: random.Random) -> Asked:
    texts = [*each.evidence, *each.distractors[:MAX_DISTRACTORS]]
    rng.shuffle(texts)
    strips = tuple(item.strip for item in evidence_of(texts))
    telling = each.evidence[0] if each.evidence else ""
    return Asked(each.question, strips, gold, telling, reading_of(model, each.question, strips, scale))


def scale_in(adapter: Path) -> Scale:
    """The scale in the file of an adapter; one that changes nothing if it has none. Raises ModelFileError."""
    fitted = read_metadata(adapter).numbers(READER_SCALE_KEY)
    return Scale(*fitted) if fitted else Scale()


def scale_of(asked: Sequence[Asked]) -> Scale:
    """The scale that makes the reader's probability that of a question which its strips answer."""
    odds = np.array([log_odds(each.reading.probability) for each in asked])
    return calibrate(odds, np.array([float(bool(each.telling)) for each in asked])).scale


def rows(asked: Sequence[Asked]) -> list[Row]:
    """How well the reader tells what answers from what only seems to, and how right it is."""
    labels = np.array([float(bool(each.telling)) for each in asked])
    said = np.array([each.reading.probability for each in asked])
    answered = [each for each in asked if each.telling]
    spoken = [each for each in answered if each.reading.said]
    figures = {
        "auc": auc(labels, said),
        "calibration error": calibration_error(said, labels),
        "declined": _share([each.reading.probability < 1 / 2 for each in asked if not each.telling]),
        "declined wrongly": _share([each.reading.probability < 1 / 2 for each in answered]),
        "right strip": _share([each.telling in {s.text for s in each.reading.cited} for each in spoken]),
        "gold contained": _share([holds(each.reading.said, [each.answer]) for each in spoken]),
        "questions": len(asked),
    }
    return [Row("evidence", "held-out documents", "reader", figures)]


def _share(true: Sequence[bool]) -> float:
    """The share of those that are true, 0 of none."""
    return fmean(true) if true else 0.0
