"""``searxng/``: what someone starts with one command, read as the programs would read it.

No container engine is needed here; that the real server loads the settings is in test_searxng_real.
"""

from __future__ import annotations

import re

import yaml

from tests.web.searxng_server import ROOT, SHIPPED_SETTINGS

FOLDER = ROOT / "searxng"
SETTINGS = yaml.safe_load(SHIPPED_SETTINGS.read_text())
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text())
SERVICE = COMPOSE["services"]["searxng"]


def test_it_is_published_on_loopback_only() -> None:
    assert SERVICE["ports"] == ["127.0.0.1:8888:8080"]
    assert list(COMPOSE["services"]) == ["searxng"] and "network_mode" not in SERVICE


def test_the_settings_are_mounted_read_only_and_keep_their_owner() -> None:
    assert "./settings.yml:/etc/searxng/settings.yml:ro" in SERVICE["volumes"]
    assert SERVICE["environment"]["FORCE_OWNERSHIP"] == "false"
    assert "no-new-privileges:true" in SERVICE["security_opt"]
    assert "cap_drop" not in SERVICE and not SERVICE.get("privileged")


def test_the_secret_is_asked_for_and_in_no_file() -> None:
    assert SERVICE["environment"]["SEARXNG_SECRET"].startswith("${SEARXNG_SECRET:?")
    assert "secret_key" not in SETTINGS["server"]
    assert re.search(r"(?m)^SEARXNG_SECRET=$", (FOLDER / ".env.example").read_text())
    assert ".env" in (FOLDER / ".gitignore").read_text().split()


def test_json_is_on_and_everything_that_talks_unasked_is_off() -> None:
    assert SETTINGS["search"]["formats"] == ["html", "json"]
    assert SETTINGS["search"]["autocomplete"] == SETTINGS["search"]["favicon_resolver"] == ""
    assert SETTINGS["general"]["enable_metrics"] is False
    assert SETTINGS["server"]["limiter"] is SETTINGS["server"]["public_instance"] is False
    assert SETTINGS["server"]["image_proxy"] is True
    assert SETTINGS["valkey"]["url"] is False
    assert SETTINGS["plugins"] == {}
    assert "proxies" not in SETTINGS["outgoing"]


def test_every_engine_is_named() -> None:
    kept = SETTINGS["use_default_settings"]["engines"]["keep_only"]
    assert 0 < len(kept) <= 5 and {engine["name"] for engine in SETTINGS["engines"]} == set(kept)
    assert not any(engine["disabled"] for engine in SETTINGS["engines"])


def test_the_commented_tor_proxies_are_valid_once_the_marks_are_taken() -> None:
    text = SHIPPED_SETTINGS.read_text()
    marked = re.findall(
        r"(?m)^  # (proxies:|  all://:|    - socks5h://\S+|using_tor_proxy: .*|extra_.*)$", text
    )
    outgoing = yaml.safe_load("\n".join(marked))
    assert outgoing["proxies"] == {"all://": ["socks5h://127.0.0.1:9050"]}
    assert outgoing["using_tor_proxy"] is True


def test_the_readme_names_what_there_is() -> None:
    readme = (FOLDER / "README.md").read_text()
    for name in ("compose up -d", "settings.yml", ".env.example", "localcrag web check", "localcrag web log"):
        assert name in readme
