"""The complete check of a knowledge base: files, tables, texts, passages and search indexes.

Every file is compared with its checksum, every table is read to its last row, the rows that belong together
are compared, and the indexes are asked for passages that are known to be there. Nothing is changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from localcrag.errors import StoreError
from localcrag.store import checksums, sql
from localcrag.store.arrow_rows import UNFINISHED_HASH, pages_of, vectors_of
from localcrag.store.journal import Journal
from localcrag.store.kb_record import RECORD_FILE, record_in, remake_hint, shown_name
from localcrag.store.lost_documents import LostDocuments, reread_hint
from localcrag.store.source_roots import ROOTS_FILE, SourceRoots, SourceRootsFile
from localcrag.store.store_faults import StoreFault, store_faults
from localcrag.store.tables import PASSAGE_KEYS, QUESTION_KEYS, match_query, open_table
from localcrag.store.write_lock import try_lock
from localcrag.types import Mending, StoreProblem

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

TABLE_NAMES = ("documents", "texts", "passages")
"""The tables that every knowledge base has."""
QUESTIONS = "questions"
DOCUMENTS_PER_STEP = 64
"""Documents whose texts and passages are compared at a time."""
COMPARED_COLUMNS = [
    *("source", "ordinal", "document", "digest", "title", "heading"),
    *("page", "start", "stop", "prefix", "lexical"),
]
"""The columns of passages that are compared with the stored text and with each other."""
COLUMNS = {"documents": "source", "texts": "document", "passages": "lexical", QUESTIONS: "lexical"}
"""A column that each table has: of an overwritten manifest LanceDB makes a table without any."""
PROBED_PASSAGES = 24
"""Passages, at equal distances, for which the search indexes are asked."""
_JSON_FILES = ("unfinished.json", "moving.json", "skipped.json", "unused-texts.json")

Tell = Callable[[str, int, int], None]
"""Is told a step, and how much of how much of it is done."""


def check(folder: Path, tell: Tell | None = None) -> Iterator[StoreProblem]:
    """Yield the problems of the knowledge base in a folder; none if it is whole.

    If it was written to meanwhile, so that tables of different times were compared, it is checked once more
    while nobody writes. Raises OSError for a file that may not be read.
    """
    say = tell or (lambda step, done, total: None)
    versions = checksums.newest_versions(folder)
    found = list(_problems(folder, say))
    if found and checksums.newest_versions(folder) != versions:
        with try_lock(folder, patience=-1):
            found = list(_problems(folder, say))
    for problem in found:
        yield replace(problem, hint=_hint(problem, shown_name(folder)))


def _hint(problem: StoreProblem, name: str) -> str:
    """The next step for a problem of the knowledge base of that name."""
    match problem.mending:
        case Mending.COMPACT:
            return f"`localcrag kb compact {name}` rebuilds it"
        case Mending.REREAD:
            return reread_hint(name)
        case Mending.QUESTIONS:
            return f"`localcrag kb compact {name}`, then `localcrag ingest --questions N --kb {name} PATH`"
        case Mending.REMOVE:
            return remake_hint(name)


def _problems(folder: Path, say: Tell) -> Iterator[StoreProblem]:
    """The problems, without hints."""
    yield from _problems_of_record(folder)
    damaged = checksums.damaged_files(
        folder, thorough=True, tell=lambda done, total: say("files", done, total)
    )
    for item in damaged:
        yield _problem_of_file(folder, item)
    yield from _problems_of_lists(folder)
    broken = {item.table for item in damaged}
    tables: dict[str, Table] = {}
    for name in _table_names(folder):
        if name in broken:
            continue
        try:
            with store_faults():
                table = open_table(folder, name)
                faults = list(_problems_of_rows(name, table, say))
        except StoreFault as fault:
            yield _unreadable(name, fault.error)
            continue
        yield from faults
        if not faults:
            tables[name] = table
    if {*TABLE_NAMES} <= tables.keys():
        half_written = Journal(folder).sources()
        if half_written:
            what = f"the writing of {len(half_written)} documents was cut off"
            yield StoreProblem(what, Mending.COMPACT, serious=False)
        found = _problems_of_documents(tables, half_written, SourceRootsFile(folder).readable(), say)
        yield from _guarded(found, "the texts and passages cannot be compared")
    for name in ("passages", QUESTIONS):
        if name in tables:
            lost = f"the search indexes of {name} cannot be read"
            yield from _guarded(_problems_of_indexes(name, tables[name]), lost)


def _problems_of_record(folder: Path) -> Iterator[StoreProblem]:
    """Problems of the files that say what the folder is."""
    try:
        record_in(folder, shown_name(folder))
    except StoreError as error:
        if checksums.recorded(folder) is None:
            yield StoreProblem(str(error), Mending.REMOVE)
    if checksums.is_damaged_record(folder):
        yield StoreProblem(f"{checksums.CHECKSUMS_FILE} is damaged", Mending.COMPACT, serious=False)
    lost = LostDocuments(folder)
    if lost.exist and not lost.sources():
        yield StoreProblem("the list of lost documents, lost.json, is damaged", Mending.COMPACT)
    roots_file = SourceRootsFile(folder)
    if roots_file.is_damaged or (not roots_file.current().roots and checksums.recorded_roots(folder)):
        yield StoreProblem(f"{ROOTS_FILE} is damaged", Mending.COMPACT)
    roots = roots_file.readable()
    for source in map(roots.shown, lost.sources()):
        yield StoreProblem(f"{source} has to be read again", Mending.REREAD, source=source)


def _problem_of_file(folder: Path, file: checksums.DamagedFile) -> StoreProblem:
    """The problem that a damaged file is."""
    what = str(file)
    if file.is_index or file.path == RECORD_FILE:
        return StoreProblem(what, Mending.COMPACT)
    if checksums.is_superseded(folder, file.path):
        return StoreProblem(what, Mending.COMPACT, serious=False)
    mending = Mending.QUESTIONS if file.table == QUESTIONS else Mending.REREAD
    return StoreProblem(what, mending, table=file.table)


def _problems_of_lists(folder: Path) -> Iterator[StoreProblem]:
    """Problems of the small files beside the tables."""
    for name in _JSON_FILES:
        path = folder / name
        if path.exists() and not isinstance(_json_of(path), dict if name == "skipped.json" else list):
            yield StoreProblem(f"{name} is damaged", Mending.COMPACT, serious=name == "skipped.json")


def _json_of(path: Path) -> object:
    """The content of a JSON file, None if it is none."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        return None


