from __future__ import annotations

import subprocess
import sys

from tests.web.searxng_server import ROOT


def test_the_parts_are_built_without_loading_what_they_may_need_later() -> None:
    code = """
import sys
from pathlib import Path
from localcrag.web.diagnose import diagnose
from localcrag.web.pages import HttpPageFetcher, fetch_url
from localcrag.web.ledger import Ledger
from localcrag.web.searxng import SearxngSearch
ledger = Ledger(Path("/nowhere/egress.jsonl"))
SearxngSearch("http://127.0.0.1:1", record=ledger.record)
HttpPageFetcher(record=ledger.record)
print(*sorted({"httpx2", "httpcore2", "trafilatura", "lxml", "ssl"} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == ""
