"""localcrag in LangChain: its own suite for retrievers, and the loop as a runnable."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs localcrag[langchain]")
pytest.importorskip("langchain_tests", reason="needs langchain-tests")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.chat_history import InMemoryChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnableWithMessageHistory
from langchain_tests.integration_tests import RetrieversIntegrationTests

import localcrag
from localcrag.integrations.langchain_retriever import (
    LangChainAnswers,
    LangChainAnswerTexts,
    LangChainRetriever,
    read_input,
)
from localcrag.plain_answer import cited_text
from localcrag.types import Turn
from tests.integrations.conftest import CHESS, DOSE, LEAFLET, MAKER

HISTORY = [HumanMessage(DOSE), AIMessage("35 mg once a day. [1]")]
TURNS = (Turn("user", DOSE), Turn("assistant", "35 mg once a day. [1]"))


@pytest.mark.asyncio  # it has one coroutine; of the others the plugin would tell
@pytest.mark.filterwarnings("ignore:The test:pytest.PytestWarning")
class TestStandardRetriever(RetrieversIntegrationTests):
    """The suite that LangChain has for every retriever."""

    @pytest.fixture(autouse=True)
    def _with_kb(self, kb: localcrag.KnowledgeBase) -> Iterator[None]:
        self.kb = kb
        yield

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return LangChainRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"kb": self.kb}

    @property
    def retriever_query_example(self) -> str:
        return DOSE


# ---------------------------------------------------------------------------------- the retriever


def test_a_document_has_the_text_the_place_and_the_scores_of_its_hit(kb: localcrag.KnowledgeBase) -> None:
    [hit] = kb.search(DOSE, k=1)
    [document] = LangChainRetriever(kb=kb, k=1).invoke(DOSE)
    assert (document.id, document.page_content) == (hit.passage.id, LEAFLET)
    assert document.metadata == {
        "source": "text:leaflet",
        "title": "leaflet",
        "page": None,
        "start": 0,
        "end": len(LEAFLET),
        "heading": "",
        "document": hit.passage.document,
        "meta": {"team": "x"},
        "sheet": "",
        "rows": None,
        "kb": "",
        "score": hit.score,
        "similarity": hit.similarity,
    }


def test_a_filter_of_the_retriever_or_of_one_call(kb: localcrag.KnowledgeBase) -> None:
    of_team = LangChainRetriever(kb=kb, filter='team = "x"')
    assert [document.metadata["source"] for document in of_team.invoke("ferns")] == ["text:leaflet"]
    anything = LangChainRetriever(kb=kb)
    assert len(anything.invoke("ferns")) == 3
    assert len(anything.invoke("ferns", filter='team = "x"')) == 1
    assert len(asyncio.run(anything.ainvoke("ferns", filter='team = "x"'))) == 1


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"filter": "nonsense ="}, localcrag.FilterError, "column"),
        ({"k": 0}, localcrag.UsageError, "k is 0"),
        ({"top_k": 3}, localcrag.UsageError, "there is no option 'top_k'"),
        ({"evaluator": "no-such-judge"}, localcrag.ModelNotFound, "no-such-judge"),
    ],
)
def test_an_error_is_that_of_localcrag(
    kb: localcrag.KnowledgeBase, given: dict[str, Any], kind: type[Exception], message: str
) -> None:
    retriever = LangChainRetriever(kb=kb)
    with pytest.raises(kind, match=message):
        retriever.invoke("ferns", **given)
    with pytest.raises(kind, match=message):
        asyncio.run(retriever.ainvoke("ferns", **given))


def test_several_queries_at_once_find_what_each_finds_alone(kb: localcrag.KnowledgeBase) -> None:
    retriever = LangChainRetriever(kb=kb, k=1)
    queries = ["ferns", "dose", "garden club", "lavender"]
    alone = [retriever.invoke(query)[0].page_content for query in queries]
    assert [found[0].page_content for found in retriever.batch(queries)] == alone
    assert [found[0].page_content for found in asyncio.run(retriever.abatch(queries))] == alone


# ---------------------------------------------------------------------------------- the loop


def test_the_loop_gives_the_answer_of_the_knowledge_base(kb: localcrag.KnowledgeBase) -> None:
    expected = kb.ask(DOSE)
    loop = LangChainAnswers(kb)
    for answer in (loop.invoke(DOSE), asyncio.run(loop.ainvoke(DOSE))):
        assert (answer.text, answer.citations) == (expected.text, expected.citations)
    assert [answer.text for answer in loop.batch([DOSE, DOSE])] == [expected.text] * 2


def test_the_text_has_its_sources_and_streams(kb: localcrag.KnowledgeBase) -> None:
    texts = LangChainAnswerTexts(kb)
    expected = "The usual dose of Zeldrine is 35 mg once a day. [1]\n\nSources:\n[1] text:leaflet"
    assert texts.invoke(DOSE) == asyncio.run(texts.ainvoke(DOSE)) == cited_text(kb.ask(DOSE)) == expected
    pieces = list(texts.stream(DOSE))
    assert len(pieces) > 1 and "".join(pieces) == expected

    async def streamed() -> list[str]:
        return [piece async for piece in texts.astream(DOSE)]

    assert asyncio.run(streamed()) == pieces


def test_a_question_without_an_answer_says_so(kb: localcrag.KnowledgeBase) -> None:
    assert LangChainAnswers(kb).invoke(CHESS).status is localcrag.Status.NOT_FOUND
    assert list(LangChainAnswerTexts(kb).stream(CHESS)) == ["Your documents do not answer this."]


def test_options_are_given_at_the_start_bound_or_with_a_call(kb: localcrag.KnowledgeBase) -> None:
    assert LangChainAnswers(kb, policy="none-relevant").invoke(DOSE).policy == "none-relevant"
    loop = LangChainAnswers(kb, policy="none-relevant")
    assert loop.invoke(DOSE, policy="crag").policy == "crag"
    assert loop.bind(policy="score").invoke(DOSE).policy == "score"
    assert LangChainAnswerTexts(kb).invoke(DOSE, filter='source = "text:club"') != cited_text(kb.ask(DOSE))
    with pytest.raises(localcrag.UsageError, match="policy is 'careful'"):
        LangChainAnswers(kb, policy="careful")
    with pytest.raises(localcrag.UsageError, match="no option 'temperature'"):
        loop.invoke(DOSE, temperature=0)


def test_it_goes_into_a_chain(kb: localcrag.KnowledgeBase) -> None:
    prompt = ChatPromptTemplate([("placeholder", "{history}"), ("human", "{question}")])
    chain = prompt | LangChainAnswers(kb) | RunnableLambda(lambda answer: answer.standalone or answer.text)
    assert "35 mg" in chain.invoke({"question": DOSE, "history": []})
    assert "Zeldrine" in chain.invoke({"question": MAKER, "history": HISTORY})
    assert "".join((prompt | LangChainAnswerTexts(kb)).stream({"question": DOSE, "history": []})).endswith(
        "[1] text:leaflet"
    )


def test_a_conversation_is_remembered_by_langchain(kb: localcrag.KnowledgeBase) -> None:
    history = InMemoryChatMessageHistory()
    chat = RunnableWithMessageHistory(
        LangChainAnswerTexts(kb),
        lambda: history,
        input_messages_key="question",
        history_messages_key="history",
        history_factory_config=[],
    )
    chat.invoke({"question": DOSE})
    assert "Orlan" in chat.invoke({"question": MAKER})
    assert [message.type for message in history.messages] == ["human", "ai", "human", "ai"]


class Heard(BaseCallbackHandler):
    """Notes what LangChain tells of."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def on_retriever_start(self, *_: Any, **named: Any) -> None:
        self.events.append(f"begins: {named['name']}")

    def on_retriever_end(self, documents: Any, **_: Any) -> None:
        self.events.append(f"found: {len(documents)}")

    def on_chain_start(self, *_: Any, **named: Any) -> None:
        self.events.append(f"begins: {named['name']}")

    def on_chain_error(self, error: BaseException, **_: Any) -> None:
        self.events.append(f"failed: {error}")


