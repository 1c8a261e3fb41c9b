"""Question/passage sets as frozen examples, split by document into training and validation.

A data folder holds `qa/train/*.jsonl.zst` (or `.jsonl`) and, for the language model, `text/*.jsonl.zst`.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

Record = dict[str, Any]
"""One line of a data file: a JSON object, in the form of its set."""

SQUAD = "squad_v2"
HELD_OUT_ARTICLES = frozenset({"Normans", "Steam engine", "Warsaw"})
USER = "user"
VALIDATION_SHARE = {USER: 0.2, "headings": 0.15, "documents": 0.2}
_WINDOW_BYTES = 2**27
_ABBREVIATIONS = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|No|vs|etc|e\.g|i\.e|U\.S|Jr|Sr|Inc|Ltd|Co|Gen|Prof|cf|al|ca|c|approx))\.$"
)
_BOUNDARY = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])|\n+")
_PTB = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "``": '"', "''": '"'}


class DataError(Exception):
    """The data folder is missing, empty or malformed; the message is one line for the user."""


@dataclass(frozen=True)
class Example:
    """One labelled question with its passage, cut into sentences.

    `document` is the unit of the split and of "same article" negatives. `evidence` holds indices into
    `sentences`; it is empty if the set does not say which sentence answers.
    """

    dataset: str
    document: str
    question: str
    sentences: tuple[str, ...]
    evidence: tuple[int, ...]
    relevant: bool

    @property
    def passage(self) -> str:
        """The passage's sentences joined by single spaces."""
        return " ".join(self.sentences)

    @property
    def held_out(self) -> bool:
        """Whether the example belongs to validation: three SQuAD articles, else a hash of the document."""
        if self.dataset == SQUAD:
            return self.document in HELD_OUT_ARTICLES
        digest = hashlib.sha256(f"{self.dataset}/{self.document}".encode()).digest()
        return int.from_bytes(digest[:4], "big") / 2**32 < VALIDATION_SHARE.get(self.dataset, 0.05)

    @property
    def fits(self) -> bool:
        """Whether a held-out example is there to fit calibration and weights, not to report; by passage."""
        return hashlib.sha256(f"half/{self.passage}".encode()).digest()[0] % 2 == 0


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences of `text`; newlines always end one."""
    spans, start = [], 0
    for match in _BOUNDARY.finditer(text):
        if "\n" not in match.group() and _ABBREVIATIONS.search(text[start : match.start()]):
            continue
        spans.append((start, match.start()))
        start = match.end()
    spans.append((start, len(text)))
    return [(a, b) for a, b in spans if text[a:b].strip()]


def split_sentences(text: str) -> tuple[str, ...]:
    """The sentences of `text`, stripped."""
    return tuple(text[a:b].strip() for a, b in sentence_spans(text))


def read_jsonl(path: Path) -> Iterator[Record]:
    """Yield the records of a `.jsonl` or `.jsonl.zst` file.

    Raises DataError at a line that is no object, and if there is no line.
    """
    import zstandard

    with path.open("rb") as raw:
        stream: BinaryIO = raw
        if path.suffix == ".zst":
            stream = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES).stream_reader(raw)
        number = 0
        try:
            for number, line in enumerate(io.TextIOWrapper(stream, encoding="utf-8"), 1):
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise DataError(f"{path.name}, line {number}: not a JSON object")
                yield record
        except (json.JSONDecodeError, UnicodeDecodeError, zstandard.ZstdError) as error:
            raise DataError(f"{path.name}: malformed ({str(error)[:80]})") from error
    if not number:
        raise DataError(f"{path.name}: no records")


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise DataError(f"no folder {folder}")
    files = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.zst")])
    if not files:
        raise DataError(f"no .jsonl or .jsonl.zst files in {folder}")
    return files


def read_documents(data: Path, without: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield (title, text) of the documents of `data/text`, but for the files `without` names."""
    for path in _files(data / "text"):
        if path.name.split(".")[0] in without:
            continue
        for record in read_jsonl(path):
            if not isinstance(record.get("text"), str):
                raise DataError(f"{path.name}: a record has no text")
            yield str(record.get("title", "")), record["text"]


