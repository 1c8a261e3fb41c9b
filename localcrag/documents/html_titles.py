"""The paragraphs of an HTML page in bold letters that are titles (:mod:`localcrag.documents.bold_titles`)."""

from __future__ import annotations

from collections.abc import Iterator

from localcrag.documents.bold_titles import above_plain_text, are_titles, stand_out
from localcrag.documents.html_tables import cell_text
from localcrag.documents.html_tree import BREAK, HEADINGS, Element

_TITLED = frozenset({"p", "div", "center"})
"""Elements that may be no more than a title in bold letters."""


def mark_titles(root: Element) -> None:
    """Mark the paragraphs in bold letters that are the titles of what stands below them."""
    if not root.bold or not stand_out(root.bold, root.characters):
        return
    leaves = list(_leaves(root))
    bold = [leaf is not None and leaf.bold == leaf.characters for leaf in leaves]
    headings = [leaf is not None and leaf.tag in HEADINGS for leaf in leaves]
    bold_leaves = (leaves[place] for place in above_plain_text(bold, headings))
    titled = [leaf for leaf in bold_leaves if leaf is not None and leaf.tag in _TITLED]
    for leaf, is_title in zip(titled, are_titles(list(map(cell_text, titled))), strict=True):
        leaf.is_title = is_title and BREAK not in leaf.children


def _leaves(element: Element) -> Iterator[Element | None]:
    """The elements that have text of their own and no element with text inside, in their order.

    None stands for the text of one that has both, before those inside it: it is no leaf in bold letters.
    """
    inside = [child for child in element.elements() if child.characters]
    if element.characters and not inside:
        yield element
        return
    if any(isinstance(child, str) and child.strip() for child in element.children):
        yield None
    for child in inside:
        yield from _leaves(child)
