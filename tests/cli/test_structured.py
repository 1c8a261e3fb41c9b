"""``ask --schema``, ``ask --choices`` and ``extract`` with the embedded models, on real documents."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

INVOICE = "Invoice number: HP-20418\nInvoice date: 12 March 2024\nCustomer: =Bell School\nTotal: £690.60\n"
FIELDS: dict[str, object] = {
    "number": {"type": ["string", "null"], "title": "Invoice number"},
    "date": {"type": ["string", "null"], "format": "date", "title": "Invoice date"},
    "customer": {"type": ["string", "null"]},
    "total": {"type": ["number", "null"], "title": "Total amount"},
    "currency": {"enum": ["EUR", "GBP", None]},
    "order": {"type": ["string", "null"], "title": "Order number"},
}
SCHEMA = {
    "title": "Invoice",
    "type": "object",
    "properties": FIELDS,
}
DOSE = {"type": "object", "properties": {"dose": {"type": "number", "description": "the usual dose in mg"}}}


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "invoice.json"
    path.write_text(json.dumps(SCHEMA))
    return path


def test_ask_prints_the_record_and_says_where_each_value_stands(run: Run, tmp_path: Path) -> None:
    (tmp_path / "dose.json").write_text(json.dumps(DOSE))
    done = run("ask", "--schema", str(tmp_path / "dose.json"), "What is the usual dose of Zeldrine?")
    assert (done.code, done.json) == (0, {"dose": 35}), done.err
    assert "dose: [1] verbatim" in done.err and "leaflet.pdf, page 2" in done.err


def test_the_whole_answer_as_json_has_value_fields_and_unsupported(run: Run, schema: Path) -> None:
    done = run("ask", "--json", "--schema", str(schema), "the invoice of Zeldrine")
    assert done.code == 3
    assert done.json["value"] == dict.fromkeys(FIELDS)
    assert done.json["unsupported"] == [f"/{name}" for name in FIELDS]
    assert done.json["status"] == "not_found"


def test_a_choice_is_printed_alone(run: Run) -> None:
    done = run("ask", "--quiet", "--choices", "yes,no", "Does Lavender need a sunny place?")
    assert (done.code, done.out, done.err) == (0, "yes\n", "")


def test_extract_prints_a_line_for_each_document(run: Run, schema: Path, tmp_path: Path) -> None:
    (tmp_path / "bell.txt").write_text(INVOICE)
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    done = run("extract", "--schema", str(schema), str(tmp_path / "bell.txt"), str(tmp_path / "broken.pdf"))
    assert done.code == 0 and "skipped: " in done.err
    bell = next(line for line in done.lines if line["source"].endswith("bell.txt"))
    broken = next(line for line in done.lines if line["source"].endswith("broken.pdf"))
    assert bell["value"]["number"] == "HP-20418" and bell["value"]["total"] == 690.6
    assert (bell["value"]["date"], bell["value"]["currency"]) == ("2024-03-12", "GBP")
    assert bell["unsupported"] == ["/order"]
    for field in bell["fields"]:
        if field["key"]:
            cited = next(each for each in bell["citations"] if each["key"] == field["key"])
            assert INVOICE[cited["start"] : cited["end"]] == cited["quote"]
            assert INVOICE[field["start"] : field["end"]] in cited["quote"]
    assert broken["value"] is None and broken["reason"]
    assert "bell.txt" not in run("kb", "show", "default", "--json").out, "it was read, and not kept"


def test_extract_as_csv_has_a_column_for_each_field_and_no_formula(
    run: Run, schema: Path, tmp_path: Path
) -> None:
    (tmp_path / "bell.txt").write_text(INVOICE)
    done = run("extract", "--csv", "--schema", str(schema), str(tmp_path / "bell.txt"))
    [row] = csv.DictReader(io.StringIO(done.out))
    assert list(row) == ["source", *FIELDS]
    assert (row["total"], row["order"], row["customer"]) == ("690.6", "", "'=Bell School")


def test_extract_takes_the_documents_of_the_knowledge_base_and_exits_3_if_none_bears_anything_out(
    run: Run, schema: Path
) -> None:
    done = run("extract", "--schema", str(schema), "--filter", 'title = "Zeldrine"')
    assert done.code == 3
    [line] = done.lines
    assert line["source"].endswith("leaflet.pdf") and not any(line["value"].values())


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("ask", "--choices", "yes", "x"), "two values or more"),
        (("ask", "--choices", "a,b", "--schema", "{schema}", "x"), "exclude each other"),
        (("ask", "--schema", "{recursive}", "x"), "recursive"),
        (("extract", "--schema", "{recursive}", "x.txt"), "recursive"),
        (("ask", "--schema", "none.json", "x"), "No such file"),
        (("extract", "--schema", "{schema}", "--filter", "page = 1", "{schema}"), "leave one of them out"),
    ],
)
def test_what_cannot_be_done_is_refused_with_exit_code_2(
    run: Run, schema: Path, tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    (tmp_path / "recursive.json").write_text('{"$ref": "#"}')
    files = {"schema": schema, "recursive": tmp_path / "recursive.json"}
    done = run(*(argument.format(**files) for argument in arguments))
    assert done.code == 2 and reason in done.err
    assert "Hint: " in done.err
