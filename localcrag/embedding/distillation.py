"""Distillation of token vectors from a sentence-transformers model, without data: the method of Model2Vec.

Each token of the vocabulary is given to the model alone. The vectors that come out are reduced to their
principal components, and weighted by how rare a token is. This is estimated from the token's place in the
vocabulary by Zipf's law, with the smooth inverse frequency of Arora, Liang and Ma (ICLR 2017).

The method is that of Tulkens and van Dongen (Model2Vec: Fast State-of-the-Art Static Embeddings, 2024). Their
library is not used, because its distillation does not work with the versions of transformers from 5.4 on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch

from localcrag.embedding.torch_batches import single_threaded_torch

if TYPE_CHECKING:
    import numpy.typing as npt
    from sentence_transformers import SentenceTransformer
    from transformers import PreTrainedTokenizerBase

    Vectors = npt.NDArray[np.float32]
    Matrix = npt.NDArray[np.float64]

SMOOTHING = 1e-4
"""The constant of the smooth inverse frequency: a token of this frequency has half the full weight."""
BATCH_TOKENS = 512
"""The tokens of the vocabulary that are embedded at once."""


def token_outputs(model: SentenceTransformer) -> Iterator[Vectors]:
    """The model's vectors of the tokens of its vocabulary, in the order of their ids.

    Each is that of a text of this token alone, before it is scaled to length 1. Yields arrays of shape
    (at most BATCH_TOKENS, width), float32.
    """
    tokenizer = model.tokenizer
    before, after = _frame(tokenizer)
    texts = [[*before, id, *after] for id in range(len(tokenizer))]
    model.eval()
    with single_threaded_torch(), torch.inference_mode():
        for start in range(0, len(texts), BATCH_TOKENS):
            ids = torch.tensor(texts[start : start + BATCH_TOKENS], device=model.device)
            features = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
            for module in model:
                if type(module).__name__ != "Normalize":
                    features = module(features)
            yield features["sentence_embedding"].float().cpu().numpy()


def _frame(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[int]]:
    """The special tokens before and after a text."""
    plain, framed = tokenizer.encode("a", add_special_tokens=False), tokenizer.encode("a")
    at = next((at for at in range(len(framed)) if framed[at : at + len(plain)] == plain), 0)
    return framed[:at], framed[at + len(plain) :]


def distilled(outputs: Vectors, components: int) -> Vectors:
    """The token vectors of a static model, shape (tokens, components), float32.

    ``outputs`` are those of :func:`token_outputs`, shape (tokens, width); there are at most ``width``
    components.
    """
    return (_principal(outputs.astype(np.float64), components) * _rarity(len(outputs))).astype(np.float32)


def _principal(outputs: Matrix, components: int) -> Matrix:
    """The outputs on their first principal components, each with the sign of its largest value positive."""
    centred = outputs - outputs.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    found: Matrix = centred @ axes[:, ::-1][:, :components]
    largest = found[np.abs(found).argmax(axis=0), np.arange(components)]
    return found * np.where(largest < 0, -1.0, 1.0)


def _rarity(tokens: int) -> Matrix:
    """The weight of each token, shape (tokens, 1), by its place among so many."""
    frequencies = 1 / np.arange(2, tokens + 2)
    frequencies /= frequencies.sum()
    weights: Matrix = SMOOTHING / (SMOOTHING + frequencies)
    return weights[:, None]
