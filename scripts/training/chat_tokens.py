"""The chat model's tasks as tokens, by the product's own chat format."""

from __future__ import annotations

from collections.abc import Iterator

from localcrag.llm.chat_template import ChatFormat
from localcrag.llm.llama_model import Model

from .chat_tasks import NO, YES, ChatTasks, Task
from .packed_rows import Decided, Decisions, Sequenced, Shared, Written


class ChatTokens:
    """Tasks as token sequences.

    Args:
        model: the base, loaded in llama.cpp, for its vocabulary and template.
    """

    def __init__(self, model: Model) -> None:
        self._model, self._format = model, ChatFormat(model, model.template())
        self.end = model.last
        self.decisions = Decisions(*(model.tokenize(word, special=False)[0] for word in (YES, NO)))

    def of(self, task: Task) -> Shared:
        """The sequences of a task."""
        return Shared(tuple(self._sequences(task)))

    def drawn(self, tasks: ChatTasks) -> Iterator[Shared]:
        """Tasks for ever."""
        while True:
            yield self.of(tasks.draw())

    def _sequences(self, task: Task) -> Iterator[Sequenced]:
        for prompt, reply in task.items:
            ids = self._format.tokens(prompt)
            if task.decided:
                yield Decided(tuple(ids), float(reply == YES))
            else:
                written = [*self._model.tokenize(reply, special=False), self.end]
                yield Written((*ids, *written), len(written))
