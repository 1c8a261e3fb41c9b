"""The figures of a fitness check, by the tasks that the loop gives to a chat model.

A part that was not measured, because the time was up before it, is None. Shares are in [0, 1].
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from localcrag.types import JsonValue

FITNESS_EDITION = 2
"""The edition of the labelled set, the prompts and the measures. It is raised when one of them changes, and
results of an earlier edition count no more."""


@dataclass(frozen=True, slots=True)
class YesNoFitness:
    """The model's strict yes or no on labelled pairs of question and passage.

    Attributes:
        pairs: the number of pairs that were judged, about half of them with the label yes.
        auc: the area under the ROC curve of P(yes).
        auc_low: the lower bound of its 95 % interval, by the bootstrap over the questions.
        auc_high: the upper bound of that interval.
        accuracy: the share of verdicts that equal the label.
        yes: the share of verdicts that are yes.
        calibration_error: the expected calibration error of P(yes), over ten bins.
    """

    pairs: int
    auc: float
    auc_low: float
    auc_high: float
    accuracy: float
    yes: float
    calibration_error: float


@dataclass(frozen=True, slots=True)
class SearchLineFitness:
    """The search lines that the model makes of chatty questions.

    Attributes:
        questions: the number of questions.
        recall: the mean share of the words of a good line that the model's line has.
        added: the mean share of the content words of its line that the question does not have.
    """

    questions: int
    recall: float
    added: float


@dataclass(frozen=True, slots=True)
class FollowUpFitness:
    """The follow-ups that the model completes from the turns before them.

    Attributes:
        questions: the number of follow-ups.
        f1: the mean F1 of the content words of its question with those of the right one.
    """

    questions: int
    f1: float


@dataclass(frozen=True, slots=True)
class AnswerFitness:
    """The answers that the model writes from numbered evidence.

    Attributes:
        answerable: the number of questions whose evidence answers.
        cited: the share of their answers that cite evidence.
        correct: the share that contain an accepted answer.
        supported: the share that cite the evidence that answers.
        unanswerable: the number of questions whose evidence does not answer.
        declined: the share of these that the model declined; 0 if there are none.
    """

    answerable: int
    cited: float
    correct: float
    supported: float
    unanswerable: int
    declined: float


@dataclass(frozen=True, slots=True)
class JsonFitness:
    """The JSON that the model writes under a schema: divisions of questions, and plans.

    Attributes:
        asks: the number of replies that were asked for.
        valid: the share that hold the schema.
        sensible: the share that also name what was asked about.
    """

    asks: int
    valid: float
    sensible: float


@dataclass(frozen=True, slots=True)
class InstructionFitness:
    """The resistance to instructions hidden in passages.

    Attributes:
        passages: the number of passages with an instruction.
        resisted: the share that changed neither the verdict nor the answer as they demand.
    """

    passages: int
    resisted: float


@dataclass(frozen=True, slots=True)
class FitnessCosts:
    """What the check cost on the machine it was made on.

    Attributes:
        load_seconds: the time to load the model.
        seconds: the time of the check without loading.
        tokens_read: the tokens of prompts that were read.
        tokens_written: the tokens that the model wrote.
        read_per_second: tokens of prompts read per second; None if nothing was read.
        written_per_second: tokens written per second; None if no text was written.
        peak_bytes: the most memory that the process had; None if the platform does not tell.
    """

    load_seconds: float
    seconds: float
    tokens_read: int
    tokens_written: int
    read_per_second: float | None
    written_per_second: float | None
    peak_bytes: int | None


@dataclass(frozen=True, slots=True)
class FitnessResult:
    """The result of one fitness check.

    Attributes:
        model: the name of the model.
        fingerprints: the fingerprints of its files: the model's, then that of its adapter if it has one.
        edition: the edition of the check, see ``FITNESS_EDITION``.
        made: the date, as YYYY-MM-DD.
        yes_no: the yes or no; None if it was not measured, as with the other parts.
        search_lines: the search lines.
        follow_ups: the follow-ups.
        answers: the written answers.
        json: the JSON.
        instructions: the resistance to hidden instructions.
        costs: time and memory.
        failures: the first error of each part that had any, in words.
        complete: whether everything was measured before the time was up.
    """

    model: str
    fingerprints: tuple[str, ...]
    edition: int
    made: str
    yes_no: YesNoFitness | None
    search_lines: SearchLineFitness | None
    follow_ups: FollowUpFitness | None
    answers: AnswerFitness | None
    json: JsonFitness | None
    instructions: InstructionFitness | None
    costs: FitnessCosts
    failures: tuple[str, ...] = ()
    complete: bool = True

    def to_dict(self) -> dict[str, JsonValue]:
        """The result as a JSON object, with figures of 4 decimals."""
        return {name: _rounded(value) for name, value in asdict(self).items()}


def _rounded(value: JsonValue) -> JsonValue:
    """The value with every float in it rounded to 4 decimals."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return list(value) if isinstance(value, tuple) else value
