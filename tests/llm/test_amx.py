"""A llama.cpp that was compiled with AMX is used without it: its code may end the process."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import llama_cpp
import pytest

from localcrag.llm.llama_model import Model
from tests.shape_models import shape


@pytest.mark.parametrize(
    ("features", "extra"), [(b"AVX512 = 1 | AMX_INT8 = 1 | ", False), (b"AVX2 = 1 | ", True)]
)
def test_a_build_with_amx_takes_no_extra_buffer_types(
    features: bytes, extra: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given: list[Any] = []
    load = llama_cpp.llama_model_load_from_file

    def loaded(path: bytes, params: Any) -> Any:
        given.append(params.use_extra_bufts)
        return load(path, params)

    monkeypatch.setattr(llama_cpp, "llama_print_system_info", lambda: features)
    monkeypatch.setattr(llama_cpp, "llama_model_load_from_file", loaded)
    Model(Path(shutil.copy(shape("llama2"), tmp_path))).close()  # one that no other test has in memory
    assert given == [extra]
