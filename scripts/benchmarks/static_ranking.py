"""How well a search finds with static vectors, beside the real model: nDCG@10 after reranking.

Three collections are read in twice, each passage a document, and the same questions are asked of both:
paragraphs of an encyclopaedia, pages about health, and abstracts of library science (CISI). The search is the
product's own, with words, vectors and the evaluator.

Options: ``--set data=FOLDER`` (with ``qa/train`` and ``qa/retrieval`` as JSON lines, compressed with
zstandard; without it nothing is measured), ``--set questions=60`` (of each collection), ``--set home=FOLDER``
(to keep the token vectors in), ``--set model=MODEL`` (the real model, by default the installed one).
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev

from benchmarks.json_lines import records
from benchmarks.labelled_search import Collection, found, ndcg
from benchmarks.report import Figure, Report, Room
from localcrag import open as open_kb
from localcrag.settings import ModelSettings, Settings

MAX_PASSAGE_CHARACTERS = 1100
"""A passage is cut there, so that each is one passage of the knowledge base."""


def measure(room: Room) -> Report:
    if "data" not in room.options:
        return Report(())
    data = Path(room.options["data"])
    most = int(room.options.get("questions", 5 if room.quick else 60))
    home = Path(room.options.get("home", room.scratch / "home"))
    real = room.options.get("model", ModelSettings().embedding)
    models = [ModelSettings(embedding=name) for name in (f"static:{real}", real)]
    figures: list[Figure] = []
    for collection in _collections(data, most):
        folder = collection.write(room.scratch / collection.name)
        values = [
            list(_measured(f"{collection.name}-{at}", Settings(home=home, model=model), folder, collection))
            for at, model in enumerate(models)
        ]
        figures += _compared(collection, *values)
    return Report(tuple(figures))


def _measured(name: str, settings: Settings, folder: Path, collection: Collection) -> Iterator[float]:
    """The nDCG@10 of each question."""
    with open_kb(name, settings=settings) as base:
        base.ingest(folder)
        for question, right in collection.questions:
            yield ndcg(found(base, question), right)
        base.remove()


def _compared(collection: Collection, static: list[float], real: list[float]) -> Iterator[Figure]:
    size = f"{len(collection.questions)} questions, {len(collection.passages)} passages"
    what = f"{collection.name}, {size}"
    differences = [a - b for a, b in zip(static, real, strict=True)]
    yield Figure(f"{what}, static", fmean(static), "nDCG@10")
    yield Figure(f"{what}, real model", fmean(real), "nDCG@10")
    yield Figure(f"{what}, static less real model", 100 * fmean(differences), "points", "≥ -2")
    error = 100 * stdev(differences) / len(differences) ** 0.5
    yield Figure(f"{what}, standard error of that", error, "points")


def _collections(data: Path, most: int) -> Iterator[Collection]:
    train = data / "qa" / "train"
    yield _of_answers("encyclopaedia", train / "squad_v2_devpart_dev.jsonl.zst", 400, most)
    yield _of_answers("health", train / "medquad.jsonl.zst", 800, most)
    yield _library(data / "qa" / "retrieval", most)


def _of_answers(name: str, path: Path, passages: int, most: int) -> Collection:
    """Some of the passages of a set of questions, and questions that they answer."""
    rows = [row for row in records(path) if row.get("relevant", True)]
    rows = [row for row in rows if len(row["passage"]) <= MAX_PASSAGE_CHARACTERS]
    random.Random(0).shuffle(rows)
    names: dict[str, str] = {}
    for row in rows:
        if len(names) < passages:
            names.setdefault(row["passage"], f"p{len(names):04}")
    asked: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row["passage"] in names:
            asked[row["question"]].add(names[row["passage"]])
    questions = tuple((question, frozenset(right)) for question, right in list(asked.items())[:most])
    return Collection(name, {name: text for text, name in names.items()}, questions)


def _library(folder: Path, most: int) -> Collection:
    """The test collection CISI: abstracts, and queries of one or several sentences."""
    passages = {
        f"p{row['doc_id']}": f"{row['title']}\n{row['text']}"[:MAX_PASSAGE_CHARACTERS]
        for row in records(folder / "cisi_docs.jsonl.zst")
    }
    right: dict[str, set[str]] = defaultdict(set)
    for row in records(folder / "cisi_qrels.jsonl.zst"):
        right[row["query_id"]].add(f"p{row['doc_id']}")
    asked = [row for row in records(folder / "cisi_queries.jsonl.zst") if row["query_id"] in right]
    questions = ((" ".join(row["text"].split()), frozenset(right[row["query_id"]])) for row in asked[:most])
    return Collection("library", passages, tuple(questions))
