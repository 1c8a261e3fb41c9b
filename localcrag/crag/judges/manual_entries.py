"""Looking up an entry of a manual by its name: what a command does, and what one of its options means.

"What does git-trim do?" is answered by the line "git-trim - Cut lines to a width" or by the first sentence of
its page, and "What does -B do in git-trim?" by the item "-B: …" of that page, which differs from "-b: …" by
the case of a letter alone. To a judge of sentences all of a page is about its command, and its options are
much alike. So what the question names counts for more, and the synopsis for less, which has all options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from difflib import get_close_matches

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.questions.question_extent import compared_names
from localcrag.crag.refinement.strip_context import block_index, heading_blocks_above, in_context
from localcrag.crag.refinement.strip_kinds import OPTION, ends_as_sentence, is_code
from localcrag.types import BlockKind, Strip

NAMED_WEIGHT = 4.0
"""What the log-odds gain of the line that says what a command is, of the first sentence of its page, and of
the option that is asked for."""
MAX_PARTS_BESIDE = 1
"""The most parts that a term has beside the name of the thing it defines: "stable/non-free/"."""
MAX_TERM_CHARACTERS = 120
"""The longest term that names options: "-n N, --lines N"."""
MIN_MISSPELT_LETTERS, MISSPELT_LIKENESS = 5, 0.85
"""The fewest letters of a name that may be misspelt, and how like the name it must then be."""
_SYNOPSIS_OPTION = re.compile(r"\[ *-|\| *-|<-?-?\w+> \[")
"""How a synopsis has its options: "htpasswd [ -c ] [ -m | -B ] passwdfile"."""
_THING = re.compile(
    r"what (?:does|do) (?:the )?(?P<done>.+?) do"
    r"|(?:what(?:'s|’s| is)|was ist) (?P<is>(?!the\b|an?\b).+?)(?: (?:used )?for)?"
    r"|was (?:macht|tut) (?P<tut>.+)|que fait (?P<fait>.+)",
    re.IGNORECASE,
)
"""How a question asks what a command, or anything else by its name, does or is."""
_CALLED = re.compile(
    r"^(?:(?:the|der|das|die|la) )?"
    r"|\b (?:command|program(?:me)?|utility|tool|function|Befehl|Programm)$",
    re.IGNORECASE,
)
_TERM_ASKED = re.compile(
    r"(?:[^:?]{1,60}: )?(?:what (?:does|do) (?:the )?(?P<done>.+?) (?:do|mean)"
    r"|what(?:'s|’s| is) (?:the )?default(?: value)? (?:of|for) (?:the )?(?P<default>.+?)"
    r"|what(?:'s|’s| is) (?!the\b|an?\b)(?P<is>.+?)(?: (?:used |good )?for)?"
    r"|was (?:macht|tut|bewirkt|bedeutet|ist) (?P<tut>.+?)|que fait (?P<fait>.+?))"
    r"(?: (?:in|of|for|from|with|by) (?P<of>.+))?",
    re.IGNORECASE,
)
"""How a question asks for what a term means that a list defines, and of what program it is."""
_KIND_OF_TERM = re.compile(
    r" (?:option|setting|parameter|directive|keyword|field|variable|flag|value|key|entry|Einstellung)$",
    re.IGNORECASE,
)
_VALUE_OF_TERM = re.compile(r"[=(<\[]\S.*| [=(<\[].*| \w[\w|-]*")
"""What may stand behind a term, before its definition: "minsize size: …", "naptime (integer): …"."""
_LEADING_OPTIONS = re.compile(r"--?[A-Za-z][\w-]*(?:[=\[ ]\S+)?(?:, ?--?[A-Za-z][\w-]*(?:[=\[ ]\S+)?)*")
"""The options that an item begins with, whose description follows without a mark."""
_TITLE_END = re.compile(r"\(\d\w{0,3}\)| +[-–—|:] +")
"""What ends the name at the beginning of a title: "git-trim(1)", "trim — Tools 2.0"."""
_NAME_PART = re.compile(r"[^\W_]+")
_SUMMARY = re.compile(r"(?P<name>[^\s,]+(?:[ ,][^\s,]+){0,3}?) (?:-{1,2}|[–—]) \w")
"""How the line begins that says what a command is."""
_OPENING = frozenset(
    ["description", "overview", "introduction", "synopsis", "name", "purpose", "beschreibung", "einführung"]
)
"""The headings that the first sentence of a page may stand below, beside its title."""
_OF_ANY_OPTION = terms(
    "option options flag flags switch switches parameter argument command difference differ between mean "
    "means meaning used use effect specify default value set bedeutet macht unterschied zwischen schalter"
)
"""The words of a question about an option that do not name the command that it is of."""


def named_entries(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """What the log-odds of strips gain that are the entry of a manual which a question names, by index.

    Args:
        question: the question.
        found: the strips to choose from, of one passage or of several.
    """
    named = _named_terms(question, found) | _named_options(question, found)
    return _summaries(question, found) | named | _compared(question, found)


def _compared(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """The gains of the definitions of two things that are compared, if one document has both.

    The entry "stable/non-free/: …" may have a word beside the name of its thing.
    """
    names = [tuple(_parts(name)) for name in compared_names(question)]
    if len(set(names)) < len(names) or not all(names):
        return {}
    entries = [(at, strip.passage.document, _defined(strip, names)) for at, strip in enumerate(found)]
    pages = {page for _, page, name in entries if name}
    both = {page for page in pages if {name for _, of, name in entries if name and of == page} == set(names)}
    return {at: NAMED_WEIGHT for at, page, name in entries if name and page in both}


def _defined(strip: Strip, names: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """That of some names which an item of a list, or a row, defines; empty if it is none or several."""
    term, mark, _ = strip.text.partition(": ")
    parts = _parts(term) if mark and len(term) <= MAX_TERM_CHARACTERS else []
    own = [name for name in names if set(name) <= set(parts) and len(parts) <= len(name) + MAX_PARTS_BESIDE]
    return own[0] if len(own) == 1 else ()


def _summaries(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """The gains of what says first what the thing is that is asked for by its name."""
    asked = _THING.fullmatch(" ".join(question.split()).rstrip("?!. "))
    thing = _parts(_CALLED.sub("", next(filter(None, asked.groups()), ""))) if asked else []
    if not thing:
        return {}
    gains: dict[int, float] = {}
    for at, strip in enumerate(found):
        summary = _SUMMARY.match(strip.text)
        is_summary = summary is not None and _parts(summary["name"]) == thing and not is_code(strip)
        is_of_page = _parts(_TITLE_END.split(strip.passage.title)[0]) == thing
        if is_summary or (is_of_page and _is_opening(strip, thing)):
            gains[at] = NAMED_WEIGHT
    return gains


def _is_opening(strip: Strip, thing: Sequence[str]) -> bool:
    """Whether a strip is the first sentence of the first paragraph below a title, or its description."""
    blocks, at = strip.passage.blocks, block_index(strip)
    if at < 0 or blocks[at].kind is not BlockKind.PARAGRAPH or blocks[at].start != strip.start:
        return False
    headings = heading_blocks_above(strip)
    if (
        not ends_as_sentence(strip.text)
        or not headings
        or any(
            block.kind is BlockKind.PARAGRAPH and block.start > headings[-1].start for block in blocks[:at]
        )
    ):
        return False
    last = _parts(strip.passage.text_between(headings[-1].start, headings[-1].end))
    return last[: len(thing)] == list(thing) or (len(last) == 1 and last[0] in _OPENING)


def _named_terms(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """The gains of the items that define a term without dashes which is asked for: "delaycompress: …".

    They must be of one document, and all names beside it in the question of its title or what is above them.
    """
    asked = _TERM_ASKED.fullmatch(" ".join(question.split()).rstrip("?!. "))
    if asked is None:
        return {}
    name = _KIND_OF_TERM.sub("", next(filter(None, asked.group("done", "default", "is", "tut", "fait"))))
    name = name.strip("\"'`“”‘’").casefold()
    beside = _words_apart(question) - _words_apart(name) - terms(name) - _OF_ANY_OPTION
    entries = [
        (at, strip)
        for at, strip in enumerate(found)
        if _defines(strip, name)
        and all(_is_among(word, _title_terms(strip) | _words_apart(in_context(strip))) for word in beside)
    ]
    is_one = len({strip.passage.document for _, strip in entries}) == 1
    return {at: NAMED_WEIGHT for at, _ in entries if is_one}


def _words_apart(text: str) -> set[str]:
    """The terms of a text, with the parts of its names alone: "rsyncd.conf" has two."""
    return terms(" ".join(_NAME_PART.findall(text)))


def _defines(strip: Strip, name: str) -> bool:
    """Whether a strip begins the item of a list whose term is a name, with its value perhaps."""
    at = block_index(strip)
    if at < 0 or strip.passage.blocks[at].kind is not BlockKind.ITEM or name.startswith("-"):
        return False
    term, mark, _ = strip.text.partition(": ")
    if not mark or strip.passage.blocks[at].start != strip.start or len(term) > MAX_TERM_CHARACTERS:
        return False
    term = term.strip("\"'`“”‘’").casefold()
    behind = term.removeprefix(name)
    return behind == "" or (behind != term and _VALUE_OF_TERM.fullmatch(behind) is not None)


def _named_options(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """The gains of the options that are asked for, of the command whose page has least of another name.

    All else that is asked for must stand in the title of the page, though it be misspelt, or above them. The
    synopsis of that page has as many odds less: it has the options, and does not say what they do.
    """
    gains: dict[int, float] = {}
    options = dict.fromkeys(OPTION.findall(question))
    named = terms(OPTION.sub(" ", question).replace("-", " ")) - _OF_ANY_OPTION
    for option in options:
        entries = [(at, strip) for at, strip in enumerate(found) if option in _explained(strip)]
        pages = {strip.passage.document: set(_title_terms(strip)) for _, strip in entries}
        around = {page: set[str]() for page in pages}
        for _, strip in entries:
            around[strip.passage.document] |= terms(in_context(strip))
        of_it = {
            page: len(title - named)
            for page, title in pages.items()
            if all(_is_among(name, title | around[page]) for name in named)
        }
        nearest = [page for page, more in of_it.items() if more == min(of_it.values())]
        if len(nearest) == 1 and (named or len(pages) == 1):
            gains |= {at: NAMED_WEIGHT for at, strip in entries if strip.passage.document == nearest[0]}
            gains |= {at: -NAMED_WEIGHT for at, strip in enumerate(found) if _is_synopsis(strip, nearest[0])}
    return gains


def _is_among(name: str, known: Set[str]) -> bool:
    """Whether a term is one of others, or a misspelt form of one that names something: "htpaswd"."""
    if name in known:
        return True
    if len(name) < MIN_MISSPELT_LETTERS:
        return False
    return bool(get_close_matches(name, known, 1, MISSPELT_LIKENESS))


def _is_synopsis(strip: Strip, document: str) -> bool:
    """Whether a strip of a document says how a command is called, with its options in brackets."""
    is_of_it = strip.passage.document == document and _SYNOPSIS_OPTION.search(strip.text) is not None
    return is_of_it and not ends_as_sentence(strip.text) and not any(_explained(strip))


def _explained(strip: Strip) -> Iterator[str]:
    """The options that an item of a list, or a row, begins with the names of."""
    term, mark, _ = strip.text.partition(": ")
    if mark and len(term) <= MAX_TERM_CHARACTERS and OPTION.match(term):
        yield from OPTION.findall(term)
    elif (at := block_index(strip)) >= 0 and strip.passage.blocks[at].kind is BlockKind.ITEM:
        begins = _LEADING_OPTIONS.match(strip.text) if strip.passage.blocks[at].start == strip.start else None
        yield from OPTION.findall(begins[0]) if begins else ()


def _title_terms(strip: Strip) -> set[str]:
    """The terms of the title of a page, with the parts of names such as "git-trim"."""
    return _words_apart(strip.passage.title)


def _parts(name: str) -> list[str]:
    return [part.casefold() for part in _NAME_PART.findall(name)]
