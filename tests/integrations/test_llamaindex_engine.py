"""localcrag in LlamaIndex: a retriever, and the loop as a query engine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="needs localcrag[llamaindex]")

from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.callbacks import CallbackManager, LlamaDebugHandler
from llama_index.core.callbacks.schema import CBEventType
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, QueryBundle
from llama_index.core.tools import QueryEngineTool

import localcrag
from localcrag.integrations.llamaindex_engine import LlamaIndexQueryEngine, LlamaIndexRetriever
from tests.integrations.conftest import CHESS, CLUB, DOSE, LEAFLET

WHERE = "On which day do the gardeners come together?"
STRICT = "none-relevant"
"""A policy by which a passage in doubt is not enough."""


def test_a_node_has_the_text_the_place_and_the_scores_of_its_hit(kb: localcrag.KnowledgeBase) -> None:
    [hit] = kb.search(DOSE, k=1)
    [found] = LlamaIndexRetriever(kb, k=1).retrieve(DOSE)
    assert (found.node_id, found.text, found.score) == (hit.passage.id, LEAFLET, hit.score)
    assert found.metadata["meta"] == {"team": "x"} and found.metadata["similarity"] == hit.similarity
    assert found.node.ref_doc_id == "text:leaflet"
    for_models = found.node.get_content(MetadataMode.LLM)
    assert "source: text:leaflet" in for_models and "score" not in for_models


def test_both_ways_to_retrieve_and_both_forms_of_a_query(kb: localcrag.KnowledgeBase) -> None:
    retriever = LlamaIndexRetriever(kb)
    names = [found.node_id for found in retriever.retrieve("ferns")]
    assert len(names) == 3
    assert [found.node_id for found in asyncio.run(retriever.aretrieve(QueryBundle("ferns")))] == names


def test_only_documents_of_a_filter(kb: localcrag.KnowledgeBase) -> None:
    found = LlamaIndexRetriever(kb, filter='team = "x"').retrieve("ferns")
    assert [item.metadata["source"] for item in found] == ["text:leaflet"]
    with pytest.raises(localcrag.FilterError):
        LlamaIndexRetriever(kb, filter="nonsense =").retrieve("ferns")


def test_the_retriever_goes_into_an_engine_of_llamaindex(kb: localcrag.KnowledgeBase) -> None:
    engine = RetrieverQueryEngine.from_args(LlamaIndexRetriever(kb, k=1), llm=MockLLM())
    response = engine.query(DOSE)
    assert LEAFLET in str(response) and len(response.source_nodes) == 1  # the mock repeats its prompt


def test_a_response_has_the_text_of_the_answer_and_its_citations(kb: localcrag.KnowledgeBase) -> None:
    answer = kb.ask(DOSE)
    engine = LlamaIndexQueryEngine(kb)
    for response in (engine.query(DOSE), asyncio.run(engine.aquery(DOSE))):
        assert isinstance(response, Response) and response.response == answer.text
        [source] = response.source_nodes
        assert source.text == answer.citations[0].quote and source.score == answer.grades[0].confidence
        assert source.metadata["key"] == 1 and source.node.ref_doc_id == "text:leaflet"
        assert (response.metadata or {})["status"] == "answered"


def test_what_is_unsure_or_not_found_is_said(kb: localcrag.KnowledgeBase) -> None:
    engine = LlamaIndexQueryEngine(kb, policy=STRICT)
    unsure, missing = engine.query(WHERE), engine.query(CHESS)
    assert str(unsure) == f"{CLUB} [1]\n\nUnsure: the evidence is weak. Check the sources."
    assert str(missing) == "Your documents do not answer this." and not missing.source_nodes


def test_a_response_streams_and_has_its_sources_at_its_end(kb: localcrag.KnowledgeBase) -> None:
    engine = LlamaIndexQueryEngine(kb, streaming=True, policy=STRICT)
    response = engine.query(WHERE)
    assert isinstance(response, StreamingResponse)
    pieces = list(response.response_gen)
    assert len(pieces) > 1 and "".join(pieces) == str(LlamaIndexQueryEngine(kb, policy=STRICT).query(WHERE))
    assert [source.text for source in response.source_nodes] == [CLUB]
    assert (response.metadata or {})["status"] == "unsure"

    async def streamed() -> tuple[list[str], list[str]]:
        response = await engine.aquery(WHERE)
        assert isinstance(response, AsyncStreamingResponse)
        text = [piece async for piece in response.async_response_gen()]
        return text, [source.text for source in response.source_nodes]

    assert asyncio.run(streamed()) == (pieces, [CLUB])


def test_options_are_those_of_ask(kb: localcrag.KnowledgeBase) -> None:
    response = LlamaIndexQueryEngine(kb, policy="none-relevant", filter='team = "x"').query(DOSE)
    assert (response.metadata or {})["policy"] == "none-relevant"
    options: dict[str, Any] = {"temperature": 0}
    with pytest.raises(localcrag.UsageError, match="no option 'temperature'"):
        LlamaIndexQueryEngine(kb, **options)


def test_it_is_a_tool_for_agents_and_has_no_prompts_to_edit(kb: localcrag.KnowledgeBase) -> None:
    engine = LlamaIndexQueryEngine(kb)
    assert engine.get_prompts() == {}
    tool = QueryEngineTool.from_defaults(engine, name="leaflets", description="Answers about leaflets.")
    assert "35 mg" in str(tool.call(DOSE))


def test_callbacks_are_told(kb: localcrag.KnowledgeBase) -> None:
    heard = LlamaDebugHandler(print_trace_on_end=False)
    LlamaIndexRetriever(kb, k=1, callback_manager=CallbackManager([heard])).retrieve(DOSE)
    assert len(heard.get_event_pairs(CBEventType.RETRIEVE)) == 1
