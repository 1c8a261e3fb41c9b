"""The objects of lists inside the records of a JSON file are blocks below what names the record."""

from __future__ import annotations

import json

from localcrag.documents.extracted import Limits
from localcrag.documents.readers.csv_rows import read_rows
from localcrag.documents.readers.json_records import read_json, read_json_lines

MESSAGES = [
    {"user": "kofi", "text": "The export failed."},
    {"user": "ines", "text": "I deleted the old files."},
]
ROWS = [
    "messages.user: kofi\nmessages.text: The export failed.",
    "messages.user: ines\nmessages.text: I deleted the old files.",
]


def told(value: object) -> list[str]:
    page = read_json(json.dumps(value), Limits())
    assert page is not None
    return [page.text[block.start : block.end] for block in page.blocks]


def test_each_object_of_a_list_in_a_record_stands_below_its_name() -> None:
    assert told([{"channel": "ops", "messages": MESSAGES}]) == [f"channel: ops\n{row}" for row in ROWS]
    record = {"id": 7, "topic": "disk", "title": "Full", "messages": MESSAGES}
    assert told([record]) == [
        "id: 7\ntopic: disk\ntitle: Full",
        *(f"id: 7\ntitle: Full\n{row}" for row in ROWS),
    ]


def test_lists_in_lists_have_the_names_of_all_records_around_them() -> None:
    channel = {"name": "ops", "threads": [{"day": "Monday", "replies": MESSAGES}]}
    first, second = (row.replace("messages", "threads.replies") for row in ROWS)
    assert told([channel]) == [
        f"name: ops\nthreads.day: Monday\n{first}",
        f"name: ops\nthreads.day: Monday\n{second}",
    ]


def test_a_list_inside_the_objects_of_an_answer_is_told_apart() -> None:
    first, second = (row.replace("messages", "data.items") for row in ROWS)
    assert told({"ok": True, "data": {"items": MESSAGES}}) == ["ok: true", first, second]


def test_a_record_that_is_mostly_its_own_fields_is_one_block() -> None:
    book = {"name": "Hives", "about": "Where to put a hive, and how to treat it.", "authors": [{"n": "A"}]}
    assert told([book]) == ["name: Hives\nabout: Where to put a hive, and how to treat it.\nauthors.n: A"]


def test_a_long_record_is_not_cut_within_its_lists() -> None:
    about = "Where it is. " * 70
    court = {"name": "Cambridge", "phone": "2715", "staff": [{"who": "Ann", "phone": "2764"}], "about": about}
    assert told([court, court])[:2] == [
        f"name: Cambridge\nphone: 2715\nabout: {about.strip()}",
        "name: Cambridge\nstaff.who: Ann\nstaff.phone: 2764",
    ]


def test_a_line_of_json_lines_is_such_a_record() -> None:
    page = read_json_lines(json.dumps({"channel": "ops", "messages": MESSAGES}), Limits())
    assert [page.text[block.start : block.end] for block in page.blocks] == [
        f"channel: ops\n{row}" for row in ROWS
    ]


def test_decimal_fractions_stay_as_they_are_written() -> None:
    page = read_json('{"beer": "Bitter", "pint": 5.10, "half": 2.75, "glass": 1e-3, "kegs": 12}', Limits())
    assert page is not None
    assert page.text == "beer: Bitter\npint: 5.10\nhalf: 2.75\nglass: 1e-3\nkegs: 12"


def test_like_objects_below_keys_are_records_that_begin_with_their_keys() -> None:
    towns = {
        town: {"zone": zone, "fare": 3} for zone, town in enumerate(("Oslo", "Rome", "Bern", "Vaduz"), 1)
    }
    page = read_json(json.dumps(towns), Limits())
    assert page is not None and len(page.blocks) == 4
    assert page.text.startswith("name: Oslo\nzone: 1\nfare: 3\n\nname: Rome")
    named = read_json(
        json.dumps({"version": 2, "towns": {k: {**v, "name": k} for k, v in towns.items()}}), Limits()
    )
    assert named is not None
    assert named.text.startswith("version: 2\n\ntowns.key: Oslo\ntowns.zone: 1")


def test_a_few_objects_or_unlike_ones_stay_settings() -> None:
    few = {"server": {"port": 1}, "client": {"port": 2}, "proxy": {"port": 3}}
    unlike = {"a": {"one": 1}, "b": {"two": 2}, "c": {"three": 3}, "d": {"four": 4}}
    for value in (few, unlike):
        page = read_json(json.dumps(value), Limits())
        assert page is not None and "name" not in page.text
        assert len(page.blocks) == 1


def test_a_value_that_is_a_fragment_of_html_is_read_as_text() -> None:
    post = "<p>The pump <em>leaks</em>.</p>\n<ul><li>Close it</li><li>Call 112</li></ul>"
    assert told([{"user": "ada", "cooked": post}]) == [
        "user: ada\ncooked: The pump leaks.\n- Close it\n- Call 112"
    ]
    assert told([{"type": "List<String> x", "rule": "a < b > c"}]) == [
        "type: List<String> x\nrule: a < b > c"
    ]
    assert told([{"firm": "Toft &amp; Sons", "code": "R&D; &x"}]) == ["firm: Toft & Sons\ncode: R&D; &x"]
    page = read_rows("user,said\nada,<p>It leaks.<br>Badly.</p>\nben,no < yes\n", Limits())
    assert page.text == "user: ada · said: It leaks. Badly.\nuser: ben · said: no < yes"
    assert read_rows("area&nbsp;2/,x\n1,2\n3,4\n", Limits()).text.startswith("area 2/: 1 · x: 2")


