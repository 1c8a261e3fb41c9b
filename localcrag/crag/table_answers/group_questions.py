"""Questions over groups of rows: which group has the most in all, how many are in each.

"Which county has the highest total cost?" asks for the sum of each county, "total cost by county" for all of
them. The words are read here; whether a table has the groups is for :mod:`.grouped_quantities`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from localcrag.crag.table_answers.foreign_wording import in_english
from localcrag.crag.table_answers.grouped_quantities import GroupedQuantity, GroupQuestion, GroupReading
from localcrag.crag.table_answers.question_words import tokens_of
from localcrag.crag.table_answers.rank_wording import plain_and_ranking
from localcrag.crag.table_answers.table_questions import MAX_WORDS
from localcrag.crag.table_answers.table_values import UNITS, root, word_list
from localcrag.crag.table_answers.table_vocabulary import (
    AUXILIARIES,
    FUNCTION_WORDS,
    LIGHT_VERBS,
    NEGATIONS,
    PLURALS,
    PRONOUNS,
    RECORDING_VERBS,
    SUPERLATIVES,
    TOTAL_PHRASES,
    UNSUPPORTED,
    VERBS,
)

REFUSED_WORDS = (UNSUPPORTED - {"each", "every"}) | NEGATIONS | {"or", "than"}
"""Words of questions that ask for something else of groups, or for more."""
_MOST = {
    **dict.fromkeys(word_list("most highest largest biggest greatest"), True),
    **dict.fromkeys(word_list("least fewest lowest smallest"), False),
}
"""The words for the most and the least of what groups have; the value says which."""
_COUNTING = frozenset(word_list("most fewest least"))
"""Those of them that are about all that a group has, and never about one row of it."""
_COMMON = frozenset(word_list("common frequent frequently often popular"))
_OCCURRING = frozenset(
    word_list(
        "occur occurs occurred appear appears appeared come comes came show shows showed turn turns turned up"
        " feature features featured listed mentioned recorded named found seen happen happens happened"
    )
)
"""Verbs that say of a value no more than that rows have it."""
_PREPOSITIONS = frozenset(word_list("at by during for from in of on to with within among"))
_TOTAL = frozenset(word_list("total totals combined overall cumulative aggregate sum sums"))
_MEAN = frozenset(word_list("average mean"))
_NUMBER = frozenset(word_list("number numbers count counts amount"))
_BIDDING = frozenset(
    word_list("list show give tell calculate compute add up please me us what is are was were")
)
_SPLITTING = frozenset(word_list("broken down grouped split summed added up"))
"""What stands before "by" if all groups are asked for: "broken down by"."""
_DETERMINERS = frozenset(word_list("the a an all our my your their his her its of"))
_NOUN_OF_ROWS = frozenset(word_list("entries entry rows row records record"))
_MOST_EXPENSIVE = re.compile(
    r"\b(?:is|was|are|were|has been) (?:the )?most expensive(?= (?:overall|in total|altogether|in all)\b)",
    re.IGNORECASE,
)
"""How a question asks with an adjective for what cost the most in all."""
_RATED = (UNITS | frozenset(map(root, word_list("unit piece item head person capita mile")))) - frozenset(
    map(root, word_list("day week month year"))
)
"""Of what there is one in a rate: "cost per unit" asks for no sum."""
MAX_GROUP_WORDS = 3
"""The most words by which a question names groups."""
MAX_NOUN_WORDS = 4
"""The most words of what is added up, if the question does not say that it is."""


def group_question(question: str) -> GroupQuestion | None:
    """The form of a question over groups of rows; None for another question."""
    plain, ranking = plain_and_ranking(in_english(question))
    plain = _MOST_EXPENSIVE.sub("cost the most", plain)
    words = [token.text for token in tokens_of(plain)]
    lows = [word.lower() for word in words]
    if not 2 < len(words) <= MAX_WORDS or REFUSED_WORDS & set(lows):
        return None
    found = _most_common(words) or _most(words)
    if ranking is not None:
        return replace(found, count=ranking.count, place=ranking.place) if found else None
    return found or _for_each(words)


def single_group_question(question: str) -> GroupQuestion | None:
    """The form of a question over groups that may have one row each; None for another question."""
    form = group_question(question)
    return replace(form, may_be_single=True) if form and form.highest is not None else None


# ------------------------------------------------------------------------------ the group with the most


def _begin(lows: Sequence[str]) -> int:
    """The place of the word that asks, "which" of "in which month"; -1 if a question does not begin so."""
    at = 1 if lows[0] in _PREPOSITIONS else 0
    return at if lows[at] in ("which", "what", "who", "where") else -1


def _most_common(words: Sequence[str]) -> GroupQuestion | None:
    """The form of "what is the most common blood type" and of "which state occurs most often"."""
    lows = [word.lower() for word in words]
    begin = _begin(lows)
    found = [at for at in range(1, len(lows)) if lows[at] in _COMMON and lows[at - 1] in ("most", "least")]
    if begin < 0 or len(found) != 1:
        return None
    (at,) = found
    before = [word for word in words[begin + 1 : at - 1] if word.lower() != "the"]
    rest = list(words[at + 1 :])
    verb = ""
    if lows[at] in ("often", "frequently"):
        group, verbs = _split_verb(before)
        verbs = [verb for verb in verbs if verb.lower() not in _OCCURRING | FUNCTION_WORDS | VERBS]
        if len(verbs) > 1:
            return None
        verb = "".join(verbs)
    elif before and before[0].lower() in VERBS:
        group, rest = _noun_and_rest(rest)
    else:
        group, verbs = _split_verb(before)
        if any(verb.lower() not in VERBS for verb in verbs):
            return None
    texts = [f"how many rows are there {' '.join(rest)}"]
    if (noun := _without_determiners(rest)) != rest:
        texts.append(f"how many {' '.join(noun)} are there")
    if verb:
        texts = [f"how many rows were {verb} {' '.join(rest)}", *texts[:1]]
    is_loose = lows[at] == "popular"
    quantities = [
        GroupedQuantity(text, counts=True, verb=verb if place else "", is_loose=is_loose)
        for place, text in enumerate(texts)
    ]
    if not verb:
        quantities = [replace(quantity, verb="") for quantity in quantities]
    return _question_for(group, quantities, highest=lows[at - 1] == "most")


def _most(words: Sequence[str]) -> GroupQuestion | None:
    """The form of "which county has the highest total cost" and of "who sold most"."""
    lows = [word.lower() for word in words]
    begin = _begin(lows)
    found = [at for at, word in enumerate(lows) if word in SUPERLATIVES]
    if begin < 0 or len(found) != 1 or lows[found[0]] not in _MOST:
        return None
    (at,) = found
    before = [word for word in words[begin + 1 : at] if word.lower() not in ("the", "by", "far")]
    if lows[begin] in ("who", "where"):
        group, verbs = [lows[begin]], before
    else:
        group, verbs = _split_verb(before)
    spoken = [verb for verb in verbs if verb.lower() not in FUNCTION_WORDS | VERBS | PRONOUNS]
    after, in_total = _without_total(list(words[at + 1 :]))
    asks_whose = any(verb.lower() in AUXILIARIES for verb in verbs)
    if not spoken and asks_whose and len(after) > 1 and after[-1].lower().endswith("ed"):
        spoken = [after.pop()]
    if len(spoken) > 1:
        return None
    verb = spoken[0].lower() if spoken else ""
    is_mean = bool(after) and after[0].lower() in _MEAN
    noun, rest = _noun_and_rest(without_number(after))
    is_summed = in_total or bool(after and after[0].lower() in _TOTAL)
    if is_mean:
        text = f"what is the average {' '.join((*noun[1:], *rest))}"
        quantities = [GroupedQuantity(text, verb=verb)] if noun[1:] else []
    elif noun:
        is_loose = lows[at] not in _COUNTING and not is_summed and after == [*noun, *rest]
        quantities = _measured(noun, rest, verb, is_loose=is_loose, is_summed=is_summed)
    else:
        quantities = [_of_verb(verb, rest)] if verb else []
        if is_summed and not verb:
            text = f"what is the total {' '.join(rest)}"
            quantities = [GroupedQuantity(text, is_open=True, is_summed=True, is_vague=True)]
    return _question_for(group, quantities, highest=_MOST[lows[at]])


def _question_for(
    group: Sequence[str], quantities: Sequence[GroupedQuantity], *, highest: bool
) -> GroupQuestion | None:
    if not quantities or not 0 < len(group) <= MAX_GROUP_WORDS:
        return None
    return GroupQuestion((GroupReading(" ".join(group), tuple(quantities)),), highest)


def _split_verb(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words of a name of groups, and those of the verb behind it, which may be the last word alone."""
    verbs = [at for at, word in enumerate(words) if word.lower() in VERBS | LIGHT_VERBS]
    if verbs:
        return list(words[: verbs[0]]), list(words[verbs[0] :])
    kept = list(words)
    while kept and kept[-1].lower() in FUNCTION_WORDS | {"up"}:
        kept.pop()
    return kept[:-1], list(words[len(kept) - 1 :]) if kept else []


