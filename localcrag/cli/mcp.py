"""``localcrag mcp``: the door for editors and agents."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localcrag.cli.command_state import CommandState, pass_state, print_reason
from localcrag.cli.name_completion import KbName
from localcrag.errors import UsageError

if TYPE_CHECKING:
    from localcrag.knowledge_base import KnowledgeBase


@click.command()
@click.option(
    "--kb",
    "names",
    type=KbName(),
    multiple=True,
    metavar="NAME",
    help="Only this knowledge base; repeatable, the first one is asked by default.",
)
@click.option(
    "--allow-ingest",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Let the client ingest what lies below this folder.",
)
@pass_state
def mcp(state: CommandState, names: tuple[str, ...], allow_ingest: Path | None) -> None:
    """Serve an editor or an agent over the Model Context Protocol, on stdin and stdout.

    Not to be typed: the client starts it. It offers the tools search, ask, read and
    list_knowledge_bases, and the documents as resources. Nobody can be asked over this protocol, so the
    web is searched only with web.policy = auto, and files are ingested only from the allowed folder.
    """
    if allow_ingest is not None and not allow_ingest.is_dir():
        raise UsageError(f"there is no folder {allow_ingest}", hint="name one whose files may be ingested")
    try:
        from localcrag.serve.mcp_api.mcp_server import serve_stdio
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the Model Context Protocol needs a package that is not installed: {error.name}",
            hint="install it: pip install 'localcrag[mcp]'",
        ) from error
    from localcrag.serve.mcp_api.mcp_access import McpAccess

    @cache
    def held(name: str) -> KnowledgeBase:
        return state.open(name, ingest={"follow_links": False})

    serve_stdio(
        McpAccess(
            settings=state.settings,
            open_askable=lambda name: state.open_askable(name, print_reason, lambda: held(name)),
            open_held=held,
            only=names,
            ingest_folder=allow_ingest and allow_ingest.resolve(),
        )
    )
