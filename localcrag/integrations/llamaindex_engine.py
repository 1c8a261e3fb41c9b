"""A knowledge base in LlamaIndex: a retriever of its passages, and the loop as a query engine.

::

    retriever = LlamaIndexRetriever(kb, k=4, filter='team = "x"')
    engine = LlamaIndexQueryEngine(kb, policy="crag")

Needs ``localcrag[llamaindex]``, which is llama-index-core.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from dataclasses import asdict, dataclass, field
from typing import Any, Unpack

from localcrag.cited_text import cited_piece, marked_text, note_below
from localcrag.events import Delta, Event, Finished
from localcrag.integrations.hit_fields import PLACE_FIELDS, hit_fields
from localcrag.integrations.missing_extra import missing_extra
from localcrag.knowledge_base import KnowledgeBase
from localcrag.options import AskKeywords, AskOptions
from localcrag.types import Answer, Citation, Hit

try:
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.response.schema import (
        RESPONSE_TYPE,
        AsyncStreamingResponse,
        Response,
        StreamingResponse,
    )
    from llama_index.core.callbacks.base import CallbackManager
    from llama_index.core.prompts.mixin import PromptMixinType
    from llama_index.core.schema import (
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
except ModuleNotFoundError as error:
    raise missing_extra("llamaindex", error) from error


class LlamaIndexRetriever(BaseRetriever):
    """The passages of a knowledge base that bear on a query, best first: hybrid search and reranking.

    Parameters:
        kb: the knowledge base.
        k: how many passages at most.
        filter: only documents like this, for example ``team = "x"``.
        evaluator: another reranker than the one in the settings; ``"none"`` for none.
        callback_manager: as of every retriever of LlamaIndex.

    The metadata of a node is described at :func:`~localcrag.integrations.hit_fields.hit_fields`.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        k: int = 8,
        filter: str | None = None,
        evaluator: str | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager)
        self.kb, self.k, self.filter, self.evaluator = kb, k, filter, evaluator

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The nodes for a query. Raises what ``KnowledgeBase.search`` raises."""
        query = query_bundle.query_str
        hits = self.kb.search(query, k=self.k, filter=self.filter, evaluator=self.evaluator)
        return [_passage_node(hit) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The nodes for a query, without blocking the event loop."""
        query = query_bundle.query_str
        hits = await self.kb.asearch(query, k=self.k, filter=self.filter, evaluator=self.evaluator)
        return [_passage_node(hit) for hit in hits]


class LlamaIndexQueryEngine(BaseQueryEngine):
    """The loop as a query engine.

    The response is the text of the answer, and below it why it is unsure. Its source nodes are what the
    answer cites, in the order of the keys, scored with P(the passage helps); its metadata is
    ``Answer.to_dict()``.

    Parameters:
        kb: the knowledge base.
        streaming: return a response that streams; its source nodes and metadata are there at its end.
        callback_manager: as of every query engine of LlamaIndex.
        options: every option of :meth:`~localcrag.KnowledgeBase.ask`.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        streaming: bool = False,
        callback_manager: CallbackManager | None = None,
        **options: Unpack[AskKeywords],
    ) -> None:
        super().__init__(callback_manager)
        self.kb, self.streaming, self.options = kb, streaming, AskOptions.of(**options)

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        """The response to a question. Raises what ``KnowledgeBase.ask`` raises."""
        question = query_bundle.query_str
        if not self.streaming:
            return _response(self.kb.ask(question, self.options))
        found = _Sources()
        return StreamingResponse(self._pieces(question, found), found.nodes, found.metadata)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        """The response to a question, without blocking the event loop."""
        question = query_bundle.query_str
        if not self.streaming:
            return _response(await self.kb.aask(question, self.options))
        found = _Sources()
        return AsyncStreamingResponse(self._pieces_async(question, found), found.nodes, found.metadata)

    def _pieces(self, question: str, found: _Sources) -> Generator[str, None, None]:
        for event in self.kb.stream(question, self.options):
            yield from found.shown(event)

    async def _pieces_async(self, question: str, found: _Sources) -> AsyncGenerator[str, None]:
        async for event in self.kb.astream(question, self.options):
            for piece in found.shown(event):
                yield piece

    def _get_prompt_modules(self) -> PromptMixinType:
        """Modules with prompts to edit: none, because those of the loop are its own."""
        return {}


@dataclass(frozen=True)
class _Sources:
    """The source nodes and the metadata of a response that streams; filled at its end."""

    nodes: list[NodeWithScore] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    def shown(self, event: Event) -> Generator[str, None, None]:
        """What an event adds to the text of the response."""
        match event:
            case Delta():
                yield cited_piece(event)
            case Finished(answer=answer):
                self.nodes.extend(_citation_nodes(answer))
                self.metadata.update(answer.to_dict())
                if note := note_below(answer):
                    yield note


def _response(answer: Answer) -> Response:
    return Response(marked_text(answer) + note_below(answer), _citation_nodes(answer), answer.to_dict())


def _passage_node(hit: Hit) -> NodeWithScore:
    """The node of a passage that was found."""
    passage = hit.passage
    return NodeWithScore(
        node=_node(passage.id, passage.text, passage.source, hit_fields(hit)), score=hit.score
    )


def _citation_nodes(answer: Answer) -> list[NodeWithScore]:
    """A node for each citation of an answer."""
    return [
        NodeWithScore(node=_citation_node(citation), score=_confidence(answer, citation))
        for citation in answer.citations
    ]


def _citation_node(citation: Citation) -> TextNode:
    fields = {name: value for name, value in asdict(citation).items() if name != "quote"}
    place = f"{citation.source}#{citation.page or 0}:{citation.start}-{citation.end}"
    return _node(place, citation.quote, citation.source, fields)


def _node(name: str, text: str, source: str, fields: dict[str, Any]) -> TextNode:
    """A node of a document; its fields are JSON, and of these only some are for models to read."""
    return TextNode(
        id_=name,
        text=text,
        start_char_idx=fields["start"],
        end_char_idx=fields["end"],
        metadata=fields,
        excluded_llm_metadata_keys=list(PLACE_FIELDS),
        excluded_embed_metadata_keys=list(PLACE_FIELDS),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=source)},
    )


def _confidence(answer: Answer, citation: Citation) -> float | None:
    """P(the passage of a citation helps), as it was graded; None if it was not."""
    for grade in answer.grades:
        passage = grade.hit.passage
        same_page = (passage.source, passage.page) == (citation.source, citation.page)
        if same_page and passage.start <= citation.start and citation.end <= passage.end:
            return grade.confidence
    return None
