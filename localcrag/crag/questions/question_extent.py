"""How much of a document a question asks for: one sentence, all steps and reasons, or all items of a list."""

from __future__ import annotations

import re

from localcrag.crag.questions.query_terms import terms

_FIRST = r"(?:^\W*|, )"
"""Where a question may begin, as in "Sous Linux, comment …": elsewhere the word may be an English one."""
_WHAT_TO_DO = re.compile(
    r"\bhow (?:do|does|did|can|could|should|would|to|is|are)\b|\bcan (?:I|we|you)\b"
    r"|\bwhat (?:do|should|must|can|could|happens|if|to)\b|\bwhat does\b.+\bmean\b|\bwhy\b"
    r"|\bwie (?!viele?\b|lange?\b|oft\b|hoch\b|alt\b|heiß(?:t|en)\b|lautet\b|teuer\b)"
    r"|\bwas (?:muss|soll|kann|tun|passiert)\b|\b(?:warum|wieso)\b"
    rf"|{_FIRST}comment\b(?! s['’]appel| se nomme)|\bpourquoi\b"
    r"|\bque (?:faut[- ]il|doi[st]|doivent|dois-je|faire)\b|\bqu['’]est-ce qu(?:e je dois|['’]il faut)\b"
    rf"|(?:\bcómo|{_FIRST}como)\b(?! (?:se|te) llam)|\bqué (?:hay que|debe|debo|hago|hacer)\b"
    r"|\bpor qué\b(?! (?:importe|precio|cantidad|valor|suma)\b)"
    rf"|{_FIRST}come\b(?! (?:si|ti) chiam)|\bperché\b|\b(?:che )?cosa (?:devo|deve|bisogna)\b"
    r"|\bкак\b(?! (?:называ|зовут|долго|часто|далеко))|\b(?:почему|зачем)\b|\bчто (?:нужно|надо) сделать\b"
    r"|(?:怎[样樣么麼]|如何)(?!称呼|稱呼)|[为為](?:什么|什麼|何)|どうやって|どうすれば|どのように|なぜ",
    re.IGNORECASE,
)
"""How a question asks for a procedure, a reason or an explanation: in English, German, French, Spanish,
Italian, Russian, Chinese and Japanese."""
_GERMAN_PLURAL = r"(?:[\w-]{2,}en|(?:zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|\d+) [\w-]+)"
"""A German noun that is surely a plural, "Stufen", or the end of one behind a number, "vier Teile"."""
_SEVERAL = re.compile(
    r"\b(?:what|which) (?:are|were)\b"
    r"|\b(?:what|which)(?: [\w-]+){0,2} [\w-]+[^\W\ds]s"
    r" (?:are|were|do|did|can|could|must|should|may|will|have|need|exist|belong|count|come|get|help)\b"
    r"|\bwhat (?:is|do|does|did|should|must)\b.*\b(?:include|contain|comprise|cover|need|require|bring)"
    r"(?:e?d)?\b"
    r"|^\W*(?:please )?(?:list|name|enumerate)\b.*\b(?:all|the|every)\b"
    r"|^\W*(?:welche|was)\b.*\b(?:sind|gibt es|gehören|gehört|enthält|umfasst|braucht|benötigt)\b"
    rf"|^\W*welche (?:[\w-]+ ){{0,2}}{_GERMAN_PLURAL} (?:hat|haben|hatten?)\b"
    r"|^\W*nenne\b|\bquel(?:le)?s\b|\bque (?:comprend|contient)\b"
    r"|\bcuáles\b|\bqué (?:incluye|contiene|[^\W\d]+s)\b|\bquali\b|哪些",
    re.IGNORECASE,
)
"""How a question asks for several things of a kind: in English, German, French, Spanish, Italian, Chinese."""

