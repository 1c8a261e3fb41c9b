"""The terms of a definition list in HTML and their definitions, however the markup nests them."""

from __future__ import annotations

from localcrag.documents.html_tree import Element


def definition_parts(element: Element) -> list[Element | str]:
    """The terms and definitions of a list, also those in a ``div`` or in a term that was not closed."""
    parts: list[Element | str] = []
    for child in element.children:
        if isinstance(child, str) or child.tag not in ("div", "dt", "dd"):
            parts.append(child)
        elif child.tag == "div":
            parts += definition_parts(child)
        else:
            inner = [
                i
                for i, part in enumerate(child.children)
                if isinstance(part, Element) and part.tag in ("dt", "dd")
            ]
            if not inner:
                parts.append(child)
                continue
            rest = Element("div", {})
            rest.children = child.children[inner[0] :]
            parts += [_shortened(child, inner[0]), *definition_parts(rest)]
    return parts


def _shortened(element: Element, end: int) -> Element:
    """A copy of an element with its children up to an index."""
    copy = Element(element.tag, element.attributes)
    copy.children = element.children[:end]
    copy.characters = sum(
        len(child.strip()) if isinstance(child, str) else child.characters for child in copy.children
    )
    copy.headings = sum(child.headings for child in copy.children if isinstance(child, Element))
    return copy
