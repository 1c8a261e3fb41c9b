"""The pipeline of one question, built from the settings, the models and the options of the question.

It is the only module that connects the loop to adapters. The defaults depend on the models: if the embedded
language model cannot do something, it is left out by default, and refused with a hint if it was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localcrag.crag.graders import (
    RUBRIC_THRESHOLDS,
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
"""The thresholds on a language model's P(yes) if none were fitted for it."""
_STOPPABLE_POLICIES = (Policy.CRAG, Policy.NONE_RELEVANT)
"""The policies whose action does not change when irrelevant passages are added to surely relevant ones."""
EMBEDDED_MODEL_CORRECTIONS = (CorrectionKind.REWRITE, CorrectionKind.NEIGHBOURS)
"""The corrections that the embedded model can make; it was not trained to rephrase a question."""


@dataclass(frozen=True, slots=True)
class PipelineBuilder:
    """Builds the pipeline of one question; the ``given`` options take precedence over the settings."""

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
        """The pipeline for one question.

        Args:
            store: the knowledge base.
            split: the function that cuts a web page into passages.
            ledger: the ledger in which the requests to the web are recorded.
            question: the user's question, for the ledger.

        Raises UsageError if the models cannot do what was asked for, WebNotConfigured, ModelNotFound,
        ModelFileError.
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
        """The options of the pipeline, from the given options, the settings and the defaults of the models.

        Raises UsageError if the models cannot do what was asked for, WebNotConfigured.
        """
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
        """Whether the answer is written or quoted; by default the embedded model quotes."""
        by_default = Mode.QUOTE if self.models.small else Mode.WRITE
        return self.given.mode or self.settings.loop.mode or by_default

    @property
    def layout(self) -> Layout:
        """The prompt layout of the passages."""
        return self.given.layout or self.settings.loop.layout

    @property
    def _is_joint(self) -> bool:
        """Whether the answer is written from the joint prompt of the grades, and so from whole passages."""
        return self.layout is Layout.JOINT and self.mode is Mode.WRITE

    @property
    def _asks_model_each_time(self) -> bool:
        """Whether grades come from the language model alone or in part, so that fewer grades save time."""
        return self.grader_kind in (GraderKind.YESNO, GraderKind.RUBRIC, GraderKind.CASCADE)

    @property
    def grader_kind(self) -> GraderKind:
        """The kind of grader; the default depends on the models.

        By default the embedded language model and an evaluator judge by their fusion, or the evaluator
        judges alone if no fusion was fitted for the two. A user's own language model is asked about every
        passage (``yesno``); after ``localcrag calibrate`` has fitted a band, it is asked only if the
        evaluator is unsure (``cascade``).
        """
        if chosen := self.given.grader or self.settings.loop.grader:
            return chosen
        if self.models.small and self.models.judges:
            return GraderKind.FUSED if self.models.fusion else GraderKind.EVALUATOR
        return GraderKind.CASCADE if self.models.band else GraderKind.YESNO

    def grader(self, evaluator: Evaluator | None) -> Grader:
        """The grader with its fitted scale and thresholds.

        Raises UsageError if it needs an evaluator or a fusion and there is none.
        """
        models, kind = self.models, self.grader_kind
        if kind is GraderKind.YESNO:
            return self._yes_or_no()
        if kind is GraderKind.RUBRIC:
            return self._calibrated(RubricGrader(models.language, self._bounds(RUBRIC_THRESHOLDS)))
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
        """Whether a query may be sent to the web; ``never`` if localcrag is offline.

        Raises WebNotConfigured if the web was asked for and no server is configured.
        """
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
        """The yes-or-no grader of the language model, calibrated if possible."""
        return self._calibrated(YesNoGrader(self.models.language, self._bounds(UNCALIBRATED_THRESHOLDS)))

    def _calibrated(self, grader: Grader) -> Grader:
        """The grader on the scale that was fitted to the user's own questions, if there is one."""
        known = self.models.calibration(grader.kind)
        return CalibratedGrader(grader, known.scale, self._bounds(known.thresholds)) if known else grader

    def _bounds(self, fitted: Thresholds) -> Thresholds:
        """The thresholds from the settings, or else the fitted ones; the lower is at most the upper."""
        loop = self.settings.loop
        upper = fitted.upper if loop.upper is None else loop.upper
        lower = fitted.lower if loop.lower is None else loop.lower
        return Thresholds(upper, min(lower, upper))

    def _check_abilities(self) -> None:
        """Check the options against each other and against the model.

        Raises UsageError if the joint layout is combined with strips, or if the embedded language model
        cannot do what was asked for.
        """
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
        """The local corrections that were asked for; by default all that the model can make.

        Raises UsageError for the correction ``web``, and for one that the model cannot make.
        """
        able = EMBEDDED_MODEL_CORRECTIONS if self.models.small else LOCAL_CORRECTIONS
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
        """Require a chat model for a task. Raises UsageError if the language model is the embedded one.

        Args:
            task: the task, as it follows "cannot" in the message.
            instead: what the user can do instead, for the hint.
        """
        if self.models.small:
            raise UsageError(
                f"{self.models.language.name} cannot {task}",
                hint=f"{instead}, or name a chat model with --model",
            )


def band_of(bounds: Thresholds) -> Thresholds:
    """The band in which an evaluator with these thresholds is unsure.

    If both thresholds are the same, because the evaluator's file has none, it is the band between
    ``UNCALIBRATED_THRESHOLDS``.
    """
    return bounds if bounds.lower < bounds.upper else UNCALIBRATED_THRESHOLDS
