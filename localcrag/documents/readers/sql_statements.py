"""The rows that an SQL script puts into tables: those of INSERT with VALUES, and those below COPY.

Statements are read from their tokens alone, so that what only one database knows may stand between them. What
stands in a procedure or trigger, or cannot be read, is no row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from localcrag.documents.html_values import without_markup
from localcrag.documents.readers.sql_tokens import SqlToken, tokens_of

_OPENED = re.compile(
    r"^(?:(?P<copy>COPY\s[^\n;]*\sFROM\s+stdin[^\n;]*;)|(?P<delimiter>DELIMITER[ \t]+(?!;)\S+)"
    r"|(?P<term>SET[ \t]+TERM[ \t]+[^\s;]+[ \t]*;))[ \t]*\n",
    re.IGNORECASE | re.MULTILINE,
)
"""Where lines begin that are not to be parted at semicolons."""
_CLOSED = {
    "copy": re.compile(r"^\\\.[ \t]*$", re.MULTILINE),
    "delimiter": re.compile(r"^DELIMITER[ \t]+;[ \t]*$", re.IGNORECASE | re.MULTILINE),
    "term": re.compile(r"^[ \t]*SET[ \t]+TERM[ \t]*;[^\n]*$", re.IGNORECASE | re.MULTILINE),
}
_BEFORE_NAME = (
    *("INTO", "IGNORE", "OR", "REPLACE", "ABORT", "FAIL", "ROLLBACK"),
    *("LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED"),
)
_OVERRIDING_WORDS = 3
"""Words of OVERRIDING SYSTEM VALUE."""
_BEHIND_ROWS = ("ON", "AS", "RETURNING")
"""What goes on with an INSERT behind its rows."""
_BEFORE_TABLE = (
    *("OR", "REPLACE", "GLOBAL", "LOCAL", "TEMPORARY", "TEMP"),
    *("UNLOGGED", "FOREIGN", "EXTERNAL", "CACHED"),
)
_NO_COLUMN = re.compile(
    r"(?:PRIMARY|FOREIGN|UNIQUE|CONSTRAINT|CHECK|EXCLUDE|FULLTEXT|SPATIAL|LIKE)\b|PERIOD FOR\b"
    r'|(?:KEY|INDEX) (?:"|\(|USING\b|\S+ \( (?!\d))'
)
"""How a part of a CREATE TABLE begins that is no column; quoted names are quotes."""
_NO_COLUMN_WORDS = 4
_ROUTINES = frozenset({"PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "PACKAGE", "PROC"})
_ROUTINE_WORDS = 12
"""Words of a statement that may say that it makes a routine."""
_BLOCKS = frozenset({"DECLARE", "IF", "WHILE", "DO", "PROCEDURE", "FUNCTION"})
"""How a statement begins that may have others in it."""
_TRANSACTIONS = (
    *(";", "TRANSACTION", "TRAN", "WORK", "ISOLATION", "READ"),
    *("DEFERRED", "IMMEDIATE", "EXCLUSIVE", "CONCURRENT"),
)
"""What stands behind the BEGIN of a transaction."""
_NOT_OPENED = ("IF", "LOOP", "WHILE", "REPEAT", "FOR")
"""What an END may close that no BEGIN or CASE has opened."""
_BATCH_ENDS = frozenset({"GO", "/"})
"""What ends statements if it stands in a line of its own."""
_EMPTY = frozenset({"NULL", "DEFAULT"})
_OPERATORS = frozenset("+-*/%&^") | {"||"}
_NO_TYPES = ("", "X", "B")
"""What stands before a string and is not its type, as that of bits."""
_BINARY = re.compile(r"(?:0x|\\x|x')[0-9a-f]{65,}'?", re.IGNORECASE)
"""A value that is no text, as that of a picture."""
_ESCAPED = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_COPY_NULL = r"\N"
_FROM_INPUT = ["FROM", "STDIN", ";"]
"""What stands behind the columns of a COPY without options."""

Span = tuple[int, int]


class SqlRows(NamedTuple):
    """Rows that a script puts into a table, and where it says so.

    Attributes:
        table: the name of the table, in lower case and with that of its schema if it is told.
        name: its name alone, as it is written.
        columns: the names of its columns; none if they are not known.
        rows: the values of each row, "" for NULL.
        span: the statement in the script.
    """

    table: str
    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    span: Span


def sql_rows(script: str, dialect: str) -> Iterator[SqlRows]:
    """The rows of all statements in their order.

    Raises UnbalancedQuotesError.
    """
    statements = _Statements(script, dialect)
    start = 0
    while opened := _OPENED.search(script, start):
        kind = opened.lastgroup or ""
        closed = _CLOSED[kind].search(script, opened.end())
        if closed is None:
            break
        yield from statements.read(start, opened.start())
        if kind == "copy":
            yield from statements.copied(opened.span(), closed.span())
        start = closed.end()
    yield from statements.read(start, len(script))


class _Statements:
    """Reads the statements of a script, token by token, and keeps the columns of its tables."""

    def __init__(self, script: str, dialect: str) -> None:
        self._script = script
        self._dialect = dialect
        self._columns: dict[str, Sequence[str]] = {}
        self._tokens: Iterator[SqlToken] = iter(())
        self._next: SqlToken | None = None
        self._end = 0

    def read(self, start: int, end: int) -> Iterator[SqlRows]:
        """The rows of the statements between two places."""
        self._begin(start, end)
        while self._next is not None:
            if self._next.word in ("INSERT", "REPLACE"):
                found = self._insert()
                if found is not None:
                    yield found
            elif self._next.word == "CREATE":
                self._create()
            elif self._next.word == "BEGIN":
                self._take()
                is_block = not self._is_next(*_TRANSACTIONS)
                self._skip(has_blocks=is_block, depth=int(is_block))
            elif self._next.word and not self._next.word[0].isalpha():
                self._take()
            else:
                self._skip(is_created=self._next.word == "ALTER", has_blocks=self._next.word in _BLOCKS)

    def copied(self, head: Span, tail: Span) -> Iterator[SqlRows]:
        """The rows below a COPY, which are lines of cells that tabs part."""
        self._begin(*head)
        self._take()
        named = self._name()
        columns = self._columns_here(named) if named else None
        lines = self._script[head[1] : tail[0]].split("\n")[:-1]
        if named is None or columns is None or not lines:
            return
        if self._words(len(_FROM_INPUT)) != _FROM_INPUT:
            return
        rows = [[_unescaped(cell) for cell in line.split("\t")] for line in lines]
        if found := _found(named, columns, rows, (head[0], tail[1])):
            yield found

    def _begin(self, start: int, end: int) -> None:
        self._tokens = tokens_of(self._script, self._dialect, start, end)
        self._next = next(self._tokens, None)

    def _take(self) -> SqlToken:
        """The next token, which must be there."""
        assert self._next is not None
        taken, self._next = self._next, next(self._tokens, None)
        self._end = taken.end
        return taken

    def _words(self, count: int) -> list[str]:
        """The words of the next tokens, at most so many, which are taken."""
        return [self._take().word for _ in range(count) if self._next is not None]

    def _is_next(self, *words: str) -> bool:
        return self._next is not None and self._next.word in words

    def _insert(self) -> SqlRows | None:
        """The rows of an INSERT; None if it has none that can be read, and then its end is sought, too."""
        start = self._take().start
        while self._is_next(*_BEFORE_NAME):
            self._take()
        named = self._name()
        columns = self._columns_here(named) if named else None
        if self._is_next("OVERRIDING"):
            self._words(_OVERRIDING_WORDS)
        if named is None or columns is None or not self._is_next("VALUES", "VALUE"):
            self._skip()
            return None
        rows = []
        is_more = True
        while is_more:
            self._take()
            row = self._row()
            if row is None:
                self._skip()
                return None
            rows.append(row)
            is_more = self._is_next(",")
        if self._is_next(*_BEHIND_ROWS):
            self._skip()
        elif self._is_next(";"):
            self._take()
        return _found(named, columns, rows, (start, self._end))

    def _create(self) -> None:
        """Keep the columns of a CREATE TABLE, and seek the end of the statement."""
        self._take()
        while self._is_next(*_BEFORE_TABLE):
            self._take()
        if not self._is_next("TABLE"):
            self._skip(is_created=True)
            return
        self._take()
        while self._is_next("IF", "NOT", "EXISTS"):
            self._take()
        named = self._name()
        if named is not None and self._is_next("("):
            self._columns[named[1].casefold()] = self._parts()
        self._skip()

    def _name(self) -> tuple[str, str] | None:
        """A table's name, in lower case with that of its schema, and alone as it stands; None if none."""
        parts: list[str] = []
        while self._next is not None and (not self._next.word or _is_word(self._next)):
            parts.append(self._take().text)
            if not self._is_next("."):
                break
            self._take()
        return (".".join(parts).casefold(), parts[-1]) if parts and parts[-1] else None

    def _columns_here(self, named: tuple[str, str]) -> Sequence[str] | None:
        """The columns that stand behind the name of a table, or that it was made with; None if neither."""
        if not self._is_next("("):
            return self._columns.get(named[1].casefold(), ())
        columns: list[str] = []
        while self._is_next("(", ","):
            self._take()
            name = self._name()
            if name is None:
                return None
            columns.append(name[1])
        if not self._is_next(")"):
            return None
        self._take()
        return columns

    def _parts(self) -> list[str]:
        """The names of the columns in the parentheses of a CREATE TABLE."""
        names: list[str] = []
        part: list[SqlToken] = []
        depth = 0
        while self._next is not None and not self._is_next(";"):
            token = self._take()
            depth += (token.word == "(") - (token.word == ")")
            if not depth or (depth == 1 and token.word == ","):
                words = " ".join(each.word or '"' for each in part)
                if part and not _NO_COLUMN.match(words):
                    names.append(part[0].text)
                part = []
                if not depth:
                    break
            elif (depth > 1 or token.word != "(") and len(part) < _NO_COLUMN_WORDS:
                part.append(token)
        return names

    def _row(self) -> list[str] | None:
        """The values in the next parentheses; None if they are not closed."""
        if not self._is_next("("):
            return None
        self._take()
        values: list[str] = []
        tokens: list[SqlToken] = []
        depth = 0
        while self._next is not None and not self._is_next(";"):
            token = self._take()
            word = token.word
            if not depth and word in (",", ")"):
                values.append(self._value(tokens))
                tokens = []
                if word == ")":
                    return values
            else:
                depth += (word in ("(", "[")) - (word in (")", "]"))
                tokens.append(token)
        return None

    def _value(self, tokens: Sequence[SqlToken]) -> str:
        """A value as text: a literal without its quotes and its type, and of others what stands there."""
        if len(tokens) == 1 and tokens[0].word in _EMPTY:
            return ""
        literal = _literal(tokens)
        if literal is None:
            literal = self._of_other_row(tokens) or self._source(tokens)
        return _shown(literal)

    def _of_other_row(self, tokens: Sequence[SqlToken]) -> str:
        """What tells the row whose key a query gives: NT of (SELECT id FROM state WHERE code = 'NT')."""
        if [token.word for token in tokens[:2]] != ["(", "SELECT"]:
            return ""
        strings = (token for token in tokens if not token.word and self._script[token.start] == "'")
        return " ".join(token.text for token in strings)

    def _source(self, tokens: Sequence[SqlToken]) -> str:
        """What stands in the script from the first to the last of some tokens."""
        return self._script[tokens[0].start : tokens[-1].end] if tokens else ""

    def _skip(self, *, is_created: bool = False, has_blocks: bool = False, depth: int = 0) -> None:
        """Go on to the end of the statement, or of its last block.

        Args:
            is_created: whether it makes something, which may be a routine.
            has_blocks: whether blocks may stand in it.
            depth: how many blocks it has begun.
        """
        count = 0
        before = ""
        while self._next is not None:
            if count and not has_blocks and self._is_next("INSERT") and self._is_first_of_line():
                return
            token = self._take()
            count += 1
            has_blocks = has_blocks or (is_created and count < _ROUTINE_WORDS and token.word in _ROUTINES)
            is_batch = is_created and has_blocks and self._dialect == "tsql"
            if token.word in _BATCH_ENDS and self._is_alone(token):
                return
            if token.word == ";" and not depth and not is_batch:
                return
            if has_blocks and (token.word == "BEGIN" or (token.word == "CASE" and before != "END")):
                depth += 1
            elif has_blocks and token.word == "END" and not self._is_next(*_NOT_OPENED):
                depth = max(0, depth - 1)
            before = token.word

    def _is_first_of_line(self) -> bool:
        """Whether the next token begins a line, which begins a statement where no semicolons part them."""
        if self._next is None or self._dialect != "tsql":
            return False
        return not self._script[self._script.rfind("\n", 0, self._next.start) + 1 : self._next.start].strip()

    def _is_alone(self, token: SqlToken) -> bool:
        """Whether a token has a line of its own."""
        start = self._script.rfind("\n", 0, token.start) + 1
        end = self._script.find("\n", token.end)
        return self._script[start : end if end >= 0 else None].strip() == token.text


