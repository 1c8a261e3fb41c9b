"""How people wrap a question when they talk: greetings, asides, fillers, thanks.

Every list is cut in two by a hash of the phrase, so that rewriting can be measured on wrappers that were
never trained on.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

from .wording import keywords, mistype

_GREETINGS = (
    "hi", "hello", "hey", "hey there", "hi there", "good morning", "good evening", "hello everyone",
    "greetings", "hi all", "dear assistant", "ok", "okay so", "so", "well", "um", "right", "alright",
    "excuse me", "sorry", "sorry to bother you", "hi again", "quick one", "quick question",
    "one more thing", "just a quick question", "hope you are well", "hope you're having a good day",
    "good afternoon", "morning", "evening all", "yo", "hiya", "hey guys", "hello friend",
    "first of all thank you", "if you have a minute", "pardon me",
)  # fmt: skip
_OPENERS = (
    "I was wondering if you could tell me", "I was wondering", "can you tell me", "could you tell me",
    "could you please tell me", "please tell me", "do you know", "do you happen to know",
    "I'd like to know", "I would like to know", "I want to know", "I need to know", "I need to find out",
    "help me find out", "can you help me find out", "I'm trying to find out",
    "I am trying to understand", "I was curious", "I'm curious", "just curious", "any idea",
    "does anyone know", "would you mind telling me", "tell me", "can you explain to me",
    "could you explain", "please explain", "I have a question", "my question is", "here is my question",
    "I wanted to ask you", "I wanted to ask", "let me ask you this", "may I ask", "I keep asking myself",
    "I can't remember", "I forgot", "I have been wondering", "I always wondered",
    "what I'd like to find out is this", "the thing I want to know is", "can you look up",
    "please look up", "could you check", "can you check for me", "find out for me", "remind me",
    "can you remind me", "I'd be grateful if you could tell me",
    "I would appreciate it if you could tell me", "I'm looking for this",
    "is there any chance you could tell me", "maybe you can tell me", "perhaps you know",
    "I'm not sure but", "someone asked me", "my boss asked me", "my daughter asked me",
    "a friend asked me", "my teacher asked", "my colleague wants to know",
    "we were discussing this at work and wondered", "what I don't get is", "I'm a bit confused",
    "I am stuck on this", "can somebody tell me", "what I need is the answer to this",
)  # fmt: skip
_ASIDES = (
    "I've been reading about it", "I have been reading about {topic}",
    "I've been reading about this for days", "I saw something about it on television",
    "I read an article on {topic} yesterday", "it's for school", "it's for a report I am writing",
    "I have an exam tomorrow", "my teacher mentioned {topic} last week",
    "I looked everywhere but could not find it", "I searched online and found nothing useful",
    "this came up in a conversation with my brother", "we had an argument about it at dinner",
    "I'm new to this topic", "I know almost nothing about it", "I'm preparing a presentation",
    "I think I heard it once but forgot", "it has been bothering me all day",
    "I am really interested in {topic}", "my kids keep asking about {topic}",
    "I'm working on a project about {topic}", "it's not urgent", "I asked my colleagues and nobody knew",
    "the book I have doesn't say", "I'm writing an essay", "there was a quiz last night",
    "I promised my grandmother to find out", "I just started learning about {topic}",
    "I was talking with a friend about {topic}",
    "I might be wrong but I think it was mentioned somewhere",
    "not sure if this is the right place to ask", "I couldn't find it in the documents",
    "it's probably in one of the documents", "I only have a few minutes",
    "I've been thinking about {topic} a lot lately", "I watched a documentary about {topic}",
    "everyone tells me something different", "I need this for work", "my manager wants it by Friday",
    "English is not my first language", "forgive my ignorance", "I know this may sound silly",
    "this might be a stupid question", "I don't know much about {topic}",
)  # fmt: skip
_CLOSERS = (
    "thanks", "thank you", "thanks a lot", "thank you so much", "thanks in advance", "many thanks",
    "cheers", "please", "if you know", "if possible", "if you don't mind", "please help",
    "any help is appreciated", "thanks for your help", "thank you very much in advance",
    "I'd really appreciate it", "please let me know", "let me know", "a short answer is fine",
    "just a short answer please", "keep it short", "be brief please", "I hope you can help",
    "would be great to know", "that would help me a lot", "no rush", "whenever you have time",
    "as detailed as possible please", "in simple words please", "kind regards", "best wishes", "bye",
    "much obliged", "have a nice day", "sorry for the long message", "that's all", "that is all I need",
    "hope that makes sense", "really need an answer", "asap please", "you're the best", "lol",
    "what do you think", "right?", "or not?",
)  # fmt: skip
_FILLERS = (
    "um", "uh", "like", "you know", "I mean", "actually", "basically", "well", "kind of", "exactly",
    "again", "roughly", "really", "just", "so to speak", "more or less", "by the way", "please",
)  # fmt: skip


def _part(phrases: Sequence[str], held_out: bool) -> list[str]:
    """The phrases of one side of the split; about one in seven is held out."""
    return [p for p in phrases if (hashlib.sha256(p.encode()).digest()[0] % 7 == 0) == held_out]


class Chatter:
    """Wraps questions into talk; `held_out` chooses the phrases kept away from training."""

    def __init__(self, rng: random.Random, held_out: bool = False) -> None:
        self._rng = rng
        lists = (_GREETINGS, _OPENERS, _ASIDES, _CLOSERS, _FILLERS)
        parts = [_part(each, held_out) for each in lists]
        self._greetings, self._openers, self._asides, self._closers, self._fillers = parts

    def wrap(self, question: str, mistakes: float = 0.12) -> tuple[str, str]:
        """A chatty form of `question`, and its keywords as they are spelt in that form."""
        core = question.strip()
        if self._rng.random() < mistakes:
            core = mistype(core, self._rng)
        if self._rng.random() < 0.3:
            core = core.lower()
        target = keywords(core)
        said = self._around(core, target)
        return said, target

    def _around(self, core: str, target: str) -> str:
        roll = self._rng.random
        asked = self._with_filler(core) if roll() < 0.2 else core
        before: list[str] = []
        after: list[str] = []
        if roll() < 0.5:
            before.append(self._rng.choice(self._greetings))
        if roll() < 0.35:
            before.append(self._aside(target))
        if roll() < 0.7:
            opener = self._rng.choice(self._openers)
            asked = f"{opener}{self._rng.choice([' ', ' ', ', ', ': '])}{_lowered(asked)}"
        if roll() < 0.35:
            after.append(self._aside(target))
        if roll() < 0.6:
            after.append(self._rng.choice(self._closers))
        return self._joined([*before, asked, *after])

    def _aside(self, target: str) -> str:
        some = target.split()
        return self._rng.choice(self._asides).format(topic=" ".join(some[: self._rng.randint(1, 2)]))

    def _with_filler(self, text: str) -> str:
        pieces = text.split()
        at = self._rng.randint(1, max(1, len(pieces) - 1))
        comma = self._rng.choice(["", ","])
        return " ".join([*pieces[:at], self._rng.choice(self._fillers) + comma, *pieces[at:]])

    def _joined(self, parts: Sequence[str]) -> str:
        """The parts as one text: sentences, commas or nothing between them, in the writer's own case."""
        style = self._rng.random()
        if style < 0.4:
            text = ", ".join(parts)
        elif style < 0.75:
            text = " ".join(p if p[-1] in ".?!" else p + "." for p in map(_raised, parts))
        else:
            text = " ".join(p.rstrip("?.!") for p in parts)
        return text if self._rng.random() < 0.7 else _raised(text)


def _raised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lowered(text: str) -> str:
    """The text with its first word in lower case, unless it looks like a name."""
    first = text.split(" ", 1)[0]
    return text if first.isupper() or first[1:2].isupper() else text[:1].lower() + text[1:]
