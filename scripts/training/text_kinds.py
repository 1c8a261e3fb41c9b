"""Training groups of texts that no question set holds: manuals, lists, options, mail, and tables.

Their queries are of kinds that no question set holds either: headings, keywords, statements, and several
sentences at once. A section without its first sentence is what that sentence was written to introduce, so
the sentence finds it (the inverse cloze task, Lee et al. 2019, arXiv 1906.00300).
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from .data import Example, read_documents, split_sentences
from .groups import MAX_TEXT_CHARACTERS, Embed, Group, Neighbours
from .headings import HEADINGS_SET, STORY_SHARDS, is_heading
from .tables import TableGroups, read_tables
from .wording import keywords

MAX_SECTIONS = 7000
MAX_SECTIONS_A_DOCUMENT = 4
MAX_LIST_ITEMS = 7
MAX_LIST_CHARACTERS = 1200
MAX_OPTION_CHARACTERS = 300
MAX_DRESS_CHARACTERS = 200
"""What the headers, greetings and marks of mail and lists may add to a text."""
MIN_SECTION_CHARACTERS = 220
_ITEM = re.compile(r"- ([A-Za-z`][^\n:.]{2,40}?)`?(?:: | - | – | — )([^\n]{30,400})")
_OPTION = re.compile(r"--?[A-Za-z][\w-]+")
_LOOKING = (
    "I am looking for information on {}.",
    "What is known about {}?",
    "Documents about {}",
    "Anything on {}",
    "We need an overview of {}.",
    "Describe {}.",
    "{}",
    "{}",
)
_MEANING = ("What is {}?", "What does {} mean?", "{}", "Explain {}.", "{}: what is it for?")
_OPTION_ASKED = (
    "What does {option} do in {command}?",
    "{command} {option}",
    "Which option of {command}: {what}",
    "How do I tell {command}: {what}",
    "{what} {command}",
    "Which parameter {what}",
)
_PEOPLE = ("Anna Weber", "J. Okafor", "Li Na", "Support", "Maria Rossi", "Tom Hughes", "P. Novak", "Office")
_GREETINGS = ("Hi all,", "Dear colleagues,", "Hello,", "Hi,", "")
_CLOSINGS = ("Best regards,", "Thanks,", "Cheers,", "Kind regards,", "")
_DAYS = ("Mon, 4 Mar", "Tue, 12 Nov", "Wed, 19 Jun", "Thu, 2 Oct", "Fri, 24 Jan")


@dataclass(frozen=True)
class Section:
    """A part of a document under its heading: paragraphs and lists, about as long as a passage."""

    document: str
    heading: str
    text: str


@dataclass(frozen=True)
class Listed:
    """One entry of a list: a thing, its description, and the list that it stands in, by its place in it."""

    document: str
    lead: str
    entries: tuple[tuple[str, str], ...]


class TextKinds:
    """Draws groups of sections, lists, options and tables, in even shares of those that there are.

    Args:
        data: a data folder; documents held out from the headings that ask are held out here as well.
        rng: the source of what is chosen.
        embed: maps texts to unit vectors (n, d), for the semantic neighbours of sections.

    Raises DataError.
    """

    def __init__(self, data: Path, rng: random.Random, embed: Embed | None = None) -> None:
        sections: list[Section] = []
        lists: list[Listed] = []
        options: list[Listed] = []
        for title, text in read_documents(data, without=STORY_SHARDS):
            if Example(HEADINGS_SET, title, "", (), (), True).held_out:
                continue
            paragraphs = [p for p in text.split("\n\n") if p.strip()]
            own = list(_sections(title, paragraphs))
            sections += rng.sample(own, min(MAX_SECTIONS_A_DOCUMENT, len(own)))
            lists += _lists(title, paragraphs)
            options += _options(title, paragraphs)
        self._sources: list[tuple[float, Callable[[random.Random], Group]]] = []
        if len(sections) > 1:
            chosen = rng.sample(sections, min(MAX_SECTIONS, len(sections)))
            self._sources.append((0.5, _SectionGroups(chosen, rng, embed).draw))
        if len(lists) > 1:
            self._sources.append((0.17, _ListGroups(lists).draw))
        if len(options) > 1:
            self._sources.append((0.1, _OptionGroups(options).draw))
        if tables := read_tables(data):
            self._sources.append((0.23, TableGroups(tables).draw))

    def __bool__(self) -> bool:
        return bool(self._sources)

    def draw(self, rng: random.Random) -> Group:
        """One group of any of the kinds."""
        shares, draws = zip(*self._sources, strict=True)
        draw: Callable[[random.Random], Group] = rng.choices(draws, shares)[0]
        return draw(rng)


def _sections(title: str, paragraphs: Sequence[str]) -> Iterator[Section]:
    """The sections of a document; what is longer than a text of a group is cut between paragraphs."""
    heading, parts = "", list[str]()
    for paragraph in [*paragraphs, ""]:
        ends = not paragraph or is_heading(paragraph)
        if parts and (ends or sum(map(len, parts)) + len(paragraph) > MAX_TEXT_CHARACTERS - 200):
            text = "\n".join(parts)
            if MIN_SECTION_CHARACTERS <= len(text) <= MAX_TEXT_CHARACTERS:
                yield Section(title, heading, text)
            parts = []
        if ends:
            heading = paragraph.strip()
        else:
            parts.append(paragraph.strip())


def _lists(title: str, paragraphs: Sequence[str]) -> Iterator[Listed]:
    """Lists whose entries say what something is, with the line that leads to them."""
    for lead, paragraph in zip(["", *paragraphs], paragraphs, strict=False):
        entries = tuple((m[1], m[2]) for m in _ITEM.finditer(paragraph))
        if len(entries) >= 3 and len(entries) >= 0.7 * (paragraph.count("\n") + 1):
            yield Listed(title, lead.strip() if len(lead) < 300 else "", entries)


def _options(title: str, paragraphs: Sequence[str]) -> Iterator[Listed]:
    """Command-line options that a manual describes, each under its own name."""
    entries = [
        (name.strip(), text.strip())
        for name, text in pairwise(paragraphs)
        if _OPTION.fullmatch(name.strip())
        and 30 <= len(text) <= MAX_OPTION_CHARACTERS
        and not is_heading(text)
    ]
    if len(entries) >= 3:
        yield Listed(title, "", tuple(dict(entries).items()))


class _SectionGroups:
    """One query for each section: its heading, keywords, a statement of it, or several."""

    def __init__(self, sections: Sequence[Section], rng: random.Random, embed: Embed | None) -> None:
        made = [(section, *_asked(section, rng)) for section in sections]
        self._made = [each for each in made if len(each[1]) > 8 and len(each[2]) > 100]
        self._texts = [section.text for section, _, _ in self._made]
        self._near = Neighbours([query for _, query, _ in self._made], self._texts, embed)
        self._of_document: dict[str, list[int]] = defaultdict(list)
        for at, (section, _, _) in enumerate(self._made):
            self._of_document[section.document].append(at)

    def draw(self, rng: random.Random) -> Group:
        """A query with its section, its neighbours, and sometimes another section of its document."""
        at = rng.randrange(len(self._made))
        section, query, positive = self._made[at]
        document = section.document
        others = [i for i in self._near.of(at, rng) if self._made[i][0].document != document][:3]
        if rng.random() < 0.4:
            others += [i for i in self._of_document[document] if i != at][:1]
        texts = [positive, *(self._texts[i] for i in others)]
        return Group(query, tuple(texts), (1.0, *[0.0] * len(others)))


def _asked(section: Section, rng: random.Random) -> tuple[str, str]:
    """A query, and the text that it should find: the section, without the statements taken for the query."""
    sentences = split_sentences(section.text)
    roll = rng.random()
    if roll < 0.3:
        heading = section.heading if section.heading != section.document else ""
        short = len(heading.split()) < 4
        topic = f"{section.document}: {heading}" if heading and short else heading or section.document
        return rng.choice(_LOOKING).format(topic), section.text
    if roll < 0.4:
        chosen = rng.choice(sentences)
        return keywords(chosen)[:160], section.text
    if roll < 0.7 or len(sentences) < 5:
        at = 0 if rng.random() < 0.6 else rng.randrange(len(sentences))
        return sentences[at], " ".join((*sentences[:at], *sentences[at + 1 :]))
    taken = sorted(rng.sample(range(len(sentences)), rng.randint(2, 3)))
    rest = " ".join(s for i, s in enumerate(sentences) if i not in taken)
    return " ".join(sentences[i] for i in taken), rest


class _ListGroups:
    """A thing or its description, asked for, and the part of the list that has it."""

    def __init__(self, lists: Sequence[Listed]) -> None:
        self._lists = lists

    def draw(self, rng: random.Random) -> Group:
        """The part with the entry, the same part without it, and a part of another list."""
        listed, other = rng.sample(self._lists, 2)
        at = rng.randrange(len(listed.entries))
        name, description = listed.entries[at]
        if rng.random() < 0.6:
            query = rng.choice(_MEANING).format(name)
        else:
            query = f"{keywords(description)[:120]} {keywords(listed.document)}"
        rest = [i for i in range(len(listed.entries)) if i != at and listed.entries[i][0] != name]
        kept = rng.sample(rest, min(len(rest), rng.randint(1, MAX_LIST_ITEMS)))
        while len(kept) > 1 and len(_list_text(listed, (*kept, at), rng)) > MAX_LIST_CHARACTERS:
            kept.pop()
        if not kept:
            return self.draw(rng)
        texts = [
            _list_text(listed, sorted((*kept, at)), rng),
            _list_text(listed, sorted(kept), rng),
            _list_text(other, range(min(len(other.entries), len(kept) + 1)), rng),
        ]
        return Group(query, tuple(texts), (1.0, 0.0, 0.0))


def _list_text(listed: Listed, chosen: Sequence[int], rng: random.Random) -> str:
    lead = listed.lead if rng.random() < 0.7 else ""
    lines = [f"- {listed.entries[i][0]}: {listed.entries[i][1]}" for i in chosen]
    return "\n".join([*([lead] if lead else []), *lines])


class _OptionGroups:
    """A command's option, asked for by name or by what it does, in the form of a manual or of `--help`."""

    def __init__(self, commands: Sequence[Listed]) -> None:
        self._commands = commands
        self._same: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for command in commands:
            for option, description in command.entries:
                self._same[option].append((command.document, description))

    def draw(self, rng: random.Random) -> Group:
        """The option's entry, other options of the command, and the same option of another command."""
        command = rng.choice(self._commands)
        at = rng.randrange(len(command.entries))
        option, description = command.entries[at]
        what = split_sentences(description)[0].rstrip(".")
        what = what[0].lower() + what[1:]
        asked = rng.choice(_OPTION_ASKED).format(option=option, command=command.document, what=what)
        render = rng.choice((_help_text, _manual_text))
        rest = [i for i in range(len(command.entries)) if i != at]
        some = rng.sample(rest, min(len(rest), rng.randint(1, 4)))
        more = rng.randint(0, len(some) - 1)
        texts = [
            render(command.document, [command.entries[i] for i in sorted((*some[:more], at))]),
            render(command.document, [command.entries[i] for i in sorted(some)]),
        ]
        others = [(title, text) for title, text in self._same[option] if title != command.document]
        if others and option in asked and command.document in asked:
            title, text = rng.choice(others)
            texts.append(render(title, [(option, text)]))
        return Group(asked, tuple(texts), (1.0, *[0.0] * (len(texts) - 1)))


