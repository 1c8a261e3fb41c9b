"""Questions are made of the headings of manuals, and their sections are the answers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from training.data import DataError
from training.how_to_groups import HowToGroups, Wording, exchanged, read_manuals

WORDS = [
    "You want to add one, to create one, to set one, to open one, or to remove an entry of the list."
] * 6
OTHERS = ["The display and its settings are part of the window, as the database is of the program."] * 60


@pytest.mark.parametrize(
    ("heading", "wish"),
    [
        ("Adding an Entry", "add an entry"),
        ("4.1.2. Creating Your Database", "create my database"),
        ("Setting the Window and Opening the List", "set the window and open the list"),
        ("How to remove an entry", "remove an entry"),
        ("Open the KeePassXC Window", "open the KeePassXC window"),
        ("Display settings", ""),
        ("Database", ""),
        ("The list of the program", ""),
        ("Wringing the list", ""),
    ],
)
def test_a_heading_says_what_one_may_want_to_do(heading: str, wish: str) -> None:
    assert Wording([*WORDS, *OTHERS]).wish(heading) == wish


def test_words_are_exchanged_for_others_of_the_same_meaning() -> None:
    rng = random.Random(1)
    found = {exchanged("remove the folder", rng) for _ in range(60)}
    assert {"delete the folder", "get rid of the directory", "remove the folder"} <= found
    assert exchanged("paint the fence", rng) == "paint the fence"


MANUAL = """# Program

To add an entry, to open a window, to close one: all is told here. You want to add, to open, to close.

## Adding an entry

Press the button at the top of the list. A form comes up.

Fill it in, and confirm.

## Opening the window

Click the icon twice. It stands in the tray.

## Is it free?

It costs nothing at all, for anybody who uses it.

## Notes

Nothing else is to be said about all of it here.
"""


@pytest.fixture
def manuals(tmp_path: Path) -> Path:
    for number in range(3):
        place = tmp_path / f"Program {number}"
        place.mkdir()
        text = MANUAL if number == 1 else MANUAL.replace("list", "table").replace("## ", f"## {number}. Old ")
        (place / f"guide{number}.md").write_text(text * (1 if number == 1 else 2), "utf-8")
    return tmp_path


def test_the_section_below_its_heading_answers(manuals: Path) -> None:
    sections = read_manuals(manuals)
    made = next(each for each in sections if each.heading == "Adding an entry")
    assert made.product == "Program 1"
    assert made.strips[0].text.startswith("Press the button at the top of the list.")
    groups = HowToGroups(sections, random.Random(0))
    rng, firsts, questions = random.Random(3), dict[str, set[str]](), set[str]()
    for _ in range(400):
        group = groups.draw(rng)
        assert group.labels == (1.0, *[0.0] * (len(group.texts) - 1)) and len(set(group.texts)) > 1
        questions.add(group.question)
        firsts.setdefault(group.question, set()).add(group.texts[0])
    answers = set[str]().union(*(found for asked, found in firsts.items() if "open the window" in asked))
    assert answers and all("Click the icon twice" in each or "in the tray" in each for each in answers)
    assert any("Opening the window" not in each for each in answers)
    assert any("Opening the window" in each for each in answers)
    assert "Is it free?" in questions
    assert any("Program 1" in asked for asked in questions)
    assert not any("notes" in asked.casefold() for asked in questions)


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("No heading at all in this one.")
    with pytest.raises(DataError, match="no documents with headings"):
        read_manuals(tmp_path)