def read_questions(data: Path) -> list[Record]:
    """Every record of `data/qa/train` that has a question, with or without a passage."""
    records = []
    for path in _files(data / "qa" / "train"):
        for record in read_jsonl(path):
            if not isinstance(record.get("question"), str):
                raise DataError(f"{path.name}: a record has no question")
            records.append(record)
    return records


def read_examples(data: Path) -> list[Example]:
    """Every labelled (question, passage) of `data/qa/train`, or of one file of the user's own.

    A user's file holds lines of `{"question", "passage", "relevant"}`.
    """
    if data.is_file():
        return [_user_example(data, number, record) for number, record in enumerate(read_jsonl(data), 1)]
    records = [record for record in read_questions(data) if record.get("passage")]
    if not records:
        raise DataError(f"no labelled passages in {data / 'qa' / 'train'}")
    lone = [r for r in records if r.get("passage_source") == "sentence_only_lowercased"]
    rest = [r for r in records if r.get("passage_source") != "sentence_only_lowercased"]
    return [_example(r) for r in rest] + list(_joined_sentences(lone))


def _user_example(path: Path, number: int, record: Record) -> Example:
    question, passage, relevant = (record.get(key) for key in ("question", "passage", "relevant"))
    if not (isinstance(question, str) and isinstance(passage, str) and isinstance(relevant, bool)):
        raise DataError(
            f"{path.name}, line {number}: needs question and passage (text), relevant (true or false)"
        )
    if not question.strip() or not passage.strip():
        raise DataError(f"{path.name}, line {number}: an empty question or passage")
    return Example(USER, question, question, split_sentences(passage), (), relevant)


def _example(record: Record) -> Example:
    passage, dataset = record["passage"], record["dataset"]
    spans = sentence_spans(passage)
    starts = record.get("evidence_starts") or record.get("answer_starts") or []
    found = {i for s in starts if s >= 0 for i, (a, b) in enumerate(spans) if a <= s < b}
    if dataset == "ropes":
        found = set()
    return Example(
        dataset=dataset,
        document=_document(record),
        question=tidy(record["question"]),
        sentences=tuple(passage[a:b].strip() for a, b in spans),
        evidence=tuple(sorted(found)),
        relevant=bool(record.get("relevant", True)),
    )


def _document(record: Record) -> str:
    """The article a record comes from: its title, or what its identifier or passage says."""
    if record["dataset"] == "qamr":
        return ":".join(record["id"].split(":")[:3])
    if record.get("title"):
        return str(record["title"]).split(" / ")[0]
    return hashlib.sha256(record["passage"].encode()).hexdigest()[:12]


def tidy(text: str) -> str:
    """Undo Penn Treebank brackets and quotes, and squeeze white space."""
    for token, plain in _PTB.items():
        text = text.replace(token, plain)
    return " ".join(text.split())


def _joined_sentences(records: list[Record], block: int = 270, reach: int = 3) -> Iterator[Example]:
    """Rebuild passages from a set that kept only answering sentences, in article order.

    Neighbouring distinct sentences (`reach` on each side) stand for the lost paragraph; `block`
    records, about one article, share a document name.
    """
    distinct = list(dict.fromkeys(tidy(r["passage"]) for r in records))
    place = {sentence: i for i, sentence in enumerate(distinct)}
    for number, record in enumerate(records):
        at = place[tidy(record["passage"])]
        low = max(0, at - reach)
        yield Example(
            dataset=record["dataset"],
            document=f"block-{number // block}",
            question=tidy(record["question"]),
            sentences=tuple(distinct[low : at + reach + 1]),
            evidence=(at - low,),
            relevant=True,
        )


def split(examples: list[Example]) -> tuple[list[Example], list[Example]]:
    """Training and validation examples."""
    train = [e for e in examples if not e.held_out]
    return train, [e for e in examples if e.held_out]