def _without_total(words: list[str]) -> tuple[list[str], bool]:
    """Words without "in total" or the like, and whether they had it."""
    lows = [word.lower() for word in words]
    for phrase in (*TOTAL_PHRASES, ("overall",), ("together",)):
        for at in range(len(lows) - len(phrase) + 1):
            if tuple(lows[at : at + len(phrase)]) == phrase and (at or len(phrase) > 1 or len(lows) == 1):
                return [*words[:at], *words[at + len(phrase) :]], True
    return words, False


def without_number(words: Sequence[str]) -> list[str]:
    """Words without "total", "number of", "total amount of" and the like before them."""
    kept = list(words)
    if kept and kept[0].lower() in _TOTAL:
        kept = kept[1:]
    if len(kept) > 1 and kept[0].lower() in _NUMBER and kept[1].lower() == "of":
        kept = kept[2:]
    elif kept != list(words) and kept and kept[0].lower() == "of":
        kept = kept[1:]
    return kept


def _noun_and_rest(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words up to the first that is a function word or a verb, and the others."""
    end = next((at for at, word in enumerate(words) if word.lower() in FUNCTION_WORDS | VERBS), len(words))
    return list(words[:end]), list(words[end:])


def _without_determiners(words: list[str]) -> list[str]:
    """Words without the preposition and the article before them."""
    at = 1 if words and words[0].lower() in _PREPOSITIONS else 0
    while at < len(words) and words[at].lower() in _DETERMINERS:
        at += 1
    return words[at:] if at < len(words) else words


# ------------------------------------------------------------------------------ what is asked of a group


def _measured(
    noun: Sequence[str], rest: Sequence[str], verb: str, *, is_loose: bool = False, is_summed: bool = False
) -> list[GroupedQuantity]:
    """A sum of what is named, a number of rows that are called so, or a sum of what the name stands for."""
    said, behind = " ".join(noun), " ".join(rest)
    if len(noun) == 1 and noun[0].lower() in _NOUN_OF_ROWS:
        return [GroupedQuantity(f"how many rows are there {behind}", counts=True, verb=verb)]
    is_plain = not verb or verb in LIGHT_VERBS | RECORDING_VERBS
    total = GroupedQuantity(f"what is the total {said} {behind}", verb=verb, is_loose=is_loose)
    made = [replace(total, is_summed=is_summed)]
    if len(noun) == 1:
        made.append(
            GroupedQuantity(
                f"what is the total {behind}",
                verb=verb,
                noun=noun[0].lower(),
                is_open=True,
                is_loose=is_loose,
                is_summed=is_summed,
            )
        )
    if verb:
        made.append(replace(total, is_open=True))
    elif is_summed and not is_plural(noun[-1]):
        made.append(replace(made[0], is_open=True, is_vague=True))
    if not is_plain:
        made.append(GroupedQuantity(f"how many {said} were {verb} {behind}", counts=True))
    made.append(GroupedQuantity(f"how many {said} are there {behind}", counts=True, verb=verb))
    return made


def is_plural(word: str) -> bool:
    """Whether a noun is one of several things, which can be counted; "harvest" is none."""
    low = word.lower()
    return low in PLURALS or (low.endswith("s") and not low.endswith("ss"))


def quantities_of(verb: str, words: Sequence[str], *, is_summed: bool = False) -> list[GroupedQuantity]:
    """What a verb and the words behind it ask of rows: how much there is of what either is about."""
    kept, in_total = _without_total(list(words))
    noun, rest = _noun_and_rest(without_number(kept))
    made = _measured(noun, rest, verb, is_summed=is_summed or in_total) if noun else []
    if verb:
        return [*made, _of_verb(verb, kept)]
    text = f"what is the total {' '.join(kept)}"
    return [*made, GroupedQuantity(text, is_open=True, is_vague=True)]


def _of_verb(verb: str, rest: Sequence[str]) -> GroupedQuantity:
    """The sum of what a verb is about: "what did each department spend"."""
    return GroupedQuantity(f"what is the total {' '.join(rest)}", verb=verb, is_open=True)


# ------------------------------------------------------------------------------ all groups


def _for_each(words: Sequence[str]) -> GroupQuestion | None:
    """The form of "total cost by county", "how many per category", "what did each department spend"."""
    lows = [word.lower() for word in words]
    marks = [at for at, word in enumerate(lows) if word in ("each", "every", "per")]
    marks = marks or [at for at, word in enumerate(lows) if word == "by"]
    if len(marks) != 1 or not 0 < marks[0] < len(words) - 1 or set(SUPERLATIVES) & set(lows):
        return None
    (mark,) = marks
    start = mark
    while lows[start - 1] in _PREPOSITIONS and start > 1 and lows[mark] != "by":
        start -= 1
    while start > 1 and lows[start - 1] in _SPLITTING:
        start -= 1
    readings = []
    if lows[mark] == "per" and {root(lows[mark + 1])} & _RATED and not _TOTAL & set(lows[:mark]):
        return None
    for length in range(min(MAX_GROUP_WORDS, len(words) - mark - 1), 0, -1):
        end = mark + 1 + length
        quantities = _asked_of_each(list(words[:start]), list(words[end:]))
        if quantities:
            readings.append(GroupReading(" ".join(words[mark + 1 : end]), tuple(quantities)))
    return GroupQuestion(tuple(readings), None) if readings else None


def _asked_of_each(head: list[str], tail: list[str]) -> list[GroupedQuantity]:
    """What is asked of each group by the words before its name and those behind it; none if unclear."""
    lows = [word.lower() for word in head]
    if lows[:2] == ["how", "many"]:
        return _number_of_each(head[2:], tail)
    is_much = lows[:2] == ["how", "much"]
    asks_what = lows[:1] == ["what"] and not AUXILIARIES.isdisjoint(lows[1:2])
    if is_much or (asks_what and lows[1] not in ("was", "were")):
        said = [word for word in (*head[2 if is_much else 1 :], *tail) if word.lower() != "money"]
        skipped = FUNCTION_WORDS | VERBS | PRONOUNS
        at = next((at for at, word in enumerate(said) if word.lower() not in skipped), len(said))
        rest, _ = _without_total(said[at + 1 :])
        return [_of_verb(said[at].lower(), rest)] if at < len(said) else []
    while head and head[0].lower() in _BIDDING | _DETERMINERS:
        head = head[1:]
    head, in_total = _without_total(head) if len(head) > 1 else (head, False)
    first = head[0].lower() if head else ""
    tail, at_end = _without_total(tail)
    if first in _MEAN:
        noun, rest = _noun_and_rest(head[1:])
        text = f"what is the average {' '.join((*noun, *rest, *tail))}"
        return [GroupedQuantity(text)] if noun else []
    is_summed = in_total or at_end or first in _TOTAL
    head = without_number(head)
    while head and head[0].lower() in _DETERMINERS:
        head = head[1:]
    noun, rest = _noun_and_rest(head)
    if noun and len(noun) == 1 and noun[0].lower() in _NUMBER - {"amount"} and not rest:
        return [GroupedQuantity(f"how many rows are there {' '.join(tail)}", counts=True)]
    if not noun:
        text = f"what is the total {' '.join((*rest, *tail))}"
        return [GroupedQuantity(text, is_open=True, is_summed=True)] if first in _TOTAL else []
    if len(noun) > MAX_NOUN_WORDS:
        return []
    is_loose = not is_summed and first not in _NUMBER
    made = _measured(noun, [*rest, *tail], "", is_loose=is_loose, is_summed=is_summed)
    return [replace(each, is_loose=is_loose or each.is_loose) for each in made]


def _number_of_each(words: list[str], tail: list[str]) -> list[GroupedQuantity]:
    """What "how many" asks of each group: "how many sheep does each farm have", "how many per category"."""
    said, _ = _without_total([*words, *tail])
    noun, rest = _noun_and_rest(said)
    while rest and rest[0].lower() in VERBS | PRONOUNS | {"there", "of", "the"}:
        rest = rest[1:]
    if not noun:
        return [GroupedQuantity(f"how many rows are there {' '.join(rest)}", counts=True, is_pure=True)]
    verb = ""
    if rest and rest[0].lower() not in FUNCTION_WORDS:
        verb, rest = rest[0].lower(), rest[1:]
    elif len(noun) > 1 and noun[-1].lower() in LIGHT_VERBS | RECORDING_VERBS | {"live", "lives"}:
        verb, noun = noun[-1].lower(), noun[:-1]
    return _measured(noun, rest, verb)
