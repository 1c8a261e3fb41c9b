"""What every corpus does: the real one over files, and the scripted one over memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from localcrag.documents import LocalCorpus
from localcrag.errors import CorpusError, UnreadableError
from localcrag.protocols import Corpus, SourceFile
from localcrag.types import Skipped
from localcrag.types.ingest_report import ReadResult
from tests.documents.builders import FOX, pdf
from tests.fakes.documents import ScriptedCorpus, ScriptedFile

TEXT = f"First paragraph. {FOX}\n\n  Second paragraph, with an ümlaut.\n\n\nThird."


@dataclass(frozen=True)
class Case:
    """A corpus that holds notes.txt (TEXT), paper.pdf (two pages), broken.pdf, and something unseen."""

    corpus: Corpus
    folder: str


@pytest.fixture(params=["local", "scripted"])
def case(request: pytest.FixtureRequest, tmp_path: Path, tokenizer: Path) -> Case:
    folder = str(tmp_path.resolve())
    if request.param == "scripted":
        files = (
            ScriptedFile(f"{folder}/notes.txt", (TEXT,)),
            ScriptedFile(f"{folder}/paper.pdf", ("Page one.", "", "Page three."), paged=True),
            ScriptedFile(f"{folder}/broken.pdf", error="damaged PDF"),
        )
        return Case(ScriptedCorpus(*files, unseen=[Skipped(f"{folder}/gone", "a link to nothing")]), folder)
    (tmp_path / "notes.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "paper.pdf").write_bytes(pdf(["Page one."], [], ["Page three."]))
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing of the kind")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    return Case(LocalCorpus(tokenizer, passage_tokens=20), folder)


def sources(case: Case, *targets: str) -> list[SourceFile]:
    return [found for found in case.corpus.discover(targets) if not isinstance(found, Skipped)]


def source(case: Case, name: str) -> SourceFile:
    (found,) = sources(case, f"{case.folder}/{name}")
    return found


def test_a_folder_gives_each_source_once_and_in_order(case: Case) -> None:
    found = [file.source for file in sources(case, case.folder, f"{case.folder}/notes.txt")]
    assert found == [f"{case.folder}/{name}" for name in ("broken.pdf", "notes.txt", "paper.pdf")]
    assert Path(found[0]).is_absolute()


def test_what_cannot_be_looked_at_is_reported(case: Case) -> None:
    skipped = [found for found in case.corpus.discover([case.folder]) if isinstance(found, Skipped)]
    assert skipped == [Skipped(f"{case.folder}/gone", "a link to nothing")]


def test_a_missing_target_is_an_error_with_a_hint(case: Case) -> None:
    with pytest.raises(CorpusError, match="no such file or folder") as caught:
        list(case.corpus.discover([case.folder, f"{case.folder}/missing"]))
    assert caught.value.hint and not isinstance(caught.value, UnreadableError)


def test_a_document_keeps_its_source_text_and_metadata(case: Case) -> None:
    document = case.corpus.read(source(case, "notes.txt"), {"team": "x"})
    assert document.source == f"{case.folder}/notes.txt"
    assert [page.text for page in document.pages] == [TEXT] and document.pages[0].number is None
    assert document.meta == {"team": "x"} and document.title
    assert len(document.hash) == 64 and int(document.hash, 16)


def test_pages_keep_their_numbers_where_one_is_blank(case: Case) -> None:
    document = case.corpus.read(source(case, "paper.pdf"), {})
    assert [page.number for page in document.pages] == [1, 3]
    assert {passage.page for passage in case.corpus.split(document)} == {1, 3}


def test_what_cannot_be_read_says_why_in_one_line(case: Case) -> None:
    with pytest.raises(UnreadableError, match=r"^damaged PDF$"):
        case.corpus.read(source(case, "broken.pdf"), {})


@pytest.mark.parametrize("name", ["notes.txt", "paper.pdf"])
def test_passages_are_exact_slices_that_cover_every_word_once(case: Case, name: str) -> None:
    document = case.corpus.read(source(case, name), {"year": 2026})
    passages = case.corpus.split(document)
    for page in document.pages:
        rest = list(page.text)
        end = 0
        for passage in (p for p in passages if p.page == page.number):
            assert passage.text == page.text[passage.start : passage.end] and passage.text.strip()
            assert passage.start >= end
            end = passage.end
            rest[passage.start : passage.end] = " " * len(passage.text)
        assert not "".join(rest).strip()
    assert [p.ordinal for p in passages] == list(range(len(passages)))
    assert all(
        (p.document, p.source, p.title) == (document.hash, document.source, document.title) for p in passages
    )
    assert all(p.meta == document.meta and p.meta["year"] == 2026 for p in passages)


def test_all_at_once_is_each_by_itself(case: Case) -> None:
    wanted = [(file, {"n": n}) for n, file in enumerate(sources(case, case.folder))]
    found = {each.source: each for each in case.corpus.read_all(wanted) if isinstance(each, ReadResult)}
    assert len(found) == len(wanted) == 3
    broken = found.pop(f"{case.folder}/broken.pdf")
    assert (broken.document, list(broken.passages), broken.reason) == (None, [], "damaged PDF")
    for file, meta in wanted[1:]:
        reading, document = found[file.source], case.corpus.read(file, meta)
        assert (reading.document, list(reading.passages)) == (document, case.corpus.split(document))
        assert reading.reason == ""


def test_passage_ids_are_unique_and_stable(case: Case) -> None:
    ids = []
    for _ in range(2):
        documents = [case.corpus.read(source(case, name), {}) for name in ("notes.txt", "paper.pdf")]
        ids.append([passage.id for document in documents for passage in case.corpus.split(document)])
    assert ids[0] == ids[1] and len(set(ids[0])) == len(ids[0])
