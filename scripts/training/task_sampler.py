"""What the language model learns to do: rewrite, grade, condense; prompts come from `localcrag`.

Each item is a user message and the reply it should get. Messages are built exactly as the product builds
them for a model whose template has no place for a system message.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.crag import prompts
from localcrag.crag.query_terms import WORD_PATTERN
from localcrag.types import Prompt, Turn, UntrustedText

from .chatter import Chatter
from .data import Example, Record, tidy
from .pairs import GroupSampler

TASK_SHARES = {"rewrite": 0.62, "grade": 0.2, "condense": 0.18}
_NAME = re.compile(r"(?<!^)(?:[A-Z][\w'’.-]*)(?: (?:of |the )?[A-Z][\w'’.-]*)*")
_PRONOUNS = ("it", "it", "it", "this", "that", "they", "them", "he", "she")


@dataclass(frozen=True)
class Item:
    """A task's name, its message and the reply.

    A line begins with a space: its first word then has the token that it has inside the message, and can
    be copied like the others.
    """

    task: str
    message: str
    reply: str


def message_of(prompt: Prompt) -> str:
    """A prompt as one user message, the system's words in front of it."""
    user = "".join(part.text if isinstance(part, UntrustedText) else part for part in prompt.user).strip()
    return f"{prompt.system}\n\n{user}" if prompt.system else user


def grade_message(question: str, passage: str) -> str:
    """The message that asks for yes or no."""
    return message_of(prompts.grade(question, passage))


def rewrite_message(question: str) -> str:
    """The message that asks for a line of keywords."""
    return message_of(prompts.rewrite(question))


def condense_message(history: Sequence[tuple[str, str]], question: str) -> str:
    """The message that asks for a standalone question; `history` holds (role, text)."""
    return message_of(prompts.condense([Turn(role, text) for role, text in history], question))


class TaskSampler:
    """Draws items for ever from labelled examples, bare questions and conversational rewrites."""

    def __init__(
        self, examples: Sequence[Example], records: Sequence[Record], groups: GroupSampler, rng: random.Random
    ) -> None:
        self._rng, self._groups = rng, groups
        self._chatter = Chatter(rng)
        questions = [tidy(r["question"]) for r in records if 3 <= len(r["question"].split()) <= 30]
        self._questions = list(dict.fromkeys([e.question for e in examples] + questions))
        self._turns = [
            r for r in records if r.get("rewrite") and r["rewrite"].strip() != r["question"].strip()
        ]
        self._named = _named_questions(examples)
        self._documents = [d for d, named in self._named.items() if len(named) > 1]

    def draw(self) -> Item:
        """One item, its task chosen by `TASK_SHARES`."""
        task = self._rng.choices(list(TASK_SHARES), list(TASK_SHARES.values()))[0]
        if task == "grade":
            return self._grade()
        if task == "condense" and (self._documents or self._turns):
            return self._condense()
        return self._rewrite()

    def _rewrite(self) -> Item:
        said, target = self._chatter.wrap(self._rng.choice(self._questions))
        return Item("rewrite", rewrite_message(said), f" {target}")

    def _grade(self) -> Item:
        group = self._groups.draw()
        at = 0 if group.labels[0] and self._rng.random() < 0.5 else self._rng.randrange(len(group.texts))
        reply = "yes" if group.labels[at] else "no"
        return Item("grade", grade_message(group.question, group.texts[at][:700]), reply)

    def _condense(self) -> Item:
        if self._turns and (self._rng.random() < 0.2 or not self._documents):
            turn = self._rng.choice(self._turns)
            history = [("user", q.strip()) for q in turn["history"][-3:]]
            return Item(
                "condense", condense_message(history, turn["question"].strip()), turn["rewrite"].strip()
            )
        return self._follow_up()

    def _follow_up(self) -> Item:
        """Two questions of one article that share a name: the second one loses it to a pronoun."""
        (first, _), (second, name) = self._pair_with_shared_name()
        if self._rng.random() < 0.12:
            return Item("condense", condense_message([("user", first)], second), f" {second}")
        follow = re.sub(
            rf"(?:\bthe )?{re.escape(name)}(?:['’]s)?", self._rng.choice(_PRONOUNS), second, count=1
        )
        follow = self._rng.choice(["", "", "", "and ", "ok, ", "so "]) + follow
        history = [("user", first)]
        if self._rng.random() < 0.4:
            history.append(("assistant", self._rng.choice(["The documents do not answer this.", f"{name}."])))
        return Item("condense", condense_message(history, follow), f" {second}")

    def _pair_with_shared_name(self) -> tuple[tuple[str, str], tuple[str, str]]:
        named = self._named[self._rng.choice(self._documents)]
        return self._rng.sample(named, 2)  # type: ignore[return-value]


def _named_questions(examples: Sequence[Example]) -> dict[str, list[tuple[str, str]]]:
    """Questions with a name that at least one other question of the same document has too."""
    by_name: dict[str, list[tuple[str, str]]] = defaultdict(list)
    seen: set[str] = set()
    for example in examples:
        if example.question in seen or len(WORD_PATTERN.findall(example.question)) > 25:
            continue
        seen.add(example.question)
        for name in set(_NAME.findall(example.question)):
            if len(name) > 3:
                by_name[f"{example.dataset}/{example.document}/{name}"].append((example.question, name))
    return {key: each for key, each in by_name.items() if len(each) > 1}
