"""A knowledge base in LangChain: a retriever of its passages, and the loop as runnables.

::

    retriever = LangChainRetriever(kb=kb, k=4, filter='team = "x"')
    answers = LangChainAnswers(kb, policy="crag")       # a Runnable whose output is an Answer
    texts = LangChainAnswerTexts(kb)                    # one whose output is text with its citations

Needs ``localcrag[langchain]``, which is langchain-core.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from localcrag.cited_text import cited_piece, note_below, sources_below
from localcrag.errors import UsageError
from localcrag.events import Delta, Event, Finished
from localcrag.integrations.hit_fields import hit_fields
from localcrag.integrations.missing_extra import missing_extra
from localcrag.knowledge_base import KnowledgeBase
from localcrag.options import AskKeywords, AskOptions
from localcrag.types import Answer, Hit, Turn

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        MessageLikeRepresentation,
        convert_to_messages,
    )
    from langchain_core.prompt_values import PromptValue
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable, RunnableConfig
except ModuleNotFoundError as error:
    raise missing_extra("langchain", error) from error

QuestionInput = str | PromptValue | Sequence[MessageLikeRepresentation] | Mapping[str, Any]
"""A question; messages, the last of which is the question; or a mapping with ``question`` and ``history``."""
_KEYS = ("question", "history")


class LangChainRetriever(BaseRetriever):
    """The passages of a knowledge base that bear on a query, best first: hybrid search and reranking.

    ``k``, ``filter`` and ``evaluator`` are as for :meth:`~localcrag.KnowledgeBase.search`; each may also be
    given to one call: ``retriever.invoke("dose", k=2, filter='team = "x"')``. The metadata of a document is
    described at :func:`~localcrag.integrations.hit_fields.hit_fields`.
    """

    kb: KnowledgeBase
    k: int = 8
    filter: str | None = None
    evaluator: str | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        """The documents for a query. Raises what ``KnowledgeBase.search`` raises."""
        return [_document(hit) for hit in self.kb.search(query, **self._search_keywords(given))]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **given: Any
    ) -> list[Document]:
        """The documents for a query, without blocking the event loop."""
        return [_document(hit) for hit in await self.kb.asearch(query, **self._search_keywords(given))]

    def _search_keywords(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The keywords of a search: those of this call before the retriever's own. Raises UsageError."""
        own = {"k": self.k, "filter": self.filter, "evaluator": self.evaluator}
        if unknown := sorted(given.keys() - own.keys()):
            raise UsageError(f"there is no option {unknown[0]!r}", hint=f"one of: {', '.join(own)}")
        return own | dict(given)


class _Loop:
    """A knowledge base with the options of its questions.

    Every option of :meth:`~localcrag.KnowledgeBase.ask` is a keyword: here, in ``bind``, or of one call.
    """

    def __init__(self, kb: KnowledgeBase, **options: Unpack[AskKeywords]) -> None:
        self.kb, self.options = kb, AskOptions.of(**options)

    def _asked(self, given: QuestionInput, options: Mapping[str, Any]) -> tuple[str, AskOptions]:
        """The question of an input, and the options of this call. Raises UsageError."""
        question, history = read_input(given)
        return question, AskOptions.of(replace(self.options, history=history), **options)


class LangChainAnswers(_Loop, Runnable[QuestionInput, Answer]):
    """The loop as a runnable: a question in, an :class:`~localcrag.Answer` out.

    The input is a question; messages, of which the last is the question and the others are the history; or a
    mapping with ``question`` and, if there is one, ``history``, as RunnableWithMessageHistory gives it.
    """

    def invoke(self, input: QuestionInput, config: RunnableConfig | None = None, **options: Any) -> Answer:
        """The answer. Raises what ``KnowledgeBase.ask`` raises, and UsageError for another form of input."""
        return self._call_with_config(self._answer, input, config, **options)

    async def ainvoke(
        self, input: QuestionInput, config: RunnableConfig | None = None, **options: Any
    ) -> Answer:
        """As :meth:`invoke`, without blocking the event loop."""
        return await self._acall_with_config(self._answer_async, input, config, **options)

    def _answer(self, given: QuestionInput, **options: Any) -> Answer:
        return self.kb.ask(*self._asked(given, options))

    async def _answer_async(self, given: QuestionInput, **options: Any) -> Answer:
        return await self.kb.aask(*self._asked(given, options))


