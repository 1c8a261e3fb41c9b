"""The language model: a GGUF chat model in llama.cpp, its decisions constrained by Outlines.

::

    Prompt ─► chat_template.py ─► kv_cache.py ─┬─► constrained_choice.py   choose
                (tokens)        (read, fork)   └─► decoding.py             line, object, stream
                                     │                  ▲
                             llama_backend.py     constraints.py (masks), speculative.py (guesses)

The constructor is light; the file is looked at and loaded on first use, or by ``load()``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from localcrag.errors import ConstraintError, ContextOverflow, ModelError, ModelFileError
from localcrag.llm.gguf import require_generator
from localcrag.llm.lazy_model import LazyModel
from localcrag.types import Choice, FinishReason, Prompt, Tokens

if TYPE_CHECKING:
    from localcrag.llm.chat_template import ChatFormat
    from localcrag.llm.constrained_choice import ChoiceOptions
    from localcrag.llm.constraints import Constraints, Mask
    from localcrag.llm.decoding import Decoder
    from localcrag.llm.kv_cache import KVCache, TokenizedPrompt
    from localcrag.llm.llama_backend import Context, Model

T = TypeVar("T")

_FORKS = 16  # prompts side by side
_BATCH, _STEP = 2048, 512  # tokens handed to llama.cpp at once, and computed at once
_MIN_ANSWER = 16  # tokens that must be free for a stream to begin


class LlamaCppModel(LazyModel["_LoadedModel"]):
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
        loaded = self._resident
        read = loaded.context.evaluated - loaded.cache.extended if loaded else 0
        return self._before + Tokens(read, self._generated)

    def _settle(self) -> None:
        if self._resident:
            self._resident.cache.abandon()
        self._before, self._generated = self.tokens, 0

    def _load(self) -> _LoadedModel:
        from localcrag.llm.chat_template import ChatFormat
        from localcrag.llm.constraints import Constraints
        from localcrag.llm.kv_cache import KVCache
        from localcrag.llm.llama_backend import Context, ContextSize, Model, default_threads

        model = Model(self.info.path, gpu_layers=self._gpu_layers)
        if not (model.writes_left_to_right and model.endings):
            model.close()
            raise ModelFileError(
                f"{self._path.name} does not write text from left to right.",
                hint="Give a GGUF of a chat model here, such as an instruct model.",
            )
        room = ContextSize(
            cells=self.context,
            sequences=_FORKS + 1,
            batch=min(_BATCH, self.context),
            step=min(_STEP, self.context),
            threads=self._threads or default_threads(),
            outputs=_FORKS + 1,
        )
        context = Context(model, room)
        constraints = Constraints(model, self.info.vocabulary, self._cache_dir)
        return _LoadedModel(
            model=model,
            context=context,
            cache=KVCache(context, forgets_only_whole=model.forgets_only_whole),
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
        """One constrained choice per prompt; see :mod:`localcrag.llm.constrained_choice`.

        Raises ContextOverflow where a prompt cannot fit the context even alone, ConstraintError
        where the options themselves cannot be compiled.
        """
        from localcrag.llm import constrained_choice

        if not prompts:
            return []
        with self._lock:
            loaded = self._loaded()
            wanted = self._options(loaded, tuple(options))
            tokens = [
                self._fitting(loaded, prompt, constrained_choice.RESERVED_CELLS).ids for prompt in prompts
            ]
            return constrained_choice.choose(
                loaded.cache, tokens, wanted, take_back=not loaded.model.forgets_only_whole
            )

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        """One non-empty line, stripped. Raises ConstraintError, ContextOverflow."""
        from localcrag.llm.constraints import LINE

        with self._lock:
            decoder = self._decoder(LINE)
            read = self._fitting(self._loaded(), prompt, max_tokens)
            text = "".join(
                self._written(decoder, decoder.decode(read, max_tokens=max_tokens, one_line=True))
            ).strip()
        if not text or len(text.splitlines()) != 1:
            raise ConstraintError("The model wrote no line.", hint="Use another model.")
        return text

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        """An instance of the dataclass ``schema``; see :mod:`localcrag.llm.structured_output`.

        Raises ConstraintError (also where ``max_tokens`` ends it early), ContextOverflow.
        """
        from localcrag.llm.constraints import pattern_of_schema
        from localcrag.llm.structured_output import read_record, schema_of

        with self._lock:
            decoder = self._decoder(pattern_of_schema(schema_of(schema)))
            read = self._fitting(self._loaded(), prompt, max_tokens)
            text = "".join(self._written(decoder, decoder.decode(read, max_tokens=max_tokens)))
        return read_record(text, schema)

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        """The answer in pieces of whole characters; under a ``pattern``, what is given always matches it.

        It may end before ``max_tokens`` where the context is full or the model repeats itself:
        ``last_finish`` says so. Raises ConstraintError, ContextOverflow.
        """
        with self._lock:
            decoder = self._decoder(pattern)
            read = self._fitting(self._loaded(), prompt, min(max_tokens, _MIN_ANSWER))
        yield from self._written(decoder, decoder.decode(read, max_tokens=max_tokens))

    # -------------------------------------------------------------------------------- helpers

    def _options(self, loaded: _LoadedModel, texts: tuple[str, ...]) -> ChoiceOptions:
        from localcrag.llm.constrained_choice import ChoiceOptions
        from localcrag.llm.constraints import one_of

        if texts not in loaded.options:
            loaded.options[texts] = ChoiceOptions(texts, loaded.constraints.of(one_of(texts)), loaded.model)
        return loaded.options[texts]

    def _decoder(self, pattern: str | None) -> Decoder:
        from localcrag.llm.decoding import Decoder, Sampler

        loaded = self._loaded()
        constraint = loaded.constraints.of(pattern) if pattern is not None else None
        return Decoder(
            loaded.cache, loaded.model, constraint, loaded.writable, Sampler(self._temperature, self._seed)
        )

    def _written(self, decoder: Decoder, pieces: Generator[str]) -> Iterator[str]:
        """The pieces, each computed under the lock and counted. Raises ModelError after ``close()``."""
        counted, loaded = 0, self._resident
        try:
            while True:
                with self._lock:
                    if self._resident is not loaded:
                        raise ModelError("The model was closed while it wrote.")
                    piece = next(pieces, None)
                    self._generated += decoder.generated - counted
                    counted = decoder.generated
                if piece is None:
                    return
                yield piece
        finally:
            with self._lock:
                pieces.close()  # forgets what was read ahead
                self.last_finish = decoder.finish
                self._generated += decoder.generated - counted

    def _fitting(self, loaded: _LoadedModel, prompt: Prompt, room: int) -> TokenizedPrompt:
        """The prompt's tokens. Raises ContextOverflow where they and ``room`` more do not fit."""
        read = loaded.chat.tokenise(prompt)
        if len(read.ids) + room > loaded.cache.size:
            trained = self.info.context_train
            hint = (
                f"Ask for a larger context (the model allows {trained})."
                if trained > loaded.cache.size
                else "Give shorter passages or fewer of them, or use a model with a larger window."
            )
            raise ContextOverflow(
                f"A prompt of {len(read.ids)} tokens and {room} for the reply "
                f"do not fit the context of {loaded.cache.size} tokens.",
                hint=hint,
            )
        return read


class _LoadedModel(NamedTuple):
    """What a loaded model is made of."""

    model: Model
    context: Context
    cache: KVCache
    chat: ChatFormat
    constraints: Constraints
    writable: Mask
    options: dict[tuple[str, ...], ChoiceOptions]
