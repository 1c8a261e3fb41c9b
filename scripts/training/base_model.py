"""The chat model that adapters are trained for: the file that is run, and the name it goes by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.model_entry import sha256
from localcrag.llm.registry import Registry
from localcrag.settings import default_home

PACKAGED = "smollm2-135m-instruct"
LARGE = "qwen2.5-coder-1.5b-instruct"
"""The larger base, of which an adapter reads questions over tables."""
URLS = {
    PACKAGED: "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct",
    LARGE: "https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct",
}
"""Where the bases come from that travel in packages."""


@dataclass(frozen=True)
class Base:
    """A chat model: the file as it is run, its name and address, and the digest of the file as shipped."""

    file: Path
    name: str
    url: str
    sha256: str

    def with_adapter(self, adapter: Path, context: int) -> LlamaCppModel:
        """The chat model with an adapter that was trained for it, with a window of so many tokens."""
        return LlamaCppModel(self.file, adapter=adapter, base_sha256=self.sha256, context=context)


def base_of(model: Path | None) -> Base:
    """The base in a file, or one that travels in packages, by its name; None for :data:`PACKAGED`.

    Raises ModelNotFound, ModelNotInstalled.
    """
    name = str(model or PACKAGED)
    if name not in URLS:
        file = Path(name)
        return Base(file, file.stem, "", sha256(file))
    registry = Registry(default_home())
    entry = registry.find(name)
    assert entry is not None
    return Base(registry.resolve(name), name, URLS[name], entry.sha256)
