"""What every ThreadStore must do: the one in SQLite and the one in memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localcrag.conversations import MAX_NAME_CHARACTERS, SqliteThreads
from localcrag.errors import StoreError, UnknownThread, UsageError
from localcrag.protocols import ThreadStore
from localcrag.types import Turn
from tests.fakes.threads import MemoryThreads

ASKED = Turn("user", "What is the dose?")
ANSWERED = Turn("assistant", "35 mg [1]", '{"status": "answered"}')
NO_NAMES = ["", " ", "a/b", "..", ".hidden", "-x", "a\\b", "C:x", "a\nb", "a\0b", " a",
            "x" * (MAX_NAME_CHARACTERS + 1),
            "\u202egnp", "\ud800"]  # fmt: skip


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ThreadStore:
    return SqliteThreads(tmp_path / "home" / "threads.db") if request.param == "sqlite" else MemoryThreads()


def names(store: ThreadStore) -> list[str]:
    return [thread.name for thread in store.threads()]


def test_at_first_there_is_none(store: ThreadStore) -> None:
    assert store.threads() == []


def test_opening_makes_a_thread_once(store: ThreadStore) -> None:
    before = time.time()
    made = store.open("Garten & Küche, Nr. 7")
    assert (made.name, made.kb, made.filter, made.turns) == ("Garten & Küche, Nr. 7", None, None, 0)
    assert before <= made.created == made.used <= time.time()
    store.append(made.name, [ASKED, ANSWERED])
    again = store.open(made.name)
    assert (again.created, again.turns) == (made.created, 2)
    assert store.threads() == [again]


@pytest.mark.parametrize("name", NO_NAMES)
def test_what_cannot_be_a_name_is_refused_with_a_hint(store: ThreadStore, name: str) -> None:
    with pytest.raises(UsageError, match="cannot name a conversation") as caught:
        store.open(name)
    assert "letters" in caught.value.hint
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200
    assert store.threads() == []


def test_a_thread_that_is_not_there(store: ThreadStore) -> None:
    store.open("another")
    calls: list[Callable[[str], object]] = [
        store.turns,
        lambda name: store.append(name, [ASKED]),
        lambda name: store.set_filter(name, None),
        lambda name: store.set_kb(name, None),
        store.forget,
        store.delete,
    ]
    for name in ("gone", "a/b", "", "\ud800"):
        for call in calls:
            with pytest.raises(UnknownThread, match="there is no conversation"):
                call(name)
    assert names(store) == ["another"]


def test_turns_come_back_in_order_and_apart(store: ThreadStore) -> None:
    store.open("a")
    store.open("b")
    store.append("a", [ASKED, ANSWERED])
    store.append("b", [Turn("user", "Other?")])
    store.append("a", [Turn("user", "And for children?")])
    assert store.turns("a") == [ASKED, ANSWERED, Turn("user", "And for children?")]
    assert store.turns("b") == [Turn("user", "Other?")]


def test_all_turns_are_kept_or_none(store: ThreadStore) -> None:
    store.open("a")
    with pytest.raises(StoreError):
        store.append("a", [ASKED, Turn("system", "not a part of a conversation")])
    assert store.turns("a") == [] and store.open("a").turns == 0


def test_the_thread_used_last_comes_first(store: ThreadStore, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count(1_800_000_000.0)
    monkeypatch.setattr(time, "time", lambda: next(ticks))
    for name in ("a", "b", "c"):
        store.open(name)
    assert names(store) == ["c", "b", "a"]
    store.append("a", [ASKED])
    assert names(store) == ["a", "c", "b"]
    store.set_filter("b", "page = 1")
    assert names(store) == ["b", "a", "c"]


def test_filter_and_knowledge_base_are_kept_and_taken_away(store: ThreadStore) -> None:
    store.open("a")
    store.open("b")
    store.set_filter("a", 'product = "x"')
    store.set_kb("a", "papers")
    assert (store.open("a").filter, store.open("a").kb) == ('product = "x"', "papers")
    assert (store.open("b").filter, store.open("b").kb) == (None, None)
    store.set_filter("a", None)
    assert (store.open("a").filter, store.open("a").kb) == (None, "papers")


def test_forgetting_keeps_the_settings_and_other_threads(store: ThreadStore) -> None:
    for name in ("a", "b"):
        store.open(name)
        store.append(name, [ASKED, ANSWERED])
    store.set_filter("a", "page = 1")
    store.forget("a")
    assert store.turns("a") == []
    assert (store.open("a").filter, store.open("a").turns) == ("page = 1", 0)
    assert store.turns("b") == [ASKED, ANSWERED]


def test_deleting_takes_one_thread_away_with_its_turns(store: ThreadStore) -> None:
    for name in ("a", "b"):
        store.open(name)
        store.append(name, [ASKED])
    store.delete("a")
    assert names(store) == ["b"]
    assert store.open("a").turns == 0 and store.turns("a") == []
    assert store.turns("b") == [ASKED]


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(text=st.text(), record=st.text())
def test_any_text_comes_back(store: ThreadStore, text: str, record: str) -> None:
    store.open("any")
    store.append("any", [Turn("user", text, record)])
    assert store.turns("any")[-1] == Turn("user", text, record)


def test_what_is_not_text_becomes_a_question_mark(store: ThreadStore) -> None:
    store.open("a")
    store.append("a", [Turn("user", "a\udcffb")])
    assert store.turns("a") == [Turn("user", "a?b")]
