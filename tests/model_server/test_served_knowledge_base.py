"""A knowledge base whose language model is on a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import localcrag
from localcrag.errors import SettingsError, UsageError
from localcrag.llm.registry import embedded_folder
from localcrag.loaded_models import LoadedModels
from localcrag.report.model_files import model_files
from localcrag.settings import ModelSettings, Settings
from localcrag.types import GraderKind, Mode
from tests.model_servers import CONTEXT

QUESTION = "What is the usual dose of Zeldrine?"


@pytest.fixture(scope="module")
def settings(model_server: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    evaluator = str(embedded_folder() / "localcrag-evaluator-v6.gguf")
    model = ModelSettings(language=model_server, evaluator=evaluator, context=CONTEXT)
    return Settings(home=tmp_path_factory.mktemp("home"), model=model)


@pytest.fixture(scope="module")
def base(settings: Settings) -> Iterator[localcrag.KnowledgeBase]:
    with localcrag.open("dose", settings=settings) as held:
        held.ingest_text("The usual dose of Zeldrine is 20 mg a day.", name="dose")
        yield held


def test_a_question_is_graded_and_answered_by_the_server(base: localcrag.KnowledgeBase) -> None:
    answer = base.ask(QUESTION, grader=GraderKind.YESNO, mode=Mode.QUOTE, corrections=())
    assert [grade.verdict for grade in answer.grades] != ["error"]
    assert 0 < (answer.grades[0].confidence or 0) < 1
    assert answer.usage.tokens.evaluated > 0
    entries = base.ledger.entries()
    assert {entry.kind for entry in entries} == {"model"} and len(entries) > 3
    assert "Zeldrine" not in base.ledger.path.read_text()


def test_a_question_cannot_name_another_server(base: localcrag.KnowledgeBase) -> None:
    with pytest.raises(UsageError, match=r"the settings name no model server 127\.0\.0\.1:1"):
        base.ask(QUESTION, model="http://127.0.0.1:1")


def test_the_model_has_no_file_and_an_identity(settings: Settings, model_server: str) -> None:
    models = LoadedModels(settings.model, settings.home)
    assert models.language_files() == [] and models.adapter_file is None and models.fusion is None
    (identity,) = models.language_fingerprints
    assert identity.startswith("served-")
    assert models.fitness is None
    assert model_files(models)[0].file == f"served at {model_server}"


def test_an_adapter_is_the_servers_business(settings: Settings) -> None:
    named = settings.with_values("model", adapter="mine")
    with pytest.raises(SettingsError, match="adapter mine cannot be used with a model server"):
        _ = LoadedModels(named.model, named.home).language
