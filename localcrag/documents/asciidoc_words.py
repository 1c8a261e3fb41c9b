"""The words of a piece of AsciiDoc: without emphasis, macros, and the names of attributes that have a value.

What is code keeps its signs. A mark inside a word is none, and a sign behind a backslash is the sign itself.
"""

from __future__ import annotations

import re
from html import unescape

from localcrag.documents.extracted import one_line
from localcrag.documents.source_walk import KeptPieces
from localcrag.labelled_lines import flowing

_MAX_VALUE = 2_000
"""Characters of the value of an attribute."""
_MAX_EXPANSION = 2_000_000
"""Characters by which the values of attributes may make a document longer; later names stay as they are."""
_BUILT_IN = {
    "empty": "", "blank": "", "sp": " ", "nbsp": " ", "zwsp": "", "wj": "", "plus": "+", "asterisk": "*",
    "lt": "<", "gt": ">", "amp": "&", "vbar": "|", "apos": "'", "quot": '"', "lsquo": "‘", "rsquo": "’",
    "ldquo": "“", "rdquo": "”", "deg": "°", "brvbar": "¦", "startsb": "[", "endsb": "]", "caret": "^",
    "tilde": "~", "backslash": "\\", "backtick": "`", "two-colons": "::", "two-semicolons": ";;",
    "cpp": "C++", "cxx": "C++", "pp": "++", "litdd": "--",
}  # fmt: skip
_REFERENCE = re.compile(r"(\\?)\{(\w[\w-]{0,99}+)\}")

_BRACKETS = r"\[((?:[^\]\\]|\\.|\\){0,2000}+)\]"
"""The text of a macro, in which a bracket that is no end stands behind a backslash."""
_TARGET = r"[^\s\[\]<>]{1,2000}+"
_PASSED = re.compile(
    rf"(?P<escape>\\?)(?:\+\+\+(?P<raw>(?:[^+]|\+(?!\+\+))++)\+\+\+|\$\$(?P<dollars>(?:[^$]|\$(?!\$))++)\$\$"
    rf"|pass:(?P<how>[a-z,]{{0,20}}){_BRACKETS}"
    r"|`\+(?P<code>(?:[^+`]|\+(?!`))++)\+`(?!\w)"
    r"|(?<![\w+\\])\+\+(?P<twice>(?:[^+]|\+(?!\+))++)\+\+(?![\w+])"
    r"|(?<![\w+\\;:}])\+(?!\s)(?P<once>[^+]++)(?<!\s)\+(?![\w+]))",
    re.DOTALL,
)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*+>")
_QUOTED = re.compile(r"""(["'])`(?!\s)([^`]++)(?<!\s)`\1""")
_OLD_QUOTED = re.compile(r"``(?!\s)([^`']++)(?<!\s)''(?!')")
_ADDRESS = re.compile(
    rf"(?<!\w)(?P<escape>\\?)(?:<(?P<angle>(?:https?|ftp|irc)://[^\s<>]{{1,2000}}+)>"
    rf"|(?P<url>(?:https?|ftp|irc|file)://[^\s\[\]<>`]{{1,2000}}+)(?:{_BRACKETS})?)",
    re.DOTALL,
)
_LINK = re.compile(rf"(?<!\w)(\\?)(link|xref|mailto):({_TARGET}){_BRACKETS}", re.DOTALL)
_CROSS_REFERENCE = re.compile(r"(\\?)<<([\w#/.:][^<>,`\n]{0,300}+)(?:,([^<>]{1,500}+))?(?<!\s)>>")
_PICTURE = re.compile(rf"(?<!\w)(\\?)(?:image|icon):[^\s\[\]:][^\s\[\]]{{0,2000}}+{_BRACKETS}", re.DOTALL)
_KEYS = re.compile(rf"(?<!\w)(\\?)(?:kbd|btn):{_BRACKETS}", re.DOTALL)
_MENU = re.compile(rf"(?<!\w)(\\?)menu:([\w&][^\n\[\]]{{0,100}}+){_BRACKETS}", re.DOTALL)
_FORMULA = re.compile(rf"(?<!\w)(\\?)(?:stem|latexmath|asciimath):[a-z,]{{0,20}}{_BRACKETS}", re.DOTALL)
_MANUAL = re.compile(r"(?<!\w)(?:man|link\w+):([\w.-]{1,80}+)\[(\d\w?)\]")
_NOTE = re.compile(rf"(\\?)footnote(?:(ref):|:[\w-]*){_BRACKETS}", re.DOTALL)
_INDEX = re.compile(
    rf"\(\(\((?P<hidden>[^()]{{1,300}}+)\)\)\)|\(\((?P<shown>[^\W\d][^()]{{0,300}}+)\)\)"
    rf"|(?<!\w)indexterm(?P<visible>2?):{_BRACKETS}",
    re.DOTALL,
)
_ANCHOR = re.compile(
    r"\[\[\[([^\[\],\n]{1,200}+)(?:,[^\[\]\n]{0,200}+)?\]\]\]|\[\[[^\W\d][\w:.-]{0,200}+(?:,[^\[\]\n]{0,200}+)?\]\]"
    r"|anchor:[\w:.-]{1,200}+\[[^\[\]\n]{0,200}+\]"
)
_ROLE = r"(?:\[(?:[.#%][^\[\]\n]{1,80}+|[a-z][\w-]{0,80}+)\])?"
_CODE = re.compile(
    rf"(\\?){_ROLE}(?:``(?P<twice>(?:[^`]|`(?!`))++)``"
    r"|(?<![\w`])`(?!\s)(?P<once>[^`]++)(?<!\s)`(?![\w`]))"
)
_RAISED = re.compile(r"(\\?)\^([\w+\-.,()=]{1,60}+)\^|(\\?)(?<!~)~([\w+\-.,()=]{1,60}+)~(?!~)")
_POWER = re.compile(r"[+-]?\d+")
_HARD_BREAK = re.compile(r"(?<=[ \t])\+$", re.MULTILINE)
_ENTITY = re.compile(r"&(?:#\d{2,7}|#[xX][0-9a-fA-F]{2,6}|[a-zA-Z]{2,31}\d{0,2});")
_BREAK = "\0/"
_LABEL = re.compile(r'"((?:[^"\\]|\\.)*+)"\s*(?=,|$)', re.DOTALL)
_NAMED = re.compile(r"(?:^|,)\s*[\w-]{1,40}=")
_ALT = re.compile(r'(?:^|,)\s*alt=(?:"([^"]*+)"|([^,]*+))')


