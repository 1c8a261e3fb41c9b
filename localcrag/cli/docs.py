"""``localcrag docs``: the manual, which is a part of the package."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from importlib.resources import files
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from localcrag.cli.table_layout import print_rows
from localcrag.errors import UsageError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

INDEX_PAGE = "README.md"
MAX_PAGE_COLUMNS = 100
"""Columns of a rendered page, however wide the terminal is."""
_INDEX_ENTRY = re.compile(r"^- \[[^\]]+\]\(([\w-]+)\.md\): (.+)$", re.MULTILINE)
"""An entry of the list of pages: the name of the page, and a line about it."""
_COMMENT = re.compile(r"^<!-- .* -->\n+", re.MULTILINE)


class PageName(click.ParamType[str]):
    """The name of a page of the manual, with completion in the shell."""

    name = "page"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The pages whose names begin with the text typed so far."""
        return [CompletionItem(name, help=about) for name, about in _pages() if name.startswith(incomplete)]


@click.command()
@click.argument("page", required=False, type=PageName())
def docs(page: str | None) -> None:
    """List the pages of the manual, or show one of them.

    The manual is installed with localcrag and needs no network. On a terminal a page is rendered and
    opens in the pager; into a pipe or a file goes its Markdown.
    """
    if page is None:
        pages = list(_pages())
        if sys.stdout.isatty():
            print_rows(pages)
        else:
            width = max(len(name) for name, _ in pages)
            click.echo("\n".join(f"{name.ljust(width)}  {about}" for name, about in pages))
        return
    text = _text(page)
    if sys.stdout.isatty():
        click.echo_via_pager(_rendered(text), color=True)
    else:
        click.echo(text, nl=False)


def _pages() -> Iterator[tuple[str, str]]:
    """The name of every page and one line about it, in reading order."""
    for found in _INDEX_ENTRY.finditer(_manual().joinpath(INDEX_PAGE).read_text("utf-8")):
        yield found[1], found[2].removesuffix(".")


def _text(page: str) -> str:
    """The Markdown of a page. Raises UsageError if it does not exist."""
    wanted = page.strip().lower().removesuffix(".md").replace("_", "-").replace(" ", "-")
    names = [name for name, _ in _pages()]
    if wanted not in names:
        near = get_close_matches(wanted, names, n=3, cutoff=0.5) or [
            name for name in names if wanted and (wanted in name or name in wanted)
        ]
        question = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(
            f"the manual has no page {page[:80]!r}", hint=f"{question}localcrag docs lists them all"
        )
    return _manual().joinpath(f"{wanted}.md").read_text("utf-8")


def _manual() -> Traversable:
    return files("localcrag").joinpath("docs")


def _rendered(text: str) -> str:
    """A page rendered for the terminal, with colours unless the environment forbids them."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.width = min(console.width, MAX_PAGE_COLUMNS)
    with console.capture() as captured:
        console.print(Markdown(_COMMENT.sub("", text)))
    return captured.get()
