"""``localcrag kb``: the knowledge bases and their contents."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.confirmation import DECLINED_EXIT_CODE, is_confirmed
from localcrag.cli.event_rendering import count
from localcrag.cli.ingest import refine_base
from localcrag.cli.kb_check import check, check_progress
from localcrag.cli.kb_moving import copy, import_, relocate, rename
from localcrag.cli.name_completion import KbName
from localcrag.cli.parameters import filter_option, json_option, kb_option
from localcrag.cli.safe_output import json_text, one_line
from localcrag.cli.table_layout import print_rows, print_wrapped
from localcrag.errors import StoreError, UnknownKnowledgeBase, UsageError
from localcrag.object_address import is_object_address
from localcrag.types import FieldValue, IndexedDocument, JsonValue, MetaValue, StoreInfo

if TYPE_CHECKING:
    from localcrag.knowledge_base import KnowledgeBase
    from localcrag.store.row_reads import Facet

MAX_SHOWN_SKIPS = 100
"""Skipped documents that `kb show` prints."""
MAX_SHOWN_FACETS, MAX_LISTED_FACETS = 8, 100
"""Values of a field that `kb show` prints, and that its --json lists."""


@click.group()
def kb() -> None:
    """List, show, check, move, export, refine, compact and remove knowledge bases."""


for _command in (check, relocate, rename, copy, import_):
    kb.add_command(_command)


@kb.command("list")
@json_option
@pass_state
def list_(state: CommandState, as_json: bool) -> int:
    """The knowledge bases and their sizes, also that of the settings on object storage."""
    from localcrag import knowledge_base
    from localcrag.store.kb_names import NAMES_SEPARATOR

    chosen = state.settings.kb.split(NAMES_SEPARATOR)
    names = [*knowledge_base.names(state.settings), *filter(is_object_address, chosen)]
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
    print_rows(
        [
            (
                info.name,
                count(info.documents, "document"),
                count(info.passages, "passage"),
                f"{info.size / 1e6:.1f} MB",
                info.embedding_model,
            )
            for info in infos
        ]
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
@click.argument("name", type=KbName(), required=False)
@filter_option
@json_option
@pass_state
def show(state: CommandState, name: str | None, filter_: str | None, as_json: bool) -> None:
    """The documents of a knowledge base, the fields that --filter knows, and their values."""
    base = state.open(name)
    info, documents = base.info(), base.documents(filter=filter_)
    summaries = field_summaries(
        documents, info.fields, MAX_LISTED_FACETS if as_json else MAX_SHOWN_FACETS + 1
    )
    if as_json:
        rows = [
            {
                "source": d.source,
                "title": d.title,
                "passages": d.passages,
                "hash": d.hash,
                "meta": dict(d.meta),
                "own": list(d.own),
                "left_out": round(d.left_out, 3),
            }
            for d in documents
        ]
        listed = {key: _facets_json(summary.values) for key, summary in summaries.items()}
        counts: JsonValue = {key: summary.documents for key, summary in summaries.items()}
        found = {"fields": list(info.fields), "field_documents": counts, "facets": listed, "sources": rows}
        print_json(asdict(info) | found | {"skipped": [asdict(item) for item in base.skipped()]})
        return
    asked = f", {count(info.questions, 'question')}" if info.questions else ""
    held = f"{count(info.documents, 'document')}, {count(info.passages, 'passage')}"
    print_wrapped(f"{info.name}: {held}{asked}, {info.size / 1e6:.1f} MB")
    print_wrapped(f"embedding model {info.embedding_model}, {info.dimension} dimensions")
    for place in info.places:
        print_wrapped(f"in {place.folder}: {count(place.documents, 'document')}")
    if info.refined:
        print_wrapped(
            f"refined: {info.refined} of {info.passages} passages; `localcrag kb refine {info.name}` goes on"
        )
    print_wrapped(f"fields for --filter: {', '.join(info.fields)}")
    for key, summary in summaries.items():
        held = f"  {key}, in {count(summary.documents, 'document')}: "
        print_wrapped(held + _facets_in_words(summary.values))
    if filter_:
        matching = "document matches" if len(documents) == 1 else "documents match"
        print_wrapped(f"{len(documents)} {matching} {filter_}")
    for document in documents:
        print_wrapped(f"{document.passages:6}  {document.source}")
    skipped = base.skipped()
    if skipped:
        click.echo(f"skipped, so not in it: {count(len(skipped), 'document')}")
    for item in skipped[:MAX_SHOWN_SKIPS]:
        print_wrapped(f"        {item.source}: {item.reason}")
    if len(skipped) > MAX_SHOWN_SKIPS:
        click.echo(f"        … and {len(skipped) - MAX_SHOWN_SKIPS} more; --json lists all")


@dataclass(frozen=True, slots=True)
class FieldSummary:
    """The number of documents that have a field, and its most frequent values."""

    documents: int
    values: Sequence[Facet]


def field_summaries(
    documents: Sequence[IndexedDocument], fields: Sequence[str], limit: int
) -> dict[str, FieldSummary]:
    """The fields of these documents that are among ``fields``, each with at most ``limit`` values."""
    from localcrag.store.row_reads import most_frequent

    held: dict[str, list[FieldValue]] = {key: [] for key in fields}
    for document in documents:
        for key in document.meta.keys() & held.keys():
            held[key].append(document.meta[key])
    return {
        key: FieldSummary(len(values), most_frequent(_single(values), limit))
        for key, values in held.items()
        if values
    }


def _single(values: Sequence[FieldValue]) -> Iterator[MetaValue]:
    """The values, and the texts of those that are lists."""
    for value in values:
        if isinstance(value, tuple):
            yield from value
        else:
            yield value


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
@click.argument("name", type=KbName())
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_state
def remove(state: CommandState, name: str, yes: bool) -> int:
    """Delete a knowledge base; the documents themselves are not touched."""
    base = state.open(name)
    if not (yes or is_confirmed(f"Delete {one_line(name)}{_content_in_words(base)}?")):
        return DECLINED_EXIT_CODE
    base.remove()
    click.echo(f"Removed {one_line(name)}.", err=True)
    return 0


def _content_in_words(base: KnowledgeBase) -> str:
    """The contents that would be deleted, in words. Raises UnknownKnowledgeBase."""
    try:
        return f" with {count(base.info().documents, 'document')}"
    except UnknownKnowledgeBase:
        raise
    except StoreError:
        return ", which cannot be read"


@kb.command()
@click.argument("source", nargs=-1)
@kb_option
@filter_option
@click.option("--yes", is_flag=True, help="Do not ask, whatever the number of documents.")
@pass_state
def forget(
    state: CommandState, source: tuple[str, ...], kb: str | None, filter_: str | None, yes: bool
) -> int:
    """Take documents out of a knowledge base; the files are not touched.

    SOURCE is a document, a folder with all that is below it, or a glob in quotation marks; files may be gone.
    With --filter, of these only the documents that pass it, or of all if no SOURCE is given.
    """
    if not source and filter_ is None:
        raise UsageError("name the documents to forget", hint="give a SOURCE, or --filter")
    base = state.open(kb)
    chosen = {item: base.sources(item, filter=filter_) for item in source}
    if not source:
        chosen[""] = [document.source for document in base.documents(filter=filter_)]
    sources = {held for found in chosen.values() for held in found}
    asks = not yes and sys.stdin.isatty() and sys.stderr.isatty()
    wide = len(sources) > len(source)
    if wide and asks and not is_confirmed(f"Forget {count(len(sources), 'document')} of {base.name}?"):
        return DECLINED_EXIT_CODE
    forgotten = base.forget(sorted(sources))
    for item in (item for item, found in chosen.items() if not found):
        passing = f" that passes {filter_}" if filter_ else ""
        held = f" is held of {item}" if item else ""
        click.echo(one_line(f"no document{passing}{held or ' is held'}"), err=True)
    click.echo(f"Forgot {count(forgotten, 'document')}.", err=True)
    return 0 if all(chosen.values()) else 1


@kb.command()
@click.argument("name", type=KbName(), required=False)
@pass_state
def compact(state: CommandState, name: str | None) -> None:
    """Rebuild what is damaged, bring the search indexes up to date and give disk space back."""
    base = state.open(name)
    with check_progress() as tell:
        before = base.size()
        rebuilt = base.compact(tell)
    for part in rebuilt:
        click.echo(one_line(f"rebuilt: {part}"), err=True)
    click.echo(f"{before / 1e6:.1f} MB before, {base.size() / 1e6:.1f} MB now", err=True)


@kb.command()
@click.argument("name", type=KbName(), required=False)
@pass_state
def refine(state: CommandState, name: str | None) -> None:
    """Embed with the real model what a static one has embedded.

    Meanwhile, questions are answered as before. Killed half-way, the same command goes on.
    """
    refine_base(state.open(name))


@kb.command()
@click.argument("name", type=KbName(), required=False)
@filter_option
@click.option(
    "--archive",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all of it to one file, for `kb import`.",
)
@pass_state
def export(state: CommandState, name: str | None, filter_: str | None, archive: Path | None) -> None:
    """Print the stored text, one JSON object per document and line.

    With --archive the knowledge base itself is written, with vectors and indexes: a backup, or to be carried
    to another machine.
    """
    if archive is not None:
        if filter_ is not None:
            raise UsageError("an archive holds all documents", hint="leave out --filter, or --archive")
        base = state.open(name)
        base.archive(archive)
        size = archive.stat().st_size
        click.echo(one_line(f"{base.name} is in {archive}: {size / 1e6:.1f} MB"), err=True)
        return
    for document in state.open(name).export(filter=filter_):
        pages = [{"number": page.number, "text": page.text} for page in document.pages]
        row = {item.name: getattr(document, item.name) for item in fields(document)}
        click.echo(json_text({**row, "pages": pages, "meta": dict(document.meta)}))
