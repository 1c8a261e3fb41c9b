"""``localcrag search``."""

from __future__ import annotations

import click

from localcrag.cli.command_state import CommandState, ignore_reason, pass_state, print_json
from localcrag.cli.parameters import evaluator_option, filter_option, json_option, kbs_option

NO_HITS_EXIT_CODE = 3


@click.command()
@click.argument("query", nargs=-1, required=True)
@kbs_option
@filter_option
@click.option(
    "-k", "--k", "k", type=click.IntRange(1, 200), default=8, show_default=True, help="Hits to show."
)
@evaluator_option
@json_option
@pass_state
def search(
    state: CommandState,
    query: tuple[str, ...],
    kb: str | None,
    filter_: str | None,
    k: int,
    evaluator: str | None,
    as_json: bool,
) -> int:
    """Find the passages that bear on QUERY: retrieval alone, no answer."""
    text = " ".join(query)
    base = state.open_askable(kb, ignore_reason)
    hits = base.search(text, k=k, filter=filter_, evaluator=evaluator)
    if as_json:
        rows = [hit.to_dict(rank) for rank, hit in enumerate(hits, 1)]
        print_json({"query": text, "kb": base.name, "hits": rows})
    else:
        from localcrag.cli.hit_list import print_hits

        print_hits(text, hits)
        if not hits:
            click.echo("Nothing found.", err=True)
    return 0 if hits else NO_HITS_EXIT_CODE
