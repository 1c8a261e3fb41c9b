"""Near misses made in numbers: texts that almost answer a question, and questions that a text almost answers.

One thing that a question shares with its passage is exchanged for another of its kind: a name, a year, a
number, a word of a closed class ("second" for "first"), its opposite, or a word that another question has in
the same place. Exchanged in the question or in the passage alone, the passage no longer answers; exchanged
in both, it still does. All four pairs occur equally often, so the surface of neither question nor text tells
the label (counterfactually augmented data, Kaushik et al. 2020; adversarially unanswerable questions,
Rajpurkar et al. 2018).
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from localcrag.crag.questions.query_terms import STOP_WORDS

from .data import Example
from .groups import MAX_TEXT_CHARACTERS, Group, window

TAKEN_OUT_SHARE = 0.25
"""The share of groups whose near miss is the passage without its answering sentence."""
ASKED_SHARE = 0.5
"""The share of groups that put the exchanged question, and not the one that was written."""
MAX_ENTITY_WORDS = 5
MIN_REST_CHARACTERS = 60
_CLASSES = (
    "first second third fourth fifth sixth seventh eighth ninth tenth last",
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty",
    "january february march april june july august september october november december",
    "monday tuesday wednesday thursday friday saturday sunday",
    "north south east west",
    "northern southern eastern western central",
    "summer winter spring autumn",
    "red blue green yellow black white purple orange",
    "million billion thousand hundred",
    "day week month year decade century",
    "days weeks months years decades centuries",
    "daily weekly monthly yearly annually",
    "father mother brother sister son daughter wife husband uncle aunt cousin grandfather",
    "king queen emperor prince president governor mayor bishop pope duke general",
    "treat diagnose prevent cause inherit",
    "treatments symptoms causes",
    "river mountain lake city island valley desert",
    "physics chemistry biology mathematics medicine literature economics",
)
_OPPOSITES = (
    "before after",
    "begin end",
    "began ended",
    "start stop",
    "started stopped",
    "largest smallest",
    "larger smaller",
    "large small",
    "biggest smallest",
    "bigger smaller",
    "highest lowest",
    "higher lower",
    "high low",
    "longest shortest",
    "longer shorter",
    "long short",
    "most least",
    "more less",
    "best worst",
    "better worse",
    "oldest youngest",
    "older younger",
    "old new",
    "earliest latest",
    "earlier later",
    "early late",
    "fastest slowest",
    "faster slower",
    "maximum minimum",
    "increase decrease",
    "increased decreased",
    "increases decreases",
    "increasing decreasing",
    "win lose",
    "won lost",
    "winning losing",
    "born died",
    "founded dissolved",
    "built destroyed",
    "construction demolition",
    "open close",
    "opened closed",
    "accept reject",
    "accepted rejected",
    "allow forbid",
    "allowed forbidden",
    "include exclude",
    "included excluded",
    "support oppose",
    "supported opposed",
    "supporters opponents",
    "advantage disadvantage",
    "advantages disadvantages",
    "benefits drawbacks",
    "strengths weaknesses",
    "strong weak",
    "male female",
    "men women",
    "man woman",
    "boys girls",
    "public private",
    "internal external",
    "inside outside",
    "inner outer",
    "above below",
    "upper lower",
    "top bottom",
    "left right",
    "front back",
    "arrive depart",
    "arrived departed",
    "enter leave",
    "entered left",
    "buy sell",
    "bought sold",
    "import export",
    "imports exports",
    "attack defend",
    "attacked defended",
    "create destroy",
    "created destroyed",
    "join leave",
    "joined left",
    "rise fall",
    "rose fell",
    "success failure",
    "successful unsuccessful",
    "positive negative",
    "legal illegal",
    "always never",
    "required optional",
    "enable disable",
    "enabled disabled",
    "add remove",
    "added removed",
    "install uninstall",
    "acute chronic",
    "common rare",
    "domestic foreign",
    "rural urban",
    "ancient modern",
    "hot cold",
    "hottest coldest",
    "warm cool",
    "light dark",
    "hard soft",
    "wet dry",
    "rich poor",
    "civil military",
    "primary secondary",
    "major minor",
    "love hate",
    "loved hated",
    "friend enemy",
    "friends enemies",
    "teacher student",
    "parents children",
    "husband wife",
    "buyer seller",
    "employer employee",
    "employers employees",
    "income expenses",
    "profit loss",
    "revenue costs",
    "agree disagree",
    "agreed disagreed",
    "approve reject",
    "approved rejected",
    "appointed dismissed",
    "hired fired",
    "married divorced",
    "alive dead",
    "cause prevent",
    "causes prevents",
    "attract repel",
    "expand contract",
    "expansion contraction",
    "producers consumers",
    "input output",
    "encrypt decrypt",
    "read write",
    "client server",
    "majority minority",
    "same different",
    "together separately",
    "true false",
    "simple complex",
    "natural artificial",
    "permanent temporary",
    "direct indirect",
    "formal informal",
    "safe dangerous",
    "full empty",
    "heavy light",
    "heaviest lightest",
    "deep shallow",
    "deepest shallowest",
    "wide narrow",
    "thick thin",
    "near far",
    "nearest farthest",
    "happy sad",
    "helpful harmful",
    "visible invisible",
)
_LIGHT_WORDS_TEXT = """
    type types kind kinds name names named sort form forms part parts people person used use uses using
    called known made make makes said main term word words number many often usually given found show
    example examples group groups considered referred refer according also time place way ways thing other
    different following happen happened titled original originally
