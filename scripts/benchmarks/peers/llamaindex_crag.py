"""Corrective RAG as a LlamaIndex workflow over its llama.cpp model; runs in the peers' environment.

Written as the documentation of LlamaIndex writes it: relevance is a completion a passage, read as a
word, and the answer comes from a summary index over the relevant text. The query transformation and the
web search are left out: nothing is to be searched for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from llama_cpp.llama_chat_format import Jinja2ChatFormatter
from llama_index.core import Document, PromptTemplate, SummaryIndex
from llama_index.core.llms import ChatMessage
from llama_index.core.workflow import Context, Event, StartEvent, StopEvent, Workflow, step
from llama_index.llms.llama_cpp import LlamaCPP

from benchmarks.peers.rehearsed import Rehearsal, rehearsing
from benchmarks.peers.wire import Cost, Setup, serve

RELEVANCE = PromptTemplate(
    "As a grader, you judge how relevant a document is that was retrieved for a user's question.\n\n"
    "Retrieved document:\n-------------------\n{context_str}\n\n"
    "User question:\n--------------\n{query_str}\n\n"
    "Criteria:\n"
    "- Look for keywords or topics in the document that belong to the question.\n"
    "- Do not be too strict: the aim is to find and to filter out what is clearly irrelevant.\n\n"
    "Decision:\n"
    "- Give the document a binary score.\n"
    "- 'yes' if the document is relevant to the question, 'no' if it is not.\n\n"
    "Give your binary score ('yes' or 'no') for the relevance of the document to the question below."
)


class Retrieved(Event):
    texts: list[str]


class Graded(Event):
    grades: list[str]


class Extracted(Event):
    relevant_text: str


class CorrectiveRag(Workflow):
    """The workflow, for one question after the other; ``request`` has what is retrieved, and the labels."""

    def __init__(self, llm: LlamaCPP, rehearsal: Rehearsal) -> None:
        super().__init__(timeout=None)
        self._llm, self._rehearsal = llm, rehearsal
        self.request: Mapping[str, Any] = {}

    @step
    async def retrieve(self, ctx: Context, ev: StartEvent) -> Retrieved:
        await ctx.store.set("query_str", ev.get("query_str"))
        return Retrieved(texts=self.request["passages"])

    @step
    async def eval_relevance(self, ctx: Context, ev: Retrieved) -> Graded:
        """One completion a passage; with labels, each says what the label says, in one word.

        A completion that goes on after its "yes" counts as one too.
        """
        query, grades = await ctx.store.get("query_str"), []
        labelled = ["yes" if label else "no" for label in self.request["labels"]]
        scripts: Sequence[str | None] = labelled or [None] * len(ev.texts)
        for text, script in zip(ev.texts, scripts, strict=True):
            prompt = RELEVANCE.format(context_str=text, query_str=query)
            with self._rehearsal.says(self._llm._model, script):
                grades.append(self._llm.complete(prompt).text.lower().strip(" '\"*\n"))
        kept = [number for number, grade in enumerate(grades) if grade.startswith("yes")]
        await ctx.store.set("kept", kept)
        return Graded(grades=grades)

    @step
    async def extract_relevant_texts(self, ctx: Context, ev: Graded) -> Extracted:
        kept = await ctx.store.get("kept")
        return Extracted(relevant_text="\n".join(self.request["passages"][number] for number in kept))

    @step
    async def query_result(self, ctx: Context, ev: Extracted) -> StopEvent:
        index = SummaryIndex.from_documents([Document(text=ev.relevant_text)])
        engine = index.as_query_engine(llm=self._llm)
        with self._rehearsal.says(self._llm._model, self.request["answer"]):
            written = engine.query(await ctx.store.get("query_str"))
        return StopEvent(result=(str(written), await ctx.store.get("kept")))


def begin(setup: Setup) -> Callable[[Mapping[str, Any]], Cost]:
    rehearsal = rehearsing()
    llm = LlamaCPP(
        model_path=setup.model,
        temperature=0.0,
        context_window=setup.context,
        model_kwargs={"n_threads": setup.threads, "n_batch": setup.batch},
        verbose=False,
    )
    formatter = _formatter(llm)
    llm.messages_to_prompt = formatter
    llm.completion_to_prompt = lambda text: formatter([ChatMessage(role="user", content=text)])
    crag = CorrectiveRag(llm, rehearsal)

    async def run(question: str) -> Any:
        return await crag.run(query_str=question)

    def ask(request: Mapping[str, Any]) -> Cost:
        llm._model.reset()
        llm.generate_kwargs["max_tokens"] = request["tokens"]
        crag.request = request
        rehearsal.evaluated = rehearsal.generated = 0
        started = perf_counter()
        text, kept = asyncio.run(run(request["text"]))
        seconds = perf_counter() - started
        return Cost(rehearsal.evaluated, rehearsal.generated, 0, seconds, tuple(kept), text)

    return ask


def _formatter(llm: LlamaCPP) -> Callable[[Sequence[ChatMessage]], str]:
    """The model's own chat template, as the documentation applies it before the model is asked."""
    model = llm._model
    template = Jinja2ChatFormatter(
        template=model.metadata["tokenizer.chat_template"],
        eos_token=model._model.token_get_text(model.token_eos()),
        bos_token="",
    )

    def prompt(messages: Sequence[ChatMessage]) -> str:
        turns: list[Any] = [{"role": m.role.value, "content": m.content or ""} for m in messages]
        return template(messages=turns).prompt

    return prompt


if __name__ == "__main__":
    serve(begin)
