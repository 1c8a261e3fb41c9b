"""The weights of GGUF files in memory, and the adapters over them, each once for all models that use them."""

from __future__ import annotations

import ctypes
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from localcrag.errors import ModelFileError
from localcrag.llm.llama_backend import error_lines, initialise, last_errors, llama, made_apart, uses_amx

FileKey = tuple[int, ...]
"""What tells a file from any other, and how it is loaded."""
_sharing = threading.RLock()
"""Held while weights are loaded, shared or freed; a collected model frees its own at any time."""


class Weights:
    """The weights of a file in memory, and the adapters over them; freed when their last user is gone.

    Attributes:
        handle: llama.cpp's pointer of the model.
    """

    def __init__(self, key: FileKey, handle: Any) -> None:
        self._key, self.handle, self._users = key, handle, 0
        self._adapters = dict[FileKey, Any]()

    def hold(self) -> Weights:
        """One user more, which calls :meth:`release` in the end."""
        with _sharing:
            self._users += 1
        return self

    def release(self) -> None:
        """One user less."""
        with _sharing:
            self._users -= 1
            if not self._users:
                del _in_memory[self._key]
                llama.llama_model_free(self.handle)

    def adapter(self, path: Path) -> Any:
        """llama.cpp's pointer of an adapter over these weights, which is freed with them.

        A context must find it loaded when it is made. Raises ModelFileError.
        """
        with _sharing:
            key = _identity(path)
            if key not in self._adapters:
                self._adapters[key] = _loaded_adapter(self.handle, path)
            return self._adapters[key]


_in_memory: dict[FileKey, Weights] = {}


def weights_of(path: Path, gpu_layers: int, *, mapped: bool) -> Weights:
    """The weights of a file, held for one more user; loaded if they are not in memory.

    Raises ModelFileError. See :class:`localcrag.llm.llama_model.Model` for the arguments.
    """
    initialise()
    key = (*_identity(path), gpu_layers, mapped)
    with _sharing:
        if key not in _in_memory:
            error_lines.clear()
            params = llama.llama_model_default_params()
            params.n_gpu_layers = gpu_layers
            params.use_extra_bufts = not uses_amx()
            if params.use_extra_bufts and not mapped:
                params.load_mode = llama.LLAMA_LOAD_MODE_NONE
            handle = _loaded(path, params)
            if not handle:
                raise ModelFileError(
                    f"llama.cpp cannot load {path.name}{last_errors()}.",
                    hint="Its architecture may be newer than this llama.cpp, or memory may be short.",
                )
            _in_memory[key] = Weights(key, handle)
        return _in_memory[key].hold()


def _identity(path: Path) -> FileKey:
    """What tells a file from any other, and from itself before it was replaced. Raises ModelFileError."""
    try:
        about = path.stat()
    except OSError as error:
        raise ModelFileError(
            f"{path.name} cannot be read: {error.strerror}.",
            hint="Look at its permissions, or give another file.",
        ) from error
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def _loaded(path: Path, params: Any) -> Any:
    """llama.cpp's pointer of a model, or None if it cannot be loaded; an interrupt ends the loading.

    llama.cpp asks its progress callback whether to go on. A Python callback could swallow the interrupt, so
    it is C's ``atoi`` on a string that is "1" as long as it is to go on. On Windows the string would not be
    the first argument, since there a float before it counts too; a loading cannot be ended there.
    """
    going_on = ctypes.create_string_buffer(b"1")
    if sys.platform != "win32":
        params.progress_callback = ctypes.cast(ctypes.CDLL(None).atoi, llama.llama_progress_callback)
        params.progress_callback_user_data = ctypes.cast(going_on, ctypes.c_void_p)

    def end() -> None:
        going_on.value = b"0"

    with ThreadPoolExecutor(1, "llama") as pool:
        name = str(path).encode()
        return made_apart(
            pool, lambda: llama.llama_model_load_from_file(name, params), llama.llama_model_free, end
        )


def _loaded_adapter(model: Any, path: Path) -> Any:
    """llama.cpp's pointer of an adapter over a model. Raises ModelFileError."""
    error_lines.clear()
    with ThreadPoolExecutor(1, "llama") as pool:
        adapter = pool.submit(llama.llama_adapter_lora_init, model, str(path).encode()).result()
    if not adapter:
        raise ModelFileError(
            f"llama.cpp cannot load the adapter {path.name}{last_errors()}.",
            hint="Convert it again with llama.cpp's convert_lora_to_gguf.py, or take --adapter none.",
        )
    return adapter
