"""Questions over tables in other languages than English: computed, or said to go over all rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.doubts.one_of_rows import goes_over_rows
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.state import QuestionState
from localcrag.crag.table_answers.foreign_wording import asks_over_rows, in_english
from localcrag.types import BlockKind
from tests.crag.test_aggregation import value
from tests.crag.test_pipeline import scripted
from tests.crag.values import structured
from tests.crag.world import World

TOOLS = ("Marteau", "12,50", 14), ("Scie", "23,90", 6), ("Rabot", "48,00", 2)
FRENCH = [f"Article: {name} · Prix: {price} € · Réserve: {left}" for name, price, left in TOOLS]
SPANISH = [f"Artículo: {name} · Precio: {price} € · Existencias: {left}" for name, price, left in TOOLS]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Quel article est le plus cher ?", "48,00 €"),
        ("Quel est l'article le plus cher ?", "48,00 €"),
        ("Quel est l’article le moins cher ?", "12,50 €"),
        ("Quel article coûte le moins cher ?", "12,50 €"),
        ("Quel article a la plus grande réserve ?", "14"),
        ("Quel article a le moins de réserve ?", "2"),
        ("Combien d'articles y a-t-il ?", "3"),
        ("Combien d'articles coûtent plus de 20 € ?", "2"),
        ("Quel est le prix le plus élevé ?", "48,00 €"),
        ("Quel est le prix moyen ?", "28,1333 €"),
        ("Quel est le prix du rabot ?", None),
        ("Quel abonnement est le plus cher ?", None),
        ("Combien d'articles ne sont pas en réserve ?", None),
        ("Quel article est le plus beau ?", None),
    ],
)
def test_a_french_question_over_a_table_is_computed(question: str, found: str | None) -> None:
    assert value(question, FRENCH) == found


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("¿Qué artículo es el más caro?", "48,00 €"),
        ("¿Cuál es el artículo más caro?", "48,00 €"),
        ("¿Cuál es el artículo que cuesta más?", "48,00 €"),
        ("¿Qué artículo cuesta menos?", "12,50 €"),
        ("¿Qué artículo tiene más existencias?", "14"),
        ("¿Qué artículo tiene menos existencias?", "2"),
        ("¿Cuántos artículos hay?", "3"),
        ("¿Cuántos artículos cuestan más de 20 €?", "2"),
        ("¿Cuál es el precio medio?", "28,1333 €"),
        ("¿Cuál es el total de existencias?", "22"),
        ("¿Cuánto cuesta el rabot?", None),
        ("¿Cuántos artículos no hay?", None),
        ("¿Cuál es el abono más caro?", None),
    ],
)
def test_a_spanish_question_over_a_table_is_computed(question: str, found: str | None) -> None:
    assert value(question, SPANISH) == found


def test_a_question_that_goes_over_no_table_stays_as_it_is() -> None:
    for question in ("Où se trouve la liste ?", "¿Dónde está la lista?", "What is the price of la carte?"):
        assert in_english(question) == question


@pytest.mark.parametrize(
    "question",
    [
        "Quel abonnement est le plus cher ?",
        "Combien d'abonnements y a-t-il ?",
        "¿Cuál es el abono más caro?",
        "¿Cuántos abonos hay?",
        "Qual è il prodotto più caro?",
        "Какой товар самый дорогой?",
        "哪种茶的库存最多？",
        "一共有多少种茶？",
        "一番高い商品は何ですか？",
    ],
)
def test_a_row_that_such_a_question_does_not_name_is_to_be_checked(question: str) -> None:
    assert asks_over_rows(question)
    row, prose = (
        structured((BlockKind.ROW, "编号: K-001 · 库存: 35")),
        structured((BlockKind.PARAGRAPH, "库存: 35")),
    )
    world = World({"/a.txt": ""}, scripted("x"))
    state = QuestionState(world.adapters, world.options, question, question, None)
    for text, doubtful in ((row, True), (prose, False)):
        assert goes_over_rows(state, [replace(strips(text)[0], score=0.9)]) is doubtful


@pytest.mark.parametrize(
    "question",
    [
        "Combien de temps dure la pose ?",
        "Combien coûte la scie ?",
        "¿Cuántos días se conserva?",
        "Quanto costa il martello?",
        "Сколько стоит пила?",
        "铁观音的单价是多少？",
        "のこぎりはいくらですか？",
        "How many days does it last, at the most?",
    ],
)
def test_other_questions_go_over_no_rows(question: str) -> None:
    assert not asks_over_rows(question)
