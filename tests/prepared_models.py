"""The shipped models as they are used, prepared once in a run of the tests: a fresh home gets them linked.

In a fresh home the first question has the language model brought into Q4_0, and the evaluators and the
embedding model converted for CTranslate2, which takes longer than most tests do. Here the product's own
functions do it the first time, and their files are kept for the run; where, when, under which lock and name
the product has it done stays its own. The tests of these functions themselves, and programs that a bare
interpreter runs, do it anew.

A home's files are links to the kept ones: copies took fifteen gigabytes of disk in a run. So a test that
damages one puts another file in its place; one that wrote into it would do so to all homes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from localcrag.embedding.embedder import SentenceTransformerEmbedder
from localcrag.llm import ctranslate_bert
from localcrag.llm.gguf import GgufInfo
from localcrag.llm.multilingual_evaluator import MultilingualEvaluator

FOLDER_VARIABLE = "TESTS_PREPARED_MODELS"
"""The variable that names the folder of this run for the processes that the tests fork."""
MIN_KEPT_BYTES = 1_000_000
"""A smaller model is one that a test made, and is prepared anew."""
convert = ctranslate_bert._convert
convert_embedder = SentenceTransformerEmbedder._convert
convert_multilingual = MultilingualEvaluator._convert
"""The real conversions."""


def keep_prepared(run: Path) -> None:
    """From now on, prepare each shipped model once in all processes that name the folder of this run."""
    from localcrag.llm import llama_backend

    os.environ[FOLDER_VARIABLE] = str(run)
    quantise = llama_backend.quantise

    def converted(info: GgufInfo, folder: Path) -> None:
        def make(part: Path) -> None:
            part.mkdir(exist_ok=True)
            convert(info, part)

        _link(_prepared(run, info.path, "ctranslate", make), folder)

    def embedder_converted(self: SentenceTransformerEmbedder, folder: Path) -> None:
        def make(part: Path) -> None:
            part.mkdir(exist_ok=True)
            convert_embedder(self, part)

        if self.is_packaged:
            _link(_prepared(run, self.folder / "model.safetensors", "ctranslate", make), folder)
        else:
            convert_embedder(self, folder)

    def multilingual_converted(self: MultilingualEvaluator, folder: Path) -> None:
        def make(part: Path) -> None:
            part.mkdir(exist_ok=True)
            convert_multilingual(self, part)

        if self.info.path.stat().st_size < MIN_KEPT_BYTES:
            convert_multilingual(self, folder)
        else:
            _link(_prepared(run, self.info.path, "ctranslate", make), folder)

    def quantised(source: Path, target: Path, kind: str) -> None:
        if source.stat().st_size < MIN_KEPT_BYTES:
            quantise(source, target, kind)
        else:
            target.unlink(missing_ok=True)
            os.link(_prepared(run, source, kind, lambda part: quantise(source, part, kind)), target)

    ctranslate_bert._convert = converted
    SentenceTransformerEmbedder._convert = embedder_converted  # type: ignore[method-assign]
    MultilingualEvaluator._convert = multilingual_converted  # type: ignore[method-assign]
    llama_backend.quantise = quantised


def _link(kept: Path, folder: Path) -> None:
    shutil.copytree(kept, folder, copy_function=os.link, dirs_exist_ok=True)


def _prepared(run: Path, source: Path, kind: str, make: Callable[[Path], object]) -> Path:
    """What ``make`` makes of this state of a model file, in this run."""
    stat = source.stat()
    state = f"{source.resolve()} {stat.st_size} {stat.st_mtime_ns} {kind}"
    run.mkdir(exist_ok=True)
    kept = run / hashlib.sha256(state.encode()).hexdigest()[:16]
    with FileLock(kept.with_suffix(".lock")):
        if not kept.exists():
            part = kept.with_suffix(".part")
            make(part)
            part.rename(kept)
    return kept
