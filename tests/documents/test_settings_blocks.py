"""Files of settings: the lines above their sections are headings, and their first comment is a title."""

from __future__ import annotations

import pytest

from localcrag.documents.extracted import Limits
from localcrag.documents.formats import format_of
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


@pytest.mark.parametrize("text", [TOML, YAML, "a = 1\n", "name: x\nhosts:\n  - a\n", "", "\n# \n[a]"])
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
