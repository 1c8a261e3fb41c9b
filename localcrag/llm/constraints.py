"""Regular expressions as vocabulary masks, by Outlines' core (outlines_core).

An ``Index`` is a pattern compiled for one vocabulary, a ``Guide`` a state in it. The mask that a guide
writes is applied to the logits in plain NumPy before a token is picked, never inside a callback of
llama.cpp, where an error would be printed and the constraint dropped. Every pattern may begin with one
space, because many vocabularies spell the first word of a reply with one. The alternatives at the top of
a pattern are compiled each by itself and walked side by side: an automaton of both would need a state for
each character of a literal that could be the beginning of the other.

The method is that of Willard and Louf, "Efficient Guided Generation for Large Language Models"
(arXiv 2307.09702). An index that takes long to compile is stored on disk, by vocabulary and pattern.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from localcrag.errors import ConstraintError
from localcrag.llm.chat_template import looks_like_markup

if TYPE_CHECKING:
    from localcrag.llm.llama_model import Model

Mask = npt.NDArray[np.bool_]
"""Which tokens may be picked, of shape (vocabulary,)."""

_CORE_ERRORS = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
_MIN_STORED_COMPILE_SECONDS = 0.02
"""An index that took longer to compile is stored on disk. A process that finds all of its indexes there
never reads the vocabulary, which takes more than a second for 150,000 tokens."""
_END_OF_TEXT = b"\x03"
"""What every compiled pattern ends in, as a token of its own behind the vocabulary. Without it, outlines_core
allows no token that ends one byte after a place where the text might end: after "[1]" not the "[" of another
key. No token of the vocabulary may write it; a pattern should not match it."""
_CONTROL_CHARACTERS = "\x00-\x1f\x7f-\x9f\u2028\u2029"


class Index(Protocol):
    """A compiled pattern of outlines_core; ``__reduce__`` gives its bytes, as for pickling."""

    def __reduce__(self) -> tuple[object, tuple[bytes]]: ...


class Vocabulary(Protocol):
    """A vocabulary of outlines_core: bytes to token ids."""


LINE_PATTERN = rf"[^\s{_CONTROL_CHARACTERS}][^{_CONTROL_CHARACTERS}]*"
"""One line that is not blank: a visible character first, and no line break or control character."""


def one_of(options: Sequence[str]) -> str:
    """The pattern of a choice between literal strings, as Outlines writes it for ``Literal``."""
    return f"({'|'.join(re.escape(option) for option in options)})"


def pattern_of_schema(schema: str) -> str:
    """The pattern of a JSON schema (itself JSON), by Outlines. Raises ConstraintError."""
    from outlines_core.json_schema import build_regex_from_schema  # type: ignore[import-not-found]

    try:
        return str(build_regex_from_schema(schema))
    except _CORE_ERRORS as error:
        raise ConstraintError(f"No pattern can be made of the schema: {error}.") from error


_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
"""What a pattern consists of, for its parentheses: an escaped character, a class, or any character."""


def alternatives(pattern: str) -> list[str]:
    """The alternatives at the top of a regular expression, outside its groups and classes."""
    found, depth = [""], 0
    for piece in _PIECE.findall(pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            found.append("")
        else:
            found[-1] += piece
    return found


@dataclass(frozen=True, slots=True)
class Constraint:
    """A pattern compiled for one vocabulary.

    Attributes:
        pattern: the regular expression, with the space that it may begin with.
        indexes: the compiled alternatives of the pattern, at least one.
        size: the number of tokens in the vocabulary.
        endings: the tokens that end a text.
    """

    pattern: str
    indexes: tuple[Index, ...]
    size: int
    endings: tuple[int, ...]

    def begin(self) -> Walk:
        """The state before the first token."""
        return Walk(self)

    def holds(self, text: str) -> bool:
        """Whether the finished text matches, by Python's own ``re``, independently of the index."""
        return re.fullmatch(self.pattern, text) is not None

    def matching(self, text: str) -> int:
        """The number of characters at the beginning of a text that match, 0 if none do."""
        match = re.match(self.pattern, text)
        return match.end() if match else 0