def _found(
    named: tuple[str, str], columns: Sequence[str], rows: Sequence[Sequence[str]], span: Span
) -> SqlRows | None:
    """The rows of a statement; None if some have more values than others.

    The names of columns are left out if they are not as many as the values.
    """
    widths = set(map(len, rows))
    if len(widths) > 1:
        return None
    return SqlRows(*named, columns if widths == {len(columns)} else (), rows, span)


def _is_word(token: SqlToken) -> bool:
    return token.word[0].isalpha() or token.word[0] in "_#@"


def _literal(tokens: Sequence[SqlToken]) -> str | None:
    """The text of a literal: a string or a number with a sign, with its type; None if it is none.

    A type stands in front of a string, behind "::", or in a CAST.
    """
    words = [token.word for token in tokens]
    if words[:2] == ["CAST", "("] and words[-1] == ")" and "AS" in words:
        return _literal(tokens[2 : words.index("AS")])
    if "::" in words and not _OPERATORS & {*words[words.index("::") :]}:
        return _literal(tokens[: words.index("::")])
    match tokens:
        case [only] if not only.word or only.word[0].isdigit():
            return only.text
        case [sign, number] if sign.word in ("-", "+") and number.word[:1].isdigit():
            return f"{sign.text}{number.text}"
        case [kind, string] if not string.word and kind.word not in _NO_TYPES and _is_word(kind):
            return string.text
        case _:
            return None


def _shown(value: str) -> str:
    """A value in one line, without markup; "" for a binary one."""
    return "" if _BINARY.fullmatch(value) else " ".join(without_markup(value).split())


def _unescaped(cell: str) -> str:
    """The value of a cell below COPY."""
    if cell == _COPY_NULL:
        return ""
    return _shown(_ESCAPED.sub(_meant, cell) if "\\" in cell else cell)


def _meant(escaped: re.Match[str]) -> str:
    """What an escape of COPY means."""
    if escaped[1] or escaped[2]:
        return chr(int(escaped[1], 16) if escaped[1] else int(escaped[2], 8))
    return _ESCAPES.get(escaped[3], escaped[3])
