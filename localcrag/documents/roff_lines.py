"""The lines of a manual page in roff: its requests are obeyed as far as they decide which text there is.

Conditions are taken as for a terminal, macros and strings that the page defines are put in, comments and
definitions are left out. Nothing is included from other files, and nothing is run.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from localcrag.documents.roff_escapes import plain

_COMMENT = re.compile(r'(?<!\\)((?:\\\\)*)\\["#].*')
_NAME = re.compile(r"[^\s\\]*")
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\.|\S)+)')
_MACRO_ARGUMENT = re.compile(r"\\\\\$([1-9])")
_REGISTER = re.compile(r"\\n[+-]?(?:\((..)|\[([^\]]{0,100})\]|(.))")
_INNERMOST = re.compile(r"\(([^()]*)\)")
_TOKEN = re.compile(r"(-?\d+)[a-zA-Z]?|([<>=!&:+*/-]=?|-)")
_DEFINITIONS = frozenset({"de", "de1", "dei", "am", "am1", "ami", "ig"})
_STRING_REQUESTS = frozenset({"ds", "ds1", "as", "as1"})
_MAX_STRING = 500
"""Characters of a string that a page defines."""
_MAX_ARGUMENT = 2_000
"""Characters of an argument that is put into a macro of the page."""
_MAX_EXPANDED = 50_000
"""Lines that macros of a page may be replaced by."""
_MIN_LEFT = 1_000_000
"""Characters behind conditions that are read at least, whatever the length of the page."""
_MAX_PARENTHESES = 20


class RoffLine(NamedTuple):
    """A line of text, or a macro with its arguments; the escapes are replaced.

    ``macro`` is "" for text, which is then the one argument. ``goes_on`` says that the next text follows
    without a blank.
    """

    macro: str
    arguments: list[str]
    goes_on: bool = False

    @property
    def text(self) -> str:
        """The arguments with a blank between them."""
        return " ".join(self.arguments)


class RoffLines:
    """Reads the lines of a page; macros in ``known`` keep their meaning, whatever the page defines."""

    def __init__(self, text: str, known: frozenset[str]) -> None:
        self._lines = deque(text.split("\n"))
        self._known = known
        self._strings: dict[str, str] = {}
        self._registers = {".g": 1}
        self._macros: dict[str, list[str]] = {}
        self._otherwise: list[bool] = []
        self._translated: dict[int, str] = {}
        self._expanded = 0
        self._left = max(_MIN_LEFT, 4 * len(text))

    def all(self) -> Iterator[RoffLine]:
        """All lines but those of requests that are obeyed here."""
        while self._lines:
            line = self._next()
            if "\\}" in line:
                line = line.replace("\\}", "")
                if not line.strip("'. "):
                    continue
            if line[:1] not in (".", "'"):
                yield RoffLine("", [self.plain(line)], line.endswith("\\c"))
            elif made := self._control(line[1:].lstrip()):
                yield made

    def plain(self, text: str) -> str:
        """A text of the page with its escapes replaced."""
        shown = plain(text, self._strings)
        return shown.translate(self._translated) if self._translated else shown

    def until(self, end: str) -> Iterator[str]:
        """The lines as they stand up to a request, which is taken off."""
        while self._lines:
            line = self._next()
            if _request(line) == end:
                return
            yield line

    def arguments(self, rest: str) -> list[str]:
        """The arguments of a request, which blanks separate outside quotation marks."""
        return [
            self.plain(quoted.replace('""', '"') if quoted or not word else word)
            for quoted, word in _ARGUMENT.findall(rest)
        ]

    def _next(self) -> str:
        """The next line without a comment, joined with those that it goes on in."""
        line = _COMMENT.sub(r"\1", self._lines.popleft())
        pieces = []
        while (len(line) - len(line.rstrip("\\"))) % 2 and self._lines:
            pieces.append(line[:-1])
            line = _COMMENT.sub(r"\1", self._lines.popleft())
        return "".join([*pieces, line])

    def _control(self, body: str) -> RoffLine | None:
        """The macro of a line; None if it was a request that is obeyed."""
        name = _NAME.match(body)[0]  # type: ignore[index]
        rest = body[len(name) :].lstrip()
        if name in ("if", "ie"):
            holds, rest = self._condition(rest)
            if name == "ie":
                self._otherwise.append(not holds)
            self._branch(rest, holds=holds)
        elif name in ("el", "while"):
            self._branch(rest, holds=name == "el" and bool(self._otherwise) and self._otherwise.pop())
        elif name in _DEFINITIONS:
            self._define(name, rest.split())
        elif name in _STRING_REQUESTS:
            key, _, value = rest.partition(" ")
            before = self._strings.get(key, "") if name.startswith("as") else ""
            self._strings[key] = (before + self.plain(value.lstrip().removeprefix('"')))[:_MAX_STRING]
        elif name == "nr":
            key, _, value = rest.partition(" ")
            self._registers[key] = self._number(value.strip())
        elif name == "tr":
            pairs = self.plain(rest)
            self._translated.update((ord(a), b) for a, b in zip(pairs[::2], pairs[1::2], strict=False))
        elif name == "EQ":
            deque(self.until("EN"), maxlen=0)
        elif name in self._macros:
            self._expand(name, rest)
        elif name:
            return RoffLine(name, self.arguments(rest), rest.endswith("\\c"))
        return None

    def _branch(self, rest: str, *, holds: bool) -> None:
        """Go on with what stands behind a condition, or leave it out."""
        if holds:
            rest = rest.removeprefix("\\{").lstrip()
            self._left -= len(rest)
            if rest and self._left > 0:
                self._lines.appendleft(rest)
            return
        depth = rest.count("\\{") - rest.count("\\}")
        while depth > 0 and self._lines:
            line = self._next()
            depth += line.count("\\{") - line.count("\\}")

    def _define(self, request: str, arguments: list[str]) -> None:
        """Take off the lines of a definition, and keep them if the name has no other meaning."""
        names = arguments if request != "ig" else ["", *arguments]
        end = names[1] if len(names) > 1 else "."
        body = list(self._definition(end))
        if names and request.startswith("de") and names[0] not in self._known:
            self._macros[names[0]] = body

    def _definition(self, end: str) -> Iterator[str]:
        while self._lines:
            line = self._lines.popleft()
            if line[:1] in (".", "'") and line[1:].split("\\", 1)[0].strip() == end:
                return
            yield line

    def _expand(self, name: str, rest: str) -> None:
        body = self._macros[name]
        self._expanded += len(body) + 1
        if self._expanded > _MAX_EXPANDED:
            return
        given = [(quoted or word)[:_MAX_ARGUMENT] for quoted, word in _ARGUMENT.findall(rest)]

        def argument(found: re.Match[str]) -> str:
            number = int(found[1])
            return given[number - 1] if number <= len(given) else ""

        lines = (_MACRO_ARGUMENT.sub(argument, line).replace("\\\\", "\\") for line in body)
        self._lines.extendleft(reversed(list(lines)))

    # ------------------------------------------------------------------ conditions

    def _condition(self, rest: str) -> tuple[bool, str]:
        """Whether the condition at the start of ``rest`` holds, and what stands behind it."""
        negated = rest.startswith("!")
        rest = rest.removeprefix("!").lstrip()
        first = rest[:1]
        if first in ("d", "r", "c") and rest[1:2] in (" ", "\\"):
            name, _, behind = rest[1:].lstrip().partition(" ")
            holds = name in self._registers if first == "r" else name in self._strings or name in self._macros
        elif first in ("n", "t", "o", "e", "v") and not rest[1:2].isalnum():
            holds, behind = first in ("n", "o"), rest[1:]
        elif first in ("'", '"') and rest.count(first) >= 3:
            _, left, right, behind = rest.split(first, 3)
            holds = self.plain(left) == self.plain(right)
        else:
            end = _end_of_expression(rest)
            holds, behind = self._number(rest[:end]) > 0, rest[end:]
        return holds != negated, behind.lstrip()

    def _number(self, expression: str) -> int:
        """The value of an expression, which roff reads from left to right; 0 for what it cannot be."""
        expression = _REGISTER.sub(
            lambda found: str(self._registers.get(found[1] or found[2] or found[3] or "", 0)), expression
        )
        for _ in range(_MAX_PARENTHESES):
            expression, count = _INNERMOST.subn(lambda found: str(_from_left(found[1])), expression)
            if not count:
                break
        return _from_left(expression)


def _request(line: str) -> str:
    found = _NAME.match(line[1:].lstrip()) if line[:1] in (".", "'") else None
    return found[0] if found else ""


def _end_of_expression(text: str) -> int:
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character.isspace() and depth <= 0:
            return at
        if text.startswith("\\{", at):
            return at
        if text.startswith("\\n(", at):
            depth -= 1
    return len(text)


def _from_left(expression: str) -> int:
    value, operator = 0, "+"
    for number, sign in _TOKEN.findall(expression[:200]):
        if sign:
            operator = sign
            continue
        value, operator = _computed(value, operator, int(number[:9])), ""
    return value


def _computed(left: int, operator: str, right: int) -> int:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "<" | "<=":
            return int(left < right or (operator == "<=" and left == right))
        case ">" | ">=":
            return int(left > right or (operator == ">=" and left == right))
        case "=" | "==":
            return int(left == right)
        case "&":
            return int(left > 0 and right > 0)
        case ":":
            return int(left > 0 or right > 0)
        case _:
            return left