def test_callbacks_are_told(kb: localcrag.KnowledgeBase) -> None:
    heard = Heard()
    LangChainRetriever(kb=kb, k=1).invoke(DOSE, {"callbacks": [heard]})
    with pytest.raises(localcrag.UsageError):
        LangChainAnswers(kb).invoke("", {"callbacks": [heard]})
    assert heard.events == [
        "begins: LangChainRetriever",
        "found: 1",
        "begins: LangChainAnswers",
        "failed: the question is empty",
    ]


# ---------------------------------------------------------------------------------- the input


@pytest.mark.parametrize(
    "given",
    [
        [*HISTORY, HumanMessage(MAKER)],
        [("human", DOSE), ("ai", "35 mg once a day. [1]"), ("human", MAKER)],
        {"question": MAKER, "history": HISTORY},
        {"question": [HumanMessage(MAKER)], "history": HISTORY},
        {"question": [*HISTORY, HumanMessage([{"type": "text", "text": MAKER}])]},
    ],
)
def test_a_follow_up_in_every_form(given: Any) -> None:
    assert read_input(given) == (MAKER, TURNS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "the input is a int"),
        ([], "the input is a list"),
        ({"question": DOSE, "context": "x"}, "the input has 'context'"),
        ({"query": DOSE}, "the input has 'query'"),
        ([*HISTORY], "the last message is no question"),
        ([SystemMessage("Answer in rhymes."), HumanMessage(DOSE)], "a message of the type 'system'"),
        ([ToolMessage("42", tool_call_id="1"), HumanMessage(DOSE)], "a message of the type 'tool'"),
        ([HumanMessage([{"type": "image_url", "image_url": {"url": "x"}}])], "a message holds 'image"),
    ],
)
def test_an_input_that_cannot_be_asked_is_a_usage_error(given: Any, message: str) -> None:
    with pytest.raises(localcrag.UsageError, match=message):
        read_input(given)
