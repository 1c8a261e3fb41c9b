"""Measure the chat model in llama.cpp on held-out documents: its yes or no, its lines, its answers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from localcrag.calibration.scale import log_odds
from localcrag.crag import prompts
from localcrag.crag.answering.answer_form import answer_pattern, cited_keys, without_keys
from localcrag.crag.judges.yes_no_choices import ask_each, yes_or_no
from localcrag.crag.questions.condense import condense
from localcrag.crag.questions.query_terms import content_words, folded
from localcrag.errors import ConstraintError
from localcrag.evaluation.statistics import Floats
from localcrag.evaluation.text_overlap import holds
from localcrag.events import result_of
from localcrag.protocols import LanguageModel
from localcrag.types import Choice, Prompt, Turn

from . import benchmarks as bench
from .calibration import auc, cross_validated_auc
from .chat_tasks import evidence_of, topic_held_out
from .data import SQUAD, Example, Record, read_questions, tidy
from .result_row import Row
from .written_answers import Answer, read_answers

MAX_LINE_TOKENS, MAX_ANSWER_TOKENS = 96, 120
_LAST_TOPIC_BY_ITSELF = 80
"""The last topic of TREC CAsT 2019."""
DISTRACTORS = 3
_ANSWER_SETS = (SQUAD, "selqa")


def rows(
    data: Path,
    held_out: Sequence[Example],
    sets: Sequence[str],
    model: LanguageModel,
    scorer: bench.Scorer,
    most: int,
) -> list[Row]:
    """Every figure of the chat model that needs no collection, on at most so many questions of each kind."""
    answers = read_answers(data, held_out, held_out=True)
    return [
        *sentence_rows(held_out, sets, model, most),
        *unanswerable_rows(held_out, model, scorer, most),
        *claim_rows(answers, model, most),
        *follow_up_rows(data, model),
        *answer_rows(data, held_out, model, scorer, most),
    ]


def yes_scores(model: LanguageModel, question: str, texts: Sequence[str]) -> Floats:
    """The log-odds of the model's yes for each text. Raises LocalCragError if it cannot judge one."""
    return _scores_of(ask_each(model, question, list(texts)))


def _scores_of(choices: Sequence[Choice | Exception]) -> Floats:
    values = []
    for choice in choices:
        if isinstance(choice, Exception):
            raise choice
        values.append(log_odds(choice.probabilities[0]))
    return np.array(values)


def sentence_rows(
    examples: Sequence[Example], sets: Sequence[str], model: LanguageModel, most: int
) -> list[Row]:
    """Picking the answering sentence of a passage by the model's yes or no."""
    rows = []
    for dataset in sets:
        if chosen := bench.pickable(examples, dataset, most):
            figures = bench.sentence_pick(chosen, partial(yes_scores, model))
            rows.append(Row("sentences", dataset, "language model", {**figures, "questions": len(chosen)}))
    return rows


def claim_rows(answers: Sequence[Answer], model: LanguageModel, most: int, seed: int = 0) -> list[Row]:
    """AUC of whether evidence says a sentence: the one it was written from, against others of its source."""
    rng = random.Random(seed)
    labels: list[bool] = []
    scores: list[float] = []
    for answer in rng.sample(list(answers), min(most, len(answers))):
        said = [text for text, keys in answer.sentences if keys == (0,)][:1]
        unsaid = [text for text in answer.distractors if text not in answer.evidence][:2]
        asked = [prompts.grounded(text, answer.evidence[:1]) for text in (*said, *unsaid)]
        scores += _scores_of(yes_or_no(model, asked)).tolist()
        labels += [True] * len(said) + [False] * len(unsaid)
    return [Row("claims", "all", "language model", {"auc": auc(np.array(labels, float), scores)})]


def follow_up_rows(data: Path, model: LanguageModel) -> list[Row]:
    """Content-word F1 of completed follow-ups, of conversations whose topic training never saw.

    The conversations are gone through as in the product (:func:`localcrag.crag.questions.condense.condense`),
    each follow-up with the questions before it as they were understood. Those of TREC CAsT 2019 depend on the
    user's turns alone (arXiv 2003.13624, section 3); in those of later years a follow-up may rest on an
    answer, and the set carries none.
    """
    records = [r for r in read_questions(data) if "history" in r and topic_held_out(r)]
    made: list[tuple[int, float, float]] = []
    for topic, turns in groupby(records, key=_topic):
        for record, line in _as_understood(model, list(turns)):
            if record["history"] and tidy(record["rewrite"]) != tidy(record["question"]):
                wanted = record["rewrite"]
                made.append((topic, word_f1(line, wanted), word_f1(record["question"], wanted)))
    first = [each for each in made if each[0] <= _LAST_TOPIC_BY_ITSELF]
    return [
        Row("follow-ups", subject, judge, {"word F1": float(np.mean(found)), "questions": float(len(found))})
        for subject, chosen in (("conversations", first), ("answers missing", made[len(first) :]))
        for judge, at in (("language model", 1), ("as asked", 2))
        if (found := [each[at] for each in chosen])
    ]


