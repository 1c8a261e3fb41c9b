"""Does a text of the model repeat its prompt, or the shape of a conversation, and not say anything itself?

The check depends on no constraint and on no model: it compares with the prompts themselves.
"""

from __future__ import annotations

import re
from functools import cache

from localcrag.crag import prompts
from localcrag.types import Evidence, Passage, Prompt, Strip

_SHINGLE_WORDS = 5
"""So many words in a row that stand in a prompt are no coincidence."""
_TAG = re.compile(
    r"<\s*/?\s*\|?\s*(?:passages?|think|tool_call|system|user|assistant|im_start|im_end|/?s)\b", re.IGNORECASE
)
_INVISIBLE = re.compile("[\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]")
_LABEL = re.compile(
    r"^[\W_]*(?:user|human|assistant|system|bot|ai|model|question|answer|reply|response|passage|text|document|"
    r"sentence|claim|evidence|context|conversation|follow-up|search line|keywords|title|note|example|task|"
    r"instructions?)(?:\s+\d+)?[\s*_]*:",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_PROMPT_WORDS = frozenset({"passage", "passages"})
"""What the prompts call the evidence: a text that speaks of it speaks of the prompt."""

_NUMBERED = (
    r"(?:the\s+)?(?:(?:first|second|third|fourth|fifth|last|given|provided)\s+)?passages?(?:\s+\[?\d+\]?)?"
)
_TOLD = (
    r"(?:stated|mentioned|described|noted|said|given|shown|indicated|listed|found|seen|reported|explained)"
)
_MENTION_LAST = re.compile(
    rf",?\s+(?:(?:as|which\s+is)\s+)?(?:{_TOLD}\s+)?(?:in|by|from|per|according\s+to)\s+{_NUMBERED}(?=\W*$)",
    re.IGNORECASE,
)
_MENTION_FIRST = re.compile(
    rf"^(?:(?:according\s+to|as\s+{_TOLD}\s+in|in)\s+{_NUMBERED},|{_NUMBERED}\s+(?:says|states|mentions|notes)"
    r"\s+that)\s+",
    re.IGNORECASE,
)


def without_mention(sentence: str, known: str = "") -> str:
    """A sentence without words such as ", as stated in passage 2", which its citation says already.

    Only a mention at its beginning or its end is taken out. A sentence that consists of one stays, and so
    does every sentence if passages are spoken of in ``known``: the evidence and the question.
    """
    if set(_words(known)) & _PROMPT_WORDS:
        return sentence
    rest = _MENTION_FIRST.sub("", _MENTION_LAST.sub("", sentence))
    return rest[:1].upper() + rest[1:] if _WORD.search(rest) else sentence


def leak(text: str, known: str = "") -> str:
    """The part of a prompt that a text repeats, in words for the user; "" if there is none.

    Args:
        text: a sentence of an answer, or a line.
        known: texts that may be repeated: the evidence and the question, which may hold the same words.
    """
    if _TAG.search(text):
        return "a tag of the prompt"
    if _INVISIBLE.search(text):
        return "an invisible character"
    if label := _LABEL.match(text):
        return f"the label {label[0].strip()!r}"
    if set(_words(text)) & _PROMPT_WORDS - set(_words(known)):
        return "the word “passage” of the prompt"
    if (_shingles(text) & _prompt_shingles()) - _shingles(known):
        return "words of the prompt"
    return ""


def _words(text: str) -> list[str]:
    """The words of a text, folded."""
    return [word.casefold() for word in _WORD.findall(text)]


def _shingles(text: str) -> set[tuple[str, ...]]:
    """The runs of ``_SHINGLE_WORDS`` words of a text, folded."""
    words = _words(text)
    return {tuple(words[i : i + _SHINGLE_WORDS]) for i in range(len(words) - _SHINGLE_WORDS + 1)}


@cache
def _prompt_shingles() -> frozenset[tuple[str, ...]]:
    """The runs of words of all prompts that write text a user may see or that is searched for."""
    passage = Passage("", "", "", "", "", None, 0, 0, "")
    evidence = [Evidence(1, Strip(passage, 0, 0, "", 0.0))]
    made: list[Prompt] = [
        prompts.rewrite(""),
        prompts.phrasing("", ()),
        prompts.hypothesis(""),
        prompts.condense((), ""),
        prompts.answerable("", evidence),
        prompts.grounded("", [""]),
    ]
    for trained in (True, False):
        made += [
            prompts.grade("", "", trained=trained),
            prompts.grade_joint("", [""], 1, trained=trained),
            prompts.answer("", evidence, trained=trained),
            prompts.answer_joint("", ["", ""], [1], trained=trained),
            prompts.answer_joint("", ["", ""], [1, 2], trained=trained),
        ]
    found: set[tuple[str, ...]] = set()
    for prompt in made:
        for part in (prompt.system, *prompt.user):
            if isinstance(part, str):
                found |= _shingles(part)
    return frozenset(found - _shingles(prompts.NOT_IN_EVIDENCE))
