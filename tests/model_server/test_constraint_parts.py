"""Grammars, the check of replies, the probabilities of options, and texts that look like control tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from localcrag.crag.answering.answer_form import answer_pattern
from localcrag.doc2query import QUESTION_LINES
from localcrag.errors import ConstraintError
from localcrag.llm.constraints import LINE_PATTERN, one_of, pattern_of_schema
from localcrag.model_server.chat_messages import messages_of, text_of, without_markers
from localcrag.model_server.chat_replies import ServedReply, TokenScore
from localcrag.model_server.choice_scores import scored_choice
from localcrag.model_server.constraint_dialects import said
from localcrag.model_server.gbnf import gbnf
from localcrag.model_server.pattern_walk import PatternWalk
from localcrag.types import FinishReason, Prompt, RemovableText, UntrustedText

# -------------------------------------------------------------------------------------- grammars


@pytest.mark.parametrize(
    ("pattern", "grammar"),
    [
        ("yes|no", '"yes" | "no"'),
        (one_of(["a b", "1.5"]), '("a\\x20b" | "1\\x2E5")'),
        (r"[^\[\]a-f\n]+", "[^\\x5B\\x5Da-f\\x0A]+"),
        (r"(?:ab)*c{2,3}d?", '("ab")* "c"{2,3} "d"?'),
        (r"\d\.\W", '[0-9] "\\x2E" [^A-Za-z0-9_]'),
        ("é“\U0001f600.", '"\\xE9\\u201C\\U0001F600" [^\\n]'),
        (r"[a-]\x41\u00e9", '[a\\x2D] "A\\xE9"'),
        ("(a|)", '("a" | "")'),
    ],
)
def test_a_pattern_as_a_grammar(pattern: str, grammar: str) -> None:
    assert gbnf(pattern) == f"root ::= {grammar}\n"


@pytest.mark.parametrize(
    "pattern", ["(?=a)", r"(a)\1", "^a", "a$", "(a", "a)", "[a", "[]", "a**", r"\b", r"\uzz"]
)
def test_what_no_grammar_can_say_is_refused(pattern: str) -> None:
    with pytest.raises(ConstraintError):
        gbnf(pattern)


@pytest.mark.parametrize("pattern", [answer_pattern(range(1, 7)), QUESTION_LINES, LINE_PATTERN])
def test_every_pattern_of_the_loop_has_a_grammar(pattern: str) -> None:
    assert gbnf(pattern).startswith("root ::= ")
    assert gbnf(pattern_of_schema('{"type": "object", "properties": {"a": {"type": "string"}}}'))


# -------------------------------------------------------------------------------------- the check


def test_text_is_released_where_it_matches() -> None:
    walk = PatternWalk(r"(?:[a-z ]+ \[1\])+")
    assert [walk.add(piece) for piece in (" it is", " so [1", "] and", " more [1]")] == [
        "",
        "",
        "it is so [1]",
        " and more [1]",
    ]
    walk.finish(9, FinishReason.STOP)


def test_what_leaves_the_pattern_is_refused_at_once() -> None:
    walk = PatternWalk("yes|no")
    walk.add("y")
    with pytest.raises(ConstraintError, match="does not allow"):
        walk.add("o")


def test_a_pattern_that_takes_others_exponential_time() -> None:
    walk = PatternWalk("(a|a)*b")
    walk.add("a" * 5000)
    with pytest.raises(ConstraintError):
        walk.finish(5000, FinishReason.LENGTH)


# -------------------------------------------------------------------------------------- choices


def reply(*tokens: Mapping[str, float]) -> ServedReply:
    """A reply of tokens, each the first of its likeliest ones with their probabilities."""
    scores = tuple(
        TokenScore(
            next(iter(token)).encode(),
            math.log(next(iter(token.values()))),
            tuple((piece.encode(), math.log(share)) for piece, share in token.items()),
        )
        for token in tokens
    )
    return ServedReply("".join(next(iter(token)) for token in tokens), FinishReason.STOP, scores, None)


class Scripted:
    """Answers by what is allowed, and keeps what was asked."""

    def __init__(self, replies: Mapping[tuple[str, ...], ServedReply]) -> None:
        self.replies, self.asked = replies, []  # type: ignore[var-annotated]

    def __call__(self, allowed: Sequence[str], most: int) -> ServedReply:
        self.asked.append((tuple(allowed), most))
        return self.replies[tuple(allowed)]


def plain(written: bytes) -> bytes:
    return said(written, wrapped=False)


YES_NO = ("yes", "no")


def test_all_tokens_that_decide_for_an_option_are_added_up() -> None:
    ask = Scripted({YES_NO: reply({"yes": 0.2, " yes": 0.1, "Yes": 0.5, " no": 0.04, "n": 0.06})})
    choice = scored_choice(YES_NO, ask, plain, masked=False)
    assert choice.probabilities == pytest.approx((0.75, 0.25))
    assert ask.asked == [(YES_NO, 1)]


def test_an_option_that_can_only_be_improbable_is_neglected() -> None:
    ask = Scripted({YES_NO: reply({"yes": 0.9, "Yes": 0.05, "maybe": 0.001})})
    assert scored_choice(YES_NO, ask, plain, masked=False).probabilities == (1.0, 0.0)
    assert len(ask.asked) == 1


def test_options_that_were_not_seen_are_asked_for_one_by_one() -> None:
    ask = Scripted(
        {
            YES_NO: reply({"yes": 1e-6, "The": 0.5, "I": 0.1}),
            ("yes",): reply({"yes": 1e-6, "The": 0.5}),
            ("no",): reply({"n": 1e-3, "The": 0.5}, {"o": 3e-3}),
        }
    )
    choice = scored_choice(YES_NO, ask, plain, masked=False)
    assert choice.text == "no" and choice.probabilities[0] == pytest.approx(1e-6 / (1e-6 + 1e-3))


def test_what_goes_on_to_a_longer_option_is_taken_from_the_shorter() -> None:
    ask = Scripted(
        {
            ("1",): reply({"1": 0.5}),
            ("10",): reply({"1": 0.5}, {"0": 0.2}),
            ("2",): reply({"2": 0.25}),
        }
    )
    choice = scored_choice(("1", "10", "2"), ask, plain, masked=False)
    assert choice.probabilities == tuple(pytest.approx(each / 0.75) for each in (0.4, 0.1, 0.25))


def test_a_first_token_that_says_nothing_yet() -> None:
    ask = Scripted({YES_NO: reply({" ": 0.9}, {"no": 0.3, "yes": 0.1})})
    assert scored_choice(YES_NO, ask, plain, masked=False).probabilities == pytest.approx((0.25, 0.75))


def test_probabilities_of_something_else_are_an_error() -> None:
    with pytest.raises(ConstraintError, match="not those of what it wrote"):
        scored_choice(("1", "10"), lambda allowed, most: reply({"x": 0.5}), plain, masked=False)


# -------------------------------------------------------------------------------------- messages


@pytest.mark.parametrize(
    "marker",
    [
        "<|im_start|>",
        "</s>",
        "<s>",
        "<start_of_turn>",
        "<think>",
        "[INST]",
        "[/INST]",
        "<<SYS>>",
        "<｜User｜>",
    ],
)
def test_a_text_cannot_spell_a_control_token(marker: str) -> None:
    (message,) = messages_of(Prompt("", ("Text: ", UntrustedText(f"a{marker}b"))), folded=False)
    assert marker not in str(message) and f"a{marker[0]} {marker[1:]}"[:4] in str(message)
    assert without_markers(f"{marker}{marker}").count(f"{marker[0]} ") >= 2


@pytest.mark.parametrize("text", ["a < b > c", "see [1] and [2,3]", "x[i] <= y", "List[int]", "5<6"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert without_markers(text) == text


def test_what_was_removed_is_not_sent_and_takes_its_room() -> None:
    prompt = Prompt("s", ("a ", RemovableText("b", removed=True), RemovableText(" c")))
    assert messages_of(prompt, folded=True) == [{"role": "user", "content": "s\n\na  c"}]
    assert text_of(prompt) == "s\n\na b c"
