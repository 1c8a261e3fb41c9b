"""Passages: nothing lost or doubled, never too large, cut where a reader would cut."""

from __future__ import annotations

import json
import time
from hashlib import sha256
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localcrag.documents import passages_of
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat, markup_of
from localcrag.documents.splitting import load_tokenizer
from localcrag.documents.structure import structured
from localcrag.errors import CorpusError
from localcrag.explained_settings import line_ends_in_pieces
from localcrag.types import Block, BlockKind, Document, Origin, Page, Passage
from tests.documents.builders import FOX
from tests.documents.conftest import tokenizer_file

TOKENIZER = tokenizer_file()
SENTENCE = "Patients should take one tablet of the drug with a glass of water every morning. "
CHARACTERS_PER_TOKEN = 16


def document(*texts: str, kind: DocumentFormat = DocumentFormat.MARKDOWN, source: str = "/x") -> Document:
    markup = markup_of(MEDIA_TYPES[kind])
    pages = tuple(structured(Page(number, text), markup) for number, text in enumerate(texts, start=1))
    return Document(source, sha256("".join(texts).encode()).hexdigest(), "X", MEDIA_TYPES[kind], pages)


def tokens(text: str) -> int:
    return len(load_tokenizer(TOKENIZER).encode(text, add_special_tokens=False).ids)


def cut(*texts: str, kind: DocumentFormat = DocumentFormat.MARKDOWN, limit: int = 250) -> list[Passage]:
    """The passages, proved to cover each page's words exactly once, in order and within the limit."""
    made = document(*texts, kind=kind)
    passages = passages_of(made, TOKENIZER, limit)
    for number, text in ((page.number, page.text) for page in made.pages):
        end = 0
        for passage in (p for p in passages if p.page == number):
            assert passage.start >= end, "passages overlap or are out of order"
            assert not text[end : passage.start].strip(), "text was lost"
            assert passage.text == text[passage.start : passage.end]
            assert passage.text == passage.text.strip() != ""
            assert tokens(passage.text) <= limit or len(passage.text) == 1
            assert len(passage.text) <= limit * CHARACTERS_PER_TOKEN
            end = passage.end
        assert not text[end:].strip(), "text was lost at the end"
    assert [p.ordinal for p in passages] == list(range(len(passages)))
    return passages


# ---------------------------------------------------------------------------------- properties

LINES = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="ab .\n\t#-*`>|ż漢ก🙂\u2028\u00a0\x1c", max_size=60),
    st.sampled_from(
        [
            "# One",
            "## Two *and*",
            "Title\n=====",
            "```",
            "- item",
            "| a | b |",
            "> quote",
            "",
            SENTENCE,
            "---",
        ]
    ),
    st.integers(1, 6).map(lambda n: SENTENCE * n),
    st.sampled_from(["x" * 300, "กขค" * 60, "漢字" * 50, "a1-" * 90]),
)
TEXTS = st.lists(LINES, max_size=25).map("\n".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=2),
    kind=st.sampled_from(
        [DocumentFormat.MARKDOWN, DocumentFormat.TEXT, DocumentFormat.RST, DocumentFormat.CODE]
    ),
    limit=st.integers(3, 80),
)
def test_no_text_is_lost_or_doubled_whatever_it_is(
    texts: list[str], kind: DocumentFormat, limit: int
) -> None:
    cut(*texts, kind=kind, limit=limit)


@pytest.mark.parametrize("kind", [DocumentFormat.MARKDOWN, DocumentFormat.TEXT, DocumentFormat.CODE])
def test_texts_of_many_windows_are_covered_too(kind: DocumentFormat) -> None:
    text = "\n\n".join(f"# Part {i}\n\n{SENTENCE * (i % 7)}\n{FOX}" for i in range(800))
    assert len(text) > 3 * 64 * 1024
    cut(text, kind=kind)
    cut("word " * 40_000, kind=kind)
    cut("x" * 150_000, kind=kind)


# ---------------------------------------------------------------------------------- where cuts fall


def test_the_tokenizer_counts_beyond_the_truncation_its_file_asks_for() -> None:
    assert json.loads(TOKENIZER.read_text(encoding="utf-8"))["truncation"]["max_length"] == 128
    assert tokens("word " * 1000) == 1000
    passages = cut("word " * 1000, kind=DocumentFormat.TEXT)
    assert [tokens(p.text) for p in passages] == [250] * 4


def test_passages_are_cut_at_sentences() -> None:
    passages = cut(SENTENCE * 100, kind=DocumentFormat.TEXT)
    assert all(p.text.startswith("Patients") and p.text.endswith("morning.") for p in passages)
    assert all(tokens(p.text) > 200 for p in passages[:-2])


@pytest.mark.parametrize(
    "kind", [DocumentFormat.MARKDOWN, DocumentFormat.TEXT, DocumentFormat.RST, DocumentFormat.PDF]
)
def test_lines_wrapped_to_a_width_are_cut_at_sentences_too(kind: DocumentFormat) -> None:
    words = (SENTENCE * 60).split()
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) > 78:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    text = "\n".join([*lines, line])
    passages = cut(text, kind=kind)
    assert len(passages) > 3 and all(p.text.endswith("morning.") for p in passages)


