"""The library as one imports it: a knowledge base held open while others work on it too."""

from __future__ import annotations

from pathlib import Path

import pytest

import localcrag
from localcrag.errors import UnknownKnowledgeBase, UsageError


@pytest.fixture
def base(tmp_path: Path) -> localcrag.KnowledgeBase:
    (tmp_path / "a.txt").write_text("Zeldrine is a medicine.")
    base = localcrag.open(home=tmp_path / "home")
    base.ingest([tmp_path / "a.txt"])
    return base


def test_one_that_was_removed_and_made_anew_is_found(base: localcrag.KnowledgeBase, tmp_path: Path) -> None:
    assert [hit.passage.text for hit in base.search("Zeldrine")] == ["Zeldrine is a medicine."]
    other = localcrag.open(home=tmp_path / "home")
    other.remove()
    for look in (lambda: base.search("Zeldrine"), base.info, base.documents):
        with pytest.raises(UnknownKnowledgeBase):
            look()
    (tmp_path / "a.txt").write_text("Zeldrine is a poison.")
    other.ingest([tmp_path / "a.txt"])
    assert [hit.passage.text for hit in base.search("Zeldrine")] == ["Zeldrine is a poison."]
    other.remove()
    assert base.ingest([tmp_path / "a.txt"]).added == 1, "it is made again"


@pytest.mark.parametrize("k", [0, -3])
def test_fewer_than_one_hit_cannot_be_asked_for(base: localcrag.KnowledgeBase, k: int) -> None:
    with pytest.raises(UsageError, match=str(k)):
        base.search("Zeldrine", k=k)
