"""Names of fields and settings in words."""

from __future__ import annotations

import pytest

from localcrag.crag.refinement.readable_names import in_words, without_prefix


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_body_mb = 25", "max body mb = 25"),
        ("  - name: test\n    timeoutMinutes: 45", "  - name: test\n    timeout Minutes: 45"),
        ("export MAX_SIZE=3", "export MAX SIZE=3"),
        ("#KillUserProcesses=no\n//max_rate = 3", "Kill User Processes=no\nmax rate = 3"),
        ("items.name: Horn\nitems.on_loan_to: Ann", "name: Horn\non loan to: Ann"),
        ("items.name: Horn\nshelf.place: 4", "items name: Horn\nshelf place: 4"),
        ("Fee (€) / guests: 3 · unit_price: a_b: c_d", "Fee (€) / guests: 3 · unit price: a_b: c_d"),
        (
            "FAOcode: 170 · UNregion: South · DNScoding: no",
            "FAO code: 170 · UN region: South · DNScoding: no",
        ),
        ("def f(a_b): return a_b", "def f(a_b): return a_b"),
        ("# keep_this\n_x: 1", "# keep_this\n_x: 1"),
    ],
)
def test_names_are_parted_and_values_stay(text: str, words: str) -> None:
    assert in_words(text) == words


def test_only_a_path_that_all_names_have_goes() -> None:
    assert without_prefix("a.b.c: 1\na.b.d: 2") == "c: 1\nd: 2"
    assert without_prefix("a.c: 1 · b.d: 2") == "a.c: 1 · b.d: 2"
    assert without_prefix("a.c: 1") == "a.c: 1"
