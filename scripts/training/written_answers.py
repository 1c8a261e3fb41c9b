"""Answers to learn to write: sentences, each with the piece of evidence that it rests on.

They are made of labelled questions (the answering sentence, or a shorter sentence made of the question and
its answer, where the question's form allows it), of answers from tables, and of free answers whose every
sentence stands on a sentence of its passage.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from localcrag.crag.questions.query_terms import content_words, folded

from .data import Example, Record, read_jsonl, read_questions, split_sentences, tidy
from .labelled_documents import DOCUMENTS_SET, DocumentQuestion

MAX_SENTENCE_CHARACTERS = 300
MAX_FREE_SENTENCES = 3
MAX_EVIDENCE_CHARACTERS = 600
NEAR_STRIPS = 4
"""How far from the strip that answers, in strips, others of its document stand that are shown beside it."""
HELD_OUT_SHARE = 0.05
_MIN_SHARED_WORDS = 0.6
"""The share of a free sentence's content words that must stand in the sentence it rests on."""
_EXTRACTED_SETS = frozenset({"squad_v2", "selqa", "qed_nq", "qamr"})
_NUMBER = re.compile(r"\d[\d.,]*")
_REFERENCE_MARKS = re.compile(r"\[[^\]]{0,30}\]")
_ENDED = re.compile(r"[.!?][\"”’)]*$")
_INNER_END = re.compile(r"[.!?][\"”’)]*\s")
_SUBJECT_QUESTION = re.compile(
    r"(?:who|what|which (?P<kind>[\w' -]+?)) "
    r"(?P<verb>was|were|is|are|has|had|became|won|wrote|led|[a-z]{3,}ed) "
    r"(?P<rest>[^?]+)\?",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[A-Z][^·|\n]*[a-z)\d][.!]")
_INVERTS = frozenset({"was", "were", "is", "are", "has", "had"})


@dataclass(frozen=True)
class Answer:
    """A question with its evidence and an answer.

    `evidence` are the texts that answer; `sentences` are those of the answer, each with the indices of the
    pieces of evidence that it rests on; `distractors` are texts of the same source that do not answer.
    """

    dataset: str
    question: str
    evidence: tuple[str, ...]
    sentences: tuple[tuple[str, tuple[int, ...]], ...]
    distractors: tuple[str, ...]


def read_answers(data: Path, train: Sequence[Example], *, held_out: bool = False) -> list[Answer]:
    """The answers of a data folder; of labelled questions those of the examples given."""
    golds = {tidy(r["question"]): str(r["answers"][0]) for r in read_questions(data) if r.get("answers")}
    made = [*_extracted(train, golds)]
    folder = data / "qa" / "answers"
    for path, make in (
        (folder / "fetaqa.jsonl.zst", _from_table),
        (folder / "dolly_context.jsonl.zst", _free),
    ):
        if path.exists():
            records = (r for r in read_jsonl(path) if is_held_out(r) == held_out)
            made += [answer for record in records if (answer := make(record))]
    return made


def document_answers(questions: Sequence[DocumentQuestion]) -> list[Answer]:
    """Answers of questions about whole documents: the strip that answers, or a sentence made of it."""
    made = []
    for each in questions:
        if len(each.answering) != 1 or not 0 < len(each.answer) <= MAX_SENTENCE_CHARACTERS:
            continue
        at, cut = each.answering[0], each.document.strips
        evidence = cut[at].text
        written = (
            declared(each.question, each.answer) or _whole_sentence(evidence) or sentence_of(each.answer)
        )
        others = tuple(
            strip.text for place, strip in enumerate(cut) if place != at and abs(place - at) <= NEAR_STRIPS
        )
        if written and len(evidence) <= MAX_EVIDENCE_CHARACTERS:
            made.append(Answer(DOCUMENTS_SET, each.question, (evidence,), ((written, (0,)),), others))
    return made


def _whole_sentence(text: str) -> str:
    """A strip as a sentence of an answer; "" if it is a row, an entry or a piece of code."""
    return sentence_of(text) if _PROSE.fullmatch(text.strip()) else ""


def is_held_out(record: Record) -> bool:
    """Whether a free answer belongs to validation, by the text or the table that it rests on."""
    source = str(record.get("passage") or record.get("title"))
    return hashlib.sha256(source.encode()).digest()[0] / 256 < HELD_OUT_SHARE


def _extracted(examples: Sequence[Example], golds: Mapping[str, str]) -> Iterator[Answer]:
    """Answers of labelled questions: the sentences that answer, or one made of question and answer."""
    for example in examples:
        if not (example.dataset in _EXTRACTED_SETS and example.relevant and example.evidence):
            continue
        evidence = tuple(example.sentences[i] for i in example.evidence[:2])
        others = tuple(s for i, s in enumerate(example.sentences) if i not in example.evidence)
        short = declared(example.question, golds.get(example.question, ""))
        if short and len(evidence) == 1:
            sentences: tuple[tuple[str, tuple[int, ...]], ...] = ((short, (0,)),)
        else:
            written = [sentence_of(text) for text in evidence]
            if not all(written):
                continue
            sentences = tuple((text, (at,)) for at, text in enumerate(written))
        yield Answer(example.dataset, example.question, evidence, sentences, others)