class Walk:
    """The state of a constraint after some tokens, which decides the tokens that may come next.

    Args:
        constraint: the compiled pattern.
        path: the tokens written so far; ConstraintError is raised if they do not match.
    """

    def __init__(self, constraint: Constraint, path: Sequence[int] = ()) -> None:
        import outlines_core.outlines_core as core  # type: ignore[import-not-found]

        self._constraint = constraint
        self._guides = [core.Guide(index) for index in constraint.indexes]
        self._bits = np.zeros((constraint.size + 1 + 31) // 32, dtype=np.int32)
        for token in path:
            self.advance(token)

    @property
    def finished(self) -> bool:
        """Whether the text may end here."""
        return any(guide.accepts_tokens([self._constraint.size]) for guide in self._guides)

    def allowed(self) -> Mask:
        """The mask of the tokens that may come next, all endings included if the text may end here.

        Raises ConstraintError if there is no such token, or the mask cannot be computed.
        """
        size, endings = self._constraint.size, list(self._constraint.endings)
        mask = np.zeros(size, dtype=np.bool_)
        for guide in self._guides:
            try:
                guide.write_mask_into(self._bits.ctypes.data, self._bits.size, self._bits.itemsize)
            except _CORE_ERRORS as error:
                raise ConstraintError(f"The constraint's mask could not be computed: {error}.") from error
            mask |= np.unpackbits(self._bits.view(np.uint8), bitorder="little")[:size].astype(np.bool_)
        mask[endings] = self.finished
        if not mask.any():
            raise ConstraintError("The constraint allows no token of this vocabulary here.")
        return mask

    def advance(self, token: int) -> None:
        """Move on by one token. Raises ConstraintError if no alternative holds with it."""
        alive, failure = [], "it is not allowed"
        for guide in self._guides:
            try:
                guide.advance(token, return_tokens=False)
            except _CORE_ERRORS as error:
                failure = str(error)
            else:
                alive.append(guide)
        if not alive:
            raise ConstraintError(f"Token {token} does not hold the constraint: {failure}.")
        self._guides = alive


class Constraints:
    """The constraints of one model; each is compiled once and kept in memory, a slow one on disk too.

    Args:
        model: the loaded model.
        vocabulary: the digest of its tokenizer (:attr:`localcrag.llm.gguf.GgufInfo.vocabulary`).
        folder: the folder of stored indexes; None to store none.
    """

    def __init__(self, model: Model, vocabulary: str, folder: Path | None) -> None:
        self._model, self._vocabulary, self._folder = model, vocabulary, folder
        self._compiled: dict[str, Constraint] = {}
        self._tokens: Vocabulary | None = None

    def of(self, pattern: str) -> Constraint:
        """The constraint of a pattern, compiled or loaded on first use. Raises ConstraintError."""
        if pattern not in self._compiled:
            indexes = tuple(self._stored(each) or self._compile(each) for each in alternatives(pattern))
            self._compiled[pattern] = Constraint(
                f" ?(?:{pattern})", indexes, self._model.size, self._model.endings
            )
        return self._compiled[pattern]

    def writable(self) -> Mask:
        """The mask of free text: every token but control tokens and markup, and the endings."""
        mask = np.ones(self._model.size, dtype=np.bool_)
        mask[list(self._model.unwritable)] = False
        mask[[token for token, text in self._model.user_defined if looks_like_markup(text)]] = False
        mask[list(self._model.endings)] = True
        return mask

    def _compile(self, pattern: str) -> Index:
        """Compile a pattern, and store its index if that took long. Raises ConstraintError."""
        import outlines_core.outlines_core as core

        start = time.perf_counter()
        try:
            index: Index = core.Index(f" ?(?:{pattern}){_END_OF_TEXT.decode()}", self._vocabulary_of_core())
        except _CORE_ERRORS as error:
            raise ConstraintError(f"The pattern {pattern!r} cannot be compiled: {error}.") from error
        if time.perf_counter() - start > _MIN_STORED_COMPILE_SECONDS:
            self._store(pattern, index)
        return index

    def _vocabulary_of_core(self) -> Vocabulary:
        """The vocabulary as outlines_core wants it, made on first use."""
        import outlines_core.outlines_core as core

        if self._tokens is None:
            tags = {token for token, text in self._model.user_defined if looks_like_markup(text)}
            by_bytes: dict[bytes, list[int]] = {_END_OF_TEXT: [self._model.size]}
            for token, piece in self._model.pieces():
                if token not in tags and _END_OF_TEXT not in piece:
                    by_bytes.setdefault(piece, []).append(token)
            self._tokens = core.Vocabulary(self._model.endings[0], by_bytes)
        return self._tokens

    # ------------------------------------------------------------------------------------ disk

    def _file(self, pattern: str) -> Path | None:
        """The file of a pattern's index; None if none is stored."""
        if self._folder is None:
            return None
        barred = [self._model.endings, [text for _, text in self._model.user_defined]]
        key = json.dumps(["3", version("outlines_core"), self._vocabulary, barred, pattern])
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.index"

    def _stored(self, pattern: str) -> Index | None:
        """The stored index; None if there is none, or its file is damaged."""
        import outlines_core.outlines_core as core

        file = self._file(pattern)
        if file is None or not file.exists():
            return None
        raw = file.read_bytes()
        checksum, blob = raw[:32], raw[32:]
        if hashlib.sha256(blob).digest() != checksum:
            return None
        try:
            stored: Index = core.Index.from_binary(blob)
        except _CORE_ERRORS:
            return None
        return stored

    def _store(self, pattern: str, index: Index) -> None:
        """Write the index to another file and rename it, so that a reader never sees half a file."""
        file = self._file(pattern)
        if file is None:
            return
        blob = index.__reduce__()[1][0]
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=file.parent, prefix=".index-")
            with os.fdopen(handle, "wb") as part:
                part.write(hashlib.sha256(blob).digest() + blob)
            Path(name).replace(file)
        except OSError:
            return  # a full or read-only disk costs the compile time again, nothing else
