"""The language model: a GGUF chat model in llama.cpp, its decisions constrained by Outlines' masks.

::

    Prompt ─► chat_template.py ─► kv_cache.py ─┬─► constrained_choice.py   choose
                (tokens)        (read, fork)   └─► decoding.py             line, object, stream
                                     │                  ▲
                             llama_context.py     constraints.py (masks), speculative.py (drafts)

The constructor does no work; the file is checked and loaded on first use, or by ``load()``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from localcrag.errors import ConstraintError, ContextOverflow, ModelError, ModelFileError
from localcrag.llm.gguf import GgufInfo
from localcrag.llm.lazy_model import LazyModel
from localcrag.llm.model_entry import sha256
from localcrag.llm.model_file_checks import require_adapter, require_generator, require_trained_base
from localcrag.types import Choice, FinishReason, Prompt, Tokens, WrittenLine

if TYPE_CHECKING:
    from localcrag.llm.chat_template import ChatFormat
    from localcrag.llm.constrained_choice import ChoiceOptions
    from localcrag.llm.constraints import Constraints, Mask
    from localcrag.llm.decoding import Decoder
    from localcrag.llm.kv_cache import KVCache, TokenizedPrompt
    from localcrag.llm.llama_context import Context
    from localcrag.llm.llama_model import Model

T = TypeVar("T")

_MAX_FORKS = 16
"""The most prompts that are read side by side."""
_BATCH_TOKENS, _STEP_TOKENS = 2048, 512
"""The most tokens that are handed to llama.cpp at once, and that it computes at once."""
_REPACKED = 2
"""The number of Q4_0 in GGUF, whose weights llama.cpp brings into another order when it loads them."""
_MIN_ANSWER_TOKENS = 16
"""The tokens that must be free in the context for a stream to begin."""


class LlamaCppModel(LazyModel["_LoadedModel"]):
    """A :class:`~localcrag.protocols.LanguageModel` over one GGUF file.

    Calls may come from several threads; one at a time is served. Every method that needs the model raises
    ModelNotFound, ModelFileError or ModelError if it cannot be loaded or used.

    Args:
        path: the GGUF file of a chat model, or what finds it on first use, if that may take long.
        adapter: the GGUF file of a LoRA adapter for it; None for the model as it is.
        base_sha256: the sha256 of the file that ``path`` was made from, which an adapter may name; "" if
            it is the sha256 of ``path`` itself.
        context: the window in tokens that memory is taken for, at most that of the model's training.
        threads: the threads of a computation; None for :func:`~localcrag.llm.llama_backend.default_threads`.
        gpu_layers: the number of layers to put on a GPU.
        seed: the seed of the random numbers, used if ``temperature`` is above 0.
        temperature: 0 for the likeliest token always, above 0 to sample.
        cache_dir: the folder that keeps compiled constraints between runs; None to keep none.

    Attributes:
        last_finish: how the last text ended.
    """

    def __init__(
        self,
        path: Path | str | Callable[[], Path],
        *,
        adapter: Path | str | None = None,
        base_sha256: str = "",
        context: int = 4096,
        threads: int | None = None,
        gpu_layers: int = 0,
        seed: int = 0,
        temperature: float = 0.0,
        cache_dir: Path | None = None,
    ) -> None:
        super().__init__(path, require_generator)
        self._adapter, self._base_sha256 = Path(adapter) if adapter else None, base_sha256
        self._adapter_info: GgufInfo | None = None
        self._requested_context, self._threads, self._gpu_layers = context, threads, gpu_layers
        self._seed, self._temperature, self._cache_dir = seed, temperature, cache_dir
        self._generated = 0
        self._earlier_tokens = Tokens()
        self.last_finish = FinishReason.STOP

    # ------------------------------------------------------------------------------- lifecycle

    @property
    def adapter_info(self) -> GgufInfo | None:
        """The header of the adapter, checked against the model; None if there is no adapter.

        Raises ModelNotFound, ModelFileError.
        """
        if self._adapter and self._adapter_info is None:
            info = require_adapter(self._adapter, self.info)
            require_trained_base(info, self.info, lambda: self._base_sha256 or sha256(self._path))
            self._adapter_info = info
        return self._adapter_info

    def check(self) -> None:
        """Check the files without loading them. Raises ModelNotFound, ModelFileError."""
        _ = self.info, self.adapter_info

    @property
    def context(self) -> int:
        """The window in tokens: as requested, and at most that of the model's training."""
        trained = self.info.context_train
        return min(self._requested_context, trained) if trained else self._requested_context

    @property
    def trained(self) -> bool:
        """Whether the adapter was trained by `scripts/train chat`, and so on localcrag's own prompts."""
        return bool(self.adapter_info and self.adapter_info.value("localcrag.adapter.base_sha256", ""))

    @property
    def tokens(self) -> Tokens:
        """The tokens of prompts that were read, and those written, since this object was made."""
        loaded = self._resident
        read = loaded.context.evaluated - loaded.cache.extended if loaded else 0
        return self._earlier_tokens + Tokens(read, self._generated)

    def _prepare_close(self) -> None:
        if self._resident:
            self._resident.cache.abandon()
        self._earlier_tokens, self._generated = self.tokens, 0

    def _load(self) -> _LoadedModel:
        from localcrag.llm.chat_template import ChatFormat
        from localcrag.llm.constraints import Constraints
        from localcrag.llm.kv_cache import KVCache
        from localcrag.llm.llama_backend import default_threads
        from localcrag.llm.llama_context import Context, ContextSize
        from localcrag.llm.llama_model import Model

        adapter = self.adapter_info
        repacked = sum(tensor.kind == _REPACKED for tensor in self.info.tensors)
        model = Model(
            self.info.path,
            gpu_layers=self._gpu_layers,
            adapter=adapter.path if adapter else None,
            mapped=2 * repacked < len(self.info.tensors),
        )
        if not (model.writes_left_to_right and model.endings):
            model.close()
            raise ModelFileError(
                f"{self._path.name} does not write text from left to right.",
                hint="Give a GGUF of a chat model here, such as an instruct model.",
            )
        room = ContextSize(
            cells=self.context,
            sequences=_MAX_FORKS + 1,
            batch=min(_BATCH_TOKENS, self.context),
            step=min(_STEP_TOKENS, self.context),
            threads=self._threads or default_threads(),
            outputs=_MAX_FORKS + 1,
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
        """The number of tokens of the rendered prompt, chat template included."""
        with self._lock:
            return len(self._loaded().chat.tokenise(prompt).ids)

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        """Choose one of the options for each prompt; see :mod:`localcrag.llm.constrained_choice`.

        A ConstraintError stands in place of a choice that failed. Raises ContextOverflow if a prompt does
        not fit the context even alone, ConstraintError if the options themselves cannot be compiled.
        """
        from localcrag.llm import constrained_choice

        if not prompts:
            return []
        with self._lock:
            loaded = self._loaded()
            wanted = self._options(loaded, tuple(options))
            room = constrained_choice.RESERVED_CELLS_PER_PROMPT
            tokens = [self._fitting_tokens(loaded, prompt, room).ids for prompt in prompts]
            return constrained_choice.choose(
                loaded.cache, tokens, wanted, take_back=not loaded.model.forgets_only_whole
            )

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        """Write one non-empty line, stripped. Raises ConstraintError, ContextOverflow."""
        from localcrag.llm.constraints import LINE_PATTERN

        with self._lock:
            decoder = self._decoder(LINE_PATTERN)
            read = self._fitting_tokens(self._loaded(), prompt, max_tokens)
            text = "".join(
                self._counted_pieces(decoder, decoder.decode(read, max_tokens=max_tokens, one_line=True))
            ).strip()
        if not text or len(text.splitlines()) != 1:
            raise ConstraintError("The model wrote no line.", hint="Use another model.")
        return text

    def write_line(
        self, prompt: Prompt, pattern: str, *, max_tokens: int = 96, least: float = 0.0
    ) -> WrittenLine:
        """Write a line that matches a pattern which is used once; see :mod:`localcrag.llm.written_line`.

        Raises ConstraintError (also if ``max_tokens`` ends it early, or no line is as likely as ``least``),
        ContextOverflow.
        """
        from localcrag.llm.written_line import LineWriter

        with self._lock:
            loaded = self._loaded()
            read = self._fitting_tokens(loaded, prompt, max_tokens)
            writer = LineWriter(loaded.cache, loaded.model, read, pattern, max_tokens, least)
            try:
                return writer.written()
            finally:
                self._generated += writer.generated

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        """Write an instance of the dataclass ``schema``; see :mod:`localcrag.llm.structured_output`.

        Raises ConstraintError (also if ``max_tokens`` ends it early), ContextOverflow.
        """
        from localcrag.llm.constraints import pattern_of_schema
        from localcrag.llm.structured_output import read_record, schema_of

        with self._lock:
            decoder = self._decoder(pattern_of_schema(schema_of(schema)))
            read = self._fitting_tokens(self._loaded(), prompt, max_tokens)
            text = "".join(self._counted_pieces(decoder, decoder.decode(read, max_tokens=max_tokens)))
        return read_record(text, schema)

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        """Write a text, and yield it in pieces of whole characters.

        Under a ``pattern``, a regular expression, the text given so far always matches. The text may end
        before ``max_tokens`` if the context is full or the model repeats itself; ``last_finish`` says so.
        Raises ConstraintError, ContextOverflow; ModelError if the model is closed meanwhile.
        """
        with self._lock:
            decoder = self._decoder(pattern)
            read = self._fitting_tokens(self._loaded(), prompt, min(max_tokens, _MIN_ANSWER_TOKENS))
        yield from self._counted_pieces(decoder, decoder.decode(read, max_tokens=max_tokens))

    # -------------------------------------------------------------------------------- helpers

    def _options(self, loaded: _LoadedModel, texts: tuple[str, ...]) -> ChoiceOptions:
        """The compiled options, kept for later choices. Raises ConstraintError."""
        from localcrag.llm.constrained_choice import ChoiceOptions
        from localcrag.llm.constraints import one_of

        if texts not in loaded.options:
            loaded.options[texts] = ChoiceOptions(texts, loaded.constraints.of(one_of(texts)), loaded.model)
        return loaded.options[texts]

    def _decoder(self, pattern: str | None) -> Decoder:
        """A decoder of one text under a pattern. Raises ConstraintError."""
        from localcrag.llm.decoding import Decoder, Sampler

        loaded = self._loaded()
        constraint = loaded.constraints.of(pattern) if pattern is not None else None
        return Decoder(
            loaded.cache, loaded.model, constraint, loaded.writable, Sampler(self._temperature, self._seed)
        )

    def _counted_pieces(self, decoder: Decoder, pieces: Generator[str]) -> Iterator[str]:
        """The pieces, each computed under the lock, with its tokens counted.

        Raises ModelError after ``close()``.
        """
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
                pieces.close()  # forgets the draft tokens
                self.last_finish = decoder.finish
                self._generated += decoder.generated - counted

    def _fitting_tokens(self, loaded: _LoadedModel, prompt: Prompt, room: int) -> TokenizedPrompt:
        """The prompt's tokens. Raises ContextOverflow if they and ``room`` more tokens do not fit."""
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
    """The objects that a loaded model consists of."""

    model: Model
    context: Context
    cache: KVCache
    chat: ChatFormat
    constraints: Constraints
    writable: Mask
    options: dict[tuple[str, ...], ChoiceOptions]

    def close(self) -> None:
        """Free its memory."""
        self.context.close()
        self.model.close()
