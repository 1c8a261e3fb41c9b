"""Questions that headings of manuals imply, with their sections: "Adding an entry" tells how to add one.

A manual says in its headings what its readers want to do. A heading becomes a question ("How do I add an
entry?"), some of whose words are exchanged for others of the same meaning; the section below it answers. Half
of the groups are read without any headings, so that what the text says must tell. Nobody labelled anything,
and the texts are those that the product makes of the documents.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from localcrag.crag.questions.query_terms import STOP_WORDS
from localcrag.crag.refinement.knowledge_strips import strips_of_block
from localcrag.crag.refinement.strip_context import lead_in
from localcrag.documents import LocalCorpus
from localcrag.embedding.embedder import SentenceTransformerEmbedder
from localcrag.types import NO_META, BlockKind, Passage, Skipped, Strip

from .data import DataError, Example
from .groups import MAX_TEXT_CHARACTERS, Embed, Group, Neighbours
from .labelled_documents import TITLE_SHARE, judged_passage, judged_strip

HOW_TO_SET = "manuals"
NEGATIVE_STRIPS, NEGATIVE_PASSAGES = 7, 4
PASSAGE_GROUP_SHARE = 0.55
HEADED_SHARE = 0.5
"""The share of groups whose texts stand below their headings."""
PRODUCT_SHARE = 0.2
"""The share of questions that name what the manual is of."""
FIRST_STRIPS = 3
"""The strips at the beginning of a section of which one is the positive."""
MAX_QUESTIONS_A_DOCUMENT = 25
MAX_DOCUMENTS = 2
"""A heading of more documents than this ("Activate the command") says nothing by itself."""
MIN_WORDS, MAX_WORDS = 2, 12
MIN_VERB_COUNT, MIN_VERB_SHARE = 5, 0.12
"""How often a word must stand after "to" to be taken for a verb, and in what share of its places."""
POOLED_STRIPS = 6
"""The strips of a section from its beginning that negatives are drawn from."""
_JOINED_VERB = re.compile(r"\b(and|or) (\w{3,}ing)\b", re.IGNORECASE)
_TO = re.compile(r"\bto ([a-z]{2,})\b")
_WORD = re.compile(r"[A-Za-z][\w'’-]*")
_NUMBERING = re.compile(r"^(?:(?:chapter|section|part|appendix)\s+)?[\dA-Z]{0,2}(?:\.\d+)*[.)]?\s+(?=[A-Z])")
_ASKED = (
    "How do I {}?",
    "How do I {}?",
    "How do I {}?",
    "How can I {}?",
    "How to {}",
    "What must I do to {}?",
    "Is there a way to {}?",
    "I want to {}",
    "{}",
)
_VERBS_ALIKE = (
    ("create", "make", "set up"),
    ("add", "insert", "put in"),
    ("remove", "delete", "get rid of"),
    ("change", "modify", "edit", "adjust"),
    ("display", "show", "see", "view"),
    ("configure", "set up"),
    ("start", "launch", "run"),
    ("stop", "end", "quit"),
    ("choose", "select", "pick"),
    ("find", "locate", "look for"),
    ("enable", "turn on", "switch on", "activate"),
    ("disable", "turn off", "switch off", "deactivate"),
    ("use", "work with"),
    ("save", "store", "keep"),
    ("restrict", "limit"),
    ("prevent", "avoid"),
    ("download", "fetch", "get"),
    ("check", "verify", "test"),
    ("fix", "repair", "solve"),
    ("rename", "give another name to"),
    ("resize", "change the size of"),
    ("copy", "duplicate"),
)
_WORDS_ALIKE = (
    ("folder", "directory"),
    ("folders", "directories"),
    ("picture", "image", "photo"),
    ("pictures", "images", "photos"),
    ("message", "mail", "e-mail"),
    ("messages", "mails", "e-mails"),
    ("computer", "machine"),
    ("preferences", "settings", "options"),
    ("document", "file"),
    ("package", "program"),
    ("packages", "programs"),
    ("automatically", "by itself"),
    ("multiple", "several", "many"),
)


def _substitutes(rows: Sequence[Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {word: tuple(other for other in row if other != word) for row in rows for word in row}


_VERB_SUBSTITUTES, _WORD_SUBSTITUTES = _substitutes(_VERBS_ALIKE), _substitutes(_WORDS_ALIKE)
EXCHANGED_SHARE = 0.5
"""The share of the words with others of the same meaning that are exchanged."""


@dataclass(frozen=True)
class Section:
    """The part of a document below one heading.

    Attributes:
        product: what the manual is of: the name of the folder of its document.
        document: the name of the document.
        heading: the heading.
        passages: the passages that the section begins in and goes on in.
        strips: its strips, in order.
    """

    product: str
    document: str
    heading: str
    passages: tuple[Passage, ...]
    strips: tuple[Strip, ...]

    @cached_property
    def places(self) -> frozenset[str]:
        """The ids of its passages."""
        return frozenset(passage.id for passage in self.passages)


def read_manuals(folder: Path) -> list[Section]:
    """The sections of all documents below a folder, whose own folders have the names of what they are of.

    Documents held out from training are left out. Raises DataError if there are none.
    """
    corpus = LocalCorpus(SentenceTransformerEmbedder().folder / "tokenizer.json")
    found = [file for file in corpus.discover([str(folder)]) if not isinstance(file, Skipped)]
    sections: list[Section] = []
    for result in corpus.read_all([(file, NO_META) for file in found]):
        name = Path(result.source).relative_to(folder.resolve())
        held_out = Example(HOW_TO_SET, str(name), "", (), (), True).held_out
        if not held_out:
            sections += _sections(name.parts[0], str(name), getattr(result, "passages", ()))
    if not sections:
        raise DataError(f"{folder}: no documents with headings")
    return sections


def _sections(product: str, document: str, passages: Sequence[Passage]) -> Iterator[Section]:
    heading, within, cut = "", list[Passage](), list[Strip]()
    for passage in passages:
        for block in passage.blocks:
            if block.kind is BlockKind.HEADING:
                if heading and cut:
                    yield Section(product, document, heading, tuple(within), tuple(cut))
                heading = " ".join(passage.text_between(block.start, block.end).split())
                within, cut = [], []
            elif found := strips_of_block(passage, block):
                cut += found
                if not within or within[-1] is not passage:
                    within.append(passage)
    if heading and cut:
        yield Section(product, document, heading, tuple(within), tuple(cut))


class Wording:
    """What the words of manuals are: which are verbs, and which are names.

    Args:
        texts: the texts of the manuals.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._verbs: Counter[str] = Counter()
        self._lower: Counter[str] = Counter()
        for text in texts:
            self._verbs.update(_TO.findall(text))
            self._lower.update(word for word in _WORD.findall(text) if word.islower())
        for word in STOP_WORDS:
            del self._verbs[word]

    def wish(self, heading: str) -> str:
        """What a heading says that one may want to do, "add an entry"; "" if it says nothing of the kind."""
        words = _NUMBERING.sub("", heading).strip(" .:¶").split()
        if [word.casefold() for word in words[:2]] == ["how", "to"]:
            words = words[2:]
        if not MIN_WORDS <= len(words) <= MAX_WORDS or words[1].casefold() == "also":
            return ""
        verb = self._verb(words[0].lower())
        rest = " ".join(map(self._plain, words[1:]))
        rest = _JOINED_VERB.sub(lambda found: f"{found[1]} {self._verb(found[2].lower()) or found[2]}", rest)
        return re.sub(r"\b[Yy]our\b", "my", f"{verb} {rest}") if verb else ""

    def _verb(self, word: str) -> str:
        """The base form of a verb that a heading begins with, "adding" or "add"; "" if it is none."""
        if not word.endswith("ing"):
            is_verb = self._verbs[word] >= max(MIN_VERB_COUNT, MIN_VERB_SHARE * self._lower[word])
            return word if is_verb else ""
        stem = word[:-3]
        forms = [stem, f"{stem}e", stem[:-1] if stem[-1:] == stem[-2:-1] else stem]
        best = max(forms, key=lambda form: self._verbs[form])
        return best if self._verbs[best] >= MIN_VERB_COUNT else ""

    def _plain(self, word: str) -> str:
        """A word of a heading as it stands in a sentence: names keep their capitals."""
        lower = word.lower()
        capital = word[:1].isupper() and word[1:] == lower[1:]
        return lower if capital and self._lower[lower.strip(".,()")] >= MIN_VERB_COUNT else word


