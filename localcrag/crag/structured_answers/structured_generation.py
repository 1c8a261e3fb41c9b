"""The answer in the form of a schema: the fields are filled from the passages that were graded to help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from localcrag.crag.policy import relevant
from localcrag.crag.query_terms import terms
from localcrag.crag.state import Finding, Outcome, QuestionState
from localcrag.crag.stored_quotes import lost_citations
from localcrag.crag.structured_answers.field_candidates import pieces
from localcrag.crag.structured_answers.field_filling import NOT_STATED, FieldFiller, FilledField, wanted
from localcrag.crag.structured_answers.field_scores import FieldScorer
from localcrag.crag.structured_answers.model_choice import ModelChooser
from localcrag.crag.structured_answers.value_assembly import AssembledValue, assembled, is_single
from localcrag.errors import ModelError
from localcrag.events import Degraded, Filled, Gathered, Steps, Verified
from localcrag.output_schema.output_shape import OutputSchema
from localcrag.protocols import Embedder, Evaluator, LanguageModel
from localcrag.types import Grade, Origin, Passage, Status, Support

MAX_DOCUMENT_PASSAGES = 200
"""The most passages of a document that fields are filled from."""


@dataclass(frozen=True, slots=True)
class SchemaFiller:
    """Fills the fields of one schema.

    Args:
        schema: the form of the answer.
        embedder: compares the words around values with those of the fields.
        evaluator: judges the sentences that the values stand in, if there is one.
        model: chooses among values where no rule does; None to leave such fields open.
    """

    schema: OutputSchema
    embedder: Embedder
    evaluator: Evaluator | None
    model: LanguageModel | None = None

    def fill(self, question: str, passages: Sequence[Passage]) -> Steps[AssembledValue]:
        """The value with its citations, from these passages; a Degraded event if the model failed."""
        fields = wanted(self.schema, question)
        if not passages:
            return assembled(self.schema, [_missing(each.place) for each in fields])
        cut = pieces(passages)
        scorer = FieldScorer(self.embedder, self.evaluator)
        filled = FieldFiller(cut, scorer).fill(fields)
        if self.model is not None:
            try:
                filled = ModelChooser(self.model, scorer, cut).completed(fields, filled)
            except ModelError as error:
                yield Degraded("fields", f"{error}; what the rules left open stays open")
        return assembled(self.schema, filled)


def fill_schema(whole: QuestionState, findings: Sequence[Finding], schema: OutputSchema) -> Steps[Outcome]:
    """Answer a question in the form of a schema; yields Filled with the value.

    An object is filled from the one document whose passages were graded best: values of different documents
    make no record. One value or one list, which the question itself asks for, is looked for in all passages
    that were graded to help.
    """
    adapters = whole.adapters
    model = adapters.model if whole.options.fields_by_model else None
    filler = SchemaFiller(schema, adapters.embedder, adapters.evaluator, model)
    passages = _passages(whole, [grade for finding in findings for grade in finding.state.grades], schema)
    made = yield from filler.fill(whole.question, passages)
    if gone := lost_citations(whole, made.citations, passages):
        yield Verified(tuple(f"citation [{key}]: {reason}" for key, reason in gone.items()))
        made = yield from filler.fill(whole.question, ())
    yield Gathered(made.evidence)
    yield Filled(made.structured)
    if not made.structured.found:
        return Outcome(Status.NOT_FOUND)
    sure = bool(findings) and all(finding.sure for finding in findings)
    return Outcome(Status.ANSWERED if sure else Status.UNSURE, made.citations)


def _passages(whole: QuestionState, grades: Sequence[Grade], schema: OutputSchema) -> list[Passage]:
    """The passages that the fields are filled from, in the order of their documents."""
    best = relevant(grades, whole.options.policy, whole.adapters.grader.thresholds)
    held = [grade.hit.passage for grade in best]
    if not held or is_single(schema):
        return held
    first = _named(whole.question, held)
    if first.origin is Origin.WEB:
        return [passage for passage in held if passage.source == first.source]
    found = whole.adapters.store.passages({first.source: first.document}, limit=MAX_DOCUMENT_PASSAGES)
    return [replace(passage, origin=first.origin) for passage in found] or [first]


def _named(question: str, held: Sequence[Passage]) -> Passage:
    """The best passage; of those of other documents one that has more of the question's terms."""
    asked = terms(question)
    return max(held, key=lambda passage: len(asked & terms(f"{passage.title} {passage.in_context}")))


def _missing(place: str) -> FilledField:
    return FilledField(place, None, Support.NONE, reason=NOT_STATED)
