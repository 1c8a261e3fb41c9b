"""The language model's tokenizer: byte-level BPE, cased, as llama.cpp's `gpt2` with pre-tokenizer `gpt-2`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

USER, ASSISTANT, END = "<|user|>", "<|assistant|>", "<|end|>"
CONTROL = (END, USER, ASSISTANT)
TEMPLATE = (
    "{% for m in messages %}{% if m.role != 'system' %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def train(texts: Iterable[str], size: int = 8192) -> Tokenizer:
    """Train a byte-level BPE of `size` pieces, the control tokens among them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(CONTROL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def save(tokenizer: Tokenizer, path: Path) -> None:
    """Write the tokenizer in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    tokenizer.save(str(part))
    part.replace(path)


def load(path: Path) -> Tokenizer:
    """Read a tokenizer that `save` wrote."""
    return Tokenizer.from_file(str(path))


def pieces_and_merges(tokenizer: Tokenizer) -> tuple[list[str], list[str]]:
    """Pieces by id, and merges as `left right`, the way GGUF stores them."""
    vocabulary = tokenizer.get_vocab()
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return sorted(vocabulary, key=vocabulary.__getitem__), [" ".join(pair) for pair in merges]


def plain(tokenizer: Tokenizer, text: str) -> list[int]:
    """Token ids of a text that cannot spell a control token, as the product reads users and documents."""
    for name in CONTROL:
        text = text.replace(name, name[:1] + " " + name[1:])
    return tokenizer.encode(text, add_special_tokens=False).ids


def control_id(tokenizer: Tokenizer, name: str) -> int:
    """The id of a control token. Raises KeyError if the tokenizer has none of that name."""
    found = tokenizer.token_to_id(name)
    if found is None:
        raise KeyError(name)
    return found


def chat(tokenizer: Tokenizer, message: str) -> list[int]:
    """Token ids of the template around one user message, up to where the reply begins."""
    user, end, assistant = (control_id(tokenizer, name) for name in (USER, END, ASSISTANT))
    return [user, *plain(tokenizer, message), end, assistant]
