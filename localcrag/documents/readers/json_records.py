"""JSON and JSON Lines as text: a line ``key: value`` for each value, a block for each record."""

from __future__ import annotations

import json
from collections.abc import Iterator

from localcrag.documents.extracted import Limits, joined
from localcrag.errors import UnreadableError

_MAX_DEPTH = 8
_Json = None | bool | int | float | str | list["_Json"] | dict[str, "_Json"]


def read_json(text: str, limits: Limits) -> str | None:
    """A JSON document as text; None if it is not valid JSON (it may hold comments).

    Raises UnreadableError if it is nested too deeply or exceeds ``limits.text``.
    """
    try:
        value: _Json = json.loads(text)
        return joined(_records(value), limits)
    except ValueError:
        return None
    except RecursionError as error:
        raise UnreadableError("JSON nested too deeply") from error


def read_json_lines(text: str, limits: Limits) -> str:
    """JSON Lines as text, one block per line; a line that is not JSON stays as it is.

    Raises UnreadableError if a line is nested too deeply or the text exceeds ``limits.text``.
    """
    lines = (line for line in text.split("\n") if line.strip())
    return joined((read_json(line, limits) or line for line in lines), limits)


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