def test_tables_that_are_held_by_their_columns_are_records() -> None:
    rows = [["  Halley", 11, None], ["Encke", 5, "Y"]]
    by_names = {"count": 2, "fields": ["name", "diameter", "near"], "data": rows}
    assert told(by_names) == [
        "count: 2",
        "data.name: Halley\ndata.diameter: 11\ndata.near: null",
        "data.name: Encke\ndata.diameter: 5\ndata.near: Y",
    ]
    described = {
        "result": {"columns": [{"name": "town"}, {"name": "rain"}], "rows": [["Oslo", 1], ["Rome", 2]]}
    }
    assert told(described) == [
        "result.rows.town: Oslo\nresult.rows.rain: 1",
        "result.rows.town: Rome\nresult.rows.rain: 2",
    ]
    assert told([["town", "rain"], ["Oslo", 1], ["Rome", 2], ["Bern", 3]])[0] == "town: Oslo\nrain: 1"
    assert told({"town": ["Oslo", "Rome", "Bern"], "rain": [1, 2, 3]})[2] == "town: Bern\nrain: 3"


def test_columns_whose_rows_have_numbers_are_records() -> None:
    """The form in which pandas writes a table by default."""
    towns = {"17": "Oslo", "20": "Rome", "31": "Bern"}
    stations = {"town": towns, "rain": {"17": 1.5, "20": 2, "31": None}, "open": dict.fromkeys(towns, True)}
    assert told(stations) == [
        "index: 17\ntown: Oslo\nrain: 1.5\nopen: true",
        "index: 20\ntown: Rome\nrain: 2\nopen: true",
        "index: 31\ntown: Bern\nrain: null\nopen: true",
    ]
    counted = {"town": {"0": "Oslo", "1": "Rome", "2": "Bern"}, "rain": {"0": "1e-5", "1": 2, "2": 3}}
    assert told(counted)[0] == "town: Oslo\nrain: 1e-5", "numbers that only count tell nothing"
    taken = {"index": towns, "rain": {"17": 1, "20": 2, "31": 3}}
    assert told(taken)[1] == "number: 20\nindex: Rome\nrain: 2"
    years = {
        town: {"2019": 1, "2020": 2, "2021": n} for n, town in enumerate(("Oslo", "Rome", "Bern", "Ulm"))
    }
    assert told(years)[0] == "name: Oslo\n2019: 1\n2020: 2\n2021: 0", "years of things are their fields"
    uneven = {"town": towns, "rain": {"17": 1, "20": 2}}
    assert told(uneven)[0].startswith("town.17: Oslo")


def test_lists_that_are_no_columns_stay_as_they_are() -> None:
    assert told({"tags": ["a", "b"], "ids": [1, 2]}) == ["tags: a, b\nids: 1, 2"]
    assert told({"tags": ["a", "b", "c"], "ids": [1, 2, 3], "by": "Ann"})[0].startswith("tags: a, b, c")
    assert told([["a", "b"], ["c", "d"], ["e", "f"], ["g", "h"]])[0] == "a, b"
    assert told({"names": ["x", "y", "z"], "data": [[1, 2], [3, 4]]})[0].startswith("names: x, y, z")
    assert told({"line": {"x": [1, 2, 3], "y": [4, 5, 6]}})[0].startswith("line.x: 1, 2, 3")


def test_the_objects_of_like_lists_below_keys_are_records_with_their_keys() -> None:
    prizes = {
        f"Best {what}": [{"film": "Moana", "won": False}, {"film": what, "won": True}] for what in "abcd"
    }
    assert told(prizes)[:2] == ["name: Best a\nfilm: Moana\nwon: false", "name: Best a\nfilm: a\nwon: true"]
    few = {key: prizes[key] for key in list(prizes)[:3]}
    assert told(few)[0] == "Best a.film: Moana\nBest a.won: false"
    unlike = {**prizes, "Other": [{"n": 1, "of": 2}], "More": [{"x": 1, "y": 2}], "Rest": [{"z": 1, "q": 2}]}
    assert told(unlike)[0].startswith("Best a.film: Moana")


def test_records_below_keys_may_have_fields_that_few_others_have() -> None:
    hosts = {f"mail {n}": {"host": f"smtp{n}.example", "port": 465, f"rare {n}": n} for n in range(8)}
    assert told(hosts)[2] == "name: mail 2\nhost: smtp2.example\nport: 465\nrare 2: 2"


def test_objects_below_keys_are_records_beside_what_is_told_of_all_of_them() -> None:
    towns = {name: {"rain": at, "code": name[:2]} for at, name in enumerate(("oslo", "rome", "bern", "graz"))}
    rows = told({"_unit": {"rain": "mm", "code": "two letters"}, **towns})
    assert rows[0] == "_unit.rain: mm\n_unit.code: two letters"
    assert rows[1:] == [f"name: {name}\nrain: {at}\ncode: {name[:2]}" for at, name in enumerate(towns)]


def test_numbers_below_names_are_rows_and_settings_are_none() -> None:
    rain = {f"Town {letter}": place * 1.5 for place, letter in enumerate("ABCDEFGH")}
    assert told(rain)[:2] == ["name: Town A\nvalue: 0.0", "name: Town B\nvalue: 1.5"]
    assert told({"rain": rain, "year": 2020})[-1] == "rain.name: Town H\nrain.value: 10.5"
    assert len(told({name.lower().replace(" ", "_"): value for name, value in rain.items()})) == 1
    assert len(told({**rain, "Town I": "none"})) == 1
    assert len(told(dict(list(rain.items())[:7]))) == 1
    days = {f"2024-0{month}-01": f"Feast {month}" for month in range(1, 9)}
    assert told(days)[0] == "name: 2024-01-01\nvalue: Feast 1"
