"""How one question is to be answered, as the caller says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.protocols import Consent
from localcrag.types import (
    CorrectionKind,
    GraderKind,
    Grounding,
    Layout,
    Mode,
    Policy,
    StripKind,
    Turn,
    WebPolicy,
)


@dataclass(frozen=True, slots=True)
class AskOptions:
    """How one question is to be answered; None leaves it to the settings."""

    filter: str | None = None
    policy: Policy | None = None
    mode: Mode | None = None
    web: WebPolicy | None = None
    grader: GraderKind | None = None
    strips: StripKind | None = None
    corrections: Sequence[CorrectionKind] | None = None
    layout: Layout | None = None
    grounding: Grounding | None = None
    agent: bool = False
    consent: Consent | None = None
    history: Sequence[Turn] = ()
