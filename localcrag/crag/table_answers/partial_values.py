"""The words of a question that a table says in part only: a first name, a word within its cells, "this year".

What is certain of a table is accounted for as everything else is; what is not makes the match loose, so that
its answer is shown as one to be checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from localcrag.crag.table_answers.code_legends import codes_of_column, meanings_of
from localcrag.crag.table_answers.table_columns import RowCondition, UnclearError, content, meanings
from localcrag.crag.table_answers.table_names import TableNames
from localcrag.crag.table_answers.table_values import ColumnKind, root, roots, word_list
from localcrag.crag.table_answers.table_vocabulary import AUXILIARIES, FUNCTION_WORDS, KILLING_VERBS, PERSONS
from localcrag.types import Aggregate

_NAME_PART = r"[^\W\d_a-z][^\W\d_]*(?:['’-][^\W\d_]+)*"
_NAME = re.compile(rf"(?:{_NAME_PART}\.? ){{1,3}}{_NAME_PART}")
"""A name of two words or more, each with a capital: "Winifred Achebe-Holt", "B. Castellan"."""
_INITIALS = re.compile(r"[A-Z]{3,6}")
_MARKING_VERBS = frozenset(word_list("marked flagged labelled labeled tagged"))
_MIN_NAME_LETTERS = 3
_DETERMINERS = frozenset(word_list("the a an our my your his her its their this that"))
_POSSESSIVES = frozenset(word_list("his her their its"))
_CAUSES = (("due", "to"), ("owing", "to"), ("because", "of"), ("thanks", "to"))
_MAX_DESCRIBING_WORDS = 3
"""The most words that describe what a name stands for: "the Dutch boat Zeewolf"."""
_QUARTER = re.compile(r"(?<![a-z0-9])(?:q([1-4])|([1-4])q)(?![a-z0-9])", re.IGNORECASE)
_ORDINALS = word_list("first second third fourth")
_ANY_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_SUMS = frozenset({Aggregate.COUNT, Aggregate.TOTAL})
PERIOD_OF: dict[str, Callable[[date], tuple[int, ...]]] = {
    **dict.fromkeys(map(root, ("year", "jahr")), lambda day: (day.year,)),
    **dict.fromkeys(map(root, ("quarter", "quartal")), lambda day: (day.year, (day.month + 2) // 3)),
    **dict.fromkeys(map(root, ("month", "monat")), lambda day: (day.year, day.month)),
}
"""What tells apart the periods that a question may call this one."""
_MIN_RANKED_ROWS = 3
"""The fewest rows of which one is the most though no word of the table says what they are."""
_RARE_SHARE = 10
"""One row in how many may have a word before what the rows are called that is no condition."""
_MIN_LOOSE_ROWS = 2
"""The fewest rows that are counted though no word of the table says what they are."""


class PartialValues(TableNames):
    """Accounts for words of a question that counts or adds up, which cells and names have in part only."""

    def take_partial_names(self, measure: str) -> None:
        """Account for a part of the only name that has it in any cell, first or last: "Winifred".

        In a column that is not named after persons the match is then loose.
        """
        if self.question.operation not in _SUMS:
            return
        for at in self.question.open_tokens():
            column, name = self._name_with(self.tokens[at].root, measure)
            if not column or len(self.tokens[at].text) < _MIN_NAME_LETTERS:
                continue
            if any(condition.column == column for condition in self.conditions):
                raise UnclearError
            if self.denies([at]):
                raise UnclearError
            self._require(column, name)
            self.loose = self.loose or not set(self.named(column)) & PERSONS
            self.tokens[at].used = True
            self.value_spans.append((at, at + 1))

    def take_initials(self) -> None:
        """Account for words whose initials are a cell of the one column with it: "to be ordered", "TBO".

        The match is then loose. So is "marked" before any value accounted for, which is certain.
        """
        columns_of: dict[str, dict[str, None]] = {}
        for column in self.of_kind(ColumnKind.TEXT):
            for code in filter(_INITIALS.fullmatch, set(map(str.strip, self.cells(column)))):
                columns_of.setdefault(code, {})[column] = None
        for code, (column, *others) in columns_of.items():
            places = list(self._spelling(code))
            if len(places) != 1 or others or column in {c.column for c in self.conditions}:
                continue
            start, end = places[0], places[0] + len(code)
            if self.denies(range(start, end)):
                raise UnclearError
            self._require(column, code)
            self.loose = True
            self.value_spans.append((start, end))
            for token in self.tokens[start:end]:
                token.used = True
        for start, _ in self.value_spans:
            before = [at for at in range(start) if self.tokens[at].low not in FUNCTION_WORDS][-1:]
            for at in before:
                is_marking = not self.tokens[at].used and self.tokens[at].low in _MARKING_VERBS
                self.tokens[at].used = self.tokens[at].used or is_marking
                self.marked = self.marked or is_marking

    def take_meanings(self) -> None:
        """Account for what a code of a column means by its legend: "left out", X. The match is then loose.

        Raises UnclearError if two codes mean it.
        """
        words = [token.low for token in self.tokens]
        found: dict[tuple[int, int], set[tuple[str, str]]] = {}
        for column in self.of_kind(ColumnKind.TEXT) if self.question.beside else ():
            codes = codes_of_column(self.cells(column))
            told = meanings_of(self.table, column, codes, self.question.beside) if codes else ()
            for code, meaning in told:
                for at in range(len(words) - len(meaning) + 1 if meaning else 0):
                    if tuple(words[at : at + len(meaning)]) == meaning:
                        found.setdefault((at, at + len(meaning)), set()).add((column, code))
        for (start, end), meant in found.items():
            if all(self.tokens[at].used for at in range(start, end)):
                continue
            if len(meant) > 1 or self.denies(range(start, end)):
                raise UnclearError
            self._require(*next(iter(meant)))
            self.loose = True
            self.value_spans.append((start, end))
            for token in self.tokens[start:end]:
                token.used = True

    def take_modifiers(self) -> None:
        """Account for a word before what the rows are called: "library fee" is one of "Library, reminder".

        If hardly a row has it, it says no more than the table does. The match is loose in both cases.
        """
        for at in self.question.subject[:-1]:
            token = self.tokens[at]
            if token.used or token.is_number:
                continue
            texts = [[row.cells.get(c, "") for c in self.of_kind(ColumnKind.TEXT)] for row in self.rows]
            firsts = {
                n: column
                for n, cells in enumerate(texts)
                for column, cell in zip(self.of_kind(ColumnKind.TEXT), cells, strict=True)
                if "," in cell and content(cell.split(",")[0]) == (token.root,)
            }
            having = [
                n for n, cells in enumerate(texts) if any(token.root in content(cell) for cell in cells)
            ]
            if len(firsts) >= _MIN_LOOSE_ROWS and len(set(firsts.values())) == 1:
                column = next(iter(firsts.values()))
                shown = f"{self.table.header(column)} begins with {token.text}"
                self.conditions.append(RowCondition(column, shown, frozenset(firsts)))
            elif _RARE_SHARE * len(having) > len(self.rows):
                raise UnclearError
            token.used = self.loose = True

    def _require(self, column: str, text: str) -> None:
        """Take only the rows whose cell of a column is a text."""
        rows = frozenset(n for n, cell in enumerate(self.cells(column)) if cell.strip() == text)
        self.conditions.append(RowCondition(column, f"{self.table.header(column)} = {text}", rows))

    def _spelling(self, code: str) -> Iterator[int]:
        """The places from which on the initials of the words spell a code, one of them still open.

        None is a word for what is counted, or before it.
        """
        for at in range(max(self.question.subject, default=0) + 1, len(self.tokens) - len(code) + 1):
            words = self.tokens[at : at + len(code)]
            is_open = any(not word.used for word in words)
            if is_open and "".join(word.text[0] for word in words).upper() == code:
                yield at

    def _name_with(self, word: str, measure: str) -> tuple[str, str]:
        """The column and text of the one name that begins or ends with a word; "" if other cells have it."""
        if word in self._words_of_names():
            return "", ""
        found: set[tuple[str, str]] = set()
        for column in self.table.columns:
            for cell in set(self.cells(column)):
                said = content(cell)
                if word not in said:
                    continue
                is_name = _NAME.fullmatch(cell.strip()) is not None and word in (said[0], said[-1])
                if not is_name or column == measure or self.kinds[column].kind is not ColumnKind.TEXT:
                    return "", ""
                found.add((column, cell.strip()))
        return found.pop() if len(found) == 1 else ("", "")

    def _words_of_names(self) -> set[str]:
        """The words of the names of the table and of its columns."""
        names = {word for name in self.table.names for word in (*roots(name), *content(name))}
        return names | self.words_of_headers()

    def may_drop_subject(self) -> bool:
        """Whether what is counted may be called otherwise than anything in the table: "her match reports".

        Its cells must say which rows are meant by more than a name, and the words stand nowhere in the table.
        The match is then loose.
        """
        asked = self.question
        if asked.operation is not Aggregate.COUNT or asked.listing or asked.distinct or not self.value_spans:
            return False
        self._take_shared_words("", asked.subject)
        subject = [at for at in asked.subject if not self.tokens[at].used]
        known = self.words_of_headers() | self.words_in_cells()
        if any(self.tokens[at].root in known or self.tokens[at].is_number for at in subject):
            return False
        is_shared = self.tokens[asked.subject[-1]].used
        if not (is_shared or self._is_told_apart()) or len(self._met()) < _MIN_LOOSE_ROWS:
            return False
        for at in subject:
            self.tokens[at].used = True
        self.loose = True
        return True

    def may_name_rows(self, at: int) -> bool:
        """Whether the rows of which the most is asked for may be called by a word that the table has nowhere.

        The table must have another word of the question, as "most expensive software per year", and name
        each row otherwise. The match is then loose.
        """
        asked = self.question
        is_open = [place for place in asked.subject if not self.tokens[place].used] == [at]
        is_fitting = len(self.rows) >= _MIN_RANKED_ROWS and (asked.about or self.names_anything)
        if not (is_open and is_fitting):
            return False
        skipped = {*asked.superlative.split(), asked.asking, "per"} | FUNCTION_WORDS
        others = [
            token for place, token in enumerate(self.tokens) if place != at and token.low not in skipped
        ]
        cells = self.cells(self.label)
        is_named = len(set(cells)) == len(cells) and self.kinds[self.label].kind is ColumnKind.TEXT
        known = self._words_of_names() | self.words_in_cells()
        is_known = self.tokens[at].root in known or self.tokens[at].is_number
        if is_known or not is_named or not any(token.used for token in others):
            return False
        self.loose = True
        return True

    def take_unit_of_most(self, measure: str) -> None:
        """Account for what there is most of in a column that is named elsewhere; the match is then loose.

        In "the most points for the third report", "points" is what is in the column "report_3".
        """
        asked = self.question
        said = {word for token in self.tokens for word in meanings(token)}
        behind = self._behind_superlative()
        if asked.about or behind < 0 or not measure or not said >= set(self.named(measure)):
            return
        token = self.tokens[behind]
        known = self.words_of_headers() | self.words_in_cells()
        if (
            not token.used
            and not token.is_number
            and token.root not in known
            and (len(self.named(measure)) > 1 or any(other.root in KILLING_VERBS for other in self.tokens))
        ):
            token.used = self.loose = True

    def _behind_superlative(self) -> int:
        """The place of the word behind "most" or "least"; -1 if there is none."""
        words = [token.low for token in self.tokens]
        last = self.question.superlative.split()[-1:]
        at = words.index(last[0]) + 1 if last and last[0] in ("most", "least", "fewest") else -1
        return at if at < len(words) else -1

    def _is_told_apart(self) -> bool:
        """Whether two conditions, or a name of the table or column beside one, say which rows are meant."""
        names = {word for name in self.table.names for word in roots(name) if not word.isdecimal()}
        names |= {word for condition in self.conditions for word in self.named(condition.column)}
        within = {at for start, end in self.value_spans for at in range(start, end)}
        said = {token.root for at, token in enumerate(self.tokens) if at not in within}
        return (
            self.is_named_otherwise
            or len(self.conditions) > 1
            or bool(said & names)
            or any(b - a > 1 for a, b in self._plain_values())
        )

    def _plain_values(self) -> Iterator[tuple[int, int]]:
        """The places of the values that are no names."""
        texts = {cell.strip() for column in self.table.columns for cell in self.cells(column)}
        names = {content(text) for text in texts if _NAME.fullmatch(text)}
        for start, end in self.value_spans:
            if (
                tuple(token.root for token in self.tokens[start:end] if token.low not in FUNCTION_WORDS)
                not in names
            ):
                yield start, end

    def _met(self) -> list[int]:
        """The rows that meet all conditions so far."""
        return [at for at in range(len(self.rows)) if all(at in c.rows for c in self.conditions)]

    def take_rest(self, measure: str) -> None:
        """Account for what is left of a question that counts or adds up."""
        if self.question.operation not in _SUMS or self.question.listing:
            return
        self._take_unit(measure)
        self._take_causes()
        self._take_quarter()
        self._take_this_period()
        self._take_described()
        self._take_verb_of_value()
        self._take_possessives()
        self._take_shared_words(measure, self.question.open_tokens())

    def _take_unit(self, measure: str) -> None:
        """Account for the unit of what is added up: "in pounds"."""
        if measure:
            for at in self.question.open_tokens():
                token = self.tokens[at]
                token.used = at > 0 and self.tokens[at - 1].low == "in" and token.root in self.units(measure)

    def _take_causes(self) -> None:
        """Account for "due to" before a value."""
        words = [token.low for token in self.tokens]
        for at in self.question.open_tokens():
            is_before = any(start == at + 2 for start, _ in self.value_spans)
            self.tokens[at].used = is_before and tuple(words[at : at + 2]) in _CAUSES

    def _take_quarter(self) -> None:
        """Account for "first quarter" where a name of the table has it: "payments-q1"."""
        words = [token.low for token in self.tokens]
        for at in self.question.open_tokens():
            before = words[at - 1] if at else ""
            number = _ORDINALS.index(before) + 1 if before in _ORDINALS else 0
            if words[at] == "quarter" and number and self._quarters() == {number}:
                self.tokens[at - 1].used = self.tokens[at].used = True

    def _quarters(self) -> set[int]:
        found = (match for name in self.table.names for match in _QUARTER.finditer(name.replace("_", "-")))
        return {int(match[1] or match[2]) for match in found}

    def _take_this_period(self) -> None:
        """Account for "this year" or "this quarter", if all rows are of one: by their dates, or by a name.

        If that is not the present one the match is loose, as the question may be older than today.
        """
        today = date.today()
        for at in self.question.open_tokens():
            period = PERIOD_OF.get(self.tokens[at].root)
            if period is None or not at or self.tokens[at - 1].low != "this":
                continue
            columns = [self.kinds[column].values for column in self.of_kind(ColumnKind.DATE)]
            periods = {period(day) for values in columns for day in values if isinstance(day, date)}
            if len(periods) != 1 and not self._is_named_after(self.tokens[at].low):
                continue
            self.tokens[at].used = True
            self.loose = self.loose or periods != {period(today)}

    def _is_named_after(self, period: str) -> bool:
        """Whether names of the table have one period of a kind."""
        years = {year for name in self.table.names for year in _ANY_YEAR.findall(name)}
        return len(years) == 1 if period == "year" else period == "quarter" and len(self._quarters()) == 1

    def _take_described(self) -> None:
        """Account for what a name is said to be, "the Dutch boat Zeewolf"; the match is then loose."""
        known = self._words_of_names() | self.words_in_cells()
        for start, _ in self.value_spans:
            at = start - 1
            while at >= 0 and not self.tokens[at].used and self.tokens[at].root not in known:
                at -= 1
            within = range(at + 1, start)
            is_described = 0 < len(within) <= _MAX_DESCRIBING_WORDS and self.tokens[at].low in _DETERMINERS
            if is_described and at >= 0 and not any(self.tokens[place].is_number for place in within):
                self.loose = True
                for place in within:
                    self.tokens[place].used = True

    def _take_verb_of_value(self) -> None:
        """Account for what a name did, "how many nights did Pipkin stay"; the match is then loose."""
        if self.question.asking != "how many":
            return
        known = self._words_of_names() | self.words_in_cells()
        for start, end in self.value_spans:
            verb = self.tokens[end] if end < len(self.tokens) else None
            does = start and self.tokens[start - 1].low in AUXILIARIES
            if verb and does and not (verb.used or verb.is_number or verb.root in known):
                verb.used = self.loose = True

    def _take_possessives(self) -> None:
        """Account for "her" behind the value that it stands for."""
        for at in self.question.open_tokens():
            is_behind = any(end <= at for _, end in self.value_spans)
            self.tokens[at].used = self.tokens[at].low in _POSSESSIVES and is_behind

    def _take_shared_words(self, measure: str, places: Sequence[int]) -> None:
        """Account for a word in a cell of each row that meets the conditions: each is "Crossword 1407"."""
        rows = self._met()
        if not self.conditions or not rows:
            return
        columns = [column for column in self.of_kind(ColumnKind.TEXT) if column != measure]
        shared = {
            word
            for column in columns
            for word in set.intersection(*(set(content(self.rows[at].cells.get(column, ""))) for at in rows))
        }
        for at in places:
            self.tokens[at].used = self.tokens[at].used or self.tokens[at].root in shared
