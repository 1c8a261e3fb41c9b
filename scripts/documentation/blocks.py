"""The blocks of the manual that the code writes, by name."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import click

import localcrag
from documentation.advice import CLASSES, NEXT_STEP
from documentation.messages import Message, messages
from documentation.places import REPOSITORY, RESULTS, ROOT, TORTURE
from localcrag import errors, events, settings
from localcrag.cli.main import cli
from localcrag.llm.registry import Registry

SECTIONS = {
    "": "At the top of the file",
    "model": "`[model]`: which models, and how much of the machine they may take",
    "loop": "`[loop]`: how a question is answered",
    "web": "`[web]`: the web search",
    "ingest": "`[ingest]`: how documents are read",
    "serve": "`[serve]`: the warm process",
}
PARTS = {
    "accuracy": "Right and wrong answers with the same model",
    "ask": "One question, in a fresh process",
    "choose": "Grading passages together or each on its own",
    "corrections": "What each correction is worth",
    "extract": "Structured answers: fields of labelled documents",
    "decode": "Writing an answer, token by token or reading ahead",
    "form": "The form of answers, whatever the model",
    "ingest": "Ingestion",
    "static": "A first ingestion with static embeddings",
    "static_ranking": "What a search finds with static embeddings",
    "language_ranking": "What a search finds in other languages",
    "memory": "Memory of an ingestion",
    "peers": "The same question in other toolkits",
    "reading": "What a user gets from mixed documents",
    "scale": "Retrieval from many passages",
    "simulate": "What many passages would cost",
    "warm": "The warm process",
    "doors": "The HTTP door under load",
    "bundle": "A bundle for a room without a network",
}
"""The parts of the benchmark, as they are headed in the manual."""
WIDEST = 100
"""Characters of a signature on one line."""


# ------------------------------------------------------------------------------ command line


def commands() -> str:
    """The help text of every command, the root's first, as in a terminal that is wide enough."""
    width = cli.context_settings["max_content_width"] - 2  # click's margin
    root = click.Context(cli, info_name="localcrag", terminal_width=width, **cli.context_settings)
    return "\n".join(f"## {path}\n\n```text\n$ {path} --help\n{text}\n```\n" for path, text in helps(root))


def helps(context: click.Context) -> Iterator[tuple[str, str]]:
    """The help of a command as it is typed, and of those below it."""
    yield context.command_path, context.get_help()
    for name, child in sorted(getattr(context.command, "commands", {}).items()):
        yield from helps(click.Context(child, parent=context, info_name=name))


# ------------------------------------------------------------------------------ settings, events, models


def settings_tables() -> str:
    """Every setting with its variable and default, a table for each section."""

    def section(row: tuple[str, str, str, str]) -> str:
        return row[0].partition(".")[0] if "." in row[0] else ""

    tables = []
    for name, rows in groupby(settings.describe(), section):
        lines = [
            f"## {SECTIONS.get(name, f'`[{name}]`')}",
            "",
            "| setting | environment | default | meaning |",
            "|---|---|---|---|",
        ]
        for setting, variable, default, help in rows:
            shown = default if default in ("", settings.UNSET) else f"`{default}`"
            lines.append(f"| `{setting}` | `{variable}` | {shown} | {help} |")
        tables.append("\n".join(lines) + "\n")
    return "\n".join(tables)


def events_table() -> str:
    """Every event with its fields."""
    kinds = [
        kind
        for _, kind in inspect.getmembers(events, inspect.isclass)
        if issubclass(kind, events.Event) and kind is not events.Event
    ]
    rows = ["| event | class | fields | when |", "|---|---|---|---|"]
    for kind in sorted(kinds, key=lambda kind: inspect.getsourcelines(kind)[1]):
        fields = ", ".join(f"`{field.name}`" for field in dataclasses.fields(kind))
        name = events.json_name(kind)
        rows.append(f"| `{name}` | `{kind.__name__}` | {fields} | {_cell(_first_paragraph(kind))} |")
    return "\n".join(rows) + "\n"


def models_table() -> str:
    """The embedded models of the manifest."""
    entries = Registry(ROOT / "no home").entries()
    rows = ["| model | role | size | what it is |", "|---|---|---|---|"]
    for entry in entries:
        card = f"[{entry.name}]({REPOSITORY}/blob/main/models/{entry.path.stem}.md)"
        if entry.package:
            card = f"{entry.name} (package `{entry.package}`)"
        rows.append(f"| {card} | {entry.role} | {entry.bytes / 1e6:.1f} MB | {entry.description} |")
    return "\n".join(rows) + "\n"


# ------------------------------------------------------------------------------ Python


