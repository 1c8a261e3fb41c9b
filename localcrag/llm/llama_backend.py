"""The llama.cpp backend: its start, its log, and models with their vocabulary.

This is the one module that imports llama_cpp; :mod:`localcrag.llm.llama_context` takes it from here. A
:class:`Model` is a loaded GGUF; it is freed by ``close()``, at the latest when it is garbage-collected. Those
of one file share its weights, so that two adapters over a base take its memory once.
llama.cpp's last error lines are kept instead of being written to stderr, so that an error can quote them.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

from localcrag._platform import cores
from localcrag.errors import ModelError, ModelFileError

llama = llama_cpp

INTERRUPT_POLL_SECONDS = 0.2
"""The interval at which a waiting thread looks for an interrupt, which another one may have received."""
Row = npt.NDArray[np.float32]
"""The logits after a token, of shape (vocabulary,)."""

_ERROR_LOG_LEVEL = 4
error_lines: deque[str] = deque(maxlen=4)
"""llama.cpp's last error lines."""


@llama.llama_log_callback  # type: ignore[untyped-decorator]
def _log(level: int, text: bytes, _data: object) -> None:
    """The log callback: keeps errors and drops the rest.

    An interrupt that comes while it runs in the main thread would be lost, since an exception of a callback
    goes nowhere. So whatever logs much is called in another thread, see :func:`made_apart`.
    """
    if level == _ERROR_LOG_LEVEL:
        error_lines.append(text.decode("utf-8", errors="replace").strip())


def last_errors() -> str:
    """llama.cpp's last error lines in parentheses, to end an error message; "" if there are none."""
    return f" (llama.cpp: {'; '.join(error_lines)})" if error_lines else ""


@cache
def _initialise_backend() -> None:
    """Start llama.cpp, once in a process."""
    llama.llama_log_set(_log, ctypes.c_void_p(0))
    llama.llama_backend_init()


def uses_amx() -> bool:
    """Whether this llama.cpp was compiled with AMX matrix instructions, which are then kept out of its way.

    Some compilers make a fault of that code, which ends the process at the first matrix (ggml-org/llama.cpp
    issue 20824). Without the extra buffer types llama.cpp never reaches it; other repacked kernels go with
    them, so a build without AMX, as ``scripts/setup`` makes it, is faster.
    """
    return b"AMX_INT8 = 1" in llama.llama_print_system_info()


def default_threads() -> int:
    """The threads of a computation: the processors this process may use, half of them if more than four.

    Of many processors, two usually share a core.
    """
    count = cores()
    return count if count <= 4 else count // 2


def quantise(source: Path, target: Path, kind: str) -> None:
    """Write a model in another quantisation, such as "Q4_0", also if it is quantised already.

    Raises ModelError; ``target`` may then be left unfinished.
    """
    _initialise_backend()
    error_lines.clear()
    params = llama.llama_model_quantize_default_params()
    params.nthread = default_threads()
    params.ftype = getattr(llama, f"LLAMA_FTYPE_MOSTLY_{kind}")
    params.allow_requantize = True
    read, written = str(source).encode(), str(target).encode()
    with ThreadPoolExecutor(1, "llama") as pool:
        failed = pool.submit(lambda: llama.llama_model_quantize(read, written, ctypes.byref(params))).result()
    if failed:
        raise ModelError(
            f"llama.cpp cannot bring {source.name} into {kind}{last_errors()}.",
            hint="make room in the folder cache/models of localcrag's home, and try again",
        )


def made_apart(
    pool: ThreadPoolExecutor, make: Callable[[], Any], free: Callable[[Any], object], end: Callable[[], None]
) -> Any:
    """What ``make`` makes in the thread of a pool.

    After an interrupt of the caller, ``end`` is called to hasten it; then it is waited for and given to
    ``free``, and the interrupt is passed on.
    """
    # A pool that is interrupted while it starts its thread never waits for it, nor for its work.
    pool.submit(int).result()
    made: list[Any] = []
    try:
        making = pool.submit(lambda: made.append(make()))
        while not making.done():  # a thread that waits for good misses an interrupt that another one received
            wait([making], INTERRUPT_POLL_SECONDS)
        making.result()
    except BaseException:
        # The interrupt may have come before submit returned, so the thread itself is waited for.
        end()
        pool.submit(int).result()
        for handle in filter(None, made):
            free(handle)
        raise
    return made[0]


