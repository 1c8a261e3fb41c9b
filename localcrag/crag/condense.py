"""A follow-up as a question that stands alone.

A chat model reads the last turns and rewrites the follow-up. A very small one garbles what it
copies, and is not asked: :func:`completed` puts the words that the follow-up leans on before it, by
rule, and takes them from the user's own questions only.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from localcrag.crag import prompts
from localcrag.crag.query_terms import STOP_WORDS, WORD_PATTERN, content_words, folded
from localcrag.errors import ModelError
from localcrag.events import Condensed, Degraded, Steps
from localcrag.protocols import LanguageModel
from localcrag.types import Turn

LAST_TURNS = 8
"""Turns that a chat model reads, at most: a follow-up rarely leans on more."""
STANDALONE_TOKENS = 96
LAST_QUESTIONS = 24
"""Questions of the user that the rule looks back over, at most."""
MAX_TOPIC = 4
"""Words of a topic; the first ones name it best, and more of them make a search vaguer."""
MAX_CARRIED = 8

_BACK_WORDS = """
    it its itself they them their theirs themselves he him his himself she her hers herself this these
    those there one ones
"""
ANAPHORS = frozenset(_BACK_WORDS.split())
"""Words that point back, unless the question has named enough before them."""
_ASPECT_WORDS = """
    advantage advantages another become began begin benefit benefits best better between big call called
    cause caused causes come common compare comparison cons cool cost costs day days define definition
    describe difference differences different disadvantage disadvantages effect effects else example
    examples famous first get getting give go going good great happen happened happens history hmm impact
    importance important info information interesting involve involved kind kinds known large last long
    look main made make makes making meaning means more most name named names new next often old options
    other others overview people play played popular price pros purpose related role same significance
    similar sort sorts start started steps time times told type types use used uses using way ways went
    work working works worst wow year years
"""
_ASPECTS = frozenset(_ASPECT_WORDS.split())
"""What is asked about things, in any conversation: such words do not name a topic."""
_PLACING_WORDS = "after as at before by during for from if in on since to under when with"
_PLACING = frozenset(_PLACING_WORDS.split())
_INTRODUCES_A_TOPIC = ("of", "about", "on", "regarding")
_ASKING_WORDS = """
    who am are is was were do does did has have had can could may might must shall should will would
