"""From the settings and one question's options to a pipeline: the one place that joins the loop to adapters.

Here the defaults depend on the models: what the embedded language model cannot do is left out if it
was not asked for, and refused with a hint if it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localcrag.crag.graders import (
    RUBRIC_BOUNDS,
    CalibratedGrader,
    CascadeGrader,
    EvaluatorGrader,
    FusedGrader,
    Grader,
    RememberingEvaluator,
    RubricGrader,
    YesNoGrader,
)
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.state import LOCAL_CORRECTIONS, Adapters, AgentBounds, PipelineOptions
from localcrag.errors import UsageError, WebNotConfigured
from localcrag.loaded_models import NO_EVALUATOR, LoadedModels
from localcrag.options import AskOptions
from localcrag.protocols import Evaluator, PassageStore
from localcrag.settings import Settings
from localcrag.types import (
    CorrectionKind,
    Document,
    GraderKind,
    Grounding,
    Layout,
    Mode,
    Passage,
    Policy,
    StripKind,
    Thresholds,
    WebPolicy,
)

if TYPE_CHECKING:
    from localcrag.web.ledger import Ledger

UNCALIBRATED_THRESHOLDS = Thresholds(upper=0.7, lower=0.3)
"""The bounds on a language model's P(yes) where none were fitted for it."""
_STOPPABLE_POLICIES = (Policy.CRAG, Policy.NONE_RELEVANT)
"""The policies that ask for relevant passages, and not how many of all are."""
SMALL_CORRECTIONS = (CorrectionKind.REWRITE, CorrectionKind.NEIGHBOURS)
"""The embedded model was not taught to put a question in other words."""