def test_lines_that_mean_something_are_kept_whole() -> None:
    text = "\n".join(
        f"error in module{i} while reading the configuration of server {i * 7}" for i in range(200)
    )
    for kind in (DocumentFormat.CODE, DocumentFormat.CSV):
        assert all(p.text.startswith("error in") for p in cut(text, kind=kind))
    names = "\n".join(f"name{i} of person{i}" for i in range(400))
    assert all(p.text.startswith("name") for p in cut(names, kind=DocumentFormat.TEXT))


def test_a_docstring_stays_with_its_function() -> None:
    function = (
        'def rota(all):\n    """Plan the days.\n\n    Nobody waters twice.\n    """\n    return plan(all)'
    )
    above = "\n\n".join(f"LIMIT_{number} = {number}" for number in range(6))
    passages = cut(f"{above}\n\n{function}\n", kind=DocumentFormat.CODE, limit=45)
    assert [passage.text for passage in passages] == [above, function]


def test_paragraphs_are_preferred_to_sentences() -> None:
    text = "\n\n".join([SENTENCE * 6] * 12)
    assert all(passage.text.count("Patients") in (6, 12) for passage in cut(text, kind=DocumentFormat.TEXT))


def test_pages_are_never_joined() -> None:
    passages = cut("A short page.", SENTENCE, kind=DocumentFormat.PDF)
    assert [(p.page, p.start, p.text) for p in passages] == [
        (1, 0, "A short page."),
        (2, 0, SENTENCE.strip()),
    ]


def test_a_heading_stays_with_what_follows_it() -> None:
    sections = "".join(f"## Section {i}\n\n{SENTENCE * (i % 30)}\n\n" for i in range(1, 60))
    paragraph = f"# Top\n\n## Long\n\n{SENTENCE * 14}\n\n{SENTENCE * 14}"
    for text in (sections, paragraph, paragraph * 3):
        for passage in cut(text):
            last = passage.blocks[-1]
            assert last.kind is not BlockKind.HEADING, f"a heading without its text: {passage.text!r}"


def test_passages_have_the_blocks_that_they_are_made_of() -> None:
    text = f"# Top\n\n{SENTENCE * 6}\n\n- one\n- two\n\n{SENTENCE}\n\n## Next\n\n{SENTENCE}"
    [page] = document(text).pages
    found = [(block, p) for p in cut(text, limit=60) for block in p.blocks]
    assert all(p.start <= block.start < block.end <= p.end for block, p in found)
    whole = [block for block, _ in found if block in page.blocks]
    assert [page.text[b.start : b.end] for b in whole if b.kind is BlockKind.ITEM] == ["one", "two"]
    long = page.blocks[1]
    parts = [block for block, _ in found if long.start <= block.start < long.end]
    assert len(parts) > 1 and all(part.kind is BlockKind.PARAGRAPH for part in parts)
    assert (
        "".join(page.text[b.start : b.end] for b in parts).replace(" ", "") == SENTENCE.replace(" ", "") * 6
    )


def test_a_document_of_headings_only_keeps_them() -> None:
    assert [p.text for p in cut("# One\n\n## Two")] == ["One\n\n\nTwo"]


