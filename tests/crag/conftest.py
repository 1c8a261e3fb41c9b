"""How a row of the scenario tables is checked."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.crag.scenario import Check, checked


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Ask a row's question as a user does, and compare what happens and what is seen."""
    return partial(checked, home=tmp_path, monkeypatch=monkeypatch, capsys=capsys)
