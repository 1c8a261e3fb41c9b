"""The names of the package: one word for one thing, and a docstring for all that is public.

Read from the sources, so that it costs no import.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

import localcrag

PACKAGE = Path(localcrag.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
COMMANDS = {
    path
    for path in MODULES
    if path.parent.name == "cli" and re.search(r"(?m)^@click\.(command|group)\(", path.read_text("utf-8"))
}
"""Command modules carry the name of their command, which may be that of a package as well."""
MOODS = frozenset(
    {
        *("once", "apart", "ahead", "lean", "offer", "gather", "remember", "record", "parts", "cells"),
        *("frames", "lazy"),
    }
)
"""Adverbs, moods and gestures that modules were named after; a module bears the field's term instead."""
BARE = frozenset(
    {
        *("BATCH", "BLOCK", "CHUNK", "COUNT", "DEPTH", "LIMIT", "LONGEST", "MAX", "MIN", "PART", "PATIENCE"),
        *("ROUNDS", "SAMPLE", "SIZE", "SORTED", "STEP", "TOKENS", "WIDEST", "WINDOW"),
    }
)
"""Nouns that do not say of what, or in what unit: ``MAX_BATCH_TOKENS``, not ``TOKENS``."""


def twice(found: Iterable[tuple[str, Path]]) -> Mapping[str, list[str]]:
    """The names that stand in more than one place, with the places."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, path in found:
        places[name].append(str(path.relative_to(PACKAGE)))
    return {name: paths for name, paths in places.items() if len(paths) > 1}


def modules() -> Iterator[tuple[str, Path]]:
    """The stem of every module and the name of every package, but for those of the commands."""
    for path in MODULES:
        if path.stem == "__init__" and path.parent != PACKAGE:
            yield path.parent.name, path
        elif not path.stem.startswith("__") and path not in COMMANDS:
            yield path.stem, path


def constants(tree: ast.Module) -> Iterator[str]:
    """The names in upper case that a module assigns at its top."""
    for statement in tree.body:
        targets = (
            statement.targets
            if isinstance(statement, ast.Assign)
            else [statement.target]
            if isinstance(statement, ast.AnnAssign)
            else []
        )
        for node in (node for target in targets for node in ast.walk(target)):
            if isinstance(node, ast.Name) and node.id.isupper():
                yield node.id


def test_no_two_modules_share_a_name() -> None:
    assert not twice(modules())


def test_a_command_module_is_named_after_no_module_of_another_kind() -> None:
    packages = {path.parent.name for path in MODULES if path.stem == "__init__"}
    others = {name for name, path in modules() if path.stem != "__init__"}
    assert not {path.stem for path in COMMANDS} & (others - packages)


def test_no_two_public_classes_share_a_name() -> None:
    assert not twice(
        (node.name, path)
        for path in MODULES
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )


def test_no_module_is_named_after_a_mood() -> None:
    assert not {path.stem for path in MODULES} & MOODS


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_constant_says_of_what_it_is(path: Path) -> None:
    assert not {name for name in constants(ast.parse(path.read_text("utf-8"))) if name.strip("_") in BARE}


def documented(item: object, name: str) -> bool:
    """Whether somebody wrote a docstring; the signature that a dataclass gets by itself is none."""
    text = vars(item).get("__doc__") if isinstance(item, type) else item.__doc__
    return bool(text) and not str(text).startswith(f"{name}(")


@pytest.mark.parametrize("name", sorted(name for name in localcrag.__all__ if not name.startswith("_")))
def test_the_public_api_has_docstrings(name: str) -> None:
    item = getattr(localcrag, name)
    if not isinstance(item, type):
        assert documented(item, name) or not callable(item)
        return
    members = {
        member: value.fget if isinstance(value, property) else getattr(item, member)
        for member, value in vars(item).items()
        if not member.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod)))
    }
    bare = [member for member, value in members.items() if not documented(value, member)]
    assert documented(item, name), f"{name} has no docstring"
    assert not bare, f"{name} has members without one"