"""
_LIGHT_WORDS = frozenset(_LIGHT_WORDS_TEXT.split())
"""Words that may be exchanged, or left out, without another question coming of it."""
_YEAR = re.compile(r"(?<![\w.,])(?:1[0-9]{3}|20[0-4][0-9])(?![\w]|[.,]\d)")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w]|[.,]\d)")
_NAME = re.compile(r"[A-Z][\w’'-]*(?:\s(?:of\s|the\s|de\s|von\s|van\s|du\s|and\s)?[A-Z][\w’'-]*)*")
_WORD = re.compile(r"[a-z][a-z-]{3,}")
_TOKEN = re.compile(r"\w+(?:[-'’]\w+)*")


def _counterparts() -> dict[str, list[str]]:
    """The words that a word of a closed class may be exchanged for."""
    found: dict[str, list[str]] = defaultdict(list)
    for members in map(str.split, (*_CLASSES, *_OPPOSITES)):
        for word in members:
            found[word] += [other for other in members if other != word]
    return dict(found)


COUNTERPARTS = _counterparts()
Kind = str
"""The kind of a thing: "name 1" (a name of one word), "name 2", "year", "number"."""


@dataclass(frozen=True)
class Exchange:
    """Two words or phrases that change places in a text, wherever they stand as whole words.

    It is its own inverse, so what it does to a question and to its passage leaves the one as answerable from
    the other as it was.
    """

    old: str
    new: str

    def __call__(self, text: str) -> str:
        """The text with both exchanged; a word in lower case, or with a capital, stays so."""
        return self._pattern.sub(self._other, text)

    @property
    def _pattern(self) -> re.Pattern[str]:
        longest = sorted((self.old, self.new), key=len, reverse=True)
        return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)", re.IGNORECASE)

    def _other(self, match: re.Match[str]) -> str:
        found = match.group()
        other = self.new if found.lower() == self.old.lower() else self.old
        if found.islower():
            return other.lower()
        return other[0].upper() + other[1:] if found[0].isupper() else other


class NearMisses:
    """Makes groups of true answers and near misses from labelled examples.

    Args:
        examples: what is exchanged for what comes from them: things of the same document first, then of the
            same set.
        rng: the source of every choice.
    """

    def __init__(self, examples: Sequence[Example], rng: random.Random) -> None:
        self._rng = rng
        things: dict[tuple[str, Kind], set[str]] = defaultdict(set)
        self._documents: dict[tuple[str, str], list[str]] = defaultdict(list)
        slots: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        seen: set[str] = set()
        for example in examples:
            document = self._documents[example.dataset, example.document]
            if example.passage not in seen and len(document) < 40:
                seen.add(example.passage)
                document.append(example.passage)
                for thing, kind in _things(example.passage):
                    things[example.dataset, kind].add(thing)
            for before, word, after in _slots(example.question):
                slots[example.dataset, before, after].add(word)
        self._things = {key: sorted(each) for key, each in things.items()}
        self._slots = {key: sorted(each) for key, each in slots.items() if len(each) > 1}

    def reseed(self, rng: random.Random) -> None:
        """Go on with other choices."""
        self._rng = rng

    def of(self, example: Example) -> Group | None:
        """A question with a whole passage that answers it and one that nearly does.

        The question is the example's, or one made of it by an exchange that the passage has gone through as
        well. Passages of more than 1,600 characters are windows around the answer. None if the example is
        no positive one, or has nothing to exchange.
        """
        if not example.relevant:
            return None
        passage = self._whole(example)
        if passage is None:
            return None
        if self._rng.random() < TAKEN_OUT_SHARE and (rest := self._without_evidence(example)):
            return self._shuffled(example.question, passage, rest)
        return self._exchanged(example, passage, passage)

    def of_sentence(self, example: Example) -> Group | None:
        """A question with a sentence that answers it, one that nearly does, and another of the passage.

        None if the set does not say which sentence answers, or there is nothing to exchange in it.
        """
        if not example.relevant or not example.evidence:
            return None
        sentence = example.sentences[self._rng.choice(example.evidence)]
        group = self._exchanged(example, sentence, example.passage)
        others = [s for i, s in enumerate(example.sentences) if i not in example.evidence]
        if group is None or not others:
            return group
        return Group(group.question, (*group.texts, self._rng.choice(others)), (*group.labels, 0.0))

    def _whole(self, example: Example) -> str | None:
        if len(example.passage) <= MAX_TEXT_CHARACTERS:
            return example.passage
        return window(example.sentences, example.evidence, 1000, self._rng) if example.evidence else None

    def _without_evidence(self, example: Example) -> str | None:
        """The passage without the sentences that answer, if a sentence or more is left."""
        if not example.evidence:
            return None
        answers = {example.sentences[i] for i in example.evidence}
        rest = " ".join(s for s in example.sentences if s not in answers)
        return rest if MIN_REST_CHARACTERS <= len(rest) <= MAX_TEXT_CHARACTERS else None

    def _exchanged(self, example: Example, text: str, passage: str) -> Group | None:
        exchange = self._exchange(example, text, passage)
        if exchange is None:
            return None
        changed = exchange(text)
        if self._rng.random() < ASKED_SHARE:
            return self._shuffled(exchange(example.question), changed, text)
        return self._shuffled(example.question, text, changed)

    def _shuffled(self, question: str, positive: str, negative: str) -> Group:
        pairs = [(positive, 1.0), (negative, 0.0)]
        self._rng.shuffle(pairs)
        texts, labels = zip(*pairs, strict=True)
        return Group(question, texts, labels)

    def _exchange(self, example: Example, text: str, passage: str) -> Exchange | None:
        """Something of the question that stands in the text, and another of its kind, or None."""
        makers: list[Callable[[Example, str, str], Iterator[Exchange]]] = [
            self._of_things,
            self._of_things,
            self._of_classes,
            self._of_slots,
        ]
        self._rng.shuffle(makers)
        for make in makers:
            usable = [e for e in make(example, text, passage) if _changes(e, example.question, text)]
            if usable:
                return self._rng.choice(usable)
        return None

    def _of_things(self, example: Example, text: str, passage: str) -> Iterator[Exchange]:
        """Names, years and numbers of the question, for others of the passage, its document or its set."""
        question = example.question
        for old, kind in _things(text):
            if not _stands_in(old, question) or _rests(old, text):
                continue
            near = [t for t, k in _things(passage) if k == kind]
            far = self._things.get((example.dataset, kind), [])
            document = self._rng.choice(self._documents.get((example.dataset, example.document)) or [passage])
            pools = [near, near, [t for t, k in _things(document) if k == kind], self._some(far)]
            self._rng.shuffle(pools)
            for pool in pools:
                others = [new for new in pool if not _alike(old, new) and not _stands_in(new, question)]
                if others:
                    yield Exchange(old, self._rng.choice(others))
                    break

    def _of_classes(self, example: Example, text: str, _: str) -> Iterator[Exchange]:
        """Words of closed classes, and words that have an opposite."""
        words = {word.lower() for word in _TOKEN.findall(text)}
        for word in dict.fromkeys(word.lower() for word in _TOKEN.findall(example.question)):
            others = [other for other in COUNTERPARTS.get(word, ()) if other not in words]
            if word in words and others:
                yield Exchange(word, self._rng.choice(others))

    def _of_slots(self, example: Example, text: str, passage: str) -> Iterator[Exchange]:
        """Words of the question, for those that another question has between the same two words."""
        words = {word.lower() for word in _TOKEN.findall(text)}
        stems = {_stem(word.lower()) for word in _TOKEN.findall(f"{passage} {example.question}")}
        for before, word, after in _slots(example.question):
            known = self._slots.get((example.dataset, before, after), [])
            others = [new for new in self._some(known) if _stem(new) not in stems]
            if word in words and others:
                yield Exchange(word, self._rng.choice(others))

    def _some(self, pool: Sequence[str], most: int = 12) -> list[str]:
        return self._rng.sample(pool, min(most, len(pool)))


def _changes(exchange: Exchange, question: str, text: str) -> bool:
    """Whether the exchange changes both question and text, and neither into more than may be read."""
    changed = exchange(text)
    return exchange(question) != question and changed != text and len(changed) <= MAX_TEXT_CHARACTERS


def _things(text: str) -> list[tuple[str, Kind]]:
    """The names, years and numbers of a text, each once with its kind."""
    years = {match.group(): "year" for match in _YEAR.finditer(text)}
    numbers = {match.group(): "number" for match in _NUMBER.finditer(text)}
    names = {name: f"name {min(len(name.split()), 3)}" for name in _names(text)}
    return list((numbers | years | names).items())


def _names(text: str) -> Iterator[str]:
    """Capitalised words and runs of them, without the words that only begin a sentence."""
    for match in _NAME.finditer(text):
        words = match.group().split()
        while words and words[0].lower() in STOP_WORDS:
            words = words[1:]
        name = re.sub(r"['’]s?$", "", " ".join(words)).strip("-'’")
        if len(name) < 3 or len(words) > MAX_ENTITY_WORDS or name.lower() in COUNTERPARTS:
            continue
        begins = match.start() == 0 or text[: match.start()].rstrip()[-1:] in '.!?:"“'
        if begins and len(words) == 1 and _is_common(name, text, match.start()):
            continue
        yield name


def _is_common(word: str, text: str, at: int) -> bool:
    """Whether a word that begins a sentence is not seen with its capital elsewhere in the text."""
    return not re.search(rf"[a-z,;]\s{re.escape(word)}\b", text[:at] + text[at + len(word) :])


def _slots(question: str) -> Iterator[tuple[str, str, str]]:
    """(word before, word, word after) of the words of a question that carry meaning, in lower case."""
    words = [word.lower() for word in _TOKEN.findall(question)]
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        plain = _WORD.fullmatch(word) and word not in STOP_WORDS and word not in _LIGHT_WORDS
        if plain and (before or after):
            yield before, word, after


def _stands_in(thing: str, text: str) -> bool:
    """Whether a thing stands in a text as whole words, whatever their case."""
    return re.search(rf"(?<!\w){re.escape(thing)}(?!\w)", text, re.IGNORECASE) is not None


def _rests(name: str, text: str) -> bool:
    """Whether a part of a name of several words stands in the text without the others."""
    words = [w for w in name.split() if w[0].isupper()]
    left = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text)
    return len(words) > 1 and any(_stands_in(word, left) for word in words)


def _alike(one: str, other: str) -> bool:
    """Whether two things may be the same: they share a word, or the beginning of one."""
    ours, theirs = _stems(one.split()), _stems(other.split())
    return bool(ours & theirs)


def _stems(words: Iterable[str]) -> set[str]:
    return {_stem(word.lower()) for word in words if word.lower() not in STOP_WORDS}


def _stem(word: str) -> str:
    """The first five letters of a word: enough to tell forms of one word from another word."""
    return word[:5] if word.isalpha() else word
