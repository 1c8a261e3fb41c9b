"""``localcrag doctor``: checks of everything that localcrag needs, with advice."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version

import click

from localcrag._platform import cores
from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.parameters import json_option
from localcrag.cli.table_layout import print_wrapped, stdout_lines
from localcrag.errors import LocalCragError, StoreError
from localcrag.types import WebPolicy

LIBRARY_MODULES = {
    "llama-cpp-python": "localcrag.llm.llama_backend",
    "lancedb": "localcrag.store.tables",
    "torch": "torch",
    "outlines-core": "outlines_core",
}
"""What is imported to try a library: the module that sets up how it logs and waits, where there is one."""
EMBEDDING_COSTS = {
    "all-MiniLM-L6-v2": "for English; 130 MB on disk",
    "static:all-MiniLM-L6-v2": "for English; for a fast first ingestion, to be refined",
    "multilingual-e5-small-q4": "for some hundred languages; 130 MB on disk, takes four times as long",
}
"""The languages and the costs of the embedding models that localcrag knows."""
MAX_CHECKED_BYTES = 1 << 28
"""The bytes of a knowledge base up to which all of it is read, in a few seconds."""
MAX_SHOWN_PROBLEMS = 3
"""Problems of a knowledge base that are shown."""
LOW_DISK_BYTES = 1 << 30
"""Free bytes of the disk below which the doctor warns."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check; ``hint`` is the next step if it is not fine."""

    subject: str
    fine: bool
    detail: str
    hint: str = ""


@click.command()
@json_option
@pass_state
def doctor(state: CommandState, as_json: bool) -> int:
    """Look at everything that localcrag needs, and say what is wrong and what to do."""
    findings: list[CheckResult] = []
    for subject, look in CHECKS.items():
        for finding in _findings(subject, look, state):
            findings.append(finding)
            if not as_json:
                _print(finding)
    if as_json:
        print_json(
            [{"subject": f.subject, "fine": f.fine, "detail": f.detail, "hint": f.hint} for f in findings]
        )
    return 0 if all(finding.fine for finding in findings) else 1


def _print(finding: CheckResult) -> None:
    mark, colour = ("ok   ", "green") if finding.fine else ("wrong", "red")
    first, *others = stdout_lines(f"{mark}  {finding.subject}: {finding.detail}", hanging=len(mark) + 2)
    click.echo(click.style(mark, fg=colour) + first.removeprefix(mark))
    for line in others:
        click.echo(line)
    if finding.hint and not finding.fine:
        print_wrapped(" " * (len(mark) + 2) + finding.hint)


def _findings(
    subject: str, look: Callable[[CommandState], Iterator[CheckResult]], state: CommandState
) -> Iterator[CheckResult]:
    """The results of a check; an error of localcrag becomes a result that is not fine."""
    try:
        yield from look(state)
    except LocalCragError as error:
        yield CheckResult(subject, False, str(error), error.hint)


def _check_home(state: CommandState) -> Iterator[CheckResult]:
    home = state.settings.home
    place = next(path for path in (home, *home.parents) if path.exists())
    if not os.access(place, os.W_OK):
        yield CheckResult("home", False, f"{home} cannot be written", "choose another with LOCALCRAG_HOME")
        return
    free = shutil.disk_usage(place).free
    yield CheckResult("home", True, f"{home}, {free / 1e9:.0f} GB free")
    if free < LOW_DISK_BYTES:
        yield CheckResult(
            "disk", False, f"only {free / 1e6:.0f} MB free", "make room, or choose another LOCALCRAG_HOME"
        )


def _check_libraries(state: CommandState) -> Iterator[CheckResult]:
    for package, module in LIBRARY_MODULES.items():
        try:
            import_module(module)
        except (ImportError, OSError) as error:
            yield CheckResult(package, False, f"cannot be imported: {error}", f"reinstall {package}")
        else:
            yield CheckResult(package, True, version(package))


def _check_models(state: CommandState) -> Iterator[CheckResult]:
    from localcrag.llm import model_entry, registry

    for entry in registry.Registry(state.settings.home).entries():
        if not entry.installed:
            yield CheckResult(f"model {entry.name}", True, f"not installed: {entry.installation}")
            continue
        wrong = model_entry.verify(entry)
        yield CheckResult(f"model {entry.name}", not wrong, wrong or f"{entry.path}", "fetch it again")
    yield from _findings("language model", _check_language_model, state)
    models = state.open(None).models
    if models.evaluator:
        models.evaluator.load()
        yield CheckResult("evaluator", True, f"{models.evaluator.name} loads")
        yield from _findings("evaluator for other languages", _check_multilingual_evaluator, state)
    yield from _findings("questions over tables", _check_query_model, state)
    for fitted in models.calibrations():
        yield CheckResult(
            "calibration", True, f"{fitted.judge}, on {fitted.questions} questions of yours, {fitted.made}"
        )


def _check_multilingual_evaluator(state: CommandState) -> Iterator[CheckResult]:
    from localcrag.configured_models import DEFAULT_EVALUATOR
    from localcrag.e5_conversion import INSTALLATION
    from localcrag.llm.evaluator_by_language import EvaluatorByLanguage

    models = state.open(None).models
    if isinstance(models.evaluator, EvaluatorByLanguage):
        models.evaluator.others.load()
        detail = f"{models.evaluator.others.name} loads"
    elif models.settings.evaluator == DEFAULT_EVALUATOR:
        detail = f"not used, its lower layers are not installed: {INSTALLATION}"
    else:
        detail = f"not used, it goes with {DEFAULT_EVALUATOR}"
    yield CheckResult("evaluator for other languages", True, detail)


