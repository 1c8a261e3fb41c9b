"""py3langid's classifier of languages (Lui and Baldwin, ACL 2012), with its model unpacked once.

The model is packed by LZMA in the library's package, which takes half a second to unpack. The arrays that it
unpacks to, 68 MB, are kept in the folder that :func:`keep_unpacked_in` named, and mapped into memory from
there, which takes some 20 ms. Deleting them is harmless. If no folder was named, or it cannot be written, the
model is unpacked each time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from localcrag.made_once import made_once, read_or_remade

Classify = Callable[[str], tuple[str, float]]

_FORMAT = "langid-1"
"""Names what :func:`_unpack` writes; to be changed with it, so that what was made before is not used."""
_SCORES = ("nb_ptc", "nb_pc")
"""The numbers of Bayes' rule: arrays, and attributes of the library's classifier."""
_CLASSES = "nb_classes"
_AUTOMATON = ("tk_nextmove", "tk_row")
"""The automaton that finds sequences of bytes; its steps are looked up one by one."""
_OUTPUT = "tk_output"
_folders: list[Path] = []
"""The folder for the unpacked model, if one was named."""


def keep_unpacked_in(folder: Path) -> None:
    """Keep the unpacked model in this folder, which need not exist; the last one named counts."""
    _folders[:] = [folder]


@cache
def classifier() -> Classify:
    """The function that gives the language of a text (ISO 639) and its probability, loaded on first use."""
    try:
        identifier = _mapped(_folders[-1]) if _folders else _packed()
    except OSError:  # without a place to keep what is unpacked
        identifier = _packed()
    classify: Classify = identifier.classify
    return classify


def _packed() -> Any:
    """The library's classifier, its model unpacked now."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier: Any = LanguageIdentifier
    return identifier.from_model_file(MODEL_FILE, norm_probs=True)


def _mapped(folder: Path) -> Any:
    """The library's classifier, its unpacked model in ``folder``; made on first use. Raises OSError."""
    from py3langid.langid import MODEL_DIR, MODEL_FILE

    stat = (MODEL_DIR / MODEL_FILE).stat()
    target = folder / f"{_FORMAT}-{stat.st_size}-{stat.st_mtime_ns}"
    return read_or_remade(lambda: made_once(target, _unpack), _read, damaged=(ValueError, EOFError, OSError))


def _unpack(folder: Path) -> None:
    """Write the model's arrays into a folder. Raises OSError."""
    import numpy as np

    identifier = _packed()
    for name in (*_SCORES, _CLASSES, *_AUTOMATON, _OUTPUT):
        np.save(folder / f"{name}.npy", np.asarray(getattr(identifier, name)))


def _read(folder: Path) -> Any:
    """The classifier with the arrays of a folder. Raises OSError, EOFError, ValueError for damaged ones."""
    import numpy as np
    from py3langid.langid import LanguageIdentifier

    def array(name: str) -> Any:
        return np.load(folder / f"{name}.npy", mmap_mode="r")

    scores, classes, output = map(array, _SCORES), array(_CLASSES).tolist(), array(_OUTPUT).tolist()
    moves, rows = (memoryview(array(name)) for name in _AUTOMATON)  # an item is a plain number, as of a list
    identifier: Any = LanguageIdentifier
    return identifier(*scores, classes, moves, output, norm_probs=True, tk_row=rows)
