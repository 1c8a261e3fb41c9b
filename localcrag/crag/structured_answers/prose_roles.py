"""Roles in prose: whose name a sentence gives for a field such as "Designer" or "Author of the catalogue".

A field for a role names a noun, and often the verb that belongs to it: a designer is who designed something.
A sentence tells the role of a name in four ways: the noun stands before it ("the engineer Karin Solberg"),
or behind it ("Olaf Brandt, the caretaker", "Ewa Nowak was elected chair"), the verb stands behind it ("Amara
Osei founded …"), or the name is the agent of the verb ("was built by Nordvik Steel"). Verb and noun are
compared by their stems, so that no list of roles is needed; only irregular verbs are listed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.structured_answers.field_wording import FieldWording
from localcrag.crag.table_answers.table_values import word_list

MAX_AGENT_WORDS = 8
"""Words between a verb and its agent ("was looked after for many years by …")."""
_IRREGULAR = {
    form: base
    for base, forms in (
        line.split(": ")
        for line in (
            "build: built",
            "buy: bought",
            "choose: chose chosen",
            "draw: drew drawn",
            "drive: drove driven",
            "find: found",
            "give: gave given",
            "hold: held",
            "keep: kept",
            "lead: led",
            "lend: lent",
            "make: made",
            "pay: paid",
            "run: ran runs running",
            "sell: sold",
            "send: sent",
            "sing: sang sung",
            "speak: spoke spoken",
            "take: took taken",
            "teach: taught",
            "win: won",
            "write: wrote written",
        )
    )
    for form in forms.split()
}
_SUFFIX = re.compile(r"(?:ions?|ments?|ing|ied|ies|ed|ers?|ors?|s)$")
_ENDING = re.compile(r"(?:e|i|y)$|(?<=([bdgklmnprt]))\1$")
_LESSER = frozenset(word_list("deputy vice assistant acting co former late previous ex junior of not no"))
"""Words before a role that make it another one, or that of somebody else."""
_JOINTS = frozenset(word_list("and or but while whereas by a an the our its his her their your my this"))
"""Words that end the way back from an agent to its verb: of "directed it from a script by", the script is."""
_VERB_FIELD = re.compile(r"(?:who|by whom) (?:is |was |has )?(?P<active>\w+)(?P<of> .*)?|(?P<passive>\w+) by")
_OF = re.compile(r" (?:of|for|at|in) ")
_SENTENCE_END = re.compile(r"[.!?;:](?= |$)|\n")
_TITLE_END = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St)\.$")
_ARTICLES = r"(?:the|a|an|our|its|his|her|their|your|my|this)"
_AS = (
    r"(?:as|(?:is|was|became|becomes|remains|remained|stays)(?: now| again)?|serve[sd] as|works as|acts as|"
    r"took over as|(?:(?:is|was|has been|were|will be) )?(?:re-?)?(?:elected|appointed|named|made)(?: as)?)"
)
_LOWER = r"[^\W\dA-Z]\S*"
_BY = re.compile(
    rf"^(?P<words>.*) by (?:{_ARTICLES} (?:(?:{_LOWER} ){{0,3}}|(?:{_LOWER} ){{0,5}}{_LOWER}, ))?$", re.DOTALL
)
_DENIED = re.compile(r"\bnot (?:[\w-]+ ){1,2}by (?:the )?$")
_VERB_BEHIND = re.compile(
    r"(?:, [^,]{1,40},)?(?: (?:who|has|had|have|also|first|then|now|later|himself|herself))*"
    r"(?P<will> (?:will|would|shall))? (?P<verb>\w+)"
)


@dataclass(frozen=True, slots=True)
class RoleWording:
    """What a field asks for as a role.

    ``noun`` is the role, "" if the field names a verb alone; ``verb`` the stem of its verb; ``of`` are the
    terms that say of what it is the role, which must stand in the sentence.
    """

    noun: str
    verb: str
    of: frozenset[str]


@lru_cache(maxsize=1024)
def role_of(asked: FieldWording) -> RoleWording | None:
    """The role that a field asks for; None for a field that asks for a code, a time or a quantity."""
    if asked.wants_code or asked.wants_day or asked.wants_time or asked.wants_measure:
        return None
    name = asked.name.rstrip("?").strip()
    if verbal := _VERB_FIELD.fullmatch(name):
        verb = verbal["active"] or verbal["passive"]
        return RoleWording("", verb_stem(verb), frozenset(terms(verbal["of"] or "")))
    head, *rest = _OF.split(name.removeprefix("name of the ").removeprefix("name of "))
    *before, noun = head.removesuffix(" name").split() or [""]
    if not noun.isalpha() or len(noun) < 4:
        return None
    return RoleWording(noun, verb_stem(noun), frozenset(terms(" ".join([*before, *rest]))))


@lru_cache(maxsize=4096)
def verb_stem(word: str) -> str:
    """The common stem of a verb, its forms, and the nouns for who does it and for the deed."""
    low = word.lower().replace("iz", "is")
    base = _IRREGULAR.get(low, low)
    stem = _SUFFIX.sub("", base) if base is low else base
    return _ENDING.sub("", stem if len(stem) > 2 else base)


def tells_role(asked: FieldWording, text: str, start: int, end: int) -> bool:
    """Whether a text tells that the name at characters ``[start, end)`` of it has the role of a field."""
    role = role_of(asked)
    if role is None or not text[start : start + 1].isupper():
        return False
    before, behind = _within_sentence(text, start, end)
    if not role.of <= terms(f"{before} {behind}"):
        return False
    if role.noun and _has_noun(role.noun, before, behind):
        return True
    return _has_verb(role.verb, before, behind)


def denies_role(asked: FieldWording, text: str, start: int) -> bool:
    """Whether a text gives the name at ``start`` a lesser role ("deputy director"), or denies it the role."""
    before, _ = _within_sentence(text, start, start)
    role = role_of(asked)
    if role is None or (_LESSER - {"of"}) & asked.words:
        return False
    lesser = re.search(rf"(\w+)[ -]{role.noun},? $", before, re.IGNORECASE) if role.noun else None
    return bool(_DENIED.search(before)) or (lesser is not None and lesser[1].lower() in _LESSER)


def without_role(asked: FieldWording, value: str) -> str:
    """A name without the role of a field that stands before it: "Captain Jonas Berg" as a captain."""
    role = role_of(asked)
    first, _, rest = value.partition(" ")
    return rest if role and first.lower() == role.noun and rest[:1].isupper() else value


def _within_sentence(text: str, start: int, end: int) -> tuple[str, str]:
    """The words of the sentence before a name, and those behind it."""
    ends = [
        found.end()
        for found in _SENTENCE_END.finditer(text, 0, start)
        if not _TITLE_END.search(text[: found.end()])
    ]
    last = _SENTENCE_END.search(text, end)
    return text[ends[-1] if ends else 0 : start], text[end : last.start() if last else len(text)]


def _has_noun(noun: str, before: str, behind: str) -> bool:
    """Whether a role stands directly before a name or behind it."""
    if found := re.search(
        rf"(\w*)[ -]?\b{noun}(?:,| (?:of|for|at) [^,.;]{{1,40}},)? (?:Dr|Mr|Mrs|Ms|Prof)?\.? ?$",
        before,
        re.IGNORECASE,
    ):
        return found[1].lower() not in _LESSER
    apposition = rf", {_ARTICLES} (?P<a>(?:[\w-]+ ){{0,2}}){noun}\b"
    office = rf",? (?:who )?{_AS} (?P<b>(?:[\w-]+ ){{0,2}}){noun}\b"
    said = re.match(rf"(?:{apposition}|{office})(?![’'-])", behind, re.IGNORECASE)
    return said is not None and not _LESSER & set(f"{said['a'] or ''}{said['b'] or ''}".lower().split())


def _has_verb(stem: str, before: str, behind: str) -> bool:
    """Whether a name is the agent of a verb, or its subject."""
    if agent := _BY.match(before):
        for at, word in enumerate(reversed(re.findall(r"[\w'’-]+|,", agent["words"]))):
            if at >= MAX_AGENT_WORDS or word in _JOINTS or word == ",":
                return False
            if verb_stem(word) == stem:
                return True
        return False
    said = _VERB_BEHIND.match(behind)
    if said is None or verb_stem(said["verb"]) != stem:
        return False
    if not said["will"] and not _is_verb_form(said["verb"]):
        return False
    return not re.match(r" by\b", behind[said.end() :])


def _is_verb_form(word: str) -> bool:
    """Whether a word can be a verb of its sentence: a past, or a third person."""
    return word in _IRREGULAR or word.endswith(("ed", "s"))
