"""How well a search finds in other languages: nDCG@10 of the same questions about the same paragraphs.

XQuAD (Artetxe et al. 2020, arXiv 1910.11856) has 65 paragraphs and 328 questions in twelve languages. The
paragraphs of a language are read in as documents, and asked about in that language and in English. The
search is the product's own, words and vectors fused, without the evaluator, which knows English.

Options: ``--set data=FOLDER`` (with ``qa/languages`` as JSON lines, compressed with zstandard; without it
nothing is measured), ``--set questions=164`` (of each language), ``--set languages=de,th`` (besides English),
``--set model=MODEL`` (the embedding model, by default the multilingual one), ``--set home=FOLDER`` (where the
model's forms are kept).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.json_lines import records
from benchmarks.labelled_search import Collection, found, ndcg
from benchmarks.report import Figure, Report, Room
from localcrag import open as open_kb
from localcrag.settings import ModelSettings, Settings

ENGLISH = "en"
NEAR = 0.9
"""The share of the English nDCG@10 that every language should reach."""
NAMES = {
    "ar": "Arabic",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "hi": "Hindi",
    "ro": "Romanian",
    "ru": "Russian",
    "th": "Thai",
    "tr": "Turkish",
    "vi": "Vietnamese",
    "zh": "Chinese",
}


def measure(room: Room) -> Report:
    if "data" not in room.options:
        return Report(())
    rows = list(records(Path(room.options["data"]) / "qa" / "languages" / "xquad_dev.jsonl.zst"))
    most = int(room.options.get("questions", 5 if room.quick else 164))
    others = room.options.get("languages", "de" if room.quick else ",".join(sorted({*NAMES} - {ENGLISH})))
    model = ModelSettings(embedding=room.options.get("model", "multilingual"))
    settings = Settings(home=Path(room.options.get("home", room.scratch / "home")), model=model)
    collections = {
        language: _collection(language, [row for row in rows if row["language"] == language], most)
        for language in (ENGLISH, *others.split(","))
    }
    return Report(tuple(_figures(collections, settings, room.scratch)))


def _collection(language: str, rows: Sequence[Mapping[str, Any]], most: int) -> Collection:
    """The paragraphs of a language, and every so many of its questions, in the order of their identities.

    The order is the same in every language, so that the questions are too.
    """
    passages = {row["paragraph"].replace("/", "-"): row["passage"] for row in rows}
    ordered = sorted(rows, key=lambda row: str(row["id"]))
    asked = ordered[:: max(1, len(ordered) // most)][:most]
    questions = ((row["question"], frozenset({row["paragraph"].replace("/", "-")})) for row in asked)
    return Collection(language, passages, tuple(questions))


def _figures(collections: Mapping[str, Collection], settings: Settings, scratch: Path) -> Iterator[Figure]:
    """The nDCG@10 of each language, asked in itself and in English."""
    english = 0.0
    for language, collection in collections.items():
        with open_kb(language, settings=settings) as base:
            base.ingest(collection.write(scratch / language))
            for asked in dict.fromkeys((language, ENGLISH)):
                questions = collections[asked].questions
                value = fmean(ndcg(found(base, text, evaluator="none"), right) for text, right in questions)
                english = english or value
                wanted = "" if language == ENGLISH else f"≥ {NEAR * english:.3f}"
                what = f"{NAMES[asked]} questions, {NAMES[language]} documents"
                yield Figure(what, value, "nDCG@10", wanted)
            base.remove()
    sizes = {len(collection.questions) for collection in collections.values()}
    yield Figure("questions of each", max(sizes), "questions")
