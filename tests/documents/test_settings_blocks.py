"""Files of settings: the lines above their sections are headings, and their first comment is a title."""

from __future__ import annotations

import pytest

from localcrag.documents.extracted import Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import parse
from localcrag.documents.settings_blocks import settings_page, settings_title
from localcrag.types import BlockKind

TOML = """# /etc/relay.toml on tern

[server]
ports = [
  [80],
  [443]
]
[queue.test]  # may be lost
ttl = "2h"
[[sensors]]
name = "north"
"""
YAML = """defaults:
  interval: 30s
  hosts:
    - tern
groups:
- name: disks
  rules:
    - alert: Full  # see RB-7
      for: 10m
- name: room
  run: |
    check:
      now: 1
  rules:
    - alert: Warm
      for: 1m
"""


HARBOUR = """##########################
# Copy it to /etc/harbour.
##########################
### THE LOCKS
# They open with the tide, and
# close with it.

lock 3

# ------------------------
# The lamps of the quay
# ------------------------
# Lit at dusk.
lamp on
"""


def headings(text: str) -> list[tuple[int, str]]:
    page = settings_page(text)
    return [
        (block.level, page.text[block.start : block.end])
        for block in page.blocks
        if block.kind is BlockKind.HEADING
    ]


def test_lines_in_brackets_are_headings_but_for_records_and_lists() -> None:
    assert headings(TOML) == [(1, "[server]"), (1, "[queue.test]  # may be lost")]


def test_keys_with_further_keys_inside_are_headings_and_so_are_the_items_around_them() -> None:
    assert headings(YAML) == [
        (1, "defaults:"),
        (1, "groups:"),
        (2, "- name: disks"),
        (3, "rules:"),
        (2, "- name: room"),
        (3, "rules:"),
    ]


@pytest.mark.parametrize(
    "text", [TOML, YAML, "a = 1\n", "name: x\nhosts:\n  - a\n", "", "\n# \n[a]", HARBOUR]
)
def test_the_text_stays_as_it_is_and_all_of_it_is_in_blocks(text: str) -> None:
    page = settings_page(text)
    kept = "".join(page.text[block.start : block.end] for block in page.blocks)
    assert page.text == text
    assert "".join(kept.split()) == "".join(text.split())


def test_the_first_comment_is_the_title() -> None:
    assert settings_title(TOML) == "/etc/relay.toml on tern"
    assert settings_title("; /etc/relay.ini on tern\n[a]\n") == "/etc/relay.ini on tern"
    assert (
        settings_title("#!/bin/relay -f\n") == settings_title("a = 1\n# b c\n") == settings_title("#\n") == ""
    )
    data = TOML.encode()
    assert parse(format_of("relay.toml", data), data, Limits()).title == "/etc/relay.toml on tern"


def test_a_file_of_many_comments_is_one_of_settings_and_titles_in_comments_are_headings() -> None:
    assert format_of("harbour.conf.example3", HARBOUR.encode()) is DocumentFormat.SETTINGS
    assert headings(HARBOUR) == [(1, "THE LOCKS"), (1, "The lamps of the quay")]
    prose = "# A title\nThe lamps are lit at dusk.\nThey are not lit at dawn.\n# Another\nThat is all.\n" * 3
    assert format_of("README", prose.encode()) is DocumentFormat.TEXT


PORTS = """# The harbours
ports:
  - id: nor
    name: "North quay"
    depth: 4.5

  - id: sou
    name: South quay
  - id: eas
    name: East quay
    depth: 3
"""
TONGUES = "".join(f"{key}:\n  name: {name}\n" for key, name in zip("abcd", ("A", "B", "C", "D"), strict=True))


def rows(text: str) -> list[str]:
    page = settings_page(text)
    return [page.text[block.start : block.end] for block in page.blocks if block.kind is BlockKind.ROW]


def test_records_that_are_alike_are_rows_with_what_they_are_known_by() -> None:
    assert headings(PORTS) == [(1, "ports:")]
    assert rows(PORTS) == [
        "id: nor\nname: North quay\ndepth: 4.5",
        "id: sou\nname: South quay",
        "id: eas\nname: East quay\ndepth: 3",
    ]
    assert rows(TONGUES) == [f"key: {key}\nname: {name}" for key, name in zip("abcd", "ABCD", strict=True)]
    assert rows(TONGUES.replace("name", "tongue"))[0] == "name: a\ntongue: A"


BOOKINGS = """\
month: 5
bookings:
  - {date: 2026-05-05, time: 09:00, vessel: Tern, slings: [6, 18]}
  - {date: 2026-05-06, time: 13:00, vessel: "Blue: Peggy", slings: []}  # too late!
refused:
  - {vessel: Duo, why: too wide}
berths:
  N1: {name: North, depth: 4}
  N2: {name: South, depth: 3}
"""
CHECKS = """\
[paging]
minutes = 10

[[check]]
name = "Room # A"
warn = 26.0
tell = ["pharmacy", "person on call"]

[[check]]
name = "Room B"
warn = 27.0

[[check]]
name = 'links'
page = true
"""


def test_fields_inside_a_field_of_an_item_are_named_after_both() -> None:
    bots = (
        "- name: Plesk\n  kind: Monitor\n  producer:\n    name: WebPros\n    url: https://a.example\n\n"
        "- name: Bing\n  kind: Crawler\n  producer:\n    name: 'Microsoft'\n    url: https://b.example\n\n"
        "- name: Lone\n  kind: Crawler\n"
    )
    assert rows(bots) == [
        "name: Plesk\nkind: Monitor\nproducer.name: WebPros\nproducer.url: https://a.example",
        "name: Bing\nkind: Crawler\nproducer.name: Microsoft\nproducer.url: https://b.example",
        "name: Lone\nkind: Crawler",
    ]
    deeper = bots.replace("    url: https://a.example", "    url:\n      main: https://a.example")
    assert rows(deeper)[0].endswith("\nproducer.url.main: https://a.example")


