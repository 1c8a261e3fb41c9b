"""Question sets for `localcrag eval`: a folder of documents, and a file of questions about them.

Only documents that no embedded model was trained on are asked about; passages of the training part
are there to be confused with. A set holds OUT/NAME/documents/*.txt and OUT/NAME/questions.jsonl.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .data import SQUAD, Example, Record, read_examples, read_questions, split, tidy

UNANSWERABLE_SHARE = 0.2
"""The share of questions written to look answerable from a passage that does not answer them."""
AWAY_SHARE = 0.1
"""The share of questions of the other sets, which nothing in this one answers."""
MAX_ANSWER_WORDS = 12
"""What is longer is a passage and no answer to match."""
MIN_PASSAGE_CHARACTERS = 60


@dataclass(frozen=True)
class Kind:
    """A set by name: the data it is made of, and how many passages it should have."""

    name: str
    datasets: tuple[str, ...]
    passages: int


SET_KINDS = (
    Kind("encyclopaedia", (SQUAD,), 450),
    Kind("searches", ("boolq", "qed_nq"), 500),
    Kind("health", ("medquad",), 400),
)


def make(data: Path, out: Path, questions: int, seed: int = 0) -> Iterator[str]:
    """Write every set that the data has material for, and say what is in it."""
    train, held_out = split([e for e in read_examples(data) if len(e.passage) > MIN_PASSAGE_CHARACTERS])
    answers = _answers(read_questions(data))
    for kind in SET_KINDS:
        ours = [e for e in held_out if e.dataset in kind.datasets]
        if not ours:
            continue
        rng = random.Random(seed)
        documents = _documents(ours, [e for e in train if e.dataset in kind.datasets], kind.passages, rng)
        asked = _asked(ours, [e for e in held_out if e.dataset not in kind.datasets], questions, rng)
        folder = out / kind.name
        names = _write_documents(folder / "documents", documents)
        lines = [json.dumps(_line(e, names, answers), ensure_ascii=False) for e in asked]
        (folder / "questions.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        passages = sum(map(len, documents.values()))
        yield f"{kind.name}: {len(documents)} documents, {passages} passages, {len(lines)} questions"


def _documents(
    ours: Iterable[Example], others: Sequence[Example], size: int, rng: random.Random
) -> dict[str, list[str]]:
    """Passages by document: all that may be asked about, and others up to ``size`` passages."""
    documents: dict[str, list[str]] = {}
    for example in ours:
        _add(documents, example)
    strange: dict[str, list[str]] = {}
    for example in others:
        _add(strange, example)
    for name in rng.sample(sorted(strange), len(strange)):
        if sum(map(len, documents.values())) >= size:
            break
        documents.setdefault(name, []).extend(strange[name])
    return documents


def _add(documents: dict[str, list[str]], example: Example) -> None:
    passages = documents.setdefault(example.document, [])
    if example.passage not in passages:
        passages.append(example.passage)


def _asked(
    ours: Sequence[Example], others: Sequence[Example], questions: int, rng: random.Random
) -> list[Example]:
    """Questions that are answered, that only look like it, and that are about something else."""
    pool = list({e.question: e for e in rng.sample(ours, len(ours))}.values())
    good, bad = [e for e in pool if e.relevant], [e for e in pool if not e.relevant]
    away = rng.sample([e for e in others if e.relevant], min(int(AWAY_SHARE * questions), len(others)))
    bad = bad[: int(UNANSWERABLE_SHARE * questions)]
    chosen = [*good[: questions - len(bad) - len(away)], *bad, *away]
    return rng.sample(chosen, len(chosen))


def _line(
    example: Example, names: Mapping[str, str], answers: Mapping[tuple[str, str], list[str]]
) -> dict[str, object]:
    """One line of the file; the gold is the passage, in its document."""
    if not example.relevant or example.document not in names:
        return {"question": example.question, "answerable": False}
    known = answers.get((example.question, tidy(example.passage)), [])
    return {
        "question": example.question,
        **({"answers": known} if known else {}),
        "source": names[example.document],
        "passage": example.passage,
        "answerable": True,
    }


def _answers(records: Iterable[Record]) -> dict[tuple[str, str], list[str]]:
    """Short answers, by question and passage; yes and no are no text to look for."""
    found: dict[tuple[str, str], list[str]] = {}
    for record in records:
        texts = [tidy(text) for text in record.get("answers") or [] if isinstance(text, str)]
        short = [
            t for t in texts if t and len(t.split()) <= MAX_ANSWER_WORDS and t.lower() not in ("yes", "no")
        ]
        if short and record.get("passage"):
            found[tidy(record["question"]), tidy(record["passage"])] = list(dict.fromkeys(short))
    return found


def _write_documents(folder: Path, documents: Mapping[str, list[str]]) -> dict[str, str]:
    """One text file a document; returns the file names by document."""
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[str, str] = {}
    for document, passages in documents.items():
        stem = re.sub(r"[^A-Za-z0-9]+", "-", document).strip("-")[:60] or "document"
        name = f"{stem}.txt" if f"{stem}.txt" not in names.values() else f"{stem}-{len(names)}.txt"
        (folder / name).write_text("\n\n".join([document, *passages]) + "\n", "utf-8")
        names[document] = name
    return names
