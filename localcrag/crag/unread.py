"""What was not read, said where it matters: under a question that found nothing."""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.errors import DamagedKnowledgeBase, StoreError
from localcrag.events import Steps, Unread
from localcrag.protocols import PassageReader
from localcrag.types import NO_TEXT, NO_TEXT_LAYER, Skipped

MAX_NAMED_SKIPS = 20
"""Skipped documents that are named in the answer; the knowledge base lists all."""
_READER_OF_IMAGES = "localcrag[ocr]"
_NO_DOCUMENTS = ("binary, ", NO_TEXT)
"""How the reasons begin of files that hold no text to be missed."""


def say_unread(store: PassageReader) -> Steps[None]:
    """Say how many documents were skipped, if there are any. What cannot be listed is not said.

    Raises DamagedKnowledgeBase if the list itself is damaged.
    """
    try:
        skipped = [item for item in store.skipped() if not item.reason.startswith(_NO_DOCUMENTS)]
    except DamagedKnowledgeBase:
        raise
    except StoreError:
        return
    if skipped:
        yield Unread(len(skipped), in_words(skipped), tuple(skipped[:MAX_NAMED_SKIPS]))


def in_words(skipped: Sequence[Skipped]) -> str:
    """A line on what was skipped: "2 scans were skipped; localcrag[ocr] reads them (…)"."""
    scans = sum(item.reason == NO_TEXT_LAYER for item in skipped)
    images = sum(_READER_OF_IMAGES in item.reason for item in skipped) - scans
    others = len(skipped) - scans - images
    kinds = [(scans, "scan"), (images, "image"), (others, "other document" if scans + images else "document")]
    named = [f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in kinds if number]
    listed = " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    line = f"{listed} {'was' if len(skipped) == 1 else 'were'} skipped"
    if scans + images:
        them = "it" if len(skipped) == 1 else "them"
        if others:
            them = "the images" if not scans else "the scans and images" if images else "the scans"
        line += f"; {_READER_OF_IMAGES} reads {them}"
    return f"{line} (localcrag kb show lists what was skipped)"