class HowToGroups:
    """Draws groups of passages and of strips of manuals, for the questions that their headings imply.

    Args:
        sections: the sections of the manuals.
        rng: the source of what is chosen.
        embed: maps texts to unit vectors (n, d), for the semantic neighbours.
    """

    def __init__(self, sections: Sequence[Section], rng: random.Random, embed: Embed | None = None) -> None:
        wording = Wording([strip.text for section in sections for strip in section.strips])
        documents: dict[str, set[str]] = {}
        for section in sections:
            documents.setdefault(section.heading.casefold(), set()).add(section.document)
        wishes = [
            (section, wording.wish(section.heading))
            for section in sections
            if len(documents[section.heading.casefold()]) <= MAX_DOCUMENTS
        ]
        asking = [
            (section, wish)
            for section, wish in wishes
            if wish or (section.heading.endswith("?") and len(section.heading.split()) > MIN_WORDS)
        ]
        rng.shuffle(asking)
        taken: Counter[str] = Counter()
        self._asked: list[tuple[Section, str]] = []
        for section, wish in asking:
            taken[section.document] += 1
            if taken[section.document] <= MAX_QUESTIONS_A_DOCUMENT:
                self._asked.append((section, wish))
        known = {p.id: p for section in sections for p in section.passages}
        self._passages = list(known.values())
        self._strips = [(section, strip) for section in sections for strip in section.strips[:POOLED_STRIPS]]
        queries = [wish or section.heading for section, wish in self._asked]
        self._near_passages = Neighbours(queries, [judged_passage(each) for each in self._passages], embed)
        self._near_strips = Neighbours(queries, [judged_strip(each) for _, each in self._strips], embed)

    def __len__(self) -> int:
        return len(self._asked)

    def draw(self, rng: random.Random) -> Group:
        """One group of either kind."""
        while True:
            at = rng.randrange(len(self._asked))
            headed, titled = rng.random() < HEADED_SHARE, rng.random() < TITLE_SHARE
            make = self._of_passages if rng.random() < PASSAGE_GROUP_SHARE else self._of_strips
            texts = make(at, headed, titled, rng)
            if len(texts) > 1:
                return Group(self._question(at, rng), tuple(texts), (1.0, *[0.0] * (len(texts) - 1)))

    def _question(self, at: int, rng: random.Random) -> str:
        section, wish = self._asked[at]
        if not wish:
            return _NUMBERING.sub("", section.heading)
        worded = exchanged(wish, rng)
        if rng.random() < PRODUCT_SHARE:
            worded += f" {rng.choice(('in', 'with'))} {section.product}"
        return rng.choice(_ASKED).format(worded)

    def _of_passages(self, at: int, headed: bool, titled: bool, rng: random.Random) -> list[str]:
        section, _ = self._asked[at]

        def read(passage: Passage) -> str:
            return judged_passage(passage, titled) if headed else _without_headings(passage)

        near = (self._passages[i] for i in self._near_passages.of(at, rng))
        others = [read(passage) for passage in near if passage.id not in section.places]
        return _distinct([read(section.passages[0]), *others], 1 + NEGATIVE_PASSAGES)

    def _of_strips(self, at: int, headed: bool, titled: bool, rng: random.Random) -> list[str]:
        section, _ = self._asked[at]

        def read(strip: Strip) -> str:
            return judged_strip(strip, titled) if headed else _without_heading(strip)

        near = (self._strips[i] for i in self._near_strips.of(at, rng))
        others = [read(strip) for other, strip in near if other.heading != section.heading]
        positive = rng.choice(section.strips[: 1 if rng.random() < 0.5 else FIRST_STRIPS])
        return _distinct([read(positive), *others], 1 + NEGATIVE_STRIPS)


def exchanged(wish: str, rng: random.Random) -> str:
    """A wish with its verb, and some of its words, exchanged for others of the same meaning."""
    verb, *rest = wish.split()
    found = [(verb, _VERB_SUBSTITUTES), *((word, _WORD_SUBSTITUTES) for word in rest)]
    return " ".join(
        rng.choice(known[word]) if word in known and rng.random() < EXCHANGED_SHARE else word
        for word, known in found
    )


def _without_headings(passage: Passage) -> str:
    kept = (block for block in passage.blocks if block.kind is not BlockKind.HEADING)
    text = "\n\n".join(passage.text_between(block.start, block.end) for block in kept)
    return text[:MAX_TEXT_CHARACTERS]


def _without_heading(strip: Strip) -> str:
    lead = lead_in(strip)
    return f"{lead.text} {strip.text}"[:MAX_TEXT_CHARACTERS] if lead else strip.text[:MAX_TEXT_CHARACTERS]


def _distinct(texts: Sequence[str], count: int) -> list[str]:
    """The first texts that are all different, the positive one in front."""
    return list(dict.fromkeys(texts))[:count]
