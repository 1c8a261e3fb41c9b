"""``kb list`` and ``kb remove`` where a knowledge base is damaged, or of another version."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from localcrag.store.knowledge_bases import KnowledgeBases
from tests.cli.conftest import Run

DAMAGES: dict[str, Callable[[Path], object]] = {
    "no record": lambda folder: (folder / "kb.json").unlink(),
    "another layout": lambda folder: (folder / "kb.json").write_text(
        json.dumps({**json.loads((folder / "kb.json").read_text()), "layout": 99})
    ),
    "no tables": lambda folder: (folder / "lance").rename(folder.parent / ".lance"),
}


@pytest.fixture(params=DAMAGES)
def damaged(fresh_home: Path, request: pytest.FixtureRequest) -> None:
    """Of three knowledge bases the one called bad is damaged."""
    bases = KnowledgeBases(fresh_home)
    for name in ("any", "bad", "good"):
        bases.create(name, "m", 4)
    DAMAGES[request.param](fresh_home / "knowledge" / "bad")


@pytest.mark.usefixtures("damaged")
def test_kb_list_tells_the_good_and_names_the_bad_in_a_line(fresh: Run) -> None:
    done = fresh("kb", "list")
    assert done.code == 1
    assert [line.partition("\t")[0] for line in done.out.splitlines()] == ["any", "good"]
    [line] = done.err.splitlines()
    assert line.startswith("bad cannot be read: ") and "localcrag kb remove bad" in line
    done = fresh("kb", "list", "--json")
    assert (done.code, [row["name"] for row in done.json]) == (1, ["any", "good"])
    assert "bad cannot be read" in done.err


@pytest.mark.usefixtures("damaged")
def test_what_cannot_be_read_can_be_removed(fresh: Run, fresh_home: Path) -> None:
    assert (fresh("kb", "remove", "bad", "--yes").err, KnowledgeBases(fresh_home).names()) == (
        "Removed bad.\n", ["any", "good"],
    )  # fmt: skip
    assert fresh("kb", "list").code == 0


@pytest.mark.usefixtures("damaged")
def test_the_question_before_removing_says_that_it_cannot_be_read(fresh: Run, fresh_home: Path) -> None:
    declined = fresh("kb", "remove", "bad", stdin="n\n")
    assert "Delete bad, which cannot be read?" in declined.err and declined.code == 1
    assert "Delete good with 0 documents?" in fresh("kb", "remove", "good", stdin="n\n").err
    assert KnowledgeBases(fresh_home).names() == ["any", "bad", "good"]
    assert fresh("kb", "remove", "bad", stdin="y\n").code == 0
    assert KnowledgeBases(fresh_home).names() == ["any", "good"]


def test_one_that_does_not_exist_is_not_asked_about(fresh: Run) -> None:
    done = fresh("kb", "remove", "none")
    assert done.code == 1 and "there is no knowledge base 'none'" in done.err
    assert "Delete" not in done.err


@pytest.mark.usefixtures("damaged")
def test_doctor_goes_on_behind_one_that_cannot_be_read(fresh: Run) -> None:
    findings = {row["subject"]: row for row in fresh("doctor", "--json").json}
    assert [findings[f"knowledge base {name}"]["fine"] for name in ("any", "bad", "good")] == [
        True, False, True,
    ]  # fmt: skip
    hint = findings["knowledge base bad"]["hint"]
    assert any(
        f"localcrag {step} bad" in hint for step in ("kb compact", "kb remove", "ingest --reread --kb")
    )


def test_documents_without_meta_are_exported(fresh: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("alpha one")
    (tmp_path / "b.txt").write_text("beta two")
    fresh("ingest", str(tmp_path / "a.txt"))
    fresh("ingest", str(tmp_path / "b.txt"), "--meta", "team=x")
    done = fresh("kb", "export")
    assert done.code == 0
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [(row["title"], row["meta"], row["pages"]) for row in rows] == [
        ("a", {}, [{"number": None, "text": "alpha one"}]),
        ("b", {"team": "x"}, [{"number": None, "text": "beta two"}]),
    ]
    assert all(row["hash"] and row["source"] and row["media_type"] == "text/plain" for row in rows)


def test_a_document_is_forgotten_by_any_name_of_its_place(
    fresh: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / "real" / name).write_text(f"text of {name}")
    fresh("ingest", str(tmp_path / "real"))
    monkeypatch.chdir(tmp_path / "real")
    assert fresh("kb", "forget", "../real/a.txt").code == 0
    assert fresh("kb", "forget", str(tmp_path / "link" / "b.txt"), "nothing.txt").code == 1
    assert [Path(row["source"]).name for row in fresh("kb", "show", "--json").json["sources"]] == ["c.txt"]


def test_the_fields_of_documents_are_shown_and_can_be_filtered_by(fresh: Run, tmp_path: Path) -> None:
    for name, head in (("a", "tags: [x, y]\nyear: 2024\nmodified: 2024-07-01"), ("b", "tags: x\nyear: then")):
        (tmp_path / f"{name}.md").write_text(f"---\n{head}\n---\nThe fee is 35 EUR.\n")
    assert fresh("ingest", str(tmp_path)).code == 0
    shown = fresh("kb", "show").out
    assert "fields for --filter: source, title, page, heading, modified, tags, year" in shown
    assert '  tags, in 2 documents: "x" (2), "y" (1)' in shown
    assert '  modified, in 1 document: "2024-07-01" (1)' in shown
    found = fresh("kb", "show", "--json").json
    assert found["field_documents"] == {"modified": 1, "tags": 2, "year": 2}
    assert found["facets"]["year"] == [{"value": 2024, "documents": 1}, {"value": "then", "documents": 1}]
    assert found["sources"][0]["meta"]["tags"] == ["x", "y"]
    assert found["sources"][0]["own"] == ["modified", "tags", "year"]

    def matching(filter: str) -> list[str]:
        rows = fresh("kb", "show", "--filter", filter, "--json").json["sources"]
        return [Path(row["source"]).stem for row in rows]

    assert matching("modified > 2024-06-01 and year > 2000") == ["a"]
    assert matching('tags = "x"') == ["a", "b"] and matching('year = "then"') == ["b"]
    assert fresh("search", "--filter", 'tags = "y"', "--json", "fee").json["hits"][0]["meta"]["tags"] == [
        "x",
        "y",
    ]


def test_a_single_document_is_one_document(fresh: Run, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("The ferry leaves at nine.", "utf-8")
    assert fresh("ingest", str(tmp_path / "note.txt"), "--meta", "team=x").code == 0
    listed = " ".join(fresh("kb", "list").out.split())
    assert "1 document 1 passage " in listed
    shown = fresh("kb", "show", "--filter", 'team = "x"').out
    assert "default: 1 document, 1 passage," in shown and '1 document matches team = "x"' in shown
    assert "Delete default with 1 document?" in fresh("kb", "remove", "default", stdin="n\n").err
