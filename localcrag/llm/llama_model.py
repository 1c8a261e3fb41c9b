"""A model of llama.cpp with its vocabulary.

It is freed by ``close()``, at the latest when it is garbage-collected. Models of one file share its weights,
so that two adapters over a base take its memory once.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from localcrag.errors import ModelError, ModelFileError
from localcrag.llm.llama_backend import last_errors, llama
from localcrag.llm.shared_weights import weights_of


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
        weights = weights_of(path, gpu_layers, mapped=mapped)
        self.handle = weights.handle
        self._free = weakref.finalize(self, weights.release)
        try:
            self.adapter = weights.adapter(adapter) if adapter else None
        except ModelFileError:
            self.close()
            raise
        self._vocab = llama.llama_model_get_vocab(self.handle)
        self._buffer = ctypes.create_string_buffer(512)
        self.size: int = llama.llama_vocab_n_tokens(self._vocab)
        self.context_train: int = llama.llama_model_n_ctx_train(self.handle)

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

    @cached_property
    def first_bytes(self) -> npt.NDArray[np.int16]:
        """The first byte of every token that can be part of a text, -1 of the others, shape (size,)."""
        found = np.full(self.size, -1, dtype=np.int16)
        for token, piece in self.pieces():
            found[token] = piece[0]
        return found

    def pieces(self) -> Iterator[tuple[int, bytes]]:
        """Every token that can be part of a text, with its bytes, which need not be whole characters."""
        barred = set(self.unwritable) | set(self.endings)
        for token in range(self.size):
            if token not in barred and (piece := self.piece(token)):
                yield token, piece
