"""The words of a piece of LaTeX: what a reader of the printed page sees, without commands and braces.

Commands are replaced from the inside out, so that each pattern is applied to a piece without braces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_MAX_DEPTH = 24
"""Groups and commands within each other that are resolved; the braces of deeper ones are only dropped."""
_ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323",
}  # fmt: skip
_ACCENT = re.compile(
    r"""\\(?:(['`^"~=.])\s*|([uvHckrd])(?:\s+|(?=\{)))(?:\{\s*\\?([A-Za-z])\s*\}|\\?([A-Za-z]))"""
)
LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "aa": "å", "AA": "Å", "l": "ł",
    "L": "Ł", "i": "i", "j": "j", "S": "§", "P": "¶", "pounds": "£", "euro": "€", "texteuro": "€",
    "copyright": "©", "textdegree": "°", "degree": "°", "ldots": "…", "dots": "…", "cdots": "…",
    "textbackslash": "\\", "textasciitilde": "~", "textendash": "–", "textemdash": "—", "LaTeX": "LaTeX",
    "TeX": "TeX", "times": "×", "cdot": "·", "pm": "±", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥",
    "neq": "≠", "ne": "≠", "approx": "≈", "sim": "∼", "to": "→", "rightarrow": "→", "infty": "∞", "circ": "°",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ",
    "chi": "χ", "psi": "ψ", "omega": "ω", "Delta": "Δ", "Sigma": "Σ", "Omega": "Ω", "sum": "∑", "ast": "*",
    "checkmark": "✓", "textbullet": "•", "quad": " ", "qquad": " ", "percent": "%"
}  # fmt: skip
"""The letters and signs that commands without an argument stand for."""
_LETTER = re.compile(r"\\([A-Za-z]+)(?![A-Za-z])(?:\{\}|[ \t]*\n?[ \t]*(?=\S)|)")
_WITHOUT_WORDS = re.compile(
    r"[ ~]?\\(?:label|index|vspace|hspace|cite[a-z]*|nocite|includegraphics|bibliography|bibliographystyle"
    r"|input|include|usepackage|documentclass|setlength|setcounter|newcommand|renewcommand|pagestyle|thispagestyle"
    r"|hypersetup|color|definecolor|phantom|rule|addcontentsline)\*?\s*(?:\[[^\[\]{}]*\]\s*)*(?:\{[^{}]*\}\s*?)*"
)
_REFERENCE = re.compile(r"\\(?:eq|page|auto|name|c|C)?ref\*?\{([^{}]*)\}")
_TWO_ARGUMENTS = re.compile(
    r"\\(href|textcolor|colorbox|SI|qty|frac|tfrac|dfrac|multirow|multicolumn)\*?(?:\[[^\[\]{}]*\])?"
    r"\{([^{}]*)\}\s*(?:\{[^{}]*\}\s*(?=\{))?\{([^{}]*)\}"
)
_NOTE = re.compile(r" ?\\(?:footnote|thanks)(?:\[[^\[\]{}]*\])?\{([^{}]*)\}")
_ONE_ARGUMENT = re.compile(r"\\[A-Za-z]+\*?(?:\[[^\[\]{}]*\])?\{([^{}]*)\}")
_GROUP = re.compile(r"(?<!\\)\{([^{}]*)\}")
_OPTIONS = re.compile(r"\\[A-Za-z]+\*?\[[^\[\]{}\n]*\]")
_COMMAND = re.compile(r"\\[A-Za-z]+\*?[ \t]*")
_AND = re.compile(r" ?\\and(?![A-Za-z]) ?")
"""What stands between two authors."""
_SPACE = re.compile(r"\\[,;: !/\\@-](?:\[[^\[\]{}\n]*\])?")
_ESCAPED = re.compile(r"\\([&%$#_{}])")
_HIDDEN = {
    "&": "\ue000",
    "%": "\ue001",
    "$": "\ue002",
    "#": "\ue003",
    "_": "\ue004",
    "{": "\ue005",
    "}": "\ue006",
}
_SHOWN = {ord(hidden): sign for sign, hidden in _HIDDEN.items()}
_MATH = re.compile(r"(?<!\\)\$\$?|\\[()]")
_RAISED = re.compile(r"([_^])\{?\s*(\w+|°)(?:\s*\})?")


def hidden_escapes(text: str) -> str:
    r"""A text in which an escaped sign, "\&", is one that means nothing to LaTeX; :func:`words` shows it."""
    return _ESCAPED.sub(lambda sign: _HIDDEN[sign[1]], text)


def words(text: str, numbers: Mapping[str, str]) -> str:
    """The words of a piece of text in one line; ``numbers`` are those that its references have, by label."""
    text = _ACCENT.sub(_accented, hidden_escapes(" ".join(text.split())))
    text = _AND.sub(", ", text)
    text = _LETTER.sub(lambda name: LETTERS.get(name[1], name[0]), text)
    text = _SPACE.sub(" ", text)
    for _ in range(_MAX_DEPTH):
        before = text
        text = _WITHOUT_WORDS.sub(_space_before, text)
        text = _REFERENCE.sub(lambda label: numbers.get(label[1], "?"), text)
        text = _NOTE.sub(r" (\1)", text)
        text = _TWO_ARGUMENTS.sub(_joined, text)
        text = _ONE_ARGUMENT.sub(r"\1", text)
        if text == before:  # no brace of a command is taken for one of a group
            text = _GROUP.sub(r"\1", text)
        if text == before:
            break
    text = _COMMAND.sub("", _OPTIONS.sub("", _MATH.sub("", text)))
    text = text.replace("---", "—").replace("--", "–").replace("``", "“").replace("''", "”")
    text = _RAISED.sub(lambda sign: sign[2] if sign[2] == "°" else sign[1] + sign[2], text)
    return " ".join(text.replace("~", " ").replace("{", "").replace("}", "").translate(_SHOWN).split())


def _accented(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", (found[3] or found[4]) + _ACCENTS[found[1] or found[2]])


def _space_before(found: re.Match[str]) -> str:
    """The space before a command without words if a word follows the command at once."""
    is_kept = found[0][0] in " ~" and found.string[found.end() : found.end() + 1].isalnum()
    return " " if is_kept else ""


def _joined(found: re.Match[str]) -> str:
    """A command of two arguments: a number with its unit, a fraction, or the second one, which is shown."""
    name, first, second = found.groups()
    if name in ("SI", "qty"):
        return f"{first} {second.replace(chr(92), ' ').strip()}"
    return f"{first}/{second}" if name.endswith("frac") else str(second)
