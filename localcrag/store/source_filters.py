"""Filters on sources, which are kept relative to their roots and compared as they are shown."""

from __future__ import annotations

from collections.abc import Mapping

from localcrag.filters import (
    And,
    Comparison,
    FieldType,
    Filter,
    Leaf,
    Membership,
    Not,
    Operator,
    Or,
)
from localcrag.store import sql
from localcrag.store.source_roots import SourceRoot, SourceRoots, below

SOURCE = "source"
_SHOWN = "source below "
"""The beginning of the name of a source's field as it is shown; no field of a document has a blank in it."""


def kept_filter(filter: Filter, roots: SourceRoots) -> Filter:
    """A filter on shown sources as one that compares what is kept.

    Equality compares the kept source, whose column has an index. Every other comparison is made apart for the
    sources of each root, with the columns of :func:`shown_columns`, and for those without a root.
    """
    match filter:
        case Not(part):
            return Not(kept_filter(part, roots))
        case And(parts):
            return And(tuple(kept_filter(part, roots) for part in parts))
        case Or(parts):
            return Or(tuple(kept_filter(part, roots) for part in parts))
        case _:
            return _kept_leaf(filter, roots) if filter.field == SOURCE and roots.roots else filter


def shown_columns(roots: SourceRoots) -> sql.FieldColumns:
    """The fields that :func:`kept_filter` compares: for each root, the sources below it as they are shown."""
    return {_SHOWN + root.key: _shown_column(root) for root in roots.roots}


def _shown_column(root: SourceRoot) -> Mapping[FieldType, str]:
    rest = f"substr({sql.name(SOURCE)}, {len(root.key) + 1:d})"
    return {FieldType.TEXT: sql.Expression(f"concat({sql.literal(below(root.place, ''))}, {rest})")}


def _kept_leaf(leaf: Leaf, roots: SourceRoots) -> Filter:
    """A comparison of shown sources as one of kept ones."""
    if isinstance(leaf, Membership):
        values = (roots.kept(value) if isinstance(value, str) else value for value in leaf.values)
        return Membership(SOURCE, tuple(values), leaf.column)
    if leaf.operator in (Operator.EQUAL, Operator.UNEQUAL):
        value = roots.kept(leaf.value) if isinstance(leaf.value, str) else leaf.value
        return Comparison(SOURCE, leaf.operator, value, leaf.column)
    return Or((*(_below_root(leaf, root, roots) for root in roots.roots), _without_root(leaf, roots)))


def _below_root(leaf: Comparison, root: SourceRoot, roots: SourceRoots) -> Filter:
    """The comparison for the sources of one root alone."""
    inner = [other for other in roots.roots if other != root and other.key.startswith(root.key)]
    shown = Comparison(_SHOWN + root.key, leaf.operator, leaf.value, leaf.column)
    return And((_is_of(root), *(Not(_is_of(other)) for other in inner), shown))


def _without_root(leaf: Comparison, roots: SourceRoots) -> Filter:
    """The comparison for the sources without a root, which are kept as they are shown."""
    return And((*(Not(_is_of(root)) for root in roots.roots), leaf))


def _is_of(root: SourceRoot) -> Filter:
    return Comparison(SOURCE, Operator.STARTS_WITH, root.key)
