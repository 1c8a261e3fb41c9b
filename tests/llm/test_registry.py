"""Models by name or by file, and a list of them that cannot be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.errors import ModelError, ModelNotFound
from localcrag.llm.registry import Registry, Role


@pytest.mark.parametrize("name", ["~$x.gguf", "~no-such-user/x.gguf", "x" * 5000, "x/" * 5000])
def test_a_name_that_can_be_no_file_is_not_found(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelNotFound, match="neither by name nor as a file") as caught:
        Registry(tmp_path).resolve(name)
    assert "\n" not in str(caught.value) and caught.value.hint


def test_a_file_whose_name_begins_like_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("~$x.gguf").write_bytes(b"x")
    registry = Registry(tmp_path / "home")
    assert registry.resolve("~$x.gguf") == Path("~$x.gguf")
    registry.add("mine", Path("~$x.gguf"), Role.LANGUAGE)
    assert registry.resolve("mine") == tmp_path / "~$x.gguf"


def test_a_list_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(b"x")
    (tmp_path / "home" / "models.part").mkdir(parents=True)  # where the list is written first
    with pytest.raises(ModelError, match="cannot be written") as caught:
        Registry(tmp_path / "home").add("mine", file, Role.LANGUAGE)
    assert "\n" not in str(caught.value) and caught.value.hint
