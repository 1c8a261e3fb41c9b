"""Which files are found, in which order, and what is left out."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from localcrag.documents import LocalCorpus, LocalFile, StdinFile, UrlFile
from localcrag.documents.discovery import discover
from localcrag.documents.ignore import Home
from localcrag.errors import CorpusError, OfflineError, UnreadableError
from localcrag.types import Skipped

Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Makes files below a folder; a value is the file's text."""

    def tree(**files: str) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return tree


def names(root: Path, *targets: str | Path) -> list[str]:
    found = list(discover([str(target) for target in targets or (root,)]))
    assert all(isinstance(item, LocalFile) for item in found), found
    return [os.path.relpath(item.source, root.resolve()) for item in found]


def test_folders_are_walked_files_first_and_by_name(tree: Tree) -> None:
    root = tree(**{"b.md": "", "a/z.txt": "", "a/b/c.txt": "", "c.md": "", "a.md": ""})
    assert names(root) == ["a.md", "b.md", "c.md", "a/z.txt", "a/b/c.txt"]


def test_a_file_has_its_size_and_time(tree: Tree) -> None:
    root = tree(**{"a.md": "12345"})
    (found,) = discover([str(root)])
    info = (root / "a.md").stat()
    assert isinstance(found, LocalFile) and found.name == "a.md"
    assert (found.size, found.mtime_ns) == (5, info.st_mtime_ns)


def test_hidden_entries_and_leavings_of_tools_are_left_out(tree: Tree) -> None:
    root = tree(
        **{
            "kept.md": "",
            ".hidden.md": "",
            ".git/config": "",
            "node_modules/pkg/README.md": "",
            "src/__pycache__/a.txt": "",
            "env/pyvenv.cfg": "",
            "env/lib/readme.md": "",
            "target/CACHEDIR.TAG": "",
            "target/out.txt": "",
        }
    )
    assert names(root) == ["kept.md"]


def test_a_hidden_file_or_folder_named_by_itself_is_taken(tree: Tree) -> None:
    root = tree(**{".notes.md": "", ".config/a.md": "", ".gitignore": "*.md"})
    assert names(root, root / ".notes.md", root / ".config") == [".notes.md", ".config/a.md"]


def test_ignore_files_work_as_in_git(tree: Tree) -> None:
    root = tree(
        **{
            ".gitignore": "*.log\n/build/\n!keep.log\ndocs/draft.md\n!\n",
            "a.log": "",
            "keep.log": "",
            "build/x.md": "",
            "src/build/y.md": "",
            "docs/draft.md": "",
            "docs/final.md": "",
            "docs/.ignore": "secret*\n",
            "docs/secret.md": "",
            "src/.localcragignore": "*.tmp\n!important.log\n",
            "src/a.tmp": "",
            "src/important.log": "",
            "a.tmp": "",
        }
    )
    assert names(root) == ["a.tmp", "keep.log", "docs/final.md", "src/important.log", "src/build/y.md"]


def test_an_ignored_file_named_by_itself_is_taken(tree: Tree) -> None:
    root = tree(**{".gitignore": "*.log", "a.log": ""})
    assert names(root, root / "a.log") == ["a.log"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.pdf", ["a.pdf"]),
        ("**/*.md", ["b.md", "x/c.md", "x/y/d.md"]),
        ("x/**/*.md", ["x/c.md", "x/y/d.md"]),
        ("x/*", ["x/c.md", "x/y/d.md", "x/y/e.txt"]),
        ("**", ["a.pdf", "b.md", "x/c.md", "x/y/d.md", "x/y/e.txt"]),
        ("*/y/?.t[xy]t", ["x/y/e.txt"]),
    ],
)
def test_globs_that_the_shell_left_alone(tree: Tree, pattern: str, expected: list[str]) -> None:
    root = tree(
        **{"a.pdf": "", "b.md": "", "x/c.md": "", "x/y/d.md": "", "x/y/e.txt": "", "node_modules/f.md": ""}
    )
    assert names(root, root / pattern) == expected


