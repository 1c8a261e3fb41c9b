"""LaTeX sources as blocks of plain text: sections, lists, tables with their captions, code.

They are read here because a document is read as it is written: no macro is run and nothing is included.
References to tables, figures and sections have the numbers that they have in print.

pylatexenc 2.11 does not parse them: on 102 manuals of packages it took 20 times as long, on some files more
than quadratic time. It raises on groups that are nested deeply, and does not know the arguments of most
commands, so that as many lines would have to say them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.latex_words import hidden_escapes, words
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_pairs import document_lines
from localcrag.types import BlockKind, Page

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%[^\n]*(?:\n[ \t]*(?=\S))?")
_CODE = re.compile(
    r"\\begin\{(verbatim|Verbatim|lstlisting|minted|comment)\*?\}(?:\[[^\]\n]*\])?(?:\{[^}\n]*\})?\n?"
)
_LEVELS = {
    "part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5,
    "subparagraph": 6,
}  # fmt: skip
_SECTION = "|".join(_LEVELS)
_BLOCK_COMMAND = re.compile(
    rf"\\(?P<section>{_SECTION})(?P<star>\*?)\s*(?:\[[^\[\]\n]*\]\s*)?(?=\{{)"
    r"|\\(?P<edge>begin|end)\s*\{(?P<name>[A-Za-z]+)\*?\}"
    r"|\\(?P<item>item|bibitem)(?![A-Za-z])\s*(?:\[(?P<term>[^\[\]\n]*)\])?"
    r"|\\(?P<caption>caption)\*?\s*(?:\[[^\[\]\n]*\]\s*)?(?=\{)"
    r"|(?P<math>\\\[|\$\$)"
    r"|(?P<gap>\n[ \t]*\n\s*|\\par(?![A-Za-z]))"
)
_LABELLED = re.compile(
    rf"\\(?P<section>{_SECTION})\s*(?:\[[^\[\]\n]*\]\s*)?\{{|\\begin\s*\{{(?P<name>table|figure|equation|align)\}}"
    r"|\\label\s*\{(?P<label>[^{}\n]*)\}"
)
_NAMED = re.compile(r"\\(title|author|date)\s*(?:\[[^\[\]\n]*\]\s*)?(?=\{)")
_BODY = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}")
_TABLES = frozenset({"tabular", "tabularx", "tabulary", "longtable", "supertabular", "xltabular"})
_WIDE_TABLES = frozenset({"tabularx", "tabulary", "xltabular"})
"""Tables whose width is given before their columns."""
_LISTS = frozenset({"itemize", "enumerate", "description", "thebibliography", "compactitem", "compactenum"})
_FORMULAS = frozenset({"equation", "align", "gather", "multline", "displaymath", "eqnarray", "math"})
_PICTURES = frozenset({"tikzpicture", "picture", "pspicture", "filecontents"})
_RULE = re.compile(
    r"\\(?:(?P<mid>midrule|hline|endhead|endfirsthead)|toprule|bottomrule|endfoot|endlastfoot|addlinespace"
    r"|(?:cmidrule|cline)(?:\([^()\n]*\))?)(?![A-Za-z])(?:\[[^\[\]\n]*\])?(?:\{[^{}\n]*\})?"
)
_ROW_END = re.compile(r"\\\\\*?(?:\[[^\[\]\n]*\])?|\\tabularnewline(?![A-Za-z])")
_SPANNING = re.compile(r"\s*\\multicolumn\s*\{(\d{1,2})\}")
_MAX_NAMED = 10
_BRACE = re.compile(r"(?<!\\)[{}]")
_OPTIONS = re.compile(r"\s*\[[^\[\]\n]*\]")
_LAID_OUT = frozenset(
    {"minipage", "multicols", "wrapfigure", "subfigure", "subtable", "adjustbox", "spacing"}
)
"""Environments with arguments that say how they are laid out."""
_MAX_LIST_DEPTH = 6
"""Lists within each other that are indented; LaTeX prints no more."""
_MAX_ARGUMENT = 2_000
"""Characters in which the end of an argument is looked for."""


def latex_page(text: str, limits: Limits | None = None) -> tuple[str, Page]:
    """The title of a LaTeX text, "" if it has none, and its page of blocks.

    Raises UnreadableError if it becomes longer than the limits allow.
    """
    made, codes = BlockText(limits), list[str]()
    plain = _COMMENT.sub(r"\1", _without_code(text, codes))
    begun = _BODY.search(plain)
    head, body = (plain[: begun.start()], plain[begun.end() :]) if begun else ("", plain)
    first = islice(_NAMED.finditer(plain), _MAX_NAMED)
    named = {found[1]: _argument(plain, found.end())[0] for found in first}
    ends = [found.start() for found in _END.finditer(body)]
    walk = _Walk(made, body[: ends[-1]] if ends else body, _numbers(head + body), codes)
    title = walk.plain(named.get("title", ""))
    made.add(BlockKind.HEADING, title, level=1)
    for name in ("author", "date"):
        made.add(BlockKind.PARAGRAPH, walk.plain(named.get(name, "")))
    walk.all()
    return title, made.page()


def _without_code(text: str, codes: list[str]) -> str:
    """A text in which an environment that names one of ``codes`` stands for each piece of code."""
    pieces, end, never_ended = list[str](), 0, set[str]()
    for found in _CODE.finditer(text):
        if found.start() < end or found[1] in never_ended:
            continue
        stop = text.find(f"\\end{{{found[1]}", found.end())
        if stop < 0:
            never_ended.add(found[1])
            continue
        codes.append("" if found[1] == "comment" else text[found.end() : stop])
        pieces += [text[end : found.start()], f"\n\n\\begin{{{_code_name(len(codes) - 1)}}}\n\n"]
        end = text.find("}", text.index("{", stop)) + 1 or len(text)
    return "".join([*pieces, text[end:]])


def _code_name(number: int) -> str:
    """The name of the environment that stands for a piece of code; letters only."""
    return "localcragcode" + "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _argument(text: str, start: int) -> tuple[str, int]:
    """The argument whose brace stands at ``start``, and where the text goes on; "" without an end."""
    depth = 0
    for brace in _BRACE.finditer(text, start, start + _MAX_ARGUMENT):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return text[start + 1 : brace.start()], brace.end()
    return "", start + 1


def _numbers(text: str) -> dict[str, str]:
    """The number that each label refers to in print: of its section, table, figure or formula."""
    counts: dict[str, int] = {}
    sections: list[int] = []
    current, found = "", dict[str, str]()
    first = min((_LEVELS[m["section"]] for m in _LABELLED.finditer(text) if m["section"]), default=0)
    for match in _LABELLED.finditer(text):
        if match["section"]:
            depth = _LEVELS[match["section"]] - first
            sections = [*sections, *[0] * depth][: depth + 1]
            sections += [0] * (depth + 1 - len(sections))
            sections[depth] += 1
            current = ".".join(map(str, sections))
        elif match["name"]:
            kind = "equation" if match["name"] == "align" else match["name"]
            counts[kind] = counts.get(kind, 0) + 1
            current = str(counts[kind])
        else:
            found.setdefault(match["label"], current)
    return found


class _Walk:
    """Appends the blocks of the body of a document."""

    def __init__(self, made: BlockText, text: str, numbers: Mapping[str, str], codes: list[str]) -> None:
        self._made, self._text, self._numbers = made, text, numbers
        self._codes = {_code_name(number): code for number, code in enumerate(codes)}
        self._lists: list[tuple[str, int]] = []
        self._paragraph: list[str] = []
        self._item = ""
        self._never_ended = set[str]()

    def plain(self, text: str) -> str:
        """The words of a piece of text."""
        return words(text, self._numbers)

    def all(self) -> None:
        """Append all blocks."""
        at = 0
        while step := _BLOCK_COMMAND.search(self._text, at):
            self._paragraph.append(self._text[at : step.start()])
            at = self._step(step)
        self._paragraph.append(self._text[at:])
        self._end()

    def _step(self, step: re.Match[str]) -> int:
        """Append what a command stands for; returns where the text goes on."""
        self._end()
        if step["section"] or step["caption"]:
            words_, at = _argument(self._text, step.end())
            kind = BlockKind.HEADING if step["section"] else BlockKind.CAPTION
            self._made.add(kind, self.plain(words_), level=_LEVELS.get(step["section"], 0))
            return at
        if step["item"]:
            self._begin_item(self.plain(step["term"] or ""))
        elif step["math"]:
            return self._formula(step.end(), "\\]" if step["math"] == "\\[" else "$$")
        elif step["edge"]:
            return self._edge(step["edge"], step["name"], step.end())
        return step.end()

    def _begin_item(self, term: str) -> None:
        name, count = self._lists.pop() if self._lists else ("itemize", 0)
        self._lists.append((name, count + 1))
        is_numbered = name in ("enumerate", "compactenum") and not term
        self._item = f"{count + 1}. " if is_numbered else BULLET
        if term and name == "description":
            self._paragraph = [f"{term}: "]

    def _edge(self, edge: str, name: str, at: int) -> int:
        """The begin or the end of an environment; returns where the text goes on."""
        if name in self._codes:
            self._made.add(BlockKind.CODE, self._codes[name])
        elif name in _LISTS:
            if edge == "begin":
                if not self._lists:
                    self._made.part()
                self._lists.append((name, 0))
            elif self._lists:
                self._lists.pop()
        elif edge == "begin" and name in _TABLES | _FORMULAS | _PICTURES:
            return self._whole(name, at)
        elif edge == "begin":
            if name == "abstract":
                self._made.add(BlockKind.HEADING, "Abstract", level=2)
            return self._after_options(at, is_laid_out=name in _LAID_OUT)
        return at

    def _after_options(self, at: int, *, is_laid_out: bool) -> int:
        """Where the text of an environment begins, behind its options and what says how it is laid out."""
        options = _OPTIONS.match(self._text, at)
        at = options.end() if options else at
        while is_laid_out and self._text[at : at + 1] == "{":
            at = _argument(self._text, at)[1]
        return at

    def _whole(self, name: str, at: int) -> int:
        """An environment that is read as a whole: a table, a formula, or a picture, which has no words."""
        end = None
        if name not in self._never_ended:
            end = re.compile(rf"\\end\s*\{{{name}\*?\}}").search(self._text, at)
        if end is None:
            self._never_ended.add(name)
            return at
        if name in _FORMULAS:
            self._made.add(BlockKind.CODE, self._text[at : end.start()].strip())
        elif name in _TABLES:
            _, begin = _argument(self._text, at)
            begin = _argument(self._text, begin)[1] if name in _WIDE_TABLES else begin
            self._made.part()
            for line in document_lines(self._rows(self._text[begin : end.start()])):
                self._made.add(BlockKind.ROW, line)
        return end.end()

    def _formula(self, at: int, end: str) -> int:
        stop = self._text.find(end, at)
        if stop < 0:
            return at
        self._made.add(BlockKind.CODE, self._text[at:stop].strip())
        return stop + len(end)

    def _rows(self, text: str) -> Iterator[GridRow]:
        """The rows of a table; those above its first rule between rows are its header."""
        is_head = sum(bool(found["mid"]) for found in _RULE.finditer(text)) > 0
        seen = 0
        for number, line in enumerate(_ROW_END.split(hidden_escapes(text)), 1):
            rules = [found for found in _RULE.finditer(line) if found["mid"]]
            is_head = is_head and not (rules and seen)
            cells: list[str] = []
            wide: dict[int, int] = {}
            for cell in _RULE.sub("", line).split("&"):
                if spanning := _SPANNING.match(cell):
                    wide[len(cells)] = int(spanning[1])
                cells.append(self.plain(cell))
                cells += [""] * (wide.get(len(cells) - 1, 1) - 1)
            if any(cells):
                seen += 1
                yield GridRow(number, cells, wide, is_head=is_head)

    def _end(self) -> None:
        """Append the paragraph or the item that was begun."""
        text = self.plain("".join(self._paragraph))
        if self._item and text:
            level = min(max(0, len(self._lists) - 1), _MAX_LIST_DEPTH)
            self._made.add(BlockKind.ITEM, text, level=level, marker=self._item)
            self._item = ""
        else:
            self._made.add(BlockKind.PARAGRAPH, text)
        self._paragraph = []
