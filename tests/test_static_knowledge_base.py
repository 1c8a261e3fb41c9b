"""A knowledge base with static embeddings: asked after a fast ingestion, refined, and asked as before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import localcrag
from localcrag.cli.main import cli
from localcrag.configured_models import embedding_for, teacher_of
from localcrag.documents.sources import LocalFile
from localcrag.errors import EmbeddingMismatch, UsageError
from localcrag.events import Advanced, Event
from localcrag.settings import ModelSettings, Settings
from localcrag.types import NO_META, ReadResult
from tests.tiny_encoder import tiny_encoder

NOTES = {"heron.txt": "A heron stops in the river.", "valve.txt": "The valve stops the pump in a day."}


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("teacher") / "tiny")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


def settings(home: Path, embedding: str) -> Settings:
    return Settings(home=home, model=ModelSettings(embedding=embedding, evaluator="none"))


def first(base: localcrag.KnowledgeBase) -> str:
    return Path(base.search("what stops the pump?", k=1)[0].passage.source).name


def test_it_is_asked_then_refined_and_asked_with_either_setting(
    tmp_path: Path, notes: Path, teacher: Path
) -> None:
    static = localcrag.open("x", settings=settings(tmp_path / "home", f"static:{teacher}"))
    plain = localcrag.open("x", settings=settings(tmp_path / "home", str(teacher)))
    events: list[Event] = list(static.stream_ingestion([notes]))
    steps = [event for event in events if isinstance(event, Advanced)]
    assert steps and {step.step for step in steps} == {"distilling"} and steps[-1].done == steps[-1].total
    assert static.info().embedding_model.startswith("static:tiny#") and static.info().dimension == 32
    assert first(static) == first(plain) == "valve.txt", "the words weigh more than static vectors"
    compared = static.search("pump")[0].similarity

    assert static.refine() == 2
    assert not static.info().embedding_model.startswith("static:")
    assert first(static) == first(plain)
    assert static.search("pump")[0].similarity == pytest.approx(compared), (
        "the real model's, before and after"
    )
    (notes / "letter.txt").write_text("A letter of the year: tax.")
    assert static.ingest([notes]).added == 1 and plain.ingest([notes]).unchanged == 3
    assert static.refine() == plain.refine() == 0


def test_the_processes_that_read_embed_as_well_until_it_is_refined(
    tmp_path: Path, notes: Path, teacher: Path
) -> None:
    static = localcrag.open("x", settings=settings(tmp_path / "home", f"static:{teacher}"))
    (notes / "page.html").write_text("<title>Pumps</title><p>The valve stops the pump.</p>")

    def read() -> list[ReadResult]:
        wanted = [
            (file, NO_META) for file in static.corpus.discover([str(notes)]) if isinstance(file, LocalFile)
        ]
        return [item for item in static.corpus.read_all(wanted) if isinstance(item, ReadResult)]

    assert static.ingest([notes]).added == 3
    results = read()
    assert len(results) == 3
    for result in results:
        wanted = static.models.embedder.encode([passage.searchable for passage in result.passages])
        assert result.vectors is not None and (result.vectors == wanted).all()
    static.refine()
    assert all(result.passages and result.vectors is None for result in read())
    (notes / "late.html").write_text("<p>A heron stops.</p>")
    assert static.ingest([notes]).added == 1


def test_a_static_knowledge_base_of_another_model_is_refused(
    tmp_path: Path, notes: Path, teacher: Path
) -> None:
    home = tmp_path / "home"
    localcrag.open("x", settings=settings(home, f"static:{teacher}")).ingest([notes])
    with pytest.raises(EmbeddingMismatch) as caught:
        localcrag.open("x", settings=settings(home, "all-MiniLM-L6-v2")).search("pump")
    assert "static:tiny#" in caught.value.hint


def test_the_commands_refine_and_say_so(tmp_path: Path, notes: Path, teacher: Path) -> None:
    environment = {"LOCALCRAG_MODEL_EMBEDDING": f"static:{teacher}", "LOCALCRAG_MODEL_EVALUATOR": "none"}

    def run(*arguments: str) -> str:
        given = ["--home", str(tmp_path / "home"), *arguments]
        result = CliRunner().invoke(cli, given, env=environment, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    said = run("ingest", "--kb", "x", "--refine", str(notes))
    assert "searches use the vectors of tiny#" in said
    assert "was embedded with tiny#" in run("kb", "refine", "x")
    run("ingest", "--kb", "y", str(notes))
    assert json.loads(run("kb", "show", "y", "--json"))["embedding_model"].startswith("static:tiny#")
    assert "searches use the vectors of tiny#" in run("kb", "refine", "y")


def test_refining_and_watching_at_once_is_refused(tmp_path: Path, notes: Path) -> None:
    result = CliRunner().invoke(cli, ["--home", str(tmp_path), "ingest", "--watch", "--refine", str(notes)])
    assert isinstance(result.exception, UsageError) and "kb refine" in result.exception.hint


@pytest.mark.parametrize(
    ("setting", "recorded", "used"),
    [
        ("static", "static:all-MiniLM-L6-v2", "static"),
        ("static", "all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
        ("all-MiniLM-L6-v2", "static:all-MiniLM-L6-v2", "static:all-MiniLM-L6-v2"),
        ("all-MiniLM-L6-v2", "all-MiniLM-L6-v2", "all-MiniLM-L6-v2"),
        ("multilingual", "static:all-MiniLM-L6-v2", "multilingual"),
        ("static:/models/a", "a#12345678", "/models/a"),
    ],
)
def test_a_knowledge_base_is_asked_with_the_model_it_has(setting: str, recorded: str, used: str) -> None:
    assert embedding_for(setting, recorded) == used


def test_the_teacher_of_static_is_the_installed_model() -> None:
    assert teacher_of("static") == ModelSettings().embedding
    assert teacher_of("static:/models/a") == "/models/a"
    assert teacher_of("all-MiniLM-L6-v2") is teacher_of("multilingual") is None
