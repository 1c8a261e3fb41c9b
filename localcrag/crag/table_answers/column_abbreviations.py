"""Names of columns that abbreviate words of a question: "cyl" of cylinders, "mpg" of miles per gallon.

A part of a name is an abbreviation in common use, the first letters of several words, or, to be checked, the
beginning of a word or some letters of it in order. It stands for them only if it could stand for nothing else
that the question says, no other column could be meant by them, and no name of a column has them in full.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from localcrag.crag.table_answers.parsed_tables import ParsedTable, words_apart
from localcrag.crag.table_answers.question_words import QuestionToken
from localcrag.crag.table_answers.table_values import UNITS, WORD, month_number, root, roots
from localcrag.crag.table_answers.table_vocabulary import (
    COMPARATIVES,
    FUNCTION_WORDS,
    LIGHT_VERBS,
    NEGATIONS,
    SUPERLATIVES,
    VERBS,
)

MIN_LETTERS, MAX_LETTERS = 2, 5
"""The fewest and the most letters of an abbreviation."""
MIN_CUT_LETTERS = 2
"""The fewest letters that an abbreviation leaves out."""
MIN_SURE_LETTERS = 3
"""The fewest first letters of words that are surely meant, and of a word that is joined to another."""
_WORDS_OF = {
    "acct": "account",
    "addr": "address",
    "alt": "altitude",
    "amt": "amount",
    "avg": "average",
    "bldg": "building",
    "cap": "capacity",
    "cat": "category",
    "cnt": "count",
    "cust": "customer",
    "cyl": "cylinder",
    "dept": "department",
    "desc": "description",
    "disp": "displacement",
    "dist": "distance",
    "dur": "duration",
    "elev": "elevation",
    "emp": "employee employment",
    "est": "established estimate estimated",
    "exp": "expense expenditure expenses experience",
    "freq": "frequency",
    "hp": "horsepower",
    "gwh": "gigawatt hours",
    "ht": "height",
    "inc": "income",
    "lat": "latitude",
    "kwh": "kilowatt hours",
    "len": "length",
    "loc": "location",
    "lon": "longitude",
    "long": "longitude",
    "mag": "magnitude",
    "mgr": "manager",
    "mth": "month",
    "nbr": "number",
    "num": "number",
    "pct": "percent percentage",
    "pop": "population",
    "qty": "quantity",
    "rev": "revenue",
    "sal": "salary",
    "temp": "temperature",
    "vol": "volume",
    "wt": "weight",
}
"""Abbreviations in common use, which stand for nothing else."""
_ROOTS_OF = {part: frozenset(map(root, words.split())) for part, words in _WORDS_OF.items()}
_VOWELS = frozenset("aeiou")
_NUMBER_OF = re.compile(r"\A(?:no|nr|num|nb|n)(?:[_. ]+of)?[_. ]+(?=[^\W\d_])", re.IGNORECASE)
"""How the name of a column begins that says how many of a thing there are: "no_emp"."""
_UNSAID = FUNCTION_WORDS | VERBS | LIGHT_VERBS | NEGATIONS | set(SUPERLATIVES) | set(COMPARATIVES)
"""Words of a question that no name of a column stands for."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a part of a name stands for in a question: the words, and whether that is sure."""

    words: str
    is_sure: bool


def with_names_in_full(table: ParsedTable, tokens: Sequence[QuestionToken]) -> tuple[ParsedTable, bool]:
    """A table whose columns go by the words of a question that their names abbreviate.

    Args:
        table: the table, which keeps the names that it shows.
        tokens: the words of the question.

    Returns:
        The table, as it is if no name abbreviates a word, and whether what a name stands for is doubtful.
    """
    parts = {column: _parts(table.header(column)) for column in table.columns}
    known = {part for each in parts.values() for part in each}
    meanings = _meanings(sorted(known), tokens)
    if not meanings:
        return table, False
    spelled = {}
    for column, own in parts.items():
        if meanings.keys().isdisjoint(own):
            continue
        name = _NUMBER_OF.sub("", table.header(column))
        spelled[column] = WORD.sub(lambda found: _full(found[0], meanings), name.replace("_", " "))
    is_doubtful = not all(meaning.is_sure for meaning in meanings.values())
    return replace(table, spelled={**table.spelled, **spelled}), is_doubtful


