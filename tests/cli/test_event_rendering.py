"""How answers look on a terminal, from the values alone."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from localcrag.cli.chat import say
from localcrag.cli.event_rendering import StepRenderer
from localcrag.cli.safe_output import plain
from localcrag.conversations import SqliteThreads
from localcrag.events import (
    Condensed,
    Decided,
    Degraded,
    Delta,
    Event,
    Gathered,
    Graded,
    PageRead,
    PassagesRead,
    Refined,
    Retrieved,
    Rewritten,
)
from localcrag.plain_answer import link
from localcrag.types import (
    Action,
    Answer,
    Citation,
    CorrectionKind,
    Evidence,
    Mode,
    Origin,
    Policy,
    Status,
    Strip,
    Turn,
)
from localcrag.web.ledger import Ledger
from tests.cli.conftest import Run
from tests.crag.values import grade, passage

EVIL = "a \x1b]0;PWNED\x07 and \x1b[31m\x9b2J\r\x08 of it"
CONTROL = set(map(chr, (*range(9), *range(11, 32), *range(127, 160))))


def test_the_closest_passages_are_named_below_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    answer = Answer("q?", Status.NOT_FOUND, "", Mode.QUOTE, Policy.CRAG, Action.INCORRECT)
    StepRenderer(trace=False).sources(answer)
    assert capsys.readouterr().err == ""
    near = (grade(0.09, text="far off"), grade(None, text="ungraded"))
    StepRenderer(trace=False).sources(replace(answer, closest=near))
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["closest: /a.txt (P=0.09): far off", "closest: /a.txt (P=0.00): ungraded"]


@pytest.mark.parametrize(("terminal", "longest"), [(True, 60), (False, 120)])
def test_a_line_of_the_trace_is_no_longer_than_the_terminal_is_wide(terminal: bool, longest: int) -> None:
    steps, out = StepRenderer(trace=True), io.StringIO()
    steps.__dict__["console"] = Console(
        file=out, force_terminal=terminal, no_color=True, width=60, soft_wrap=True, highlight=False
    )
    steps.show(Graded(grade(0.9, text="a word " * 40)))
    [line] = Text.from_ansi(out.getvalue()).plain.splitlines()
    assert line.endswith("…") and longest - 20 < len(line) <= longest


STEPS = (
    Retrieved("which dose?", ()),
    Degraded("condense", "“the dose” was refused: it is no question"),
    Degraded("condense", "it may ask about “price” instead"),
    Decided(Action.AMBIGUOUS, Policy.CRAG, "best grade 0.50"),
    Rewritten(CorrectionKind.REWRITE, ()),
    Rewritten(CorrectionKind.REWRITE, ("dose",)),
    Retrieved("dose", ()),
)


@pytest.mark.parametrize(
    ("how", "shown"),
    [
        ({"trace": True}, [0, 1, 2, 3, 4, 5, 6]),
        ({"trace": False}, [0, 2, 3, 5, 6]),
        ({"trace": False, "brief": True}, [0, 2]),
    ],
)
def test_what_a_user_need_not_know_is_for_the_trace(
    how: dict[str, Any], shown: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        "searched your documents for “which dose?”: 0 passages",
        "degraded: condense: “the dose” was refused: it is no question",
        "degraded: condense: it may ask about “price” instead",
        "ambiguous (crag): best grade 0.50",
        "rewrite: nothing that was not tried before",
        "rewrite: dose",
        "searched your documents for “dose”: 0 passages",
    ]
    steps = StepRenderer(**how)
    for event in STEPS:
        steps.show(event)
    assert capsys.readouterr().err.splitlines() == [lines[at] for at in shown]


def test_a_question_that_was_understood_is_shown_once_in_brief(capsys: pytest.CaptureFixture[str]) -> None:
    steps = StepRenderer(trace=False, brief=True)
    for event in (Condensed("and it?", "and the dose?"), Retrieved("and the dose?", ())):
        steps.show(event)
    assert capsys.readouterr().err.splitlines() == ["understood as: and the dose?"]


# ------------------------------------------------------------------- what a document must not send


def harmless(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed, which holds words of the document and no control character."""
    seen = "".join(capsys.readouterr())
    assert "PWNED" in seen and not CONTROL & set(seen)
    return seen


def test_line_breaks_and_tabs_are_no_control_sequence_and_places_stay() -> None:
    assert plain("a\tb\nc – “é” 字") == "a\tb\nc – “é” 字"
    assert plain("a\x1b[31mb\r\n") == "a [31mb \n"


