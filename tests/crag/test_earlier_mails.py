"""What a reply says counts more than what the mail that it quotes says of the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.doubts.outdated import may_be_outdated
from localcrag.crag.judges.passage_scores import strip_scores
from localcrag.crag.refinement.earlier_mails import is_of_earlier_mail, with_newer_mails_first
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.documents.block_text import BlockText
from localcrag.documents.mail_body import add_mail_text
from localcrag.types import BlockKind, Passage, Strip
from tests.crag.values import passage
from tests.fakes.llm import ScriptedEvaluator

THREAD = """Hello all, the concert moves to Saturday 21 November.

Huw brings the keyboard.

On 12 Oct 2026, Huw Bevan wrote:
> The concert is on 14 November.
> The library is closed on Mondays.
"""
FORWARDED = """Hello all, the concert moves to Saturday 21 November.

-----Original Message-----
From: Huw Bevan
Sent: Monday, 12 October 2026 18:00
To: choir
Subject: Autumn concert

The concert is on 14 November. The library is closed on Mondays.
"""
MOVED = "Hello all, the concert moves to Saturday 21 November."
OLD, LIBRARY = "The concert is on 14 November.", "The library is closed on Mondays."
QUESTION = "When is the concert, and when is the library closed?"


def thread(document: str = "a", text: str = THREAD) -> Passage:
    made = BlockText()
    add_mail_text(made, text)
    page = made.page(None)
    return replace(passage(page.text), blocks=page.blocks, document=document)


def judged(p: dict[str, float], found: list[Strip]) -> dict[str, float]:
    scores = with_newer_mails_first(QUESTION, found, [p.get(strip.text, 0.002) for strip in found])
    return {strip.text: round(score, 3) for strip, score in zip(found, scores, strict=True)}


def test_a_strip_of_the_earlier_mail_falls_below_one_of_the_reply_about_the_same() -> None:
    found = strips(thread())
    assert [strip.text for strip in found if is_of_earlier_mail(strip)] == [OLD, LIBRARY]
    scores = judged({OLD: 0.3, MOVED: 0.06, LIBRARY: 0.3}, found)
    assert scores[OLD] < scores[MOVED] == 0.06
    assert scores[LIBRARY] == 0.3, "the reply says nothing of the library"


@pytest.mark.parametrize("moved", [0.002, 0.02])
def test_it_counts_in_full_if_the_reply_surely_does_not_answer(moved: float) -> None:
    assert judged({OLD: 0.3, MOVED: moved}, strips(thread()))[OLD] == 0.3


def test_the_header_of_an_earlier_mail_says_so_too() -> None:
    found = strips(thread(text=FORWARDED))
    assert {strip.text for strip in found if is_of_earlier_mail(strip)} >= {OLD, LIBRARY}
    assert not any(is_of_earlier_mail(strip) for strip in found if strip.text == MOVED)


def test_other_documents_are_no_rivals() -> None:
    replies = [strip for strip in strips(thread("b")) if strip.text == MOVED]
    quoted = [strip for strip in strips(thread()) if strip.text == OLD]
    assert judged({OLD: 0.3, MOVED: 0.3}, quoted + replies)[OLD] == 0.3


def test_the_loop_judges_strips_so() -> None:
    evaluator = ScriptedEvaluator(lambda _, text: 0.3 if OLD in text else 0.06 if MOVED in text else 0.002)
    found = strips(thread())
    scores = dict(zip((strip.text for strip in found), strip_scores(evaluator, QUESTION, found), strict=True))
    assert scores[OLD] < scores[MOVED]


def folder(*mails: tuple[str, str]) -> Passage:
    """A mail folder as it is read: the subject of each message is its heading."""
    made = BlockText()
    for subject, text in mails:
        made.add(BlockKind.HEADING, subject, level=1)
        made.add(BlockKind.PARAGRAPH, text)
    page = made.page(None)
    return replace(passage(page.text), blocks=page.blocks)


@pytest.mark.parametrize("reply", ["Re: Autumn concert", "AW: RE: autumn concert", "Re[2]: Autumn concert"])
def test_a_later_message_of_a_folder_counts_more_if_it_replies(reply: str) -> None:
    scores = judged({OLD: 0.3, MOVED: 0.06}, strips(folder(("Autumn concert", OLD), (reply, MOVED))))
    assert scores[OLD] < scores[MOVED] == 0.06


@pytest.mark.parametrize(
    "mails",
    [
        [("Re: Autumn concert", MOVED), ("Autumn concert", OLD)],
        [("Autumn concert", OLD), ("Re: Spring concert", MOVED)],
        [("Autumn concert", OLD), ("Autumn concert", MOVED)],
        [("Regatta", OLD), ("Gatta", MOVED)],
    ],
)
def test_a_message_that_replies_to_another_does_not(mails: list[tuple[str, str]]) -> None:
    assert judged({OLD: 0.3, MOVED: 0.06}, strips(folder(*mails)))[OLD] == 0.3


def a_mail(document: str, subject: str, day: str, text: str) -> list[Strip]:
    fields = {"from": "Huw <huw@example.org>", "date": day, "subject": subject}
    return strips(replace(passage(text), document=document, meta=fields))


def test_a_reply_in_a_file_of_its_own_counts_more() -> None:
    first = a_mail("a", "Autumn concert", "2026-10-12", OLD)
    reply = a_mail("b", "Re: Autumn concert", "2026-10-14", MOVED)
    again = a_mail("b", "Re: Autumn concert", "2026-10-12", MOVED)
    before = a_mail("b", "Re: Autumn concert", "2026-10-11", MOVED)
    other = a_mail("b", "Re: Spring concert", "2026-10-14", MOVED)
    scores = {OLD: 0.3, MOVED: 0.06}
    assert judged(scores, [*first, *reply])[OLD] < 0.06
    assert judged(scores, [*first, *again])[OLD] < 0.06
    assert judged(scores, [*first, *before])[OLD] == 0.3
    assert judged(scores, [*first, *other])[OLD] == 0.3


OFFERED, LESS = "For the whole house we would ask £1,740.", "We have taken 5 % off, new total £1,653."


def a_thread(*texts: str, subject: str = "Re: Wedding party") -> list[Strip]:
    """The strips of mails of one subject in a mail folder, each below its header."""
    made = BlockText()
    for day, text in enumerate(texts, 3):
        made.add(BlockKind.HEADING, subject, level=1)
        made.add(BlockKind.ROW, f"From: Gwen · To: Fenella · Date: Mon, {day} Feb 2025 16:40:00 +0000")
        for sentence in text.split("|"):
            made.add(BlockKind.PARAGRAPH, sentence)
    page = made.page(None)
    return strips(replace(passage(page.text), blocks=page.blocks))


def scores_of(question: str, found: list[Strip], p: dict[str, float]) -> list[tuple[str, float]]:
    scores = with_newer_mails_first(question, found, [p.get(strip.text, 0.002) for strip in found])
    return [(s.text, round(x, 3)) for s, x in zip(found, scores, strict=True) if s.text in p]


@pytest.mark.parametrize(
    ("question", "p", "falls"),
    [
        ("price for the whole house", 0.2, True),
        ("price for the whole house", 0.04, False),
        ("final price for the whole house", 0.04, True),
        ("when is the whole house free", 0.2, False),
    ],
)
def test_a_later_sum_of_a_thread_counts_more_if_one_is_asked_for(
    question: str, p: float, *, falls: bool
) -> None:
    """Replies to replies have one subject: which is the later mail is told by where it stands."""
    found = a_thread(OFFERED, f"Yes please!|{OFFERED}", LESS)
    scores = scores_of(question, found, {OFFERED: 0.5, LESS: p})
    assert [text for text, _ in scores] == [OFFERED, OFFERED, LESS]
    assert all((score < p) is falls for text, score in scores if text == OFFERED), "as it is quoted, too"
    alone = scores_of(question, a_thread(f"{OFFERED}|{LESS}"), {OFFERED: 0.5, LESS: p})
    assert alone[0] == (OFFERED, 0.5), "one mail"
    new = scores_of(question, a_thread(OFFERED, LESS, subject="Wedding party"), {OFFERED: 0.5, LESS: p})
    assert new[0] == (OFFERED, 0.5), "two mails of which none replies"


def test_a_sum_a_month_needs_no_sign() -> None:
    asked, settled = "She wants 1,150 a month.", "Signed today: 1,090 a month, three years."
    scores = scores_of("rent finally agreed", a_thread(asked, settled), {asked: 0.5, settled: 0.04})
    assert [score < 0.04 for _, score in scores] == [True, False]


@pytest.mark.parametrize(
    ("question", "first", "proposes"),
    [
        ("who pays for the roller door", "I would sign if she pays for the roller door.", True),
        ("who pays for the roller door", "Shall we ask her to pay for the roller door?", True),
        ("who pays for the roller door", "She pays for the roller door.", False),
        ("who might pay for the roller door", "I would sign if she pays for the roller door.", False),
    ],
)
def test_what_a_mail_only_proposes_gives_way_and_is_not_sure(
    question: str, first: str, *, proposes: bool
) -> None:
    """A hundredth of its odds is enough for what a later mail of the thread says of the same."""
    settled = "Signed, and the roller door is on her."
    found = a_thread(first, settled)
    scores = dict(scores_of(question, found, {first: 0.5, settled: 0.04}))
    assert (scores[first] < scores[settled]) is proposes
    strip = next(each for each in found if each.text == first)
    assert may_be_outdated(question, [replace(strip, score=0.9)]) is proposes
    [minutes] = strips(passage(first))
    assert not may_be_outdated(question, [replace(minutes, score=0.9)]), "no mail"


@pytest.mark.parametrize(
    ("question", "early", "late", "falls"),
    [
        ("Wann kommt der Container?", "Er trifft am 10. März ein.", "Neue Ankunft 14. März.", True),
        ("When does it come?", "It comes on 10 March.", "Now it is to be 14 March.", True),
        ("Where does it come to?", "It comes on 10 March.", "Now it is to be 14 March.", False),
        ("quanti metri?", "Sono 30 metri.", "Portatene 32 metri, per scorta.", True),
        ("quanti metri?", "Sono 30 metri.", "Costano 32 euro.", False),
        ("how many boxes?", "There are 612 boxes.", "The list is corrected, 598 boxes.", True),
    ],
)
@pytest.mark.parametrize("reply", ["Re: ", "R: ", "AW: "])
def test_a_later_day_or_number_counts_more_if_one_is_asked_for(
    question: str, early: str, late: str, reply: str, *, falls: bool
) -> None:
    found = a_thread(early, late, subject=f"{reply}Container")
    scores = dict(scores_of(question, found, {early: 0.5, late: 0.2}))
    assert (scores[early] < scores[late]) is falls


@pytest.mark.parametrize("word", ["really", "now", "jetzt", "wirklich", "finalement", "davvero", "ahora"])
def test_what_holds_now_is_what_was_settled(word: str) -> None:
    early, late = "It comes on 10 March.", "Moved to 14 March."
    scores = dict(scores_of(f"When does it {word} come?", a_thread(early, late), {early: 0.5, late: 0.04}))
    assert scores[early] < scores[late]