def _topic(record: Record) -> int:
    """The number of the topic of a turn, of an id such as "31_4" or "139_2-5"."""
    return int(str(record["id"]).split("_")[0])


def _as_understood(model: LanguageModel, turns: Sequence[Record]) -> Iterator[tuple[Record, str]]:
    """Each turn of a conversation, and the question that the product makes of it."""
    history: list[Turn] = []
    for record in turns:
        asked = record["question"].strip()
        line = result_of(condense(model, history, asked, extractive=False)).question if history else asked
        history.append(Turn("user", line))
        yield record, line


def line_or(question: str, model: LanguageModel, prompt: Prompt) -> str:
    """The line that the model writes; the question, as in the product, if the model fails."""
    try:
        return model.line(prompt, max_tokens=MAX_LINE_TOKENS)
    except ConstraintError:
        return question


def word_f1(text: str, wanted: str) -> float:
    """F1 of the distinct content words of a text against those wanted."""
    mine, theirs = ({folded(word) for word in content_words(each)} for each in (text, wanted))
    shared = len(mine & theirs)
    return 2 * shared / (len(mine) + len(theirs)) if shared else 0.0


def answer_rows(
    data: Path, held_out: Sequence[Example], model: LanguageModel, scorer: bench.Scorer, most: int
) -> list[Row]:
    """Written answers from evidence with distractors, against quoting the sentence that the evaluator picks.

    `gold contained` is the share of answers that have the gold answer in them; `right citation` the share
    of citing sentences with the gold whose citation is the piece that answers; `declined` is asked with the
    distractors alone.
    """
    golds = {tidy(r["question"]): r["answers"][0] for r in read_questions(data) if r.get("answers")}
    answers = [
        a
        for a in read_answers(data, held_out, held_out=True)
        if a.dataset in _ANSWER_SETS and len(a.evidence) == 1 and a.distractors and golds.get(a.question)
        if holds(a.evidence[0], [golds[a.question]])
    ]
    rng = random.Random(0)
    chosen = rng.sample(answers, min(most, len(answers)))
    written, quoted, cited, declined, refused, tokens = [], [], [], [], [], []
    for answer in chosen:
        gold = golds[answer.question]
        others = rng.sample(answer.distractors, min(DISTRACTORS, len(answer.distractors)))
        texts = list(dict.fromkeys([answer.evidence[0], *others]))
        rng.shuffle(texts)
        key = texts.index(answer.evidence[0]) + 1
        before = model.tokens
        reply = write(model, answer.question, texts)
        tokens.append((model.tokens - before).generated)
        written.append(holds(without_keys(reply), [gold]))
        refused.append(reply.strip() == prompts.NOT_IN_EVIDENCE)
        if written[-1]:
            cited.append(key in cited_keys(reply))
        quoted.append(holds(texts[int(np.argmax(scorer.numbers(answer.question, texts)))], [gold]))
        declined.append(write(model, answer.question, others).strip() == prompts.NOT_IN_EVIDENCE)
    if not chosen:
        return []
    figures = {
        "gold contained": float(np.mean(written)),
        "right citation": float(np.mean(cited)) if cited else 0.0,
        "declined": float(np.mean(declined)),
        "declined wrongly": float(np.mean(refused)),
        "tokens": float(np.mean(tokens)),
        "questions": float(len(chosen)),
    }
    return [
        Row("answers", "all", "written", figures),
        Row("answers", "all", "quoted", {"gold contained": float(np.mean(quoted))}),
    ]


def write(model: LanguageModel, question: str, texts: Sequence[str]) -> str:
    """The answer that the model writes from these texts, under the product's constraint; "" if it fails."""
    pattern = answer_pattern(range(1, len(texts) + 1))
    prompt = prompts.answer(question, evidence_of(texts), trained=model.trained)
    try:
        return "".join(model.stream(prompt, pattern=pattern, max_tokens=MAX_ANSWER_TOKENS))
    except ConstraintError:
        return ""


def unanswerable_rows(
    held_out: Sequence[Example], model: LanguageModel, scorer: bench.Scorer, most: int
) -> list[Row]:
    """AUC of whole passages: questions they answer, against questions written to look as if they did."""
    made = bench.adversarial(held_out, most)
    judge = np.array([scorer.numbers(question, [text])[0] for question, text in made.pairs])
    chat = np.array([yes_scores(model, question, [text])[0] for question, text in made.pairs])
    numbers = np.arange(len(made.pairs))
    both = cross_validated_auc(np.stack([judge, chat], 1), made.labels, numbers)
    pairs = float(len(numbers))
    return [
        Row("near misses", SQUAD, "language model", {"auc": auc(made.labels, chat), "pairs": pairs}),
        Row("near misses", SQUAD, "both", {"auc": both, "pairs": pairs}),
    ]
