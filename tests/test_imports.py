"""What a command does not need, it does not import."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = (
    "llama_cpp",
    "outlines",
    "outlines_core",
    "torch",
    "transformers",
    "sentence_transformers",
    "lancedb",
    "pyarrow",
    "numpy",
    "trafilatura",
    "httpx2",
    "pypdfium2",
    "rich",
    "prompt_toolkit",
    "sqlite3",
    "starlette",
    "uvicorn",
    "langchain_core",
    "langsmith",
    "llama_index",
    "mcp",
    "tomlkit",
)


@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["ingest", "--help"], ["--version"]])
def test_help_imports_none_of_the_heavy_libraries(arguments: list[str]) -> None:
    program = (
        "import sys; from localcrag.cli.main import main; code = main(sys.argv[1:]);"
        f"print(code, [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


def test_the_library_is_cheap_to_import() -> None:
    program = f"import sys, localcrag; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


POSIX_ONLY = """
import importlib, os, pkgutil, select, signal, socket, sys
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for owner, names in (
    (os, ("getuid", "geteuid", "sched_getaffinity", "sysconf", "O_CLOEXEC")),
    (signal, ("SIGUSR1", "SIGKILL", "pthread_kill")),
    (select, ("poll",)),
    (socket, ("AF_UNIX",)),
):
    for name in names:
        if hasattr(owner, name):
            delattr(owner, name)
import localcrag
for package in ("", "cli.", "documents.", "documents.readers.", "serve.", "web."):
    folder = os.path.join(localcrag.__path__[0], *package.split("."))
    for module in pkgutil.iter_modules([folder]):
        if module.name != "__main__":
            importlib.import_module(f"localcrag.{package}{module.name}")
"""


@pytest.mark.parametrize(("given", "kept"), [(None, "1000"), ("7", "7")])
def test_threads_are_told_not_to_spin_before_any_library_with_threads_is_loaded(
    given: str | None, kept: str
) -> None:
    """Beside another busy program an answer took five times as long if torch was loaded first."""
    program = (
        "import os, sys, localcrag\n"
        "loaded = {'torch', 'llama_cpp', 'ctranslate2', 'numpy'} & set(sys.modules)\n"
        "print(os.environ['GOMP_SPINCOUNT'], *loaded)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "GOMP_SPINCOUNT"}
    if given is not None:
        environment["GOMP_SPINCOUNT"] = given
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout.split() == [kept]


def test_no_module_needs_a_posix_system_to_be_imported() -> None:
    done = subprocess.run([sys.executable, "-c", POSIX_ONLY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