def words_in_full(name: str) -> str:
    """The words that the parts of a name of a column are common abbreviations of, "" if it has none."""
    return " ".join(_WORDS_OF[part] for part in _parts(name) if part in _WORDS_OF)


def _parts(header: str) -> list[str]:
    """The words of a name of a column in lower case."""
    return [word.lower() for word in WORD.findall(words_apart(header).replace("_", " "))]


def _full(part: str, meanings: Mapping[str, _Meaning]) -> str:
    meaning = meanings.get(part.lower())
    return meaning.words if meaning else part


def _meanings(parts: Sequence[str], tokens: Sequence[QuestionToken]) -> dict[str, _Meaning]:
    """What the parts of names stand for; none of what could stand for two things, nor two for one thing."""
    full = {*map(root, parts)}
    said = {token.low for token in tokens}
    found: dict[str, _Meaning] = {}
    for part in parts:
        is_short = MIN_LETTERS <= len(part) <= MAX_LETTERS
        is_joined = not said.isdisjoint((f"{part}time", f"{part}ing"))  # see table_columns.meanings
        if not part.isalpha() or part in said or part in _UNSAID or is_joined or month_number(part):
            continue
        meant = chain(_meant(part, tokens, full) if is_short else (), _joined(part, tokens))
        meanings = {roots(each.words): each for each in meant}
        if len(meanings) == 1:
            found[part] = next(iter(meanings.values()))
    words = [roots(meaning.words) for meaning in found.values()]
    return {part: meaning for part, meaning in found.items() if words.count(roots(meaning.words)) == 1}


def _meant(part: str, tokens: Sequence[QuestionToken], full: set[str]) -> Iterator[_Meaning]:
    """What a part of a name may stand for among the words of a question, but for names in full."""
    for token in tokens:
        is_open = not (token.used or token.is_number or token.low in _UNSAID or token.root in full | UNITS)
        if not is_open or root(part) == token.root:
            continue
        if token.root in _ROOTS_OF.get(part, ()):
            yield _Meaning(token.text, is_sure=True)
        elif (
            part not in _ROOTS_OF
            and token.text.isalpha()
            and (_begins(part, token.low) or _abbreviates(part, token.low))
        ):
            yield _Meaning(token.text, is_sure=False)
    for at in range(len(tokens) - len(part) + 1):
        within = tokens[at : at + len(part)]
        initials = "".join(token.low[0] for token in within)
        is_named = not any(token.is_number for token in within) and not (
            {within[0].low, within[-1].low} & _UNSAID or {token.root for token in within} & full
        )
        if initials == part and is_named:
            yield _Meaning(" ".join(token.text for token in within), is_sure=len(part) >= MIN_SURE_LETTERS)


def _joined(part: str, tokens: Sequence[QuestionToken]) -> Iterator[_Meaning]:
    """The two words of a question that a part of a name joins, the second perhaps cut: "bodywt"."""
    for one, other in pairwise(tokens):
        rest = part.removeprefix(one.low)
        is_named = not ({one.low, other.low} & _UNSAID or one.is_number or other.is_number)
        if not is_named or len(one.low) < MIN_SURE_LETTERS or rest == part:
            continue
        is_cut = len(rest) >= MIN_LETTERS and (
            other.root in _ROOTS_OF.get(rest, ()) or _begins(rest, other.low)
        )
        if rest == other.low or is_cut:
            yield _Meaning(f"{one.text} {other.text}", is_sure=True)


def _begins(part: str, word: str) -> bool:
    """Whether a part is a word cut off behind a consonant."""
    is_cut = len(word) - len(part) >= MIN_CUT_LETTERS
    return is_cut and word.startswith(part) and part[-1] not in _VOWELS


def _abbreviates(part: str, word: str) -> bool:
    """Whether a part has letters of a word in order, from the first to the last consonant of it."""
    singular = word.removesuffix("s")
    consonants = [letter for letter in singular if letter not in _VOWELS]
    if len(singular) - len(part) < MIN_CUT_LETTERS or part[0] != word[0] or part[-1:] != consonants[-1:][0]:
        return False
    letters = iter(singular)
    return all(letter in letters for letter in part) and set(part[1:]).isdisjoint(_VOWELS)
