"""Headings that name what a question asks for by its kind: the command, the hook or the function that does X.

"This hook is invoked by git commit" answers which hook it is only below its heading, "commit-msg".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_context import block_index, is_definition, led_to
from localcrag.crag.refinement.strip_kinds import is_command
from localcrag.types import BlockKind, Strip

MAX_NAMING_WORDS = 6
"""The most words of a heading that is a name, with its number and what kind of thing it is."""
_PAGE_KIND = (
    r"commands?|hooks?|utilit(?:y|ies)|tools?|programs?|programmes?|scripts?|functions?|methods?|modules?"
    r"|class(?:es)?|macros?|statements?|procedures?|filters?|dialogu?e?s?|plug-?ins?|extensions?|drivers?|routers?"
    r"|transports?|daemons?|views?|menu (?:item|entr(?:y|ie))s?"
    r"|Befehle?|Kommandos?|Werkzeuge?|Programme?|Funktion(?:en)?|Methoden?|Module?|Klassen?|Filter|Dialoge?"
    r"|commandes?|outils?|fonctions?|méthodes?|filtres?|comandos?|herramientas?|funci(?:ón|ones)"
)
_ENTRY_KIND = (
    r"settings?|variables?|directives?|parameters?|properties|property|attributes?|keywords?|fields?|signals?"
    r"|options?|Einstellung(?:en)?|Variablen?|Parameter|Eigenschaft(?:en)?|paramètres?|réglages?|opci(?:ón|ones)"
)
_WHICH = r"\b(?:which|what|welche[rsmn]?|quel(?:le)?s?|qué|cuál)(?: of the)? (?:[\w-]+ ){0,2}?"
_KIND_ASKED = re.compile(rf"{_WHICH}(?:(?P<page>{_PAGE_KIND})|(?P<entry>{_ENTRY_KIND}))\b", re.IGNORECASE)
"""How a question asks for a thing of a kind that has a page or a section of its own, or an entry."""
_OF_THE_KIND = re.compile(
    rf"\b(?:this|the|dieser?s?|der|die|das|cette|cet|ce|la|le) (?:{_PAGE_KIND}|{_ENTRY_KIND})\b",
    re.IGNORECASE,
)
"""How a sentence speaks of the thing whose heading it stands below."""
_NUMBER = re.compile(
    r"^(?:chapter|section|appendix|part|kapitel|abschnitt|chapitre)?\s*(?:\d+|[A-Z])(?:\.\d+)*[.)]?\s+", re.I
)
_MANUAL_PAGE = re.compile(r"\(\d\w{0,3}\)(?: Manual Page)?$", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s()\[\],;:“”\"‘’]+")
_IDENTIFIER = re.compile(r"[A-Z][A-Z_\d]+|\w*[a-z]\w*(?:[-_.:/]\w+)+|\w*_\w*|\w+\(\)|[a-z][\w-]*|--?\w[\w-]*")
"""A word as a name is written: "commit-msg", "EXPLAIN", "exiqgrep"."""
_PARENTHESIS = re.compile(r"\((?:[a-z][\w-]+|[\w-]+\(\))\)$")
"""The name that a heading says what it is for ends with: "Summarizing the queue (exiqsumm)"."""
_GENERIC = frozenset({
    "abstract", "arguments", "author", "authors", "beispiele", "beschreibung", "bugs", "caution",
    "commands", "compatibility", "configuration", "copyright", "description", "diagnostics", "discussion",
    "einführung", "environment", "example", "examples", "exemples", "exit", "files", "functions",
    "general", "hinweise", "history", "hooks", "important", "introduction", "limitations", "name", "note",
    "notes", "optionen", "options", "output", "overview", "parameters", "purpose", "remarks", "remarques",
    "reporting", "requirements", "returns", "security", "see", "standards", "summary", "synopsis",
    "syntax", "tip", "todo", "usage", "utilities", "value", "values", "version", "warning", "übersicht",
})  # fmt: skip
"""The first words of headings that name a part of a page, and no thing."""


def naming_heading(strip: Strip, question: str, headings: Iterable[Strip]) -> Strip | None:
    """The heading that names the thing of a kind that a question asks for; None if there is none.

    There is none either if the strip names a thing itself: by that very name, as a definition or as code.

    Args:
        strip: what was found to answer.
        question: the question.
        headings: the headings above the strip, the nearest first.
    """
    asked = _KIND_ASKED.search(question)
    if asked is None or is_command(strip):
        return None
    blocks, at = strip.passage.blocks, block_index(strip)
    if at >= 0 and blocks[at].kind is BlockKind.ROW:
        return None
    if asked["entry"] and at >= 0 and is_definition(strip.passage, blocks[at]):
        return None
    kind = terms(asked["page"] or asked["entry"])
    speaks_of_it = _OF_THE_KIND.search(strip.text) is not None
    told = " ".join(each.text for each in (strip, *led_to(strip)))
    known = set(map(str.casefold, _words(told))) | terms(question)
    for heading in headings:
        if asked["entry"] and _MANUAL_PAGE.search(heading.text.strip()):
            return None
        if (name := _name_in(heading.text, kind, speaks_of_it=speaks_of_it)) is not None:
            return heading if name - known else None
    return None


def _name_in(heading: str, kind: set[str], *, speaks_of_it: bool) -> set[str] | None:
    """The words, in lower case, of the name that a heading has; None if it names nothing."""
    text = _MANUAL_PAGE.sub("", _NUMBER.sub("", " ".join(heading.split())))
    if found := _PARENTHESIS.search(text):
        return set(map(str.casefold, _words(found[0])))
    words = _words(text)
    if not words or len(words) > MAX_NAMING_WORDS or words[0].casefold() in _GENERIC:
        return None
    name = {word.casefold() for word in words if not _says_kind(word, kind)}
    if not name:
        return None
    is_name = len(words) <= 2 and _IDENTIFIER.fullmatch(words[0]) is not None
    return name if is_name or speaks_of_it or kind & terms(text) else None


def _says_kind(word: str, kind: set[str]) -> bool:
    """Whether a word of a heading is that of a kind of thing, or a frequent one that is no name."""
    return terms(word) <= kind and not (word.isupper() and len(word) > 1 and word.casefold() not in kind)


def _words(text: str) -> list[str]:
    return [word.strip(".…!?'") for word in _TOKEN.findall(text) if word.strip(".…!?'")]
