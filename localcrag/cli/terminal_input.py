"""The lines typed in a chat: from a terminal, with editing, history and completion, or from a pipe."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession


class Lines(Protocol):
    """A source of lines; ``interactive`` says that a person types them."""

    @property
    def interactive(self) -> bool:
        """Whether a person types the lines."""
        ...

    def read(self) -> str:
        """The next line without its line break.

        Raises EOFError at the end, KeyboardInterrupt for a line that was given up.
        """
        ...


class Piped:
    """The lines of standard input; bytes that are not text become replacement characters."""

    interactive = False

    def __init__(self) -> None:
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")

    def read(self) -> str:
        """The next line without its line break. Raises EOFError."""
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.removesuffix("\n")


class Terminal:
    """Lines typed at a terminal; the prompt is written on stderr.

    ``completions`` maps each text that can be completed to a description; ``earlier`` are the lines that
    the up arrow brings back. The history lasts as long as the chat, and is kept in no file.
    """

    interactive = True

    def __init__(self, prompt: str, completions: Mapping[str, str], earlier: Sequence[str]) -> None:
        self._prompt, self._completions, self._earlier = prompt, completions, earlier

    def read(self) -> str:
        """The next line. Raises EOFError at Ctrl-D, KeyboardInterrupt at Ctrl-C."""
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


def input_lines(prompt: str, completions: Mapping[str, str], earlier: Sequence[str]) -> Lines:
    """The lines of the terminal if stdin and stderr are one, otherwise those of standard input."""
    if sys.stdin.isatty() and sys.stderr.isatty():
        return Terminal(prompt, completions, earlier)
    return Piped()
