"""The bars that the embedded models are held against, and whether they are met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from . import benchmarks as bench
from .data import SQUAD
from .measure import CHATTY, REWRITTEN
from .result_row import Row

Figures = dict[tuple[str, str, str], dict[str, float]]
MET, NOT_MET, NOT_APPLICABLE = "met", "not met", "n/a"
_EVALUATOR, _LANGUAGE = "evaluator", "language model"
_MIN_PICK_GAIN, _MIN_PICK_AUC, _MIN_GRADE_AUC, _MIN_RANK_GAIN, _MAX_ECE = (
    0.10,
    0.955,
    0.90,
    0.04,
    0.05,
)
_MAX_FORMAT_LOSS, _MIN_PAIRS_A_SECOND = 0.005, 20
_MIN_LANGUAGE_AUC, _MIN_GAIN, _MIN_NEAR_MISS_AUC = 0.93, 0.01, 0.78
_MIN_FOLLOW_UP_F1, _MAX_WRITTEN_LOSS, _MIN_RIGHT_CITATIONS, _MIN_DECLINED = 0.75, 0.02, 0.92, 0.8
_MAX_MEGABYTES = {_EVALUATOR: 30, _LANGUAGE: 12}


@dataclass(frozen=True)
class Bar:
    """One bar: whose, what, on what; what is wanted and measured; the baselines if there are any."""

    model: str
    name: str
    subject: str
    wanted: str
    got: float | None
    verdict: str
    cosine: float | None = None
    bm25: float | None = None
    note: str = ""


def held_against(rows: Sequence[Row]) -> list[Bar]:
    """Every bar, in a fixed order, for the rows of a measurement."""
    figures: Figures = {(row.part, row.subject, row.method): row.figures for row in rows}
    return [
        *_sentences(figures),
        *_near_misses(figures),
        *_grades(figures),
        *_ranking(figures),
        *_formats(figures),
        *_costs(figures),
        *_language(figures),
    ]


def _verdict(met: bool) -> str:
    return MET if met else NOT_MET


def _subjects(figures: Figures, part: str) -> list[str]:
    return list(dict.fromkeys(subject for each, subject, _ in figures if each == part and subject != "all"))


def _sentences(figures: Figures) -> Iterator[Bar]:
    for name, wanted_auc in (("pick", None), ("auc", _MIN_PICK_AUC)):
        for subject in _subjects(figures, "sentences"):
            got, cosine, bm25 = (figures["sentences", subject, m] for m in (_EVALUATOR, "cosine", "BM25"))
            least = cosine[name] + _MIN_PICK_GAIN if wanted_auc is None else wanted_auc
            yield Bar(
                _EVALUATOR,
                "sentence pick, 10 points above cosine" if wanted_auc is None else "sentence AUC",
                subject,
                f">= {least:.3f}",
                got[name],
                _verdict(got[name] >= least),
                cosine[name],
                bm25[name],
                f"{got['questions']:.0f} questions",
            )


def _near_misses(figures: Figures) -> Iterator[Bar]:
    for subject in _subjects(figures, "near misses"):
        got, cosine, bm25 = (figures["near misses", subject, m] for m in (_EVALUATOR, "cosine", "BM25"))
        yield Bar(
            _EVALUATOR, "AUC of whole passages, unanswerable questions", subject, f">= {_MIN_NEAR_MISS_AUC}",
            got["auc"], _verdict(got["auc"] >= _MIN_NEAR_MISS_AUC), cosine["auc"], bm25["auc"],
            f"{got['pairs']:.0f} pairs",
        )  # fmt: skip


def _grades(figures: Figures) -> Iterator[Bar]:
    for subject in _subjects(figures, "grades"):
        got, cosine, bm25 = (figures["grades", subject, m]["auc"] for m in (_EVALUATOR, "cosine", "BM25"))
        yield Bar(
            _EVALUATOR, "AUC of passages in the top 8", subject, f">= {_MIN_GRADE_AUC}", got,
            _verdict(got >= _MIN_GRADE_AUC), cosine, bm25,
        )  # fmt: skip
    for subject in _subjects(figures, "grades"):
        error = figures["grades", subject, _EVALUATOR]["ece"]
        both = figures.get(("grades", subject, "evaluator + cosine"))
        note = f"fused with the cosine, as the product grades: {both['ece']:.3f}" if both else ""
        met = _verdict(error <= _MAX_ECE)
        yield Bar(_EVALUATOR, "calibration error", subject, f"<= {_MAX_ECE}", error, met, note=note)


def _ranking(figures: Figures) -> Iterator[Bar]:
    rule, gained = f"evaluator: {bench.PRODUCT_RULE}", []
    for subject in _subjects(figures, "passages"):
        ranked = {m: figures["passages", subject, m]["ndcg@10"] for m in (rule, "BM25", "cosine", "fused")}
        got = ranked.pop(rule)
        best = max(ranked.values())
        gained.append(got - best)
        yield Bar(
            _EVALUATOR, "nDCG@10 reranked, no worse than the best search", subject, f">= {best:.3f}", got,
            _verdict(got >= best), ranked["cosine"], ranked["BM25"], f"rank fusion {ranked['fused']:.3f}",
        )  # fmt: skip
    if gained:
        mean = fmean(gained)
        yield Bar(
            _EVALUATOR, "nDCG@10 gained over the best search", "mean", f">= {_MIN_RANK_GAIN}", mean,
            _verdict(mean >= _MIN_RANK_GAIN),
        )  # fmt: skip


def _formats(figures: Figures) -> Iterator[Bar]:
    name, wanted = "AUC lost from f32 to Q8_0", f"<= {_MAX_FORMAT_LOSS}"
    if ("formats", "all", "f32") not in figures:
        note = "give --checkpoint to measure it"
        yield Bar(_EVALUATOR, name, "all", wanted, None, NOT_APPLICABLE, note=note)
        return
    exact, shipped = (figures["formats", "all", kind] for kind in ("f32", "q8_0"))
    lost = exact["auc"] - shipped["auc"]
    note = f"{exact['auc']:.4f} and {shipped['auc']:.4f} over {exact['pairs']:.0f} pairs"
    yield Bar(_EVALUATOR, name, "all", wanted, lost, _verdict(abs(lost) <= _MAX_FORMAT_LOSS), note=note)


def _costs(figures: Figures) -> Iterator[Bar]:
    for (part, role, _), cost in figures.items():
        if part != "cost" or "MB" not in cost:
            continue
        model = _EVALUATOR if role == "evaluator" else _LANGUAGE
        most = _MAX_MEGABYTES[model]
        note = f"{cost['M weights']:.1f} M weights, context {cost['context']:.0f}"
        yield Bar(model, "size, MB", "", f"<= {most}", cost["MB"], _verdict(cost["MB"] <= most), note=note)
    if speed := figures.get(("cost", "evaluator", "speed")):
        rate, note = speed["pairs/s"], f"{speed['tokens a pair']:.0f} tokens a pair, two threads"
        met = _verdict(rate >= _MIN_PAIRS_A_SECOND)
        yield Bar(_EVALUATOR, "pairs a second", "", f">= {_MIN_PAIRS_A_SECOND}", rate, met, note=note)


def _language(figures: Figures) -> Iterator[Bar]:
    if ("fusion", "all", _LANGUAGE) not in figures:
        return
    yield from _yes_or_no(figures)
    for subject in [*_subjects(figures, "rewriting"), "all"]:
        own, line = (figures["rewriting", subject, form] for form in (CHATTY, REWRITTEN))
        met = _verdict(line["recall@4"] >= own["recall@4"])
        name, note = (
            "recall@4 of the rewritten line, of a chatty question",
            f"{own['questions']:.0f} questions",
        )
        yield Bar(_LANGUAGE, name, subject, f">= {own['recall@4']:.3f}", line["recall@4"], met, note=note)
    if completed := figures.get(("follow-ups", "conversations", _LANGUAGE)):
        got, asked = completed["word F1"], figures["follow-ups", "conversations", "as asked"]["word F1"]
        yield Bar(
            _LANGUAGE, "follow-ups: F1 of content words", "user's turns", f">= {_MIN_FOLLOW_UP_F1}", got,
            _verdict(got >= _MIN_FOLLOW_UP_F1), note=f"as asked {asked:.3f}",
        )  # fmt: skip
    if written := figures.get(("answers", "all", "written")):
        quoted = figures["answers", "all", "quoted"]["gold contained"]
        note = f"{written['questions']:.0f} questions, quoted {quoted:.3f}"
        for name, figure, least in (
            ("written answers: gold contained", "gold contained", quoted - _MAX_WRITTEN_LOSS),
            ("written answers: right citations", "right citation", _MIN_RIGHT_CITATIONS),
            ("written answers: unanswerable declined", "declined", _MIN_DECLINED),
        ):
            met = _verdict(written[figure] >= least)
            yield Bar(_LANGUAGE, name, "", f">= {least:.3f}", written[figure], met, note=note)


def _yes_or_no(figures: Figures) -> Iterator[Bar]:
    """The bars of the language model's yes or no, alone and with the evaluator."""
    sentences = [
        figures["sentences", subject, _LANGUAGE]["auc"]
        for subject in _subjects(figures, "sentences")
        if ("sentences", subject, _LANGUAGE) in figures
    ]
    if sentences:
        mean = fmean(sentences)
        yield Bar(
            _LANGUAGE, "sentence AUC", "mean", f">= {_MIN_LANGUAGE_AUC}", mean,
            _verdict(mean >= _MIN_LANGUAGE_AUC),
        )  # fmt: skip
    alone, judge, cosine = (figures["fusion", "all", m]["auc"] for m in (_LANGUAGE, _EVALUATOR, "cosine"))
    yield Bar(
        _LANGUAGE, "grade AUC alone", "all", f">= {_MIN_LANGUAGE_AUC}", alone,
        _verdict(alone >= _MIN_LANGUAGE_AUC), cosine, note=f"evaluator {judge:.3f}",
    )  # fmt: skip
    fused, least = figures["fusion", "all", "evaluator + language model + cosine"]["auc"], judge + _MIN_GAIN
    yield Bar(
        _LANGUAGE, "grade AUC fused, above the evaluator", "all", f">= {least:.3f}", fused,
        _verdict(fused >= least), cosine, note="with the cosine",
    )  # fmt: skip
    if both := figures.get(("near misses", SQUAD, "both")):
        yield Bar(
            _LANGUAGE, "AUC of near misses, with the evaluator", "", f">= {_MIN_NEAR_MISS_AUC}", both["auc"],
            _verdict(both["auc"] >= _MIN_NEAR_MISS_AUC), note=f"{both['pairs']:.0f} pairs",
        )  # fmt: skip


def table(bars: Sequence[Bar]) -> str:
    """The bars as aligned text."""
    head = ("", "model", "bar", "on", "wanted", "got", "cosine", "BM25", "")
    lines = [head, *(_cells(bar) for bar in bars)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    aligned = (
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    )
    counts = {v: sum(bar.verdict == v for bar in bars) for v in (MET, NOT_MET, NOT_APPLICABLE)}
    total = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return "\n".join([*(line.rstrip() for line in aligned), total])


def _cells(bar: Bar) -> tuple[str, ...]:
    numbers = (bar.got, bar.cosine, bar.bm25)
    return (
        bar.verdict, bar.model, bar.name, bar.subject, bar.wanted,
        *("" if n is None else f"{n:.1f}" if abs(n) >= 5 else f"{n:.3f}" for n in numbers), bar.note,
    )  # fmt: skip


def figures_table(rows: Sequence[Row]) -> str:
    """The rows as aligned text, one part after another."""
    lines, part = [], None
    for row in rows:
        if row.part != part:
            lines += ["", row.part]
            part = row.part
        figures = "  ".join(f"{k} {v:.3f}" for k, v in row.figures.items())
        lines.append(f"  {row.subject:<16} {row.method:<46} {figures}")
    return "\n".join(lines[1:])
