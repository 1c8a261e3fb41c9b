"""The chat model that adapters are trained for: the file that is run, and the name it goes by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.model_entry import sha256
from localcrag.llm.registry import Registry
from localcrag.settings import default_home

PACKAGED = "smollm2-135m-instruct"
_URL = "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct"


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


def base_of(file: Path | None) -> Base:
    """The base in a file, or if None the one that travels in a package. Raises ModelNotInstalled."""
    return Base(file, file.stem, "", sha256(file)) if file else packaged_base()


def packaged_base() -> Base:
    """The base that travels in a package, as it is run. Raises ModelNotInstalled."""
    registry = Registry(default_home())
    file = registry.resolve(PACKAGED)
    entry = registry.find(PACKAGED)
    assert entry is not None
    return Base(file, PACKAGED, _URL, entry.sha256)
