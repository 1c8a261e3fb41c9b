"""``localcrag threads``: the stored conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.event_rendering import link, plain
from localcrag.cli.hit_list import place
from localcrag.cli.parameters import json_option
from localcrag.errors import StoreError
from localcrag.protocols import ThreadStore
from localcrag.types import (
    Action,
    Answer,
    Citation,
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
    for thread in found:
        about = f"\t{thread.filter}" if thread.filter else ""
        click.echo(f"{thread.name}\t{thread.turns} turns\t{_when(thread.used)}\t{thread.kb or ''}{about}")


@threads.command()
@click.argument("name")
@json_option
@pass_state
def show(state: CommandState, name: str, as_json: bool) -> None:
    """The questions and answers of a conversation."""
    thread, turns = _thread_and_turns(_store(state), name)
    if as_json:
        print_json(_thread_json(thread, turns))
        return
    for turn in turns:
        click.echo(plain(f"> {turn.text}" if turn.role == "user" else f"\n{turn.text}\n"))


@threads.command()
@click.argument("name")
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
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_state
def delete(state: CommandState, name: str, yes: bool) -> None:
    """Delete a conversation for good: nothing of it is left in the file."""
    store = _store(state)
    thread, _ = _thread_and_turns(store, name)
    if not yes:
        click.confirm(f"Delete {name} with {thread.turns} turns for good?", abort=True, err=True)
    store.delete(name)
    click.echo(f"Deleted {name}.", err=True)


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
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"the sources of an answer in this conversation cannot be read: {error}",
            hint="its text is there all the same: localcrag threads show",
        ) from error


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
        yield turn.text.strip()
        answer = kept_answer(turn)
        if answer and answer.citations:
            yield "\n".join(_source(citation) for citation in answer.citations)


def _source(citation: Citation) -> str:
    where = place(citation.source, citation.page, citation.sheet, citation.rows)
    linked = f"[{where}]({link(citation)})" if link(citation) else where
    quote = " ".join(citation.quote.split())
    return f"- [{citation.key}] {linked}, characters {citation.start}–{citation.end}: “{quote}”"


def _when(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M}"
