"""Tokens that are looked up word by word are those of the tokenizer itself."""

from __future__ import annotations

import random
from itertools import accumulate

import pytest
from tokenizers import Tokenizer

from localcrag import word_cache
from localcrag.documents.splitting import load_tokenizer
from localcrag.embedding.embedder import SentenceTransformerEmbedder
from localcrag.word_cache import WordCache, supports

ODD = " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2000\u2028\u3000\u200b\ufeff\x00\ufffdİßΣςé中#-.,[]'’🙂e\u0301"


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return load_tokenizer(SentenceTransformerEmbedder().tokenizer_file())


def odd_texts(count: int) -> list[str]:
    """Texts of odd characters, words and special tokens, the same at each run."""
    chance = random.Random(0)
    pieces = [*ODD, *"aBcxyz", " herons", " Überlauf", "[SEP]", " [MASK] ", "ﬁ", "x" * 120]
    return ["".join(chance.choices(pieces, k=chance.randrange(1, 120))) for _ in range(count)]


def test_the_tokens_are_those_of_the_tokenizer(tokenizer: Tokenizer) -> None:
    cache, texts = WordCache(tokenizer), ["", *odd_texts(400)]
    encodings = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    ids, ends = cache.ids(texts)
    assert supports(tokenizer)
    assert ids.tolist() == [id for encoding in encodings for id in encoding.ids]
    assert ends.tolist() == list(accumulate(len(encoding.ids) for encoding in encodings))
    for text, encoding in zip(texts, encodings, strict=True):
        assert cache.ends(text) == [end for _, end in encoding.offsets]


def test_without_texts_there_are_no_tokens(tokenizer: Tokenizer) -> None:
    ids, ends = WordCache(tokenizer).ids([])
    assert len(ids) == len(ends) == 0


def test_a_full_cache_forgets_and_gives_the_same_tokens(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_cache, "MAX_CACHED_WORDS", 8)
    cache = WordCache(tokenizer)
    for text in ("one two three four five", "one six seven eight nine ten", "two " * 20 + "eleven twelve"):
        assert cache.ids([text])[0].tolist() == tokenizer.encode(text, add_special_tokens=False).ids


def test_another_kind_of_tokenizer_is_not_taken_apart() -> None:
    from tokenizers import models, pre_tokenizers

    other = Tokenizer(models.BPE())
    other.pre_tokenizer = pre_tokenizers.ByteLevel()
    assert not supports(other)
