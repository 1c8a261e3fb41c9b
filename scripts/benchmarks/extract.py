"""What `localcrag extract` finds in labelled documents: fields right, wrong, and left null.

Short documents of eight kinds (invoices, minutes, repair reports, medicine leaflets, job advertisements,
letters, curricula vitae, data sheets), in lines with labels, in tables and in prose, and a schema for each
kind; some of the fields no document gives. The rules and thresholds were made with those numbered 01 to 05.
The words of forms and the layout of letters were added for what was left null in 01 to 07. Those numbered 08
and 09, with three kinds of their own, were written before that and kept aside: of them only the four values
that were wrong were looked at, and three general causes mended. Theirs are the figures to go by.
``--set model=yes`` lets the language model of the settings choose where no rule does, ``--set show=yes``
prints what is not right.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.report import Figure, Report, Room
from localcrag import KnowledgeBase
from localcrag import open as open_kb
from localcrag.settings import load
from localcrag.types import JsonValue

MATERIAL = Path(__file__).with_name("extraction")
FRESH = ("08", "09")
"""The numbers of the documents that the rules were not made with."""
OUTCOMES = {
    "right": "right",
    "wrong": "wrong",
    "null": "null, though the document says it",
    "empty": "null, and the document does not say it",
}


def measure(room: Room) -> Report:
    settings = {"OFFLINE": "1", "LOOP_MODEL_FIELDS": "1" if room.options.get("model") else "0"}
    home = room.scratch / "home"
    environ = {f"LOCALCRAG_{name}": value for name, value in settings.items()}
    base = open_kb("extract", home=home, settings=load(home=home, environ=environ))
    expected = json.loads((MATERIAL / "expected.json").read_text("utf-8"))
    counted: Counter[tuple[bool, str]] = Counter()
    for kind in sorted({name.split("/")[0] for name in expected}):
        names = [name for name in sorted(expected) if name.startswith(f"{kind}/")]
        names = names[:1] if room.quick else names
        for name, found in extracted(base, kind, names):
            for field, wanted in expected[name].items():
                result = outcome(wanted, found.get(field))
                counted[name.split("/")[1].startswith(FRESH), result] += 1
                if result in ("wrong", "null") and room.options.get("show"):
                    print(f"bench: extract: {result}: {name} {field}: {found.get(field)!r}, not {wanted!r}")
    return Report(tuple(figures(counted)))


def extracted(
    base: KnowledgeBase, kind: str, names: list[str]
) -> Iterator[tuple[str, Mapping[str, JsonValue]]]:
    """The value of each document of a kind, by its name."""
    schema = (MATERIAL / f"{kind}.schema.json").read_text("utf-8")
    by_source = {str((MATERIAL / name).resolve()): name for name in names}
    for record in base.extract(schema, list(by_source)):
        assert isinstance(record.value, dict)
        yield by_source[record.source], record.value


def outcome(wanted: object, found: JsonValue) -> str:
    """How a value compares with the one of the labels; a text may have several right spellings."""
    is_list_of_texts = isinstance(found, list)
    if found is None or found == []:
        return "empty" if wanted in (None, []) else "null"
    if is_list_of_texts or not isinstance(wanted, list):
        return "right" if found == wanted and isinstance(found, bool) == isinstance(wanted, bool) else "wrong"
    return "right" if found in wanted else "wrong"


def figures(counted: Mapping[tuple[bool, str], int]) -> Iterator[Figure]:
    for fresh, which in (
        (False, "documents the rules were made with"),
        (True, "documents kept aside"),
    ):
        for name, words in OUTCOMES.items():
            wanted = "0" if name == "wrong" else ""
            yield Figure(f"{which}: {words}", counted[fresh, name], "fields", wanted)
