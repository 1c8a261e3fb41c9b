"""LoRA adapters: the numbers of the merged weights, the cache, and files that fit no base."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from training.gguf_files import About, write_adapter

from localcrag.errors import ModelFileError
from localcrag.llm.kv_cache import TokenizedPrompt
from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.model_entry import sha256
from localcrag.llm.model_file_checks import ADAPTER_BASE_KEY
from localcrag.types import Choice, Prompt
from tests.tiny_llama import (
    ALPHA,
    SIZE,
    Matrix,
    TinySize,
    merged,
    random_pairs,
    write_base,
    write_lora,
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_base(tmp_path_factory.mktemp("base") / "base.gguf")


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lora(tmp_path_factory.mktemp("adapter") / "adapter.gguf")


def opened(base: Path, adapter: Path | None = None, **options: Any) -> LlamaCppModel:
    return LlamaCppModel(base, adapter=adapter, context=1024, threads=1, **options)


# ---------------------------------------------------------------------------------- the numbers

HF_NAMES = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "token_embd": "embed_tokens", "output_norm": "norm",
}  # fmt: skip


def in_transformers(weights: Mapping[str, Matrix], ids: tuple[int, ...]) -> Matrix:
    """The logits after the last token, of a LlamaForCausalLM with these weights by GGUF name."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(weights["token_embd.weight"]),
        hidden_size=SIZE.width,
        intermediate_size=SIZE.inner,
        num_hidden_layers=SIZE.layers,
        num_attention_heads=SIZE.heads,
        num_key_value_heads=SIZE.kv_heads,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
    )
    state = {}
    for name, values in weights.items():
        *layer, kind, _ = name.split(".")
        place = f"layers.{layer[1]}." if layer else ""
        state[f"model.{place}{HF_NAMES[kind]}.weight"] = torch.tensor(values)
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model = LlamaForCausalLM(config)
    model.train(False)
    model.load_state_dict(state)
    with torch.inference_mode():
        found: Matrix = model(torch.tensor([ids])).logits[0, -1].numpy()
    return found


def test_logits_are_those_of_the_merged_weights_in_pytorch(base: Path, adapter: Path, tmp_path: Path) -> None:
    ids = tuple(np.random.default_rng(1).integers(0, 256, 60).tolist())
    pairs = random_pairs()
    plain, wanted = in_transformers(merged({}), ids), in_transformers(merged(pairs), ids)
    unturned = tmp_path / "unturned.gguf"
    about = About("rows of B in the order of transformers", "")
    write_adapter(unturned, pairs, ALPHA, about, heads=SIZE.heads, kv_heads=SIZE.kv_heads, permute=False)
    found = []
    for file in (None, adapter, unturned):
        with opened(base, file) as model:
            found.append(model._loaded().cache.read(TokenizedPrompt(ids)))
    assert np.abs(plain - wanted).max() > 1.0, "the adapter changes too little to be seen"
    assert np.abs(found[0] - plain).max() < 0.06
    assert np.abs(found[1] - wanted).max() < 0.06  # float16 in the cache and in the adapter
    assert np.abs(found[2] - wanted).max() > 0.5


# ---------------------------------------------------------------------------------- the cache


def grading(text: str) -> Prompt:
    return Prompt("You judge texts.", ("Question: is it so? ", f"Text: {text} ", "Does it help?"))


def after(model: LlamaCppModel, prompt: Prompt) -> Matrix:
    """The logits after a prompt."""
    loaded = model._loaded()
    return loaded.cache.read(loaded.chat.tokenise(prompt))


TEXTS = ("It is so, as the report of May says.", "Nothing is known of it.", "The weather was fine.")


