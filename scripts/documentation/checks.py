"""What must hold of README and manual; every problem is one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import click
from markdown_it import MarkdownIt

from documentation.advice import CLASSES
from documentation.blocks import next_step
from documentation.messages import messages
from documentation.places import (
    IMAGES,
    INDEX,
    MANUAL,
    README,
    REPOSITORY,
    ROOT,
    documents,
    pages,
    shown,
    written,
)
from localcrag import settings
from localcrag.cli.main import cli

_FILE = re.compile(r"(?:\./)?((?:localcrag|tests|scripts|searxng|models|\.github)/[\w./-]+)(?: .*)?")
"""A file of the repository, as it is named in a sentence, maybe with arguments."""
MOST = 10 * 1024
"""Bytes of the README."""


def problems() -> Iterator[str]:
    """Everything that is wrong."""
    if (size := README.stat().st_size) > MOST:
        yield f"README.md has {size:,} bytes, at most {MOST:,} are wanted"
    yield from headings()
    yield from listed()
    for path in documents():
        yield from links(path)
    for path in (README, *pages(), *sorted((ROOT / ".github").glob("*.md"))):
        yield from named(path)
    yield from drawn()
    yield from laid_out(MANUAL / "architecture.md")
    yield from mentioned()
    yield from explained()


def headings() -> Iterator[str]:
    """Each page begins with its one H1, and a paragraph."""
    for path in (README, INDEX, *pages()):
        found = [level for level, _ in _headings(path)]
        if found.count(1) != 1 or found[0] != 1:
            yield f"{shown(path)} must begin with a heading of the first level, and have no other"
        if any(below > above + 1 for above, below in pairwise(found)):
            yield f"{shown(path)} leaves out a level of headings"


def listed() -> Iterator[str]:
    """Each page stands in the list of pages."""
    text = INDEX.read_text("utf-8")
    for path in pages():
        if f"]({path.name})" not in text:
            yield f"{shown(path)} is not listed in {shown(INDEX)}"


def links(path: Path) -> Iterator[str]:
    """Each link of a file leads to a file, and to a heading where it names one."""
    for target in _links(path):
        if target.startswith(f"{REPOSITORY}/blob/main/"):
            file, fragment = ROOT / target.removeprefix(f"{REPOSITORY}/blob/main/"), ""
        elif re.match(r"[a-z]+:", target):
            continue
        else:
            name, _, fragment = target.partition("#")
            file = (path.parent / unquote(name)).resolve() if name else path
            if path.parent == MANUAL and not file.is_relative_to(MANUAL):
                yield f"{shown(path)}: {target} leads out of the manual, which travels without the rest"
        if not file.exists():
            yield f"{shown(path)}: {target} leads nowhere"
        elif fragment and fragment not in anchors(file):
            yield f"{shown(path)}: there is no heading for {target}"


def named(path: Path) -> Iterator[str]:
    """Each file of the repository that a page names is there."""
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text("utf-8"))
    spans = [
        child.content for token in tokens for child in token.children or () if child.type == "code_inline"
    ]
    for file in dict.fromkeys(found[1] for span in spans if (found := _FILE.fullmatch(span))):
        if not (ROOT / file).exists():
            yield f"{shown(path)}: there is no {file}"


def drawn() -> Iterator[str]:
    """Each picture stands in a page."""
    used = {Path(target).name for path in documents() for target in _links(path)}
    for path in sorted(IMAGES.iterdir()):
        if path.name not in used:
            yield f"{shown(path)} stands in no page"


def laid_out(path: Path) -> Iterator[str]:
    """The layout that the page of the architecture draws is that of the package."""
    text = path.read_text("utf-8")
    drawing = next(block for block in text.split("```") if block.startswith("text\nlocalcrag/"))
    folders = [ROOT]
    for line in drawing.splitlines()[1:]:
        depth = (len(line) - len(line.lstrip())) // 2
        for name in re.findall(r"[\w.]+(?:\.py|/)", line.strip().split("  ")[0]):
            place = folders[depth] / name
            if name.endswith("/"):
                folders[depth + 1 :] = [place]
            if not place.exists():
                yield f"{shown(path)}: there is no {place.relative_to(ROOT)}"
    for place in sorted((ROOT / "localcrag").iterdir()):
        name = place.name + ("/" if place.is_dir() else "")
        if (
            name.endswith((".py", "/"))
            and not name.startswith("__")
            and f"`{name}`" not in text
            and name not in drawing
        ):
            yield f"{shown(path)} does not mention localcrag/{name}"


def mentioned() -> Iterator[str]:
    """Each command, each option and each setting stands in a page that people wrote."""
    text = "\n".join(written(path) for path in (README, *pages()))
    for command in commands():
        if not re.search(rf"{re.escape(command)}\b", text):
            yield f"no page tells of the command `{command}`"
    for option in sorted(set(options(cli))):
        if not re.search(rf"{re.escape(option)}(?![\w-])", text):
            yield f"no page tells of the option {option}"
    for name, *_ in settings.describe():
        if not re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.]*\w)", text):
            yield f"no page tells of the setting `{name}`"


def explained() -> Iterator[str]:
    """Each error message has a next step, and each class of errors an introduction."""
    for message in messages():
        if not next_step(message):
            yield f"no next step for {message.kind} “{message.text}”: a hint in the code, or advice.py"
        if message.kind not in CLASSES:
            yield f"the error class {message.kind} has no introduction in advice.py"


def commands() -> Iterator[str]:
    """Every command as it is typed."""
    context = click.Context(cli, info_name="localcrag")
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        yield f"localcrag {name}"
        if isinstance(command, click.Group):
            yield from (f"localcrag {name} {child}" for child in command.commands)


def options(command: click.Command) -> Iterator[str]:
    """Every long option of a command and of those below it."""
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            yield from (option for option in parameter.opts if option.startswith("--"))
    if isinstance(command, click.Group):
        for child in command.commands.values():
            yield from options(child)


@cache
def anchors(path: Path) -> frozenset[str]:
    """The names under which a Markdown file's headings can be linked to, as GitHub makes them."""
    found: list[str] = []
    for _, text in _headings(path):
        name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        found.append(f"{name}-{found.count(name)}" if name in found else name)
    return frozenset(found)


def _headings(path: Path) -> list[tuple[int, str]]:
    tokens = MarkdownIt("commonmark").parse(path.read_text("utf-8"))
    return [
        (int(token.tag[1]), "".join(child.content for child in inline.children or ()))
        for token, inline in pairwise(tokens)
        if token.type == "heading_open"
    ]


def _links(path: Path) -> Iterator[str]:
    for token in MarkdownIt("commonmark", {"html": True}).enable("table").parse(path.read_text("utf-8")):
        for child in token.children or ():
            target = child.attrGet("href") or child.attrGet("src")
            if target:
                yield str(target)
        if token.type in ("html_block", "inline"):
            yield from re.findall(r'(?:src|href|srcset)="([^"]+)"', token.content)
