"""The language of a text: named if it is clear, the fallback if not, and nothing loaded for English."""

from __future__ import annotations

import subprocess
import sys

import pytest

from localcrag import languages
from localcrag.languages import is_foreign_to, is_in_english, is_unspaced, language_of, other_than_english


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The fee is due in spring, and late payment costs more than that."),
        ("de", "Die Gebühr ist im Frühjahr fällig, und wer zu spät zahlt, zahlt mehr."),
        ("de", "Wann endet die Frist?"),
        ("fr", "La redevance est due au printemps, et tout retard coûte davantage."),
        ("es", "La tasa se paga en primavera, y quien se retrasa paga más."),
        ("zh", "费用在春季到期，逾期要多付。"),
        ("ja", "料金は春に支払います。遅れると高くなります。"),
        ("th", "ค่าธรรมเนียมครบกำหนดในฤดูใบไม้ผลิ"),
        ("ko", "요금은 봄에 납부해야 합니다."),
        ("ru", "Плата вносится весной, а за опоздание платят больше."),
    ],
)
def test_a_sentence_is_enough(language: str, text: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["", "2024", "Berlin", "x = f(y)", "ACME GmbH 12-34"])
def test_a_text_that_says_nothing_has_the_fallback(text: str) -> None:
    assert language_of(text) == "en"
    assert language_of(text, "de") == "de"


def test_nothing_is_loaded_for_english_and_for_scripts_of_their_own() -> None:
    code = (
        "import sys; from localcrag.languages import language_of;"
        "print(language_of('What is the fee of a boat, and when is it due?'), language_of('春天交多少钱？'));"
        "print('py3langid' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["en", "zh", "False"]


def test_scripts_without_spaces() -> None:
    assert is_unspaced("费用是35欧元。")
    assert not is_unspaced("The word 费用 means a fee.")
    assert not is_unspaced("")


@pytest.mark.parametrize(
    ("text", "others", "foreign"),
    [
        ("What is the fee of a boat?", ["Die Gebühr für ein Boot ist im Frühjahr fällig."], True),
        ("Wie hoch ist die Gebühr für ein Boot?", ["Die Gebühr ist im Frühjahr fällig."], False),
        ("Wie hoch ist die Gebühr für ein Boot?", ["What the fee is for, and how much it is."], True),
        ("费用是多少？", ["What the fee is for, and how much it is."], True),
        ("费用是多少？", ["What the fee is for, and how much it is.", "费用是三十五欧元。"], False),
        ("boat fee", ["What the fee is for, and how much it is."], False),
        ("35", ["Die Gebühr für ein Boot ist im Frühjahr fällig."], False),
        ("What is the fee?", ["35 / 48"], False),
    ],
)
def test_a_text_is_foreign_to_texts_in_other_languages(text: str, others: list[str], foreign: bool) -> None:
    assert is_foreign_to(text, others) is foreign


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("Wer reparierte den Kran?", True),
        ("Quanto costa una notte al porto?", True),
        ("Welche Frist?", False),
        ("rsync exclude pattern hidden files", False),
        ("Maria Garcia Lopez phone number", False),
    ],
)
def test_a_question_in_plain_letters_is_foreign_only_if_it_is_looked_at_thoroughly(
    text: str, foreign: bool
) -> None:
    english = ["The fee is due in spring, and late payment costs more than that."]
    assert not is_foreign_to(text, english)
    assert is_foreign_to(text, english, thorough=True) is foreign


def test_nothing_is_loaded_where_function_words_tell_that_two_are_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(languages, "classifier", lambda: pytest.fail("loaded"))
    others = ["pip install pump==1.2", "The valve of the pump is to be closed before it is opened."]
    assert not is_foreign_to("What is the weight of the pump that was sent?", others, thorough=True)
    assert not is_foreign_to("Pump 12", others)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the fee of a boat?", False),
        ("fee of motorcycle, second hour", None),
        ("Anna Weber | Köln | 12 €", None),
        ("José García, São Paulo", None),
        ("", None),
        ("42", None),
        ("[10/06, 20:01] Søren: \u2764\ufe0f", None),
        ("Wie hoch ist die Gebühr für ein Boot?", True),
        ("Wer war der Herzog in der Schlacht von Hastings?", True),
        ("Quelle est la capitale de la France ?", True),
        ("Gilt ab Mai.", None),
        ("船的费用", True),
        ("Цена лодки", True),
        ("كم سعر القارب", True),
        ("The naïve café of Gdańsk is what they have on the list.", False),
    ],
)
def test_it_is_told_what_is_in_another_language_than_english(text: str, expected: bool | None) -> None:
    assert other_than_english(text) is expected


GERMAN, ENGLISH = (
    "Die Miete ist am dritten Werktag zu zahlen.",
    "The rent is due on the third day of the month.",
)


@pytest.mark.parametrize(
    ("text", "beside", "expected"),
    [
        ("Who may cut a lock?", [GERMAN], True),
        ("Welche Blutgruppe hat Frau Berg?", [], False),
        ("Spülmaschine zeigt E24 an", [], False),
        ("Was kostet sie?", [GERMAN], False),
        ("garage rent", [GERMAN], False),
        ("garage rent", [ENGLISH], True),
        ("garage rent", [], True),
    ],
)
def test_a_text_is_in_english_by_itself_or_by_others(text: str, beside: list[str], expected: bool) -> None:
    assert is_in_english(text, beside) is expected