@dataclass(frozen=True, slots=True)
class PipelineBuilder:
    """How one question is answered with these models: what was asked for over what is set."""

    settings: Settings
    models: LoadedModels
    given: AskOptions

    def build(
        self,
        store: PassageStore,
        split: Callable[[Document], list[Passage]],
        ledger: Ledger,
        question: str,
    ) -> Pipeline:
        """The pipeline for one question; ``split`` cuts a web page into passages.

        Raises UsageError for what the models cannot do, WebNotConfigured, ModelNotFound, ModelFileError.
        """
        options, models = self.pipeline_options(), self.models
        evaluator = RememberingEvaluator(models.evaluator) if models.evaluator else None
        adapters = Adapters(
            store=store,
            embedder=models.embedder,
            model=models.language,
            grader=self.grader(evaluator),
            split=split,
            evaluator=evaluator,
        )
        if options.web_policy is WebPolicy.NEVER:
            return Pipeline(adapters, options)
        from localcrag.web.pages import HttpPageFetcher
        from localcrag.web.searxng import SearxngSearch

        web, record = self.settings.web, ledger.recorder(question)
        search = SearxngSearch(web.url, record=record, language=web.language, timeout=web.timeout)
        fetcher = HttpPageFetcher(record=record, allowed_private=web.allow_private)
        return Pipeline(replace(adapters, web=search, fetcher=fetcher), options)

    def pipeline_options(self) -> PipelineOptions:
        """Raises UsageError for what the models cannot do, WebNotConfigured."""
        given, loop, small = self.given, self.settings.loop, self.models.small
        self._check_abilities()
        policy = given.policy or loop.policy
        bounds = AgentBounds(loop.agent_steps, loop.agent_seconds, loop.agent_tokens)
        by_default = StripKind.SENTENCE if self.models.judges and not self._is_joint else StripKind.NONE
        return PipelineOptions(
            policy=policy,
            mode=self.mode,
            passages=loop.passages,
            candidates=loop.candidates,
            phrasings=loop.phrasings,
            strips=given.strips or loop.strips or by_default,
            layout=self.layout,
            enough=loop.enough
            if self._asks_model_each_time and policy in _STOPPABLE_POLICIES and not given.agent
            else 0,
            evidence=loop.evidence,
            answer_tokens=loop.answer_tokens,
            divide=loop.parts,
            grounding=given.grounding or loop.grounding or Grounding.MARK,
            contradictions=loop.contradictions and not small,
            agent=bounds if given.agent else None,
            corrections=self._corrections(),
            extractive=small,
            web_policy=self.web_policy(),
            web_results=self.settings.web.results,
            consent=given.consent,
        )

    @property
    def mode(self) -> Mode:
        by_default = Mode.QUOTE if self.models.small else Mode.WRITE
        return self.given.mode or self.settings.loop.mode or by_default

    @property
    def layout(self) -> Layout:
        return self.given.layout or self.settings.loop.layout

    @property
    def _is_joint(self) -> bool:
        """Whether an answer is written from whole passages that were read for their grades."""
        return self.layout is Layout.JOINT and self.mode is Mode.WRITE

    @property
    def _asks_model_each_time(self) -> bool:
        """Whether every grade costs the language model a passage."""
        return self.grader_kind in (GraderKind.YESNO, GraderKind.RUBRIC, GraderKind.CASCADE)

    @property
    def grader_kind(self) -> GraderKind:
        """Who judges; by default both embedded models, or a user's own language model.

        Beside the embedded language model an evaluator that it was not fused with judges alone. A user's
        own language model is asked about every passage until `calibrate` has measured that to ask it only
        where the evaluator is unsure is as good.
        """
        if chosen := self.given.grader or self.settings.loop.grader:
            return chosen
        if self.models.small and self.models.judges:
            return GraderKind.FUSED if self.models.fusion else GraderKind.EVALUATOR
        return GraderKind.CASCADE if self.models.band else GraderKind.YESNO

    def grader(self, evaluator: Evaluator | None) -> Grader:
        """Raises UsageError where it needs an evaluator or a fusion, and there is none."""
        models, kind = self.models, self.grader_kind
        if kind is GraderKind.YESNO:
            return self._yes_or_no()
        if kind is GraderKind.RUBRIC:
            return self._fitted(RubricGrader(models.language, self._bounds(RUBRIC_BOUNDS)))
        if evaluator is None:
            raise UsageError(
                f"grader {kind} needs an evaluator, and model.evaluator is {NO_EVALUATOR!r}",
                hint="name one in the settings, or ask with --grader yesno",
            )
        if kind is GraderKind.CASCADE:
            band = models.band or self._bounds(band_of(evaluator.thresholds))
            return CascadeGrader(self._yes_or_no(), evaluator, band, self._bounds(evaluator.thresholds))
        if kind is GraderKind.EVALUATOR:
            return EvaluatorGrader(evaluator, self._bounds(evaluator.thresholds))
        if (fitted := models.fusion) is None:
            raise UsageError(
                f"no fusion of {models.language.name} with {evaluator.name} is known",
                hint="fit one: localcrag calibrate FILE.jsonl --grader fused; or take another --grader",
            )
        fusion, thresholds = fitted
        return FusedGrader(models.language, evaluator, models.embedder, fusion, self._bounds(thresholds))

    def web_policy(self) -> WebPolicy:
        """Never while offline or without a server; asking for the web without one is an error."""
        if self.settings.offline:
            return WebPolicy.NEVER
        wanted = self.given.web or self.settings.web.policy
        if wanted is not WebPolicy.NEVER and not self.settings.web.url:
            raise WebNotConfigured(
                "the web was asked for, and no SearXNG is configured",
                hint="set web.url (LOCALCRAG_WEB_URL); `localcrag docs web` says how to run one",
            )
        return wanted

    def _yes_or_no(self) -> Grader:
        return self._fitted(YesNoGrader(self.models.language, self._bounds(UNCALIBRATED_THRESHOLDS)))

    def _fitted(self, grader: Grader) -> Grader:
        """The grader on the scale that was fitted to the user's own questions, where one was."""
        known = self.models.calibration(grader.kind)
        return CalibratedGrader(grader, known.scale, self._bounds(known.thresholds)) if known else grader

    def _bounds(self, fitted: Thresholds) -> Thresholds:
        """What was fitted, with what is set in its place; the lower one never above the upper one."""
        loop = self.settings.loop
        upper = fitted.upper if loop.upper is None else loop.upper
        lower = fitted.lower if loop.lower is None else loop.lower
        return Thresholds(upper, min(lower, upper))

    def _check_abilities(self) -> None:
        """Refuse what the embedded language model cannot do. Raises UsageError."""
        strips = self.given.strips or self.settings.loop.strips or StripKind.NONE
        if self._is_joint and strips is not StripKind.NONE:
            raise UsageError(
                f"layout {Layout.JOINT} answers from whole passages, and strips are {strips}",
                hint="ask with --strips none, or with --layout independent",
            )
        wants = {
            "write answers": ("leave out --mode write", self.mode is Mode.WRITE),
            "plan": ("leave out --agent", self.given.agent),
            "grade by a rubric": ("leave out --grader rubric", self.grader_kind is GraderKind.RUBRIC),
        }
        for what, (instead, wanted) in wants.items():
            if wanted:
                self.require_chat(what, instead)

    def _corrections(self) -> tuple[CorrectionKind, ...]:
        """The local steps that were asked for; by default all that the model is able to make."""
        able = SMALL_CORRECTIONS if self.models.small else LOCAL_CORRECTIONS
        wanted = (
            self.settings.loop.corrections
            if self.given.corrections is None
            else tuple(self.given.corrections)
        )
        if wanted is None:
            return able
        if CorrectionKind.WEB in wanted:
            raise UsageError("web is no local correction", hint="allow it with --web ask, or --web auto")
        if beyond := [kind for kind in wanted if kind not in able]:
            raise UsageError(
                f"{self.models.language.name} cannot correct by {beyond[0]}",
                hint=f"it can by {', '.join(able)}; name a chat model with --model for the others",
            )
        return wanted

    def require_chat(self, task: str, instead: str) -> None:
        """Raises UsageError where the language model is the embedded one, which cannot do the task."""
        if self.models.small:
            raise UsageError(
                f"{self.models.language.name} cannot {task}",
                hint=f"{instead}, or name a chat model with --model",
            )


def band_of(bounds: Thresholds) -> Thresholds:
    """Where an evaluator with these bounds is unsure: a reranker whose file has none is not always sure."""
    return bounds if bounds.lower < bounds.upper else UNCALIBRATED_THRESHOLDS
