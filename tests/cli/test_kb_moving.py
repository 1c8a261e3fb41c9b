"""The commands for knowledge bases that move, and for forgetting several documents."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def copied(home: Path, fresh_home: Path) -> Path:
    """A home of the test's own with the documents of the session."""
    shutil.copytree(home, fresh_home)
    return fresh_home


@pytest.mark.usefixtures("copied")
def test_documents_that_were_moved(fresh: Run, documents: Path, tmp_path: Path) -> None:
    shutil.copytree(documents, tmp_path / "archive")
    assert f"in {documents}: 3 documents" in " ".join(fresh("kb", "show").out.split())
    done, place = (
        fresh("kb", "relocate", "default", str(tmp_path / "archive"), "--json"),
        tmp_path / "archive",
    )
    moved = {"old": str(documents), "new": str(place), "documents": 3, "missing": 0}
    assert done.json == {"kb": "default", **moved}
    sources = {row["source"] for row in fresh("kb", "show", "--json").json["sources"]}
    assert all(Path(source).is_relative_to(tmp_path) for source in sources)
    (tmp_path / "empty").mkdir()
    done = fresh("kb", "relocate", "default", str(tmp_path / "archive"), str(tmp_path / "empty"))
    assert "3 documents of" in done.err and "3 of them are not there" in done.err
    assert fresh("kb", "relocate", "default", "a", "b", "c").code == 2


@pytest.mark.usefixtures("copied")
def test_another_name_a_copy_and_an_archive(fresh: Run, tmp_path: Path) -> None:
    others = {row["name"] for row in fresh("kb", "list", "--json").json} - {"default"}
    done = fresh("kb", "rename", "default", "leaflets")
    assert "leaflets now" in done.err and "config set kb leaflets" in done.err
    assert fresh("kb", "copy", "leaflets", "two").code == 0
    file = str(tmp_path / "kb.tar.gz")
    assert "leaflets is in" in fresh("kb", "export", "leaflets", "--archive", file).err
    assert fresh("kb", "export", "leaflets", "--archive", file).code == 2
    assert fresh("kb", "export", "leaflets", "--archive", file, "--filter", "page = 1").code == 2
    assert "already" in fresh("kb", "import", file).err
    assert "three: 3 documents" in fresh("kb", "import", file, "--name", "three").err
    made = {"leaflets", "two", "three"}
    assert made | others == {row["name"] for row in fresh("kb", "list", "--json").json}
    Path(file).write_bytes(Path(file).read_bytes()[:-40])
    done = fresh("kb", "import", file, "--name", "four")
    assert done.code == 1 and done.err.count("Error:") == 1
    assert made | others == {row["name"] for row in fresh("kb", "list", "--json").json}


@pytest.mark.usefixtures("copied")
def test_an_archive_of_folders_that_are_not_here_says_so(fresh: Run, documents: Path, tmp_path: Path) -> None:
    folder = tmp_path / "old papers"
    folder.mkdir()
    shutil.copy(documents / "notes.md", folder / "notes.md")
    fresh("ingest", str(folder), "--kb", "papers")
    fresh("kb", "export", "papers", "--archive", str(tmp_path / "x"))
    shutil.rmtree(folder)
    done = fresh("kb", "import", str(tmp_path / "x"), "--name", "there")
    assert f"localcrag kb relocate there '{folder}' FOLDER" in done.err


@pytest.mark.usefixtures("copied")
def test_a_folder_is_no_archive_and_a_missing_one_is_named(fresh: Run, tmp_path: Path) -> None:
    done = fresh("kb", "export", "default", "--archive", str(tmp_path))
    assert done.code == 2 and "is a folder" in done.err and "default.tar.gz" in done.err
    done = fresh("kb", "export", "default", "--archive", str(tmp_path / "none" / "x"))
    assert done.code == 2 and f"there is no folder {tmp_path / 'none'}" in done.err
    done = fresh("kb", "import", str(tmp_path))
    assert done.code == 2 and "is a folder" in done.err


@pytest.mark.usefixtures("copied")
def test_one_of_several_that_the_settings_name_is_renamed_and_they_are_asked_by_their_joined_name(
    fresh: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh("kb", "copy", "default", "two")
    monkeypatch.setenv("LOCALCRAG_KB", "default,two")
    assert "localcrag config set kb default,three" in fresh("kb", "rename", "two", "three").err
    apart = fresh("search", "--kb", "default", "--kb", "three", "Zeldrine", "--json")
    joined = fresh("search", "--kb", "default+three", "Zeldrine", "--json")
    assert joined.code == 0 and joined.json == apart.json


@pytest.mark.usefixtures("copied")
def test_several_documents_are_forgotten(fresh: Run, documents: Path) -> None:
    assert fresh("kb", "forget").code == 2
    done = fresh("kb", "forget", str(documents / "*.md"), "nothing.md")
    assert (done.code, done.err) == (1, "no document is held of nothing.md\nForgot 1 document.\n")
    done = fresh("kb", "forget", "--filter", 'title = "Zeldrine"')
    assert (done.code, done.err) == (0, "Forgot 1 document.\n")
    done = fresh("kb", "forget", "--filter", 'title = "none"')
    said = 'no document that passes title = "none" is held'
    assert (done.code, done.err) == (1, f"{said}\nForgot 0 documents.\n")
    assert fresh("kb", "forget", str(documents)).err == "Forgot 1 document.\n"
    assert fresh("kb", "show", "--json").json["documents"] == 0
