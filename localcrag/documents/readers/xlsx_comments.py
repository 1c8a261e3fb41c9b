"""The comments on the cells of a sheet, which openpyxl gives only of sheets that it holds in memory."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_THREADED, _THREAD_BEGIN = "[Threaded comment]", "Comment:"
"""How the comment begins that newer versions of Excel leave to older ones, and what its own text follows."""


def comments_of(container: zipfile.ZipFile, sheet: Worksheet) -> Mapping[tuple[int, int], str]:
    """The comments of a sheet by row and column, both from 1; none if their part is missing or damaged."""
    from openpyxl.comments.comment_sheet import CommentSheet
    from openpyxl.packaging.relationship import get_dependents, get_rels_path
    from openpyxl.utils.cell import coordinate_to_tuple
    from openpyxl.xml.constants import COMMENTS_NS
    from openpyxl.xml.functions import fromstring

    found: dict[tuple[int, int], str] = {}
    relations = get_rels_path(sheet._worksheet_path)
    if relations not in container.namelist():
        return found
    try:
        for relation in get_dependents(container, relations).find(COMMENTS_NS):
            part = CommentSheet.from_tree(fromstring(container.read(relation.target)))
            for place, comment in part.comments:
                if text := _own_text(comment.text):
                    found[coordinate_to_tuple(place)] = text
    except (KeyError, ValueError, TypeError, AttributeError, SyntaxError):
        return found  # the cells are worth more than what was noted on them
    return found


def _own_text(text: str) -> str:
    """The text of a comment in one line, without what Excel puts in front of it for older versions."""
    if text.startswith(_THREADED):
        text = text.partition(_THREAD_BEGIN)[2]
    return " ".join(text.split())
