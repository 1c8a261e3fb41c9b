"""Plain text wrapped to a width, mail messages and notebooks."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from email.message import EmailMessage
from typing import Any

from benchmarks.reading.source_text import Piece, Source

_HEADERS = ("Subject", "From", "To", "Date")
_MAIL_WIDTH = 72
ATTACHMENT_MARK = "-- attachment"


def txt(source: Source) -> bytes:
    """Headings underlined or in capitals, paragraphs wrapped to ``width`` characters, blank lines between."""
    width = int(source.fields["width"])

    def lines() -> Iterator[str]:
        for piece in source.pieces:
            match piece.kind:
                case "heading":
                    yield f"{piece.text}\n{'=' * len(piece.text)}" if piece.level == 1 else piece.text.upper()
                case "item":
                    yield textwrap.fill(f"- {piece.text}", width, subsequent_indent="  ")
                case _:
                    yield textwrap.fill(piece.text, width)

    return ("\n\n".join(lines()) + "\n").encode()


def eml(source: Source) -> bytes:
    """A message with its headers, a wrapped text, and what stands below the mark as an attached file."""
    message = EmailMessage()
    for header in _HEADERS:
        message[header] = source.fields[header]
    said, attached = mail_texts(source)
    message.set_content("\n\n".join(textwrap.fill(line, _MAIL_WIDTH) for line in said), charset="utf-8")
    if name := source.fields.get("attachment"):
        subtype = name.rpartition(".")[2].replace("txt", "plain")
        message.add_attachment("\n".join(attached), subtype=subtype, filename=name)
    return message.as_bytes()


def mail_texts(source: Source) -> tuple[list[str], list[str]]:
    """The lines of the message, and those of its attachment, if it has one."""
    lines = [piece.text for piece in source.pieces]
    at = lines.index(ATTACHMENT_MARK) if ATTACHMENT_MARK in lines else len(lines)
    return lines[:at], lines[at + 1 :]


def ipynb(source: Source) -> bytes:
    """A cell for each heading with what belongs to it, and one for each piece of code with its output."""
    cells: list[dict[str, Any]] = []
    for piece in source.pieces:
        if piece.kind == "code":
            cells.append({"cell_type": "code", "source": piece.text, "outputs": [], "execution_count": 1})
        elif piece.kind == "output":
            outputs = cells[-1]["outputs"] or [{"output_type": "stream", "name": "stdout", "text": ""}]
            outputs[0]["text"] += f"{piece.text}\n"
            cells[-1]["outputs"] = outputs
        elif piece.kind == "heading" or cells[-1]["cell_type"] == "code":
            mark = "#" * piece.level + " " if piece.kind == "heading" else ""
            cells.append({"cell_type": "markdown", "source": mark + _markdown(piece)})
        else:
            gap = "\n- " if piece.kind == "item" else "\n\n"
            cells[-1]["source"] += gap + _markdown(piece)
    made = {"cells": [{**cell, "metadata": {}} for cell in cells], "metadata": {}, "nbformat": 4}
    return json.dumps({**made, "nbformat_minor": 4}, indent=1).encode()


def _markdown(piece: Piece) -> str:
    """The text of a piece; of a table its rows, with a line below its head."""
    if piece.kind != "table":
        return piece.text
    head, *rows = (f"| {' | '.join(row)} |" for row in piece.rows)
    return "\n".join((head, "|---" * len(piece.rows[0]) + "|", *rows))
