"""How probably strips help, by the evaluator and the language model's yes or no together.

The evaluator ranks the strips, and the language model is asked about the best few of them. It is right where
the evaluator is not often enough that their fusion puts the right strip first more often, and says far better
whether the first one is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from localcrag.calibration.scale import StripFusion
from localcrag.crag.judges.passage_scores import judged_alone, moved_by, strip_scores
from localcrag.crag.judges.yes_no_choices import ask_each
from localcrag.crag.refinement.entry_order import with_asked_entry_first
from localcrag.crag.refinement.strip_context import judged_text
from localcrag.protocols import Evaluator, LanguageModel
from localcrag.types import Choice, Strip

ASKED_STRIPS = 3
"""The most strips of one cut that the language model is asked about."""


def strips_to_ask(scores: Mapping[int, float]) -> list[int]:
    """Of strips with the evaluator's score each, those that the language model is asked about, best first."""
    return sorted(scores, key=lambda at: -scores[at])[:ASKED_STRIPS]


@dataclass(frozen=True, slots=True)
class FusedStrips:
    """Judges strips by the evaluator, and the best ``ASKED_STRIPS`` of them by the language model as well.

    A strip that the model is not asked about, or fails on, has the log-odds of the fusion in place of the
    model's. The fusion was fitted to English: in another language a multilingual evaluator judges alone.
    """

    model: LanguageModel
    evaluator: Evaluator
    fusion: StripFusion

    def score(self, question: str, found: Sequence[Strip], offsets: Sequence[float] = ()) -> list[float]:
        """P(the strip helps) of each strip, in order.

        Args:
            question: the question.
            found: the strips.
            offsets: what is added to the log-odds of each before the best are asked about; by default 0.
        """
        scores = strip_scores(self.evaluator, question, found)
        scores = moved_by(scores, offsets) if offsets else scores
        alone = judged_alone(self.evaluator, question, [strip.text for strip in found])
        together = [at for at, judges in enumerate(alone) if not judges]
        asked = strips_to_ask({at: scores[at] for at in together})
        texts = [judged_text(found[at]) for at in asked]
        choices = dict(zip(asked, ask_each(self.model, question, texts), strict=True))
        for at in together:
            choice = choices.get(at)
            p_model = choice.probabilities[0] if isinstance(choice, Choice) else None
            scores[at] = self.fusion(scores[at], p_model)
        return with_asked_entry_first(question, found, scores)