def test_what_is_read_and_written_is_the_same_with_a_warm_cache_and_a_cold_one(
    base: Path, adapter: Path
) -> None:
    prompts = [grading(text) for text in TEXTS]
    with opened(base, adapter) as warm:
        for _ in range(2):
            together = warm.choose(prompts, ("yes", "no"))
        line = warm.line(prompts[0], max_tokens=12)
        text = "".join(warm.stream(prompts[2], max_tokens=8))
        logits = after(warm, prompts[1])
        read = warm.tokens.evaluated
    cold: list[Any] = []
    for ask in (
        lambda model: model.choose(prompts[:1], ("yes", "no"))[0],
        lambda model: model.choose(prompts[1:2], ("yes", "no"))[0],
        lambda model: model.line(prompts[0], max_tokens=12),
        lambda model: "".join(model.stream(prompts[2], max_tokens=8)),
        lambda model: after(model, prompts[1]),
    ):
        with opened(base, adapter) as model:
            cold.append(ask(model))
            spent = model.tokens.evaluated
    for choice, alone in zip(together[:2], cold[:2], strict=True):
        assert isinstance(choice, Choice) and isinstance(alone, Choice)
        assert choice.probabilities == pytest.approx(alone.probabilities, abs=0.01)
    assert [line, text] == cold[2:4]
    assert np.abs(logits - cold[4]).max() < 0.1
    assert read < 6 * spent, "the warm cache read each prompt anew"


def test_an_adapter_changes_the_choices_and_leaves_with_its_model(base: Path, adapter: Path) -> None:
    def probabilities(file: Path | None) -> list[float]:
        with opened(base, file) as model:
            choices = model.choose([grading(text) for text in TEXTS], ("yes", "no"))
        return [choice.probabilities[0] for choice in choices if isinstance(choice, Choice)]

    plain, adapted = probabilities(None), probabilities(adapter)
    assert max(abs(one - two) for one, two in zip(plain, adapted, strict=True)) > 0.05
    assert probabilities(None) == plain and probabilities(adapter) == adapted


def test_two_adapters_over_a_base_share_its_weights_and_nothing_else(
    base: Path, adapter: Path, tmp_path: Path
) -> None:
    other = write_lora(tmp_path / "other.gguf", random_pairs(seed=9))

    def probabilities(model: LlamaCppModel) -> list[float]:
        choices = model.choose([grading(text) for text in TEXTS], ("yes", "no"))
        return [choice.probabilities[0] for choice in choices if isinstance(choice, Choice)]

    alone = []
    for file in (None, adapter, other):
        with opened(base, file) as model:
            alone.append(probabilities(model))
    with opened(base) as plain, opened(base, adapter) as one, opened(base, other) as two:
        together = [probabilities(model) for model in (plain, one, two)]
        loaded = [model._resident.model for model in (plain, one, two) if model._resident]
        assert len({model.handle for model in loaded}) == 1, "the weights are in memory once"
        plain.close()
        one.close()
        last = probabilities(two)
    assert last == pytest.approx(alone[2], abs=1e-3), "what the others have closed is there for the last"
    for one_alone, one_together in zip(alone, together, strict=True):
        assert one_together == pytest.approx(one_alone, abs=1e-3)


def test_a_model_that_was_closed_loads_its_adapter_again(base: Path, adapter: Path) -> None:
    with opened(base, adapter) as model:
        before = model.line(grading(TEXTS[0]), max_tokens=12)
        model.close()
        assert model.line(grading(TEXTS[0]), max_tokens=12) == before


# ---------------------------------------------------------------------------------- refusals

Break = Callable[[Path], Path]


