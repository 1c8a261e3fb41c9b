"""The pipeline of one question, built from the settings, the models and the options of the question.

It is the only module that connects the loop to adapters. The defaults depend on the models: if the embedded
language model cannot do something, it is left out by default, and refused with a hint if it was asked for.
Those of a user's own model follow from its fitness check (:mod:`localcrag.fitness.model_defaults`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from localcrag.configured_models import DEFAULT_LANGUAGE_MODEL, NO_EVALUATOR
from localcrag.crag.judges.fused_strips import FusedStrips
from localcrag.crag.judges.graders import (
    RUBRIC_THRESHOLDS,
    CalibratedGrader,
    CascadeGrader,
    EvaluatorGrader,
    FusedGrader,
    Grader,
    RubricGrader,
    YesNoGrader,
)
from localcrag.crag.judges.remembering_evaluator import RememberingEvaluator
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.state import Adapters, AgentBounds, PipelineOptions
from localcrag.crag.structured_answers.structured_generation import SchemaFiller
from localcrag.errors import ModelNotInstalled, UsageError, WebNotConfigured
from localcrag.fitness.model_defaults import ModelDefaults, model_defaults
from localcrag.llm.missing_model import MissingModel
from localcrag.loaded_models import LoadedModels
from localcrag.options import AskOptions
from localcrag.output_schema.output_shape import OutputSchema
from localcrag.output_schema.schema_reading import read_schema
from localcrag.protocols import Embedder, Evaluator, PassageReader
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
DEFAULTS_WITHOUT_MODEL = ModelDefaults(
    grader=GraderKind.EVALUATOR,
    mode=Mode.QUOTE,
    corrections=(CorrectionKind.NEIGHBOURS,),
    grounding=Grounding.OFF,
    extractive=True,
    divide_by_rule=True,
    contradictions=False,
    second_opinion=False,
)
"""The defaults where the language model is missing: what needs none."""


@dataclass(frozen=True, slots=True)
class PipelineBuilder:
    """Builds the pipeline of one question; the ``given`` options take precedence over the settings.

    ``embedder`` embeds queries in place of the embedding model among the ``models``.
    """

    settings: Settings
    models: LoadedModels
    given: AskOptions
    embedder: Embedder | None = None

    def build(
        self,
        store: PassageReader,
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
        options = self.pipeline_options()
        adapters = self.adapters(store, split)
        if options.web_policy is WebPolicy.NEVER:
            return Pipeline(adapters, options)
        from localcrag.web.pages import HttpPageFetcher
        from localcrag.web.searxng import SearxngSearch

        web, record = self.settings.web, ledger.recorder(question)
        search = SearxngSearch(web.url, record=record, language=web.language, timeout=web.timeout)
        fetcher = HttpPageFetcher(record=record, allowed_private=web.allow_private)
        return Pipeline(replace(adapters, web=search, fetcher=fetcher), options)

    def adapters(self, store: PassageReader, split: Callable[[Document], list[Passage]]) -> Adapters:
        """The adapters of one question, without those of the web. Raises UsageError, ModelNotFound."""
        models = self.models
        evaluator = RememberingEvaluator(models.evaluator) if models.evaluator else None
        return Adapters(
            store=store,
            embedder=self.embedder or models.embedder,
            model=MissingModel(models.missing) if models.missing else models.language,
            grader=self.grader(evaluator),
            split=split,
            evaluator=evaluator,
            strip_judge=self._strip_judge(evaluator),
            query_model=models.query_model if self.settings.loop.tables else None,
            query_scale=models.query_scale,
            other_query_model=models.other_query_model if self.settings.loop.tables else None,
            reads_all_languages=models.reads_all_languages,
        )

    def _strip_judge(self, evaluator: Evaluator | None) -> FusedStrips | None:
        """The judge of strips by both models, if they grade together and a fusion was fitted to strips."""
        fusion = self.models.strip_fusion if self.grader_kind is GraderKind.FUSED else None
        return FusedStrips(self.models.language, evaluator, fusion) if evaluator and fusion else None

    def schema_filler(self, schema: OutputSchema) -> SchemaFiller:
        """What fills the fields of a schema from one document. Raises ModelNotFound, ModelFileError."""
        models = self.models
        if self.settings.loop.model_fields:
            self.require_model()
        model = MissingModel(models.missing) if models.missing else models.language
        return SchemaFiller(
            schema, models.embedder, models.evaluator, model if self.settings.loop.model_fields else None
        )

    def pipeline_options(self) -> PipelineOptions:
        """The options of the pipeline, from the given options, the settings and the defaults of the models.

        Raises UsageError if the models cannot do what was asked for, WebNotConfigured.
        """
        given, loop, defaults = self.given, self.settings.loop, self.defaults
        self._check_abilities()
        policy = given.policy or loop.policy
        bounds = AgentBounds(loop.agent_steps, loop.agent_seconds, loop.agent_tokens)
        by_default = StripKind.SENTENCE if self.models.judges and not self._is_joint else StripKind.NONE
        return PipelineOptions(
            policy=policy,
            mode=self.mode,
            passages=given.k or loop.passages,
            candidates=loop.candidates,
            phrasings=loop.phrasings,
            strips=given.strips or loop.strips or by_default,
            layout=self.layout,
            enough=loop.enough
            if self._asks_model_each_time and policy in _STOPPABLE_POLICIES and not given.agent
            else 0,
            evidence=loop.evidence,
            answer_tokens=loop.answer_tokens,
            divide=loop.parts and given.output is None,
            tables=loop.tables and given.output is None,
            divide_by_rule=defaults.divide_by_rule,
            grounding=given.grounding or loop.grounding or defaults.grounding,
            contradictions=loop.contradictions and defaults.contradictions,
            second_opinion=defaults.second_opinion,
            agent=bounds if given.agent else None,
            corrections=self._corrections(),
            extractive=defaults.extractive,
            english_only=self._writes_english_only,
            without_model=_reason(self.models.missing),
            web_policy=self.web_policy(),
            web_results=self.settings.web.results,
            consent=given.consent,
            output=read_schema(given.output) if given.output is not None else None,
            fields_by_model=loop.model_fields,
        )

    @property
    def defaults(self) -> ModelDefaults:
        """The defaults that follow from the fitness check of the language model, or from its absence."""
        if self.models.missing:
            return DEFAULTS_WITHOUT_MODEL
        models = self.models
        return model_defaults(
            models.fitness,
            evaluator=models.judges,
            small=models.is_small,
            fused=models.fusion is not None,
        )

    @property
    def mode(self) -> Mode:
        """Whether the answer is written or quoted; by default as fits the model."""
        return self.given.mode or self.settings.loop.mode or self.defaults.mode

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

        By default the evaluator and the language model are fused if that was fitted for the two. If
        ``localcrag calibrate`` fitted a band, the language model is asked about what the evaluator is unsure
        of (``cascade``). Otherwise the evaluator judges alone, and without one the language model.
        """
        if chosen := self.given.grader or self.settings.loop.grader:
            return chosen
        if not self.models.judges:
            return GraderKind.YESNO
        if self.models.missing:
            return self.defaults.grader
        if self.models.band:
            return GraderKind.CASCADE
        return GraderKind.FUSED if self.models.fusion else self.defaults.grader

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
        bounds = self._bounds(thresholds)
        embedder = models.teacher or models.embedder  # it was fitted to the cosines of a real model
        return FusedGrader(models.language, evaluator, embedder, fusion, bounds, models.fusion_band)

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

        Raises UsageError if the joint layout is combined with strips, ModelNotInstalled if something was
        asked for that needs the language model, and it is missing.
        """
        strips = self.given.strips or self.settings.loop.strips or StripKind.NONE
        if self._is_joint and strips is not StripKind.NONE:
            raise UsageError(
                f"layout {Layout.JOINT} answers from whole passages, and strips are {strips}",
                hint="ask with --strips none, or with --layout independent",
            )
        if self.mode is Mode.WRITE or self.given.agent or self.grader_kind is not GraderKind.EVALUATOR:
            self.require_model()

    @property
    def _writes_english_only(self) -> bool:
        """Whether the model is the one that travels with localcrag, and the user chose no corrections."""
        chosen = self.given.corrections is not None or self.settings.loop.corrections is not None
        return self.models.settings.language == DEFAULT_LANGUAGE_MODEL and not chosen

    def _corrections(self) -> tuple[CorrectionKind, ...]:
        """The local corrections that were asked for; by default those that fit the model.

        Raises UsageError for the correction ``web``, ModelNotInstalled for one that needs a missing model.
        """
        wanted = (
            self.settings.loop.corrections
            if self.given.corrections is None
            else tuple(self.given.corrections)
        )
        if wanted is None:
            return self.defaults.corrections
        if CorrectionKind.WEB in wanted:
            raise UsageError("web is no local correction", hint="allow it with --web ask, or --web auto")
        if not set(wanted) <= set(DEFAULTS_WITHOUT_MODEL.corrections):
            self.require_model()
        return wanted

    def require_model(self) -> None:
        """Require that the language model is there. Raises ModelNotInstalled if it is missing."""
        if self.models.missing:
            raise self.models.missing


def _reason(missing: ModelNotInstalled | None) -> str:
    """The reason why there is no language model, with the command that installs it; "" if there is one."""
    return f"{missing}, so the evaluator answers alone; {missing.hint}" if missing else ""


def band_of(bounds: Thresholds) -> Thresholds:
    """The band in which an evaluator with these thresholds is unsure.

    If both thresholds are the same, because the evaluator's file has none, it is the band between
    ``UNCALIBRATED_THRESHOLDS``.
    """
    return bounds if bounds.lower < bounds.upper else UNCALIBRATED_THRESHOLDS