def test_globs_and_paths_are_relative_to_the_working_folder(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(**{"x/c.md": "", "d.md": ""})
    monkeypatch.chdir(root / "x")
    assert names(root, "*.md", "../d.md") == ["x/c.md", "d.md"]


def test_a_file_whose_name_looks_like_a_glob_is_that_file(tree: Tree) -> None:
    root = tree(**{"a[1].md": "", "a1.md": ""})
    assert names(root, root / "a[1].md") == ["a[1].md"]


def test_a_tilde_in_front_is_a_home_or_part_of_a_name(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree(**{"home/a.md": "", "~$report.md": "", "~docs/b.md": "", "~/c.md": ""})
    monkeypatch.setenv("HOME", str(root / "home"))
    monkeypatch.chdir(root)
    assert names(root, "~/a.md", "~$report.md", "~docs/*.md") == ["home/a.md", "~$report.md", "~docs/b.md"]
    assert names(root, "~/c.md") == ["~/c.md"], "a file that is called so goes before the home"
    with pytest.raises(CorpusError, match="no such file or folder: ~dcos/x"):
        discover(["~dcos/x"])
    with pytest.raises(CorpusError, match="no such folder: ~dcos"):
        discover(["~dcos/*.md"])


@pytest.fixture
def own(tree: Tree) -> Path:
    """A home of localcrag, with a user's files in it and beside it."""
    kept = ("knowledge/kb/state.json", "models/m/README.md", "egress.jsonl", "config.toml", "threads.db")
    return tree(
        **dict.fromkeys(["a.md", "lc/notes.md", "lc/docs/models/b.md", *(f"lc/{k}" for k in kept)], "")
    )


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (["."], ["a.md"]),
        (["**"], ["a.md"]),
        (["elsewhere"], []),
        (["lc"], ["lc/notes.md", "lc/docs/models/b.md"]),
        (["lc/*"], ["lc/notes.md", "lc/docs/models/b.md"]),
        (["lc/docs", "lc/notes.md"], ["lc/docs/models/b.md", "lc/notes.md"]),
        (["lc/knowledge", "lc/knowledge/kb"], []),
    ],
)
def test_what_localcrag_keeps_in_its_home_is_left_out(
    own: Path, targets: list[str], expected: list[str]
) -> None:
    (own / "elsewhere").mkdir()
    (own / "elsewhere/link").symlink_to(own / "lc")
    (own / "elsewhere/ledger.md").symlink_to(own / "lc/egress.jsonl")
    found = discover([str(own / target) for target in targets], Home.at(own / "lc"))
    assert [os.path.relpath(item.source, own.resolve()) for item in found] == expected


def test_what_localcrag_keeps_in_its_home_is_not_read_by_name_either(own: Path) -> None:
    (own / "ledger.md").symlink_to(own / "lc/egress.jsonl")
    named = [own / "lc/egress.jsonl", own / "lc/knowledge/kb/state.json", own / "ledger.md"]
    found = list(discover(list(map(str, named)), Home.at(own / "lc")))
    reason = "localcrag keeps it for itself"
    assert found == [Skipped(str(own.resolve() / path.relative_to(own)), reason) for path in named]


def test_a_symlink_loop_is_walked_once(tree: Tree) -> None:
    root = tree(**{"a/x.md": "", "b/y.md": ""})
    (root / "a/up").symlink_to(root)
    (root / "b/self").symlink_to(".")
    (root / "b/a").symlink_to(root / "a")
    (root / "b/chain").symlink_to("chain")
    found = list(discover([str(root)]))
    assert [os.path.relpath(f.source, root.resolve()) for f in found] == ["a/x.md", "b/chain", "b/y.md"]
    assert found[1] == Skipped(str(root.resolve() / "b/chain"), "a link to nothing")


def test_a_link_out_of_the_folder_or_to_something_hidden_is_followed_only_if_asked(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "key.txt").write_text("secret")
    root = tree(**{"a.md": "", ".hidden/key.md": "", "sub/b.md": "", ".gitignore": "left.md"})
    (root / "key.txt").symlink_to(outside / "key.txt")
    (root / "left.md").symlink_to(outside / "key.txt")
    (root / "folder").symlink_to(outside)
    (root / "sub/key.md").symlink_to(root / ".hidden/key.md")
    (root / "sub/inside.md").symlink_to(root / "a.md")
    found = list(discover([str(root)]))
    real = root.resolve()
    assert [item for item in found if isinstance(item, Skipped)] == [
        Skipped(str(real / "folder"), "a link out of the folder (--follow reads it)"),
        Skipped(str(real / "key.txt"), "a link out of the folder (--follow reads it)"),
        Skipped(str(real / "sub/key.md"), "a link to something hidden (--follow reads it)"),
    ]
    files = [item.source for item in found if isinstance(item, LocalFile)]
    assert files == [str(real / "a.md"), str(real / "sub/b.md")]
    followed = [os.path.relpath(item.source, real) for item in discover([str(root)], follow=True)]
    assert set(followed) >= {"key.txt", "sub/key.md"}
    assert [item.source for item in discover([str(root / "key.txt")])] == [str(real / "key.txt")]


def test_two_globs_may_look_into_the_same_folder(tree: Tree) -> None:
    root = tree(**{"x/a.md": "", "x/b.pdf": "", "x/c.txt": ""})
    assert names(root, root / "x/*.pdf", root / "**/*.md") == ["x/b.pdf", "x/a.md"]


def test_one_file_under_two_names_is_one_source(tree: Tree) -> None:
    root = tree(**{"a.md": ""})
    (root / "b.md").symlink_to(root / "a.md")
    (root / "c.md").hardlink_to(root / "a.md")
    assert names(root, root, root / "b.md", root / "*.md") == ["a.md"]


def test_a_folder_reached_by_a_link_has_the_same_sources(tree: Tree, tmp_path: Path) -> None:
    root = tree(**{"real/a.md": "", "real/sub/b.md": ""})
    (root / "link").symlink_to(root / "real")
    direct = [f.source for f in discover([str(root / "real"), str(root / "real/sub/b.md")])]
    assert [f.source for f in discover([str(root / "link"), str(root / "link/sub/b.md")])] == direct
    assert [f.source for f in discover([str(root / "real/../real/sub/..")])] == direct


