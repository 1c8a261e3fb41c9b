"""Where the lines of a chat come from: a terminal, with editing, history and completion, or a pipe."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession


class Lines(Protocol):
    """Lines without their line break; ``interactive`` where a person types them."""

    @property
    def interactive(self) -> bool: ...

    def read(self) -> str:
        """Raises EOFError at the end, KeyboardInterrupt for a line that was given up."""
        ...


class Piped:
    """The lines of stdin as they are; bytes that are no text become replacement characters."""

    interactive = False

    def __init__(self) -> None:
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")

    def read(self) -> str:
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.removesuffix("\n")


class Terminal:
    """Lines typed at a terminal; the prompt is written on stderr.

    ``completions`` maps what can be completed to a word about it; ``earlier`` lines come back with
    the up arrow. What is typed is remembered as long as the chat lasts, and in no file.
    """

    interactive = True

    def __init__(self, prompt: str, completions: Mapping[str, str], earlier: Sequence[str]) -> None:
        self._prompt, self._completions, self._earlier = prompt, completions, earlier

    def read(self) -> str:
        return self._session.prompt()

    @cached_property
    def _session(self) -> PromptSession[str]:
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.output import create_output

        completer = WordCompleter(list(self._completions), meta_dict=dict(self._completions), sentence=True)
        return PromptSession(
            self._prompt,
            completer=completer,
            history=InMemoryHistory(self._earlier),
            output=create_output(stdout=sys.stderr),
        )


def lines(prompt: str, completions: Mapping[str, str], earlier: Sequence[str]) -> Lines:
    """From the terminal where there is one to type at and to show it on, else from stdin as it comes."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        return Terminal(prompt, completions, earlier)
    return Piped()
