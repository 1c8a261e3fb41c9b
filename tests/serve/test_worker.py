"""What stays open between requests, and what is opened anew."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from localcrag import knowledge_base
from localcrag.errors import UnknownKnowledgeBase
from localcrag.serve import worker as worker_module
from localcrag.serve.client import start_conditions, with_absolute_paths
from localcrag.serve.protocol import InfoRequest, SearchReply, SearchRequest
from localcrag.serve.worker import Worker
from localcrag.settings import Settings, load
from tests.tiny_llama import write_base, write_lora


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(home=tmp_path / "home").with_values("model", evaluator="none")


@pytest.fixture
def worker(settings: Settings) -> Worker:
    return Worker(settings)


def hold(settings: Settings, kb: str, text: str) -> None:
    """A knowledge base that holds one document."""
    file = settings.home.parent / f"{kb}.txt"
    file.write_text(text)
    knowledge_base.open(kb, settings=settings).ingest([file])


def found(worker: Worker, kb: str = "one") -> list[str]:
    settings = worker.settings
    (reply,) = worker.do(
        SearchRequest(start_conditions(settings, settings.home), kb, settings.model, "Zeldrine", 3, None)
    )
    assert isinstance(reply, SearchReply)
    return [hit.passage.text for hit in reply.hits]


def test_tables_stay_open_from_one_request_to_the_next(
    worker: Worker, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    from localcrag.store import tables

    opened: list[Path] = []
    opening = tables.Tables.__init__

    def recorded(self: tables.Tables, folder: Path, generation: int = 0) -> None:
        opened.append(folder)
        opening(self, folder, generation)

    monkeypatch.setattr(tables.Tables, "__init__", recorded)
    hold(settings, "one", "Zeldrine is a medicine.")
    opened.clear()
    assert found(worker) == found(worker) == ["Zeldrine is a medicine."]
    assert len(opened) == 1
    hold(settings, "one", "Zeldrine is a medicine. It helps.")
    assert found(worker) == ["Zeldrine is a medicine. It helps."], "what others write is seen"


def test_a_knowledge_base_that_was_removed_or_made_anew_is_noticed(
    worker: Worker, settings: Settings
) -> None:
    hold(settings, "one", "Zeldrine is a medicine.")
    assert found(worker) == ["Zeldrine is a medicine."]
    knowledge_base.open("one", settings=settings).remove()
    with pytest.raises(UnknownKnowledgeBase):
        found(worker)
    hold(settings, "one", "Zeldrine is a poison.")
    assert found(worker) == ["Zeldrine is a poison."]
    knowledge_base.open("one", settings=settings).remove()
    hold(settings, "one", "Zeldrine is nothing.")
    (held,) = worker.do(InfoRequest(start_conditions(settings, settings.home), "one", settings.model))
    assert held.info.documents == 1
    assert found(worker) == ["Zeldrine is nothing."]


def test_only_those_asked_last_stay_open(
    worker: Worker, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "MAX_OPEN_KNOWLEDGE_BASES", 2)
    for kb in ("one", "two", "three"):
        hold(settings, kb, f"Zeldrine {kb}")
    for kb in ("one", "two", "one", "three"):
        assert found(worker, kb) == [f"Zeldrine {kb}"]
    assert [kb for kb, _ in worker._open] == ["one", "three"]


def test_the_adapter_is_among_the_files_whose_change_begins_the_process_anew(tmp_path: Path) -> None:
    base, adapter = write_base(tmp_path / "base.gguf"), write_lora(tmp_path / "adapter.gguf")
    settings = load(home=tmp_path / "home").with_values(
        "model", language=str(base), adapter=str(adapter), evaluator="none"
    )
    worker = Worker(settings)
    request = InfoRequest(start_conditions(settings, settings.home), "one", settings.model)
    assert worker.changed(request) == worker.changed(request) == ""
    os.utime(adapter, ns=(1, 1))
    assert worker.changed(request) == "adapter.gguf"
    without = replace(settings.model, adapter="none")
    assert worker.changed(InfoRequest(request.start, "one", without)) == ""


def test_an_adapter_reaches_the_process_with_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lora(tmp_path / "adapter.gguf")
    monkeypatch.chdir(tmp_path)
    given = with_absolute_paths(load(home=tmp_path).with_values("model", adapter="adapter.gguf").model)
    assert given.adapter == str(tmp_path / "adapter.gguf")
    assert with_absolute_paths(replace(given, adapter="auto")).adapter == "auto"
