"""``localcrag kb``: what knowledge bases there are, and what they hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localcrag.cli.common import State, filter_option, json_option, pass_state, print_json
from localcrag.filters import BUILT_IN
from localcrag.types import JsonValue, StoreInfo

if TYPE_CHECKING:
    from localcrag.app import KnowledgeBase
    from localcrag.index.store import Facet

FACETS_SHOWN, FACETS_LISTED = 8, 100
"""Values of a field that `kb show` prints, and that its --json lists."""


@click.group()
def kb() -> None:
    """List, show, export, compact and remove knowledge bases."""


@kb.command("list")
@json_option
@pass_state
def list_(state: State, as_json: bool) -> None:
    """The knowledge bases and their sizes."""
    from localcrag import app

    infos = [app.open(name, settings=state.settings).info() for name in app.names(state.settings)]
    if as_json:
        print_json([asdict(info) | {"fields": list(info.fields)} for info in infos])
        return
    if not infos:
        click.echo("No knowledge base yet: localcrag ingest PATH makes one.", err=True)
    for info in infos:
        click.echo(
            f"{info.name}\t{info.documents} documents\t{info.passages} passages\t"
            f"{info.size / 1e6:.1f} MB\t{info.embedding_model}"
        )


@kb.command()
@click.argument("name", required=False)
@filter_option
@json_option
@pass_state
def show(state: State, name: str | None, filter_: str | None, as_json: bool) -> None:
    """The documents of a knowledge base, and the fields that --filter knows with their values."""
    base = state.open(name)
    info, documents = base.info(), base.documents(filter=filter_)
    facets = _facets(base, info, filter_, FACETS_LISTED if as_json else FACETS_SHOWN + 1)
    if as_json:
        rows = [
            {
                "source": d.source,
                "title": d.title,
                "passages": d.passages,
                "hash": d.hash,
                "meta": dict(d.meta),
            }
            for d in documents
        ]
        listed = {key: _listed(values) for key, values in facets.items()}
        print_json(asdict(info) | {"fields": list(info.fields), "facets": listed, "sources": rows})
        return
    asked = f", {info.questions} questions" if info.questions else ""
    click.echo(
        f"{info.name}: {info.documents} documents, {info.passages} passages{asked}, {info.size / 1e6:.1f} MB"
    )
    click.echo(f"embedding model {info.embedding_model}, {info.dimension} dimensions")
    click.echo(f"fields for --filter: {', '.join(info.fields)}")
    for key, values in facets.items():
        click.echo(f"  {key}: {_shown(values)}")
    if filter_:
        click.echo(f"{len(documents)} documents match {filter_}")
    for document in documents:
        click.echo(f"{document.passages:6}  {document.source}")


def _facets(
    base: KnowledgeBase, info: StoreInfo, filter_: str | None, limit: int
) -> Mapping[str, Sequence[Facet]]:
    """The most frequent values of every field that was given with --meta."""
    keys = [key for key in info.fields if key not in BUILT_IN]
    return {key: base.facets(key, limit=limit, filter=filter_) for key in keys}


def _listed(facets: Sequence[Facet]) -> JsonValue:
    return [{"value": facet.value, "documents": facet.documents} for facet in facets]


def _shown(facets: Sequence[Facet]) -> str:
    """``x (12), y (3)``, values as --filter takes them."""
    shown = [
        f"{json.dumps(facet.value, ensure_ascii=False)} ({facet.documents})"
        for facet in facets[:FACETS_SHOWN]
    ]
    return ", ".join(shown) + (", …" if len(facets) > FACETS_SHOWN else "")


@kb.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_state
def remove(state: State, name: str, yes: bool) -> None:
    """Delete a knowledge base; the documents themselves are not touched."""
    base = state.open(name)
    info = base.info()
    if not yes:
        click.confirm(f"Delete {name} with {info.documents} documents?", abort=True, err=True)
    base.remove()
    click.echo(f"Removed {name}.", err=True)


@kb.command()
@click.argument("source", nargs=-1, required=True)
@click.option("--kb", "name", metavar="NAME", help="Knowledge base; by default the one in the settings.")
@pass_state
def forget(state: State, source: tuple[str, ...], name: str | None) -> int:
    """Take single documents out of a knowledge base."""
    places = [
        item if "://" in item or item.startswith("stdin:") else str(Path(item).absolute()) for item in source
    ]
    count = state.open(name).forget(places)
    click.echo(f"Forgot {count} of {len(places)} documents.", err=True)
    return 0 if count == len(places) else 1


@kb.command()
@click.argument("name", required=False)
@pass_state
def compact(state: State, name: str | None) -> None:
    """Bring the search indexes up to date and give disk space back."""
    base = state.open(name)
    before = base.info().size
    base.compact()
    click.echo(f"{before / 1e6:.1f} MB before, {base.info().size / 1e6:.1f} MB now", err=True)


@kb.command()
@click.argument("name", required=False)
@filter_option
@pass_state
def export(state: State, name: str | None, filter_: str | None) -> None:
    """Print the stored text, one JSON object per document and line."""
    for document in state.open(name).export(filter=filter_):
        row = asdict(document) | {"meta": dict(document.meta)}
        click.echo(json.dumps(row, ensure_ascii=False))
