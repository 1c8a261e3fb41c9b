"""Looking up the setting that a question names by its name, and by the section that it is in.

"What is FV2 crash cooled to?" asks for ``crash_c = 0.5`` below ``[vessel.FV2]``, and "which port does our
outgoing mail use?" for the one ``port`` that is set. To a judge of relevance the lines of a log that speak of
the vessel, or the first section of the file, say more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from localcrag.crag.questions.query_terms import terms, terms_asked_for
from localcrag.crag.refinement.setting_spans import section_of, setting_name
from localcrag.crag.refinement.strip_context import judged_text
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.rows.row_lookup import COMPLETE_WEIGHT
from localcrag.types import BlockKind, Strip

NAMED_WEIGHT = COMPLETE_WEIGHT
"""What the log-odds of the one setting gain that a question names better than any other: it is shown."""
SURE_SETTING = 0.55
"""The probability from which on a setting answers, whatever of the question it has."""
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


def is_barely_named(question: str, kept: Sequence[Strip]) -> bool:
    """Whether the best strip is a setting with less than half of the words of a question around it.

    Of "which port does the phone system use?" the one port that is set has a single word. A setting that the
    evaluator holds to be the answer by itself (from :data:`SURE_SETTING` on) is none such.
    """
    best = best_strip(kept)
    if best is None or best.score >= SURE_SETTING or not _is_code(best) or not setting_name(best.text):
        return False
    source = PurePath(best.passage.source).name
    told = f"{judged_text(best)} {best.passage.title} {source} {_section(best)}"
    asked = terms_asked_for(question)
    return 2 * len(asked & (terms(told) | _words(told))) < len(asked)


def _named_by(asked: set[str], head: set[str], strip: Strip) -> int:
    """How many words of a question are in the names of a setting and its section; 0 if it is not named.

    Those of its head (``head``) that are in its own name count twice.
    """
    if not _is_code(strip) or not (name := setting_name(strip.text)):
        return 0
    own, above = _words(name), _words(_section(strip))
    said = own & asked
    is_named = bool(said) and (said == own or bool(above & asked))
    return len(said) + len(said & head) + len(above & asked) if is_named else 0


def _section(strip: Strip) -> str:
    """The line above the section of a setting, also if the strip begins with it."""
    first = strip.text.lstrip().partition("\n")[0]
    return first if first.startswith("[") else section_of(strip.passage, strip.start)


def _is_code(strip: Strip) -> bool:
    """Whether a strip stands in code, or in a file of settings."""
    blocks = strip.passage.blocks
    return any(b.kind is BlockKind.CODE for b in blocks if b.start < strip.end and strip.start < b.end)


def _words(name: str) -> set[str]:
    """The words of a name, in terms; without units of two letters, such as the "c" of degrees."""
    parts = " ".join(part for part in _PARTS.split(name) if len(part) >= _MIN_LETTERS)
    return terms(parts)
