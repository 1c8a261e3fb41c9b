"""The parts of the README that the code writes: commands, settings, events, models.

Without arguments: exit 1 and name the parts that are out of date. With ``--write``: mend them.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from localcrag import events, settings
from localcrag.cli.main import cli

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
RESULTS = ROOT / "scripts/benchmarks/results"
BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def commands() -> str:
    """The help text of every command, the root's first, as in a terminal that is wide enough."""
    width = cli.context_settings["max_content_width"] - 2  # click's margin
    root = click.Context(cli, info_name="localcrag", terminal_width=width, **cli.context_settings)
    return "\n".join(f"```text\n$ {path} --help\n{text}\n```\n" for path, text in helps(root))


def helps(context: click.Context) -> Iterator[tuple[str, str]]:
    """The help of a command as it is typed, and of those below it."""
    yield context.command_path, context.get_help()
    for name, child in sorted(getattr(context.command, "commands", {}).items()):
        yield from helps(click.Context(child, parent=context, info_name=name))


def settings_table() -> str:
    """Every setting with its variable and default."""
    rows = ["| setting | environment | default | meaning |", "|---|---|---|---|"]
    for name, variable, default, help in settings.describe():
        shown = default if default in ("", settings.UNSET) else f"`{default}`"
        rows.append(f"| `{name}` | `{variable}` | {shown} | {help} |")
    return "\n".join(rows) + "\n"


def events_table() -> str:
    """Every event with its fields."""
    kinds = [
        kind
        for _, kind in inspect.getmembers(events, inspect.isclass)
        if issubclass(kind, events.Event) and kind is not events.Event
    ]
    rows = ["| event | fields | when |", "|---|---|---|"]
    for kind in sorted(kinds, key=lambda kind: inspect.getsourcelines(kind)[1]):
        fields = ", ".join(f"`{name}`" for name in kind.__dataclass_fields__)
        text = " ".join(inspect.cleandoc(kind.__doc__ or "").split())
        rows.append(f"| `{events.json_name(kind)}` | {fields} | {text} |")
    return "\n".join(rows) + "\n"


def models_table() -> str:
    """The embedded models of the manifest."""
    entries = tomllib.loads((ROOT / "models/manifest.toml").read_text("utf-8"))["model"]
    rows = ["| model | role | size | what it is |", "|---|---|---|---|"]
    for entry in entries:
        card = f"[{entry['name']}](models/{Path(entry['file']).stem}.md)"
        rows.append(f"| {card} | {entry['role']} | {entry['bytes'] / 1e6:.1f} MB | {entry['description']} |")
    return "\n".join(rows) + "\n"


def benchmarks() -> str:
    """What ``./scripts/bench --save`` kept, a table a part."""
    return "\n".join(_benchmark(path) for path in sorted(RESULTS.glob("*.json")))


def _benchmark(path: Path) -> str:
    saved = json.loads(path.read_text("utf-8"))
    rows = [f"**{path.stem}** · `{saved['command']}` · {saved['machine']}", ""]
    figures = saved["figures"]
    if path.stem == "peers":
        rows += [*_costs(figures), ""]
        figures = [figure for figure in figures if figure["wanted"]]
    rows += ["| figure | measured | wanted |", "|---|---|---|"]
    rows += [f"| {item['name']} | {_value(item)} {item['unit']} | {item['wanted']} |" for item in figures]
    pictures = [f"scripts/benchmarks/results/{name}.svg" for name in saved["charts"]]
    rows += ["", *(f'<img src="{picture}" width="440">' for picture in pictures)]
    return "\n".join(rows).rstrip() + "\n"


def _costs(figures: list[dict[str, Any]]) -> Iterator[str]:
    """Who paid how much with which model: tokens through the language model, and seconds of the query."""
    costs: dict[str, dict[tuple[str, str], str]] = {}
    for figure in figures:
        model, _, who = figure["name"].partition(": ")
        if figure["unit"] in ("tokens evaluated", "s") and not who.endswith("evaluator"):
            costs.setdefault(who, {})[model, figure["unit"]] = _value(figure)
    columns = list(dict.fromkeys(key for paid in costs.values() for key in paid))
    yield "| | " + " | ".join(f"{model}: {unit.split()[0]}" for model, unit in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for who, paid in costs.items():
        yield f"| {who} | " + " | ".join(paid.get(key, "–") for key in columns) + " |"


def _value(figure: dict[str, Any]) -> str:
    return f"{figure['value']:,.3f}".rstrip("0").rstrip(".")


PARTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "settings": settings_table,
    "events": events_table,
    "models": models_table,
    "benchmarks": benchmarks,
}


def main(arguments: list[str]) -> int:
    text = README.read_text("utf-8")
    stale: list[str] = []

    def renewed(block: re.Match[str]) -> str:
        body = block[1] + PARTS[block[2]]() + block[3]
        if body != block[0]:
            stale.append(block[2])
        return body

    fresh = BLOCK.sub(renewed, text)
    if missing := set(PARTS) - {block[2] for block in BLOCK.finditer(text)}:
        print(f"README.md has no part for: {', '.join(sorted(missing))}", file=sys.stderr)
        return 1
    if stale and "--write" in arguments:
        README.write_text(fresh, "utf-8")
        print(f"wrote {', '.join(stale)}")
        return 0
    if stale:
        print(f"README.md is out of date ({', '.join(stale)}): ./scripts/check --fix", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
