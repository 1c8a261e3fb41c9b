"""Full sentences of short answers, said by the base itself: what an adapter learns to write from evidence.

A labelled question has a short answer ("700 cups"). A chat model that is shown the question, what answers it
and that answer says it as a sentence ("The B60 is descaled every 700 cups."), which is kept only if it holds
every word and figure of the answer.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from localcrag.crag.questions.query_terms import WORD_PATTERN, folded
from localcrag.errors import ConstraintError
from localcrag.protocols import LanguageModel
from localcrag.types import Prompt, UntrustedText

from .data import read_jsonl
from .labelled_documents import DocumentQuestion
from .written_answers import MAX_EVIDENCE_CHARACTERS, sentence_of

MAX_TOKENS = 64
_EXAMPLES = (
    ("Showering is allowed at once, washing your hair after five days.",
     "When can he shampoo again after the surgery?", "after five days",
     "He can shampoo again after five days."),
    ("Descaling: B40 every 400 cups, B60 every 700; it lasts 35 minutes.", "descaling interval b60 cups",
     "700 cups", "The B60 is descaled every 700 cups."),
    ("Name: Caroline Wiebe · Position: Map Archivist · Room: 0.03 · Working days: Tue and Thu",
     "On which days can I reach Caroline Wiebe?", "Tue and Thu",
     "You can reach Caroline Wiebe on Tue and Thu."),
    ("The second consignment travels by haulier; he only drives as far as the kerb.",
     "Will the haulier carry the second lot of plants into my garden?", "no, only as far as the kerb",
     "No, the haulier carries them only as far as the kerb."),
)  # fmt: skip


def sentence_prompt(evidence: str, question: str, answer: str) -> Prompt:
    """The prompt that asks for a short answer as a sentence; the reply is one line."""
    shown = "\n\n".join(
        f"Text: {text}\nQuestion: {asked}\nAnswer: {short}\nSentence: {said}"
        for text, asked, short, said in _EXAMPLES
    )
    return Prompt(
        "You say the short answer to a question as one complete sentence. You add nothing to it.",
        (
            f"{shown}\n\nText: ",
            UntrustedText(" ".join(evidence.split())),
            "\nQuestion: ",
            UntrustedText(question),
            "\nAnswer: ",
            UntrustedText(answer),
            "\nSentence:",
        ),
    )


def said_of(model: LanguageModel, evidence: str, question: str, answer: str) -> str:
    """The sentence that a model makes of a short answer; "" if it is none, or has not all of the answer."""
    try:
        line = model.line(sentence_prompt(evidence, question, answer), max_tokens=MAX_TOKENS)
    except ConstraintError:
        return ""
    sentence = sentence_of(line.removeprefix("Sentence:").strip())
    words = {folded(word) for word in WORD_PATTERN.findall(sentence)}
    return sentence if {folded(word) for word in WORD_PATTERN.findall(answer)} <= words else ""


def short_answers(questions: Iterable[DocumentQuestion]) -> list[tuple[str, str, str]]:
    """(evidence, question, answer) of the questions that one strip answers, in an order of chance."""
    asked = [
        (each.document.strips[each.answering[0]].text, each.question, each.answer)
        for each in questions
        if len(each.answering) == 1 and not each.held_out and each.answer
    ]
    asked = [each for each in asked if len(each[0]) <= MAX_EVIDENCE_CHARACTERS]
    random.Random(0).shuffle(asked)
    return asked


def write_said(model: LanguageModel, asked: Sequence[tuple[str, str, str]], file: Path) -> Iterator[int]:
    """Append the sentence of each short answer to a file, and yield how many are done."""
    with file.open("a", encoding="utf-8") as lines:
        for done, (evidence, question, answer) in enumerate(asked, 1):
            sentence = said_of(model, evidence, question, answer)
            record = {"evidence": evidence, "question": question, "answer": answer, "sentence": sentence}
            lines.write(json.dumps(record, ensure_ascii=False) + "\n")
            lines.flush()
            yield done


def read_asked(file: Path) -> dict[tuple[str, str], str]:
    """The sentences of a file by question and answer, "" for those that were no good; none without a file."""
    return {(r["question"], r["answer"]): r["sentence"] for r in read_jsonl(file)} if file.exists() else {}


def read_said(file: Path) -> dict[tuple[str, str], str]:
    """The sentences of a file by question and answer."""
    return {key: sentence for key, sentence in read_asked(file).items() if sentence}
