"""What the chat model learns, in the product's own prompts: judge, search, complete, answer, decline, check.

A task is one or several prompts, each with the reply that it should get. Prompts of one task begin alike
where they can: the passages behind one question, the claims behind one piece of evidence.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.crag import prompts
from localcrag.crag.questions.query_terms import WORD_PATTERN
from localcrag.types import Evidence, Passage, Prompt, Strip, Turn

from .chatter import Chatter
from .data import Example, Record, tidy
from .labelled_documents import DOCUMENTS_SET
from .pairs import GroupSampler
from .written_answers import Answer, sentence_of

YES, NO = "yes", "no"
TASK_SHARES = {"grade": 0.58, "answer": 0.2, "condense": 0.1, "rewrite": 0.03, "claim": 0.09}
"""Shares of the tasks drawn; a grade reads some four texts, the others one."""
HELD_OUT_TOPICS = 5
"""One conversation topic of so many is kept away from training."""
ANSWER_SHARES = {
    "squad_v2": 0.26, "selqa": 0.12, "qed_nq": 0.1, "qamr": 0.04, "fetaqa": 0.14, "dolly": 0.16,
    DOCUMENTS_SET: 0.18,
}  # fmt: skip
"""Shares of the sets that answers are drawn from."""
DECLINE_SHARE = 0.25
MAX_EVIDENCE = 5
MAX_GRADED_CHARACTERS = 1200
_PRONOUNS = ("it", "it", "it", "this", "that", "they", "them", "he", "she")
_QUESTION_NAME = re.compile(r"(?<!^)(?:[A-Z][\w'’.-]*)(?: (?:of |the )?[A-Z][\w'’.-]*)*")
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+(?: [A-Z][a-z]+)*")


@dataclass(frozen=True)
class Task:
    """A kind, and its prompts with their replies; `decided` if they are yes or no."""

    kind: str
    items: tuple[tuple[Prompt, str], ...]

    @property
    def decided(self) -> bool:
        """Whether the replies are yes or no."""
        return self.kind in ("grade", "claim")


def topic_held_out(record: Record) -> bool:
    """Whether a conversation's topic is one of those that follow-ups are measured on."""
    topic = str(record["id"]).split("_")[0]
    return hashlib.sha256(f"topic/{topic}".encode()).digest()[0] % HELD_OUT_TOPICS == 0


def history_of(record: Record) -> list[Turn]:
    """The user's earlier turns of a conversation, the last three."""
    return [Turn("user", text.strip()) for text in record["history"][-3:]]


