"""The tour behind ``./scripts/demo``: real documents in, checked and cited answers out, offline."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".cache" / "demo"
PACKAGES = (
    "click",
    "rich",
    "lancedb",
    "httpx2",
    "trafilatura",
    "platformdirs",
    "filelock",
    "pathspec",
    "jinja2",
)
AS_PDF = "trafilatura"
QUESTIONS = (
    ("that the documents answer", "What is pathspec a utility library for?"),
    ("whose evidence is weak, so that the loop corrects itself", "What did the trafilatura work start as?"),
    ("that the documents do not answer", "How many moons does the planet Jupiter have?"),
)


def main(arguments: list[str]) -> int:
    if len(arguments) not in (0, 2):
        print('usage: ./scripts/demo            or: ./scripts/demo PATH "question"', file=sys.stderr)
        return 2
    if arguments:
        path, question = arguments
        run("ingest", "--kb", "mine", str(Path(path).expanduser().absolute()))
        return run("ask", "--kb", "mine", "--trace", question)
    documents = collect(HOME / "documents")
    say(
        f"{len(documents)} real documents: READMEs and licences of the installed packages, one of them as PDF"
    )
    if run("ingest", "--kb", "demo", str(HOME / "documents"), "--prune") != 0:
        return 1
    outcomes = []
    for what, question in QUESTIONS:
        say(f"A question {what}:")
        outcomes.append(run("ask", "--kb", "demo", "--trace", question))
    say("Everything above ran on this machine, with every connection refused. Now your own folder:")
    print(f"    {shlex.quote(str(ROOT / '.venv/bin/localcrag'))} ingest ~/Documents")
    print(f'    {shlex.quote(str(ROOT / ".venv/bin/localcrag"))} ask "your question"')
    return 0 if all(code in (0, 3) for code in outcomes) else 1


def collect(folder: Path) -> list[Path]:
    """Write each package's README and licences into the folder, and the one README as a PDF."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PACKAGES:
        package = distribution(name)
        readme = package.metadata.get_payload()
        if not isinstance(readme, str) or not readme.strip():
            continue
        if name == AS_PDF:
            write_pdf(folder / f"{name}.pdf", readme)
        else:
            write(folder / f"{name}.md", readme)
        for licence in licences(package):
            write(folder / f"{name}-{licence.stem}.txt", licence.read_text("utf-8", errors="replace"))
    return sorted(folder.iterdir())


def licences(package: Distribution) -> list[Path]:
    files = [Path(str(file.locate())) for file in package.files or () if ".dist-info" in str(file)]
    return [file for file in files if file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING"))]


def write(path: Path, text: str) -> None:
    """Leave a file alone that is already right, so that a second run finds it unchanged."""
    if not path.is_file() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def write_pdf(path: Path, text: str) -> None:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    if path.is_file():
        return
    style = getSampleStyleSheet()["BodyText"]
    blocks = [Paragraph(escape(block), style) for block in text.split("\n\n") if block.strip()]
    SimpleDocTemplate(str(path), title=path.stem).build(blocks)


def run(*arguments: str) -> int:
    """Run a localcrag command, offline, and show what is typed."""
    say("$ localcrag --offline " + shlex.join(arguments))
    command = [str(ROOT / ".venv/bin/localcrag"), "--home", str(HOME / "home"), "--offline", *arguments]
    return subprocess.run(command, env={**os.environ, "PYTHONUNBUFFERED": "1"}).returncode


def say(line: str) -> None:
    print(f"\n{line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
