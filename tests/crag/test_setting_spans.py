"""Where settings begin and end, and below which section they are judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.strip_display import shown_text
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_context import in_context
from localcrag.documents.settings_blocks import settings_page
from localcrag.types import Block, BlockKind, Passage
from tests.crag.values import passage

SETTINGS = """# Read once at start.
[server]
; Name on the banner page.
display_name = Annex
workers = 6
[paths]
spool = /var/spool/press"""
NESTED = """network:
  # Fixed, because the mast sends to it.
  address: 10.40.7.20
  ports:
    web: 8088
  gateway: 10.40.7.1"""
FUNCTION = """def area(width: float) -> float:
    height = 2
    return width * height"""
TABLE = """RATE = {
    "car": 9,
    "bus": 22,
}"""


def code(text: str) -> Passage:
    return replace(passage(text), blocks=(Block(BlockKind.CODE, 0, len(text)),))


def test_settings_are_cut_with_their_comments_and_judged_below_their_section() -> None:
    assert [in_context(strip) for strip in strips(code(SETTINGS))] == [
        "# Read once at start.\n[server]\n; Name on the banner page.\ndisplay_name = Annex",
        "[server]\nworkers = 6",
        "[paths]\nspool = /var/spool/press",
    ]


def test_what_is_commented_out_is_a_setting_of_its_own() -> None:
    text = "#KillUsers=no\n#KillOnly=\n# Seconds, at most.\n#DelayMaxSec=5\n#\n# Who may log in?\nallow=ada"
    assert [strip.text for strip in strips(code(text))] == [
        "#KillUsers=no",
        "#KillOnly=",
        "# Seconds, at most.\n#DelayMaxSec=5",
        "# Who may log in?\nallow=ada",
    ]


def test_what_is_commented_out_above_what_is_set_is_shown_with_it() -> None:
    text = '# Where files lie.\n#export HOME_DIR="/opt"\nexport HOME_DIR=~/.docs\n\n#size=3\nsizes=4\nsizes=5'
    assert [strip.text for strip in strips(code(text))] == [
        '# Where files lie.\n#export HOME_DIR="/opt"\nexport HOME_DIR=~/.docs',
        "#size=3",
        "sizes=4",
        "sizes=5",
    ]


def test_what_stands_further_in_belongs_to_its_setting() -> None:
    assert [in_context(strip) for strip in strips(code(NESTED))] == [
        "network:\n  # Fixed, because the mast sends to it.\n  address: 10.40.7.20",
        "network:\n  ports:\n    web: 8088",
        "network:\n  gateway: 10.40.7.1",
    ]


def test_a_record_of_settings_is_understood_as_a_whole() -> None:
    records = '[[sensors]]\nname = "north bed"\nchanged = 2025-02-11'
    more = '# the new one\n[[sensors]]  # two\nname = "seed table"\nchanged = 2024-11-30'
    assert [strip.text for strip in strips(code(f"{records}\n\n{more}"))] == [records, more]
    assert [strip.text for strip in strips(code(f"{records}\n{records}"))] == [records, records]


@pytest.mark.parametrize("text", [FUNCTION, TABLE, "workers = 6"])
def test_other_code_stays_whole(text: str) -> None:
    assert [strip.text for strip in strips(code(text))] == [text]


OPTIONS = """usage: ferry [options]
  -n, --name=NAME        the name of the boat
  --fast                 take the short way,
                         even at low tide
  -h, -?                 show this help
  --port PORT, -p PORT   the harbour"""


def test_the_options_that_a_program_lists_stand_apart_with_the_lines_that_go_on() -> None:
    assert [strip.text for strip in strips(code(OPTIONS))] == [
        "usage: ferry [options]",
        "-n, --name=NAME        the name of the boat",
        "--fast                 take the short way,\n                         even at low tide",
        "-h, -?                 show this help",
        "--port PORT, -p PORT   the harbour",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "$ ferry --fast  now\n$ ferry -n  Ann\n$ ferry -h  me",
        "-1  one\n-2  two",
        "-a  first\n-b  second\n-c  third\nand then more",
        "--- old\n+++ new\n- left  out\n- gone  too\n- never  there",
    ],
)
def test_what_only_looks_like_options_stays_whole(text: str) -> None:
    assert [strip.text for strip in strips(code(text))] == [text]


def test_the_end_of_a_docstring_is_not_shown_without_its_beginning() -> None:
    text = '"""Renew the tokens.\n\nIt runs on Mondays,\nat half past five.\n"""'
    assert [shown_text(strip) for strip in strips(code(text))][
        -1
    ] == "It runs on Mondays,\nat half past five."
    assert shown_text(strips(code('"""Runs\non Mondays.\n"""'))[0]) == '"""Runs\non Mondays.\n"""'


def test_a_setting_is_shown_below_its_section() -> None:
    page = settings_page("[spool]\nmax = 60\nfsync = no\n")
    shown = [shown_text(strip) for strip in strips(replace(passage(page.text), blocks=page.blocks))]
    assert shown == ["[spool]\nmax = 60", "[spool]\nfsync = no"]


def test_a_setting_in_yaml_is_judged_and_shown_below_the_keys_above_it() -> None:
    page = settings_page(
        "groups:\n- name: disks\n  rules:\n  - alert: Full\n    for: 10m\n  - alert: Hot\n    for: 1m"
    )
    full, hot = strips(replace(passage(page.text), blocks=page.blocks))
    assert shown_text(hot) == "[groups > disks > rules]\n  - alert: Hot\n    for: 1m"
    assert in_context(full) == "groups: > - name: disks > rules:\n  - alert: Full\n    for: 10m"


DIRECTIVES = """# The harbour master reads this file at night, and
# nobody else does.

# If the tide tables are kept up to date, they say
# when the locks open.

! tides /usr/share/tides

# The lamp is lit at dusk, unless it is broken.
#lamp on
lamp dusk
# Ring the bell when a boat comes in.
bell 2 times"""


def test_a_directive_is_one_strip_with_the_comment_that_explains_it() -> None:
    found = [shown_text(strip) for strip in strips(code(DIRECTIVES))]
    assert found == [
        "The harbour master reads this file at night, and nobody else does.",
        "If the tide tables are kept up to date, they say when the locks open.\n! tides /usr/share/tides",
        "# The lamp is lit at dusk, unless it is broken.\n#lamp on\nlamp dusk",
        "# Ring the bell when a boat comes in.\nbell 2 times",
    ]


def test_a_comment_at_the_beginning_of_a_passage_explains_a_setting_unless_it_begins_the_file() -> None:
    text = "# These words say what it does.\n\n! lamp dusk"
    block = Block(BlockKind.CODE, 50, 50 + len(text))
    later = replace(passage(text, start=50), blocks=(block,))
    assert [strip.text for strip in strips(later)] == [text]
    assert len(strips(code(text))) == 2


def test_a_comment_above_other_comments_or_a_long_piece_stays_alone() -> None:
    first, remark = "a = 1", "# These words are about the whole file."
    for below in ("# More words about it.\nb = 2", "[part]\nb = 2", "\n".join(f"word{i}" for i in range(9))):
        assert remark in [strip.text for strip in strips(code(f"{first}\n\n{remark}\n\n{below}"))]
    assert strips(code(f"{first}\n\n{remark}\n\nb = 2"))[-1].text == f"{remark}\n\nb = 2"
