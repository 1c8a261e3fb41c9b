"""The common base of models in GGUF files: the header is read cheaply, the weights on first use."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from localcrag.llm.gguf import GgufInfo


class Resident(Protocol):
    """A loaded model."""

    def close(self) -> None:
        """Free its memory."""
        ...


R = TypeVar("R", bound=Resident)


class LazyModel(ABC, Generic[R]):
    """A model in a GGUF file that is loaded on first use.

    Calls may come from several threads; one at a time is served.

    Args:
        path: the GGUF file, or what finds it on first use, if that may take long.
        inspect: reads the header, and raises ModelFileError if the file holds another kind of model.
    """

    def __init__(self, path: Path | str | Callable[[], Path], inspect: Callable[[Path], GgufInfo]) -> None:
        self._found, self._inspect = path, inspect
        self._lock = threading.RLock()
        self._info: GgufInfo | None = None
        self._resident: R | None = None

    @cached_property
    def _path(self) -> Path:
        """The GGUF file. Raises what finding it raises."""
        return self._found() if callable(self._found) else Path(self._found)

    @property
    def info(self) -> GgufInfo:
        """The file's header, read on first use. Raises ModelNotFound, ModelFileError."""
        if self._info is None:
            self._info = self._inspect(self._path)
        return self._info

    @property
    def name(self) -> str:
        """The model's name as its file states it. Raises ModelNotFound, ModelFileError."""
        return self.info.name

    def load(self) -> None:
        """Load the model now. Raises ModelNotFound, ModelFileError, ModelError."""
        with self._lock:
            self._loaded()

    def close(self) -> None:
        """Free the model's memory; the next use loads it again."""
        with self._lock:
            self._prepare_close()
            loaded, self._resident = self._resident, None
            if loaded:
                loaded.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def _loaded(self) -> R:
        """The loaded model. Raises ModelNotFound, ModelFileError, ModelError."""
        if self._resident is None:
            self._resident = self._load()
        return self._resident

    @abstractmethod
    def _load(self) -> R:
        """Load the model. Raises ModelNotFound, ModelFileError, ModelError."""

    @abstractmethod
    def _prepare_close(self) -> None:
        """Save the token counts that the loaded model holds, before it is closed."""
