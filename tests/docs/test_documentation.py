"""``scripts/docs.py``: what it generates is up to date, and what it checks is noticed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.manual import MANUAL, ROOT

OURS = ("benchmarks", "documentation", "docs")
RESULTS = sorted(ROOT.glob("scripts/benchmarks/results/*.json"))


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "scripts"))
        yield
    for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
        del sys.modules[name]


def test_everything_is_up_to_date_and_nothing_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    import docs

    assert docs.main([]) == 0, capsys.readouterr().err


def test_parameters_are_a_list_and_defaults_that_are_texts_keep_their_quotes() -> None:
    from documentation.blocks import _docstring, _signature

    def call(self: object, name: str, *, title: str = "", kind: str | None = None, by: str = "x y") -> None:
        """Do it.

        Parameters:
            name: ``text``, which
                goes on.
            **rest: all else.

        Raises: nothing.
        """

    assert _signature("kb", call) == (
        'kb.call(name: str, *, title: str = "", kind: str | None = None, by: str = "x y") -> None'
    )
    assert _docstring(call) == (
        "Do it.\n\nParameters:\n\n- `name`: `text`, which\n  goes on.\n- `**rest`: all else."
        "\n\nRaises: nothing."
    )


def test_messages_are_read_from_the_code(tmp_path: Path) -> None:
    from documentation.messages import messages

    (tmp_path / "errors.py").write_text(
        "class LocalCragError(Exception): ...\nclass Bad(LocalCragError): ...\n"
    )
    (tmp_path / "one.py").write_text(
        "LIMIT = 3\nKINDS = {'a': 'no a here', 'b': 'no b here'}\nclass Worse(Bad): ...\n"
        "def remake(name): return f'make {name} anew'\n"
        "def f(x, kind):\n"
        "    hint = 'do this' if x else 'do that'\n"
        "    if x: raise Bad(f'at most {LIMIT} of {x} fit.', hint=hint)\n"
        "    if kind: raise Worse(KINDS[kind], hint='use ' + remake(x))\n"
        "    raise Bad(str(x))\n"
    )
    assert [(m.kind, m.text, m.hint) for m in messages(tmp_path)] == [
        ("Bad", "at most 3 of … fit", "do this; or do that"),
        ("Worse", "no a here", "use make … anew"),
        ("Worse", "no b here", "use make … anew"),
    ]


def test_messages_of_all_kinds_are_found() -> None:
    from documentation.messages import messages

    kinds = {message.kind for message in messages()}
    assert {
        "UsageError",
        "FilterError",
        "StoreError",
        "ModelFileError",
        "UnreadableError",
        "WebNotConfigured",
    } <= kinds
    assert len(messages()) > 150


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from documentation import checks

    monkeypatch.setattr(checks, "ROOT", tmp_path)
    monkeypatch.setattr(checks, "shown", lambda path: path.name)
    (tmp_path / "there.md").write_text("# A title, with *signs*\n")
    (tmp_path / "page.md").write_text(
        "[a](there.md) [b](there.md#a-title-with-signs) [c](there.md#other) [d](gone.md) ![e](gone.svg)\n"
        "[f](https://example.org) [g](#nothing) <img src='x'> <img src=\"gone.png\">\n"
    )
    assert list(checks.links(tmp_path / "page.md")) == [
        "page.md: there is no heading for there.md#other",
        "page.md: gone.md leads nowhere",
        "page.md: gone.svg leads nowhere",
        "page.md: there is no heading for #nothing",
        "page.md: gone.png leads nowhere",
    ]


def test_a_message_without_a_next_step_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from documentation import checks
    from documentation.messages import Message

    monkeypatch.setattr(
        checks, "messages", lambda: [Message("StoreError", "it broke", ""), Message("New", "a", "b")]
    )
    unexplained, new = checks.explained()
    assert "it broke" in unexplained and "New has no introduction" in new


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_picture_is_small_and_always_the_same(path: Path) -> None:
    from benchmarks.picture import svg
    from benchmarks.report import charts_of

    for chart in charts_of(json.loads(path.read_text("utf-8"))):
        drawn = svg(chart)
        assert drawn == svg(chart) == (MANUAL / f"images/{chart.name}.svg").read_text("utf-8")
        assert len(drawn.splitlines()) < 150 and len(drawn) < 10_000
        assert all(line.name in drawn for line in chart.lines) or len(chart.lines) == 1


def test_the_pictures_fetch_nothing() -> None:
    for path in (MANUAL / "images").glob("*.svg"):
        found = re.search(r"""url\(["']?(?!#)|href=|@import|<image|<script""", path.read_text("utf-8"))
        assert not found, path.name
