"""The fields of a hit, as other libraries keep them beside its text."""

from __future__ import annotations

from localcrag.types import Hit, JsonValue

PLACE_FIELDS = ("score", "similarity", "start", "end", "document")
"""The fields that no model needs to read: they order hits, and say where the text stands."""


def hit_fields(hit: Hit) -> dict[str, JsonValue]:
    """The object that ``search --json`` lists, without its text; JSON.

    ``heading`` is the path of the headings above it, ``document`` the sha256 of the document, and
    ``similarity`` the cosine of query and passage. ``meta`` holds the fields of the document.
    """
    fields = {name: value for name, value in hit.to_dict().items() if name != "text"}
    return fields | {
        "heading": hit.passage.heading,
        "document": hit.passage.document,
        "similarity": hit.similarity,
    }
