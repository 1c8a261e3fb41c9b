"""What reading ahead saves while an answer is written, and what constraints cost to make ready.

A model of random weights does not repeat its evidence, so the text to be written is given: a sampler
picks its tokens one by one, and everything else is the engine's own. Of three kinds: sentences quoted
from the evidence, the summary that people wrote over a function's code, and, the worst case, a text
about something else. ``--set texts=FILE.jsonl`` measures lines {"evidence": text or list, "answer": text}
instead; ``--set model=1.7b`` another model. Times are of tokens written, without reading the prompt.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING
from unittest.mock import patch

from benchmarks.material import QUESTION, texts
from benchmarks.picture import Chart, Line
from benchmarks.report import Figure, Report, Room

if TYPE_CHECKING:
    from localcrag.llm.decoding import Sampler
    from localcrag.llm.language_model import LlamaCppModel

PASSAGES = 3
NEVER = 1 << 30
"""A row of tokens that no text has."""
SIZES = (1, 2, 4, 6, 8, 16)
"""Tokens in a batch."""
KEYS = {"of two pieces": range(1, 3), "of six pieces": range(1, 7)}


@dataclass(frozen=True, slots=True)
class Text:
    """An answer to be written over this evidence."""

    evidence: tuple[str, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Written:
    """One text written: its tokens after the first, and the batches, guessed tokens and seconds they took."""

    tokens: int
    batches: int
    guessed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Pair:
    """The same text written token by token, and reading ahead, one right after the other."""

    alone: Written
    ahead: Written


def measure(room: Room) -> Report:
    from benchmarks import shapes
    from localcrag.llm.language_model import LlamaCppModel

    name = room.options.get("model", "qwen3" if room.quick else "0.6b")
    with LlamaCppModel(shapes.model(name, room.cache), context=4096) as model:
        pairs = {kind: _pairs(model, held, room) for kind, held in _texts(room).items()}
        figures = [
            figure for kind, each in pairs.items() for figure in _figures(f"{name}, {kind}", kind, each)
        ]
        growth = _growth(model, 2 if room.quick else 3 * room.rounds)
        figures += [Figure(f"{name}: a batch of {n} / of 1", ratio, "ratio of time") for n, ratio in growth]
        figures += _masks(model, room.scratch, name)
    return Report(tuple(figures), (_chart(name, pairs), _batches(name, growth)))


# ----------------------------------------------------------------------------------- writing


def _pairs(model: LlamaCppModel, held: Sequence[Text], room: Room) -> list[Pair]:
    """Every text written both ways, in turns, as often as there are rounds."""
    limit, found = (32 if room.quick else 64), []
    for turn in range(room.rounds):
        for text in held:
            order = (True, False) if turn % 2 else (False, True)
            both = {ahead: _written(model, text, limit, ahead) for ahead in order}
            found.append(Pair(both[False], both[True]))
    return found


def _written(model: LlamaCppModel, text: Text, limit: int, ahead: bool) -> Written:
    """Write one text through the engine's own parts, its tokens given."""
    from localcrag.crag import prompts
    from localcrag.llm import speculative
    from localcrag.llm.decoding import Decoder

    parts = model._loaded()
    keys = list(range(1, len(text.evidence) + 1))
    prompt = parts.chat.tokenise(prompts.answer_joint(QUESTION, text.evidence, keys, trained=True))
    script = parts.model.tokenize_continuation(text.answer, special=False)[:limit]
    writer = Decoder(
        parts.cache, parts.model, None, parts.writable, _given([*script, parts.model.endings[0]])
    )
    with (
        patch.object(speculative, "NGRAM_TOKENS", speculative.NGRAM_TOKENS if ahead else NEVER),
        patch.object(parts.cache, "extend", wraps=parts.cache.extend) as extend,
    ):
        pieces = writer.decode(prompt, max_tokens=len(script) + 1)
        next(pieces)
        started = perf_counter()
        for _ in pieces:
            pass
        seconds = perf_counter() - started
    sizes = [len(call.args[0]) for call in extend.call_args_list]
    return Written(len(script), len(sizes), sum(sizes) - len(sizes), seconds)


def _given(script: Sequence[int]) -> Sampler:
    """A sampler that picks these tokens, one after the other."""
    from localcrag.llm.decoding import Sampler

    class Given(Sampler):
        def __init__(self) -> None:
            super().__init__(0.0, 0)
            self._script = iter(script)

        def pick(self, row: object, allowed: object) -> int:
            return next(self._script)

    return Given()


def _figures(name: str, kind: str, pairs: Sequence[Pair]) -> Iterator[Figure]:
    ahead = [pair.ahead for pair in pairs]
    tokens, batches = sum(w.tokens for w in ahead), sum(w.batches for w in ahead)
    wanted = "< 1" if kind == "quote" else "≤ 1.03"
    yield Figure(f"{name}: written, a token", median(p.alone.seconds / p.alone.tokens for p in pairs), "s")
    yield Figure(f"{name}: the same, reading ahead", median(w.seconds / w.tokens for w in ahead), "s")
    ratio = median(pair.ahead.seconds / pair.alone.seconds for pair in pairs)
    yield Figure(f"{name}: time reading ahead / without", ratio, "ratio", wanted)
    yield Figure(f"{name}: batches", batches / tokens, "a token")
    came = (tokens - batches) / max(1, sum(w.guessed for w in ahead))
    yield Figure(f"{name}: guessed tokens that came", came, "share")


