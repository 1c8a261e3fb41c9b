"""What was not read, said where it matters: under a question that found nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from localcrag.errors import DamagedKnowledgeBase, StoreError
from localcrag.events import Steps, Unread
from localcrag.protocols import PassageReader
from localcrag.types import NO_TEXT, NO_TEXT_LAYER, Skipped

MAX_NAMED_SKIPS = 20
"""Skipped documents that are named in the answer; the knowledge base lists all."""
_SCAN, _OTHER = "scan", "other document"
_KINDS_OF_EXTRA = {"localcrag[ocr]": "image", "localcrag[old-office]": "old Office document"}
"""What the extras read that a reason may name."""
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
    extras = [_extra_of(item.reason) for item in skipped]
    numbers = Counter(map(_kind_of, skipped, extras))
    kinds = sorted(numbers, key=[_SCAN, *_KINDS_OF_EXTRA.values(), _OTHER].index)
    others = numbers[_OTHER]
    listed = _listed([_counted(numbers[kind], kind if len(kinds) > 1 else _plain(kind)) for kind in kinds])
    line = f"{listed} {'was' if len(skipped) == 1 else 'were'} skipped"
    if needed := [extra for extra in _KINDS_OF_EXTRA if extra in extras]:
        readable = [f"{kind}s" for kind in kinds if kind != _OTHER]
        them = f"the {_listed(readable)}" if others else "it" if len(skipped) == 1 else "them"
        line += f"; {_listed(needed)} {'reads' if len(needed) == 1 else 'read'} {them}"
    return f"{line} (localcrag kb show lists what was skipped)"


def _extra_of(reason: str) -> str:
    """The extra that would read what was skipped for a reason; "" if none does."""
    return next((extra for extra in _KINDS_OF_EXTRA if extra in reason), "")


def _kind_of(item: Skipped, extra: str) -> str:
    """What kind of document was skipped."""
    return _SCAN if item.reason == NO_TEXT_LAYER else _KINDS_OF_EXTRA.get(extra, _OTHER)


def _plain(kind: str) -> str:
    """The kind of documents beside which there are no others."""
    return kind.removeprefix("other ")


def _counted(number: int, noun: str) -> str:
    """A number of things: "2 scans"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _listed(parts: Sequence[str]) -> str:
    """Some words as a list: "2 scans, 1 image and 3 other documents"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
