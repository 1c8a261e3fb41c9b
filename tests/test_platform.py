"""The folders of the platform are those that platformdirs would name."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs
import pytest

from localcrag import _platform


@pytest.mark.parametrize("named", ["", "relative/place", "/absolute/place"])
def test_they_are_those_of_platformdirs(named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, named)
    assert _platform.config_folder() == platformdirs.user_config_path("localcrag")
    assert _platform.data_folder() == platformdirs.user_data_path("localcrag")


@pytest.mark.skipif(sys.platform != "linux", reason="the rule is that of Linux")
def test_the_runtime_folder_is_that_of_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert _platform.runtime_folder() == tmp_path / "localcrag"
    assert _platform.runtime_folder() == platformdirs.user_runtime_path("localcrag", appauthor=False)
    for named in ("", "relative"):
        monkeypatch.setenv("XDG_RUNTIME_DIR", named)
        assert _platform.runtime_folder() == Path(f"/run/user/{os.getuid()}/localcrag")
