"""The tour behind ``./scripts/demo``: real documents in, checked and cited answers out, offline.

``--picture FILE.svg`` draws what a terminal shows of two of its questions, for the README. ``--page FOLDER``
draws the page in a browser, for the manual.
"""

from __future__ import annotations

import contextlib
import fcntl
import html
import io
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
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
USAGE = """usage: ./scripts/demo [PATH "question"]
   or: ./scripts/demo --picture FILE.svg
   or: ./scripts/demo --page FOLDER"""
PICTURE = re.compile(r"\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?")
LINK = re.compile(r"\[([^\[\]]*)\]\([^)\s]*\)")
"""Pictures and links of Markdown."""
COLUMNS = 96
"""Width of the terminal in the picture."""
QUESTIONS = (
    ("that the documents answer", "What is pathspec a utility library for?"),
    (
        "whose evidence is weak, so that the loop corrects itself",
        "Tell me, is there anything in rich for showing a progress bar while I wait?",
    ),
    ("that the documents do not answer", "How many moons does the planet Jupiter have?"),
)


def main(arguments: list[str]) -> int:
    if len(arguments) not in (0, 2):
        print(USAGE, file=sys.stderr)
        return 2
    if arguments[:1] == ["--picture"]:
        return picture(Path(arguments[1]))
    if arguments[:1] == ["--page"]:
        return page(Path(arguments[1]))
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
        readme = package.metadata.json.get("description")
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
    """Write Markdown as a PDF, with its headings as such, and links as their words."""
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    if path.is_file():
        return
    styles = getSampleStyleSheet()
    blocks = []
    for block in text.split("\n\n"):
        words = LINK.sub(r"\1", PICTURE.sub("", block)).replace("**", "").strip()
        bare = words.lstrip("#").strip()
        if bare:
            blocks.append(Paragraph(escape(bare), styles["BodyText" if words == bare else "Heading3"]))
    SimpleDocTemplate(str(path), title=path.stem).build(blocks)


def run(*arguments: str) -> int:
    """Run a localcrag command, offline, and show what is typed."""
    say("$ localcrag --offline " + shlex.join(arguments))
    return subprocess.run(command(*arguments), env={**os.environ, "PYTHONUNBUFFERED": "1"}).returncode


def command(*arguments: str) -> list[str]:
    return [str(ROOT / ".venv/bin/localcrag"), "--home", str(HOME / "home"), "--offline", *arguments]


def picture(path: Path) -> int:
    """Draw a question that is answered, with its trace, and one that is not, as a terminal shows them."""
    from rich.console import Console
    from rich.terminal_theme import TerminalTheme
    from rich.text import Text

    collect(HOME / "documents")
    if run("ingest", "--kb", "demo", str(HOME / "documents"), "--prune") != 0:
        return 1
    shown = Text()
    for typed in (("ask", "--trace", QUESTIONS[0][1]), ("ask", QUESTIONS[2][1])):
        shown.append("$ ", "bold green")
        shown.append(f"localcrag {shlex.join(typed)}\n".replace("'", '"'), "bold")
        shown.append_text(Text.from_ansi(on_terminal(typed)))
        shown.append("\n\n")
    shown.rstrip()
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor")
    console.print(shown)
    theme = TerminalTheme((13, 17, 23), (201, 209, 217), PALETTE, PALETTE)
    drawn = console.export_svg(title="localcrag", theme=theme, unique_id="t", code_format=local_font())
    path.write_text(indented(drawn), "utf-8")
    say(f"{path} drawn")
    return 0


def page(folder: Path) -> int:
    """Draw the page, with the question whose answer stands in the PDF, in light and in dark."""
    from page_pictures import NoBrowserError, browser, draw_page

    try:
        with browser():
            pass  # before the documents are read
        collect(HOME / "documents")
        if run("ingest", "--kb", "demo", str(HOME / "documents"), "--prune") != 0:
            return 1
        drawn = draw_page(command("serve", "--http", "0"), "demo", QUESTIONS[1][1], folder)
    except NoBrowserError as error:
        print(error, file=sys.stderr)
        return 1
    say(f"{', '.join(map(str, drawn))} drawn")
    return 0


BLANK = "&#160;"
PALETTE = [
    (72, 79, 88),
    (255, 123, 114),
    (63, 185, 80),
    (227, 179, 65),
    (88, 166, 255),
    (188, 140, 255),
    (57, 197, 207),
    (177, 186, 196),
]


def local_font() -> str:
    """Rich's form of the picture with a font that is there: a picture must not fetch one from elsewhere."""
    from rich._export_format import CONSOLE_SVG_FORMAT as given

    form = re.sub(r"\n *(<!--.*?-->|@font-face \{\{.*?\n    \}\})", "", given, flags=re.DOTALL)
    return form.replace(
        "Fira Code, monospace", "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    )


def indented(svg: str) -> str:
    """Blanks before a line as a place further right, since viewers differ on them; no empty text."""

    def moved(found: re.Match[str]) -> str:
        x, y, width, rest, blanks, text = found.groups()
        one = float(width) / len(html.unescape(blanks + text))
        left = len(blanks) // len(BLANK) * one
        return f'x="{float(x) + left:g}"{y}textLength="{float(width) - left:g}"{rest}>{text}<'

    form = rf'x="([\d.]+)"( y="[\d.]+" )textLength="([\d.]+)"([^>]*)>((?:{BLANK})+)([^<]*)<'
    return re.sub(form, moved, re.sub(r"<text[^>]*>\s*</text>", "", svg))


def on_terminal(typed: tuple[str, ...]) -> str:
    """What a terminal of that width gets from a command of localcrag, colours and all."""
    mine, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    place = {"LOCALCRAG_KB": "demo", "TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": ""}
    with subprocess.Popen(
        command(*typed), cwd=HOME, env={**os.environ, **place}, stdin=theirs, stdout=theirs, stderr=theirs
    ):
        os.close(theirs)
        pieces = []
        with contextlib.suppress(OSError):  # the other side is closed
            while piece := os.read(mine, 4096):
                pieces.append(piece)
    os.close(mine)
    return b"".join(pieces).decode().replace("\r\n", "\n").rstrip()


def say(line: str) -> None:
    print(f"\n{line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