@pytest.mark.parametrize(
    "event",
    [
        Delta(EVIL),
        Degraded("grade", EVIL),
        Graded(grade(0.9, text=EVIL)),
        Retrieved(EVIL, ()),
        Refined((Strip(passage(EVIL), 0, len(EVIL), EVIL, 0.5),), 0),
        PageRead(f"https://example.org/{EVIL}", 9),
    ],
    ids=lambda event: type(event).__name__,
)
def test_no_event_brings_control_characters_to_the_terminal(
    capsys: pytest.CaptureFixture[str], event: Event
) -> None:
    StepRenderer(trace=True).show(event)
    harmless(capsys)


def test_what_the_chat_model_read_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    StepRenderer(trace=False).show(PassagesRead(1, 0.6))
    assert "the chat model read 1 passage whole: P(they answer) = 0.60" in capsys.readouterr().err


@pytest.mark.parametrize("evidence", [True, False])
@pytest.mark.parametrize("origin", list(Origin))
def test_no_source_brings_control_characters_to_the_terminal(
    capsys: pytest.CaptureFixture[str], evidence: bool, origin: Origin
) -> None:
    source = f"/{EVIL}.txt" if origin is Origin.DOCUMENTS else f"https://{EVIL}"
    citation = Citation(1, source, 2, 0, len(EVIL), EVIL, origin)
    steps = StepRenderer(trace=False, evidence=evidence)
    steps.show(Gathered((Evidence(1, Strip(passage(EVIL), 0, len(EVIL), EVIL, 0.9)),)))
    found = Answer("q?", Status.ANSWERED, "", Mode.QUOTE, Policy.CRAG, Action.CORRECT)
    steps.sources(replace(found, citations=(citation,)))
    harmless(capsys)
    assert not CONTROL & set(link(citation))


def test_a_chat_that_goes_on_shows_its_turns_without_them(capsys: pytest.CaptureFixture[str]) -> None:
    say(EVIL)
    harmless(capsys)


def test_no_list_brings_control_characters_to_the_terminal(
    fresh: Run, fresh_home: Path, tmp_path: Path
) -> None:
    store = SqliteThreads(fresh_home / "threads.db")
    store.open("evil")
    store.append("evil", [Turn("user", "q?"), Turn("assistant", EVIL)])
    Ledger(fresh_home / "egress.jsonl").record("query", EVIL, EVIL)
    (tmp_path / "PWNED\x1b[31m.txt").write_text("A text of some words.")
    fresh("ingest", str(tmp_path), "--meta", "team=PWNED\x9b2J")
    for command in ("threads show evil", "threads export evil", "web log", "kb show"):
        done = fresh(*command.split())
        assert done.code == 0 and "PWNED" in done.out, done.err
        assert not CONTROL & set(done.out)


@pytest.mark.parametrize(
    ("reason", "seen"),
    [
        ("the sources of [1] (/a [7].txt) and [2] (/b) disagree", "[1] (/a ‹7›.txt) and [2] (/b)"),
        ("citation [3]: /c [7].txt has changed since it was read", "citation [3]: /c ‹7›.txt has"),
    ],
)
def test_only_the_keys_of_the_evidence_are_citations_in_a_reason(
    capsys: pytest.CaptureFixture[str], reason: str, seen: str
) -> None:
    StepRenderer(trace=False).show(Degraded("evidence", reason))
    assert seen in capsys.readouterr().err


@pytest.mark.parametrize("evidence", [True, False])
def test_a_file_and_its_text_cannot_pretend_to_be_cited(
    capsys: pytest.CaptureFixture[str], evidence: bool
) -> None:
    text = "as was shown [7] and【8】 at length"
    citation = Citation(1, "/report [7].txt", 2, 0, len(text), text, Origin.DOCUMENTS)
    steps = StepRenderer(trace=False, evidence=evidence)
    steps.show(Gathered((Evidence(1, Strip(passage(text), 0, len(text), text, 0.9)),)))
    found = Answer("q?", Status.ANSWERED, "", Mode.QUOTE, Policy.CRAG, Action.CORRECT)
    steps.sources(replace(found, citations=(citation,)))
    lines = capsys.readouterr().err
    assert lines.startswith("[1] /report ‹7›.txt, page 2") and "‹7› and‹8›" in lines
    assert "[7]" not in lines and "【" not in lines