def api() -> str:
    """The signatures of everything that ``localcrag`` exports."""
    exported = {name: getattr(localcrag, name) for name in sorted(localcrag.__all__) if name[0] != "_"}
    kinds = {name: item for name, item in exported.items() if inspect.isclass(item)}
    enums = {name: kind for name, kind in kinds.items() if issubclass(kind, enum.Enum)}
    shown = [
        kind
        for name, kind in kinds.items()
        if name != "KnowledgeBase" and dataclasses.is_dataclass(kind) and not issubclass(kind, events.Event)
    ]
    functions = [item for item in exported.values() if inspect.isfunction(item)]
    methods = [
        item
        for kind in localcrag.KnowledgeBase.__mro__
        for name, item in vars(kind).items()
        if not name.startswith("_") and inspect.isfunction(item)
    ]
    blocks = [
        "### Functions\n\n" + _functions("localcrag", functions),
        "### Methods of a knowledge base\n\n" + _functions("kb", methods),
        "### Values\n\n| type | what it is | fields |\n|---|---|---|\n" + "".join(map(_value_row, shown)),
    ]
    if enums:
        rows = "".join(
            f"| `{name}` | {_cell(_first_paragraph(kind))} | {_values(kind)} |\n"
            for name, kind in enums.items()
        )
        blocks.append("### Choices\n\n| type | what it chooses | values |\n|---|---|---|\n" + rows)
    return "\n".join(blocks)


def _values(kind: type[enum.Enum]) -> str:
    return ", ".join(f"`{item.value}`" for item in kind)


def _functions(owner: str, found: Iterable[Callable[..., Any]]) -> str:
    """A heading, the signature and the whole docstring of each function or method."""
    return "\n".join(
        f"#### `{item.__name__}`\n\n```text\n{_signature(owner, item)}\n```\n\n{_docstring(item)}\n"
        for item in found
    )


def _value_row(kind: type) -> str:
    fields = ", ".join(f"`{field.name}`" for field in dataclasses.fields(kind))
    return f"| `{kind.__name__}` | {_cell(_first_paragraph(kind))} | {fields} |\n"


def _signature(owner: str, function: Callable[..., Any]) -> str:
    """A function as it is called, one parameter a line where it is long."""
    signature = inspect.signature(function)
    given = [item for item in signature.parameters.values() if item.name != "self"]
    shown = _unquoted(str(signature.replace(parameters=given)))
    awaited = "await " if inspect.iscoroutinefunction(function) else ""
    line = f"{awaited}{owner}.{function.__name__}{shown}"
    if len(line) <= WIDEST or not given:
        return line
    ends = _unquoted(str(signature.replace(parameters=[]))).removeprefix("()")
    names = _parameters(given)
    return f"{awaited}{owner}.{function.__name__}(\n    " + ",\n    ".join(names) + f",\n){ends}"


def _parameters(given: list[inspect.Parameter]) -> Iterator[str]:
    """Each parameter, with the star before those that must be named."""
    starred = False
    for item in given:
        if item.kind is item.KEYWORD_ONLY and not starred:
            yield "*"
        starred = starred or item.kind in (item.KEYWORD_ONLY, item.VAR_POSITIONAL)
        yield _unquoted(str(item))


def _unquoted(signature: str) -> str:
    """A signature without the quotes of its annotations; defaults that are strings keep theirs."""

    def default(found: re.Match[str]) -> str:
        return f"= {json.dumps(found[1], ensure_ascii=False)}"

    kept = re.sub(r"= '([^']*)'", default, signature)
    return kept.replace("'", "").replace("mappingproxy({})", "{}")


