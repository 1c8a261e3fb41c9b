"""The language model's choice among values of the evidence, for fields that the rules leave open.

The model chooses under a constraint: one of the values that stand in the evidence and that the schema allows,
or that none is stated. It is asked only if it is fit to; the smallest models choose at chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.crag import prompts
from localcrag.crag.refinement.knowledge_strips import span
from localcrag.crag.structured_answers.closed_choices import UNDECIDED
from localcrag.crag.structured_answers.field_candidates import CandidateFinder
from localcrag.crag.structured_answers.field_filling import Asked, FilledField
from localcrag.crag.structured_answers.field_scores import FieldScorer, Scored
from localcrag.errors import ModelError
from localcrag.output_schema.output_shape import Leaf, LeafKind
from localcrag.protocols import LanguageModel
from localcrag.types import Choice, ScalarValue, Strip, Support

MIN_CHOICE_PROBABILITY = 0.8
"""The probability from which on the model's choice counts."""
MAX_SHOWN_STRIPS = 4
"""The most strips that the model reads for a field, the nearest to it."""
MAX_OFFERED_VALUES = 10
"""The most values that the model chooses from."""
NOT_STATED = "none"


@dataclass(frozen=True, slots=True)
class ModelChooser:
    """Asks the language model for the fields that have no value yet."""

    model: LanguageModel
    scorer: FieldScorer
    pieces: Sequence[Strip]

    def completed(self, fields: Sequence[Asked], filled: Sequence[FilledField]) -> list[FilledField]:
        """The filled fields, those without a value chosen by the model if it is sure.

        Raises ModelError if the model cannot be asked at all.
        """
        asked = {each.place: each for each in fields if isinstance(each.shape, Leaf)}
        return [
            (self._chosen(asked[each.place]) or each)
            if each.support is Support.NONE and each.place in asked
            else each
            for each in filled
        ]

    def _chosen(self, asked: Asked) -> FilledField | None:
        """The model's choice for a field; None if it is unsure, or there is nothing to choose from."""
        leaf = asked.shape
        assert isinstance(leaf, Leaf)
        if leaf.kind in (LeafKind.BOOLEAN, LeafKind.CHOICE):
            return self._option(asked, leaf)
        found = CandidateFinder(self.pieces).candidates(leaf, asked.wording)
        ranked = self.scorer.scored(asked.wording, found)
        by_text: dict[str, Scored] = {}
        for each in ranked:
            text = each.candidate.strip.text[each.candidate.span.start : each.candidate.span.end]
            by_text.setdefault(text, each)
        offered = dict(list(by_text.items())[:MAX_OFFERED_VALUES])
        shown = list({span(each.candidate.strip): each.candidate.strip for each in offered.values()}.values())
        chosen = self._answer(asked, tuple(offered), shown[:MAX_SHOWN_STRIPS]) if offered else None
        if chosen is None:
            return None
        best = offered[chosen].candidate
        support = Support.VERBATIM if str(best.span.value) == chosen else Support.NORMALISED
        return FilledField(asked.place, best.span.value, support, best.strip, best.span.start, best.span.end)

    def _option(self, asked: Asked, leaf: Leaf) -> FilledField | None:
        """The model's choice between the values of the schema."""
        values: dict[str, ScalarValue] = {"yes": True, "no": False}
        if leaf.kind is LeafKind.CHOICE:
            values = {str(value): value for value in leaf.options if str(value).casefold() not in UNDECIDED}
        cosines = self.scorer.cosines(asked.wording, [strip.text for strip in self.pieces])
        ranked = sorted(zip(cosines, self.pieces, strict=True), key=lambda pair: -pair[0])
        shown = [strip for _, strip in ranked[:MAX_SHOWN_STRIPS]]
        text = self._answer(asked, tuple(values), shown) if shown else None
        if text is None:
            return None
        return FilledField(asked.place, values[text], Support.JUDGED, shown[0], 0, len(shown[0].text))

    def _answer(self, asked: Asked, offered: Sequence[str], shown: Sequence[Strip]) -> str | None:
        """The value that the model is sure of; None if it says that none is stated.

        It chooses by number: a constraint of the values themselves would be compiled for each field, and kept
        on disk with text of the documents in it.
        """
        prompt = prompts.field_value(asked.wording.question, [strip.text for strip in shown], offered)
        numbers = tuple(map(str, range(1, len(offered) + 1)))
        (choice,) = self.model.choose([prompt], (*numbers, NOT_STATED))
        if isinstance(choice, ModelError):
            return None
        if isinstance(choice, Exception):
            raise choice
        return offered[int(choice.text) - 1] if _is_sure(choice) else None


def _is_sure(choice: Choice) -> bool:
    return choice.text != NOT_STATED and max(choice.probabilities) >= MIN_CHOICE_PROBABILITY
