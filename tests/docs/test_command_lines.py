"""Every command line that README and manual show can be typed: its command and its options exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from localcrag.cli.main import cli
from tests.docs.manual import FILES, named, spans, typed

SHOWN = [(path, number, line) for path in FILES for number, line in typed(path) if "localcrag" in line]
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_ENDS = {"|", ">", ">>", "<", "&&", ";"}


def commands(line: str) -> Iterator[list[str]]:
    """The arguments of each localcrag on a line, also behind a pipe, a variable, or within ``$(…)``."""
    for inner in re.findall(r"\$\(([^)]*)\)", line):
        yield from commands(inner)
    words = shlex.split(line, comments=True)
    while words:
        end = next((at for at, word in enumerate(words) if word in _ENDS), len(words))
        piece, words = words[:end], words[end + 1 :]
        while piece and _ASSIGNMENT.match(piece[0]):
            piece = piece[1:]
        if piece[:1] == ["localcrag"]:
            yield piece[1:]


def parse(arguments: Sequence[str]) -> click.Context:
    """As click does it, without running anything. Raises click.UsageError."""
    context = cli.make_context("localcrag", list(arguments))
    while isinstance(context.command, click.Group):
        name, command, rest = context.command.resolve_command(
            context, [*context._protected_args, *context.args]
        )
        assert name is not None and command is not None
        context = command.make_context(name, rest, parent=context)
    return context


@pytest.mark.parametrize(("path", "number", "line"), SHOWN, ids=[f"{named(p)}:{n}" for p, n, _ in SHOWN])
def test_a_command_line_is_understood(path: Path, number: int, line: str) -> None:
    for arguments in commands(line):
        try:
            parse(arguments)
        except click.ClickException as error:
            pytest.fail(f"{named(path)}, line {number}: {line}\n{error.format_message()}")


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_command_within_a_sentence_exists_with_its_options(path: Path) -> None:
    for span in spans(path):
        if span.startswith("localcrag ") and "…" not in span:
            check(shlex.split(span)[1:], span)


def check(words: Sequence[str], shown: str) -> None:
    """The command is there, and so is every option; its arguments may be left out in a sentence."""
    context = click.Context(cli, info_name="localcrag")
    options = {*_options(cli), "--help", "-h"}
    for word in words:
        command = context.command
        if word.startswith("-") and word != "-":
            assert word in options, f"{shown}: {word}"
        elif isinstance(command, click.Group) and not _is_value(word):
            child = command.get_command(context, word)
            assert child is not None, f"{shown}: no command {word}"
            context = click.Context(child, parent=context, info_name=word)
            options = {*_options(child), "--help", "-h"}


def _options(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)


def _is_value(word: str) -> bool:
    """A placeholder such as FOLDER."""
    return word.strip("[]").isupper()


def test_a_wrong_line_would_be_noticed() -> None:
    assert list(commands("X=1 localcrag ask 'a b' | jq .x  # why")) == [["ask", "a b"]]
    assert list(commands('eval "$(localcrag completion bash)"')) == [["completion", "bash"]]
    for wrong in (["asks", "x"], ["ask", "--no-such", "x"], ["ask", "--policy", "x", "y"], ["kb", "remove"]):
        with pytest.raises(click.ClickException):
            parse(wrong)
    with pytest.raises(AssertionError, match="no command"):
        check(["kbs"], "localcrag kbs")
    with pytest.raises(AssertionError, match="--bad"):
        check(["ask", "--bad"], "localcrag ask --bad")
