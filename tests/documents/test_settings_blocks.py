"""Files of settings: the lines above their sections are headings, and their first comment is a title."""

from __future__ import annotations

import pytest

from localcrag.documents.extracted import Limits
from localcrag.documents.formats import DocumentFormat, format_of
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
    assert not rows(deeper)


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
        TONGUES.replace("name: B", "name: B  # by hand"),
        TONGUES.replace("b:", "# by hand\nb:"),
        TONGUES.replace("name: B", "name: >\n    long"),
        TONGUES.replace("name: B", "name: B\n    goes on"),
        "top:\n  inner:\n" + "".join(f"    {line}\n" for line in TONGUES.splitlines()),
        "".join(f"{key}:\n  {key}1: x\n  {key}2: y\n" for key in "abcd"),
    ],
)
def test_settings_that_are_no_records_keep_their_lines(text: str) -> None:
    assert (rows(text), settings_page(text).text) == ([], text)
