"""The escapes of roff, in which manual pages are written, as the characters that they stand for.

Fonts, sizes, colours and movements are dropped; a name of a character that is not known is dropped too. The
names are those of groff_char(7).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_ESCAPE = re.compile(
    r"\\(?:"
    r"(?P<kind>[*fFmMgkYVn])[+-]?(?:\((?P<pair>..)|\[(?P<long>[^\]]{0,100})\]|(?P<single>.))"
    r"|\((?P<glyph_pair>..)|\[(?P<glyph>[^\]]{0,100})\]"
    r"|s(?:[+-]?(?:[1-3]\d|\d|\(..|\[[^\]]{0,100}\]|'[^']{0,100}'))"
    r"|(?P<drawn>[hvwlLDbxSHZRXABoNC])(?P<mark>['\"|!/])(?P<argument>.{0,200}?)(?P=mark)"
    r"|(?P<other>.|\Z))",
    re.DOTALL,
)
_CHARACTERS = (
    "hy - mi - en – em — bu • sq □ ci ○ aq ' dq \" lq “ rq ” oq ‘ cq ’ ga ` aa ´ ha ^ ti ~ "
    "rs \\ sl / ba | br | or | bv | ul _ ru _ rn ‾ co © rg ® tm ™ de ° dg † dd ‡ sc § ps ¶ "
    "mu × di ÷ +- ± -+ ∓ <= ≤ >= ≥ != ≠ == ≡ ~~ ≈ ~= ≅ ap ∼ -> → <- ← <> ↔ ua ↑ da ↓ uA ⇑ "
    "dA ⇓ rA ⇒ lA ⇐ hA ⇔ if ∞ pl + eq = pc · md ⋅ ** ∗ ss ß AE Æ ae æ OE Œ oe œ o/ ø O/ Ø "
    "oa å oA Å fi fi fl fl ff ff Fi ffi Fl ffl 12 ½ 14 ¼ 34 ¾ Po £ Eu € eu € Ye ¥ ct ¢ Cs ¤ "
    "lB [ rB ] lC { rC } la ⟨ ra ⟩ OK ✓ sh # at @ Do $ fm ′ sd ″ Fo « Fc » fo ‹ fc › r! ¡ "
    "r? ¿ es ∅ mo ∈ nm ∉ fa ∀ te ∃ AN ∧ OR ∨ no ¬ tno ¬ S1 ¹ S2 ² S3 ³ Of ª Om º bb ¦ -D Ð "
    "Sd ð TP Þ Tp þ *a α *b β *g γ *d δ *e ε *z ζ *y η *h θ *i ι *k κ *l λ *m μ *n ν *c ξ "
    "*o ο *p π *r ρ *s σ ts ς *t τ *u υ *f φ *x χ *q ψ *w ω *A Α *B Β *G Γ *D Δ *E Ε *Z Ζ "
    "*Y Η *H Θ *I Ι *K Κ *L Λ *M Μ *N Ν *C Ξ *O Ο *P Π *R Ρ *S Σ *T Τ *U Υ *F Φ *X Χ *Q Ψ "
    "*W Ω mc µ sr √ is ∫ pd ∂ gr ∇ sb ⊂ sp ⊃ ib ⊆ ip ⊇ ca ∩ cu ∪ 3d ∴ lh ☜ rh ☞ CL ♣ SP ♠ "
    "HE ♥ DI ♦ .i ı an ↤ c+ ⊕ c* ⊗ /_ ∠ pp ⊥ CR ↵"
)
_NAMES = _CHARACTERS.split()
_GLYPHS = dict(zip(_NAMES[::2], _NAMES[1::2], strict=True))
_ACCENTS = dict(zip("'`^:~,v", "\u0301\u0300\u0302\u0308\u0303\u0327\u030c", strict=True))
_CODE_POINT = re.compile(r"u([0-9A-F]{4,6})$")
_SINGLE = {"e": "\\", "E": "\\", "~": " ", "0": " ", " ": " ", "t": "\t", "\n": ""}
_NOTHING = frozenset('{}&|^/,%:)cdurapz!"#')
_GIVEN_STRINGS = {"R": "®", "Tm": "™", "lq": "“", "rq": "”"}


def plain(text: str, strings: Mapping[str, str]) -> str:
    """The text with its escapes replaced; ``strings`` are the plain values of those that are defined."""

    def replaced(found: re.Match[str]) -> str:
        if found["kind"]:
            name = found["pair"] or found["long"] or found["single"] or ""
            return strings.get(name, _GIVEN_STRINGS.get(name, "")) if found["kind"] == "*" else ""
        if found["drawn"]:
            return _drawn(found["drawn"], found["argument"])
        name = found["glyph_pair"] or found["glyph"]
        if name is not None:
            return _glyph(name)
        other = found["other"]
        if other is None or other in _NOTHING:
            return ""
        return _SINGLE.get(other, other)

    return _ESCAPE.sub(replaced, text) if "\\" in text else text


def _glyph(name: str) -> str:
    if name in _GLYPHS:
        return _GLYPHS[name]
    if point := _CODE_POINT.match(name):
        number = int(point[1], 16)
        return chr(number) if number < 0x110000 else ""
    if len(name) == 2 and name[0] in _ACCENTS and name[1].isalpha():
        return unicodedata.normalize("NFC", name[1] + _ACCENTS[name[0]])
    return ""


def _drawn(kind: str, argument: str) -> str:
    """What an escape with an argument shows: a movement to the right a blank, a character by number that."""
    if kind == "h":
        return "" if argument.startswith("-") else " "
    if kind in "oZ":
        return argument
    if kind == "C":
        return _glyph(argument)
    if kind == "N" and argument.isascii() and argument.isdigit():
        return chr(int(argument[:4]))
    return ""