def _twice(sign: str) -> re.Pattern[str]:
    """Two signs on each side, which may stand inside a word."""
    return re.compile(rf"(\\{{0,2}}){_ROLE}{sign}{sign}((?:[^{sign}]|{sign}(?!{sign}))++){sign}{sign}")


def _once(sign: str, inner: str) -> re.Pattern[str]:
    """One sign on each side, which stand at the ends of words."""
    return re.compile(rf"(?<![\w{sign};:}}\\])(\\?){_ROLE}{sign}(?!\s)({inner}++)(?<!\s){sign}(?![\w{sign}])")


_MARKS = (
    *(_twice(sign) for sign in (r"\*", "_", "#")),
    _once(r"\*", r"[^*]"),
    _once("_", r"(?:[^_]|(?<=\w)_(?=\w))"),
    _once("#", r"[^#]"),
)


class Definitions:
    """The attributes of a document and the titles of its sections, which its text refers to by name."""

    def __init__(self) -> None:
        self._values, self._room = dict(_BUILT_IN), _MAX_EXPANSION
        self.titles: dict[str, str] = {}

    def define(self, name: str, value: str) -> str:
        """Set the value of an attribute, in which the names of others are replaced; returns it."""
        value = self.replaced(value)
        if len(value) <= _MAX_VALUE:
            self._values[name.lower()] = value
        return value

    def forget(self, name: str) -> None:
        """Remove an attribute."""
        self._values.pop(name.lower(), None)

    def replaced(self, text: str) -> str:
        """A text with the values of the attributes that it names; a name without a value stays."""
        return _REFERENCE.sub(self._value, text) if "{" in text else text

    def _value(self, found: re.Match[str]) -> str:
        value = self._values.get(found[2].lower())
        if found[1]:
            return found[0][1:]
        if value is None or self._room < len(value):
            return found[0]
        self._room -= len(value)
        return value


def plain(text: str, known: Definitions) -> str:
    """The words of a text; its lines run on, unless each has a label or the text wants a line to end."""
    return _Words(known).of(text)


def without_tags(text: str) -> str:
    """A text that is passed through to HTML, without its tags."""
    return unescape(_TAG.sub(" ", text)) if _TAG.search(text) else text