def _loaded(path: Path, params: Any) -> Any:
    """llama.cpp's pointer of a model, or None if it cannot be loaded; an interrupt ends the loading.

    llama.cpp asks its progress callback whether to go on. A Python callback could swallow the interrupt, so
    it is C's ``atoi`` on a string that is "1" as long as it is to go on. On Windows the string would not be
    the first argument, since there a float before it counts too; a loading cannot be ended there.
    """
    going_on = ctypes.create_string_buffer(b"1")
    if sys.platform != "win32":
        params.progress_callback = ctypes.cast(ctypes.CDLL(None).atoi, llama.llama_progress_callback)
        params.progress_callback_user_data = ctypes.cast(going_on, ctypes.c_void_p)

    def end() -> None:
        going_on.value = b"0"

    with ThreadPoolExecutor(1, "llama") as pool:
        name = str(path).encode()
        return made_apart(
            pool, lambda: llama.llama_model_load_from_file(name, params), llama.llama_model_free, end
        )


class _Weights:
    """The weights of a file in memory, and the adapters over them; freed when its last user is gone."""

    def __init__(self, key: _FileKey, handle: Any) -> None:
        self._key, self.handle, self.users = key, handle, 0
        self.adapters = dict[_FileKey, Any]()

    def release(self) -> None:
        """One user less."""
        with _sharing:
            self.users -= 1
            if not self.users:
                del _in_memory[self._key]
                llama.llama_model_free(self.handle)


_FileKey = tuple[int, ...]
_sharing = threading.RLock()
"""Held while weights are loaded, shared or freed; a collected model frees its own at any time."""
_in_memory: dict[_FileKey, _Weights] = {}


def _identity(path: Path) -> _FileKey:
    """What tells a file from any other, and from itself before it was replaced. Raises ModelFileError."""
    try:
        about = path.stat()
    except OSError as error:
        raise ModelFileError(
            f"{path.name} cannot be read: {error.strerror}.",
            hint="Look at its permissions, or give another file.",
        ) from error
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def _weights_of(path: Path, gpu_layers: int, mapped: bool) -> _Weights:
    """The weights of a file for one more user, loaded if they are not in memory. Raises ModelFileError."""
    key = (*_identity(path), gpu_layers, mapped)
    with _sharing:
        if key not in _in_memory:
            error_lines.clear()
            params = llama.llama_model_default_params()
            params.n_gpu_layers = gpu_layers
            params.use_extra_bufts = not uses_amx()
            if params.use_extra_bufts and not mapped:
                params.load_mode = llama.LLAMA_LOAD_MODE_NONE
            handle = _loaded(path, params)
            if not handle:
                raise ModelFileError(
                    f"llama.cpp cannot load {path.name}{last_errors()}.",
                    hint="Its architecture may be newer than this llama.cpp, or memory may be short.",
                )
            _in_memory[key] = _Weights(key, handle)
        _in_memory[key].users += 1
        return _in_memory[key]


