"""``localcrag threads``: the stored conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import Any

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.confirmation import DECLINED_EXIT_CODE, is_confirmed
from localcrag.cli.event_rendering import shown
from localcrag.cli.name_completion import ThreadName
from localcrag.cli.parameters import json_option
from localcrag.cli.safe_output import one_line, plain
from localcrag.cli.table_layout import print_rows
from localcrag.crag.answering.answer_form import citation_marks
from localcrag.crag.answering.bracketed_numbers import disarmed
from localcrag.errors import StoreError
from localcrag.plain_answer import link, place
from localcrag.protocols import ThreadStore
from localcrag.types import (
    Action,
    Answer,
    Citation,
    CitationMark,
    JsonValue,
    Mode,
    Origin,
    Policy,
    Status,
    Thread,
    Turn,
)


@click.group()
def threads() -> None:
    """List, show, export and delete the conversations that `chat --thread` keeps."""


@threads.command("list")
@json_option
@pass_state
def list_(state: CommandState, as_json: bool) -> None:
    """The conversations, the one used last first."""
    found = _store(state).threads()
    if as_json:
        print_json([asdict(thread) for thread in found])
        return
    if not found:
        click.echo("No conversation yet: localcrag chat --thread NAME begins one.", err=True)
    rows = [(thread.name, f"{thread.turns} turns", _when(thread.used), thread.kb or "") for thread in found]
    filters = [(thread.filter,) if thread.filter else () for thread in found]
    print_rows([(*row, *filter) for row, filter in zip(rows, filters, strict=True)])


@threads.command()
@click.argument("name", type=ThreadName())
@json_option
@pass_state
def show(state: CommandState, name: str, as_json: bool) -> None:
    """The questions and answers of a conversation."""
    thread, turns = _thread_and_turns(_store(state), name)
    if as_json:
        print_json(_thread_json(thread, turns))
        return
    for turn in turns:
        click.echo(plain(f"> {turn.text}") if turn.role == "user" else f"\n{shown_turn(turn)}\n")


@threads.command()
@click.argument("name", type=ThreadName())
@json_option
@pass_state
def export(state: CommandState, name: str, as_json: bool) -> None:
    """Print a conversation with its sources, as Markdown."""
    thread, turns = _thread_and_turns(_store(state), name)
    if as_json:
        print_json(_thread_json(thread, turns))
    else:
        click.echo(plain("\n\n".join(_markdown(thread, turns))))


@threads.command()
@click.argument("name", type=ThreadName())
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_state
def delete(state: CommandState, name: str, yes: bool) -> int:
    """Delete a conversation for good: nothing of it is left in the file."""
    store = _store(state)
    thread, _ = _thread_and_turns(store, name)
    if not (yes or is_confirmed(f"Delete {one_line(name)} with {thread.turns} turns for good?")):
        return DECLINED_EXIT_CODE
    store.delete(name)
    click.echo(f"Deleted {one_line(name)}.", err=True)
    return 0


def kept_answer(turn: Turn) -> Answer | None:
    """The answer that an assistant's turn keeps, with the fields that are shown again; None if it has none.

    Raises StoreError for a record that cannot be read.
    """
    if not turn.record:
        return None
    try:
        kept = json.loads(turn.record)
        return Answer(
            question=kept["question"],
            status=Status(kept["status"]),
            text=kept["answer"],
            mode=Mode(kept["mode"]),
            policy=Policy(kept["policy"]),
            action=Action(kept["action"]),
            citations=tuple(_kept_citation(citation) for citation in kept["citations"]),
            marks=tuple(CitationMark(**mark) for mark in kept.get("marks", [])),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"the sources of an answer in this conversation cannot be read: {error}",
            hint="its text is there all the same: localcrag threads show",
        ) from error


def shown_turn(turn: Turn) -> str:
    """The text of an assistant's turn as it is shown: only the citations of the answer look like citations.

    An answer that was kept before its citations had places cites its keys, wherever they stand.
    """
    with suppress(StoreError):
        if answer := kept_answer(turn):
            keys = {citation.key for citation in answer.citations}
            cited = [mark for mark in citation_marks(turn.text) if mark.key in keys]
            return plain(disarmed(turn.text, answer.marks or cited))
    return plain(disarmed(turn.text))


def _kept_citation(kept: dict[str, Any]) -> Citation:
    rows = kept.get("rows")
    return Citation(**{**kept, "origin": Origin(kept["origin"]), "rows": tuple(rows) if rows else None})


def _store(state: CommandState) -> ThreadStore:
    from localcrag import knowledge_base

    return knowledge_base.threads(state.settings)


def _thread_and_turns(store: ThreadStore, name: str) -> tuple[Thread, list[Turn]]:
    """The conversation and its turns. Raises UnknownThread."""
    turns = store.turns(name)
    return next(thread for thread in store.threads() if thread.name == name), turns


def _thread_json(thread: Thread, turns: Sequence[Turn]) -> JsonValue:
    return {
        **asdict(thread),
        "turns": [
            {
                "role": turn.role,
                "text": turn.text,
                "answer": json.loads(turn.record) if turn.record else None,
            }
            for turn in turns
        ],
    }


def _markdown(thread: Thread, turns: Sequence[Turn]) -> Iterator[str]:
    """The paragraphs of a conversation: questions as headings, sources as a list under each answer."""
    yield f"# {thread.name}"
    about = f"From {_when(thread.created)} to {_when(thread.used)}, knowledge base {thread.kb or 'default'}"
    yield about + (f", only where `{thread.filter}`." if thread.filter else ".")
    for turn in turns:
        if turn.role == "user":
            yield f"## {' '.join(turn.text.split())}"
            continue
        yield shown_turn(turn).strip()
        answer = kept_answer(turn)
        if answer and answer.citations:
            yield "\n".join(_source(citation) for citation in answer.citations)


def _source(citation: Citation) -> str:
    where = shown(place(citation.source, citation.page, citation.sheet, citation.rows))
    linked = f"[{where}]({link(citation)})" if link(citation) else where
    quote = shown(" ".join(citation.quote.split()))
    return f"- [{citation.key}] {linked}, characters {citation.start}–{citation.end}: “{quote}”"


def _when(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M}"