def test_an_empty_folder_gives_nothing(tmp_path: Path) -> None:
    assert list(discover([str(tmp_path)])) == []


def test_missing_targets_are_errors_before_anything_is_found(tree: Tree) -> None:
    root = tree(**{"a.md": ""})
    for missing in (root / "b.md", root / "a.md/c", root / "nowhere/*.md"):
        with pytest.raises(CorpusError, match="no such") as caught:
            discover([str(root), str(missing)])
        assert str(missing.parent if "*" in missing.name else missing) in str(caught.value)
        assert caught.value.hint
    with pytest.raises(CorpusError, match="not a path"):
        discover(["a\0b"])


def test_a_glob_that_matches_nothing_is_an_error(tree: Tree) -> None:
    root = tree(**{"a.md": "", ".hidden.pdf": ""})
    with pytest.raises(CorpusError, match=r"nothing matches .*\.pdf") as caught:
        list(discover([str(root / "*.pdf")]))
    assert "Hidden" in caught.value.hint


def test_what_is_no_regular_file_is_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path, tmp_path / "pipe"):
        (found,) = discover([str(target)])
        assert found == Skipped(
            str(tmp_path.resolve() / "pipe"), "not a regular file (a pipe can be read with -)"
        )


def test_a_name_that_is_not_utf8_is_skipped(tmp_path: Path) -> None:
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (found,) = discover([str(tmp_path)])
    assert isinstance(found, Skipped) and found.reason == "its name is not valid UTF-8"
    assert found.source.encode()


def test_a_folder_without_permission_is_skipped_and_the_rest_found(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(**{"a.md": "", "locked/b.md": "", "z/c.md": ""})
    locked = str(root.resolve() / "locked")
    scandir = os.scandir

    def refusing(path: str) -> object:  # the tests may run as root, for whom no folder is locked
        if path == locked:
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = list(discover([str(root)]))
    assert found[1] == Skipped(locked, "this folder cannot be looked at: Permission denied")
    assert [Path(item.source).name for item in found] == ["a.md", "locked", "c.md"]


def test_standard_input_is_a_source(tokenizer: Path) -> None:
    corpus = LocalCorpus(tokenizer, stdin=io.BytesIO(b"# Dose\n\nOne tablet."))
    (found,) = corpus.discover(["-", "-"])
    assert isinstance(found, StdinFile) and (found.source, found.size, found.mtime_ns) == (
        "stdin:stdin",
        0,
        0,
    )
    document = corpus.read(found)
    assert (document.source, document.title) == ("stdin:stdin", "stdin")
    assert document.pages[0].text == "# Dose\n\nOne tablet."


def test_the_real_standard_input_is_read(tokenizer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("naïve".encode())))
    corpus = LocalCorpus(tokenizer)
    assert corpus.read(StdinFile()).pages[0].text == "naïve"


def test_standard_input_has_a_limit(tokenizer: Path) -> None:
    corpus = LocalCorpus(tokenizer, max_bytes=1024 * 1024, stdin=io.BytesIO(b"x" * (1024 * 1024 + 1)))
    with pytest.raises(UnreadableError, match="too large"):
        corpus.read(StdinFile())


def test_urls_go_through_the_given_fetcher(tokenizer: Path) -> None:
    asked = []

    def fetch(url: str) -> tuple[bytes, str]:
        asked.append(url)
        return "<title>Größe</title><p>Körper</p>".encode("iso-8859-1"), "text/html; charset=iso-8859-1"

    corpus = LocalCorpus(tokenizer, fetch_url=fetch)
    (found,) = corpus.discover(["https://example.org/a/page.php?x=1"])
    assert found == UrlFile("https://example.org/a/page.php?x=1") and asked == []
    document = corpus.read(found)
    assert asked == [found.source] and document.media_type == "text/html"
    assert (document.title, document.pages[0].text) == ("Größe", "Körper")


def test_text_behind_a_url_is_in_the_encoding_that_the_server_names(tokenizer: Path) -> None:
    words = "Одна таблетка в день."
    for name, declared in (("a.txt", "text/plain"), ("a", "text/plain"), ("a.md", "text/markdown")):
        url, served = f"https://example.org/{name}", (words.encode("koi8-r"), f"{declared}; charset=koi8-r")
        document = LocalCorpus(tokenizer, fetch_url={url: served}.__getitem__).read(UrlFile(url))
        assert (document.media_type, document.pages[0].text) == (declared, words)


def test_urls_are_refused_without_a_fetcher_and_where_it_refuses(tokenizer: Path) -> None:
    def refuse(url: str) -> tuple[bytes, str]:
        raise OfflineError("localcrag is offline", hint="Leave out --offline.")

    with pytest.raises(UnreadableError, match="URLs cannot be read here"):
        LocalCorpus(tokenizer).read(UrlFile("http://example.org"))
    with pytest.raises(UnreadableError, match="localcrag is offline") as caught:
        LocalCorpus(tokenizer, fetch_url=refuse).read(UrlFile("http://example.org"))
    assert caught.value.hint == "Leave out --offline."
