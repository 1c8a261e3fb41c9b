"""Looking up the setting that a question names by its name, and by the section that it is in.

"What is FV2 crash cooled to?" asks for ``crash_c = 0.5`` below ``[vessel.FV2]``, and "which port does our
outgoing mail use?" for the one ``port`` that is set. To a judge of relevance the lines of a log that speak of
the vessel, or the first section of the file, say more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.questions.query_terms import terms, terms_asked_for
from localcrag.crag.refinement.setting_spans import section_of, setting_name
from localcrag.crag.refinement.strip_kinds import blocks_within
from localcrag.crag.rows.row_lookup import COMPLETE_WEIGHT
from localcrag.types import BlockKind, Strip

NAMED_WEIGHT = COMPLETE_WEIGHT
"""What the log-odds of the one setting gain that a question names better than any other: it is shown."""
_PARTS = re.compile(r"[\s._/\[\]:-]+|(?<=[a-z])(?=[A-Z])")
"""What parts the words of the name of a setting: "retry.max", "maxRetries"."""
_MIN_LETTERS = 3
"""The fewest letters of a word of a name; shorter ones are units."""
_ASKING = (
    r"what|which|how|when|until|welche\w*|was|wie|wann|quel\w*|combien|cuál|cuánt\w+|qué|quale|quant\w+|che"
)
_VALUE_ASKED = re.compile(rf"\b(?:{_ASKING}|set|value)\b", re.IGNORECASE)
_HEAD_ASKED = re.compile(rf"\b(?:{_ASKING})(?P<head>(?: \w+){{1,2}})", re.IGNORECASE)
"""How a question asks for a value, and the words behind that, which say of what kind it is."""


def named_settings(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """What the log-odds of the setting gain that a question names, by its index; none if two are named alike.

    A setting is named by all words of its name, or by one of them and one of its section; best by the word
    that says what is asked for ("which port").

    Args:
        question: the question.
        found: the strips to choose from, of one passage or of several.
    """
    if _VALUE_ASKED.search(question) is None:
        return {}
    asked, head = terms_asked_for(question), terms(" ".join(_HEAD_ASKED.findall(question)))
    named = {at: count for at, strip in enumerate(found) if (count := _named_by(asked, head, strip))}
    most = max(named.values(), default=0)
    best = [at for at, count in named.items() if count == most]
    return {best[0]: NAMED_WEIGHT} if len({found[at].text for at in best}) == 1 else {}


def name_of_setting(strip: Strip) -> str:
    """The name of the one setting that a strip of code is; "" for any other strip."""
    is_code = any(block.kind is BlockKind.CODE for block in blocks_within(strip))
    return setting_name(strip.text) if is_code else ""


def section_around(strip: Strip) -> str:
    """The line above the section of a setting, also if the strip begins with it."""
    first = strip.text.lstrip().partition("\n")[0]
    return first if first.startswith("[") else section_of(strip.passage, strip.start)


def words_of_name(name: str) -> set[str]:
    """The words of a name, in terms; without units of two letters, such as the "c" of degrees."""
    return terms(" ".join(part for part in _PARTS.split(name) if len(part) >= _MIN_LETTERS))


def _named_by(asked: set[str], head: set[str], strip: Strip) -> int:
    """How many words of a question are in the names of a setting and its section; 0 if it is not named.

    Those of its head (``head``) that are in its own name count twice.
    """
    if not (name := name_of_setting(strip)):
        return 0
    own, above = words_of_name(name), words_of_name(section_around(strip))
    said = own & asked
    is_named = bool(said) and (said == own or bool(above & asked))
    return len(said) + len(said & head) + len(above & asked) if is_named else 0
