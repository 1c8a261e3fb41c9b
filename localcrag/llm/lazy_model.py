"""What every model file has in common: it is looked at cheaply, loaded on first use, and given back."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from localcrag.llm.gguf import GgufInfo

if TYPE_CHECKING:
    from localcrag.llm.llama_backend import Context, Model


class Resident(Protocol):
    """What a loaded model is made of, at least."""

    @property
    def model(self) -> Model: ...
    @property
    def context(self) -> Context: ...


R = TypeVar("R", bound=Resident)


class LazyModel(ABC, Generic[R]):
    """A GGUF file; ``inspect`` reads its header and raises where it is of the wrong kind.

    Calls may come from several threads, one at a time goes through.
    """

    def __init__(self, path: Path | str, inspect: Callable[[Path], GgufInfo]) -> None:
        self._path, self._inspect = Path(path), inspect
        self._lock = threading.RLock()
        self._info: GgufInfo | None = None
        self._resident: R | None = None

    @property
    def info(self) -> GgufInfo:
        """What the file says of itself. Raises ModelNotFound, ModelFileError."""
        if self._info is None:
            self._info = self._inspect(self._path)
        return self._info

    @property
    def name(self) -> str:
        return self.info.name

    def load(self) -> None:
        """Load the model now. Raises ModelNotFound, ModelFileError, ModelError."""
        with self._lock:
            self._loaded()

    def close(self) -> None:
        """Free the model's memory; the next use loads it again."""
        with self._lock:
            self._settle()
            loaded, self._resident = self._resident, None
            if loaded:
                loaded.context.close()
                loaded.model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def _loaded(self) -> R:
        if self._resident is None:
            self._resident = self._load()
        return self._resident

    @abstractmethod
    def _load(self) -> R:
        """The loaded model."""

    @abstractmethod
    def _settle(self) -> None:
        """Keep the counts that would go with the memory."""