@pytest.mark.parametrize("share", [0.05, 0.15])
def test_crumbs_are_shared_out(share: float) -> None:
    whole = tokens(SENTENCE)
    text = SENTENCE * (250 // whole) + "And so on. " * max(1, int(250 * share / 4))
    sizes = [tokens(p.text) for p in cut(text, kind=DocumentFormat.TEXT)]
    assert len(sizes) == 2 and min(sizes) >= 50


def test_small_sections_are_joined() -> None:
    text = "\n\n".join(f"## Q{i}\n\nYes." for i in range(40))
    sizes = [tokens(p.text) for p in cut(text)]
    assert min(sizes) >= 50


# ---------------------------------------------------------------------------------- headings


def test_headings_are_paths_of_the_nearest_above() -> None:
    body = SENTENCE * 3
    text = (
        f"{body}\n\n# Dosage\n\n{body}\n\n## For *young* `children`\n\n{body}\n\n{body}"
        f"\n\nSide\neffects\n---\n\n{body}\n\n```\n# no heading\n```\n\n{body}\n\n# End\n\n{body}"
    )
    headings = [p.heading for p in cut(text, limit=60)]
    assert list(dict.fromkeys(headings)) == [
        "",
        "Dosage",
        "Dosage > For young children",
        "Dosage > Side effects",
        "End",
    ]


def test_headings_reach_over_windows_and_pages() -> None:
    passages = cut(f"# Far\n\n{SENTENCE * 2000}", SENTENCE, f"# Near\n\n{SENTENCE}")
    assert {p.heading for p in passages if p.page == 1} == {"Far"}
    assert [p.heading for p in passages if p.page == 2] == ["Far"]
    assert [p.heading for p in passages if p.page == 3] == ["Near"]


def test_the_heading_below_the_running_header_of_a_page_is_that_of_its_first_passage() -> None:
    header = "Guideline on fever, 2026"
    parts = (header, "2 Second choice", SENTENCE.strip())
    kinds = (BlockKind.FURNITURE, BlockKind.HEADING, BlockKind.PARAGRAPH)
    text = "\n\n".join(parts)
    starts = [text.index(part) for part in parts]
    blocks = tuple(
        Block(kind, start, start + len(part), 1)
        for kind, start, part in zip(kinds, starts, parts, strict=True)
    )
    first = document(f"# First choice\n\n{SENTENCE}").pages[0]
    made = Document("/x", "0" * 64, "X", "application/pdf", (first, Page(2, text, blocks)))
    assert [p.heading for p in passages_of(made, TOKENIZER)] == ["First choice", "2 Second choice"]


def test_restructuredtext_levels_are_those_of_the_document() -> None:
    text = (
        f"Top\n===\n\n{SENTENCE}\n\nSub\n---\n\n{SENTENCE}\n\n"
        f"Other\n=====\n\n{SENTENCE}\n\na | b\n\n----\n\n{SENTENCE}"
    )
    headings = [p.heading for p in cut(text, kind=DocumentFormat.RST, limit=24)]
    assert list(dict.fromkeys(headings)) == ["Top", "Top > Sub", "Other"]


# ---------------------------------------------------------------------------------- what a passage says


def test_a_passage_knows_its_document() -> None:
    made = Document("/a/b.md", "f" * 64, "B", "text/markdown", (Page(None, FOX),), {"team": "x", "n": 2})
    (passage,) = passages_of(made, TOKENIZER)
    assert passage.id == f"{sha256(b'/a/b.md').hexdigest()[:12]}-ffffffffffff-0"
    assert (passage.document, passage.source, passage.title) == ("f" * 64, "/a/b.md", "B")
    assert passage.meta == {"team": "x", "n": 2} and passage.origin is Origin.DOCUMENTS
    assert passage.page is None and (passage.start, passage.end) == (0, len(FOX))


def test_ids_differ_between_sources_with_the_same_text() -> None:
    ids = [p.id for source in ("/a", "/b") for p in passages_of(document(FOX, FOX, source=source), TOKENIZER)]
    assert len(set(ids)) == 4


def test_offsets_are_characters_not_bytes() -> None:
    text = "🙂 ümlaut. " * 200
    passages = cut(text, kind=DocumentFormat.TEXT)
    assert len(passages) > 1 and all(a.end <= b.start for a, b in pairwise(passages))


def test_a_document_of_white_space_has_no_passages() -> None:
    assert cut(" \n\u2003\t", "") == []


def test_a_file_that_is_no_tokenizer_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for content in ('{"model": 1}', "no json"):
        path.write_text(content)
        with pytest.raises(CorpusError, match=r"not a tokenizer: .*tokenizer\.json"):
            passages_of(document(FOX), path)


def test_real_documentation_fills_its_passages() -> None:
    """The readme of an installed package: few crumbs, most passages well filled."""
    spec = find_spec("rich")
    assert spec is not None and spec.origin is not None
    (metadata,) = Path(spec.origin).parent.parent.glob("rich-*.dist-info/METADATA")
    sizes = [tokens(p.text) for p in cut(metadata.read_text(encoding="utf-8"))]
    assert sum(sizes) / len(sizes) > 150
    assert sum(size < 50 for size in sizes) <= 0.05 * len(sizes)


def test_a_passage_does_not_end_between_a_comment_and_its_setting_or_a_question_and_its_reply() -> None:
    remark = "# This sets how the lamp of harbour {0} is lit at night, and how long it burns."
    lamps = "\n\n".join(f"{remark.format(number)}\n\nlamp{number} dusk" for number in range(40))
    for passage in cut(f"first 1\n\n{lamps}", kind=DocumentFormat.CODE, limit=100):
        assert "dusk" in passage.text.splitlines()[-1]
    lamps = "\n".join(f"#\n{remark.format(number)}\n#lamp{number}=dusk" for number in range(40))
    for passage in cut(f"first=1\n{lamps}", kind=DocumentFormat.CODE, limit=100):
        assert passage.text.splitlines()[-1].endswith(("dusk", "#"))
    chat = "\n".join(
        f"10:{number:02}:00 <ada> when does the ferry number {number} leave in the morning?\n"
        f"10:{number:02}:09 <tom> ada: at {number} from the north quay, as it always did"
        for number in range(10, 50)
    )
    for passage in cut(chat, kind=DocumentFormat.TEXT, limit=200):
        assert passage.text.splitlines()[-1].endswith("always did")


def test_long_comments_take_linear_time() -> None:
    text = "first=1\n" + "# This sets how the lamp is lit at night.\n" * 60_000 + "last=2"
    start = time.process_time()
    assert len(list(line_ends_in_pieces(text, 0, len(text)))) == 60_000
    assert time.process_time() - start < 2
