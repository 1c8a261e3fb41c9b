"""The fitness check of one configuration: its language model is loaded and measured."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from time import perf_counter

from localcrag._platform import peak_memory_bytes
from localcrag.evaluation.fitness_check import measure_fitness
from localcrag.evaluation.fitness_set import load_fitness_set
from localcrag.evaluation.run import Progress
from localcrag.fitness.fitness_result import FITNESS_EDITION, FitnessCosts, FitnessResult
from localcrag.fitness.fitness_verdicts import fitness_of_model, verdicts
from localcrag.fitness.model_defaults import ModelDefaults, model_defaults
from localcrag.llm.gguf import GgufInfo
from localcrag.llm.language_model import LlamaCppModel
from localcrag.loaded_models import LoadedModels
from localcrag.model_server.served_model import ServedModel
from localcrag.types import JsonValue

WANTED_CONTEXT_TOKENS = 2048
"""The context window in tokens that six passages and an answer need."""
SLOW_FILE_TYPES = ("Q4_1", "Q5_1")
"""Quantisations that llama.cpp has no repacked kernels for. Tokens of one model that a processor reads in a
second: Q4_0 205, Q4_K_M 164, Q5_0 152, Q5_1 76, Q4_1 73."""


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """A finished check: the result, the defaults that follow, and hints about the model's file.

    ``described`` says what was checked: the file with its size, or the server. ``interrupted`` says whether
    the user ended it before it was complete.
    """

    result: FitnessResult
    described: str
    defaults: ModelDefaults
    hints: tuple[str, ...]
    interrupted: bool

    def to_dict(self) -> dict[str, JsonValue]:
        """The JSON object of ``models check --json``: the result, which can be kept, and what follows."""
        return {
            **self.result.to_dict(),
            "verdict": fitness_of_model(self.result),
            "tasks": [
                {"task": each.task, "fitness": each.fitness, "says": each.sentence}
                for each in verdicts(self.result)
            ],
            "defaults": self.defaults.to_dict(),
            "hints": list(self.hints),
            "interrupted": self.interrupted,
        }


def check_model(models: LoadedModels, *, seconds: float, progress: Progress) -> ModelCheck:
    """Check the language model of a configuration; nothing is kept.

    Args:
        models: the configuration; its evaluator is not asked.
        seconds: the time, after loading, after which no further task is begun.
        progress: called with the number of tasks done and of all tasks.

    Raises ModelNotFound, ModelFileError or ModelError if the model cannot be loaded.
    """
    tasks, model = load_fitness_set(), models.language
    model.check()
    started = perf_counter()
    model.load()
    load_seconds = perf_counter() - started
    measured = measure_fitness(model, tasks, seconds=seconds, progress=progress)
    result = FitnessResult(
        model=model.name,
        fingerprints=models.language_fingerprints,
        edition=FITNESS_EDITION,
        made=date.today().isoformat(),
        yes_no=measured.yes_no,
        search_lines=measured.search_lines,
        follow_ups=measured.follow_ups,
        answers=measured.answers,
        json=measured.json,
        instructions=measured.instructions,
        costs=FitnessCosts(
            load_seconds=load_seconds,
            seconds=measured.seconds,
            tokens_read=measured.tokens.evaluated,
            tokens_written=measured.tokens.generated,
            read_per_second=measured.read_per_second,
            written_per_second=measured.written_per_second,
            peak_bytes=peak_memory_bytes(),
        ),
        failures=measured.failures,
        complete=measured.complete,
    )
    defaults = model_defaults(result, evaluator=models.judges, fused=models.fusion is not None)
    described, hints = _described(model)
    return ModelCheck(result, described, defaults, tuple(hints), measured.interrupted)


def _described(model: LlamaCppModel | ServedModel) -> tuple[str, list[str]]:
    """What was checked, in words, and hints about it."""
    if isinstance(model, LlamaCppModel):
        info = model.info
        size = f"{info.parameters / 1e6:,.0f} M weights, {info.file_type}, {info.size / 1e6:,.0f} MB"
        return f"{info.path.name}, {size}", file_hints(info, model.context)
    hints = [] if model.context >= WANTED_CONTEXT_TOKENS else [_small_context(model.context, "raise it")]
    return f"served at {model.place}, context {model.context:,} tokens", hints


def file_hints(info: GgufInfo, context: int) -> list[str]:
    """What the header of a model's file tells of its use, each as one line.

    Args:
        info: the header.
        context: the context window in use, in tokens.
    """
    hints = []
    if info.file_type in SLOW_FILE_TYPES:
        hints.append(
            f"its weights are {info.file_type}, which llama.cpp reads some three times slower than Q4_0 or "
            "Q4_K_M: take such a file of the same model"
        )
    if not info.chat_template:
        hints.append("its file has no chat template: an instruct model follows prompts better")
    if context < WANTED_CONTEXT_TOKENS:
        why = "the model allows no more" if context == info.context_train else "raise model.context"
        hints.append(_small_context(context, why))
    return hints


def _small_context(context: int, why: str) -> str:
    """The hint on a small context window, in tokens, and what can be done."""
    return f"its context is {context:,} tokens, and passages want {WANTED_CONTEXT_TOKENS:,}: {why}"
