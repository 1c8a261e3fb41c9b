"""The markup that Obsidian and similar notebooks add to Markdown, as rules of the parser.

A link "[[NAS|network storage]]" becomes its words, an embedded file its name, and a highlighted text loses
its marks. Comments and the ids of blocks (" ^guarantee") are left out, and the title of a callout leads in to
its text: "Beeping NAS: Three short beeps …". Code is never touched: the parser's own rules for it come first.

No plugin at hand reads them: those of mdit-py-plugins have neither links nor callouts of this kind.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

EMBEDDED = "embedded_file"
"""The type of the token of an embedded file."""
_LINK = re.compile(r"!?\[\[(?![\s^])([^\[\]\n|]{1,200})(?:\|([^\[\]\n]{0,200}))?\]\](?!\()")
_CONTENTS = "_TOC_"
"""The target for which some wikis show a table of contents."""
_PICTURE_WIDTH = re.compile(r"\d+(?:x\d+)?")
"""What stands in the place of the words of an embedded picture: its width."""
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}$")
_HIGHLIGHTED = re.compile(r"==(?![\s=])(.{0,1000}?[^\s=])==(?![\w=])", re.DOTALL)
_COMMENT = re.compile(r"%%(?!%).{1,2000}?%%(?![\w%])", re.DOTALL)
_BLOCK_ID = re.compile(r"\^(?=[\d-]*[A-Za-z])[A-Za-z0-9-]{3,60}[ \t]*$")
_CALLOUT = re.compile(r"\[!\w[\w -]{0,40}(?:\|[^\]\n]{0,60})?\][+-]?(?:[ \t]+(?P<title>\S.*)|[ \t]*)(?:\n|$)")
_MARKS = (".", ":", "?", "!", "…")
_MAX_COMMENT_LINES = 500


def use_obsidian(parser: MarkdownIt) -> MarkdownIt:
    """The parser, with the rules for this markup."""
    parser.core.ruler.before("inline", "callout", _lead_in_callouts)
    parser.block.ruler.after("fence", "comment", _comment_block, {"alt": ["paragraph", "blockquote", "list"]})
    parser.inline.ruler.before("link", "wiki_link", _wiki_link)
    parser.inline.ruler.before("link", "highlight", _highlight)
    parser.inline.ruler.before("link", "comment", _comment)
    parser.inline.ruler.before("link", "block_id", _block_id)
    return parser


def is_embedded(inline: Token) -> bool:
    """Whether a text is no more than embedded files."""
    shown = [child for child in inline.children or [] if child.content.strip()]
    return bool(shown) and all(child.type == EMBEDDED for child in shown)


def _before(state: StateInline) -> str:
    """The character before the place of the parser, a blank at the start."""
    return state.src[state.pos - 1] if state.pos else " "


def _is_after_word(state: StateInline) -> bool:
    before = _before(state)
    return before.isascii() and (before.isalnum() or before == "_")


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """A link to another note; its words are the name that it is shown by, or those of its target."""
    found = _LINK.match(state.src, state.pos, state.posMax)
    if found is None or _is_after_word(state) or _is_reference(state, found[1]):
        return False
    is_embedded = found[0].startswith("!")
    if not silent and found[1] != _CONTENTS:
        words = (found[2] or "").strip()
        if not words or (is_embedded and _PICTURE_WIDTH.fullmatch(words)):
            target = _EXTENSION.sub("", found[1].strip()) if is_embedded else found[1]
            parts = (part.strip() for part in target.split("#"))
            words = ", ".join(part for part in parts if part and not part.startswith("^"))
        token = state.push(EMBEDDED if is_embedded else "text", "", 0)
        token.content = words.rpartition("/")[2] if is_embedded else words
    state.pos = found.end()
    return True


def _is_reference(state: StateInline, label: str) -> bool:
    """Whether the inner brackets are a link whose address stands elsewhere in the text: "[[1]]"."""
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(label) in state.env.get("references", {})


def _highlight(state: StateInline, silent: bool) -> bool:
    """A text that is marked as with a pen; what is compared in it ("a == b") is none."""
    found = _HIGHLIGHTED.match(state.src, state.pos, state.posMax)
    if found is None or _is_after_word(state) or _before(state) == "=" or found[1].count("`") % 2:
        return False
    if not silent:
        end = state.posMax
        state.push("mark_open", "mark", 1)
        state.pos, state.posMax = found.span(1)
        state.md.inline.tokenize(state)
        state.push("mark_close", "mark", -1)
        state.posMax = end
    state.pos = found.end()
    return True


def _comment(state: StateInline, silent: bool) -> bool:
    """A comment within a paragraph, which is left out."""
    found = _COMMENT.match(state.src, state.pos, state.posMax)
    if found is None or _is_after_word(state):
        return False
    state.pos = found.end()
    return True


def _block_id(state: StateInline, silent: bool) -> bool:
    """The id by which other notes refer to a block, at its end."""
    found = _BLOCK_ID.match(state.src, state.pos, state.posMax)
    if found is None or found.end() < len(state.src) or not _before(state).isspace():
        return False
    state.pos = found.end()
    return True


def _comment_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A comment of several lines, which begins with "%%" and ends with a line "%%"."""
    opening = _line(state, start)
    if not opening.startswith("%%") or "%%" in opening[2:] or state.is_code_block(start):
        return False
    last = min(end, start + _MAX_COMMENT_LINES)
    closing = next((line for line in range(start + 1, last) if _line(state, line).endswith("%%")), None)
    if closing is None or _line(state, closing).removesuffix("%%").count("%%"):
        return False
    if not silent:
        state.line = closing + 1
    return True


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _lead_in_callouts(state: StateCore) -> None:
    """Let the title of each callout lead in to its text; the kind of a callout is left out."""
    opens = ("blockquote_open", "paragraph_open", "inline")
    for first, token in enumerate(state.tokens[2:]):
        if tuple(each.type for each in state.tokens[first : first + 3]) != opens:
            continue
        if found := _CALLOUT.match(token.content):
            title, text = (found["title"] or "").strip(), token.content[found.end() :]
            is_last = not text and state.tokens[first + 4].type == "blockquote_close"
            colon = "" if is_last or not title or title.endswith(_MARKS) else ":"
            token.content = "\n".join(filter(None, (title + colon, text)))
