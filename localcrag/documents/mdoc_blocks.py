"""Manual pages with the macros of mdoc(7), as BSD and macOS have them, as blocks of plain text.

The macros say what a word is: an option, an argument, a path. They are shown as a terminal shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.man_blocks import page_title
from localcrag.documents.roff_lines import RoffLine, RoffLines
from localcrag.documents.table_rows import with_headers
from localcrag.types import BlockKind

_ENCLOSURES = {
    "Op": ("[", "]"),
    "Aq": ("<", ">"),
    "Bq": ("[", "]"),
    "Brq": ("{", "}"),
    "Dq": ("“", "”"),
    "Pq": ("(", ")"),
    "Qq": ('"', '"'),
    "Sq": ("‘", "’"),
    "Ql": ("‘", "’"),
}
"""What a macro puts around the rest of its line."""
_OPENINGS = {
    "Oo": "[",
    "Ao": "<",
    "Bo": "[",
    "Bro": "{",
    "Do": "“",
    "Po": "(",
    "Qo": '"',
    "So": "‘",
    "Xo": "",
}
_CLOSINGS = {
    "Oc": "]",
    "Ac": ">",
    "Bc": "]",
    "Brc": "}",
    "Dc": "”",
    "Pc": ")",
    "Qc": '"',
    "Sc": "’",
    "Xc": "",
}
_SYSTEMS = {
    "Bx": "BSD",
    "Fx": "FreeBSD",
    "Nx": "NetBSD",
    "Ox": "OpenBSD",
    "Dx": "DragonFly",
    "Ux": "UNIX",
    "At": "AT&T UNIX",
}
_WORDS = (
    "Ad An Ar Cd Cm Dv Em Er Ev Fa Fd Fl Fn Fr Ft Ic In Li Lk Ms Mt Nm No Ns Ap Pa Pf St Sx Sy Tn Va Vt Xr"
)
_CALLED = frozenset({*_ENCLOSURES, *_OPENINGS, *_CLOSINGS, *_SYSTEMS, *_WORDS.split()})
_BLOCK_MACROS = "Dd Dt Os Sh Ss Pp Lp Nd Bl It El Bd Ed D1 Dl Rs Re Sm Bk Ek Ex Rv Ta TS"
_BLOCKS = frozenset(_BLOCK_MACROS.split())
_CLOSE, _OPEN = frozenset(".,:;)]?!"), frozenset("([")
_BULLET_LISTS = frozenset({"-bullet", "-dash", "-hyphen"})
_GLUE = "\x00"
"""Stands for no blank between two words while a line is put together."""


def add_mdoc(made: BlockText, text: str) -> str:
    """Append the blocks of a page; returns its title, as "ls(1)", or "" if it has none."""
    walk = _Walk(made, RoffLines(text, _BLOCKS | _CALLED))
    walk.read()
    return walk.title


@dataclass(slots=True)
class _List:
    """A list that is being read; ``rows`` are those of one in columns."""

    kind: str
    items: int = 0
    rows: list[list[str]] = field(default_factory=list)


class _Walk:
    """Reads lines into blocks; ``_lead`` and ``_marker`` are those of the item that has begun."""

    def __init__(self, made: BlockText, lines: RoffLines) -> None:
        self._made, self._lines = made, lines
        self.title = self._name = self._section = ""
        self._words: list[str] = []
        self._code: list[str] | None = None
        self._lists: list[_List] = []
        self._lead = self._marker = ""
        self._is_item = self._in_head = False
        self._spaced = self._begun = True

    def read(self) -> None:
        """Append all blocks."""
        for line in self._lines.all():
            if line.macro in _BLOCKS:
                self._block(line)
            elif line.macro.startswith("%"):  # of a reference: an author, a title
                self._text(f"{self._inline(line.arguments)},")
            elif line.macro in _CALLED:
                self._text(self._inline([line.macro, *line.arguments]))
                if self._in_head and "Xc" in (line.macro, *line.arguments):
                    self._lead, self._in_head = " ".join(" ".join(self._words).split()), False
                    self._words.clear()
            elif not line.macro and line.text.strip():
                self._text(line.text)
            elif not line.macro:
                self._break()
        self._end_code()

    def _block(self, line: RoffLine) -> None:
        match line.macro:
            case "Dt":
                self.title = page_title(line.arguments)
            case "Sh" | "Ss":
                self._end_code()
                self._section = self._inline(line.arguments)
                self._made.add(BlockKind.HEADING, self._section, level=1 if line.macro == "Sh" else 2)
            case "Pp" | "Lp" | "Rs" | "Re":
                self._break()
            case "Nd":
                self._text(f"– {self._inline(line.arguments)}")
            case "Bl":
                self._flush()
                self._lists.append(_List(next(iter(line.arguments), "")))
                self._made.part()
            case "It":
                self._item(line.arguments)
            case "El":
                self._end_list()
            case "Bd":
                self._flush()
                if {"-literal", "-unfilled"} & {*line.arguments}:
                    self._code = []
            case "Ed":
                self._end_code()
            case "D1" | "Dl":
                self._flush()
                self._made.add(BlockKind.CODE, self._inline(line.arguments))
            case "Sm":
                self._spaced, self._begun = "off" not in line.arguments, False
            case "Ex":
                self._text(f"The {self._name} utility exits 0 on success, and >0 if an error occurs.")

    def _text(self, text: str) -> None:
        text = _unglued(text)
        if self._code is not None:
            self._code.append(text)
        elif not text.strip():
            return
        elif self._words and self._begun and not self._spaced:
            self._words[-1] += text.strip()
        else:
            self._words.append(text.strip())
            self._begun = True

    def _item(self, arguments: Sequence[str]) -> None:
        self._end_code()
        current = self._lists[-1] if self._lists else _List("")
        current.items += 1
        if current.kind == "-column":
            cells: list[list[str]] = [[]]
            for word in arguments:
                if word == "Ta":
                    cells.append([])
                else:
                    cells[-1].append(word)
            current.rows.append([self._inline(cell) for cell in cells])
        elif current.kind in _BULLET_LISTS or current.kind == "-enum":
            self._is_item = True
            self._marker = BULLET if current.kind in _BULLET_LISTS else f"{current.items}. "
        elif "Xo" in arguments and "Xc" not in arguments:
            self._words, self._in_head = [self._inline(arguments)], True
        else:
            self._lead = self._inline(arguments)

    def _end_list(self) -> None:
        self._end_code()
        ended = self._lists.pop() if self._lists else _List("")
        for row in with_headers(ended.rows):
            self._made.add(BlockKind.ROW, row)
        self._made.part()

    def _break(self) -> None:
        if self._code is None:
            self._flush()
        else:
            self._code.append("")

    def _flush(self) -> None:
        words = " ".join(" ".join(self._words).split())
        self._words.clear()
        lead, marker, is_item = self._lead, self._marker, self._is_item or bool(self._lead)
        self._lead, self._marker, self._is_item = "", "", False
        table = self._lists[-1].rows if self._lists and self._lists[-1].kind == "-column" else []
        if table:
            table[-1][-1] = f"{table[-1][-1]} {words}".strip()
        elif is_item:
            text = f"{lead.removesuffix(':')}: {words}" if lead and words else lead or words
            self._made.add(BlockKind.ITEM, text, level=max(0, len(self._lists) - 1), marker=marker)
        else:
            self._made.add(BlockKind.PARAGRAPH, words)

    def _end_code(self) -> None:
        self._flush()
        if self._code is not None:
            self._made.add(BlockKind.CODE, "\n".join(line.rstrip() for line in self._code))
            self._code = None

    # ------------------------------------------------------------------ words of a line

    def _inline(self, words: Sequence[str]) -> str:
        """The words of a line as they are shown, with its macros obeyed."""
        shown: list[str] = []
        closing: list[str] = []
        end = len(words)
        while end > 1 and words[end - 1] in _CLOSE:
            end -= 1
        at = 0
        while at < end:
            word = words[at]
            at += 1
            if word in _ENCLOSURES:
                left, right = _ENCLOSURES[word]
                shown += [left, _GLUE]
                closing.append(right)
            elif word in _CALLED:
                after = next((i for i in range(at, end) if words[i] in _CALLED), end)
                shown += self._called(word, words[at:after])
                at = after
            else:
                shown += _delimited(word)
        for right in reversed(closing):
            shown += [_GLUE, right]
        for word in words[end:]:
            shown += [_GLUE, word]
        return _unglued((" " if self._spaced else "").join(shown))

    def _called(self, macro: str, given: Sequence[str]) -> list[str]:
        """What a macro with its arguments shows."""
        spoken = [piece for word in given for piece in _delimited(word)]
        is_bare = not given or given[0] in _CLOSE
        match macro:
            case "Fl":
                if is_bare:
                    return ["-", *(spoken or [_GLUE])]
                return [
                    piece for word in given for piece in _delimited(word if word in _CLOSE else f"-{word}")
                ]
            case "Ar" if is_bare:
                return ["file ...", *spoken]
            case "Nm":
                if not is_bare and not self._name:
                    self._name = given[0]
                return [self._name, *spoken] if is_bare else spoken
            case "Ns":
                return [_GLUE, *spoken]
            case "Ap":
                return [_GLUE, "'", _GLUE, *spoken]
            case "Pf":
                return [*given[:1], _GLUE, *given[1:]]
            case "Xr" if len(given) > 1 and given[1] not in _CLOSE:
                return [f"{given[0]}({given[1]})", *(p for word in given[2:] for p in _delimited(word))]
            case "Fn" if given:
                return [f"{given[0]}({', '.join(word for word in given[1:] if word not in _CLOSE)})"]
            case "Lk" if given:
                return [*(given[1:] or given[:1])]
            case "In":
                return [f"#include <{' '.join(given)}>"]
            case "St":
                return [word.removeprefix("-") for word in given]
            case _ if macro in _OPENINGS:
                return [_OPENINGS[macro], _GLUE, *spoken]
            case _ if macro in _CLOSINGS:
                return [_GLUE, _CLOSINGS[macro], *spoken]
            case _ if macro in _SYSTEMS:
                return [_SYSTEMS[macro], *spoken]
            case _:
                return spoken


def _delimited(word: str) -> list[str]:
    """A word, without a blank before it if it closes something, or behind it if it opens something."""
    if word in _CLOSE:
        return [_GLUE, word]
    return [word, _GLUE] if word in _OPEN else [word]


def _unglued(text: str) -> str:
    return text.replace(f" {_GLUE} ", "").replace(f" {_GLUE}", "").replace(f"{_GLUE} ", "").replace(_GLUE, "")
