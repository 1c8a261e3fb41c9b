"""Reading on a cluster: each source once, a bounded number on the way, and one line for what goes wrong."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from localcrag.cluster import cluster_reader
from localcrag.cluster.cluster_reader import ClusterReader, LostTask, Wanted
from localcrag.cluster.node_work import NodeResult, NodeSetting, read_and_embed
from localcrag.documents import LocalCorpus
from localcrag.documents.sources import GivenBytes, LocalFile, UrlFile
from localcrag.egress import is_offline
from localcrag.embedding.embedder import SentenceTransformerEmbedder
from localcrag.errors import ClusterError, UnreadableError
from localcrag.events import Progressed, report_of
from localcrag.ingestion import Ingestion
from localcrag.protocols import SourceFile
from localcrag.types import ReadResult, StillReading
from tests.fakes.cluster import ScriptedNodes, Work
from tests.fakes.documents import ScriptedCorpus, ScriptedFile
from tests.fakes.store import HashEmbedder, MemoryStore, Vectors

FILES = [ScriptedFile(f"/d/{number:02}", (f"text {number} " * 10, "more")) for number in range(20)]
CORPUS = ScriptedCorpus(*FILES)


class NoEmbedder(HashEmbedder):
    """An embedder that the driver must not need."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError("the driver embeds")


def embed(task: Sequence[Wanted]) -> NodeResult:
    """What a node that has all files makes of a task."""
    readings = []
    for read in CORPUS.read_all(task):
        assert isinstance(read, ReadResult)
        vectors = HashEmbedder().encode([passage.searchable for passage in read.passages])
        readings.append(replace(read, vectors=vectors))
    return NodeResult("n1", tuple(readings))


def no_bytes(file: SourceFile) -> GivenBytes:
    raise AssertionError(f"{file.source} was brought to the driver")


def wanted(files: Sequence[SourceFile] = FILES) -> list[Wanted]:
    return [(file, {}) for file in files]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_reader, "MIN_BATCH_BYTES", 200)


def test_what_is_indexed_is_the_same_as_without_a_cluster() -> None:
    alone, together = MemoryStore(), MemoryStore()
    report_of(Ingestion("kb", CORPUS, HashEmbedder(), alone).run(["/d"]))
    nodes = ScriptedNodes(embed)
    reader = ClusterReader(nodes.connected, no_bytes)
    events = list(Ingestion("kb", CORPUS, NoEmbedder(), together, reader).run(["/d"]))
    assert sorted(e.source for e in events if isinstance(e, Progressed)) == [file.source for file in FILES]
    assert together.indexed() == alone.indexed() and len(nodes.tasks) > 4 and nodes.left
    for source in alone.indexed():
        np.testing.assert_allclose(together._held[source].vectors, alone._held[source].vectors)
        assert together._held[source].passages == alone._held[source].passages


def test_only_so_much_is_on_the_way_that_each_processor_has_its_next_batch() -> None:
    nodes = ScriptedNodes(embed)
    results = ClusterReader(nodes.connected, no_bytes).read_all(wanted())
    next(results)
    assert len(nodes.tasks) == 4, "nothing more is sent while nobody takes the results"
    assert len(list(results)) == 19 and nodes.most == 4


def test_a_large_file_goes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_reader, "MAX_BYTES_PER_PROCESSOR", 400)
    large = ScriptedFile("/d/large", ("word " * 400,))
    CORPUS.files[large.source] = large
    nodes = ScriptedNodes(embed)
    found = list(ClusterReader(nodes.connected, no_bytes).read_all(wanted([*FILES[:4], large, *FILES[4:8]])))
    del CORPUS.files[large.source]
    assert len(found) == 9 and [task[0][0].source for task in nodes.tasks if len(task) == 1] == ["/d/large"]
    assert nodes.most < 4


def test_nothing_to_read_connects_no_cluster() -> None:
    store, nodes = MemoryStore(), ScriptedNodes(embed)
    reader = ClusterReader(nodes.connected, no_bytes)
    assert list(reader.read_all([])) == [] and not nodes.left
    for _ in range(2):
        report = report_of(Ingestion("kb", CORPUS, NoEmbedder(), store, reader).run(["/d"]))
        sent, nodes.left = len(nodes.tasks), False
    assert (report.unchanged, len(nodes.tasks)) == (20, sent)


def test_a_file_that_a_node_does_not_see_is_sent_to_it() -> None:
    def blind(task: Sequence[Wanted]) -> NodeResult:
        unseen = [f for f, _ in task if not isinstance(f, GivenBytes) and f.source in ("/d/03", "/d/07")]
        found = embed([item for item in task if item[0] not in unseen])
        return NodeResult("n2", found.readings, tuple(file.source for file in unseen))

    def with_bytes(file: SourceFile) -> GivenBytes:
        return GivenBytes(file.source, "name", b"bytes")

    nodes = ScriptedNodes(blind)
    reader = ClusterReader(nodes.connected, with_bytes)
    found = [read.source for read in reader.read_all(wanted())]
    assert sorted(found) == [file.source for file in FILES]
    assert reader.notices == [
        "the node n2 does not have 2 of the files as this machine does, such as /d/03: they were sent to it"
    ]


