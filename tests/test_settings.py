"""Flags over environment over file over defaults, and clear words for what cannot be understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag import settings
from localcrag.errors import SettingsError
from localcrag.types import GraderKind, Mode, Policy, WebPolicy


def load(home: Path, text: str = "", **environ: str) -> settings.Settings:
    (home / "config.toml").write_text(text)
    return settings.load(environ={"LOCALCRAG_HOME": str(home), **environ})


def test_defaults(tmp_path: Path) -> None:
    found = load(tmp_path)
    assert found.home == tmp_path
    assert (found.kb, found.offline) == ("default", False)
    assert found.web.policy is WebPolicy.NEVER and found.web.url == ""
    assert found.loop.policy is Policy.CRAG and found.loop.grader is None


def test_the_file_overrides_defaults_and_the_environment_the_file(tmp_path: Path) -> None:
    text = '[loop]\npassages = 3\npolicy = "none-relevant"\n[web]\nallow_private = ["127.0.0.1:1"]'
    found = load(
        tmp_path, text, LOCALCRAG_LOOP_PASSAGES="5", LOCALCRAG_LOOP_MODE="quote", LOCALCRAG_OFFLINE="1"
    )
    assert found.loop.passages == 5
    assert found.loop.policy is Policy.NONE_RELEVANT
    assert found.loop.mode is Mode.QUOTE
    assert found.offline is True
    assert found.web.allow_private == ("127.0.0.1:1",)


def test_flags_override_all_and_none_leaves_alone(tmp_path: Path) -> None:
    found = load(tmp_path, LOCALCRAG_LOOP_GRADER="evaluator").with_values("loop", passages=9, grader=None)
    assert found.loop.passages == 9
    assert found.loop.grader is GraderKind.EVALUATOR


@pytest.mark.parametrize(
    ("text", "environ", "message"),
    [
        ("[loop\n", {}, "cannot read"),
        ("[nonsense]\n", {}, "unknown setting 'nonsense'"),
        ("[loop]\nnonsense = 1", {}, "unknown setting loop.nonsense"),
        ('[loop]\npassages = "many"', {}, "'many' is not a whole number"),
        ("[loop]\npassages = 2.5", {}, "2.5 is not a whole number"),
        ("[loop]\npassages = true", {}, "True is not a whole number"),
        ("[loop]\npassages = 0", {}, "0 is less than 1"),
        ("", {"LOCALCRAG_LOOP_AGENT_SECONDS": "-1"}, "LOCALCRAG_LOOP_AGENT_SECONDS: -1.0 is less than 0"),
        ("[loop]\nupper = 70", {}, "70.0 is more than 1"),
        ("[loop]\nupper = -0.1", {}, "-0.1 is less than 0"),
        ("[loop]\nlower = nan", {}, "nan is not a number"),
        ("", {"LOCALCRAG_LOOP_LOWER": "nan"}, "LOCALCRAG_LOOP_LOWER: 'nan' is not a number"),
        ("", {"LOCALCRAG_WEB_TIMEOUT": "nan"}, "LOCALCRAG_WEB_TIMEOUT: 'nan' is not a number"),
        (
            "[loop]\nupper = 0.4",
            {"LOCALCRAG_LOOP_LOWER": "0.6"},
            "loop.lower, 0.6, is more than loop.upper, 0.4",
        ),
        ("[web]\nallow_private = [1]", {}, "is not a list of strings"),
        ("", {"LOCALCRAG_LOOP_POLICY": "guess"}, "'guess' is not one of crag, any-irrelevant, none-relevant"),
        ("", {"LOCALCRAG_OFFLINE": "perhaps"}, "'perhaps' is not yes or no"),
        ("", {"LOCALCRAG_WEB_TIMEOUT": "soon"}, "LOCALCRAG_WEB_TIMEOUT: 'soon' is not a number"),
    ],
)
def test_what_cannot_be_understood_is_said(
    tmp_path: Path, text: str, environ: dict[str, str], message: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, text, **environ)
    assert message in str(caught.value)


def test_every_setting_is_described() -> None:
    rows = {name: (variable, default) for name, variable, default, _ in settings.describe()}
    assert rows["web.url"] == ("LOCALCRAG_WEB_URL", "")
    assert rows["loop.upper"] == ("LOCALCRAG_LOOP_UPPER", settings.UNSET)
    assert rows["loop.parts"] == ("LOCALCRAG_LOOP_PARTS", "true")
    assert (rows["kb"], rows["offline"]) == (("LOCALCRAG_KB", "default"), ("LOCALCRAG_OFFLINE", "false"))
    assert all(help for *_, help in settings.describe())


def test_a_home_with_a_tilde_is_one_folder_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "lc").mkdir()
    (tmp_path / "lc" / "config.toml").write_text("offline = true")
    found = settings.load(home=Path("~/lc"), environ={})
    assert (found.home, found.offline) == (tmp_path / "lc", True)