def _docstring(item: object) -> str:
    """A docstring as Markdown: code in single marks, references as plain names, parameters as a list."""
    text = inspect.cleandoc(item.__doc__ or "").replace("``", "`")
    text = re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`", r"`\1`", text)
    return re.sub(r"(?m)^(\w+):\n((?: {4}.*\n?)+)", _bullets, text)


def _bullets(section: re.Match[str]) -> str:
    """A section of a docstring as a list with an item for each name; what is indented deeper goes on."""
    items = re.sub(r"(?m)^(\*{0,2}\w+): ", r"- `\1`: ", inspect.cleandoc(section[2]))
    lines = [line if line.startswith("- ") else f"  {line.strip()}" for line in items.splitlines()]
    end = "\n" if section[2].endswith("\n") else ""
    return f"{section[1]}:\n\n" + "\n".join(lines) + end


def _first_paragraph(item: object) -> str:
    return " ".join(_docstring(item).split("\n\n")[0].split())


# ------------------------------------------------------------------------------ errors


def errors_tables() -> str:
    """What every error says and what to do, by class."""
    tables = []
    for kind, found in groupby(messages(), lambda message: message.kind):
        rows = [f"### {kind}", "", CLASSES.get(kind, ""), "", "| what it says | what to do |", "|---|---|"]
        rows += [f"| {_code(message.text)} | {_cell(next_step(message))} |" for message in found]
        tables.append("\n".join(rows) + "\n")
    return "\n".join(tables)


def next_step(message: Message) -> str:
    """The hint of the code, or what the manual says in its place; "" where neither has one."""
    said = message.hint or NEXT_STEP.get(message.text) or NEXT_STEP.get(message.kind, "")
    return said[:1].upper() + said[1:]


def error_classes() -> str:
    """The tree of error classes with their exit codes."""
    rows = ["| class | exit code | below it |", "|---|---|---|"]
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, errors.LocalCragError):
            below = ", ".join(
                f"`{child.__name__}`"
                for child in kind.__subclasses__()
                if child.__module__ == errors.__name__
            )
            rows.append(f"| `{name}` | {kind.exit_code} | {below} |")
    return "\n".join(rows) + "\n"


# ------------------------------------------------------------------------------ benchmarks


def benchmarks() -> str:
    """What ``./scripts/bench --save`` kept, a table a part."""
    return "\n".join(_benchmark(path) for path in sorted(RESULTS.glob("*.json")))


def _benchmark(path: Path) -> str:
    saved = json.loads(path.read_text("utf-8"))
    rows = [f"## {PARTS.get(path.stem, path.stem)}", "", f"`{saved['command']}` on {saved['machine']}.", ""]
    rows += [f"![{chart['title']}: {chart['y']}](images/{chart['name']}.svg)" for chart in saved["charts"]]
    rows += [""] if saved["charts"] else []
    figures = saved["figures"]
    if path.stem == "peers":
        rows += [*_costs(figures), ""]
        figures = [figure for figure in figures if figure["wanted"]]
    rows += ["| figure | measured | unit | wanted |", "|---|---:|---|---|"]
    rows += [f"| {item['name']} | {_value(item)} | {item['unit']} | {item['wanted']} |" for item in figures]
    return "\n".join(rows) + "\n"


def _costs(figures: list[dict[str, Any]]) -> Iterator[str]:
    """Who paid how much with which model: tokens through the language model, and seconds of the query."""
    costs: dict[str, dict[tuple[str, str], str]] = {}
    for figure in figures:
        model, _, who = figure["name"].partition(": ")
        if figure["unit"] in ("tokens evaluated", "s") and not who.endswith("evaluator"):
            costs.setdefault(who, {})[model, figure["unit"]] = _value(figure)
    columns = list(dict.fromkeys(key for paid in costs.values() for key in paid))
    yield "| | " + " | ".join(f"{model}: {unit.split()[0]}" for model, unit in columns) + " |"
    yield "|---" + "|---:" * len(columns) + "|"
    for who, paid in costs.items():
        yield f"| {who} | " + " | ".join(paid.get(key, "–") for key in columns) + " |"


def _value(figure: dict[str, Any]) -> str:
    return f"{figure['value']:,.3f}".rstrip("0").rstrip(".")


# ------------------------------------------------------------------------------ what was broken on purpose


def torture() -> str:
    """What ``./scripts/torture --save`` kept: a row a campaign, with the seed."""
    saved = json.loads(TORTURE.read_text("utf-8"))
    minutes = saved["seconds"] / 60
    rows = [
        f"`./scripts/torture --minutes {saved['minutes']:g} --seed {saved['seed']}` took {minutes:.1f} "
        f"minutes on {saved['machine']}.",
        "",
        "| campaign | what has to hold | tries | failures | longest | memory | notes |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for name, found in saved["campaigns"].items():
        if found["skipped"]:
            rows.append(f"| `{name}` | {_cell(found['holds'])} | – | – | – | – | {_cell(found['skipped'])} |")
            continue
        longest = f"{found['worst_seconds']:.1f} s" if found["worst_seconds"] else "–"
        memory = f"{found['peak_memory'] / 2**20:,.0f} MiB"
        rows.append(
            f"| `{name}` | {_cell(found['holds'])} | {found['tries']:,} {found['unit']} "
            f"| {len(found['failures'])} | {longest} | {memory} | {_cell('; '.join(found['notes']))} |"
        )
    return "\n".join(rows) + "\n"


# ------------------------------------------------------------------------------ cells


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def _code(text: str) -> str:
    """Text as code in a cell, whatever marks it has of its own."""
    text = text.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


BLOCKS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings_tables,
    "events": events_table,
    "models": models_table,
    "api": api,
    "errors": errors_tables,
    "error-classes": error_classes,
    "benchmarks": benchmarks,
    "torture": torture,
}