def test_a_web_page_is_fetched_by_the_driver_and_one_that_cannot_be_is_skipped() -> None:
    def with_bytes(file: SourceFile) -> GivenBytes:
        if file.source.endswith("gone"):
            raise UnreadableError("status 404")
        return GivenBytes("/d/05", "page.html", b"bytes")

    nodes = ScriptedNodes(embed)
    pages = [UrlFile("https://example.org/a"), UrlFile("https://example.org/gone")]
    found = list(ClusterReader(nodes.connected, with_bytes).read_all(wanted(pages)))
    assert {(r.source, r.reason) for r in found if isinstance(r, ReadResult)} == {
        ("/d/05", ""),
        ("https://example.org/gone", "status 404"),
    }


def test_a_document_on_which_nodes_die_costs_only_itself() -> None:
    def fatal(task: Sequence[Wanted]) -> NodeResult | LostTask:
        return LostTask("out of memory") if any(f.source == "/d/11" for f, _ in task) else embed(task)

    nodes = ScriptedNodes(fatal)
    found = list(ClusterReader(nodes.connected, no_bytes).read_all(wanted()))
    assert sorted(read.source for read in found) == [file.source for file in FILES]
    [bad] = [r for r in found if isinstance(r, ReadResult) and r.reason]
    assert (bad.source, bad.reason) == ("/d/11", "no node could read it: out of memory")


def test_a_node_that_cannot_work_ends_the_ingestion_and_the_same_command_goes_on() -> None:
    done = 0

    def failing(task: Sequence[Wanted]) -> NodeResult:
        nonlocal done
        done += 1
        return embed(task) if done <= 3 else NodeResult("n2", failure="no model in /m", hint="bring it")

    store, nodes = MemoryStore(), ScriptedNodes(failing)
    ingestion = Ingestion("kb", CORPUS, NoEmbedder(), store, ClusterReader(nodes.connected, no_bytes))
    with pytest.raises(ClusterError, match="the node n2 cannot work: no model in /m") as caught:
        report_of(ingestion.run(["/d"]))
    assert caught.value.hint == "bring it; then run the same command again, which goes on" and nodes.left
    done = -1000
    report_of(ingestion.run(["/d"]))
    assert len(store.indexed()) == 20


def test_the_source_that_is_longest_on_the_way_is_named() -> None:
    waits = iter([None])
    work: Work = lambda task: next(waits, embed(task))  # noqa: E731
    found = list(ClusterReader(ScriptedNodes(work).connected, no_bytes).read_all(wanted(FILES[:2])))
    assert found[0] == StillReading("/d/00") and len(found) == 3


# ---------------------------------------------------------------------------------- a node


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture
def setting(tmp_path: Path, embedder: SentenceTransformerEmbedder) -> NodeSetting:
    from localcrag import __version__

    return NodeSetting(
        version=__version__,
        embedding="all-MiniLM-L6-v2",
        embedder=embedder.name,
        home=str(tmp_path),
        passage_tokens=250,
        max_bytes=1 << 20,
        offline=is_offline(),
    )


def test_a_node_reads_and_embeds_as_the_driver_does(
    setting: NodeSetting, embedder: SentenceTransformerEmbedder, tmp_path: Path
) -> None:
    path = tmp_path.resolve() / "notes.md"
    path.write_text("# Valves\n\nThe valve opens at 3 bar.\n")
    (tmp_path / "empty.txt").write_text(" ")
    corpus = LocalCorpus(embedder.tokenizer_file())
    files = [file for file in corpus.discover([str(tmp_path)]) if isinstance(file, LocalFile)]
    older = replace(files[1], source="/other", mtime_ns=1)
    given = corpus.with_bytes(files[1])
    result = read_and_embed(setting, [*wanted([*files, older]), (given, {"team": "x"})], "n1")
    empty, read, sent = result.readings
    assert (result.failure, result.unseen, empty.reason) == ("", ("/other",), "no text in it")
    assert read.document == corpus.read(files[1]) and list(read.passages) == corpus.split(
        corpus.read(files[1])
    )
    assert sent.document == corpus.read(files[1], {"team": "x"})
    assert read.vectors is not None
    np.testing.assert_allclose(
        read.vectors, embedder.encode([passage.searchable for passage in read.passages]), atol=1e-5
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"version": "0.0.1"}, "localcrag is .* there, and 0.0.1 here"),
        ({"embedder": "other#12345678"}, "is all-MiniLM-L6-v2 there, and other#12345678 here"),
        ({"embedding": "/models/minilm"}, "no embedding model '/models/minilm' on this machine"),
    ],
)
def test_a_node_with_another_localcrag_or_model_says_so(
    setting: NodeSetting, wrong: dict[str, str], said: str
) -> None:
    import re

    result = read_and_embed(replace(setting, **wrong), [], "n1")  # type: ignore[arg-type]
    assert re.search(said, result.failure) and result.hint and not result.readings


def test_a_path_that_is_gone_is_unseen(setting: NodeSetting, tmp_path: Path) -> None:
    file = LocalFile(str(tmp_path / "gone"), str(tmp_path / "gone"), 1, 1)
    assert not os.path.exists(file.path)  # noqa: PTH110
    assert read_and_embed(setting, wanted([file]), "n1").unseen == (file.source,)
