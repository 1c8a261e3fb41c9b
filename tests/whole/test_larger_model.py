"""The larger model, where its packages are installed: questions over tables that the small one misreads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from localcrag.crag.table_queries.query_grammar import query_pattern
from localcrag.crag.table_queries.query_prompt import query_prompt
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import said_values
from localcrag.llm.language_model import LlamaCppModel
from localcrag.loaded_models import LoadedModels
from localcrag.settings import ModelSettings
from tests.conftest import LARGE_PART

FARMS = QueryTable.of_cells(
    ("Windparks der Region", "windparks.csv"),
    ("Name", "Baujahr", "MW", "Anlagen", "Meer"),
    [
        ("Nordlicht", "1999", "12,5", "9", "nein"), ("Alpha Bank", "2009", "60", "12", "ja"),
        ("Hohe Heide", "2004", "21", "14", "nein"), ("Riffgat", "2013", "113", "30", "ja"),
        ("Kamp", "2018", "40,8", "8", "nein"),
    ],
)  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaCppModel]:
    """The model with its adapter, in a home of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [path for path in sys.path if not Path(path, f"{LARGE_PART}.py").exists()])
        patch.delitem(sys.modules, LARGE_PART, raising=False)
        loaded = LoadedModels(ModelSettings(), tmp_path_factory.mktemp("home"))
        if loaded.queries is None or loaded.queries.name != "localcrag-tables-large-v1":
            pytest.skip("the packages of the larger model are not installed: pip install 'localcrag[large]'")
        assert loaded.reads_all_languages and loaded.query_scale and loaded.query_model
        with loaded.query_model as opened:
            opened.load()
            yield opened


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("How many wind farms stand in the sea?", "SELECT COUNT(*) WHERE \"Meer\" = 'ja'"),
        ("Which one is the oldest?", 'SELECT "Name" ORDER BY "Baujahr" ASC LIMIT 1'),
        ("Welcher Windpark im Meer hat die meisten Anlagen?",
         'SELECT "Name" WHERE "Meer" = \'ja\' ORDER BY "Anlagen" DESC LIMIT 1'),
        ("Quelle est la puissance totale des parcs en mer ?", 'SELECT SUM("MW") WHERE "Meer" = \'ja\''),
    ],
)  # fmt: skip
def test_it_reads_questions_over_a_table_in_several_languages(
    model: LlamaCppModel, question: str, query: str
) -> None:
    said = said_values(question, FARMS)
    written = model.write_line(query_prompt(FARMS, question, said), query_pattern(FARMS, said))
    assert written.text == query