"""
ASKING_WORDS = frozenset(_ASKING_WORDS.split())
"""What makes a whole question with one word more; "which" and "how many" only make a part of one."""
_OPENING = ASKING_WORDS | {"what", "when", "where", "which", "whose", "whom", "why", "how"}


class _Lean(Enum):
    """How a question rests on those before it: not at all, by a word that points back, or by going on."""

    ALONE = "alone"
    REFERS = "refers"
    CONTINUES = "continues"


def condense(model: LanguageModel, history: Sequence[Turn], question: str, *, extractive: bool) -> Steps[str]:
    """The standalone question; the question as it is where it leans on nothing, or the model fails.

    ``extractive`` goes by rule, without the model and without the answers in the history.
    """
    if extractive:
        earlier = [turn.text for turn in history if turn.role == "user"]
        standalone = completed(question, earlier[-LAST_QUESTIONS:])
    else:
        turns = history[-LAST_TURNS:]
        read = _fitting(model, turns, question)
        if len(read) < len(turns):
            yield Degraded("condense", f"only {len(read)} of the last {len(turns)} turns fit the context")
        try:
            standalone = model.line(prompts.condense(read, question), max_tokens=STANDALONE_TOKENS)
        except ModelError as error:
            yield Degraded("condense", str(error))
            return question
    if standalone != question:
        yield Condensed(question, standalone)
    return standalone


def completed(question: str, earlier: Sequence[str]) -> str:
    """The question, with the telling words of the earlier ones that it leans on put before it.

    A topic lasts from one question that names something to the next. A question that points back
    ("is it …", "what are the symptoms?") gets the topic; one that goes on ("and in 2019?", "what
    about …") gets all that the last one was about, where a number takes the place of a number and
    a name that of a name. An "and" before a whole question ("and who approves travel?") is nothing.
    """
    topic: list[str] = []
    last: list[str] = []
    carried: list[str] = []
    for text in (*earlier, question):
        lean = _lean(text) if topic else _Lean.ALONE
        source = {_Lean.ALONE: [], _Lean.REFERS: topic, _Lean.CONTINUES: _kept(last, text)}[lean]
        carried = _missing(text, source)
        if lean is not _Lean.REFERS:
            topic = _topic(text, going_on=lean is _Lean.CONTINUES) or topic
        last = [*carried, *content_words(text)]
    return f"{' '.join(carried)}: {question}" if carried else question


def _fitting(model: LanguageModel, turns: Sequence[Turn], question: str) -> Sequence[Turn]:
    """The newest turns that leave the context room for the standalone question."""
    for start in range(len(turns)):
        if model.count(prompts.condense(turns[start:], question)) + STANDALONE_TOKENS <= model.context:
            return turns[start:]
    return ()


def _lean(text: str) -> _Lean:
    words = WORD_PATTERN.findall(text)
    low = [folded(word) for word in words]
    joined = low[:1] in (["and"], ["or"]) and len(content_words(text)) <= 3
    if _after_opening(low) or (joined and not _is_whole(words[1:])):
        return _Lean.CONTINUES
    return _Lean.REFERS if _points_back(words) else _Lean.ALONE


def _is_whole(words: Sequence[str]) -> bool:
    """Whether what follows an "and" is a question of its own, without the time, place or purpose in it.

    "Who approves travel" is one; "in children", "who pays", "who makes it", "how many tablets for
    children" and "what is the dose for children" are not.
    """
    low = [folded(word) for word in words]
    if not low or low[0] not in _OPENING or ANAPHORS & set(low):
        return False
    placing = _PLACING.difference(_INTRODUCES_A_TOPIC)
    end = next((i for i in range(1, len(low)) if low[i] in placing), len(low))
    told = [word for word in low if word not in STOP_WORDS]
    asked = [word for word in low[:end] if word not in STOP_WORDS or word in ASKING_WORDS]
    return min(len(told), len(asked)) >= 2 and not _points_back(words[:end])


def _points_back(words: Sequence[str]) -> bool:
    """Whether the words name nothing, or only "the …", or a word that points back comes early."""
    low = [folded(word) for word in words]
    naming = [i for i in range(len(words)) if _names(low[i])]
    if not naming:
        return True
    only = naming[0]
    if len(naming) == 1 and only and low[only - 1] == "the" and words[only].islower():
        return True
    before = len(words) if len(naming) < 2 else naming[1]
    return bool(ANAPHORS & set(low[: before + 1]))


def _after_opening(low: Sequence[str]) -> int:
    """Where the text goes on after "what about", near its start; 0 where it does not begin so."""
    for i in range(min(len(low) - 1, 3)):
        if low[i] in ("what", "how") and low[i + 1] == "about":
            return i + 2
    return 0


def _topic(text: str, *, going_on: bool) -> list[str]:
    """What a question is about: its names, what follows "of" or "about", or all words that name something.

    A question that goes on names a topic only where no time, place or purpose follows its opening.
    """
    words = WORD_PATTERN.findall(text)
    low = [folded(word) for word in words]
    if going_on:
        words = words[_after_opening(low) or 1 :]
        placed = words and folded(words[0]) in _PLACING
        return [] if placed else _naming(words)[:MAX_TOPIC]
    for i, word in enumerate(low):
        if word in _INTRODUCES_A_TOPIC and (after := _naming(words[i + 1 :])):
            return after[:MAX_TOPIC]
    names = [word for word in words[1:] if _is_name(word)]
    return (names or _naming(words) or content_words(text))[:MAX_TOPIC]


def _naming(words: Sequence[str]) -> list[str]:
    return [word for word in words if _names(folded(word))]


def _names(bare_word: str) -> bool:
    return bare_word not in STOP_WORDS and bare_word not in _ASPECTS


def _kept(last: Sequence[str], text: str) -> list[str]:
    """What stays of the last question's words when a text goes on from it."""
    new = WORD_PATTERN.findall(text)[1:]
    replaced = [kind for kind in (str.isdigit, _is_name) if any(kind(word) for word in new)]
    return [word for word in last if not any(kind(word) for kind in replaced)]


def _is_name(word: str) -> bool:
    """Whether a word inside a sentence names something: "US" does, and "us" and "I" do not."""
    shouted = len(word) > 1 and word.isupper()
    return word[0].isupper() and (shouted or folded(word) not in STOP_WORDS)


def _missing(text: str, source: Sequence[str]) -> list[str]:
    """The words of the source that the text does not have."""
    had = {folded(word) for word in WORD_PATTERN.findall(text)}
    fresh = {folded(word): word for word in source if folded(word) not in had}
    return list(fresh.values())[:MAX_CARRIED]
