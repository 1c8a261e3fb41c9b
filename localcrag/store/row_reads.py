"""Reads of the rows of tables: conditions, values of fields, and what the passages say of their documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localcrag.filters import Filter, check
from localcrag.store import sql
from localcrag.store.source_filters import SOURCE, kept_filter, shown_columns
from localcrag.store.source_roots import SourceRoots
from localcrag.types import MetaValue

if TYPE_CHECKING:
    from localcrag.store.tables import Tables


@dataclass(frozen=True, slots=True)
class Facet:
    """A value of a field, and the number of documents that have it."""

    value: MetaValue
    documents: int


def condition(tables: Tables, filter: Filter, roots: SourceRoots) -> str:
    """The filter as an SQL condition. Raises FilterError for an unknown field or a wrong comparison."""
    check(filter, tables.fields)
    return sql.compile(kept_filter(filter, roots), {**tables.columns, **shown_columns(roots)})


def cells(
    tables: Tables, column: str, filter: Filter | None, roots: SourceRoots
) -> Iterator[tuple[MetaValue, str]]:
    """The values in a column of the passages that match, each with its source, as they are shown."""
    where = f"{sql.name(column)} IS NOT NULL"
    where = f"{where} AND {condition(tables, filter, roots)}" if filter else where
    for rows in tables.passages.search().where(where).select(list({SOURCE, column})).to_batches():
        sources = [roots.shown(kept) for kept in rows[SOURCE].to_pylist()]
        yield from zip(sources if column == SOURCE else rows[column].to_pylist(), sources, strict=True)


def most_frequent(values: Iterable[MetaValue], limit: int) -> list[Facet]:
    """The values with how often each occurs, at most ``limit``, the most frequent first."""
    counts = Counter((type(value).__name__ == "bool", value) for value in values)  # 1 equals True
    best = sorted(counts.items(), key=lambda item: (-item[1], str(item[0][1])))
    return [Facet(value, count) for (_, value), count in best[:limit]]


def row_from_passages(tables: Tables, source: str) -> dict[str, str] | None:
    """The values of a source's row in ``documents`` that its passages have too; None if it has none.

    The passages of a source are replaced in one commit, so any of them will do.
    """
    columns = ["document", "digest", "title", "meta"]
    passages = tables.passages.search().where(sql.equals("source", source)).select(columns).limit(1)
    found = next(iter(passages.to_list()), None)
    return found and {**found, "hash": found["document"]}


def ids_without_questions(tables: Tables) -> list[str]:
    """The ids of the passages without questions, by source and position."""
    done: set[str] = set()
    if (asked := tables.questions) is not None:
        for rows in asked.search().select(["passage"]).to_batches():
            done.update(rows["passage"].to_pylist())
    keys = [
        key
        for rows in tables.passages.search().select(["source", "ordinal", "id"]).to_batches()
        for key in zip(*(rows[name].to_pylist() for name in ("source", "ordinal", "id")), strict=True)
        if key[2] not in done
    ]
    return [str(id) for *_, id in sorted(keys)]


def whole_number(value: MetaValue) -> MetaValue:
    """An integer for a float that is whole: columns hold all numbers as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
