"""Every error message in the code of the package, with what it tells the user to do.

Read from the syntax tree: each construction of an error class of :mod:`localcrag.errors`. What an
f-string puts in is shown as ``…``; constants, and functions of one line, are followed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from documentation.places import ROOT

PACKAGE = ROOT / "localcrag"
ANY = "…"
BASE = "LocalCragError"


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """What one error says, and its hint ("" where it has none)."""

    kind: str
    text: str
    hint: str


@dataclass(slots=True)
class Module:
    """The names of a module that messages are made of."""

    tree: ast.Module
    constants: dict[str, ast.expr] = field(default_factory=dict)
    functions: dict[str, ast.expr] = field(default_factory=dict)


@cache
def messages(package: Path = PACKAGE) -> tuple[Message, ...]:
    """Every message, sorted by class and text, each once."""
    modules = [_module(ast.parse(path.read_text("utf-8"))) for path in sorted(package.rglob("*.py"))]
    shared = _shared(modules)
    kinds = _error_classes(modules)
    return tuple(sorted({message for module in modules for message in _of(module, kinds, shared)}))


def _module(tree: ast.Module) -> Module:
    module = Module(tree)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            module.constants[node.targets[0].id] = node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            module.constants[node.target.id] = node.value
        elif (
            isinstance(node, ast.FunctionDef) and isinstance(last := node.body[-1], ast.Return) and last.value
        ):
            module.functions[node.name] = last.value
    return module


def _shared(modules: list[Module]) -> dict[str, ast.expr]:
    """Constants that only one module defines: an import of them is not looked up further."""
    found: dict[str, list[ast.expr]] = {}
    for module in modules:
        for name, value in module.constants.items():
            found.setdefault(name, []).append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def _error_classes(modules: list[Module]) -> frozenset[str]:
    """The base of all errors and everything that is made from it, in whichever module."""
    bases = {
        node.name: [base.id for base in node.bases if isinstance(base, ast.Name)]
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    }
    known = {BASE}
    while more := {name for name, above in bases.items() if name not in known and known & set(above)}:
        known |= more
    return frozenset(known)


def _of(module: Module, kinds: frozenset[str], shared: Mapping[str, ast.expr]) -> Iterator[Message]:
    for scope in ast.walk(module.tree):
        if not isinstance(scope, ast.FunctionDef):
            continue
        text = Text(module, shared, _local(scope))
        for node in ast.walk(scope):
            if isinstance(node, ast.Call) and (kind := _called(node)) in kinds and node.args:
                hints = [keyword.value for keyword in node.keywords if keyword.arg == "hint"]
                hint = "; or ".join(said.removesuffix(".") for said in text.of(hints[0])) if hints else ""
                for said in text.of(node.args[0]):
                    if re.search(r"\w\w", said):
                        yield Message(kind, _line(said), "" if _line(hint) == ANY else _line(hint))


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _local(scope: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """What is assigned to each name in a function."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def _line(text: str) -> str:
    return re.sub(rf"{ANY}({ANY}|\s)*{ANY}", ANY, " ".join(text.split())).removesuffix(".")


@dataclass(frozen=True, slots=True)
class Text:
    """Turns an expression into the texts that it can be."""

    module: Module
    shared: Mapping[str, ast.expr]
    local: Mapping[str, list[ast.expr]]
    depth: int = 0

    def of(self, node: ast.expr) -> list[str]:
        """All texts of an expression, with ``…`` for what is only known when it runs."""
        if self.depth > 4:
            return [ANY]
        if isinstance(node, ast.Constant):
            return [str(node.value)]
        if isinstance(node, ast.JoinedStr):
            return ["".join("".join(self.of(part)) if isinstance(part, ast.Constant) else self._put_in(part)
                            for part in node.values)]  # fmt: skip
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return [left + right for left in self.of(node.left) for right in self.of(node.right)]
        if isinstance(node, ast.IfExp):
            return [*self.of(node.body), *self.of(node.orelse)]
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            return self._item(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            inner = self.module.functions.get(node.func.id)
            return self._deeper().of(inner) if inner is not None else [ANY]
        return [ANY]

    def _put_in(self, part: ast.expr) -> str:
        """A value in an f-string: a constant of a module is written out, all else is ``…``."""
        if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name):
            name = part.value.id
            if name.lstrip("_").isupper() and name not in self.local:
                texts = self._named(name)
                return texts[0] if len(texts) == 1 else ANY
        return ANY

    def _named(self, name: str) -> list[str]:
        if name in self.local:
            texts = [text for value in self.local[name] for text in self._deeper().of(value)]
            return list(dict.fromkeys(texts)) or [ANY]
        value = self.module.constants.get(name) or self.shared.get(name)
        return self._deeper().of(value) if value is not None else [ANY]

    def _item(self, node: ast.Subscript) -> list[str]:
        """What stands under a key of a table of texts, or all that stands in it."""
        assert isinstance(node.value, ast.Name)
        table = self.module.constants.get(node.value.id)
        if not isinstance(table, ast.Dict):
            return [ANY]
        keys = [key.value if isinstance(key, ast.Constant) else None for key in table.keys]
        if isinstance(node.slice, ast.Constant) and node.slice.value in keys:
            return self.of(table.values[keys.index(node.slice.value)])
        return [text for value in table.values for text in self.of(value)]

    def _deeper(self) -> Text:
        return Text(self.module, self.shared, self.local, self.depth + 1)
