"""Corrective RAG as a LangGraph graph over langchain's llama.cpp chat model; runs in the peers' environment.

Written as the documentation of LangGraph writes it: a graph of three nodes, the grader a call a
document under a schema. The branch to a web search is left out: nothing is to be searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Any, Literal

from langchain_community.chat_models import ChatLlamaCpp
from langchain_core.documents import Document
from langchain_core.exceptions import OutputParserException
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langgraph.graph import END, START, StateGraph
from pydantic import BaseModel, Field, ValidationError
from typing_extensions import TypedDict

from benchmarks.peers.rehearsed import Rehearsal, rehearsing
from benchmarks.peers.wire import Cost, Setup, serve

GRADING = (
    "You grade whether a retrieved document is relevant to a user's question. If it holds keywords or "
    "meaning that bear on the question, it is relevant. Give a binary score, 'yes' or 'no'."
)
ANSWERING = (
    "You are an assistant for question answering. Use the following pieces of retrieved context to answer "
    "the question. If you do not know the answer, say so. Use three sentences at most and be concise.\n"
    "Question: {question}\nContext: {context}\nAnswer:"
)


class GradeDocuments(BaseModel):
    """Binary score for the relevance of a retrieved document."""

    binary_score: Literal["yes", "no"] = Field(
        description="Whether the document is relevant to the question, 'yes' or 'no'"
    )


class GraphState(TypedDict):
    question: str
    documents: list[Document]
    generation: str


class CorrectiveRag:
    """The graph, for one question after the other; ``request`` has what is retrieved, and the labels."""

    def __init__(self, llm: ChatLlamaCpp, rehearsal: Rehearsal) -> None:
        self._llm, self._rehearsal = llm, rehearsal
        self.request: Mapping[str, Any] = {}
        grading = ChatPromptTemplate.from_messages(
            [("system", GRADING), ("human", "Retrieved document:\n\n{document}\n\nUser question: {question}")]
        )
        self._grader = grading | llm.with_structured_output(GradeDocuments)
        self._chain = ChatPromptTemplate.from_template(ANSWERING) | llm | StrOutputParser()
        workflow = StateGraph(GraphState)
        workflow.add_node("retrieve", self.retrieve)
        workflow.add_node("grade_documents", self.grade_documents)
        workflow.add_node("generate", self.generate)
        workflow.add_edge(START, "retrieve")
        workflow.add_edge("retrieve", "grade_documents")
        workflow.add_edge("grade_documents", "generate")
        workflow.add_edge("generate", END)
        self.graph = workflow.compile()

    def retrieve(self, state: GraphState) -> dict[str, Any]:
        texts = self.request["passages"]
        return {"documents": [Document(text, metadata={"number": n}) for n, text in enumerate(texts)]}

    def grade_documents(self, state: GraphState) -> dict[str, Any]:
        """Keep the relevant ones; with labels, a verdict is replaced by its label after it was made.

        A document whose verdict is none, for want of JSON, is not kept.
        """
        labels = self.request["labels"] or [None] * len(state["documents"])
        relevant = []
        for document, label in zip(state["documents"], labels, strict=True):
            asked = {"document": document.page_content, "question": state["question"]}
            verdict = None
            with suppress(OutputParserException, ValidationError):
                verdict = self._grader.invoke(asked)
            own = verdict is not None and verdict.binary_score == "yes"
            if own if label is None else label:
                relevant.append(document)
        return {"documents": relevant}

    def generate(self, state: GraphState) -> dict[str, Any]:
        context = "\n\n".join(document.page_content for document in state["documents"])
        with self._rehearsal.says(self._llm.client, self.request["answer"]):
            written = self._chain.invoke({"context": context, "question": state["question"]})
        return {"generation": written}


def begin(setup: Setup) -> Callable[[Mapping[str, Any]], Cost]:
    rehearsal = rehearsing()
    llm = ChatLlamaCpp(
        model_path=setup.model,
        n_ctx=setup.context,
        n_threads=setup.threads,
        n_batch=setup.batch,
        temperature=0,
        repeat_penalty=1.0,
        verbose=False,
    )
    crag = CorrectiveRag(llm, rehearsal)

    def ask(request: Mapping[str, Any]) -> Cost:
        llm.client.reset()
        llm.max_tokens = request["tokens"]
        crag.request = request
        rehearsal.evaluated = rehearsal.generated = 0
        started = perf_counter()
        state = crag.graph.invoke({"question": request["text"]})
        seconds = perf_counter() - started
        kept = tuple(document.metadata["number"] for document in state["documents"])
        return Cost(rehearsal.evaluated, rehearsal.generated, 0, seconds, kept, state["generation"])

    return ask


if __name__ == "__main__":
    serve(begin)