def sentence_of(text: str) -> str:
    """A text as one sentence of an answer: without reference marks, ended; "" if it cannot be one."""
    plain = " ".join(_REFERENCE_MARKS.sub("", text).split())
    plain = plain[:1].upper() + plain[1:]
    if not _ENDED.search(plain):
        plain = plain.rstrip(" ,;:") + "."
    bad = "[" in plain or "]" in plain or "<" in plain or _INNER_END.search(plain)
    return "" if bad or not 15 <= len(plain) <= MAX_SENTENCE_CHARACTERS else plain


def declared(question: str, gold: str) -> str:
    """A question for its subject, with the answer in the place of the question word; "" for other forms.

    "Who led the Normans in 1071?" and "Robert" make "Robert led the Normans in 1071."
    """
    match = _SUBJECT_QUESTION.fullmatch(question.strip())
    if not match or not gold or len(gold) > 80 or _INNER_END.search(gold):
        return ""
    rest, verb = match["rest"].strip(), match["verb"].lower()
    if verb in _INVERTS and not re.match(r"(?:[a-z]+ed|born|known|made|found|held|the|a|an)\b", rest):
        return ""
    if (
        verb in _INVERTS
        and re.match(r"(?:the|a|an)\b", rest)
        and re.search(r"\b(?:[a-z]+ed|of|in|to|for)$", rest)
    ):
        return ""
    return sentence_of(f"{gold.strip().rstrip('.')} {verb} {rest}")


def _from_table(record: Record) -> Answer | None:
    """An answer from a table, its rows as text with their headers; it rests on the rows of its cells."""
    table, cells = record["table"], record["cells"]
    rows = sorted({row for row, _ in cells if 0 < row < len(table)})
    written = sentence_of(record["answer"])
    if not written or not 1 <= len(rows) <= 2:
        return None
    named = f"{record['title']}, {record['section']}" if record.get("section") else record["title"]
    evidence = tuple(f"{named} · {row_text(table[0], table[row])}" for row in rows)
    if any(len(text) > 500 for text in evidence):
        return None
    others = [f"{named} · {row_text(table[0], table[i])}" for i in range(1, len(table)) if i not in rows]
    keys = tuple(range(len(rows)))
    return Answer(
        "fetaqa", record["question"], evidence, ((written, keys),), tuple(t for t in others if len(t) < 500)
    )


def row_text(headers: Sequence[str], row: Sequence[str]) -> str:
    """A table's row with its headers: "Category: Motorcycle · Fee: 35 EUR"; empty cells are left out."""
    pairs = [f"{head}: {cell}" for head, cell in zip(headers, row, strict=False) if cell.strip(" -")]
    return " · ".join(pairs)


def _free(record: Record) -> Answer | None:
    """A free answer to a question, if each of its few sentences stands on a sentence of the passage."""
    question = tidy(record["question"])
    if not question.endswith("?") or len(record["passage"]) > 4000:
        return None
    sources = [s for s in split_sentences(_REFERENCE_MARKS.sub("", record["passage"])) if len(s) < 500]
    answer = split_sentences(record["answer"])
    if not sources or not 1 <= len(answer) <= MAX_FREE_SENTENCES:
        return None
    rests: dict[int, None] = {}
    placed: list[tuple[str, int]] = []
    for text in answer:
        source, written = _source_of(text, sources), sentence_of(text)
        if source is None or not written:
            return None
        rests[source] = None
        placed.append((written, source))
    order = list(rests)
    sentences = tuple((text, (order.index(source),)) for text, source in placed)
    others = tuple(s for i, s in enumerate(sources) if i not in rests)
    return Answer("dolly", question, tuple(sources[i] for i in order), sentences, others)


def _source_of(sentence: str, sources: Sequence[str]) -> int | None:
    """The sentence that has most of another's words, if it has enough of them and all its numbers."""
    words = {folded(w) for w in content_words(sentence)}
    if not words:
        return None
    shares = [len(words & {folded(w) for w in content_words(s)}) / len(words) for s in sources]
    best = max(range(len(sources)), key=shares.__getitem__)
    numbers = set(_NUMBER.findall(sentence)) <= set(_NUMBER.findall(sources[best]))
    return best if numbers and shares[best] >= _MIN_SHARED_WORDS else None


def by_document(examples: Sequence[Example]) -> dict[tuple[str, str], list[str]]:
    """The sentences of each document, each once: what an answer's evidence can be confused with."""
    pools: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for example in examples:
        pools[example.dataset, example.document].update(dict.fromkeys(example.sentences))
    return {key: list(sentences) for key, sentences in pools.items()}
