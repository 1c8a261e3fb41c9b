"""Groups for training made of manuals, lists, options, tables and mail."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sklearn")

ROOT = Path(__file__).parents[1]
DESCRIPTIONS = {
    "-Force": "Overwrites the target without asking for confirmation first.",
    "-Depth": "Sets how many levels of folders are searched below the given one.",
    "-Quiet": "Writes nothing to the screen but errors that end the command.",
}


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    """The package under `scripts/`, importable for this module."""
    sys.path.insert(0, str(ROOT / "scripts"))
    yield
    sys.path.remove(str(ROOT / "scripts"))


def data_folder(folder: Path, documents: dict[str, str]) -> Path:
    (folder / "text").mkdir(parents=True)
    lines = [json.dumps({"title": title, "text": text}) for title, text in documents.items()]
    (folder / "text" / "manuals.jsonl").write_text("\n".join(lines))
    return folder


def manual(command: str) -> str:
    options = "\n\n".join(f"{name}\n\n{text} It is part of {command}." for name, text in DESCRIPTIONS.items())
    return f"{command}\n\nParameters\n\n{options}"


def test_an_option_is_found_in_the_part_of_the_manual_that_has_it(tmp_path: Path) -> None:
    from training.text_kinds import TextKinds

    rng = random.Random(0)
    data = data_folder(tmp_path, {name: manual(name) for name in ("Copy-Tree", "Find-Tree")})
    kinds = TextKinds(data, rng)
    seen = 0
    for _ in range(200):
        group = kinds.draw(rng)
        assert group.labels[0] == 1
        assert not any(group.labels[1:])
        asked = [n for n, text in DESCRIPTIONS.items() if n in group.question or text[1:30] in group.question]
        if len(asked) == 1 and len(group.texts) > 1 and "usage:" in group.texts[0]:
            assert asked[0] in group.texts[0]
            assert asked[0] not in group.texts[1]
            seen += 1
    assert seen


def test_documents_of_the_measured_headings_make_no_groups(tmp_path: Path) -> None:
    from training.data import Example
    from training.headings import HEADINGS_SET
    from training.text_kinds import TextKinds

    held_out = [
        name for n in range(60) if Example(HEADINGS_SET, name := f"Tool-{n}", "", (), (), True).held_out
    ]
    assert held_out
    assert not TextKinds(data_folder(tmp_path, {name: manual(name) for name in held_out}), random.Random(0))


def test_the_rows_of_a_table_that_answer_are_in_the_first_text_only() -> None:
    from training.tables import Table, TableGroups

    rows = tuple((str(1990 + n), f"Film {n}", f"Role {n}") for n in range(12))
    tables = [
        Table("Which role in 1993?", "Ann Lee – Films", ("Year", "Film", "Role"), rows, (3,)),
        Table("Who won in 1912?", "Cup – Winners", ("Year", "Winner"), (("1912", "A"), ("1913", "B")), (0,)),
    ]
    groups, rng = TableGroups(tables), random.Random(0)
    for _ in range(30):
        group = groups.draw(rng)
        answer = "Role 3" if "role" in group.question else "1912"
        assert [answer in text for text in group.texts] == [bool(label) for label in group.labels]


def test_dressed_texts_keep_their_words_and_labels() -> None:
    from training.groups import Group
    from training.text_kinds import dressed

    group = Group("Who?", ("Ann wrote it. It was 1990.", "Nobody knows."), (1.0, 0.0))
    for seed in range(9):
        made = dressed(group, random.Random(seed))
        assert made.labels == group.labels
        assert made.texts != group.texts
        for text, was in zip(made.texts, group.texts, strict=True):
            assert all(word in text for word in was.split())


def test_an_instruction_that_speaks_of_its_text_is_left_out(tmp_path: Path) -> None:
    from training.instructions import INSTRUCTIONS_FILE, read_instructions

    packed = tmp_path / INSTRUCTIONS_FILE
    packed.parent.mkdir(parents=True)
    passage = "The mill was built in 1801.[2] It stood by the river until the flood of 1954 took it away."
    lines = [
        {"question": question, "passage": passage, "answer": "1801"}
        for question in ("When was the mill built?", "Summarize the passage.")
    ]
    zstandard = pytest.importorskip("zstandard")
    packed.write_bytes(zstandard.compress("\n".join(json.dumps(line) for line in lines).encode()))
    (example,) = read_instructions(tmp_path)
    assert example.question == "When was the mill built?"
    assert example.evidence == (0,)
    assert "[2]" not in example.passage