class _Words:
    """Takes the marks out of one text; what must not be looked at any more is kept apart."""

    def __init__(self, known: Definitions) -> None:
        self._known, self._kept = known, KeptPieces()
        self._keep = self._kept.keep

    def of(self, text: str) -> str:
        text = _PASSED.sub(self._passed, _HARD_BREAK.sub(_BREAK, text.replace("\0", "")))
        text = self._macros(self._known.replaced(text))
        text = _OLD_QUOTED.sub(r"“\1”", _QUOTED.sub(_curly, text))
        text = _CODE.sub(self._code, text)
        for mark in _MARKS:
            text = mark.sub(self._marked, text)
        text = _ENTITY.sub(lambda entity: unescape(entity[0]), _RAISED.sub(_raised, text))
        lines = self._kept.whole(text).split(_BREAK)
        return "\n".join(filter(None, map(flowing, lines)))

    def _macros(self, text: str) -> str:
        if "[[" in text or "anchor:" in text:
            text = _ANCHOR.sub(lambda anchor: f"[{anchor[1]}]" if anchor[1] else "", text)
        if "<<" in text:
            text = _CROSS_REFERENCE.sub(self._cross_reference, text)
        if "((" in text or "indexterm" in text:
            text = _INDEX.sub(lambda term: term["shown"] or (term[4] if term["visible"] else ""), text)
        if ":" in text:
            text = _MANUAL.sub(r"\1(\2)", text)
            text = _FORMULA.sub(lambda found: self._escaped(found) or self._keep(found[2]), text)
            text = _MENU.sub(lambda found: self._escaped(found) or _path(found[2], found[3]), text)
            text = _KEYS.sub(lambda found: self._escaped(found) or self._keep(_pressed(found[2])), text)
            text = _PICTURE.sub(lambda found: self._escaped(found) or picture_words(found[2]), text)
            text = _LINK.sub(self._link, text)
            text = _ADDRESS.sub(self._address, text)
            text = _NOTE.sub(self._note, text)
        return text

    def _escaped(self, found: re.Match[str]) -> str:
        """A match without the backslash before it, kept as it is; "" if there is none."""
        return self._keep(found[0][1:]) if found[1] else ""

    def _passed(self, found: re.Match[str]) -> str:
        if found["escape"]:
            return self._keep(found[0][1:])
        if found["how"] is not None:
            text = found[5].replace("\\]", "]")
            return text if {"q", "n", "m"} & {*found["how"]} else self._keep(without_tags(text))
        if found["raw"] is not None:
            return self._keep(without_tags(found["raw"]))
        code = next(found[name] for name in ("dollars", "code", "twice", "once") if found[name] is not None)
        return self._keep(self._known.replaced(code))

    def _link(self, found: re.Match[str]) -> str:
        if found[1]:
            return self._keep(found[0][1:])
        kind, target = found[2], found[3]
        text = _label(found[4].partition(",")[0] if kind == "mailto" else found[4])
        if not text:
            return self._titled(target) if kind == "xref" else self._keep(target)
        return self._keep(text) if "]" in text else text

    def _address(self, found: re.Match[str]) -> str:
        if found["escape"]:
            return self._keep(found[0][1:])
        if found["angle"]:
            return self._keep(found["angle"])
        if found[4] is not None:
            text = _label(found[4]) or found["url"]
            return self._keep(text) if "]" in text or text == found["url"] else text
        address = found["url"].rstrip("*_#")
        return self._keep(address) + found["url"][len(address) :]

    def _cross_reference(self, found: re.Match[str]) -> str:
        return self._escaped(found) or (found[3] or "").strip() or self._titled(found[2])

    def _titled(self, target: str) -> str:
        """The title of the section that a reference means, or the reference itself."""
        title = self._known.titles.get(target.removeprefix("#"))
        return self._known.replaced(title) if title else self._keep(target.strip("#"))

    def _note(self, found: re.Match[str]) -> str:
        if found[1]:
            return self._keep(found[0][1:])
        text = found[3].partition(",")[2] if found[2] else found[3]
        return f" ({text.strip()})" if text.strip() else ""

    def _code(self, found: re.Match[str]) -> str:
        return self._escaped(found) or self._keep(found["once"] or found["twice"])

    def _marked(self, found: re.Match[str]) -> str:
        return self._keep(found[0][len(found[1]) :]) if found[1] else found[2]


def picture_words(attributes: str) -> str:
    """The words that stand for a picture: the first of its attributes, or the one that is called so."""
    if named := _ALT.search(attributes):
        return named[1] or named[2] or ""
    quoted = _LABEL.match(attributes.strip())
    words = quoted[1] if quoted else attributes.partition(",")[0]
    return "" if _NAMED.match(words) else words.strip()


def _label(text: str) -> str:
    """The words of a link without its other attributes."""
    text = text.replace("\\]", "]").strip()
    if quoted := _LABEL.match(text):
        return quoted[1]
    if _NAMED.search(text):
        text = text.partition(",")[0]
        text = "" if _NAMED.match(text) else text
    return text.strip().removesuffix("^")


def _path(menu: str, items: str) -> str:
    """A menu and the items in it: "File > Save"."""
    return " > ".join(filter(None, (part.strip() for part in (menu, *re.split("[>,]", items)))))


def _pressed(keys: str) -> str:
    keys = keys.strip().replace("\\]", "]")
    return "+".join(key.strip() for key in keys.split(",")) if "," in keys[1:-1] else keys


def _curly(found: re.Match[str]) -> str:
    return f"“{found[2]}”" if found[1] == '"' else f"‘{found[2]}’"


def _raised(found: re.Match[str]) -> str:
    """A raised or lowered piece of a word; a power keeps its sign, as 10^3 is not 103."""
    if found[1] or found[3]:
        return found[0][1:]
    is_power = found[2] and _POWER.fullmatch(found[2]) and found.string[: found.start()][-1:].isalnum()
    return f"^{found[2]}" if is_power else found[2] or found[4]


def shown_line(text: str, known: Definitions) -> str:
    """The words of a text in one line."""
    return one_line(plain(text, known), 100_000)