class ChatTasks:
    """Draws tasks for ever.

    Args:
        examples: the labelled training examples.
        records: questions without passages, and conversations.
        groups: graded texts.
        answers: answers to learn to write.
        rng: the source of every choice.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        records: Sequence[Record],
        groups: GroupSampler,
        answers: Sequence[Answer],
        rng: random.Random,
    ) -> None:
        self._rng, self._groups = rng, groups
        self._answers: dict[str, list[Answer]] = defaultdict(list)
        for answer in answers:
            self._answers[answer.dataset].append(answer)
        self._chatter = Chatter(rng)
        questions = [tidy(r["question"]) for r in records if 3 <= len(r["question"].split()) <= 30]
        self._questions = list(dict.fromkeys([e.question for e in examples] + questions))
        self._turns = [r for r in records if r.get("rewrite") and r["history"] and not topic_held_out(r)]
        self._named = named_questions(examples)
        self._documents = [d for d, named in self._named.items() if len(named) > 1]
        self._sentences = [s for a in answers for s in (*a.evidence, *a.distractors)]

    def draw(self) -> Task:
        """One task, its kind chosen by `TASK_SHARES`; without answers to learn, all of them are grades."""
        kind = (
            self._rng.choices(list(TASK_SHARES), list(TASK_SHARES.values()))[0] if self._answers else "grade"
        )
        return self.of_kind(kind)

    def of_kind(self, kind: str) -> Task:
        """One task of a kind of `TASK_SHARES`."""
        match kind:
            case "answer":
                return self._answer()
            case "condense":
                return self._condense()
            case "claim":
                return self._claim()
            case "rewrite":
                return self._rewrite()
            case _:
                return self._grade()

    def _grade(self) -> Task:
        group = self._groups.draw()
        pairs = list(zip(group.texts, group.labels, strict=True))
        self._rng.shuffle(pairs)
        pairs.sort(
            key=lambda pair: -pair[1]
        )  # what does not fit a row is cut off: never the one that answers
        items = [
            (prompts.grade(group.question, text[:MAX_GRADED_CHARACTERS], trained=True), YES if label else NO)
            for text, label in pairs
        ]
        return Task("grade", tuple(items))

    def _rewrite(self) -> Task:
        question = self._rng.choice(self._questions)
        said, _ = self._chatter.wrap(question, mistakes=0.0)
        return Task("rewrite", ((prompts.rewrite(said), search_line(question)),))

    def _condense(self) -> Task:
        if self._turns and (self._rng.random() < 0.5 or not self._documents):
            record = self._rng.choice(self._turns)
            prompt = prompts.condense(history_of(record), record["question"].strip())
            return Task("condense", ((prompt, record["rewrite"].strip()),))
        return self._follow_up()

    def _follow_up(self) -> Task:
        """Questions of one article that share a name: all but the first lose it, the last is completed."""
        named = self._named[self._rng.choice(self._documents)]
        turns = self._rng.choice([2, 2, 2, 3, 4])
        (first, _), *between, (last, name) = self._rng.sample(named, min(turns, len(named)))
        asked = [first, *(self._shortened(question, name) for question, name in between)]
        history = [Turn("user", question) for question in asked]
        if self._rng.random() < 0.15:
            return Task("condense", ((prompts.condense(history, last), last),))
        follow = self._rng.choice(["", "", "", "and ", "ok, ", "so "]) + self._shortened(last, name)
        if self._rng.random() < 0.4:
            said = self._rng.choice([prompts.NOT_IN_EVIDENCE, f"{name}. [1]"])
            history.append(Turn("assistant", said))
        return Task("condense", ((prompts.condense(history, follow), last),))

    def _shortened(self, question: str, name: str) -> str:
        """A question as it follows one that has the name: without it, or with a pronoun in its place."""
        named = rf"(?:the )?{re.escape(name)}(?:['’]s)?"
        if self._rng.random() < 0.4:
            plain = re.sub(
                rf" (?:of|in|for|about|by|on|from|with|at) {named}(?=[ ?.,])", "", question, count=1
            )
            if plain != question:
                return plain
        return re.sub(rf"\b{named}", self._rng.choice(_PRONOUNS), question, count=1)

    def _answer(self) -> Task:
        answer = self._drawn_answer()
        declines = self._rng.random() < DECLINE_SHARE
        own = self._rng.sample(answer.distractors, min(len(answer.distractors), self._rng.randint(0, 3)))
        count = self._rng.randint(1, MAX_EVIDENCE)
        shown = [*([] if declines else answer.evidence), *own]
        while len(shown) < count:
            shown.append(self._rng.choice(self._sentences))
        order = list(dict.fromkeys(shown))
        self._rng.shuffle(order)
        place = {text: key for key, text in enumerate(order, 1)}
        question = answer.question
        prompt = prompts.answer(question, evidence_of(order), trained=True)
        if declines:
            return Task("answer", ((prompt, prompts.NOT_IN_EVIDENCE),))
        parts = [
            f"{text} {''.join(f'[{key}]' for key in sorted(place[answer.evidence[at]] for at in keys))}"
            for text, keys in answer.sentences
        ]
        return Task("answer", ((prompt, " ".join(parts)),))

    def _drawn_answer(self) -> Answer:
        names = list(self._answers)
        name = self._rng.choices(names, [ANSWER_SHARES.get(n, 0.1) for n in names])[0]
        return self._rng.choice(self._answers[name])

    def _claim(self) -> Task:
        """Claims behind one piece of evidence: what it says, and things that it does not say."""
        answer = self._drawn_answer()
        evidence = [*answer.evidence[:1], *answer.distractors[:1]]
        self._rng.shuffle(evidence)
        said = next((text for text, keys in answer.sentences if keys == (0,)), "") or sentence_of(evidence[0])
        claims = [(said, YES)] if said else []
        if said and (other := self._altered(said, " ".join(evidence))):
            claims.append((other, NO))
        unsaid = [text for text in map(sentence_of, answer.distractors[1:4]) if text]
        unsaid.append(sentence_of(self._rng.choice(self._sentences)))
        claims += [(text, NO) for text in unsaid if text][: 1 + (self._rng.random() < 0.3)]
        if not claims:
            return self._grade()
        return Task("claim", tuple((prompts.grounded(text, evidence), reply) for text, reply in claims))

    def _altered(self, sentence: str, evidence: str) -> str:
        """A sentence with one number or name exchanged for another that the evidence does not have there."""
        if numbers := _NUMBER.findall(sentence):
            old = self._rng.choice(numbers)
            new = str(max(0, int(old) + self._rng.choice([-30, -7, -2, -1, 1, 2, 5, 10, 100])))
            if new != old:
                return re.sub(rf"\b{old}\b", new, sentence, count=1)
        names = _NAME.findall(sentence)
        known = [n for n in _NAME.findall(evidence) if n not in sentence]
        known += _NAME.findall(self._rng.choice(self._sentences))
        if names and known:
            return sentence.replace(self._rng.choice(names), self._rng.choice(known), 1)
        return ""


def search_line(question: str) -> str:
    """The line to search for in place of a chatty question: the question itself, without its mark."""
    words = " ".join(question.split()).rstrip("?!. ")
    return words if WORD_PATTERN.search(words) else question


def evidence_of(texts: Sequence[str]) -> list[Evidence]:
    """Texts as numbered evidence, as the product puts it into a prompt."""
    return [
        Evidence(key, Strip(passage_of(text), 0, len(text), text, 1.0)) for key, text in enumerate(texts, 1)
    ]


def passage_of(text: str) -> Passage:
    """A text as a passage of a document of its own."""
    return Passage(
        id="", document="", source="", page=None, start=0, end=len(text), text=text, title="", heading=""
    )


def named_questions(examples: Sequence[Example]) -> dict[str, list[tuple[str, str]]]:
    """Questions with a name that at least one other question of the same document has too."""
    by_name: dict[str, list[tuple[str, str]]] = defaultdict(list)
    seen: set[str] = set()
    for example in examples:
        if example.question in seen or len(WORD_PATTERN.findall(example.question)) > 25:
            continue
        seen.add(example.question)
        for name in set(_QUESTION_NAME.findall(example.question)):
            if len(name) > 3:
                by_name[f"{example.dataset}/{example.document}/{name}"].append((example.question, name))
    return {key: each for key, each in by_name.items() if len(each) > 1}
