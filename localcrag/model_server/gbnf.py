"""Regular expressions as GBNF, the grammar language of llama.cpp's servers.

Only what is regular in a pattern has a form in GBNF: literals, classes, groups, alternatives and repetitions.
``\\d`` and ``\\w`` become their ASCII characters, so that some texts that the pattern allows are left out.
What a grammar lets pass beside the pattern is found when the reply is checked (:mod:`.pattern_walk`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from localcrag.errors import ConstraintError

_SPACES = "\\t\\n\\x0B\\x0C\\r\\x20\\x85\\xA0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000"
_SHORT_CLASSES: Mapping[str, str] = {"d": "0-9", "w": "A-Za-z0-9_", "s": _SPACES}
_CONTROL_ESCAPES: Mapping[str, str] = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}
_HEX_DIGITS: Mapping[str, int] = {"x": 2, "u": 4, "U": 8}
_REPETITION = re.compile(r"[*+?]|\{\d+(?:,\d*)?\}")
_GROUP_START = re.compile(r"\((?:\?:|\?P<\w+>)?")


@lru_cache(maxsize=256)
def gbnf(pattern: str) -> str:
    """The grammar of the texts that match a pattern as a whole, with the rule ``root``.

    Raises ConstraintError for what GBNF cannot say: look-around, references back, and anchors.
    """
    reader = _PatternReader(pattern)
    expression = reader.alternatives()
    if not reader.ended:
        raise reader.unusable("a parenthesis is closed that was not opened")
    return f"root ::= {expression}\n"


class _PatternReader:
    """Reads a pattern from left to right, and writes each part as GBNF."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._at = pattern, 0

    @property
    def ended(self) -> bool:
        """Whether the whole pattern was read."""
        return self._at >= len(self._pattern)

    def unusable(self, why: str) -> ConstraintError:
        """The error for a pattern that has no grammar."""
        return ConstraintError(f"no grammar can be made of a pattern, at character {self._at + 1}: {why}")

    def alternatives(self) -> str:
        """Alternatives up to the end of the pattern or of the group."""
        found = [self._sequence()]
        while self._next == "|":
            self._at += 1
            found.append(self._sequence())
        return " | ".join(found)

    def _sequence(self) -> str:
        parts: list[str] = []
        joinable = False
        while self._next not in ("", "|", ")"):
            atom, repetition = self._atom(), self._repetition()
            literal = atom.startswith('"') and not repetition
            if literal and joinable:
                parts[-1] = parts[-1][:-1] + atom[1:]
            else:
                parts.append(atom + repetition)
            joinable = literal
        return " ".join(parts) or '""'

    def _repetition(self) -> str:
        """The repetition of the atom before; "" if it stands once."""
        found = _REPETITION.match(self._pattern, self._at)
        if found is None:
            return ""
        self._at = found.end()
        if self._next in ("?", "+", "*"):
            raise self.unusable("a repetition of a repetition")
        return found[0]

    def _atom(self) -> str:
        character = self._next
        if character == "(":
            return self._group()
        if character == "[":
            return self._class()
        if character in ("^", "$", "*", "+", "?"):
            raise self.unusable(f"{character!r} cannot stand here")
        self._at += 1
        if character == ".":
            return "[^\\n]"
        if character != "\\":
            return f'"{_written(character)}"'
        return self._escape()

    def _group(self) -> str:
        found = _GROUP_START.match(self._pattern, self._at)
        assert found is not None
        self._at = found.end()
        if self._next == "?":
            raise self.unusable("a look-around or a reference")
        inside = self.alternatives()
        if self._next != ")":
            raise self.unusable("a parenthesis is not closed")
        self._at += 1
        return f"({inside})"

    def _escape(self) -> str:
        """An escape outside of a class, behind its backslash."""
        letter = self._next
        if letter and letter.lower() in _SHORT_CLASSES:
            self._at += 1
            return f"[{'^' if letter.isupper() else ''}{_SHORT_CLASSES[letter.lower()]}]"
        return f'"{_written(self._escaped())}"'

    def _class(self) -> str:
        self._at += 1
        items = ""
        if self._next == "^":
            self._at += 1
            items = "^"
        while self._next != "]":
            if self.ended:
                raise self.unusable("a class is not closed")
            items += self._class_item()
        self._at += 1
        if items in ("", "^"):
            raise self.unusable("a class is empty")
        return f"[{items}]"

    def _class_item(self) -> str:
        """One character, short class or range of a class."""
        if self._pattern[self._at : self._at + 1] == "\\":
            letter = self._pattern[self._at + 1 : self._at + 2]
            if letter in _SHORT_CLASSES:
                self._at += 2
                return _SHORT_CLASSES[letter]
        first = self._class_character()
        if self._next != "-" or self._pattern[self._at + 1 : self._at + 2] in ("", "]"):
            return _written(first)
        self._at += 1
        return f"{_written(first)}-{_written(self._class_character())}"

    def _class_character(self) -> str:
        character = self._next
        self._at += 1
        return self._escaped() if character == "\\" else character

    def _escaped(self) -> str:
        """The character that an escape stands for, behind its backslash."""
        letter = self._next
        self._at += 1
        if letter in _CONTROL_ESCAPES:
            return _CONTROL_ESCAPES[letter]
        if length := _HEX_DIGITS.get(letter, 0):
            digits = self._pattern[self._at : self._at + length]
            self._at += length
            try:
                return chr(int(digits, 16))
            except (ValueError, OverflowError) as error:
                raise self.unusable(f"{digits!r} is no character") from error
        if not letter or letter.isalnum():
            raise self.unusable(f"the escape {letter!r} has no grammar")
        return letter

    @property
    def _next(self) -> str:
        """The next character; "" at the end."""
        return self._pattern[self._at : self._at + 1]


def _written(character: str) -> str:
    """A character of a literal or a class: letters and digits as they are, others by their number."""
    code = ord(character)
    if character.isascii() and character.isalnum():
        return character
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
