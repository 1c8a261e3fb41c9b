"""The tokens of an SQL script, which sqlglot finds, a part of the script at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlglot import Token, Tokenizer

_PART_CHARACTERS = 128 * 1024
_MAX_PARTS = 6
"""How often a part that begins with a string or comment may be doubled until it ends, too."""
_SAMPLE_CHARACTERS = 1024 * 1024
_CUT = re.compile(r"[;)],?\n|\),(?=\()")
"""Where a script may be parted: behind a statement or a row. A string may have such an end in it, too."""
_NAMED = r"(?:INSERT|REPLACE|CREATE TABLE|DROP TABLE|ALTER TABLE)\b[^\n'(]*"
_SIGNS = (
    ("tsql", re.compile(rf"^GO[ \t]*$|^[ \t]*{_NAMED}\[", re.I | re.M)),
    ("mysql", re.compile(rf"^[ \t]*{_NAMED}`|\bENGINE ?=|\bAUTO_INCREMENT\b|^/\*!\d", re.I | re.M)),
    ("postgres", re.compile(r"\bstandard_conforming_strings\b|\bFROM stdin;|'::\w|\bE'|\$\w*\$")),
    ("oracle", re.compile(r"\b(?:VARCHAR2|NUMBER) ?\(|\bto_date ?\(|^SET DEFINE\b|\bq'\W", re.I | re.M)),
    ("sqlite", re.compile(r"^PRAGMA |\bAUTOINCREMENT\b|^BEGIN TRANSACTION;", re.I | re.M)),
)
"""What tells the dialect of a script, the surest first."""
_STANDARD, _WITH_BACKSLASHES = "", "mysql"


class UnbalancedQuotesError(ValueError):
    """A script has a quote that is not closed."""


class SqlToken(NamedTuple):
    """A token of a script.

    Attributes:
        word: a word in upper case, a number or a mark; "" for a string or a quoted name.
        text: the text of a string or quoted name, without quotes and escapes; of others as it stands.
        start: its place in the script.
        end: the place behind it.
    """

    word: str
    text: str
    start: int
    end: int


def dialects_of(script: str) -> list[str]:
    """The dialects of SQL that a script may be in, the likeliest first, by the names that sqlglot has."""
    sample = script[:_SAMPLE_CHARACTERS]
    likely = [dialect for dialect, sign in _SIGNS if sign.search(sample)][:1]
    return list(dict.fromkeys((*likely, _STANDARD, _WITH_BACKSLASHES)))


def tokens_of(script: str, dialect: str, start: int, end: int) -> Iterator[SqlToken]:
    """The tokens of ``script[start:end]``, without comments.

    Raises UnbalancedQuotesError.
    """
    tokenizer = _tokenizer(dialect)
    while start < end:
        stop, tokens = _part(tokenizer, script, start, end)
        yield from _shifted(tokens, script, start)
        start = stop


def _tokenizer(dialect: str) -> Tokenizer:
    """The tokenizer of a dialect, without the commands whose words it would leave as one text."""
    from sqlglot.dialects.dialect import Dialect

    known = Dialect.get_or_raise(dialect)
    made: Tokenizer = type("_Tokenizer", (known.tokenizer_class,), {"COMMANDS": set()})(known)
    return made


def _part(tokenizer: Tokenizer, script: str, start: int, end: int) -> tuple[int, Sequence[Token]]:
    """The end of the next part, and its tokens: it ends before a string or comment that its cut has parted.

    Raises UnbalancedQuotesError: nothing but such a string.
    """
    from sqlglot import TokenError

    for times in range(_MAX_PARTS):
        cut = _CUT.search(script, min(start + (_PART_CHARACTERS << times), end), end)
        stop = cut.end() if cut else end
        try:
            tokens = tokenizer.tokenize(script[start:stop])
            is_whole = True
        except TokenError:
            tokens, is_whole = tokenizer.tokens, False
        behind = start + tokens[-1].end + 1 if tokens else start
        if is_whole and (stop == end or script.count("/*", behind, stop) <= script.count("*/", behind, stop)):
            return stop, tokens
        if tokens:
            return behind, tokens
        if stop == end:
            break
    raise UnbalancedQuotesError


def _shifted(tokens: Sequence[Token], script: str, offset: int) -> Iterator[SqlToken]:
    from sqlglot import TokenType

    quoted = {
        *(TokenType.STRING, TokenType.IDENTIFIER, TokenType.NATIONAL_STRING, TokenType.BYTE_STRING),
        *(TokenType.RAW_STRING, TokenType.HEREDOC_STRING, TokenType.UNICODE_STRING),
    }
    for token in tokens:
        start, end = offset + token.start, offset + token.end + 1
        if token.token_type in quoted:
            yield SqlToken("", token.text, start, end)
        else:
            text = script[start:end]
            yield SqlToken(text.upper(), text, start, end)
