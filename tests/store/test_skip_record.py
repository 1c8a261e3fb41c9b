"""What was skipped is remembered until it is read or gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.errors import DamagedKnowledgeBase
from localcrag.store import skip_record
from localcrag.store.lance_store import LanceStore
from localcrag.store.skip_record import SkipRecord
from localcrag.store.source_roots import SourceRoots
from localcrag.types import Skipped


def test_a_skip_stays_until_it_is_settled_or_gone(lance: LanceStore, tmp_path: Path) -> None:
    kept, gone = tmp_path / "kept.pdf", tmp_path / "gone.pdf"
    for path in (kept, gone):
        path.write_bytes(b"%PDF")
    page = "https://example.org/a"
    lance.record_skips([], {"/never"})
    assert not (lance.folder / "skipped.json").exists(), "nothing is written for nothing"
    skips = [Skipped(str(gone), "damaged"), Skipped(str(kept), "damaged"), Skipped(page, "too large")]
    lance.record_skips([*skips, Skipped("stdin:x", "empty")], ())
    assert lance.skipped() == sorted(skips, key=lambda item: item.source)
    gone.unlink()
    assert lance.skipped() == [Skipped(str(kept), "damaged"), Skipped(page, "too large")]
    lance.record_skips([Skipped(str(kept), "encrypted")], {page})
    assert lance.skipped() == [Skipped(str(kept), "encrypted")]
    lance.record_skips([], {str(kept)})
    assert lance.skipped() == []


def test_a_record_that_is_damaged_is_an_error_until_it_is_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = SkipRecord(tmp_path)
    (tmp_path / "skipped.json").write_text('["x"')
    with pytest.raises(DamagedKnowledgeBase, match="skipped is damaged"):
        record.sources(SourceRoots())
    monkeypatch.setattr(skip_record, "MAX_KEPT_SKIPS", 3)
    record.update([Skipped(f"https://x/{n}", "no") for n in range(5)], (), SourceRoots())
    assert [item.source for item in record.sources(SourceRoots())] == [f"https://x/{n}" for n in (2, 3, 4)]