class Model:
    """A loaded model and its vocabulary.

    Args:
        path: the GGUF file; ModelFileError is raised if llama.cpp cannot load it.
        gpu_layers: the number of layers to put on a GPU.
        adapter: the GGUF file of a LoRA adapter that all contexts of this model use; it must have passed
            :func:`localcrag.llm.model_file_checks.require_adapter`.
        mapped: whether the file is mapped into memory. Weights that llama.cpp repacks would then lie there
            twice while they are loaded: of a file of 1.1 GB 1.9 GB are taken at the peak, and 1.2 GB if not.

    Attributes:
        handle: llama.cpp's pointer.
        adapter: llama.cpp's pointer of the adapter, or None. It is freed with the weights.
        size: the number of tokens in the vocabulary.
        context_train: the window in tokens that the model was trained for.
    """

    def __init__(
        self, path: Path, *, gpu_layers: int = 0, adapter: Path | None = None, mapped: bool = True
    ) -> None:
        _initialise_backend()
        self._weights = _weights_of(path, gpu_layers, mapped)
        self.handle = self._weights.handle
        self._free = weakref.finalize(self, self._weights.release)
        self.adapter = self._load_adapter(adapter) if adapter else None
        self._vocab = llama.llama_model_get_vocab(self.handle)
        self._buffer = ctypes.create_string_buffer(512)
        self.size: int = llama.llama_vocab_n_tokens(self._vocab)
        self.context_train: int = llama.llama_model_n_ctx_train(self.handle)

    def _load_adapter(self, path: Path) -> Any:
        """Load an adapter, which a context must find loaded when it is made. Raises ModelFileError."""
        known, key = self._weights.adapters, _identity(path)
        if key in known:
            return known[key]
        error_lines.clear()
        with ThreadPoolExecutor(1, "llama") as pool:
            adapter = pool.submit(llama.llama_adapter_lora_init, self.handle, str(path).encode()).result()
        if not adapter:
            self.close()
            raise ModelFileError(
                f"llama.cpp cannot load the adapter {path.name}{last_errors()}.",
                hint="Convert it again with llama.cpp's convert_lora_to_gguf.py, or take --adapter none.",
            )
        known[key] = adapter
        return adapter

    def close(self) -> None:
        """Free the weights, and those of the adapter, unless another model uses them."""
        self._free()

    @cached_property
    def forgets_only_whole(self) -> bool:
        """Whether a sequence can only be forgotten whole, as in recurrent and hybrid models."""
        return bool(llama.llama_model_is_recurrent(self.handle) or llama.llama_model_is_hybrid(self.handle))

    @cached_property
    def writes_left_to_right(self) -> bool:
        """Whether the model is a decoder that writes one token after the other."""
        return bool(
            llama.llama_model_has_decoder(self.handle)
            and not llama.llama_model_has_encoder(self.handle)
            and not llama.llama_model_is_diffusion(self.handle)
        )

    def template(self, name: str | None = None) -> str:
        """The chat template of that name, or the default one; "" if the model has none."""
        text = llama.llama_model_chat_template(self.handle, name.encode() if name else None)
        return text.decode("utf-8", errors="replace") if text else ""

    # ------------------------------------------------------------------------------ vocabulary

    @property
    def bos(self) -> int | None:
        """The beginning-of-text token; None if the model does not ask for one."""
        return int(llama.llama_vocab_bos(self._vocab)) if llama.llama_vocab_get_add_bos(self._vocab) else None

    @property
    def separator(self) -> int:
        """The separator token, -1 if there is none."""
        return int(llama.llama_vocab_sep(self._vocab))

    @property
    def first(self) -> int:
        """The beginning-of-text or CLS token, -1 if there is none."""
        return int(llama.llama_vocab_bos(self._vocab))

    @property
    def last(self) -> int:
        """The end-of-text token, -1 if there is none."""
        return int(llama.llama_vocab_eos(self._vocab))

    @property
    def ends_text(self) -> bool:
        """Whether the model asks for an end-of-text token after a text."""
        return bool(llama.llama_vocab_get_add_eos(self._vocab))

    @property
    def separates(self) -> bool:
        """Whether the model asks for a separator token between texts."""
        return bool(llama.llama_vocab_get_add_sep(self._vocab))

    @cached_property
    def wordpiece(self) -> bool:
        """Whether the tokenizer is WordPiece, as BERT's is."""
        return bool(llama.llama_vocab_type(self._vocab) == llama.LLAMA_VOCAB_TYPE_WPM)

    @cached_property
    def sentencepiece(self) -> bool:
        """Whether the tokenizer is SentencePiece, as Llama 2's is."""
        return bool(llama.llama_vocab_type(self._vocab) == llama.LLAMA_VOCAB_TYPE_SPM)

    @cached_property
    def attributes(self) -> npt.NDArray[np.int32]:
        """llama.cpp's attribute bits of every token, shape (size,)."""
        get, vocab = llama.llama_vocab_get_attr, self._vocab
        return np.fromiter((get(vocab, i) for i in range(self.size)), dtype=np.int32, count=self.size)

    @cached_property
    def endings(self) -> tuple[int, ...]:
        """The tokens that end a generation (end of text, of turn, of message), in ascending order."""
        special = np.flatnonzero(
            self.attributes & ~(llama.LLAMA_TOKEN_ATTR_NORMAL | llama.LLAMA_TOKEN_ATTR_BYTE)
        )
        named = (llama.llama_vocab_eos(self._vocab), llama.llama_vocab_eot(self._vocab))
        candidates = {*map(int, special), *(token for token in named if token >= 0)}
        return tuple(sorted(i for i in candidates if llama.llama_vocab_is_eog(self._vocab, i)))

    def tokens_with_attribute(self, attribute: int) -> list[int]:
        """The tokens that have any of these attribute bits."""
        return [int(i) for i in np.flatnonzero(self.attributes & attribute)]

    @cached_property
    def user_defined(self) -> tuple[tuple[int, str], ...]:
        """The tokens that the tokenizer recognises in any text, with their spelling."""
        tokens = self.tokens_with_attribute(llama.LLAMA_TOKEN_ATTR_USER_DEFINED)
        return tuple((token, self.spelling(token)) for token in tokens)

    @cached_property
    def unwritable(self) -> tuple[int, ...]:
        """Control, unknown and unused tokens, which are never part of a text."""
        return tuple(
            self.tokens_with_attribute(
                llama.LLAMA_TOKEN_ATTR_CONTROL
                | llama.LLAMA_TOKEN_ATTR_UNKNOWN
                | llama.LLAMA_TOKEN_ATTR_UNUSED
            )
        )

    def spelling(self, token: int) -> str:
        """A token as the vocabulary lists it, control tokens included; "" for -1."""
        text = llama.llama_vocab_get_text(self._vocab, token) if token >= 0 else b""
        return text.decode("utf-8", errors="replace") if text else ""

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """The ids of a text, without beginning or end tokens.

        Control tokens are recognised only if ``special``. Raises ModelError.
        """
        raw = text.encode("utf-8", errors="replace")
        room = len(raw) + 16
        buffer = (llama.llama_token * room)()
        count = llama.llama_tokenize(self._vocab, raw, len(raw), buffer, room, False, special)
        if count < 0:
            raise ModelError(f"llama.cpp cannot tokenise a text of {len(text)} characters{last_errors()}.")
        return list(buffer[:count])

    def tokenize_continuation(self, text: str, *, special: bool) -> list[int]:
        """The token ids of a text that follows other text. Raises ModelError.

        SentencePiece puts a space before every text, so the text is tokenised after a line break, which
        is removed again.
        """
        if not self.sentencepiece:
            return self.tokenize(text, special=special)
        line = self.tokenize("\n", special=False)
        ids = self.tokenize("\n" + text, special=special)
        return ids[len(line) :] if ids[: len(line)] == line else self.tokenize(text, special=special)

    def piece(self, token: int) -> bytes:
        """The bytes that a token stands for; empty for control tokens."""
        buffer = self._buffer
        count = llama.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, False)
        if count < 0:
            self._buffer = ctypes.create_string_buffer(-count)
            return self.piece(token)
        return buffer.raw[:count]

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """Every token that can be part of a text, with its bytes, which need not be whole characters."""
        barred = set(self.unwritable) | set(self.endings)
        for token in range(self.size):
            if token not in barred and (piece := self.piece(token)):
                yield token, piece
