"""Short ways to make what the tests of the evaluation speak about."""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.evaluation.observations import Judgement, Observation, Ranks
from localcrag.evaluation.question_set import Question
from localcrag.types import (
    Action,
    Answer,
    Citation,
    Grade,
    Hit,
    IndexedDocument,
    Mode,
    Origin,
    Passage,
    Policy,
    Status,
    Tokens,
    Usage,
    Verdict,
)


def passage(text: str, source: str = "/a.txt", page: int | None = None) -> Passage:
    return Passage(
        id=f"{source}:{text}",
        document=source,
        source=source,
        title="",
        heading="",
        page=page,
        start=0,
        end=len(text),
        text=text,
    )


def hits(*passages: Passage) -> tuple[Hit, ...]:
    return tuple(Hit(each, 1 / rank, 0.5) for rank, each in enumerate(passages, 1))


def grade(of: Passage, confidence: float | None) -> Grade:
    """A grade of a passage: yes from one half on, error without a confidence."""
    [hit] = hits(of)
    if confidence is None:
        return Grade(hit, Verdict.ERROR, None, "it broke")
    return Grade(hit, Verdict.YES if confidence >= 0.5 else Verdict.NO, confidence)


def citation(quote: str, source: str = "/a.txt") -> Citation:
    return Citation(1, source, None, 0, len(quote), quote, Origin.DOCUMENTS)


def answer(
    status: Status = Status.ANSWERED,
    text: str = "",
    citations: Sequence[Citation] = (),
    tokens: int = 0,
    seconds: float = 0.0,
) -> Answer:
    usage = Usage(Tokens(tokens, 0), {"retrieve": seconds / 2, "total": seconds})
    return Answer("q", status, text, Mode.QUOTE, Policy.CRAG, Action.CORRECT, tuple(citations), usage=usage)


def judged(*rows: tuple[float | None, bool]) -> tuple[Judgement, ...]:
    """Judgements of (confidence, right)."""
    return tuple(
        Judgement(str(n), grade(passage("x"), confidence).verdict, confidence, None, right)
        for n, (confidence, right) in enumerate(rows)
    )


def observation(
    *,
    line: int = 1,
    answers: Sequence[str] = (),
    answerable: bool | None = True,
    action: Action = Action.CORRECT,
    searched: Ranks = (),
    reranked: Ranks = (),
    judgements: tuple[Judgement, ...] | None = None,
    missing: bool | None = None,
    brought: bool | None = None,
    cited: tuple[bool, ...] | None = None,
    said: Answer | None = None,
) -> Observation:
    question = Question(line, f"question {line}", tuple(answers), answerable=answerable)
    return Observation(
        question, said or answer(), action, searched, reranked, judgements, missing, brought, cited
    )


def held(source: str, title: str = "") -> IndexedDocument:
    return IndexedDocument(source, "hash", 1, 1, 1, title)