_ARTICLE = r"(?:(?:the|an?|de[rmn]|eine[mnrs]?|la|les?|une?|el) )?"
_COMPARED = re.compile(
    rf"\b(?:between|zwischen|entre|compare[ds]?)\s+{_ARTICLE}(?P<first>[^,?;]{{1,40}}?)"
    rf"\s+(?:and|und|et|y|with|to)\s+{_ARTICLE}(?P<second>[^\s,?;]+)"
    r"|(?P<first_>(?<!\S)[^\s,?;]+)\s+(?:vs\.?|versus)\s+(?P<second_>[^\s,?;]+)",
    re.IGNORECASE,
)
"""How a question names the two things that it compares."""
_COMMAND_ASKED = re.compile(
    r"\bcommand\b(?! line)|\b(?:Befehl|Kommando)\b|\b(?:la|quelle) commande\b|\b(?:el|qué) comando\b",
    re.IGNORECASE,
)
"""How a question asks for a command."""
_OPTION_ASKED = re.compile(
    r"\b(?:(?:which|what)(?: is the(?=[^?]* (?:to|that|which)\b))?|is there (?:an?|any)|welche[rsmn]?|quelle)"
    r" (?!(?:is|are|was|does|do|did|the|an?|can|will|happens?|of)\b)(?:[\w-]+ ){0,2}?"
    r"(?:options?|flags?|switch(?:es)?|Schalter)\b",
    re.IGNORECASE,
)
"""How a question asks for an option of a command: "Which retention option protects it?"."""
_NAME_ASKED = re.compile(
    r"\b(?:which|what) (?!(?:is|are|was|does|do|did|the|an?|can|will|happens?|of)\b)(?:[\w-]+ ){0,2}?"
    r"(?:commands?|settings?|directives?|parameters?|variables?|functions?)\b(?! line)",
    re.IGNORECASE,
)
"""How a question asks for what has a name in code."""
_WHAT_IT_DOES = re.compile(
    r"\bwhat (?:does|do)\b[^,;?]+\bdo\b|\bwhat(?: is|['’]s)\b[^,;?]+\b(?:for|good for|do(?:ing)?)\W*$"
    r"|\bwas (?:macht|tut|bewirkt)\b|\bwofür (?:ist|dient)\b|\bque fait\b|\bà quoi sert\b|\bqué hace\b",
    re.IGNORECASE,
)
"""How a question asks what something does."""


def asks_what_it_does(question: str) -> bool:
    """Whether a question asks what something that it names does, or is for."""
    return _WHAT_IT_DOES.search(question) is not None


def asks_what_to_do(question: str) -> bool:
    """Whether a question asks for a procedure, a reason or an explanation, which several sentences tell.

    "What is the dose?" is answered by one sentence, which is quoted by itself if it is sure.
    """
    return _WHAT_TO_DO.search(question) is not None


def things_asked_for(question: str) -> frozenset[str]:
    """The content words of a question that asks for several things of a kind; empty for any other.

    "What are the advantages of this mode?" is answered by a whole list, and not by one of its items.
    """
    return frozenset(terms(question)) if _SEVERAL.search(question) else frozenset()


def compared_names(question: str) -> list[str]:
    """The two things that a question compares or offers, as it writes them; none if it compares nothing."""
    found = _COMPARED.search(question)
    return [found[name] or found[f"{name}_"] for name in ("first", "second")] if found else []


def compared_things(question: str) -> list[str]:
    """The terms of the two things that a question compares or offers; none if it compares nothing.

    Of "What is the difference between minsize and maxsize?" they are "minsiz" and "maxsiz".
    """
    names = compared_names(question)
    if not names:
        return []
    first, second = map(terms, names)
    own = [sorted(first - second), sorted(second - first)]
    return [each[0] for each in own] if all(len(each) == 1 for each in own) else []


def asks_for_option(question: str) -> bool:
    """Whether a question asks for an option, as a command has them."""
    return _OPTION_ASKED.search(question) is not None


def asks_for_name_in_code(question: str) -> bool:
    """Whether a question asks which option, command, setting or function it is, each of which has a name."""
    return asks_for_option(question) or _NAME_ASKED.search(question) is not None


def asks_for_command(question: str) -> bool:
    """Whether a question asks for a command, which is code."""
    return _COMMAND_ASKED.search(question) is not None
