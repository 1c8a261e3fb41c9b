"""When the evidence surely answers, and when it is to be checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.doubts.expected_answers import lacks_expected, lacks_quantity
from localcrag.crag.doubts.one_of_rows import goes_over_rows
from localcrag.crag.doubts.outdated import may_be_outdated
from localcrag.crag.doubts.sureness import borne_out, is_sure, loses_best, stands_alone
from localcrag.crag.doubts.told_numbers import contradicted_numbers, is_of_other_month, missing_numbers
from localcrag.crag.refinement.knowledge_strips import strips, whole
from localcrag.crag.rows.row_lookup import tells_no_count
from localcrag.crag.state import QuestionState
from localcrag.types import Answer, BlockKind, Grade, Hit, Mode, Status, Strip, Thresholds, Verdict
from tests.crag.test_pipeline import scripted
from tests.crag.values import grade, passage, structured
from tests.crag.world import World, answer
from tests.fakes.llm import ScriptedEvaluator


def test_a_strip_is_sure_by_itself_or_if_hardly_another_comes_near_it() -> None:
    graded = grade(0.5).hit.passage
    cut = [replace(whole(graded, 0.0), text=text) for text in ("one", "two", "three", "four")]

    def strips(*scores: float) -> list[Strip]:
        return [replace(strip, score=score) for strip, score in zip(cut, scores, strict=False)]

    assert borne_out(strips(0.55, 0.5, 0.5, 0.5))
    assert borne_out(strips(0.45)) and borne_out(strips(0.45, 0.44, 0.22))
    assert not borne_out(strips(0.54, 0.28, 0.28)) and not borne_out(strips(0.44)) and not borne_out([])


def test_a_probable_strip_of_a_doubted_passage_is_not_sure_if_another_one_is_better() -> None:
    doubted, believed = grade(0.29), grade(0.3)
    better = Grade(
        replace(grade(0.5).hit, passage=passage("Better.", source="/better.txt")), Verdict.YES, 0.5
    )
    for graded, sure in ((doubted, False), (believed, True)):
        strip = whole(graded.hit.passage, 0.5)
        assert borne_out([strip]) and borne_out([strip], "", [graded, better]) is sure
        assert borne_out([strip], "", [graded])
        assert borne_out([replace(strip, score=0.55)], "", [graded, better])


@pytest.mark.parametrize(
    ("score", "others", "highest", "sure"),
    [
        (0.38, (0.1,), 0.1, True),
        (0.38, (0.17,), 0.2, True),
        (0.38, (0.18,), 0.1, False),
        (0.37, (0.1,), 0.1, False),
        (0.38, (0.1,), 0.21, False),
    ],
)
def test_a_row_that_stands_alone_in_the_best_passage_is_sure(
    score: float, others: tuple[float, ...], highest: float, sure: bool
) -> None:
    rows = strips(structured(*((BlockKind.ROW, text) for text in LEAGUE)))
    kept = [replace(row, score=each) for row, each in zip(rows, (score, *others), strict=False)]
    graded = Grade(Hit(rows[0].passage, 1.0), Verdict.NO, 0.2)
    other = Grade(replace(graded.hit, passage=passage("Other.", source="/other.txt")), Verdict.NO, highest)
    assert borne_out(kept, "", [graded, other]) is sure
    assert not borne_out(kept) and not borne_out(kept, "", [replace(graded, confidence=0.19)])


@pytest.mark.parametrize(
    ("score", "other", "highest", "sure"),
    [
        (0.31, 0.0, 0.1, True),
        (0.31, 0.077, 0.1, True),
        (0.31, 0.078, 0.1, False),
        (0.3, 0.0, 0.1, False),
        (0.4, 0.0, 0.21, False),
    ],
)
def test_a_strip_that_is_far_more_probable_than_any_other_is_sure_in_the_best_passage(
    score: float, other: float, highest: float, *, sure: bool
) -> None:
    graded = replace(grade(0.2), verdict=Verdict.NO)
    rival = passage("Other.", source="/other.txt")
    kept = [whole(graded.hit.passage, score), whole(rival, other)]
    other_grade = Grade(replace(graded.hit, passage=rival), Verdict.NO, highest)
    assert borne_out(kept, "", [graded, other_grade]) is sure
    assert not borne_out(kept), "whose passages are not graded by the evaluator"


def test_the_same_text_twice_is_no_rival_of_itself() -> None:
    graded = grade(0.5).hit.passage
    copies = [replace(whole(graded, 0.5), text=text) for text in ("Same  text.", "Same text.", "Same\ntext.")]
    assert borne_out(copies)


@pytest.mark.parametrize(
    ("confidences", "alone"),
    [
        ([0.4, 0.1, 0.02], True),
        ([0.4], True),
        ([0.4, None], True),
        ([0.29, 0.01], False),
        ([0.4, 0.2], False),
        ([0.4, 0.6], False),
        ([None, 0.01], False),
        ([], False),
    ],
)
def test_a_passage_stands_alone_if_no_other_is_nearly_as_probable(
    confidences: list[float | None], alone: bool
) -> None:
    grades = [grade(c, text=f"passage {n}") for n, c in enumerate(confidences)]
    strips = [whole(grades[0].hit.passage, 0.1)] if grades else []
    assert stands_alone(strips, grades) is alone
    assert not stands_alone([], grades)


def test_a_doubted_passage_stands_alone_if_its_best_strip_has_some_probability() -> None:
    for confidence, score, alone in ((0.15, 0.2, True), (0.15, 0.19, False), (0.14, 0.4, False)):
        grades = [grade(confidence), grade(0.02, text="another passage")]
        assert stands_alone([whole(grades[0].hit.passage, score)], grades) is alone


def test_the_strip_that_is_shown_must_be_of_that_passage() -> None:
    first, second = grade(0.4), grade(0.05)
    strips = [whole(first.hit.passage, 0.1), whole(second.hit.passage, 0.2)]
    assert not stands_alone(strips, [first, second])


def test_a_passage_that_was_graded_twice_is_no_rival_of_itself() -> None:
    again = grade(0.4)
    low = Grade(again.hit, again.verdict, 0.3)
    assert stands_alone([whole(again.hit.passage, 0.1)], [low, again, low])


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What is the rent of garage 7?", []),
        ("What is the rent of garage 7 from May 2028, or 2029?", ["2028", "2029"]),
        ("What is the rent of garage 07 in 2026?", []),
        ("Who pays 1,200 EUR?", []),
        ("Who pays 1200.5 EUR?", ["1200.5"]),
        ("Is the tariff of chapter 31 paid?", []),
        ("What is the rent?", []),
        ("Is it garage 7 or 9?", []),
        ("Is it garage 8 or garage 9?", ["8", "9"]),
        ("Who has the 2nd key, and who the 3rd?", ["3"]),
    ],
)
def test_a_number_that_the_evidence_does_not_have_is_missing(question: str, missing: list[str]) -> None:
    text = "Garage 7: 72.00 EUR until 30/04/2026, then 1.200 EUR. The second key is lost."
    strip = whole(replace(passage(text, source="/tariff_31.txt"), heading="Rents"), 0.9)
    assert missing_numbers([strip], question) == missing


def test_a_version_is_told_by_one_within_it() -> None:
    strip = whole(passage("Deprecate it: 2.53.0 will require 4.08 or higher."), 0.9)
    assert missing_numbers([strip], "What does 2.53 need?") == []
    assert missing_numbers([strip], "What does 2.5 need?") == ["2.5"]


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        ("A child of 17 kg, how many ml?", "Weight: 15-21 kg · Dose: 240 mg", []),
        ("A child of 17 kg, how many ml?", "Weight: 22-30 kg · Dose: 15-21 mg", ["17"]),
        ("Who signs a claim of 700 euros?", "Up to 250 euros the head; up to 1,000 the manager", []),
        ("Who signs a claim of 1,200 euros?", "Up to 250 euros the head; up to 1,000 the manager", ["1,200"]),
        ("May my 14 year old son help?", "Children under 16 may not.", []),
        ("A baby of 2 months with 38.2, what now?", "Under three months: to hospital from 38.0 °C on.", []),
        ("Who made the 3D model?", "The model was made by Newell.", []),
        ("What was the rate in the second quarter of 2011?", "State: Ohio · Quarter: Q22011 · Rate: 0.6", []),
        ("What was the rate in the second quarter of 2012?", "Quarter: 2011-Q2 · Rate: 0.6", ["2012"]),
        ("Who is in room 12?", "Open between 9 and 17, for up to 20 guests.", ["12"]),
        ("Who led in 2011?", "2009-2012: Ada.", []),
        ("What is the fee in 25/26?", "Fees of 2025-26: 72 EUR.", []),
        ("What is the fee in 2025/26?", "Fees of 2025/2026: 72 EUR.", []),
        ("What is the fee in 26/27?", "Fees of 2025-26: 72 EUR.", ["2026/27"]),
        ("What holds 25/27 of it?", "All of it.", ["25/27"]),
        ("What does it cost in 2028?", "From 2026 on 72 EUR.", ["2028"]),
    ],
)
def test_a_number_is_told_by_a_range_of_the_same_thing(question: str, text: str, missing: list[str]) -> None:
    assert missing_numbers([whole(passage(text), 0.9)], question) == missing


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What is the deposit by contract KH-2026-037?", []),
        ("What is the deposit by contract KH-2026-044?", ["044"]),
        ("How long does the spindle of L3 run on?", []),
        ("How long does the spindle of L4 run on?", ["4"]),
        ("How long does the spindle of M1 run on?", ["1"]),
    ],
)
def test_a_number_that_names_the_document_or_the_thing_is_told_by_its_surroundings(
    question: str, missing: list[str]
) -> None:
    text = "The guard of L3 is open. M1 and M2 have one. The spindle runs on for long. The deposit is paid."
    about = replace(passage(text), heading="Contract KH-2026-037 > 6 Duties")
    start = text.index("The spindle")
    strip = replace(whole(about, 0.9), start=start, text=text[start:])
    assert missing_numbers([strip], question) == missing


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("How long does fail2ban keep an address?", []),
        ("How is python3 or h264 or log_2 kept?", []),
        ("How many addresses does fail2ban keep after 2 days?", ["2"]),
        ("What does python3.11 keep?", ["3.11"]),
        ("How long does ext4 keep it?", ["4"]),
        ("What does error E21 mean?", ["21"]),
    ],
)
def test_digits_in_a_name_are_no_number_of_the_question(question: str, missing: list[str]) -> None:
    strip = whole(passage("Addresses are kept for a day on ext3."), 0.9)
    assert missing_numbers([strip], question) == missing


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        (
            "How do I print only pages 2 to 4?",
            "number-up={2|4|6}: Prints 2, 4, or 6 pages a sheet.",
            ["2", "4"],
        ),
        ("How do I print 4 pages on a sheet?", "number-up={2|4|6}: Prints 2, 4, or 6 pages a sheet.", []),
        ("What does number-up 4 do?", "number-up={2|4|6}: Prints 2, 4, or 6 pages a sheet.", []),
        ("How do I skip the first 4 lines?", "-w [1,2,4]: The width of the tabs.", ["4"]),
        ("How do I wait for 2 seconds?", "The mode is one of 1, 2 or 4.", ["2"]),
        ("How do I wait for 5 seconds?", "The mode is one of 1, 2 or 4 and waits for 5 seconds.", []),
        ("What does grade 6 pay?", "Grades 5, 6 or 7 pay 20 EUR.", []),
    ],
)
def test_a_value_that_is_allowed_tells_of_no_number(question: str, text: str, missing: list[str]) -> None:
    assert missing_numbers([whole(passage(text), 0.9)], question) == missing


def test_evidence_is_not_sure_by_what_is_not_shown() -> None:
    best, other = (replace(whole(passage(text), 0.0), score=p) for text, p in (("a", 0.7), ("b", 0.1)))
    assert loses_best([best, other], [other])
    assert not loses_best([best, other], [best]) and not loses_best([], [])
    for share, loses in ((0.74, True), (0.76, False)):
        near = replace(other, score=share * best.score)
        assert loses_best([best, near], [near]) is loses


TEXT = "The kiln room opens at 8:15 on weekdays.\n\nThe shop sells clay by the kilo."


def asked(question: str, kiln: float, others: float) -> Answer:
    """The answer whose passages and strips have these probabilities, by the word "kiln"."""
    bounds = Thresholds(upper=0.9, lower=0.1)
    evaluator = ScriptedEvaluator(lambda _, read: kiln if "kiln" in read else others, bounds)
    model = scripted("kiln")
    world = World({"/a.txt": TEXT}, model, evaluator, bounds=bounds, by_evaluator=True)
    return answer(world.with_options(mode=Mode.QUOTE).run(question))


def test_an_answer_of_the_one_probable_passage_is_given_without_a_warning() -> None:
    assert asked("When does the kiln room open?", 0.4, 0.02).status is Status.ANSWERED
    assert asked("When does the kiln room open?", 0.4, 0.39).status is Status.UNSURE


def test_an_answer_without_a_number_of_the_question_is_to_be_checked_and_says_so() -> None:
    assert asked("When does the kiln room open?", 0.95, 0.02).status is Status.ANSWERED
    later = asked("When does the kiln room open in 2031?", 0.95, 0.02)
    assert later.status is Status.UNSURE
    assert later.degraded == ("answer: what was found does not tell of 2031, which your question names",)
    option = asked("When does --parallel open the kiln room?", 0.95, 0.02)
    assert option.status is Status.UNSURE
    assert option.degraded == (
        "answer: what was found does not tell of --parallel, which your question names",
    )


@pytest.mark.parametrize(
    ("probability", "status"),
    [(0.06, Status.UNSURE), (0.045, Status.NOT_FOUND), (0.11, Status.UNSURE)],
)
def test_the_best_passage_is_looked_into_though_it_is_below_the_threshold(
    probability: float, status: Status
) -> None:
    assert asked("When does the kiln room open?", probability, 0.001).status is status


def test_of_a_passage_that_was_graded_yes_something_is_shown() -> None:
    bounds = Thresholds(upper=0.9, lower=0.1)
    evaluator = ScriptedEvaluator(lambda _, read: 0.6 if "kiln" in read and "fires" in read else 0.05, bounds)
    text = (
        "The kiln room opens at a quarter past eight. The glazers come first of all. The others wait. "
        "It is warm in there by noon. The shelves are cleaned once a week. The potter fires at night."
    )
    world = World({"/a.txt": text}, scripted("kiln"), evaluator, bounds=bounds, by_evaluator=True)
    found = answer(world.with_options(mode=Mode.QUOTE).run("When does the kiln room open?"))
    assert found.status is Status.UNSURE and "quarter past" in found.text and "night" not in found.text


def test_what_may_have_changed_since_an_earlier_mail_is_to_be_checked() -> None:
    heading = "On Fri, 7 Feb 2025 at 19:40, Bettina Kolb wrote:"

    def outdated(question: str, heading: str) -> bool:
        strip = whole(replace(passage("It is 28-30 March."), heading=heading), 0.9)
        return may_be_outdated(question, [strip])

    assert outdated("When is the weekend?", heading) and outdated("Wie viel kostet es?", heading)
    assert not outdated("Who has the key?", heading) and not outdated("When is the weekend?", "Dates")
    assert not may_be_outdated("When is the weekend?", [])


def test_a_later_message_of_a_chat_may_have_changed_it() -> None:
    first = "[02/03/2025, 18:10] Yannick: The plumber comes thursday at 8\n[02/03/2025, 18:15] Odette: ok?\n"
    second = "[05/03/2025, 21:12] Marisol: plumber moved to FRIDAY\n[06/03/2025, 13:37] Yannick: sofa is paid"
    early, late = passage(first, id="1"), passage(second, id="2", start=len(first))
    comes, moved = (replace(whole(each, 0.9), end=each.start + 59) for each in (early, late))
    comes, moved = replace(comes, text=first[:59]), replace(moved, text=second[:51], end=late.start + 51)
    question = "When does the plumber come?"
    assert may_be_outdated(question, [comes], [early, late])
    assert not may_be_outdated(question, [moved], [early, late])
    assert not may_be_outdated(question, [comes], [early])
    assert not may_be_outdated("Who comes?", [comes], [early, late])
    assert not may_be_outdated(question, [comes], [early, replace(late, source="/other.txt")])


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("By when does Ann have to pay?", "Bill to: Ann Wren, The Old Bakery", True),
        ("By when does Ann have to pay?", "Payment due: 17 April", False),
        ("How many boats are there?", "There are three of them.", False),
        ("How often is it cleaned?", "It is cleaned weekly.", False),
        ("Who pays?", "Bill to: Ann Wren, The Old Bakery", False),
    ],
)
def test_what_asks_for_a_number_or_a_time_is_not_told_without_one(
    question: str, text: str, lacks: bool
) -> None:
    strip = whole(replace(passage(text), heading="Invoice 22"), 0.9)
    assert lacks_quantity(question, [strip]) is lacks
    dated = whole(replace(passage(text), heading="Invoice of 2 May"), 0.9)
    assert not lacks_quantity(question, [dated])


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("What is the total due and by when?", "Total due: £5,631.60", True),
        ("What is the total due and by when?", "Total due by 03/07/2024: £5,631.60", False),
        ("How much rent did they pay, and on what day?", "They paid 3,875.00 of rent.", True),
        ("How much rent did they pay, and on what day?", "They paid 3,875.00 on 9 March.", False),
        ("Who found it and when?", "Ada found it on a Monday.", False),
        ("Who found it and when?", "Ada found it.", True),
        ("Who found it?", "Ada found it.", False),
    ],
)
def test_a_time_that_is_asked_for_as_well_is_missed(question: str, text: str, lacks: bool) -> None:
    assert lacks_quantity(question, [whole(passage(text), 0.9)]) is lacks


def test_who_asked_is_told_by_what_asks() -> None:
    question = "Who asked whether the old tools are obsolete?"
    reply, asked = (
        whole(replace(passage(text), heading="Ann Weld wrote:"), 0.9)
        for text in ("We still plan to maintain them.", "Are they obsolete?")
    )
    assert lacks_expected(question, [reply]) and not lacks_expected(question, [asked])
    assert not lacks_expected("Who maintains them?", [reply])


LEAGUE = [
    f"Place: {n} · Club: {name} · Won: 7" for n, name in enumerate(("Orla", "Tarn", "Hallam", "Corby"), 1)
]


@pytest.mark.parametrize(
    ("question", "rows", "doubtful"),
    [
        ("Who won the league?", 3, True),
        ("Who won the league?", 2, False),
        ("Which clubs are there?", 4, False),
        ("How many games did Orla win?", 4, False),
        ("Which clubs went over budget?", 1, True),
        ("How many clubs won 7?", 1, True),
        ("How many of the clubs were called Orla?", 1, True),
        ("Which club of the league has the highest place?", 1, True),
        ("Which place has Orla?", 1, False),
        ("Who has the highest place?", 1, True),
        ("Who won the most games?", 1, True),
        ("Which club on our list can carry the highest number of games?", 1, True),
        ("At which club were people most happy?", 1, True),
        ("What is the highest place of Orla?", 1, True),
        ("What's the place of Orla?", 1, False),
        ("Which clubs won at least 7 games, as Orla did?", 1, True),
        ("Which games has Orla won?", 1, False),
        ("How many games does Orla win on average?", 1, True),
        ("What is the average number of games that Orla won?", 1, True),
    ],
)
def test_a_row_among_rows_that_are_as_probable_is_to_be_checked(
    question: str, rows: int, doubtful: bool
) -> None:
    world = World({"/a.txt": ""}, scripted("x"))
    state = QuestionState(world.adapters, world.options, question, question, None)
    found = strips(structured(*((BlockKind.ROW, text) for text in LEAGUE)))
    scores = [0.6, *(0.58 if n < rows else 0.1 for n in range(1, len(found)))]
    kept = [replace(strip, score=score) for strip, score in zip(found, scores, strict=True)]
    assert goes_over_rows(state, kept) is doubtful


@pytest.mark.parametrize(
    ("question", "row", "doubtful"),
    [
        ("What is the largest pitch of a 2A thread?", "Thread: 2A · dPitchMax: 0.4485", False),
        ("What is the largest pitch of a 2A thread?", "Thread: 2A · pitch: 0.4485", True),
        ("Who has won the most games?", "Club: Orla · Note: most games won", False),
        ("Who has won the most games?", "Club: Orla · Games won: 7", True),
    ],
)
def test_a_row_that_says_so_tells_the_most_of_something(question: str, row: str, doubtful: bool) -> None:
    world = World({"/a.txt": ""}, scripted("x"))
    state = QuestionState(world.adapters, world.options, question, question, None)
    found = strips(structured((BlockKind.ROW, row)))
    assert goes_over_rows(state, [replace(found[0], score=0.9)]) is doubtful


@pytest.mark.parametrize(
    ("question", "doubtful"),
    [
        ("How much rain fell in 2018 in total?", True),
        ("What was the wettest month of 2018?", True),
        ("How much rain fell in February 2018?", False),
    ],
)
def test_a_row_of_months_tells_neither_their_sum_nor_the_most(question: str, doubtful: bool) -> None:
    world = World({"/a.txt": ""}, scripted("x"))
    state = QuestionState(world.adapters, world.options, question, question, None)
    found = strips(structured((BlockKind.ROW, "Year: 2018 · Jan: 31.5 · Feb: 20 · Mar: 52")))
    assert goes_over_rows(state, [replace(found[0], score=0.9)]) is doubtful


def test_a_row_that_is_an_average_tells_one() -> None:
    world = World({"/a.txt": ""}, scripted("x"))
    question = "How many games does Orla win on average?"
    state = QuestionState(world.adapters, world.options, question, question, None)
    found = strips(structured((BlockKind.ROW, "Club: Orla · Average of games won: 7")))
    assert not goes_over_rows(state, [replace(found[0], score=0.9)])


def test_a_row_of_a_list_is_to_be_checked_if_another_one_has_its_cell() -> None:
    world = World({"/a.txt": ""}, scripted("x"))
    lands = ("Wales", "Wales", "Kent", "Fife")
    rows = [f"Club: {name} · Land: {land}" for name, land in zip("QRST", lands, strict=True)]
    found = strips(structured(*((BlockKind.ROW, text) for text in rows)))
    for question, at, doubtful in (
        ("Which clubs are from Wales?", 0, True),
        ("Which clubs are from Kent?", 2, False),
        ("List all the clubs from Kent.", 2, True),
        ("Where from Wales is it?", 0, False),
    ):
        state = QuestionState(world.adapters, world.options, question, question, None)
        assert goes_over_rows(state, [replace(found[at], score=0.9)]) is doubtful


@pytest.mark.parametrize(
    ("question", "doubtful"),
    [("Which club can have the highest number of games?", True), ("What is told of Orla?", False)],
)
def test_several_rows_are_no_answer_to_what_goes_over_all(question: str, doubtful: bool) -> None:
    world = World({"/a.txt": ""}, scripted("x"))
    state = QuestionState(world.adapters, world.options, question, question, None)
    first, second, *_ = strips(structured(*((BlockKind.ROW, text) for text in LEAGUE)))
    both = first.passage.text_between(first.start, second.end)
    assert goes_over_rows(state, [replace(first, end=second.end, text=both, score=0.9)]) is doubtful


CHARGERS = ["Island: Maui · Place: Old mill", "Island: Oahu · Place: Inn", "Island: Maui · Place: Bank"]


@pytest.mark.parametrize(("question", "doubtful"), [("Maui", True), ("Oahu", False)])
def test_a_row_whose_first_cell_others_have_is_one_of_several(question: str, doubtful: bool) -> None:
    asked = f"How many places are there on {question}?"
    world = World({"/a.txt": ""}, scripted("x"))
    state = QuestionState(world.adapters, world.options, asked, asked, None)
    found = strips(structured(*((BlockKind.ROW, text) for text in CHARGERS)))
    kept = [replace(strip, score=0.9 if question in strip.text else 0.1) for strip in found]
    assert goes_over_rows(state, kept) is doubtful


CASH = (
    "Day: 8 April · Text: To the bank · Out: 2000",
    "Day: 9 April · Text: Stamps · Out: 9.60",
    "Day: 22 April · Text: To the bank · Out: 1500",
)


@pytest.mark.parametrize(
    ("question", "best", "doubtful"),
    [
        ("How much cash went to the bank in spring?", 0, True),
        ("How much did we pay for stamps in spring?", 1, False),
        ("Who took the cash to the bank in spring?", 0, False),
        ("The cash we took to the bank, total?", 0, True),
        ("The cash of spring, in all", 1, True),
        ("How much went for stamps in total from 2019 to 2022?", 1, True),
    ],
)
def test_a_part_is_not_shown_as_the_whole_with_confidence(question: str, best: int, doubtful: bool) -> None:
    world = World({"/a.txt": ""}, scripted("x"))
    state = QuestionState(world.adapters, world.options, question, question, None)
    apart = [structured((BlockKind.ROW, row), start=100 * n) for n, row in enumerate(CASH)]
    found = [strip for each in apart for strip in strips(each)]
    kept = [replace(strip, score=0.6 if n == best else 0.1) for n, strip in enumerate(found)]
    assert goes_over_rows(state, kept) is doubtful


@pytest.mark.parametrize(
    ("question", "doubtful"),
    [
        ("How many hours on the museum in February 2025?", True),
        ("Museum hours in February 2025", True),
        ("How many hours on the website in February 2025?", False),
        ("How many hours on the museum on 4 February 2025?", False),
        ("When was the museum reviewed in February 2025?", False),
    ],
)
def test_one_day_does_not_tell_how_much_there_is_in_its_month(question: str, *, doubtful: bool) -> None:
    """A log of work has a row for each day, of which the most probable one looks like the answer."""
    world = World({"/a.txt": ""}, scripted("x"))
    work = (
        ("2025-02-04", "museum"),
        ("2025-02-11", "museum"),
        ("2025-02-12", "website"),
        ("2025-03-01", "museum"),
    )
    rows = [
        (BlockKind.ROW, f"Date: {day} · Project: {what} · Hours: {n}")
        for n, (day, what) in enumerate(work, 3)
    ]
    found = strips(structured(*rows))
    best = found[2 if "website" in question else 0]
    state = QuestionState(world.adapters, world.options, question, question, None)
    kept = [replace(best, score=0.7), *(each for each in found if each is not best)]
    assert goes_over_rows(state, kept) is doubtful


def test_days_of_a_year_do_not_tell_of_the_whole_of_it() -> None:
    question = "How much rain fell in the whole of 2013?"
    world = World({"/a.txt": ""}, scripted("x"))
    state = QuestionState(world.adapters, world.options, question, question, None)
    days = [f"date: {day} · rain: 4.{n}" for n, day in enumerate(("2013-09-28", "2013-09-29", "2014-01-02"))]
    first, second, later = strips(structured(*((BlockKind.ROW, day) for day in days)))
    assert goes_over_rows(state, [replace(first, score=0.7), second])
    named = [f"item: {item} · 2013: {n}" for n, item in enumerate(("rain", "snow"), 5)]
    rain, snow = strips(structured(*((BlockKind.ROW, row) for row in named)))
    assert not goes_over_rows(state, [replace(rain, score=0.7), snow]), "a column has that name"
    whole_year = structured((BlockKind.ROW, "year: 2013 · rain: 828"))
    assert not goes_over_rows(state, [replace(strips(whole_year)[0], score=0.7), later])


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("What caused the outage on 11/02/2026?", []),
        ("What caused the outage of 11 February 2026?", []),
        ("Was war am 11.02.26?", []),
        ("What caused the outage on 12/02/2026?", ["12/02/2026"]),
        ("What caused the outage of March 2026?", []),
    ],
)
def test_a_day_is_told_in_any_notation(question: str, missing: list[str]) -> None:
    strip = whole(replace(passage("The clock was wrong."), title="Outage of 2026-02-11"), 0.9)
    assert missing_numbers([strip], question) == missing


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        ("A dog weighs 17 kg. How much?", "Weight: 15–21 kg · Dose: 3 ml", True),
        ("A dog weighs 27 kg. How much?", "Weight: 15–21 kg · Dose: 3 ml", False),
        ("A dog weighs 17 kg. How much?", "Take it for 15–21 days", False),
        ("Who signs a claim of 700 euros?", "Up to 250 euros the team; up to 1,000 the head", True),
        ("Who signs a claim of 1,700 euros?", "Up to 250 euros the team; up to 1,000 the head", False),
        ("May my 14 year old son come?", "Nobody under 16 may come.", True),
        ("What is the rent of garage 7?", "Up to 30 bikes", False),
    ],
)
def test_a_number_with_its_unit_is_told_by_the_range_it_lies_in(question: str, text: str, told: bool) -> None:
    assert (missing_numbers([whole(passage(text), 0.9)], question) == []) is told


@pytest.mark.parametrize(
    ("question", "contradicted"),
    [
        ("How long does the Lumio 45 take?", ["Lumio 45"]),
        ("How long does the Lumio 60 take?", []),
        ("How long does the Lumio take for 45 glasses?", []),
        ("How long does the Corvo 45 take?", []),
    ],
)
def test_the_document_of_another_model_does_not_tell_of_it(question: str, contradicted: list[str]) -> None:
    strip = whole(replace(passage("Glass: 45 °C, 2:10 h"), title="Lumio 60 quick guide"), 0.9)
    assert contradicted_numbers([strip], question) == contradicted
    assert contradicted_numbers([], question) == []


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("When do we go to Cullen?", "Platform 4 · Seats 11 and 12 in the front part", True),
        ("When do we go to Cullen?", "We go to Cullen on the first Monday.", False),
        ("When do I clean it?", "Clean it as soon as the lamp is red.", False),
        ("When is it in Cullen?", "Il part le lundi.", False),
        ("Wann fahren wir nach Cullen?", "Wir fahren mit dem Zug nach Cullen.", True),
        ("When do we go to Cullen?", "我们坐火车去。", False),
    ],
)
def test_when_is_told_by_a_time_or_a_condition(question: str, text: str, lacks: bool) -> None:
    assert lacks_quantity(question, [whole(passage(text), 0.9)]) is lacks
    dated = whole(replace(passage(text), heading="Saturday, 28 March 2026"), 0.9)
    assert not lacks_quantity(question, [dated])


def test_what_is_read_with_a_strip_is_no_rival_of_it() -> None:
    items = [(BlockKind.ITEM, f"above {n}: step {n} is needed") for n in (2, 4, 7, 9)]
    lead = (BlockKind.PARAGRAPH, "The vibration is measured in millimetres:")
    scores = (0.3, 0.48, 0.4, 0.35, 0.3)
    found = strips(structured(lead, *items))
    listed = [replace(strip, score=score) for strip, score in zip(found, scores, strict=True)]
    assert borne_out(listed)
    apart = [replace(strip, passage=replace(strip.passage, id=str(n))) for n, strip in enumerate(listed)]
    assert not borne_out(apart)


def test_across_languages_only_a_sure_strip_counts() -> None:
    text = (
        "Le contrat est signé par les deux parties avant le premier jour du mois, comme il est dit plus haut."
    )
    strip = whole(passage(text), 0.5)
    assert borne_out([strip]) and borne_out(
        [strip], "Quand est-ce que le contrat est signé par les parties ?"
    )
    question = "When do both of the parties have to sign the contract with the owner?"
    assert not borne_out([strip], question) and borne_out([replace(strip, score=0.6)], question)


def test_a_row_that_the_question_does_not_name_does_not_stand_alone() -> None:
    question = "Which firm was chosen?"
    world = World({"/a.txt": ""}, scripted("x"), ScriptedEvaluator(lambda *_: 0.2), by_evaluator=True)
    state = QuestionState(world.adapters, world.options, question, question, None)

    def sure(rows: int) -> bool:
        made = structured(*((BlockKind.ROW, f"Offer: {name} · Price: 70") for name in ("A", "B", "C")[:rows]))
        hit = replace(grade(0.4).hit, passage=made)
        state.grades[:] = [replace(grade(0.4), hit=hit)]
        return is_sure(state, [replace(strips(made)[0], score=0.2)])

    assert sure(2) and not sure(3)


def test_a_word_of_the_text_above_a_table_names_no_row() -> None:
    question = "Which firm was chosen for the roof?"
    world = World({"/a.txt": ""}, scripted("x"), ScriptedEvaluator(lambda *_: 0.2), by_evaluator=True)
    state = QuestionState(world.adapters, world.options, question, question, None)

    def sure(*above: str) -> bool:
        rows = [(BlockKind.ROW, f"Offer: {name} · Price: 70") for name in ("Roof & Wall", "Bell", "Corby")]
        made = structured(*((BlockKind.PARAGRAPH, text) for text in above), *rows)
        state.grades[:] = [replace(grade(0.4), hit=replace(grade(0.4).hit, passage=made))]
        return is_sure(state, [replace(strips(made)[len(above)], score=0.2)])

    assert sure("There are three offers.") and not sure("There are three offers for the roof.")
    state = QuestionState(world.adapters, world.options, "What does Bell ask?", "", None)
    rows = [(BlockKind.ROW, f"Offer: {name} · Price: 70") for name in ("Bell", "Roof & Wall", "Corby")]
    made = structured((BlockKind.PARAGRAPH, "We looked at Bell and at two others."), *rows)
    state.grades[:] = [replace(grade(0.4), hit=replace(grade(0.4).hit, passage=made))]
    assert is_sure(state, [replace(strips(made)[1], score=0.2)]), "the whole cell is named"


def test_a_number_is_told_in_another_unit_and_a_day_by_the_row_that_holds_on_it() -> None:
    load, *_ = strips(structured((BlockKind.ROW, "Load: 3000 W · Lasts: 40 minutes")))
    assert missing_numbers([load], "How long at 3 kW?") == []
    assert missing_numbers([load], "How long at 4 kW?") == ["4"]
    turn, *_ = strips(structured((BlockKind.ROW, "Days: 20–26 April 2026 · First: Ben")))
    assert missing_numbers([turn], "Who is first on 23/04/26?") == []
    assert missing_numbers([turn], "Who is first on 28/04/26?") != []


def test_a_row_tells_how_many_only_if_it_is_named_or_has_a_number_of_them() -> None:
    rows = (
        "Kitchen: ANCHOR RE:MADE · Score: 100 · Year: 2016",
        "School: Mill Lane primary · Pupils: 230 · Year: 2016",
        "Route: F1 · Ship: Fulmar · Seats: 90",
    )
    kitchen, school, ship = strips(structured(*((BlockKind.ROW, row) for row in rows)))
    for question, row, tells in (
        ("How many inspections were made in 2016?", kitchen, False),
        ("How many kitchens had a score of 100?", kitchen, False),
        ("How many pupils has Mill Lane?", school, True),
        ("How many passengers can the Fulmar carry?", ship, True),
    ):
        assert tells_no_count(question, row) is not tells


@pytest.mark.parametrize(
    ("question", "doubtful"),
    [
        ("Leaving out Kent, which county grew between 2001 and 2016?", True),
        ("Which county except Kent grew the most?", True),
        ("How much did Kent, except Dover, grow between 2001 and 2016?", False),
    ],
)
def test_a_row_that_a_question_leaves_out_does_not_answer_it(question: str, doubtful: bool) -> None:
    told = [(BlockKind.ROW, f"county: {name} · 2001: 5 · 2016: 9") for name in ("Kent", "Bute")]
    rows, world = strips(structured(*told)), World({"/a.txt": ""}, scripted("x"))
    state = QuestionState(world.adapters, world.options, question, question, None)
    assert goes_over_rows(state, [replace(rows[0], score=0.7), rows[1]]) is doubtful


@pytest.mark.parametrize(
    ("question", "row", "is_other"),
    [
        ("What mean was reported for May 1988?", "Year: 1988-01-01 · Mean: 351.57", True),
        ("What mean was reported for May 1988?", "Month: 1988-05 · Mean: 351.57", False),
        ("What mean was reported for May 1988?", "Month: May 1988 · Mean: 351.57", False),
        ("What mean was reported for May 1988?", "Year: 1988 · Mean: 351.57", False),
        ("What mean was reported since May 1988?", "Year: 1989-01-01 · Mean: 351.57", False),
        ("What mean was reported for 1988?", "Year: 1988-01-01 · Mean: 351.57", False),
    ],
)
def test_a_row_of_another_month_is_to_be_checked(question: str, row: str, *, is_other: bool) -> None:
    (strip,) = strips(structured((BlockKind.ROW, row)))
    assert is_of_other_month([strip], question) is is_other


def test_a_probable_row_has_no_rival() -> None:
    rows = strips(structured(*((BlockKind.ROW, text) for text in LEAGUE)))
    first, second, *_ = rows
    for score, sure in ((0.23, False), (0.22, True)):
        assert borne_out([replace(first, score=0.45), replace(second, score=score)]) is sure


@pytest.mark.parametrize(
    ("question", "doubtful"),
    [
        ("Which clubs are from Kent?", True),
        ("Which clubs are like Orla?", False),
        ("Where is the club from Kent?", False),
    ],
)
def test_one_row_of_a_list_is_no_sure_answer_if_its_table_goes_on(question: str, *, doubtful: bool) -> None:
    world = World({"/a.txt": ""}, scripted("x"))
    here, beyond = (
        structured(*((BlockKind.ROW, row) for row in rows), start=start)
        for rows, start in (
            (("Club: Orla · Land: Kent", "Club: Tarn · Land: Fife"), 0),
            (("Club: Corby · Land: Wales",), 90),
        )
    )
    state = QuestionState(world.adapters, world.options, question, question, None)
    row = replace(strips(here)[0], score=0.9)
    assert not goes_over_rows(state, [row])
    state.grades = [Grade(Hit(each, 1.0), Verdict.YES, 0.9) for each in (here, beyond)]
    assert goes_over_rows(state, [row]) is doubtful
