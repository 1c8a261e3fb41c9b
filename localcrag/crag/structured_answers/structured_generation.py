"""The answer in the form of a schema: the fields are filled from the passages that were graded to help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.crag.answering.stored_quotes import lost_citations
from localcrag.crag.policy import relevant
from localcrag.crag.questions.query_terms import stem, terms
from localcrag.crag.state import Finding, Outcome, QuestionState
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

MIN_NAMED_SHARE = 0.5
"""The share of the question's terms that a document must have if no passage of it was graded to help."""
_NAMED = re.compile(r"(?<=\s)(?:[A-ZÀ-ÖØ-Þ][\w'’-]+|[\w-]*\d[\w-]*)")
"""A name or a number in a question: a capitalised word after the first, or a word with a digit."""
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
    if is_single(schema):
        return held
    documents = _by_document(whole, held or [grade.hit.passage for grade in grades])
    return _named(whole.question, documents, sure=bool(held))


def _by_document(whole: QuestionState, found: Sequence[Passage]) -> list[list[Passage]]:
    """The documents of some passages, in their order, each as its passages; of a web page those found."""
    documents: list[list[Passage]] = []
    for first in {passage.source: passage for passage in reversed(found)}.values():
        if first.origin is Origin.WEB:
            documents.append([passage for passage in found if passage.source == first.source])
        else:
            key = {first.source: first.document}
            documents.append(whole.adapters.store.passages(key, limit=MAX_DOCUMENT_PASSAGES))
    return [document for document in reversed(documents) if document]


def _named(question: str, documents: Sequence[Sequence[Passage]], *, sure: bool) -> list[Passage]:
    """The document that a question is about, of several in the order of their grades; empty if none is.

    It has every name and number of the question, and of such documents most of the question's terms. A
    question for an object often only names a document ("the Hemazol leaflet"), and no passage answers it.
    So if none was graded to help (``sure`` is False), that will do if it has half of the terms, and no other
    document as many.
    """
    asked = terms(question)
    required = {stem(word) for word in _NAMED.findall(question)}
    shares = []
    for document in documents:
        first = document[0]
        text = " ".join((_words(first.source), first.title, *(passage.in_context for passage in document)))
        own = terms(text) | terms(_words(text))
        shares.append(len(own & asked) if required <= own else 0)
    most = max(shares, default=0)
    if not most or (not sure and (shares.count(most) > 1 or most < MIN_NAMED_SHARE * len(asked))):
        return []
    return list(documents[shares.index(most)])


def _words(source: str) -> str:
    """The name of a source and of its folder, as words."""
    return " ".join(re.split(r"[\W_]+", " ".join(re.split(r"[/\\]", source)[-2:])))


def _missing(place: str) -> FilledField:
    return FilledField(place, None, Support.NONE, reason=NOT_STATED)