def _growth(model: LlamaCppModel, rounds: int) -> list[tuple[int, float]]:
    """What a batch of several tokens takes, in times of one of a single token, behind a prompt."""
    parts = model._loaded()
    taken: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(rounds):
        for size in SIZES:
            started = perf_counter()
            parts.cache.extend(parts.cache.held[:size])
            taken[size].append(perf_counter() - started)
            parts.cache.take_back(size)
    return [(size, median(taken[size]) / median(taken[1])) for size in SIZES[1:]]


def _chart(name: str, pairs: Mapping[str, Sequence[Pair]]) -> Chart:
    def line(label: str, pick: Callable[[Pair], Written]) -> Line:
        heights = [median(pick(p).seconds / pick(p).tokens for p in each) for each in pairs.values()]
        return Line(label, tuple((float(x), y) for x, y in enumerate(heights)))

    lines = (
        line("token by token", lambda pair: pair.alone),
        line("reading ahead", lambda pair: pair.ahead),
    )
    return Chart("decode", f"Writing an answer, {name}", "", "seconds a token", lines, tuple(pairs))


def _batches(name: str, growth: Sequence[tuple[int, float]]) -> Chart:
    points = ((1.0, 1.0), *((float(size), ratio) for size, ratio in growth))
    lines = (Line(name, points),)
    return Chart("decode-batches", "What a batch costs", "tokens", "times a batch of one token", lines)


# ----------------------------------------------------------------------------------- texts


def _texts(room: Room) -> Mapping[str, Sequence[Text]]:
    if given := room.options.get("texts"):
        return {
            "given": [_read(line) for line in Path(given).read_text("utf-8").splitlines() if line.strip()]
        }
    count = 1 if room.quick else 3
    prose = list(islice(_prose(), count + 1))
    code = list(islice(_code(), count + 1))
    quoted = [
        Text(tuple(p), " ".join(f"{_sentences(t)[1]} [{n}]" for n, t in enumerate(p, 1))) for p in prose
    ]
    summed = [Text(tuple(c), " ".join(f"{said} [{n}]" for n, said in enumerate(s, 1))) for c, s in code]
    other = [Text(tuple(p), " ".join(said)) for p, (_, said) in zip(prose, code, strict=True)]
    return {"quote": quoted[:count], "paraphrase": summed[:count], "unrelated": other[:count]}


def _cited(sentences: Sequence[str]) -> str:
    return " ".join(f"{sentence} [{number}]" for number, sentence in enumerate(sentences, 1))


def _read(line: str) -> Text:
    row = json.loads(line)
    evidence = row["evidence"]
    return Text(tuple([evidence] if isinstance(evidence, str) else evidence), row["answer"])


def _prose() -> Iterator[list[str]]:
    """Paragraphs of what modules of the standard library say of themselves, three at a time."""
    found: list[str] = []
    for _, text in texts(10_000_000):
        said = ast.get_docstring(ast.parse(text)) or ""
        for paragraph in said.split("\n\n"):
            flat = " ".join(paragraph.split())
            if 300 <= len(flat) <= 900 and len(_sentences(flat)) >= 3 and flat[0].isupper():
                found.append(flat)
        if len(found) >= PASSAGES:
            yield found[:PASSAGES]
            found = []


def _code() -> Iterator[tuple[list[str], list[str]]]:
    """Functions without their docstrings, three of one module, and the first paragraphs of these."""
    for _, text in texts(10_000_000):
        held = [pair for node in ast.parse(text).body if (pair := _function(node))]
        if len(held) >= PASSAGES:
            yield [code for code, _ in held[:PASSAGES]], [said for _, said in held[:PASSAGES]]


def _function(node: ast.stmt) -> tuple[str, str] | None:
    if not isinstance(node, ast.FunctionDef):
        return None
    said = (ast.get_docstring(node) or "").split("\n\n")
    longest = max((" ".join(part.split()) for part in said), key=len)
    del node.body[0]
    code = ast.unparse(node) if node.body else ""
    return (code, longest) if 60 <= len(longest) <= 400 and 200 <= len(code) <= 1500 else None


def _sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+", text) if len(part) > 40]


# ----------------------------------------------------------------------------------- masks


def _masks(model: LlamaCppModel, folder: Path, name: str) -> Iterator[Figure]:
    """Seconds to compile each constraint, and to load it as it was stored."""
    from localcrag.crag.answering.answer_form import answer_pattern
    from localcrag.llm.constraints import LINE_PATTERN, Constraints, one_of

    parts, vocabulary = model._loaded(), model.info.vocabulary
    patterns = {"yes or no": one_of(("yes", "no")), "a line": LINE_PATTERN}
    patterns |= {f"an answer {words}": answer_pattern(keys) for words, keys in KEYS.items()}
    fresh = Constraints(parts.model, vocabulary, folder)
    yield Figure(f"{name}: vocabulary for constraints", _seconds(fresh._vocabulary_of_core), "s")
    for words, pattern in patterns.items():
        compiled = _seconds(partial(fresh.of, pattern))
        stored = _seconds(partial(Constraints(parts.model, vocabulary, folder).of, pattern))
        yield Figure(f"{name}: constraint of {words}, compiled", compiled, "s")
        yield Figure(f"{name}: constraint of {words}, loaded", stored, "s")


def _seconds(work: Callable[[], object]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started
