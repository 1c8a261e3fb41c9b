"""Importing a package without what it imports for no use of ours."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec


def defer(package: str) -> None:
    """Let submodules of ``package`` be imported without running its ``__init__``.

    That runs when something first asks the package itself for a name, so nobody misses anything.
    Does nothing where the package is loaded already, or not installed.
    """
    if package in sys.modules or (spec := find_spec(package)) is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    loader = spec.loader

    def load(name: str) -> object:
        if vars(module).pop("__getattr__", None):
            loader.exec_module(module)
        return getattr(module, name)

    vars(module)["__getattr__"] = load
    sys.modules[package] = module
