"""The words of a question that name the table itself, or say no more than that something has something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import takewhile

from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.parts_of_cells import PartsOfCells
from localcrag.crag.table_answers.season_years import season_of, seasons_of, without_seasons
from localcrag.crag.table_answers.table_columns import content
from localcrag.crag.table_answers.table_conditions import is_akin
from localcrag.crag.table_answers.table_values import WORD, ColumnKind, root, roots, word_list
from localcrag.crag.table_answers.table_vocabulary import (
    ASSIGNED_WORDS,
    DATA_WORDS,
    DOCUMENT_KINDS,
    EVERYBODY,
    FUNCTION_WORDS,
    KILLING_VERBS,
    LIGHT_VERBS,
    PERSONS,
    PRONOUNS,
    RECORDING_VERBS,
    WHOLE_WORDS,
)
from localcrag.types import Aggregate

_LISTING = re.compile(r"[,&/+]|\band\b|\bor\b")
"""A part of a name that lists several things, of which a question may mean one."""
_PART_BREAK = re.compile(r"\s[-–—|]\s|[:;()]")
"""What stands between the parts of a name: "Halden Foods - prices and lead times (EUR)"."""
_NUMBERED_END = re.compile(r"(?<=[^\W\d_])(?=\d)")
"""Between a word and the number that is written to it: "ward6"."""
_FILE_NAME = re.compile(r"[^\W_]+(?:-[^\W_]+)+")
"""The name of a file whose words are joined: "menu-wk41"."""
_SPEND = frozenset(map(root, word_list("spend pay")))
"""Verbs that say no more of the most of a column than that it is money: "spend most on rent"."""
_VERSION = re.compile(r"\b(?:rev(?:ision)?|version)\b\.? ?[^\W_]{1,4}\b", re.IGNORECASE)
"""A part of a name that says which version the table is, whatever else the name lists."""
_BEFORE_NAME = frozenset(word_list("the our my this for in at"))
"""The words before what a question calls something that has a name."""
MIN_PROPER_LETTERS = 4
"""The fewest letters of a word of a table's name that another document may say more of."""
MIN_JOINED_LETTERS = 5
"""The fewest letters of a word that another one in a name of the table ends with."""
MIN_PHRASE_WORDS = 2
"""The fewest words of a phrase that names the table though one of them stands in cells as well."""