def _check_query_model(state: CommandState) -> Iterator[CheckResult]:
    model = state.open(None).models.query_model
    if model is None:
        detail = "read by rules alone: no adapter for them has a base that is installed"
    else:
        model.load()
        assert model.adapter_info is not None
        detail = f"{model.adapter_info.name} loads on {model.name}"
    yield CheckResult("questions over tables", True, detail)


def _check_language_model(state: CommandState) -> Iterator[CheckResult]:
    from localcrag.llm.language_model import LlamaCppModel

    model = state.open(None).models.language
    model.load()
    if not isinstance(model, LlamaCppModel):
        told = f"{model.name} at {model.place} keeps to its constraints, context {model.context:,} tokens"
        yield CheckResult("language model", True, told)
        return
    yield CheckResult("language model", True, f"{model.name} loads")
    if model.adapter_info:
        yield CheckResult("adapter", True, f"{model.adapter_info.name} loads with it")


def _check_embedding_model(state: CommandState) -> Iterator[CheckResult]:
    embedder = state.open(None).models.embedder
    vectors = embedder.encode(["one sentence"])
    facts = [embedder.name, f"{vectors.shape[1]} dimensions", EMBEDDING_COSTS.get(embedder.name, "")]
    yield CheckResult("embedding model", True, ", ".join(filter(None, facts)))


def _check_knowledge_bases(state: CommandState) -> Iterator[CheckResult]:
    from localcrag import knowledge_base

    for name in knowledge_base.names(state.settings):
        subject, base = f"knowledge base {name}", state.open(name)
        try:
            in_full = base.size() <= MAX_CHECKED_BYTES
            problems = list(base.check()) if in_full else []
            info = None if problems else base.info()
        except StoreError as error:
            yield CheckResult(subject, False, str(error), error.hint)
            continue
        for problem in problems[:MAX_SHOWN_PROBLEMS]:
            yield CheckResult(subject, False, problem.what, problem.hint)
        if left := problems[MAX_SHOWN_PROBLEMS:]:
            more = f"{len(left)} more problems"
            yield CheckResult(subject, False, more, f"`localcrag kb check {name}` lists them all")
        if info:
            held = f"{info.documents} documents, {info.passages} passages"
            quick = f"its files have their sizes and times; `localcrag kb check {name}` reads them"
            yield CheckResult(subject, True, f"{held}, {'all read and whole' if in_full else quick}")


def _check_object_storage(state: CommandState) -> Iterator[CheckResult]:
    """The knowledge bases of the settings on object storage; only their lists of files are fetched."""
    from localcrag.object_address import is_object_address
    from localcrag.store.kb_names import NAMES_SEPARATOR

    for name in filter(is_object_address, state.settings.kb.split(NAMES_SEPARATOR)):
        subject = f"knowledge base {name}"
        try:
            size = state.open(name).size()
        except LocalCragError as error:
            yield CheckResult(subject, False, str(error), error.hint)
        else:
            read = f"`localcrag kb check {name}` reads them"
            yield CheckResult(subject, True, f"{size / 1e6:.1f} MB of files are listed; {read}")


def _check_web(state: CommandState) -> Iterator[CheckResult]:
    settings = state.settings
    if not settings.web.url:
        yield CheckResult("web", True, "no SearXNG configured: no question leaves this machine")
        return
    if settings.web.policy is WebPolicy.NEVER:
        yield CheckResult(
            "web", True, "web.policy is never: SearXNG is not asked, `localcrag web check` does it"
        )
        return
    from localcrag.web.diagnose import ServerState as Web
    from localcrag.web.diagnose import diagnose

    found = diagnose(
        settings.web.url, record=lambda kind, target: state.ledger.record(kind, target, "doctor")
    )
    offline = found.state is Web.OFFLINE
    yield CheckResult("web", found.fine or offline, f"{found.state}: {found.detail}", found.hint)


def _check_warm_process(state: CommandState) -> Iterator[CheckResult]:
    from localcrag.cli.serve import server_status, status_line

    found = server_status(state)
    unasked = f"does not run (serve.warm = {state.settings.serve.warm})"
    yield CheckResult("warm process", True, status_line(found) if found else unasked)


def _check_machine(state: CommandState) -> Iterator[CheckResult]:
    memory = _memory_bytes()
    yield CheckResult(
        "machine", True, f"{cores()} processors" + (f", {memory / 1e9:.0f} GB of memory" if memory else "")
    )


def _memory_bytes() -> int:
    """Bytes of main memory; 0 if the platform does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 0


CHECKS: dict[str, Callable[[CommandState], Iterator[CheckResult]]] = {
    "machine": _check_machine,
    "home": _check_home,
    "libraries": _check_libraries,
    "embedding model": _check_embedding_model,
    "models": _check_models,
    "knowledge bases": _check_knowledge_bases,
    "object storage": _check_object_storage,
    "warm process": _check_warm_process,
    "web": _check_web,
}
