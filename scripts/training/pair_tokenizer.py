"""An encoder's tokenizer, for pairs of a question and a text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

MAX_PAIR_TOKENS = 384


class PairTokenizer:
    """The tokenizer of an encoder's folder, for pairs, cut at `MAX_PAIR_TOKENS` from the end of the text."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.vocabulary: dict[str, int] = self._tokenizer.get_vocab()

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
        """Token ids of each (question, text)."""
        return [_cut(encoding.ids, MAX_PAIR_TOKENS) for encoding in self._tokenizer.encode_batch(list(pairs))]

    def texts(self, texts: Sequence[str], limit: int = 128) -> list[list[int]]:
        """Token ids of single texts, cut at `limit` tokens."""
        return [_cut(encoding.ids, limit) for encoding in self._tokenizer.encode_batch(list(texts))]


def _cut(ids: list[int], limit: int) -> list[int]:
    """At most `limit` ids, the last of them kept: it is [SEP]."""
    return ids if len(ids) <= limit else ids[: limit - 1] + ids[-1:]
