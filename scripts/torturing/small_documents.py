"""Small documents whose texts are known, each with a word that stands in no other one."""

from __future__ import annotations

from pathlib import Path
from random import Random

TOPICS = ("garden", "mill", "harbour", "library", "observatory", "bakery", "railway", "orchard")
VERBS = ("opens", "closes", "begins", "ends", "moves", "grows", "rests")
TIMES = ("in March", "at noon", "every Tuesday", "before the rain", "after the harvest", "at dusk")


def mark_of(number: int, edition: str) -> str:
    """A word that stands in one edition of one document only."""
    return f"zq{edition}{number}x"


def prose(random: Random, number: int, edition: str, sentences: int = 6) -> str:
    """A few sentences, in the first of which is the mark of the document."""
    lines = [f"The {mark_of(number, edition)} of number {number} is kept in drawer {random.randrange(900)}."]
    for _ in range(sentences):
        lines.append(f"The {random.choice(TOPICS)} {random.choice(VERBS)} {random.choice(TIMES)}.")
    return " ".join(lines)


def write(folder: Path, random: Random, number: int, edition: str, kind: str = "md") -> Path:
    """Write one document; ``kind`` is md, txt, html or csv. Returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"document-{number}.{kind}"
    text = prose(random, number, edition, random.randrange(2, 12))
    match kind:
        case "md":
            path.write_text(f"# Number {number}\n\n{text}\n", "utf-8")
        case "html":
            path.write_text(f"<html><body><h1>Number {number}</h1><p>{text}</p></body></html>", "utf-8")
        case "csv":
            path.write_text("name,text\n" + f'number {number},"{text}"\n', "utf-8")
        case _:
            path.write_text(text, "utf-8")
    return path