ALBUMS = """\
- title: Lamps
  year: 2024
  format: Tape
  sung: true
  tracks:
    - {number: 1, title: Quay}
    - {number: 2, title: Lock}
- title: Ferries
  year: 2025
  format: Disc
  sung: false
  moods: [calm, "cold: wet"]
  note: >
    Sold at the quay,
    and nowhere else.
# out of print
- title: Nets
  year: 2026
  format: Tape  # a few
  tracks:
    - number: 1
      title: Mesh
"""


def test_all_records_of_a_list_are_rows_though_some_have_lists_and_remarks() -> None:
    assert rows(ALBUMS) == [
        "title: Lamps\nyear: 2024\nformat: Tape\nsung: true",
        "title: Lamps\ntracks.number: 1\ntracks.title: Quay",
        "title: Lamps\ntracks.number: 2\ntracks.title: Lock",
        "title: Ferries\nyear: 2025\nformat: Disc\nsung: false\nmoods: calm, cold: wet\n"
        "note: Sold at the quay, and nowhere else.",
        "title: Nets\nyear: 2026\nformat: Tape\ntracks.number: 1\ntracks.title: Mesh\n"
        "remark: out of print a few",
    ]
    renamed = ALBUMS.replace("- title: Nets", "- name: Nets")
    assert not any("year" in row for row in rows(renamed)), "all of a list, or none"
    remarked = ALBUMS.replace("- title: Nets", "# one\n# two\n- title: Nets")
    assert not any("year" in row for row in rows(remarked)), "settings that are explained"
    assert rows("first:\n  other: {x: 1}\n" + TONGUES) == rows(TONGUES), "a key beside them is none of them"


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, TONGUES.replace("name: A", "name: &a A\n  x: *a")],
)
def test_what_is_nested_deeply_or_may_be_far_larger_than_it_looks_is_no_record(text: str) -> None:
    assert rows(text) == []


def test_records_in_braces_and_the_tables_of_an_array_are_rows() -> None:
    assert rows(BOOKINGS) == [
        "date: 2026-05-05\ntime: 09:00\nvessel: Tern\nslings: 6, 18",
        "date: 2026-05-06\ntime: 13:00\nvessel: Blue: Peggy\nslings: \nremark: too late!",
        "key: N1\nname: North\ndepth: 4",
        "key: N2\nname: South\ndepth: 3",
    ]
    assert "- {vessel: Duo, why: too wide}" in settings_page(BOOKINGS).text
    assert rows(CHECKS) == [
        "name: Room # A\nwarn: 26.0\ntell: pharmacy, person on call",
        "name: Room B\nwarn: 27.0",
        "name: links\npage: true",
    ]
    assert headings(CHECKS) == [(1, "[paging]"), (1, "[[check]]")]


@pytest.mark.parametrize(
    "text",
    [
        "closed:\n" + 2 * "  - {day: 4, why: {holiday: bank}}\n",
        CHECKS.replace("27.0", "27.0  # too warm"),
        CHECKS.replace("warn = 27.0", "# by hand"),
        CHECKS.replace("page = true", "inner = {a = 1, b = 2}"),
        TONGUES.replace("d:\n  name: D\n", ""),
        TONGUES.replace("name: B", "name: !secret B"),
        TONGUES.replace("name: B", "name: B\n  name: C"),
        TONGUES.replace("name: B", "name: {{ B }}\n  {% else %}"),
        "top:\n  inner:\n" + "".join(f"    {line}\n" for line in TONGUES.splitlines()),
        "".join(f"{key}:\n  {key}1: x\n  {key}2: y\n" for key in "abcd"),
    ],
)
def test_settings_that_are_no_records_keep_their_lines(text: str) -> None:
    assert (rows(text), settings_page(text).text) == ([], text)


def test_numbers_below_names_are_rows_and_settings_are_none() -> None:
    plants = [f"{kind} plant: {years}" for years, kind in enumerate("ABCDEFGHIJ", 20)]
    text = "# service life\n# in years\n---\n" + "\n".join([*plants[:5], "# of these less", *plants[5:]])
    assert rows(text)[:2] == ["name: A plant\nvalue: 20", "name: B plant\nvalue: 21"]
    assert rows(text)[5] == "name: F plant\nvalue: 25\nremark: of these less"
    assert len(rows(text)) == 10
    assert rows(text.lower().replace(" plant", "_plant")) == []
    assert rows("\n".join(f"# how long\n{line}" for line in plants)) == []
    assert rows(text.replace("20", "no")) == []


def test_records_whose_only_field_is_a_value_are_rows_as_any_others() -> None:
    assert rows("".join(f"{name}:\n  value: {name}{name}\n" for name in "abcd")) == [
        f"name: {name}\nvalue: {name}{name}" for name in "abcd"
    ]


def test_what_stands_below_days_is_a_row_however_deep_it_stands() -> None:
    days = "".join(
        f"      0{month}-01:\n        name:\n          en: Feast {month}\n" for month in range(1, 5)
    )
    found = rows(f"holidays:\n  GE:\n    days:\n{days}")
    assert found[0] == "key: 01-01\nname.en: Feast 1" and len(found) == 4
    assert rows(f"holidays:\n  GE:\n    days:\n{days}".replace("0", "x")) == []
