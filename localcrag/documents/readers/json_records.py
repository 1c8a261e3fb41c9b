"""JSON and JSON Lines as blocks: a line ``key: value`` for each value, a row for each record."""

from __future__ import annotations

import json
from collections.abc import Iterator

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import Limits
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page

_MAX_DEPTH = 8
_Json = None | bool | int | float | str | list["_Json"] | dict[str, "_Json"]


def read_json(text: str, limits: Limits) -> Page | None:
    """A JSON document as a page; None if it is not valid JSON (it may hold comments).

    Raises UnreadableError if it is nested too deeply or exceeds ``limits.text``.
    """
    made = BlockText(limits)
    return made.page() if _add_json(made, text) else None


def read_json_lines(text: str, limits: Limits) -> Page:
    """JSON Lines as a page, one block or more per line; a line that is not JSON stays as it is.

    Raises UnreadableError if a line is nested too deeply or the text exceeds ``limits.text``.
    """
    made = BlockText(limits)
    for line in text.split("\n"):
        if line.strip() and not _add_json(made, line):
            made.add(BlockKind.PARAGRAPH, line)
    return made.page()


def _add_json(made: BlockText, text: str) -> bool:
    """Append the records of a JSON text; False if it is not valid. Raises UnreadableError."""
    try:
        value: _Json = json.loads(text)
    except ValueError:
        return False
    except RecursionError as error:
        raise UnreadableError("JSON nested too deeply") from error
    for record in _records(value):
        made.part()
        made.add(BlockKind.ROW, record)
    return True


def _records(value: _Json) -> Iterator[str]:
    """The blocks of a JSON value.

    The items of a list are blocks of their own, and so are those of a list of objects inside an object.
    """
    if isinstance(value, list):
        for item in value:
            yield "\n".join(_lines(item, "", _MAX_DEPTH))
    elif isinstance(value, dict):
        plain = {key: item for key, item in value.items() if not _is_table(item)}
        yield "\n".join(_lines(plain, "", _MAX_DEPTH))
        for key, item in value.items():
            if _is_table(item) and isinstance(item, list):
                for record in item:
                    yield "\n".join(_lines(record, key, _MAX_DEPTH))
    else:
        yield _shown(value)


def _is_table(value: _Json) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _lines(value: _Json, path: str, depth: int) -> Iterator[str]:
    if isinstance(value, dict) and depth:
        for key, item in value.items():
            yield from _lines(item, f"{path}.{key}" if path else key, depth - 1)
    elif isinstance(value, list) and depth and any(isinstance(item, (dict, list)) for item in value):
        for item in value:
            yield from _lines(item, path, depth - 1)
    elif isinstance(value, list) and depth:
        yield _named(path, ", ".join(_shown(item) for item in value))
    else:
        yield _named(path, _shown(value))


def _named(path: str, shown: str) -> str:
    return f"{path}: {shown}" if path else shown


def _shown(value: _Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
