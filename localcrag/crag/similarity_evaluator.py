"""An evaluator of strips: the evaluator's word, fused with the cosine of question and strip.

Passages are graded by both (:class:`~.graders.FusedGrader`), and so are strips: a small cross-encoder doubts
what a manual says in other words than the question, and the embedding model, which was trained on a thousand
times as many pairs, still finds it near. Of 102 questions about thirty documents that no model was trained
on, each asked over some 57 strips of the passages found, the first strip was the right one for 0.72 by the
evaluator alone and for 0.78 by both; for technical ones 0.60 and 0.70. Of 109 questions about documents held
out from its training it was 0.46 and 0.51. Of both together a strip reached :data:`~.sureness.SURE_STRIP`
rightly for 26 questions in place of 16, wrongly for one as before, and for 8 of 75 that only look answerable
in place of 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.calibration.scale import Fusion
from localcrag.crag.wrapped_evaluator import WrappedEvaluator, judged_alone
from localcrag.protocols import Embedder

FITTED_EVALUATOR, FITTED_EMBEDDING = "localcrag-evaluator-v5", "all-MiniLM-L6-v2"
"""The models that the fusion was fitted to; with any other the evaluator judges strips alone."""
STRIP_FUSION = Fusion(evaluator=0.9, model=0.0, similarity=4.0, bias=-2.3)
"""The fusion, on the evaluator's own scale. Weights of 3 to 8 for the cosine order the strips alike."""
ENSEMBLE_STRIP_FUSION = Fusion(evaluator=1.0, model=0.0, similarity=3.0, bias=-1.1)
"""The same for strips that an ensemble of two evaluators judges (:mod:`.ensemble_evaluator`)."""
_NO_OPINION = 0.5
"""The P of a language model that is not asked, whose log-odds are 0."""


@dataclass(frozen=True, slots=True)
class SimilarityEvaluator(WrappedEvaluator):
    """The given evaluator, whose probabilities are fused with the cosine of query and text.

    If query or text are in another language than English, a multilingual evaluator judges alone, since the
    fusion was fitted to English.

    Args:
        evaluator: the evaluator.
        embedder: the embedding model whose cosines the fusion was fitted to.
        fusion: the weights, for the scale of the evaluator.
    """

    embedder: Embedder
    fusion: Fusion

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """P(the text answers the query) for each text, in order."""
        scores = self.evaluator.score(query, texts)
        alone = judged_alone(self.evaluator, query, texts)
        together = list(dict.fromkeys(text for text, other in zip(texts, alone, strict=True) if not other))
        if not together:
            return scores
        asked = self.embedder.encode_questions([query])[0]
        cosines = dict(zip(together, (self.embedder.encode(together) @ asked).tolist(), strict=True))
        return [
            p if other else self.fusion(p, _NO_OPINION, cosines[text])
            for text, p, other in zip(texts, scores, alone, strict=True)
        ]