class LangChainAnswerTexts(_Loop, Runnable[QuestionInput, str]):
    """The loop as a runnable whose output is text: the answer, why it is unsure, and its sources.

    It streams: the pieces together are what :meth:`invoke` returns. Input and options are those of
    :class:`LangChainAnswers`.
    """

    def invoke(self, input: QuestionInput, config: RunnableConfig | None = None, **options: Any) -> str:
        """The text of the answer. Raises what :meth:`LangChainAnswers.invoke` raises."""
        return "".join(self.stream(input, config, **options))

    async def ainvoke(
        self, input: QuestionInput, config: RunnableConfig | None = None, **options: Any
    ) -> str:
        """As :meth:`invoke`, without blocking the event loop."""
        return "".join([piece async for piece in self.astream(input, config, **options)])

    def stream(
        self, input: QuestionInput, config: RunnableConfig | None = None, **options: Any
    ) -> Iterator[str]:
        """The pieces of the text as they are ready; closing the iterator ends the question."""
        yield from self._transform_stream_with_config(iter([input]), self._pieces, config, **options)

    async def astream(
        self, input: QuestionInput, config: RunnableConfig | None = None, **options: Any
    ) -> AsyncIterator[str]:
        """As :meth:`stream`, without blocking the event loop."""
        pieces = self._atransform_stream_with_config(_only(input), self._pieces_async, config, **options)
        async for piece in pieces:
            yield piece

    def _pieces(self, inputs: Iterator[QuestionInput], **options: Any) -> Iterator[str]:
        for given in inputs:
            for event in self.kb.stream(*self._asked(given, options)):
                yield from _shown(event)

    async def _pieces_async(self, inputs: AsyncIterator[QuestionInput], **options: Any) -> AsyncIterator[str]:
        async for given in inputs:
            async for event in self.kb.astream(*self._asked(given, options)):
                for piece in _shown(event):
                    yield piece


def read_input(given: QuestionInput) -> tuple[str, tuple[Turn, ...]]:
    """The question of an input and the turns before it. Raises UsageError for an input of another form."""
    match given:
        case str():
            return given, ()
        case PromptValue():
            return read_input(given.to_messages())
        case Mapping():
            if unknown := sorted(str(key) for key in given if key not in _KEYS):
                raise UsageError(f"the input has {unknown[0]!r}", hint=f"it may have: {', '.join(_KEYS)}")
            question, before = read_input(given.get("question", ""))
            return question, (*_turns(given.get("history") or ()), *before)
        case Sequence() if given:
            *history, last = convert_to_messages(given)
            if not isinstance(last, HumanMessage):
                raise UsageError("the last message is no question", hint="end with the message of a human")
            return _text(last), _turns(history)
    raise UsageError(
        f"the input is a {type(given).__name__}",
        hint='give a question, messages, or {"question": …, "history": […]}',
    )


def _turns(messages: Sequence[MessageLikeRepresentation]) -> tuple[Turn, ...]:
    """Messages as the turns of a conversation. Raises UsageError for one of neither a human nor a model."""
    return tuple(_turn(message) for message in convert_to_messages(messages))


def _turn(message: BaseMessage) -> Turn:
    if isinstance(message, HumanMessage):
        return Turn("user", _text(message))
    if isinstance(message, AIMessage):
        return Turn("assistant", _text(message))
    raise UsageError(
        f"the history has a message of the type {message.type!r}",
        hint="it may have those of humans and models; how to answer is said by options",
    )


def _text(message: BaseMessage) -> str:
    """The text of a message. Raises UsageError for one that holds something else."""
    if not isinstance(message.content, str):
        kinds = {block if isinstance(block, str) else block.get("type") for block in message.content_blocks}
        if other := sorted(str(kind) for kind in kinds - {"text"}):
            raise UsageError(f"a message holds {other[0]!r}", hint="only text is understood")
    return str(message.text)


async def _only(given: QuestionInput) -> AsyncIterator[QuestionInput]:
    yield given


def _shown(event: Event) -> Iterator[str]:
    """What an event adds to the text."""
    match event:
        case Delta():
            yield cited_piece(event)
        case Finished(answer=answer):
            if below := note_below(answer) + sources_below(answer):
                yield below


def _document(hit: Hit) -> Document:
    return Document(hit.passage.text, id=hit.passage.id, metadata=hit_fields(hit))
