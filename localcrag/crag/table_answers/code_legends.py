"""What the codes in a column mean, as a legend or a data dictionary of the same knowledge base says.

A legend stands in the document of the table, "X = left out". A dictionary is a document that names the file
of the table, with a row for each of its columns: "Column: flag · Meaning: X left out, R repeat, empty good".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePath

from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.crag.refinement.strip_kinds import cells_of, named_cell
from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.types import BlockKind, Passage

MAX_CODES = 12
"""The most codes of a column whose meanings are looked for."""
_CODE = re.compile(r"[^\W\d_]{1,3}\d?|\d")
_LISTED = re.compile(r"\s*[,;\n]\s*")
_MEANT = re.compile(
    r"[\W_]*(?P<code>\w{1,4})(?P<mark>\s*[=:–—]\s*|\s+-\s+|\s+)(?P<meaning>[^\W\d_].*)", re.DOTALL
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def codes_of_column(cells: Sequence[str]) -> frozenset[str]:
    """The codes that a column consists of; none if it holds anything else."""
    found = frozenset(cell.strip() for cell in cells if cell.strip())
    is_coded = 0 < len(found) <= MAX_CODES and all(map(_CODE.fullmatch, found))
    return found if is_coded else frozenset()


def meanings_of(
    table: ParsedTable, column: str, codes: Collection[str], passages: Sequence[Passage]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The codes of a column with the words of each meaning that the passages tell.

    Args:
        table: the table.
        column: its column.
        codes: the codes that the column holds.
        passages: those of the documents in which a legend may stand.
    """
    file = PurePath(table.source).stem.casefold()
    naming = {
        passage.source
        for passage in passages
        if file and re.search(rf"(?<!\w){re.escape(file)}(?!\w|-)", passage.text.casefold())
    }
    for passage in passages:
        is_own = passage.source == table.source
        for block in passage.blocks if is_own or passage.source in naming else ():
            text = passage.text_between(block.start, block.end)
            if block.kind is BlockKind.ROW:
                cells = [named_cell(cell) for cell in cells_of(strip_at(passage, block.start, block.end))]
                is_of_column = cells[0][1].strip(" `").casefold() == table.header(column).casefold()
                texts = [value for _, value in cells[1:]] if is_of_column else []
                yield from _listed(texts, codes, needs_mark=False)
            elif is_own:
                yield from _listed([text], codes, needs_mark=True)


def _listed(
    texts: Sequence[str], codes: Collection[str], *, needs_mark: bool
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for text in texts:
        for piece in _LISTED.split(text):
            match = _MEANT.fullmatch(piece)
            if match and match["code"] in codes and (match["mark"].strip() or not needs_mark):
                yield match["code"], tuple(word.lower() for word in _WORD.findall(match["meaning"]))
