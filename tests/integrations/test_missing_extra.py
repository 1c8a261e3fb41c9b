"""Without its library, a module says which extra to install; nothing else of localcrag needs it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import localcrag

PACKAGE = Path(localcrag.__file__).parent
LIBRARIES = {"langchain_core": "langchain_retriever", "llama_index": "llamaindex_engine"}


@pytest.mark.parametrize(
    ("library", "module", "extra"),
    [
        ("langchain_core", "langchain_retriever", "langchain"),
        ("llama_index", "llamaindex_engine", "llamaindex"),
    ],
)
def test_a_library_that_is_not_installed_is_named_with_its_extra(
    library: str, module: str, extra: str
) -> None:
    program = f"import sys; sys.modules[{library!r}] = None; import localcrag.integrations.{module}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == f'ModuleNotFoundError: {library} is not installed: pip install "localcrag[{extra}]"'


def imported(path: Path) -> set[str]:
    """The top names of what a module imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_module_imports_a_library(library: str) -> None:
    named = [path for path in PACKAGE.rglob("*.py") if library in path.read_text("utf-8")]
    modules = [path.stem for path in named if library in imported(path)]
    assert modules == [LIBRARIES[library]]