def _table_names(folder: Path) -> list[str]:
    """The tables that there should be; that of questions only if it was ever made."""
    held = checksums.newest_versions(folder)
    return [*TABLE_NAMES, *([QUESTIONS] if QUESTIONS in held else [])]


def _unreadable(name: str, error: BaseException) -> StoreProblem:
    """The problem of a table that cannot be read to its end."""
    mending = Mending.QUESTIONS if name == QUESTIONS else Mending.REREAD
    return StoreProblem(f"the table {name} cannot be read: {_first_line(error)}", mending, table=name)


def _guarded(problems: Iterator[StoreProblem], failure: str) -> Iterator[StoreProblem]:
    """The problems; an index that cannot be read is one more."""
    try:
        with store_faults():
            yield from problems
    except StoreFault as fault:
        yield StoreProblem(f"{failure}: {_first_line(fault.error)}", Mending.COMPACT)


def _first_line(error: BaseException) -> str:
    """The beginning of what an error says, or the name of its class if it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _problems_of_rows(name: str, table: Table, say: Tell) -> Iterator[StoreProblem]:
    """Read all rows of a table; the problems of their vectors."""
    if COLUMNS[name] not in table.schema.names:
        yield StoreProblem(f"the table {name} has lost its columns", Mending.REREAD, table=name)
        return
    total, done, wrong = table.count_rows(), 0, 0
    for rows in table.search().to_batches():
        done += len(rows)
        if "vector" in rows.schema.names and len(rows):
            import pyarrow as pa

            wrong += int((~np.isfinite(vectors_of(pa.Table.from_batches([rows])))).any(axis=1).sum())
        say(name, done, total)
    if done != total:
        yield StoreProblem(f"{total - done} rows of {name} are missing", Mending.REREAD, table=name)
    if wrong:
        yield StoreProblem(f"{wrong} vectors of {name} are no numbers", Mending.REREAD, table=name)


def _problems_of_documents(
    tables: Mapping[str, Table], half_written: Collection[str], roots: SourceRoots, say: Tell
) -> Iterator[StoreProblem]:
    """Compare each document with its texts and its passages, but for those whose writing was cut off."""
    columns = ["source", "hash", "digest", "passages"]
    rows = tables["documents"].search().select(columns).to_arrow().to_pylist()
    rows.sort(key=lambda row: str(row["source"]))
    held = 0
    for start in range(0, len(rows), DOCUMENTS_PER_STEP):
        step = rows[start : start + DOCUMENTS_PER_STEP]
        passages = passages_by_source(tables["passages"], [row["source"] for row in step])
        held += sum(map(len, passages.values()))
        texts = texts_by_document(tables["texts"], [row["hash"] for row in step])
        for row in step:
            if row["hash"] == UNFINISHED_HASH or row["source"] in half_written:
                continue  # the next ingestion reads it again
            if fault := fault_of_document(row, passages.get(row["source"], []), texts):
                source = roots.shown(row["source"])
                yield StoreProblem(f"{source}: {fault}", Mending.REREAD, source=source)
        say("documents", start + len(step), len(rows))
    if not half_written and (others := tables["passages"].count_rows() - held) > 0:
        yield StoreProblem(f"{others} passages are of no document", Mending.COMPACT, table="documents")


def passages_by_source(passages: Table, sources: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """The passages of these sources, without their vectors."""
    found = (
        passages.search().where(sql.one_of("source", sources)).select(COMPARED_COLUMNS).to_arrow().to_pylist()
    )
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in found:
        grouped.setdefault(row["source"], []).append(row)
    return grouped


def texts_by_document(texts: Table, hashes: Sequence[str]) -> dict[tuple[str, str], pa.Table]:
    """The rows of texts of these documents, by hash and digest."""
    found = texts.search().where(sql.one_of("document", sorted({*hashes}))).to_arrow()
    places: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(zip(found["document"].to_pylist(), found["digest"].to_pylist(), strict=True)):
        places.setdefault(key, []).append(place)
    return {key: found.take(rows) for key, rows in places.items()}


def fault_of_document(
    row: Mapping[str, Any],
    passages: Sequence[Mapping[str, Any]],
    texts: Mapping[tuple[str, str], pa.Table],
) -> str:
    """What is wrong with a document: its row, its passages and the texts that there are; "" if nothing is."""
    stored = texts.get((row["hash"], row["digest"]))
    if stored is None:
        return "its text is missing"
    try:
        pages = pages_of(stored)
    except (ValueError, TypeError, LookupError):
        return "its stored text is not the one that was written"
    if len(passages) != row["passages"]:
        return f"it has {len(passages)} passages, and should have {row['passages']}"
    by_number: dict[int | None, list[str]] = {}
    for page in pages.values():
        by_number.setdefault(page.number, []).append(page.text)
    for passage in passages:
        if (passage["document"], passage["digest"]) != (row["hash"], row["digest"]):
            return "its passages are of another version than its text"
        front = "".join(line + "\n" for line in (passage["title"], passage["heading"]) if line)
        if not (passage["lexical"] or "").startswith(front) or len(front) != passage["prefix"]:
            return "the title or the headings of a passage are not those that were written"
        words = passage["lexical"][passage["prefix"] :]
        span = slice(passage["start"], passage["stop"])
        if not any(text[span] == words for text in by_number.get(passage["page"], [])):
            return "a passage of it is not in its stored text"
    return ""


def _problems_of_indexes(name: str, table: Table) -> Iterator[StoreProblem]:
    """Whether all indexes are there, and find what is known to be in the table."""
    rows = table.count_rows()
    held = {column.strip("`"): index.name for index in table.list_indices() for column in index.columns}
    keys = PASSAGE_KEYS if name == "passages" else QUESTION_KEYS
    for column in ("lexical", *keys):
        if column not in held:
            yield StoreProblem(f"the index of {column} in {name} is missing", Mending.COMPACT)
    for column, index in held.items():
        stats = table.index_stats(index)
        if stats is not None and stats.num_unindexed_rows:
            left = stats.num_unindexed_rows
            what = f"{left} of {rows} rows of {name} are not in the index of {column} yet"
            yield StoreProblem(what, Mending.COMPACT, serious=False)
    if rows and "lexical" in held:
        yield from _problems_of_probes(name, table, keys[1])


def _problems_of_probes(name: str, table: Table, key: str) -> Iterator[StoreProblem]:
    """Ask the indexes for some rows by their key, their words and their vector."""
    rows = table.count_rows()
    offsets = sorted({at * rows // PROBED_PASSAGES for at in range(PROBED_PASSAGES)})
    probes = table.take_offsets(offsets).select([key, "lexical", "vector"]).to_arrow().to_pylist()
    unkeyed = unfound = 0
    for probe in probes:
        where = sql.equals(key, probe[key])
        unkeyed += not table.count_rows(where)
        query = table.search(match_query(probe["lexical"][:1000])).where(where)
        unfound += not len(query.select([key, "_score"]).limit(1).to_arrow())
    if unkeyed:
        yield StoreProblem(f"the index of {key} in {name} does not find {unkeyed} rows", Mending.COMPACT)
    elif unfound > len(probes) // 2:  # a passage of nothing but the commonest words is found by none
        yield StoreProblem(f"the full-text index of {name} does not find its rows", Mending.COMPACT)
    table.search(np.asarray(probes[0]["vector"], np.float32), query_type="vector").limit(1).to_arrow()
