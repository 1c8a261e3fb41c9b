"""``localcrag extract``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localcrag.cli.command_state import CommandState, pass_state
from localcrag.cli.parameters import evaluator_option, filter_option, kb_option
from localcrag.cli.safe_output import json_text, one_line

if TYPE_CHECKING:
    from localcrag.types import ExtractedRecord, JsonValue

NO_RECORD_EXIT_CODE = 3
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet would compute; an apostrophe in front makes it text."""


@click.command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option(
    "--schema",
    type=click.Path(path_type=Path),
    metavar="FILE",
    required=True,
    help="JSON Schema of a record.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV, with a column for each field.")
@kb_option
@filter_option
@evaluator_option
@pass_state
def extract(
    state: CommandState,
    sources: tuple[str, ...],
    schema: Path,
    as_csv: bool,
    kb: str | None,
    filter_: str | None,
    evaluator: str | None,
) -> int:
    """Print one record per document, in the form of a JSON Schema.

    SOURCES are files, folders, globs or addresses, which are read and not kept; without any, the
    documents of the knowledge base. Each line is a JSON object: the source, the value, the citation
    of each part of it, and the fields that the document does not bear out, which are null, or left
    out if the schema does not allow null. The exit code is 3 if no document bears out any field.
    """
    from localcrag.output_schema.schema_reading import read_schema, schema_file

    text = schema_file(schema)
    columns = ["source", *(place.removeprefix("/") or "value" for place in read_schema(text).leaves)]
    base = state.open(kb, model={"evaluator": evaluator})
    records = base.extract(text, sources or None, filter=filter_)
    found = False
    if as_csv:
        click.echo(_csv_line(columns), nl=False)
    for record in records:
        found = found or bool(record.structured and record.structured.found)
        if record.structured is None:
            click.echo(f"skipped: {one_line(record.source)}: {one_line(record.reason)}", err=True)
        if as_csv:
            if record.structured is not None:
                click.echo(_csv_line(_cells(record, columns[1:])), nl=False)
        else:
            click.echo(json_text(record.to_dict()))
    if not found:
        click.echo("No document bears out any field.", err=True)
    return 0 if found else NO_RECORD_EXIT_CODE


def _cells(record: ExtractedRecord, places: list[str]) -> Iterator[str]:
    """The cells of a record: the source, and the value at each place."""
    yield record.source
    for place in places:
        value: JsonValue = record.value
        for name in place.split("/") if place != "value" or isinstance(record.value, dict) else ():
            plain = name.replace("~1", "/").replace("~0", "~")
            value = value.get(plain) if isinstance(value, dict) else None
        yield _cell(value)


def _cell(value: JsonValue) -> str:
    """A value as the text of a cell: null is empty, a list is separated by semicolons."""
    if value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "; ".join(map(str, value))
    return value if isinstance(value, str) else json_text(value)


def _csv_line(cells: Iterator[str] | list[str]) -> str:
    """A line of CSV; what a spreadsheet would take for a formula is marked as text."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([_as_text(one_line(cell)) for cell in cells])
    return out.getvalue()


def _as_text(cell: str) -> str:
    is_number = cell.lstrip("+-").replace(".", "", 1).isdigit()
    return f"'{cell}" if cell.startswith(_FORMULA_SIGNS) and not is_number else cell
