"""``localcrag chat``: a conversation, in which a question is understood with those before it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import click

from localcrag.cli.ask import consent
from localcrag.cli.ask_options import with_ask_options
from localcrag.cli.command_state import CommandState, complain, ignore_reason, pass_state
from localcrag.cli.name_completion import ThreadName
from localcrag.cli.parameters import kb_option
from localcrag.cli.safe_output import one_line, plain
from localcrag.cli.terminal_input import Lines, input_lines
from localcrag.cli.threads import kept_answer, shown_turn
from localcrag.errors import LocalCragError, UsageError, WebNotConfigured
from localcrag.events import Delta, Event, Finished
from localcrag.protocols import ThreadStore
from localcrag.types import Answer, Turn, WebPolicy

if TYPE_CHECKING:
    from localcrag.options import AskOptions
    from localcrag.serve.client import AskableKnowledgeBase

SHOWN_TURNS = 4
"""Turns that are shown when a conversation is continued."""
NO_FILTER = "off"


@click.command()
@click.option(
    "--thread",
    type=ThreadName(),
    metavar="NAME",
    help="Keep the conversation under this name, or go on with it; without a name nothing is kept.",
)
@kb_option
@with_ask_options
@pass_state
def chat(
    state: CommandState,
    /,
    thread: str | None,
    kb: str | None,
    **how: Any,
) -> None:
    """Ask one question after the other; a follow-up is understood with what you asked before.

    Answers are printed on stdout, everything else on stderr. A conversation that has a --thread
    keeps its turns, its knowledge base and its --filter. /help lists what can be typed beside
    questions; Ctrl-C stops an answer, Ctrl-D or /quit ends the chat.
    """
    from localcrag import knowledge_base
    from localcrag.options import AskOptions

    options = AskOptions(**how)
    store = knowledge_base.threads(state.settings) if thread is not None else None
    held = next((one for one in store.threads() if one.name == thread), None) if store else None
    name = kb or (held.kb if held else None)
    base = state.open_askable(name, ignore_reason)
    base.info()
    if options.filter:
        _check_filter(base, options.filter)
    conversation = Conversation()
    if store and thread is not None:
        conversation = Conversation(store, thread, kept_filter=held.filter if held else None)
        conversation.begin(base.name, options.filter)
    session = Chat(base, replace(options, filter=options.filter or conversation.kept_filter), conversation)
    session.welcome()
    earlier = [turn.text for turn in conversation.turns if turn.role == "user"]
    session.run(input_lines(f"{one_line(thread or base.name)} › ", COMPLETIONS, earlier))


@dataclass
class Conversation:
    """The turns of a conversation; with a store they are kept there under ``name``.

    ``kept_filter`` is the filter that is kept with them.
    """

    store: ThreadStore | None = None
    name: str = ""
    kept_filter: str | None = None
    turns: list[Turn] = field(default_factory=list)

    def begin(self, kb: str, filter: str | None) -> None:
        """Continue the conversation of this name, or make it. Raises UsageError, StoreError."""
        if self.store is None:
            return
        thread = self.store.open(self.name)
        if thread.kb != kb:
            self.store.set_kb(self.name, kb)
        if filter:
            self.set_filter(filter)
        self.turns = self.store.turns(self.name)

    def add(self, answer: Answer) -> None:
        """Add a question and its answer, first here and then in the store. Raises StoreError."""
        record = json.dumps(answer.to_dict(), ensure_ascii=False)
        turns = [Turn("user", answer.question), Turn("assistant", answer.text, record)]
        self.turns += turns
        if self.store:
            self.store.append(self.name, turns)

    def forget(self) -> int:
        """Forget the turns, but keep the knowledge base and the filter; returns their number."""
        count = len(self.turns)
        if self.store:
            self.store.forget(self.name)
        self.turns.clear()
        return count

    def set_filter(self, filter: str | None) -> None:
        """Keep the filter with the conversation; None means all documents."""
        if self.store:
            self.store.set_filter(self.name, filter)
        self.kept_filter = filter


@dataclass
class Chat:
    """One run of ``localcrag chat``.

    ``options`` are those of the next question, and ``events`` the events of the last one.
    """

    base: AskableKnowledgeBase
    options: AskOptions
    conversation: Conversation
    events: list[Event] = field(default_factory=list)

    def run(self, lines: Lines) -> None:
        """Take lines until the end.

        An error ends only the work on its line, and so does Ctrl-C if a person types the lines.
        """
        while True:
            try:
                line = lines.read()
                if line.strip() == "/quit":
                    return
                self.take(line)
            except EOFError:
                return
            except LocalCragError as error:
                complain(error)
            except (KeyboardInterrupt, click.Abort):
                if not lines.interactive:
                    raise

    def take(self, line: str) -> None:
        """Run the command or answer the question on a line. Raises LocalCragError."""
        if not line.startswith("/"):
            if line.strip():
                self.ask(line.strip())
            return
        name, _, rest = line.partition(" ")
        if name.strip() not in COMMANDS:
            raise UsageError(f"there is no command {name[:40]}", hint="/help lists those there are")
        COMMANDS[name.strip()].run(self, rest.strip())

    def ask(self, question: str) -> None:
        """Answer a question as ``localcrag ask`` does, and add it to the conversation."""
        from localcrag.cli.event_rendering import StepRenderer

        steps, self.events = StepRenderer(trace=False, question=question, brief=True), []
        asked = replace(self.options, history=tuple(self.conversation.turns), consent=consent())
        try:
            for event in self.base.stream(question, asked):
                self.events.append(event)
                steps.show(event)
        except (KeyboardInterrupt, click.Abort):
            self.base.reset_models()
            steps.say("Stopped; this question is not part of the conversation.", "yellow")
            raise
        if isinstance(event, Finished):
            self.conversation.add(event.answer)

    def welcome(self) -> None:
        """Say which knowledge base is asked, and show the last turns of a continued conversation."""
        where = f", only where {self.options.filter}" if self.options.filter else ""
        say(f"Asking {self.base.name}{where}. /help lists the commands.")
        for turn in self.conversation.turns[-SHOWN_TURNS:]:
            text = " ".join((turn.text if turn.role == "user" else shown_turn(turn)).split())
            say(("› " if turn.role == "user" else "  ") + (text if len(text) < 300 else f"{text[:300]}…"))

    # ------------------------------------------------------------------------------ commands

    def help(self, _: str) -> None:
        """``/help``: list the commands."""
        for usage, command in ((f"{name} {c.usage}".strip(), c) for name, c in COMMANDS.items()):
            say(f"{usage:26} {command.help}")
        say("A question that begins with / needs a blank before it.")

    def sources(self, _: str) -> None:
        """``/sources``: show the sources of the last answer. Raises StoreError."""
        from localcrag.cli.event_rendering import StepRenderer

        answers = [turn for turn in self.conversation.turns if turn.role == "assistant"]
        answer = kept_answer(answers[-1]) if answers else None
        if answer is None or not answer.citations:
            say("The last answer has no sources." if answers else "There is no answer yet.")
        else:
            StepRenderer(trace=False).sources(answer)

    def trace(self, _: str) -> None:
        """``/trace``: show the steps of the last question."""
        from localcrag.cli.event_rendering import StepRenderer

        if not self.events:
            say("Nothing was asked yet since this chat began.")
        steps = StepRenderer(trace=True)
        for event in self.events:
            if not isinstance(event, (Delta, Finished)):
                steps.show(event)

    def web(self, word: str) -> None:
        """``/web``: show the web policy, or set it to ``word``. Raises UsageError, WebNotConfigured."""
        settings = self.base.settings
        if word:
            if word not in list(WebPolicy):
                raise UsageError(f"/web takes {', '.join(WebPolicy)}", hint="for example: /web ask")
            if word != WebPolicy.NEVER and not settings.web.url:
                raise WebNotConfigured(
                    "no SearXNG is configured", hint="set web.url (LOCALCRAG_WEB_URL), and begin again"
                )
            self.options = replace(self.options, web=WebPolicy(word))
        if settings.offline:
            say("web: never, since localcrag is offline")
        else:
            say(f"web: {self.options.web or settings.web.policy}")

    def filter(self, expression: str) -> None:
        """``/filter``: show the filter, or set it; ``off`` removes it. Raises FilterError, StoreError."""
        if expression:
            new = None if expression == NO_FILTER else expression
            if new:
                _check_filter(self.base, new)
            self.options = replace(self.options, filter=new)
            self.conversation.set_filter(new)
        say(f"filter: {self.options.filter or NO_FILTER}")

    def new(self, _: str) -> None:
        """``/new``: forget the turns of the conversation."""
        count = self.conversation.forget()
        self.events = []
        say(f"Forgot {count} turns; the settings stay.")


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the chat; ``usage`` names its arguments, ``help`` is a line about it."""

    run: Callable[[Chat, str], None]
    help: str
    usage: str = ""


def _quit(_: Chat, __: str) -> None:
    raise EOFError


COMMANDS: Mapping[str, Command] = {
    "/help": Command(Chat.help, "what can be typed here"),
    "/sources": Command(Chat.sources, "what the last answer rests on"),
    "/trace": Command(Chat.trace, "every step of the last question, with the grades"),
    "/web": Command(Chat.web, "may a question be sent to your SearXNG?", "never|ask|auto"),
    "/filter": Command(Chat.filter, "only documents like this; kept with the thread", "EXPR|off"),
    "/new": Command(Chat.new, "forget the turns so far, keep the settings"),
    "/quit": Command(_quit, "end the chat, as Ctrl-D does"),
}
COMPLETIONS = {
    **{name: command.help for name, command in COMMANDS.items()},
    **{f"/web {policy}": "" for policy in WebPolicy},
    f"/filter {NO_FILTER}": "all documents",
}


def say(text: str) -> None:
    """Print a dim line on stderr."""
    click.echo(click.style(plain(text), dim=True), err=True)


def _check_filter(base: AskableKnowledgeBase, filter: str) -> None:
    """Say so if no document passes the filter. Raises FilterError if it cannot be used."""
    if not base.search("a document", k=1, filter=filter):
        say("No document is like this now.")
