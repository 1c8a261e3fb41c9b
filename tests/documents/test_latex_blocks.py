"""LaTeX sources as blocks: what the printed page says, without commands."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.latex_blocks import latex_page
from localcrag.documents.latex_words import words
from localcrag.types import BlockKind

PAPER = r"""\documentclass[11pt]{article}
\usepackage{booktabs}
\title{Sediment in \emph{Salt} Marshes}
\author{K. Lind \and R. Roy\thanks{Corresponding author}}
\begin{document}
\maketitle
\begin{abstract}
Marshes lost \textbf{38\,\%} less.
\end{abstract}
% a secret
\section{Methods}\label{sec:m}
Cores were taken~\cite{x} every
\emph{six weeks} % why
at M\"uller's.\footnote{Not in ice.}

Table~\ref{tab:loss} of Section~\ref{sec:m} has more.
\begin{table}[h]
\centering
\caption{Loss per winter}\label{tab:loss}
\begin{tabular}{lrr}
\toprule
Site & Area (ha) & Loss \\
\midrule
Tolne \& Co & 63 & 5.2 \\
Skarvik & 41 & 7.9 \\
\bottomrule
\end{tabular}
\end{table}
\subsection*{Steps}
\begin{enumerate}
  \item Dig.
  \item Measure:
    \begin{itemize}
      \item the depth
    \end{itemize}
\end{enumerate}
\begin{description}
  \item[Core] a tube of mud
\end{description}
\begin{verbatim}
make % all
\end{verbatim}
\[ a = b \]
\end{document}
never printed
"""
HEADING, PARAGRAPH, ITEM, ROW = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.ROW


def told(text: str) -> list[tuple[BlockKind, int, str]]:
    page = latex_page(text)[1]
    return [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]


def test_a_paper_is_read_as_it_is_printed() -> None:
    assert latex_page(PAPER)[0] == "Sediment in Salt Marshes"
    assert told(PAPER) == [
        (HEADING, 1, "Sediment in Salt Marshes"),
        (PARAGRAPH, 0, "K. Lind, R. Roy (Corresponding author)"),
        (HEADING, 2, "Abstract"),
        (PARAGRAPH, 0, "Marshes lost 38 % less."),
        (HEADING, 2, "Methods"),
        (PARAGRAPH, 0, "Cores were taken every six weeks at Müller's. (Not in ice.)"),
        (PARAGRAPH, 0, "Table 1 of Section 1 has more."),
        (BlockKind.CAPTION, 0, "Loss per winter"),
        (ROW, 0, "Site: Tolne & Co · Area (ha): 63 · Loss: 5.2"),
        (ROW, 0, "Site: Skarvik · Area (ha): 41 · Loss: 7.9"),
        (HEADING, 3, "Steps"),
        (ITEM, 0, "Dig."),
        (ITEM, 0, "Measure:"),
        (ITEM, 1, "the depth"),
        (ITEM, 0, "Core: a tube of mud"),
        (BlockKind.CODE, 0, "make % all"),
        (BlockKind.CODE, 0, "a = b"),
    ]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"the \href{https://a.example}{site}", "the site"),
        (r"\textbf{\textit{very} old}---1990--2000", "very old—1990–2000"),
        (r"``It is \ldots'' na\"{\i}ve \'etude \c{c}a \ss", "“It is …” naïve étude ça ß"),
        (r"\SI{5}{\metre} and $10^{-3}$, $\frac{1}{2}$", "5 metre and 10^-3, 1/2"),
        (r"costs \$5 \& 10\% of \#3\_a", "costs $5 & 10% of #3_a"),
        (r"\vspace{2cm}\noindent Text \includegraphics[width=3cm]{x.png}end", "Text end"),
    ],
)
def test_commands_become_words(source: str, shown: str) -> None:
    assert words(source, {}) == shown


def test_a_fragment_without_a_document_is_read_too() -> None:
    assert told("\\section{Fees}\nAdults pay 5 euros.") == [
        (HEADING, 2, "Fees"),
        (PARAGRAPH, 0, "Adults pay 5 euros."),
    ]


def test_what_follows_a_mention_of_the_end_is_read() -> None:
    source = r"""\documentclass{article}
\begin{document}
A file ends with \verb|\end{document}| always.

Then run it.
\end{document}
never printed
"""
    assert [text for _, _, text in told(source)][-1] == "Then run it."


@given(st.text(alphabet="\\begin{}[]%&$ \nsctioab~^_", max_size=60))
def test_any_text_is_read(text: str) -> None:
    page = latex_page(text)[1]
    assert all(page.text[block.start : block.end].strip() for block in page.blocks)


@pytest.mark.parametrize(
    "piece",
    ["\\section{", "\\begin{tabular}", "\\begin{verbatim}", "\\SI{", "{", "~", "\\title{", "$$", "\\item["],
)
def test_broken_sources_take_linear_time(piece: str) -> None:
    started = time.perf_counter()
    latex_page(piece * 20_000)
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize(
    "source",
    [
        "word " + "{" * 1_000_000,
        "{" * 100_000 + "word" + "}" * 100_000,
        "\\textbf{" * 20_000 + "word" + "}" * 20_000,
        "\\begin{itemize}\\item word " * 20_000,
        "word }" * 100_000 + "{",
    ],
    ids=["never closed", "deep groups", "deep commands", "deep lists", "never opened"],
)
def test_hostile_sources_keep_their_words_and_take_linear_time(source: str) -> None:
    started = time.perf_counter()
    assert "word" in latex_page(source)[1].text
    assert time.perf_counter() - started < 10
