"""What evidence only speaks of: a thing that it does not explain, a state that it takes for given."""

from __future__ import annotations

import pytest

from localcrag.crag.doubts.told_in_passing import told_in_passing
from localcrag.crag.refinement.knowledge_strips import strips, whole
from localcrag.types import BlockKind
from tests.crag.values import passage, structured


@pytest.mark.parametrize(
    ("question", "text", "in_passing"),
    [
        ("What is a blob?", "When describing blobs, the tags that point at them are ignored.", True),
        ("What is a blob in trim?", "The tags point at blobs.", True),
        ("What is a blob?", "A blob is what is kept of a file.", False),
        ("What is a blob?", "What is kept of a file is called a blob.", False),
        ("What is a blob?", "All that is kept is one of three: a tree, a blob (a file), a tag.", False),
        ("What is an entry?", "Entries are made by hand.", False),
        ("What is a blob good for?", "The tags point at blobs.", False),
        ("How do I encrypt a disk?", "If your disk is encrypted and the key is lost, use rescue.", True),
        ("How do I encrypt a disk?", "Once the disk has been encrypted, wait. Then start it.", True),
        ("How do I encrypt a disk?", "If your disk is encrypted, use rescue. Else encrypt it.", False),
        ("How do I encrypt a disk?", "If your disk is old, use init with encryption.", False),
        ("How do I encrypt a disk?", "If you want to encrypt it, use init.", False),
        ("How do I encrypt a disk?", "Use init.", False),
        ("Is my disk encrypted?", "If your disk is encrypted, use rescue.", False),
        ("Why was the request turned down?", "The request of Ivo Petkov is refused.", True),
        ("Why was the request turned down?", "It is refused because it came too late.", False),
        ("Warum wurde er abgelehnt?", "Der Antrag wird abgelehnt.", True),
        ("Warum wurde er abgelehnt?", "Der Antrag wird wegen der Frist abgelehnt.", False),
        ("Why was it turned down?", f"The request is refused{' at last' * 5}.", False),
        (
            "Why was Ivo turned down?",
            "Ann has time because of him. The request of Ivo is refused.",
            True,
        ),
        ("Why was Ivo turned down?", "The request of Ivo is refused. It came too late to be read.", False),
        ("Was it turned down?", "The request of Ivo Petkov is refused.", False),
    ],
)
def test_told_in_passing(question: str, text: str, in_passing: bool) -> None:
    assert told_in_passing(question, [whole(passage(text), 0.9)]) is in_passing


def test_a_heading_and_what_leads_in_count() -> None:
    told = structured((BlockKind.HEADING, "The blob"), (BlockKind.PARAGRAPH, "It is what is kept of a file."))
    assert not told_in_passing("What is a blob?", strips(told)[-1:])
    led = structured(
        (BlockKind.PARAGRAPH, "If the disk is encrypted, use:"), (BlockKind.CODE, "rescue --key FILE")
    )
    assert told_in_passing("How do I encrypt a disk?", strips(led)[-1:])


def test_nothing_is_told_in_passing_where_nothing_was_found() -> None:
    assert not told_in_passing("What is a blob?", [])


def test_what_is_far_less_probable_does_not_tell_it() -> None:
    given = passage("If your disk is encrypted, use rescue.")
    told = passage("The encryption is made by init.")
    asked = "How do I encrypt a disk?"
    assert told_in_passing(asked, [whole(given, 0.9), whole(told, 0.3)])
    assert not told_in_passing(asked, [whole(given, 0.9), whole(told, 0.6)])