class TableNames(PartsOfCells):
    """Accounts for the words of a question that stand in the names of the table."""

    def take_names(self) -> None:
        """Account for words of the table's names, of its file and of its document's title.

        A word that occurs in cells is a condition that was not understood, unless the words beside it stand
        beside it in a name as well. So is one of several things or years that a name lists. A "schedule" is
        a plan as well, and any table is "the data".
        """
        parts = [part for name in self.table.names for part in _PART_BREAK.split(name)]
        versions = [found[0] for part in parts for found in _VERSION.finditer(part)]
        parts = [*(part for part in parts if not _LISTING.search(without_seasons(part))), *versions]
        self._take_phrases(parts)
        self._take_participles()
        self._take_whole(parts)
        within = self.words_in_cells()
        known = {word for name in (*parts, self.table.prefix) for word in (*roots(name), *content(name))}
        known |= {season for part in parts for season in seasons_of(part)}
        known |= {word for kinds in DOCUMENT_KINDS if kinds & known for word in kinds}
        known |= DATA_WORDS - {
            word for column in self.table.columns for word in roots(self.table.wording(column))
        }
        for at in self.question.open_tokens():
            token = self.tokens[at]
            is_one_of_years = token.is_number and len(self._numbers_in_names) > 1
            is_done = token.low.endswith("ed") and any(is_akin(token.root, word) for word in known)
            is_adjective = token.text[0].isupper() and any(is_akin(token.root, word) for word in known)
            is_joined = "-" in token.text and root(token.text.replace("-", "")) in known
            is_known = (
                token.root in known or is_joined or is_done or is_adjective or season_of(token.text) in known
            ) or ends_name(token.low, self.table)
            token.used = is_known and token.root not in within and not is_one_of_years
        self._take_rest_of_names()

    def _take_rest_of_names(self) -> None:
        """Account for a word with a capital behind one of a name: "the Crimean War".

        The match is then loose.
        """
        named = {word for name in self.table.names for word in roots(name)}
        for at in self.question.open_tokens():
            before = self.tokens[at - 1] if at else None
            token = self.tokens[at]
            follows = (
                before is not None and before.used and before.text[0].isupper() and token.text[0].isupper()
            )
            if (
                before
                and follows
                and any(is_akin(before.root, word) or before.root == word for word in named)
            ):
                token.used = self.loose = True

    def take_other_names(self) -> None:
        """Account for what another document calls that which the table is named after; the match is loose.

        A table "register-larkfield" is that "of the school" if a document speaks of "Larkfield School".
        """
        stems = {word for name in self.table.names for word in WORD.findall(name)}
        known = {word for name in self.table.names for word in roots(name)} | self.words_in_cells()
        proper = [word for word in stems if len(word) >= MIN_PROPER_LETTERS and word.isalpha()]
        places = [at for at in self.question.open_tokens() if self.tokens[at].root not in known]
        places = [at for at in places if at and self.tokens[at - 1].low in _BEFORE_NAME]
        if not proper or not places:
            return
        names = re.compile(
            rf"\b(?i:{'|'.join(map(re.escape, proper))})((?:[ \t]+[^\W\d_a-z][\w'’-]*){{1,3}})"
        )
        texts = (found[1] for passage in self.question.beside for found in names.finditer(passage.text))
        said = {word for text in texts for word in roots(text)}
        for at in places:
            if self.tokens[at].root in said:
                self.tokens[at].used = self.loose = self.is_named_otherwise = True

    def _take_whole(self, parts: Sequence[str]) -> None:
        """Account in a sum for "the whole Porto trip", if a name of the table has a word of it.

        No row is left out then, though cells have its words as well. The match is loose: one word may stand
        nowhere in the table, and other tables of the document may be parts of the whole.
        """
        if self.question.operation not in (Aggregate.COUNT, Aggregate.TOTAL):
            return
        named = {word for part in parts for word in (*roots(part), *content(part)) if not word.isdecimal()}
        for at in self.question.open_tokens():
            if self.tokens[at].low not in WHOLE_WORDS:
                continue
            behind = takewhile(lambda n: not self.tokens[n].used, range(at + 1, len(self.tokens)))
            places = [place for place in behind if not self.tokens[place].is_number]
            said = {self.tokens[place].root for place in places}
            known = named | self.words_in_cells()
            if said & named and len(said - known) <= 1:
                self.loose = True
                for place in (at, *places):
                    self.tokens[place].used = True

    def _take_participles(self) -> None:
        """Account in a sum for a participle before a value, "windows facing the quay".

        The match is then loose.
        """
        if self.question.operation not in (Aggregate.COUNT, Aggregate.TOTAL):
            return
        known = self.words_in_cells() | {word for name in self.table.names for word in roots(name)}
        for start, _ in self.value_spans:
            at = start - 1
            while at > 0 and self.tokens[at].low in FUNCTION_WORDS:
                at -= 1
            token = self.tokens[at] if at > 0 else None
            if token and not token.used and token.low.endswith(("ing", "ed")) and token.root not in known:
                token.used = self.loose = True

    @cached_property
    def _numbers_in_names(self) -> set[str]:
        numbers = (word for name in self.table.names for word in roots(without_seasons(name)))
        seasons = {season for name in self.table.names for season in seasons_of(name)}
        return {word for word in numbers if word.isdecimal()} | seasons

    def _take_phrases(self, parts: Sequence[str]) -> None:
        """Account for two words or more that stand side by side in a part of a name, and in no cell."""
        places = [at for at, token in enumerate(self.tokens) if token.low not in FUNCTION_WORDS]
        named = [words for part in parts for words in _spellings(part)]
        for length in range(len(places), MIN_PHRASE_WORDS - 1, -1):
            for first in range(len(places) - length + 1):
                within = places[first : first + length]
                said = tuple(self.tokens[at].root for at in within)
                is_new = not all(self.tokens[at].used for at in within)
                if (
                    is_new
                    and any(self._is_in_name(said, words) for words in named)
                    and self._is_in_no_cell(said)
                ):
                    for at in within:
                        self.tokens[at].used = True

    def _is_in_name(self, said: tuple[str, ...], words: tuple[str, ...]) -> bool:
        """Whether words stand side by side in a name, with none of several numbers or years."""
        numbers = {word for word in words if word.isdecimal()} | self._numbers_in_names
        return _holds(words, said) and (len(numbers) < 2 or not numbers & set(said))

    def _is_in_no_cell(self, said: tuple[str, ...]) -> bool:
        columns = self.of_kind(ColumnKind.TEXT)
        cells = (cell for column in columns for cell in self.cells(column))
        return not any(_holds(words, said) for cell in cells for words in _spellings(cell))

    def take_all_of(self) -> None:
        """Account for words that leave no row out: "in all sizes", in a total "on jobs", "by everybody".

        The first is the name of a column, the second that of the one whose cells name the rows.
        """
        total = self.question.operation in (Aggregate.TOTAL, Aggregate.AVERAGE)
        everybody = EVERYBODY if total else frozenset()
        for at in self.question.open_tokens():
            word = (self.tokens[at].root,)
            is_after_all = bool(at) and self.tokens[at - 1].low == "all"
            is_of_all = is_after_all and any(self.named(column) == word for column in self.table.columns)
            is_rows = total and self.tokens[at].low.endswith("s") and self.named(self.label) == word
            is_person = self.question.operation is Aggregate.AVERAGE and self.tokens[at].root in PERSONS
            if is_person and not PERSONS.isdisjoint(self.named(self.label)):
                is_rows = self.loose = True
            self.tokens[at].used = is_of_all or is_rows or self.tokens[at].low in everybody
        if self.question.costing and self.conditions:
            self._take_all_things()

    def _take_all_things(self) -> None:
        """Account for what is nowhere in the table behind "all the", of which the cost is asked.

        The match is then loose.
        """
        words = [token.low for token in self.tokens]
        headers = {word for column in self.table.columns for word in roots(self.table.wording(column))}
        known = headers | self.words_in_cells()
        for at in self.question.open_tokens():
            before = [word for word in words[max(0, at - 2) : at] if word != "the"][-1:]
            if before == ["all"] and self.tokens[at].root not in known:
                self.tokens[at].used = self.loose = True

    def take_light_verbs(self) -> None:
        """Account for a verb that says no more than "has": "which company offers the longest guarantee".

        So does any verb of whoever asks in a total: "how many kilometres in total did we paddle", and one
        that only says that its rows were written down: "how many hours were booked in total". So it is of the
        hours of a log that are counted. Whoever is "down for the desk" stands in the rows that count.
        """
        headers = {word for column in self.table.columns for word in roots(self.table.wording(column))}
        known = headers | self.words_in_cells()
        adds_up = self.question.in_total or self.adds_log
        for at in self.question.open_tokens():
            token = self.tokens[at]
            is_own = bool(at) and adds_up and self.tokens[at - 1].low in PRONOUNS
            is_recorded = adds_up and token.low in RECORDING_VERBS
            is_spent = self.question.operation is Aggregate.HIGHEST and token.root in _SPEND
            is_assigned = token.low in ASSIGNED_WORDS and any(end == at for _, end in self.value_spans)
            is_killing = self.question.operation is Aggregate.HIGHEST and token.root in KILLING_VERBS
            self.loose = self.loose or (is_killing and token.root not in known)
            is_light = (
                is_killing or token.low in LIGHT_VERBS or is_own or is_recorded or is_spent or is_assigned
            )
            token.used = is_light and token.root not in known

    def is_about(self, verb: str) -> bool:
        """Whether a name of the table or of a column says what a verb says: "claims", "Amount claimed"."""
        names = (*self.table.names, *map(self.table.header, self.table.columns))
        return any(word.startswith(verb) for name in names for word in content(name))


def ends_name(word: str, table: ParsedTable) -> bool:
    """Whether a word ends one that a name of the table joins: "crime" of "statecrime"."""
    singular = word.removesuffix("s")
    joined = (part.removesuffix("s") for name in table.own_names for part in WORD.findall(name.lower()))
    return len(singular) >= MIN_JOINED_LETTERS and any(
        part != singular and part.endswith(singular) for part in joined
    )


def _spellings(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of a text as it is written, and with the numbers at their ends apart: "ward6", "ward 6"."""
    apart = _NUMBERED_END.sub(" ", text.replace("-", " ") if _FILE_NAME.fullmatch(text) else text)
    return (content(text), content(apart)) if apart != text else (content(text),)


def _holds(words: Sequence[str], some: Sequence[str]) -> bool:
    """Whether some words stand side by side among others."""
    length = len(some)
    return any(words[at : at + length] == some for at in range(len(words) - length + 1))
