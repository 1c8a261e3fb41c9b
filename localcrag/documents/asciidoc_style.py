"""The attributes above a block of AsciiDoc: ``[source,python]``, ``[NOTE]``, ``[%header,cols=2*]``."""

from __future__ import annotations

import re

_ATTRIBUTE = re.compile(
    r"""\s*(?:([\w-]{1,60}+)\s*=\s*)?(?:"((?:[^"\\]|\\.)*+)"|'([^']*+)'|([^,]*+))[^,]*(?:,|$)"""
)
_STYLE_LINE = re.compile(r"\[(.*)\]$")
_ANCHOR = re.compile(r"\[[^\[\]]*\]$")
_FIRST = re.compile(r"""(?:[^\W\d][\w-]*)?(?:[.#%][\w:-]+)*(?:,|$)|[\w-]+\s*=|["'{]""")
"""How attributes begin, and not a sentence in brackets."""
_SHORTHAND = re.compile(r"([.#%])([\w:-]+)")
_ADMONITIONS = frozenset({"NOTE", "TIP", "WARNING", "IMPORTANT", "CAUTION"})
_CODE = frozenset(
    {
        "source",
        "listing",
        "literal",
        "stem",
        "latexmath",
        "asciimath",
        "plantuml",
        "mermaid",
        "graphviz",
        "ditaa",
    }
)
_CREDITED = frozenset({"quote", "verse"})


def is_style_line(line: str) -> bool:
    """Whether a line holds attributes or an anchor, which belong to the block below it."""
    found = _STYLE_LINE.match(line) if line[0] == "[" else None
    if found is None or found[1].endswith("]"):
        return bool(found and found[1].startswith("[") and _ANCHOR.match(found[1]))
    return _FIRST.match(found[1]) is not None


class BlockStyle:
    """The attributes of the block that comes next.

    Attributes:
        name: its style, "source", "quote", "" without any.
        label: the word that stands before it, "NOTE".
        credit: who is quoted, and where that stands.
        named: its attributes by name.
        options: its options.
    """

    def __init__(self) -> None:
        self.name = self.label = self.credit = ""
        self.named: dict[str, str] = {}
        self.options = frozenset[str]()

    def add(self, line: str) -> None:
        """Add the attributes that a line holds."""
        places: list[str] = []
        if line.startswith("[["):
            return
        for name, twice, once, bare in _ATTRIBUTE.findall(line[1:-1]):
            value = twice or once or bare.strip()
            if name:
                self.named[name.lower()] = value
            else:
                places.append(value)
        first = places[0] if places else ""
        shorthand = _SHORTHAND.findall(first)
        name = re.split("[.#%]", first)[0]
        given = f"{self.named.get('options', '')},{self.named.get('opts', '')}".split(",")
        self.options |= {value for sign, value in shorthand if sign == "%"} | {each.strip() for each in given}
        self.name = name or self.name
        if name in _ADMONITIONS:
            self.label = name
        if name in _CREDITED:
            said = (*places[1:3], self.named.get("attribution", ""), self.named.get("citetitle", ""))
            self.credit = ", ".join(filter(None, said))

    @property
    def is_code(self) -> bool:
        """Whether the next block is code, or a formula."""
        return self.name in _CODE

    @property
    def takes_lines(self) -> bool:
        """Whether the lines of the next block, up to a blank one, stay lines."""
        return self.is_code or self.name in ("verse", "comment")

    @property
    def start(self) -> int:
        """The number with which the next list begins, 0 if it is not said."""
        given = self.named.get("start", "")
        return int(given) if given.isdecimal() and len(given) < 6 else 0

    def end(self, *, but_label: bool = False) -> None:
        """Forget everything; ``but_label`` if the content of the block is next, which has its label."""
        self.name = self.credit = ""
        self.label = self.label if but_label else ""
        self.named = {}
        self.options = frozenset[str]()
