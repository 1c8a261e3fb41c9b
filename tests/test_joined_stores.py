"""Several knowledge bases in one question: one ranking, and the knowledge base of each hit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import localcrag
from localcrag import settings as configuration
from localcrag.cli.main import main
from localcrag.crag.wrapped_readers.joined_reader import JoinedEmbedder, JoinedReader, NamedReader
from localcrag.errors import EmbeddingMismatch, FilterError, SettingsError, UnknownKnowledgeBase, UsageError
from localcrag.filters import parse
from localcrag.plain_answer import source_line
from localcrag.store.knowledge_bases import KnowledgeBases
from tests.fakes.store import HashEmbedder, MemoryStore
from tests.store.conftest import item

SEA = {"a.md": "The lighthouse of Skagen was built in 1747.", "both.md": "A knot is a splice."}
LAND = {"b.md": "The lighthouse of Hook was built in 1172.", "both.md": "A knot is a splice."}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the knowledge bases sea and land, of which only sea has fields."""
    folder = tmp_path_factory.mktemp("joined")
    for kb, texts in (("sea", SEA), ("land", LAND)):
        (folder / kb).mkdir()
        for name, text in texts.items():
            (folder / kb / name).write_text(text)
        fields = {"team": "x"} if kb == "sea" else None
        localcrag.open(kb, home=folder / "home").ingest(folder / kb, metadata=fields)
    return folder / "home"


@pytest.fixture(scope="module")
def base(home: Path) -> Iterator[localcrag.KnowledgeBase]:
    with localcrag.open(["sea", "land"], home=home) as base:
        yield base


def test_the_hits_of_all_are_ranked_together(base: localcrag.KnowledgeBase) -> None:
    hits = base.search("When was the lighthouse of Hook built?")
    assert (hits[0].passage.kb, hits[0].passage.text) == ("land", LAND["b.md"])
    assert {hit.passage.kb for hit in hits} == {"sea", "land"}
    assert sum(hit.passage.text == SEA["both.md"] for hit in hits) == 1, "what both have is found once"
    assert hits[0].to_dict()["kb"] == "land"


def test_an_answer_cites_the_knowledge_base(base: localcrag.KnowledgeBase) -> None:
    for place, kb, year in (("Skagen", "sea", "1747"), ("Hook", "land", "1172")):
        answer = base.ask(f"When was the lighthouse of {place} built?")
        assert year in answer.text and [citation.kb for citation in answer.citations] == [kb]
        assert source_line(answer.citations[0]).endswith(f"(in {kb})")
        assert json.loads(answer.to_json())["citations"][0]["kb"] == kb


def test_a_field_that_only_one_has(base: localcrag.KnowledgeBase) -> None:
    hits = base.search("lighthouse", filter='team = "x"')
    assert {hit.passage.kb for hit in hits} == {"sea"}
    with pytest.raises(FilterError, match="colour"):
        base.search("lighthouse", filter='colour = "red"')


def test_a_given_text_is_evidence_beside_them(base: localcrag.KnowledgeBase) -> None:
    answer = base.ask(
        "When was the lighthouse of Brest built?", context="The lighthouse of Brest was built in 1863."
    )
    assert "1863" in answer.text and answer.citations[0].kb == ""


