"""Computing over a table: the answer to "how many" and "which has the most", by code and shown as such.

The answer cites the rows that it names, and says of how many rows of which document it was computed, under
which conditions, and what was left out. No model is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

from localcrag.crag.answering.citation_check import cite
from localcrag.crag.answering.computed_rows import (
    MAX_NAMED_ROWS,
    MAX_TIES,
    OWN_MARK,
    ComputedRows,
    are_few,
    below_header,
    cited_text,
    count_of,
    each_cited_once,
    figure_of,
    in_place,
    own_mark,
    rows_of,
)
from localcrag.crag.answering.document_tables import documents_of
from localcrag.crag.answering.group_results import grouped_rows, share_of
from localcrag.crag.refinement.recomposition import numbered
from localcrag.crag.state import ComputedAnswer, Outcome, QuestionState
from localcrag.crag.table_answers.day_rosters import RosterQuestion
from localcrag.crag.table_answers.document_matches import document_matches, is_told_by_cells
from localcrag.crag.table_answers.lookup_questions import LookupQuestion
from localcrag.crag.table_answers.parsed_tables import ParsedRow
from localcrag.crag.table_answers.rank_wording import place_words
from localcrag.crag.table_answers.row_labels import (
    name_beside,
    name_header,
    naming_column,
    row_name,
    shown_row,
)
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_questions import TableQuestion, generic_about
from localcrag.crag.table_answers.table_values import (
    ColumnKind,
    Value,
    column_values,
    is_missing,
)
from localcrag.crag.table_answers.total_wording import asks_for_total
from localcrag.events import Computed, Decided, Delta, Gathered, Steps, Verified
from localcrag.types import (
    Action,
    Aggregate,
    BlockKind,
    Computation,
    Hit,
    Origin,
    Passage,
    Status,
    Strip,
)

MAX_DOCUMENTS = 16
"""The most documents whose tables are looked at, of those that a search found rows of."""
MAX_LISTED_ROWS = 30
"""The most rows that are listed, all of them named and cited."""


def compute(
    state: QuestionState, question: TableQuestion | LookupQuestion, found: Sequence[Hit]
) -> Steps[ComputedAnswer | None]:
    """Compute the answer over the one table that accounts for every word of the question.

    Yields Computed and Decided if there is one. A table counts if a search found rows of its document, and
    it is the only one of them that answers; at least one of its rows must be among the best hits, unless
    another document says of its name what the question calls it, or two of its columns say which rows count.

    Args:
        state: the question and its adapters.
        question: the form of the question.
        found: the hits of its search, best first.
    """
    read = documents_of(state, _documents(found))
    passages = [passage for document in read for passage in document.passages]
    if isinstance(question, TableQuestion):
        question = replace(question, beside=[*(hit.passage for hit in found), *passages])
    elif isinstance(question, RosterQuestion):
        question = replace(question, beside=passages)
    near = {hit.passage.source for hit in found[: state.options.passages] if has_rows(hit.passage)}
    answers: dict[tuple[object, ...], tuple[ComputedAnswer, bool, bool]] = {}
    for document in read:
        for match in document_matches(question, document.tables, state.filter):
            content = tuple(tuple(row.cells.items()) for row in match.rows)
            computed = aggregated(match)
            if computed is None and match.loose:
                continue
            if computed is None:
                return None
            is_near = match.table.source in near or match.is_named or is_told_by_cells(match)
            if content not in answers or is_near:
                answers[content] = computed, is_near, match.loose
    exact = [answer for answer in answers.values() if not answer[2]] or list(answers.values())
    if isinstance(question, TableQuestion) and question.change is not None:
        exact = _agreed(exact)
    if len(exact) != 1:
        return None
    ((only, is_near, is_loose),) = exact
    if not is_near:
        return None
    state.doubtful = state.doubtful or is_loose or adds_one_row(only, state.question)
    yield Computed(only.computation)
    state.action = Action.CORRECT
    yield Decided(Action.CORRECT, state.options.policy, f"computed from {rows_of(only.computation)}")
    return only


def _agreed(answers: Sequence[tuple[ComputedAnswer, bool, bool]]) -> list[tuple[ComputedAnswer, bool, bool]]:
    """The answer over the most rows, if all have one value: a summary has the largest changes of a table.

    Those over the rows that a word of the question tells apart come before others.
    """
    answers = [answer for answer in answers if answer[0].computation.conditions] or list(answers)
    values = {answer.computation.value for answer, _, _ in answers}
    most = max(answers, key=lambda each: each[0].computation.rows, default=None)
    return [most] if most and len(values) == 1 else list(answers)


def adds_one_row(computed: ComputedAnswer, question: str) -> bool:
    """Whether the sum that a question asks for is that of a single row: others may stand elsewhere."""
    told = computed.computation
    return told.operation is Aggregate.TOTAL and told.rows == 1 and asks_for_total(question)


def show_computed(computed: ComputedAnswer, *, sure: bool) -> Steps[Outcome]:
    """Show a computed answer with its citations; ``sure`` says that the question was surely understood."""
    evidence = numbered(computed.rows)
    yield Gathered(tuple(evidence))
    yield Delta(computed.text, computed.marks)
    yield Verified(())
    return Outcome(Status.ANSWERED if sure else Status.UNSURE, tuple(map(cite, evidence)))


def _documents(found: Sequence[Hit]) -> dict[str, str]:
    """The hashes of the documents that a search found rows of, by source, best first."""
    documents: dict[str, str] = {}
    for hit in found:
        if has_rows(hit.passage) and len(documents) < MAX_DOCUMENTS:
            documents.setdefault(hit.passage.source, hit.passage.document)
    return documents


def has_rows(passage: Passage) -> bool:
    """Whether a passage of a document has rows of a table."""
    return passage.origin is Origin.DOCUMENTS and any(block.kind is BlockKind.ROW for block in passage.blocks)


# ---------------------------------------------------------------------------------- computing


def aggregated(match: TableMatch) -> ComputedAnswer | None:
    """The answer over a table; None if no row counts, or too many share the first place."""
    places = [at for at in range(len(match.rows)) if all(at in c.rows for c in match.conditions)]
    counted = [at for at in places if not match.column or match.values.values[at] is not None]
    if match.entity and match.question.operation is Aggregate.COUNT:
        counted = [at for at in places if not is_missing(match.rows[at].cells.get(match.entity, ""))]
    if match.grouping is not None:
        counted = [at for at in counted if match.grouping.labels[at]]
    if not counted:
        return None
    by_operation = {Aggregate.COUNT: _counted, Aggregate.TOTAL: _summed, Aggregate.AVERAGE: _summed}
    operation = match.question.operation
    if match.grouping is not None:
        result = grouped_rows(match, match.grouping, counted)
    elif match.share is not None:
        result = share_of(match, match.share, counted)
    else:
        result = by_operation.get(operation, _extreme)(match, counted)
    if result is None:
        return None
    passage = result.rows[0].strip.passage
    computation = Computation(
        operation=_operation_of(match),
        column=match.table.header(match.column or match.entity),
        value=result.value,
        conditions=tuple(condition.words for condition in match.conditions),
        rows=1 if match.original else len(counted),
        table_rows=len((match.original or match.table).rows),
        left_out=tuple(_left_out(match, len(places) - len(counted))),
        source=passage.source,
        page=passage.page,
        counted=match.table.counted,
    )
    strips = tuple(row.strip for row in result.rows)
    if match.original:
        return _of_one_row(computation, result.text, strips[0])
    by = f", by {match.grouping.by}" if match.grouping else ""
    made, strips = each_cited_once(f"{result.text}\n\n{_explained(computation, by)}", strips)
    text, marks = cited_text(made)
    return ComputedAnswer(computation, text, strips, marks)


def _operation_of(match: TableMatch) -> Aggregate:
    """What is said to be computed: of groups the total, the number or the average of each."""
    if match.share is not None:
        return Aggregate.SHARE
    return Aggregate.LIST if match.question.listing else match.question.operation


def _of_one_row(computation: Computation, said: str, strip: Strip) -> ComputedAnswer:
    """The answer of a table that was turned round: it cites the one row that was compared, as it stands."""
    file = PurePath(computation.source).name or computation.source
    left = f"; left out: {', '.join(computation.left_out)}" if computation.left_out else ""
    told = (
        f"{OWN_MARK.sub(own_mark(1), said)}\n\n(Computed from the row {computation.column} of {file}{left}.)"
    )
    text, marks = cited_text(told)
    return ComputedAnswer(computation, text, (strip,), marks)


def _left_out(match: TableMatch, without_value: int) -> Iterator[str]:
    """The rows that do not count, in words."""
    name = match.table.header(match.column or match.entity)
    if without_value:
        noun = "column" if match.original else "row"
        name = name if name or match.grouping is None else match.grouping.by
        yield f"{count_of(without_value, noun)} without a value of {name}"
    for condition in match.conditions:
        cells = [row.cells.get(condition.column, "") for row in match.rows]
        if missing := sum(is_missing(cell) for at, cell in enumerate(cells) if at not in condition.rows):
            yield f"{count_of(missing, 'row')} without a value of {match.table.header(condition.column)}"
    if match.totals:
        yield f"{count_of(match.totals, 'row')} of totals"


def _explained(computation: Computation, by: str = "") -> str:
    """The sentence that says how the answer was computed, and for which groups."""
    where = f" where {' and '.join(computation.conditions)}" if computation.conditions else ""
    column = f", column {computation.column}" if computation.column else ""
    left = f"; left out: {', '.join(computation.left_out)}" if computation.left_out else ""
    return f"(Computed from {rows_of(computation)}{where}{column}{by}{left}.)"


def _counted(match: TableMatch, counted: Sequence[int]) -> ComputedRows | None:
    """The number of rows, or of the different values of a column in them."""
    column = match.entity or naming_column(match.table, [match.rows[at] for at in counted])
    first: dict[str, ParsedRow] = {}
    for at in counted:
        row = match.rows[at]
        shown = row.cells.get(column, "") or shown_row(row)
        first.setdefault(shown if match.entity else f"{at} {shown}", row)
    number = len(first)
    if match.question.listing:
        return _listed(match, list(first.values()), column, are_all=number == len(counted))
    named = list(first.values())[:MAX_NAMED_ROWS]
    names = (row_name(match.table, row, column) or shown_row(row) for row in named)
    listed = ", ".join(f"{name} {own_mark(key)}" for key, name in enumerate(names, 1))
    more = f" and {number - len(named):,} more" if number > len(named) else ""
    told = below_header(name_header(match.table, column), listed)
    return ComputedRows(f"{number:,}", f"{number:,} – {told}{more}", tuple(named))


def _listed(
    match: TableMatch, rows: Sequence[ParsedRow], column: str, *, are_all: bool
) -> ComputedRows | None:
    """The names of all rows, or of the different values of a column in them; None if they are too many.

    None either if all have one name, which is what their condition says. A name has the first cell of its row
    beside it, if each name is that of one row; a code has a name there, and others have the number that is
    compared.
    """
    if len(rows) > MAX_LISTED_ROWS:
        return None
    label, compared = match.table.columns[0], _compared_column(match) if are_all else ""
    names = [row_name(match.table, row, column) or shown_row(row) for row in rows]
    if len(set(names)) == 1 < len(names):
        return None
    is_numbered = bool(compared) and column_values(match.table.cells(label)).kind is ColumnKind.NUMBER
    if are_all and column != label and not is_numbered:
        labels = [row.cells.get(label, "") for row in rows]
        names = [f"{name} ({cell})" if cell else name for name, cell in zip(names, labels, strict=True)]
    elif are_all and column == label:
        beside = [name_beside(match.table, row) for row in rows]
        names = [f"{name} ({cell})" if cell else name for name, cell in zip(names, beside, strict=True)]
    figures = [row.cells.get(compared, "") for row in rows]
    shown = [
        f"{name} ({figure})" if figure and not name.endswith(")") else name
        for name, figure in zip(names, figures, strict=True)
    ]
    listed = ", ".join(f"{name} {own_mark(key)}" for key, name in enumerate(shown, 1))
    return ComputedRows("; ".join(names), below_header(name_header(match.table, column), listed), tuple(rows))


def _compared_column(match: TableMatch) -> str:
    """The one column whose numbers are compared; "" without one."""
    bounds = [condition.number for condition in match.question.conditions]
    is_compared = bool(bounds) and None not in bounds
    columns = {condition.column for condition in match.conditions} if is_compared else set()
    numbers = [each for each in columns if column_values(match.table.cells(each)).kind is ColumnKind.NUMBER]
    return numbers[0] if len(numbers) == 1 else ""


def _summed(match: TableMatch, counted: Sequence[int]) -> ComputedRows | None:
    """The total or the average of a column."""
    operation = match.question.operation
    said = figure_of(match, counted)
    rows = [match.rows[at] for at in counted]
    named = rows if are_few(row.strip for row in rows) else rows[:1]
    keys = "".join(own_mark(key) for key in range(1, len(named) + 1))
    first_only = " (the first of them)" if len(named) < len(rows) else ""
    text = f"The {operation} of {match.table.header(match.column)}: {said} {keys}{first_only}"
    return ComputedRows(said, text, tuple(named))


def _extreme(match: TableMatch, counted: Sequence[int]) -> ComputedRows | None:
    """The rows with the highest or the lowest values; None if too many share a place.

    Of many that share the first place some are named if it is the value that is asked for.
    """
    asked = match.question

    def value_of(at: int) -> Value:
        value = match.values.values[at]
        assert value is not None
        return value

    ranked = sorted(counted, key=value_of, reverse=asked.highest)
    count = asked.count or len(ranked)
    if count > MAX_LISTED_ROWS:
        return None
    last = value_of(ranked[min(count, len(ranked)) - 1])
    chosen = [at for place, at in enumerate(ranked) if place < count or value_of(at) == last]
    if asked.place > 1:
        at_place = in_place(list(map(value_of, ranked)), asked.place)
        chosen = [] if at_place is None else [ranked[at_place]]
    if (len(chosen) == len(ranked) > 1 and count == 1) or not chosen:
        return None
    are_many = len(chosen) > count + MAX_TIES - 1
    if are_many and not (asked.asking == "what" and count == 1 and not match.entity):
        return None
    rows = [match.rows[at] for at in (chosen[:MAX_TIES] if are_many else chosen)]
    lines: dict[str, list[int]] = {}
    for key, row in enumerate(rows, 1):
        lines.setdefault(_winner(match, row), []).append(key)
    text = "\n".join(f"{line} {''.join(map(own_mark, keys))}" for line, keys in lines.items())
    text += f"\nand {len(chosen) - len(rows):,} more" if are_many else ""
    value = "; ".join(dict.fromkeys(row.cells[match.column] for row in rows))
    return ComputedRows(value, text, tuple(rows))


def _winner(match: TableMatch, row: ParsedRow) -> str:
    """A row with the highest or lowest value, in words."""
    asked, table = match.question, match.table
    superlative = place_words(asked.place) + asked.superlative.replace("recently", "recent")
    label = table.columns[0]
    named = match.entity or label
    who = _with_header(match, named, row)
    if not match.entity and (name := name_beside(match.table, row)):
        who = f"{who} ({name})"
    other = row.cells.get(label, "") if named != label and match.column != label else ""
    value = f"{table.header(match.column)} {row.cells[match.column]}"
    value = f"{value} ({other})" if other else value
    if asked.count != 1:
        return f"{who}: {value}"
    if match.column == named:
        return f"The {superlative}: {value}"
    if asked.asking in ("which", "who") or match.entity:
        is_so = bool(asked.about or generic_about(asked.superlative)) and not asked.says_has
        verb = "is" if is_so else "has"
        return f"{who} {verb} the {superlative}: {value}"
    return f"The {superlative}: {value}, for {who}"


def _with_header(match: TableMatch, column: str, row: ParsedRow) -> str:
    """A cell that names a row, with the name of its column if the cell is only a number or a date."""
    cell = row_name(match.table, row, column) or shown_row(row)
    kind = match.values.kind if column == match.column else None
    bare = cell.replace(".", "").replace("-", "").isdigit() or kind in (ColumnKind.DATE, ColumnKind.TIME)
    return f"{match.table.header(column)} {cell}".lstrip() if bare else cell
