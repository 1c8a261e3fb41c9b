"""The filter language: what parses, what does not and why, and that the index reads it the same way."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localcrag.errors import FilterError
from localcrag.filters import (
    BUILT_IN,
    And,
    Comparison,
    FieldType,
    Filter,
    Membership,
    Not,
    Operator,
    Or,
    check,
    is_key,
    matches,
    parse,
    relaxations,
    spelled,
)
from localcrag.store import sql
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.types import FieldValue, Meta, Passage
from tests.store.conftest import EMBEDDER, item


def passage(page: int | None = None, title: str = "", **meta: FieldValue) -> Passage:
    return Passage("id", "hash", "/a/b.txt", title, "", page, 0, 1, "t", 0, meta)


def test_the_tree() -> None:
    assert parse("""key = "va""lue" and page < 10 or NOT ( a-b in ('x''y', -1.5e2 , true) )""") == Or(
        (
            And(
                (Comparison("key", Operator.EQUAL, 'va"lue'), Comparison("page", Operator.LESS, 10)),
            ),
            Not(Membership("a-b", ("x'y", -150.0, True))),
        )
    )
    assert parse("a not in (1)") == Not(Membership("a", (1,)))


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("", 1, "a field name"),
        ("page <", 7, "a value"),
        ("page < ten", 8, "a value"),
        ("page ~ 3", 6, "no meaning"),
        ("page 3", 6, "a comparison"),
        ("page < 3 title = 'x'", 10, "`and`, `or`, or the end"),
        ("(page < 3", 10, "`)`"),
        ("page in 3", 9, "`(`"),
        ("page in ()", 10, "a value"),
        ("page not 3", 10, "`in`"),
        ("title = 'x", 9, "never closed"),
        ("title contains 3", 16, "a string after contains"),
        ("page < 1e999", 8, "too large"),
        ("due > 2024-02-31", 7, "no day 2024-02-31"),
        ("and = 3", 1, "a field name"),
        ("title = 'x'; DROP TABLE passages", 12, "no meaning"),
    ],
)
def test_an_error_names_the_column_and_what_was_expected(text: str, column: int, expected: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    assert str(caught.value).startswith(f"column {column}: ")
    assert expected in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "text",
    ["(" * 5000 + "page = 1" + ")" * 5000, "not " * 5000 + "page = 1", " or ".join(["page = 1"] * 5000)],
)
def test_a_monstrous_filter_is_an_error_not_a_crash(text: str) -> None:
    with pytest.raises(FilterError, match=r"nested deeper|more than 100 comparisons"):
        parse(text)


@given(st.text(max_size=60))
def test_any_text_parses_or_is_a_filter_error(text: str) -> None:
    try:
        parse(text)
    except FilterError as error:
        assert "\n" not in repr(text) or str(error).startswith("column ")


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("page < 10", True),
        ("page >= 3 and page <= 3", True),
        ("page = 3.0", True),
        ("page != 3", False),
        ('team = "X"', False),
        ('team in ("y", "x")', True),
        ('title contains "port" and title startswith "Re"', True),
        ("final = true", True),
        ("year < 3", False),
        ("year >= 3", False),
        ("year != 3", True),
        ("not year = 3", True),
        ("not (year < 3 or page = 3)", False),
        ('source = "/a/b.txt"', True),
        ('tags = "travel" and tags contains "tor" and tags startswith "mo"', True),
        ('tags = "tor" or tags < "z" or tags != "travel"', False),
        ('tags in ("x", "motor") and tags not in ("x")', True),
        ("due > 2024-06-01 and due < 2024-06-03 and due = 2024-06-02", True),
        ("due >= 2024-6-2 and due <= 2024-06-02 and due in (2024-06-02)", True),
        ("due != 2024-06-02 or due < 2024-06-02 or due > 2024-06-02", False),
        ('due >= "2024-06-02T09"', True),
        ("team > 1999-01-01 or team < 1999-01-01", False),
    ],
)
def test_the_meaning(text: str, passes: bool) -> None:
    fields: dict[str, FieldValue] = {
        "team": "x",
        "final": True,
        "tags": ("travel", "motor"),
        "due": "2024-06-02T10:00",
    }
    assert matches(parse(text), passage(page=3, title="Report", **fields)) is passes


FIELDS = {
    **BUILT_IN,
    "team": frozenset({FieldType.TEXT}),
    "year": frozenset({FieldType.NUMBER}),
    "final": frozenset({FieldType.BOOLEAN}),
    "tags": frozenset({FieldType.LIST}),
    "version": frozenset({FieldType.TEXT, FieldType.NUMBER}),
}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('page = "3"', "'page' is a number, and '3' is text"),
        ("team = 3", "'team' is text, and 3 is a number"),
        ("final = 1", "'final' is true or false, and 1 is a number"),
        ("final < true", "'final' is true or false, which has no <"),
        ('year contains "2"', "'year' is a number, and '2' is text"),
        ("page in (1, true)", "'page' is a number, and true is true or false"),
        ("Page = 3", "no field 'Page'"),
        ("year > 2024-06-01", "'year' is a number, and 2024-06-01 is a date"),
        ("tags = 3", "'tags' is a list of texts, and 3 is a number"),
        ('tags < "m"', "'tags' is a list of texts, which has no <"),
        ("version = true", "'version' is text or a number, and true is true or false"),
    ],
)
def test_types_are_checked_and_both_are_named(text: str, said: str) -> None:
    with pytest.raises(FilterError, match=r"^column 1: ") as caught:
        check(parse(text), FIELDS)
    assert said in str(caught.value)
    assert caught.value.hint


def test_keys_that_a_filter_can_speak_of() -> None:
    assert all(map(is_key, ("team", "a-b", "_x", "Page", "k2")))
    assert not any(map(is_key, ("page", "and", "NOT", "2k", "a b", "a.b", "", "ä", "a`b")))


def test_parsing_imports_nothing_heavy() -> None:
    code = "import sys, localcrag.filters as _; print({'lancedb', 'numpy', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


# ------------------------------------------------------------------------------ the index agrees

TEXTS = [
    "",
    "x",
    "X",
    "it's",
    'say "x"',
    "back\\slash",
    "100%_",
    "Ünï漢字",
    "a`b",
    "line\nbreak",
    "nul\0",
    "'; --",
    "x y",
]
NUMBERS = [0, 1, -1, 3, 2.5, 1e10, -1e-7, 2**31, 2**53 + 1, 1e300]


def both(text: str, number: float) -> Meta:
    return {"team": text, "Team": "x", "year": number}


METAS: list[Meta] = [
    {},
    *({"team": text} for text in TEXTS),
    *({"year": number, "final": number > 1} for number in NUMBERS),
    *(both(text, number) for text, number in product(TEXTS[:3], NUMBERS[:3])),
    *(
        {"due": day}
        for day in ("2024-06-01", "2024-06-02T10:00", "2024-06-02 x", "2024-06-02x", "soon", 2024)
    ),
    *({"tags": tags} for tags in (("x",), ("X", "it's"), ("x y", "y"), ("2024-06-02",))),
    {"tags": "x", "team": ("x", "100%_"), "year": "1", "final": "true"},
    {"tags": 3, "due": ("2024-06-01", "x"), "year": False},
]


@pytest.fixture(scope="module")
def filled() -> Iterator[LanceStore]:
    with TemporaryDirectory() as home:
        store = KnowledgeBases(Path(home)).create("kb", EMBEDDER.name, EMBEDDER.dimension)
        store.replace(
            [
                item(
                    f"/{n % 7}/{n}",
                    "one",
                    "two",
                    "three",
                    meta=meta,
                    paged=n % 2 == 0,
                    heading=TEXTS[n % len(TEXTS)],
                )
                for n, meta in enumerate(METAS)
            ]
        )
        yield store


texts = st.sampled_from(TEXTS) | st.text(max_size=5).filter(lambda text: text.isprintable())
numbers = st.sampled_from(NUMBERS) | st.integers(-5, 5) | st.floats(allow_nan=False, allow_infinity=False)
days = st.sampled_from([date(2024, 6, day) for day in (1, 2, 3)]) | st.just(date(9999, 12, 31))
ordered = st.sampled_from([how for how in Operator if how not in (Operator.CONTAINS, Operator.STARTS_WITH)])
text_fields, number_fields = (
    st.sampled_from(["team", "Team", "heading", "source", "title"]),
    st.sampled_from(["page", "year"]),
)
equal = st.sampled_from([Operator.EQUAL, Operator.UNEQUAL])
listed = st.sampled_from([Operator.CONTAINS, Operator.STARTS_WITH, Operator.EQUAL, Operator.UNEQUAL])
leaves = st.one_of(
    st.builds(Comparison, text_fields, st.sampled_from(Operator), texts),
    st.builds(Comparison, number_fields, ordered, numbers),
    st.builds(
        Comparison, st.just("final"), st.sampled_from([Operator.EQUAL, Operator.UNEQUAL]), st.booleans()
    ),
    st.builds(Comparison, st.just("tags"), listed, texts),
    st.builds(Comparison, st.just("due"), ordered, days | texts),
    st.builds(Comparison, st.sampled_from(["year", "due", "tags"]), equal, days.map(str) | numbers),
    st.builds(
        Membership, st.just("due"), st.lists(days | texts | numbers, min_size=1, max_size=3).map(tuple)
    ),
    st.builds(Membership, text_fields, st.lists(texts, min_size=1, max_size=3).map(tuple)),
    st.builds(Membership, number_fields, st.lists(numbers, min_size=1, max_size=3).map(tuple)),
)
trees = st.recursive(
    leaves,
    lambda part: st.one_of(
        st.builds(Not, part),
        st.builds(And, st.lists(part, min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(part, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(filter=trees)
def test_the_index_reads_a_filter_as_it_is_meant(filled: LanceStore, filter: Filter) -> None:
    vector = EMBEDDER.encode(["one"])[0]
    everything = [hit.passage for hit in filled.search("one", vector, k=200)]
    assert len(everything) == 3 * len(METAS)
    found = {hit.passage.id for hit in filled.search("one", vector, k=200, filter=filter)}
    assert found == {passage.id for passage in everything if matches(filter, passage)}


@given(st.text())
def test_text_becomes_a_literal_that_cannot_end_early(text: str) -> None:
    inner = sql.literal(text)[1:-1]
    assert inner.replace("''", "'") == text
    assert "'" not in inner.replace("''", "")


def test_a_column_name_cannot_end_early() -> None:
    with pytest.raises(ValueError, match="column name"):
        sql.name("a` OR 1=1 --")


# ------------------------------------------------------------------------------ written again, and relaxed


@pytest.mark.parametrize(
    "text",
    [
        'team = "x"',
        'team = "it""s" and page < 10 and not final = true',
        'a = 1 or b = "x" and (c = 2 or d in (1, 2.5, "y"))',
        '(a = 1 and b = 2) and c not in ("x")',
        "not (a = 1 or not not b = 2)",
        "year >= -1.5e+300 and year != 123456789012345",
        "due > 2024-06-01 and due in (2024-06-02)",
    ],
)
def test_a_filter_is_spelled_as_it_was_written(text: str) -> None:
    assert spelled(parse(text)) == text


@given(trees)
def test_what_is_spelled_parses_to_the_same_filter(filter: Filter) -> None:
    once = parse(spelled(filter))  # whole numbers of 16 digits and more become floats here
    assert parse(spelled(once)) == once
    for one in (passage(page=3, team="x"), passage(title="x", year=2.5, final=True), passage()):
        assert matches(once, one) is matches(filter, one)


@pytest.mark.parametrize(
    ("text", "relaxed"),
    [
        ("a = 1", [None]),
        ("a = 1 or b = 2", [None]),
        ("a = 1 and b = 2", ["b = 2", "a = 1", None]),
        ("a = 1 and (b = 2 and c = 3)", ["b = 2 and c = 3", "a = 1 and c = 3", "a = 1 and b = 2", None]),
        ("a = 1 and (b = 2 or c = 3)", ["b = 2 or c = 3", "a = 1", None]),
        ("a = 1 and a = 1", [None]),
    ],
)
def test_a_filter_is_relaxed_one_condition_at_a_time(text: str, relaxed: list[str | None]) -> None:
    assert [item and spelled(item) for item in relaxations(parse(text))] == relaxed


@given(trees, st.sampled_from(METAS), st.none() | st.integers(0, 4))
def test_whatever_passes_a_filter_passes_what_it_is_relaxed_to(
    filter: Filter, meta: Meta, page: int | None
) -> None:
    relaxed = relaxations(filter)
    assert relaxed[-1] is None and None not in relaxed[:-1]
    assert filter not in relaxed and len(set(relaxed)) == len(relaxed)
    one = passage(page, "x", **meta)
    if matches(filter, one):
        assert all(matches(wider, one) for wider in relaxed if wider is not None)
