"""The language model: a GGUF chat model in llama.cpp, its decisions constrained by Outlines.

::

    Prompt ─► chat.py (tokens) ─► cells.py (read once, fork) ─► choosing.py   choose
                                        ▲                  └──► writing.py    line, object, stream
                             runtime.py (llama.cpp)             ▲
                                                   constraints.py (masks)

The constructor is light; the file is looked at and loaded on first use, or by ``load()``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from localcrag.errors import ConstraintError, ContextOverflow, ModelError, ModelFileError
from localcrag.llm.gguf import require_generator
from localcrag.llm.lazy import LazyModel
from localcrag.types import Choice, FinishReason, Prompt, Tokens

if TYPE_CHECKING:
    from localcrag.llm.cells import Cells
    from localcrag.llm.chat import ChatFormat
    from localcrag.llm.choosing import Options
    from localcrag.llm.constraints import Constraints, Mask
    from localcrag.llm.runtime import Context, Model
    from localcrag.llm.tokenised import Tokenised
    from localcrag.llm.writing import Writer

T = TypeVar("T")

_FORKS = 16  # prompts side by side
_BATCH, _STEP = 2048, 512  # tokens handed to llama.cpp at once, and computed at once
_MIN_ANSWER = 16  # tokens that must be free for a stream to begin


class LlamaCppModel(LazyModel["_Parts"]):
    """A :class:`~localcrag.protocols.LanguageModel` over one GGUF file.

    ``context`` is the window in tokens that memory is taken for, at most what the model was trained
    for; ``cache_dir`` keeps compiled constraints between runs. Calls may come from several threads,
    one at a time goes through. ``last_finish`` says how the last text ended.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        context: int = 4096,
        threads: int | None = None,
        gpu_layers: int = 0,
        seed: int = 0,
        temperature: float = 0.0,
        cache_dir: Path | None = None,
    ) -> None:
        super().__init__(path, require_generator)
        self._asked, self._threads, self._gpu_layers = context, threads, gpu_layers
        self._seed, self._temperature, self._cache_dir = seed, temperature, cache_dir
        self._generated = 0
        self._before = Tokens()
        self.last_finish = FinishReason.STOP

    # ------------------------------------------------------------------------------- lifecycle

    @property
    def context(self) -> int:
        """The window in tokens: as asked, and at most what the model was trained for."""
        trained = self.info.context_train
        return min(self._asked, trained) if trained else self._asked

    @property
    def tokens(self) -> Tokens:
        """Tokens of prompts that were read, and tokens written, since the model was made."""
        parts = self._parts
        read = parts.context.evaluated - parts.cells.extended if parts else 0
        return self._before + Tokens(read, self._generated)

    def _settle(self) -> None:
        if self._parts:
            self._parts.cells.abandon()
        self._before, self._generated = self.tokens, 0

    def _load(self) -> _Parts:
        from localcrag.llm.cells import Cells
        from localcrag.llm.chat import ChatFormat
        from localcrag.llm.constraints import Constraints
        from localcrag.llm.runtime import Context, Model, Room, default_threads

        model = Model(self.info.path, gpu_layers=self._gpu_layers)
        if not (model.writes_left_to_right and model.endings):
            model.close()
            raise ModelFileError(
                f"{self._path.name} does not write text from left to right.",
                hint="Give a GGUF of a chat model here, such as an instruct model.",
            )
        room = Room(
            cells=self.context,
            sequences=_FORKS + 1,
            batch=min(_BATCH, self.context),
            step=min(_STEP, self.context),
            threads=self._threads or default_threads(),
            outputs=_FORKS + 1,
        )
        context = Context(model, room)
        constraints = Constraints(model, self.info.vocabulary, self._cache_dir)
        return _Parts(
            model=model,
            context=context,
            cells=Cells(context, forgets_only_whole=model.forgets_only_whole),
            chat=ChatFormat(model, model.template()),
            constraints=constraints,
            writable=constraints.writable(),
            options={},
        )

    # --------------------------------------------------------------------------- the protocol

    def count(self, prompt: Prompt) -> int:
        """Tokens of the rendered prompt, chat template included."""
        with self._lock:
            return len(self._loaded().chat.tokenise(prompt).ids)

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        """One constrained choice per prompt; see :mod:`localcrag.llm.choosing`.

        Raises ContextOverflow where a prompt cannot fit the context even alone, ConstraintError
        where the options themselves cannot be compiled.
        """
        from localcrag.llm import choosing

        if not prompts:
            return []
        with self._lock:
            parts = self._loaded()
            ballot = self._options(parts, tuple(options))
            tokens = [self._fitting(parts, prompt, choosing.RESERVE).ids for prompt in prompts]
            return choosing.choose(parts.cells, tokens, ballot, take_back=not parts.model.forgets_only_whole)

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        """One non-empty line, stripped. Raises ConstraintError, ContextOverflow."""
        from localcrag.llm.constraints import LINE

        with self._lock:
            writer = self._writer(LINE)
            read = self._fitting(self._loaded(), prompt, max_tokens)
            text = "".join(
                self._written(writer, writer.write(read, max_tokens=max_tokens, one_line=True))
            ).strip()
        if not text or len(text.splitlines()) != 1:
            raise ConstraintError("The model wrote no line.", hint="Use another model.")
        return text

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        """An instance of the dataclass ``schema``; see :mod:`localcrag.llm.records`.

        Raises ConstraintError (also where ``max_tokens`` ends it early), ContextOverflow.
        """
        from localcrag.llm.constraints import pattern_of_schema
        from localcrag.llm.records import read_record, schema_of

        with self._lock:
            writer = self._writer(pattern_of_schema(schema_of(schema)))
            read = self._fitting(self._loaded(), prompt, max_tokens)
            text = "".join(self._written(writer, writer.write(read, max_tokens=max_tokens)))
        return read_record(text, schema)

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        """The answer in pieces of whole characters; under a ``pattern``, what is given always matches it.

        It may end before ``max_tokens`` where the context is full or the model repeats itself:
        ``last_finish`` says so. Raises ConstraintError, ContextOverflow.
        """
        with self._lock:
            writer = self._writer(pattern)
            read = self._fitting(self._loaded(), prompt, min(max_tokens, _MIN_ANSWER))
        yield from self._written(writer, writer.write(read, max_tokens=max_tokens))

    # -------------------------------------------------------------------------------- helpers

    def _options(self, parts: _Parts, texts: tuple[str, ...]) -> Options:
        from localcrag.llm.choosing import Options
        from localcrag.llm.constraints import one_of

        if texts not in parts.options:
            parts.options[texts] = Options(texts, parts.constraints.of(one_of(texts)), parts.model)
        return parts.options[texts]

    def _writer(self, pattern: str | None) -> Writer:
        from localcrag.llm.writing import Sampler, Writer

        parts = self._loaded()
        constraint = parts.constraints.of(pattern) if pattern is not None else None
        return Writer(
            parts.cells, parts.model, constraint, parts.writable, Sampler(self._temperature, self._seed)
        )

    def _written(self, writer: Writer, pieces: Generator[str]) -> Iterator[str]:
        """The pieces, each computed under the lock and counted. Raises ModelError after ``close()``."""
        counted, parts = 0, self._parts
        try:
            while True:
                with self._lock:
                    if self._parts is not parts:
                        raise ModelError("The model was closed while it wrote.")
                    piece = next(pieces, None)
                    self._generated += writer.generated - counted
                    counted = writer.generated
                if piece is None:
                    return
                yield piece
        finally:
            with self._lock:
                pieces.close()  # forgets what was read ahead
                self.last_finish = writer.finish
                self._generated += writer.generated - counted

    def _fitting(self, parts: _Parts, prompt: Prompt, room: int) -> Tokenised:
        """The prompt's tokens. Raises ContextOverflow where they and ``room`` more do not fit."""
        read = parts.chat.tokenise(prompt)
        if len(read.ids) + room > parts.cells.size:
            trained = self.info.context_train
            hint = (
                f"Ask for a larger context (the model allows {trained})."
                if trained > parts.cells.size
                else "Give shorter passages or fewer of them, or use a model with a larger window."
            )
            raise ContextOverflow(
                f"A prompt of {len(read.ids)} tokens and {room} for the reply "
                f"do not fit the context of {parts.cells.size} tokens.",
                hint=hint,
            )
        return read


class _Parts(NamedTuple):
    """What a loaded model is made of."""

    model: Model
    context: Context
    cells: Cells
    chat: ChatFormat
    constraints: Constraints
    writable: Mask
    options: dict[tuple[str, ...], Options]
