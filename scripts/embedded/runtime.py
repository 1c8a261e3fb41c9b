"""The exported models as llama.cpp runs them: the figures of the cards are measured through this."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from pathlib import Path

import llama_cpp
import numpy as np


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def _silent(_level: int, _text: bytes, _data: ctypes.c_void_p) -> None:
    """Drop llama.cpp's log lines."""


class GgufEvaluator:
    """A rank-pooling GGUF; many pairs go through one micro-batch, each as its own sequence."""

    def __init__(self, path: Path, threads: int = 2, batch_tokens: int = 512, sequences: int = 32) -> None:
        llama_cpp.llama_log_set(_silent, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self._model = llama_cpp.llama_model_load_from_file(
            str(path).encode(), llama_cpp.llama_model_default_params()
        )
        if not self._model:
            raise OSError(f"llama.cpp cannot load {path.name}")
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = batch_tokens
        params.n_seq_max = sequences
        params.n_threads = params.n_threads_batch = threads
        params.embeddings = True
        params.pooling_type = llama_cpp.LLAMA_POOLING_TYPE_RANK
        params.kv_unified = True
        self._context = llama_cpp.llama_init_from_model(self._model, params)
        if not self._context:
            raise OSError(f"llama.cpp makes no context for {path.name}")
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self._batch = llama_cpp.llama_batch_init(batch_tokens, 0, 1)
        self._batch_tokens, self._sequences = batch_tokens, sequences

    def metadata(self, key: str) -> str | None:
        """A metadata value as text."""
        buffer = ctypes.create_string_buffer(512)
        size = llama_cpp.llama_model_meta_val_str(self._model, key.encode(), buffer, 512)
        return None if size < 0 else buffer.value.decode()

    def tokens(self, text: str) -> list[int]:
        """Token ids of a text without [CLS] and [SEP]."""
        raw = text.encode()
        ids = (llama_cpp.llama_token * (len(raw) + 8))()
        count = llama_cpp.llama_tokenize(self._vocabulary, raw, len(raw), ids, len(ids), False, False)
        return list(ids[:count])

    def pair(self, question: str, text: str, limit: int = 384) -> list[int]:
        """`[CLS] question [SEP] text [SEP]`, the text cut so that `limit` tokens hold the whole."""
        first = llama_cpp.llama_vocab_bos(self._vocabulary)
        sep = llama_cpp.llama_vocab_sep(self._vocabulary)
        ids = [first, *self.tokens(question), sep, *self.tokens(text), sep]
        return ids if len(ids) <= limit else [*ids[: limit - 1], sep]

    def score(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """Logits of shape (n,) for (question, text) pairs."""
        return self.score_ids([self.pair(question, text) for question, text in pairs])

    def score_ids(self, ids: Sequence[Sequence[int]]) -> np.ndarray:
        """Logits of shape (n,) for token ids, packed into as few micro-batches as hold them."""
        scores = np.zeros(len(ids), np.float32)
        batch: list[int] = []
        for i in sorted(range(len(ids)), key=lambda i: len(ids[i])):
            used = sum(len(ids[j]) for j in batch)
            if batch and (used + len(ids[i]) > self._batch_tokens or len(batch) == self._sequences):
                scores[batch] = self._decode([ids[j] for j in batch])
                batch = []
            batch.append(i)
        if batch:
            scores[batch] = self._decode([ids[j] for j in batch])
        return scores

    def _decode(self, sequences: Sequence[Sequence[int]]) -> list[float]:
        batch, at = self._batch, 0
        for sequence, ids in enumerate(sequences):
            for position, token in enumerate(ids):
                batch.token[at], batch.pos[at] = token, position
                batch.n_seq_id[at], batch.seq_id[at][0], batch.logits[at] = 1, sequence, 1
                at += 1
        batch.n_tokens = at
        if llama_cpp.llama_decode(self._context, batch) != 0:
            raise RuntimeError("llama.cpp could not decode a batch of pairs")
        return [llama_cpp.llama_get_embeddings_seq(self._context, s)[0] for s in range(len(sequences))]

    def close(self) -> None:
        """Free the context, the batch and the model."""
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)


class GgufLanguageModel:
    """The causal GGUF: greedy lines and the log odds of yes against no."""

    def __init__(self, path: Path, threads: int = 2, context: int = 2048) -> None:
        self._llama = llama_cpp.Llama(
            str(path),
            n_ctx=context,
            n_batch=context,
            n_threads=threads,
            n_threads_batch=threads,
            verbose=False,
        )
        self._end = self._llama.token_eos()

    def tokens(self, text: str, control: bool = False) -> list[int]:
        """Token ids; `control` says whether `<|end|>` and its like are read as control tokens."""
        return self._llama.tokenize(text.encode(), add_bos=False, special=control)

    def logits(self, ids: Sequence[int]) -> np.ndarray:
        """Logits (vocabulary,) after the last token."""
        self._llama.reset()
        self._llama.eval(list(ids))
        pointer = llama_cpp.llama_get_logits_ith(self._llama.ctx, -1)
        return np.ctypeslib.as_array(pointer, shape=(self._llama.n_vocab(),)).copy()

    def prompt(self, message: str) -> list[int]:
        """The chat template around one user message."""
        one = [self.tokens(t, control=True) for t in ("<|user|>", "<|end|><|assistant|>")]
        return [*one[0], *self.tokens(message), *one[1]]

    def yes_margin(self, message: str) -> float:
        """log P(yes) - log P(no) as the first token of the reply."""
        logits = self.logits(self.prompt(message))
        return float(logits[self.tokens("yes")[0]] - logits[self.tokens("no")[0]])

    def line(self, message: str, most: int = 48) -> str:
        """The greedy reply, up to its end or a line break."""
        ids = self.prompt(message)
        self._llama.reset()
        self._llama.eval(ids)
        reply: list[int] = []
        while len(reply) < most:
            pointer = llama_cpp.llama_get_logits_ith(self._llama.ctx, -1)
            token = int(np.argmax(np.ctypeslib.as_array(pointer, shape=(self._llama.n_vocab(),))))
            if token == self._end:
                break
            reply.append(token)
            self._llama.eval([token])
        text = self._llama.detokenize(reply).decode("utf-8", errors="replace")
        return text.strip().split("\n")[0]

    def close(self) -> None:
        """Free the model."""
        self._llama.close()


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), stable for large |x|."""
    return np.exp(-np.logaddexp(0, -np.asarray(x, np.float64)))


def logit(p: float) -> float:
    """The inverse of the sigmoid."""
    return math.log(p) - math.log1p(-p)
