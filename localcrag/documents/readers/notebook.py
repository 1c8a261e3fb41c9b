"""Jupyter notebooks as Markdown: texts, code and the output of the code."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

from localcrag.documents.extracted import Limits, joined
from localcrag.errors import UnreadableError

_Object = Mapping[str, object]


def read_notebook(text: str, limits: Limits) -> str:
    """The cells in their order; pictures and other outputs without a text form are left out.

    Raises UnreadableError if the text is not a notebook or exceeds ``limits.text``.
    """
    try:
        book = json.loads(text)
        cells = book["cells"] if "cells" in book else book["worksheets"][0]["cells"]
        language = book.get("metadata", {}).get("language_info", {}).get("name", "")
        return joined((part for cell in cells for part in _cell(cell, language)), limits)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise UnreadableError("damaged notebook") from error


def _cell(cell: _Object, language: str) -> Iterator[str]:
    source = _text(cell.get("source", cell.get("input", "")))
    match cell.get("cell_type"):
        case "code":
            yield _fenced(source, language)
            for output in cast(list[_Object], cell.get("outputs") or []):
                yield _fenced(_output(output), "text")
        case "heading":
            yield f"{'#' * int(str(cell.get('level', 1)))} {source}"
        case _:
            yield source


def _output(output: _Object) -> str:
    if output.get("output_type") == "error":
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = cast(_Object, output.get("data") or {})
    return _text(data.get("text/markdown") or data.get("text/plain") or output.get("text") or "")


def _text(value: object) -> str:
    return "".join(value) if isinstance(value, list) else str(value)


def _fenced(text: str, language: str) -> str:
    """A code block whose fence is longer than any in the text; "" if the text is blank."""
    if not text.strip():
        return ""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
