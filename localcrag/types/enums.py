"""The enumerations; their values are as users write them and as they stand in JSON."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """Where a passage came from."""

    DOCUMENTS = "documents"
    WEB = "web"


class BlockKind(StrEnum):
    """What a block of a document is; ``furniture`` is a running header or footer, or a page number."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    ROW = "row"
    CODE = "code"
    CAPTION = "caption"
    FURNITURE = "furniture"


class Verdict(StrEnum):
    """The verdict of a grader on a passage; a grade that failed is ``error``, never yes or no."""

    YES = "yes"
    NO = "no"
    ERROR = "error"


class RubricLabel(StrEnum):
    """The four labels of the rubric, from a passage that misleads to one that answers in full."""

    AWFUL = "Awful"
    POOR = "Poor"
    GOOD = "Good"
    PERFECT = "Perfect"


class Action(StrEnum):
    """The three actions of the CRAG paper (arXiv 2401.15884, section 4.3).

    ``correct`` means that the passages are relevant and no correction is needed, ``incorrect`` that they are
    not relevant, and ``ambiguous`` that it is unsure.
    """

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"


class Status(StrEnum):
    """The status of an answer: given, doubtful, not in the evidence, or cut short at a bound."""

    ANSWERED = "answered"
    UNSURE = "unsure"
    NOT_FOUND = "not_found"
    TRUNCATED = "truncated"


class Policy(StrEnum):
    """The rule that turns grades into an action; see :mod:`localcrag.crag.policy`."""

    CRAG = "crag"
    ANY_IRRELEVANT = "any-irrelevant"
    NONE_RELEVANT = "none-relevant"
    SCORE = "score"


class GraderKind(StrEnum):
    """The judge of a passage: the language model (yes or no, or the rubric), the evaluator, or both."""

    YESNO = "yesno"
    RUBRIC = "rubric"
    EVALUATOR = "evaluator"
    CASCADE = "cascade"
    FUSED = "fused"


class Mode(StrEnum):
    """The form of the answer: written by the model, or quoted verbatim from the evidence."""

    WRITE = "write"
    QUOTE = "quote"


class WebPolicy(StrEnum):
    """Whether a query may leave the machine: never, after asking the user, or without asking."""

    NEVER = "never"
    ASK = "ask"
    AUTO = "auto"


class WarmPolicy(StrEnum):
    """Whether a question starts the warm process if none runs."""

    NEVER = "never"
    AUTO = "auto"


class FinishReason(StrEnum):
    """The reason why a model stopped writing.

    It was done (``stop``), reached the longest length allowed or the end of its context, or began to repeat
    itself.
    """

    STOP = "stop"
    LENGTH = "length"
    CONTEXT = "context"
    REPEAT = "repeat"


class CorrectionKind(StrEnum):
    """The ways in which weak evidence is corrected."""

    REWRITE = "rewrite"
    PHRASINGS = "phrasings"
    HYDE = "hyde"
    NEIGHBOURS = "neighbours"
    WEB = "web"


class Aggregate(StrEnum):
    """What was computed over the rows of a table; the latest and the earliest are dates, years or times."""

    COUNT = "count"
    LIST = "list"
    TOTAL = "total"
    AVERAGE = "average"
    HIGHEST = "highest"
    LOWEST = "lowest"
    LATEST = "latest"
    EARLIEST = "earliest"
    SHARE = "share"


class StripKind(StrEnum):
    """The strips that a relevant passage is cut into before the best are kept (CRAG, section 4.4)."""

    SENTENCE = "sentence"
    WINDOW = "window"
    NONE = "none"


class Layout(StrEnum):
    """The prompt layout of passages: each in a prompt of its own, or all of them in one joint prompt."""

    INDEPENDENT = "independent"
    JOINT = "joint"


class Grounding(StrEnum):
    """The treatment of a written sentence that its evidence does not support."""

    OFF = "off"
    MARK = "mark"
    REMOVE = "remove"


class Tool(StrEnum):
    """The actions that the agent can take in one step of its plan."""

    SEARCH_DOCUMENTS = "search_documents"
    SEARCH_WEB = "search_web"
    HYPOTHESISE = "hypothesise"
    ANSWER = "answer"


class Mending(StrEnum):
    """How a damaged part of a knowledge base is made whole.

    By ``kb compact``; by reading its documents again; by writing its questions again; or not at all, so that
    the knowledge base is removed and made anew.
    """

    COMPACT = "compact"
    REREAD = "reread"
    QUESTIONS = "questions"
    REMOVE = "remove"