def test_they_can_only_be_searched_and_asked(base: localcrag.KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("x")
    for attempt in (
        lambda: base.ingest(tmp_path),
        base.info,
        base.remove,
        lambda: base.forget("x"),
        lambda: list(base.extract({"type": "object", "properties": {"a": {"type": "string"}}})),
    ):
        with pytest.raises(UsageError, match="several knowledge bases"):
            attempt()


def test_one_that_does_not_exist_is_named(home: Path) -> None:
    with pytest.raises(UnknownKnowledgeBase, match="'none'"):
        localcrag.open(["sea", "none"], home=home).search("lighthouse")
    with pytest.raises(UsageError, match="cannot be the name"):
        localcrag.open(["sea", "../x"], home=home)
    with pytest.raises(UsageError, match="cannot be the name"):
        localcrag.open([], home=home)
    assert localcrag.open(["sea", "sea"], home=home).name == "sea"


def test_the_command_line_and_the_settings(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--home", str(home), "search", "--kb", "sea", "--kb", "land", "--json", "lighthouse"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kb"] == "sea+land" and {hit["kb"] for hit in found["hits"]} == {"sea", "land"}
    monkeypatch.setenv("LOCALCRAG_KB", "land, sea")
    assert main(["--home", str(home), "ask", "When was the lighthouse of Skagen built?"]) == 0
    shown = capsys.readouterr()
    assert "1747" in shown.out and "(in sea)" in shown.err
    assert main(["--home", str(home), "kb", "show"]) == 2
    assert "several knowledge bases" in capsys.readouterr().err


@pytest.mark.parametrize("written", ['kb = ["sea", "land"]', 'kb = "sea, land"', 'kb = "sea+land"'])
def test_several_names_in_the_configuration_file(tmp_path: Path, written: str) -> None:
    (tmp_path / "config.toml").write_text(written)
    assert configuration.load(home=tmp_path).kb == "sea+land"
    assert (
        configuration.overlaid(configuration.load(home=tmp_path), tmp_path / "config.toml").kb == "sea+land"
    )


@pytest.mark.parametrize("written", ["kb = []", "kb = 3", 'kb = ["a", 1]', 'kb = ","'])
def test_what_is_no_name_is_refused(tmp_path: Path, written: str) -> None:
    (tmp_path / "config.toml").write_text(written)
    with pytest.raises(SettingsError, match=r"kb in|kb:"):
        configuration.load(home=tmp_path)


# ---------------------------------------------------------------------------------- different models


def test_a_knowledge_base_without_its_model_is_named(home: Path) -> None:
    KnowledgeBases(home).create("foreign", "no-such-model", 8)
    with pytest.raises(EmbeddingMismatch, match="'foreign' was made with the embedding model no-such-model"):
        localcrag.open(["sea", "foreign"], home=home).search("lighthouse")
    KnowledgeBases(home).remove("foreign")


def test_each_is_searched_with_its_own_part_of_the_vector() -> None:
    models = (HashEmbedder("one", 64), HashEmbedder("two", 32))
    joined = JoinedEmbedder(models)
    readers = []
    for number, (name, text) in enumerate((("a", "a lighthouse keeper"), ("b", "a lighthouse lamp"))):
        document, entry, passages, _ = item(f"/{name}.md", text)
        store = MemoryStore(name, models[number].name, models[number].dimension)
        store.replace([(document, entry, passages, models[number].encode([text]))])
        readers.append(NamedReader(name, store, number))
    vector = joined.encode_questions(["lighthouse lamp"])[0]
    assert vector.shape == (96,) and np.isclose(np.linalg.norm(vector), 1)
    for number, model in enumerate(models):
        assert np.allclose(joined.part(vector, number), model.encode(["lighthouse lamp"])[0], atol=1e-6)
    reader = JoinedReader(readers, joined)
    hits = reader.search("lighthouse lamp", vector, k=5)
    assert [hit.passage.kb for hit in hits] == ["b", "a"], "of the same rank, the better score comes first"
    assert all(hit.similarity is None for hit in hits), "cosines of different models cannot be compared"
    assert reader.text(hits[0].passage.document, None) == "a lighthouse lamp"
    assert reader.neighbours(hits[0].passage) == []
    assert [passage.kb for passage in reader.passages({"/a.md": hits[1].passage.document}, limit=1)] == ["a"]
    info = reader.info()
    assert (info.name, info.documents, info.embedding_model, info.dimension) == ("a+b", 2, "one, two", 96)
    with pytest.raises(FilterError):
        reader.search("lamp", vector, k=1, filter=parse('colour = "red"'))
