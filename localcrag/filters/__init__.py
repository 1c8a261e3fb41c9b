"""The filter language of ``--filter``: ``team = "x" and (page < 10 or not title contains "draft")``.

::

    filter     = all { "or" all }
    all        = negated { "and" negated }
    negated    = "not" negated | "(" filter ")" | comparison
    comparison = field ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value
               | field ( "contains" | "startswith" ) string
               | field [ "not" ] "in" "(" value { "," value } ")"
    value      = string | number | date | "true" | "false"

A field is ``source``, ``title``, ``page``, ``heading``, a key that was given with ``--meta``, or one that
the document itself gives, such as ``author``, ``tags`` or ``modified``. A string stands in single or double
quotes; the quote itself is written twice. Words of the language may be in capitals. Text compares by
character, case included, and numbers as 64-bit floats. A date is written 2024-06-01, without quotes, and
compares by day with every text that begins with a date. A field may have values of several types: one of
another type than the value that it is compared with equals nothing. A comparison with a list of texts holds
if it holds for one of them; lists are neither less nor greater. Logic has two values: a passage that lacks
a field equals nothing, is neither less nor greater, and ``!=`` is exactly ``not =``.

A parsed filter is a value; :mod:`localcrag.store.sql` compiles it for the index, :func:`matches` says
what it means, :func:`spelled` writes it down again, and :func:`relaxations` are the wider filters that
could be offered in its place. The grammar is small enough that a parser of one screen is lighter than a
library, and its errors name the column and what was expected there.
"""

from localcrag.filters.parsing import MAX_COMPARISONS, MAX_DEPTH, MAX_VALUES, parse
from localcrag.filters.relaxing import relaxations
from localcrag.filters.spelling import spelled
from localcrag.filters.tree import (
    BUILT_IN,
    DAY_PATTERN,
    And,
    Comparison,
    FieldType,
    FieldTypes,
    Filter,
    Leaf,
    Literal,
    Membership,
    Not,
    Operator,
    Or,
    check,
    check_field,
    comparable,
    is_key,
    leaves,
    matches,
    type_of,
)

__all__ = [
    "BUILT_IN",
    "DAY_PATTERN",
    "MAX_COMPARISONS",
    "MAX_DEPTH",
    "MAX_VALUES",
    "And",
    "Comparison",
    "FieldType",
    "FieldTypes",
    "Filter",
    "Leaf",
    "Literal",
    "Membership",
    "Not",
    "Operator",
    "Or",
    "check",
    "check_field",
    "comparable",
    "is_key",
    "leaves",
    "matches",
    "parse",
    "relaxations",
    "spelled",
    "type_of",
]