def _other_architecture(folder: Path) -> Path:
    path = write_lora(folder / "other.gguf")
    path.write_bytes(path.read_bytes().replace(b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0qwen3", 1))
    return path


def _other_size(folder: Path) -> Path:
    return write_lora(folder / "wider.gguf", size=TinySize(width=128))


def _more_layers(folder: Path) -> Path:
    return write_lora(folder / "deeper.gguf", size=TinySize(layers=3))


def _whole_model(folder: Path) -> Path:
    return write_base(folder / "model.gguf")


def _cut_off(folder: Path) -> Path:
    path = write_lora(folder / "cut.gguf")
    path.write_bytes(path.read_bytes()[:-100])
    return path


def _no_gguf(folder: Path) -> Path:
    path = folder / "text.gguf"
    path.write_text("not a model")
    return path


def _renamed(old: bytes, new: bytes, times: int = 1) -> Break:
    def rename(folder: Path) -> Path:
        path = write_lora(folder / "renamed.gguf")
        raw = path.read_bytes()
        assert raw.count(old) >= times and len(old) == len(new)
        path.write_bytes(raw.replace(old, new, times))
        return path

    return rename


def _other_base(folder: Path) -> Path:
    return write_lora(folder / "trained.gguf", measured={ADAPTER_BASE_KEY: "ab" * 32})


def _handmade(
    kind: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F16,
    *,
    b: tuple[int, int] = (64, 4),
    alpha: float | None = 8.0,
) -> Break:
    """An adapter of one pair that gguf's writer makes as it is told."""

    def write(folder: Path) -> Path:
        path = folder / "handmade.gguf"
        writer = gguf.GGUFWriter(path, "llama")
        writer.add_type("adapter")
        writer.add_string("adapter.type", "lora")
        if alpha is not None:
            writer.add_float32("adapter.lora.alpha", alpha)
        for suffix, shape in (("lora_a", (4, 64)), ("lora_b", b)):
            values = np.zeros(shape, np.int32 if kind is gguf.GGMLQuantizationType.I32 else np.float16)
            writer.add_tensor(f"blk.0.attn_q.weight.{suffix}", values, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return path

    return write


REFUSED = {
    "another architecture": (_other_architecture, "does not fit tiny base: it is for the architecture qwen3"),
    "wider weights": (
        _other_size,
        r"does not fit tiny base: its blk\.0\.attn_k\.weight is 64 × 128, not 32 × 64",
    ),
    "more layers": (_more_layers, r"that has no blk\.2\."),
    "trained for another base": (_other_base, "trained for a file with sha256 abab"),
    "a whole model": (_whole_model, "no adapter but a model of its own"),
    "a file cut off": (_cut_off, "damaged or incomplete"),
    "no GGUF": (_no_gguf, "not a GGUF"),
    "no LoRA": (
        _renamed(b"\x04\0\0\0\0\0\0\0lora", b"\x04\0\0\0\0\0\0\0loha"),
        "adapter loha, and only lora",
    ),
    "half a pair": (
        _renamed(b"attn_q.weight.lora_b", b"attn_q.weight.lora_c"),
        "has no pair of lora_a and lora_b",
    ),
    "weights that are none of a LoRA": (
        _renamed(b"0.attn_q.weight.lora_", b"0.attn_q.weight.sums_", 2),
        "weights are no pairs of lora_a and lora_b",
    ),
    "two first halves": (_renamed(b"0.attn_q.weight.lora_b", b"1.attn_x.weight.lora_b"), "no pair"),
    "ranks that differ": (_handmade(b=(64, 8)), "no rank in common"),
    "weights that are whole numbers": (_handmade(gguf.GGMLQuantizationType.I32), "weights of type 26"),
    "no alpha": (_handmade(alpha=None), r"no adapter\.lora\.alpha"),
    "an alpha that is no number": (_handmade(alpha=float("nan")), r"no adapter\.lora\.alpha"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_adapter_that_cannot_be_used_is_refused_in_one_line(
    case: str, base: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    make, said = REFUSED[case]
    with pytest.raises(ModelFileError, match=said) as caught:
        opened(base, make(tmp_path)).load()
    assert "\n" not in str(caught.value) and caught.value.hint
    assert capfd.readouterr() == ("", "")


def test_no_refused_adapter_ends_the_process(base: Path, tmp_path: Path) -> None:
    """Each in turn in a process of its own, which must live to the end and still read a good one."""
    files = []
    for number, (make, _) in enumerate(REFUSED.values()):
        (tmp_path / str(number)).mkdir()
        files.append(str(make(tmp_path / str(number))))
    good = write_lora(tmp_path / "good.gguf")
    program = f"""
from localcrag.errors import ModelFileError
from localcrag.llm.language_model import LlamaCppModel
refused = 0
for file in {[*files, str(good)]!r}:
    try:
        with LlamaCppModel({str(base)!r}, adapter=file, context=256, threads=1) as model:
            model.load()
    except ModelFileError:
        refused += 1
print(refused)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [str(len(REFUSED))], "")


def test_an_adapter_may_name_the_very_base(base: Path, tmp_path: Path) -> None:
    own = write_lora(tmp_path / "own.gguf", measured={ADAPTER_BASE_KEY: sha256(base)})
    assert opened(base, own).adapter_info
    shipped = write_lora(tmp_path / "shipped.gguf", measured={ADAPTER_BASE_KEY: "cd" * 32})
    assert opened(base, shipped, base_sha256="cd" * 32).adapter_info


def test_an_adapter_is_no_model(base: Path, adapter: Path) -> None:
    with pytest.raises(ModelFileError, match="no text generator but a file of type adapter"):
        opened(adapter).load()
