"""Full-text search in the language of the documents: stems, scripts without spaces, older indexes."""

from __future__ import annotations

import pytest

from localcrag.store.full_text import STEMMERS, index_settings, main_language, words_weight
from localcrag.store.hybrid_search import Wanted, matching
from localcrag.store.lance_store import LanceStore
from localcrag.store.tables import index_words, language_of_index
from tests.store.conftest import EMBEDDER, item

GERMAN = ("Die Häuser am See wurden im Jahr der großen Flut gebaut.", "Der Zug fährt am Abend nach Süden.")
RUSSIAN = (
    "Старые дома у озера построили после войны, и они стоят там до сих пор.",
    "Поезд вечером едет на юг, и билеты на него стоят недорого.",
)
CHINESE = ("摩托车的费用是三十五欧元。", "火车晚上开往南方。")


def words_found(lance: LanceStore, query: str) -> int:
    """The number of passages that the words of a query find."""
    tables = lance._tables
    wanted = Wanted(query, EMBEDDER.encode([query])[0], None, 10)
    return len(matching(tables.snapshot(tables.passages), wanted))


@pytest.mark.parametrize(
    ("texts", "query", "language"),
    [(GERMAN, "Haus", "de"), (RUSSIAN, "дом", "ru"), (CHINESE, "费用", "zh")],
)
def test_words_are_found_by_their_stems_in_the_language_of_most_passages(
    lance: LanceStore, texts: tuple[str, ...], query: str, language: str
) -> None:
    lance.replace([item(f"/{n}.txt", text) for n, text in enumerate(texts)])
    lance.optimize()
    assert language_of_index(lance._tables.passages) == language
    assert words_found(lance, query) == 1


def test_an_index_without_a_language_is_read_as_it_is_and_renewed_by_the_next_ingestion(
    lance: LanceStore,
) -> None:
    lance.replace([item("/a.txt", RUSSIAN[0]), item("/b.txt", RUSSIAN[1])])
    passages = lance._tables.passages
    index_words(passages, "fr")
    for name in [index.name for index in passages.list_indices() if index.columns == ["lexical"]]:
        passages.drop_index(name)
    from lancedb.index import FTS

    passages.create_index("lexical", config=FTS(**index_settings("en")))  # as an earlier version made it
    assert language_of_index(passages) == ""
    assert words_found(lance, "дома") == 1 and words_found(lance, "дом") == 0
    lance.optimize()
    assert language_of_index(passages) == "ru"
    assert len([index for index in passages.list_indices() if index.columns == ["lexical"]]) == 1
    assert words_found(lance, "дом") == 1


def test_the_language_of_most_texts_counts_and_english_if_there_is_none() -> None:
    assert main_language([*GERMAN, RUSSIAN[0]]) == "de"
    assert main_language([*GERMAN, *RUSSIAN]) == "mul"
    assert main_language(CHINESE) == "zh"
    assert main_language([]) == main_language(["12", "A-3"]) == "en"


@pytest.mark.parametrize(
    ("language", "query", "weight"),
    [
        ("de", "Wann wurden die Häuser gebaut?", 1.0),
        ("de", "When were the houses at the lake built?", 0.3),
        ("de", "2019", 1.0),
        ("zh", "When does the train leave?", 0.3),
        ("zh", "费用是多少？", 1.0),
        ("en", "费用是多少？", 1.0),
        ("en", "Wann wurden die Häuser am See gebaut?", 0.3),
        ("en", "When does the train leave?", 1.0),
        ("mul", "费用是多少？", 1.0),
        ("", "费用是多少？", 1.0),
    ],
)
def test_words_of_another_language_count_less_than_the_vector(
    language: str, query: str, weight: float
) -> None:
    assert words_weight(language, query) == weight


def test_every_stemmer_exists(lance: LanceStore) -> None:
    for language in STEMMERS:
        index_words(lance._tables.passages, language)
        assert language_of_index(lance._tables.passages) == language
