"""The error of a library that is not installed, because the extra that brings it was not asked for."""

from __future__ import annotations


def missing_extra(extra: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The error to raise in place of one of an import: it names the extra of localcrag to install."""
    name = (error.name or extra).partition(".")[0]
    command = f'pip install "localcrag[{extra}]"'
    return ModuleNotFoundError(f"{name} is not installed: {command}", name=error.name)