def _help_text(command: str, entries: Sequence[tuple[str, str]]) -> str:
    lines = [f"  {option:<20}  {' '.join(text.split())}" for option, text in entries]
    return "\n".join([f"usage: {command} [options]", "", *lines])


def _manual_text(command: str, entries: Sequence[tuple[str, str]]) -> str:
    return "\n".join([command, *(f"{option}\n{text}" for option, text in entries)])


def dressed(group: Group, rng: random.Random) -> Group:
    """The group with its texts as mail, as quoted mail, or as lists: all of them in the same form."""
    dress = rng.choice((_as_mail, _as_quote, _as_list))
    return Group(
        group.question, tuple(dress(text, rng)[:MAX_TEXT_CHARACTERS] for text in group.texts), group.labels
    )


def _as_mail(text: str, rng: random.Random) -> str:
    sender, recipient = rng.sample(_PEOPLE, 2)
    words = keywords(text).split()
    subject = " ".join(words[: rng.randint(2, 5)]) if rng.random() < 0.5 else "Re: your question"
    head = f"From: {sender}\nTo: {recipient}\nDate: {rng.choice(_DAYS)} 2024\nSubject: {subject}"
    body = [rng.choice(_GREETINGS), text, rng.choice(_CLOSINGS), sender]
    return "\n\n".join([head, *(part for part in body if part)])


def _as_quote(text: str, rng: random.Random) -> str:
    lines = [f"> {sentence}" for sentence in split_sentences(text)]
    return "\n".join([f"On {rng.choice(_DAYS)}, {rng.choice(_PEOPLE)} wrote:", *lines])


def _as_list(text: str, rng: random.Random) -> str:
    mark = rng.choice(("- ", "* ", "• ", ""))
    numbered = enumerate(split_sentences(text), 1)
    return "\n".join(f"{mark or f'{number}. '}{sentence}" for number, sentence in numbered)
