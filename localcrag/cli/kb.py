"""``localcrag kb``: the knowledge bases and their contents."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localcrag._platform import source_of
from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.parameters import filter_option, json_option
from localcrag.cli.safe_output import json_text, one_line
from localcrag.errors import StoreError, UnknownKnowledgeBase
from localcrag.filters import BUILT_IN
from localcrag.types import JsonValue, StoreInfo

if TYPE_CHECKING:
    from localcrag.knowledge_base import KnowledgeBase
    from localcrag.store.lance_store import Facet

MAX_SHOWN_FACETS, MAX_LISTED_FACETS = 8, 100
"""Values of a field that `kb show` prints, and that its --json lists."""


@click.group()
def kb() -> None:
    """List, show, export, compact and remove knowledge bases."""


@kb.command("list")
@json_option
@pass_state
def list_(state: CommandState, as_json: bool) -> int:
    """The knowledge bases and their sizes."""
    from localcrag import knowledge_base

    names = knowledge_base.names(state.settings)
    infos, unreadable = _infos(state, names)
    for name, error in unreadable.items():
        advice = f" ({error.hint})" if error.hint else ""
        click.echo(click.style(one_line(f"{name} cannot be read: {error}{advice}"), fg="yellow"), err=True)
    code = 1 if unreadable else 0
    if as_json:
        print_json([asdict(info) | {"fields": list(info.fields)} for info in infos])
        return code
    if not names:
        click.echo("No knowledge base yet: localcrag ingest PATH makes one.", err=True)
    for info in infos:
        click.echo(
            f"{info.name}\t{info.documents} documents\t{info.passages} passages\t"
            f"{info.size / 1e6:.1f} MB\t{info.embedding_model}"
        )
    return code


def _infos(state: CommandState, names: Sequence[str]) -> tuple[list[StoreInfo], dict[str, StoreError]]:
    """The sizes of the readable knowledge bases, and the errors of the others.

    One that was removed meanwhile is in neither.
    """
    infos: list[StoreInfo] = []
    unreadable: dict[str, StoreError] = {}
    for name in names:
        try:
            infos.append(state.open(name).info())
        except UnknownKnowledgeBase:
            continue
        except StoreError as error:
            unreadable[name] = error
    return infos, unreadable


@kb.command()
@click.argument("name", required=False)
@filter_option
@json_option
@pass_state
def show(state: CommandState, name: str | None, filter_: str | None, as_json: bool) -> None:
    """The documents of a knowledge base, the fields that --filter knows, and the values of --meta fields."""
    base = state.open(name)
    info, documents = base.info(), base.documents(filter=filter_)
    facets = _facets(base, info, filter_, MAX_LISTED_FACETS if as_json else MAX_SHOWN_FACETS + 1)
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
        listed = {key: _facets_json(values) for key, values in facets.items()}
        print_json(asdict(info) | {"fields": list(info.fields), "facets": listed, "sources": rows})
        return
    asked = f", {info.questions} questions" if info.questions else ""
    click.echo(
        f"{info.name}: {info.documents} documents, {info.passages} passages{asked}, {info.size / 1e6:.1f} MB"
    )
    click.echo(f"embedding model {info.embedding_model}, {info.dimension} dimensions")
    click.echo(one_line(f"fields for --filter: {', '.join(info.fields)}"))
    for key, values in facets.items():
        click.echo(one_line(f"  {key}: {_facets_in_words(values)}"))
    if filter_:
        click.echo(one_line(f"{len(documents)} documents match {filter_}"))
    for document in documents:
        click.echo(one_line(f"{document.passages:6}  {document.source}"))


def _facets(
    base: KnowledgeBase, info: StoreInfo, filter_: str | None, limit: int
) -> Mapping[str, Sequence[Facet]]:
    """The most frequent values of every field that was given with --meta, at most ``limit`` each."""
    keys = [key for key in info.fields if key not in BUILT_IN]
    return {key: base.facets(key, limit=limit, filter=filter_) for key in keys}


def _facets_json(facets: Sequence[Facet]) -> JsonValue:
    return [{"value": facet.value, "documents": facet.documents} for facet in facets]


def _facets_in_words(facets: Sequence[Facet]) -> str:
    """Values as --filter takes them, with their numbers of documents: ``"x" (12), "y" (3)``."""
    shown = [
        f"{json.dumps(facet.value, ensure_ascii=False)} ({facet.documents})"
        for facet in facets[:MAX_SHOWN_FACETS]
    ]
    return ", ".join(shown) + (", …" if len(facets) > MAX_SHOWN_FACETS else "")


@kb.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_state
def remove(state: CommandState, name: str, yes: bool) -> None:
    """Delete a knowledge base; the documents themselves are not touched."""
    base = state.open(name)
    if not yes:
        click.confirm(f"Delete {one_line(name)}{_content_in_words(base)}?", abort=True, err=True)
    base.remove()
    click.echo(f"Removed {one_line(name)}.", err=True)


def _content_in_words(base: KnowledgeBase) -> str:
    """The contents that would be deleted, in words. Raises UnknownKnowledgeBase."""
    try:
        return f" with {base.info().documents} documents"
    except UnknownKnowledgeBase:
        raise
    except StoreError:
        return ", which cannot be read"


@kb.command()
@click.argument("source", nargs=-1, required=True)
@click.option("--kb", "name", metavar="NAME", help="Knowledge base; by default the one in the settings.")
@pass_state
def forget(state: CommandState, source: tuple[str, ...], name: str | None) -> int:
    """Take single documents out of a knowledge base."""
    base = state.open(name)
    held = {document.source for document in base.documents()}
    places = {place for item in source for place in _possible_sources(item) if place in held}
    count = base.forget(sorted(places))
    click.echo(f"Forgot {count} of {len(source)} documents.", err=True)
    return 0 if count == len(source) else 1


def _possible_sources(item: str) -> Iterator[str]:
    """The sources that ``item`` may name: itself, and the absolute path of such a file."""
    yield item
    with suppress(OSError, ValueError):
        yield source_of(Path(item))


@kb.command()
@click.argument("name", required=False)
@pass_state
def compact(state: CommandState, name: str | None) -> None:
    """Bring the search indexes up to date and give disk space back."""
    base = state.open(name)
    before = base.info().size
    base.compact()
    click.echo(f"{before / 1e6:.1f} MB before, {base.info().size / 1e6:.1f} MB now", err=True)


@kb.command()
@click.argument("name", required=False)
@filter_option
@pass_state
def export(state: CommandState, name: str | None, filter_: str | None) -> None:
    """Print the stored text, one JSON object per document and line."""
    for document in state.open(name).export(filter=filter_):
        pages = [{"number": page.number, "text": page.text} for page in document.pages]
        row = {item.name: getattr(document, item.name) for item in fields(document)}
        click.echo(json_text({**row, "pages": pages, "meta": dict(document.meta)}))
