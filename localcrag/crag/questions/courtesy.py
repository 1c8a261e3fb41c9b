"""Courtesies: messages that thank, greet or agree, and ask nothing of the documents."""

from __future__ import annotations

import re

from localcrag.crag.questions.query_terms import WORD_PATTERN, folded

_COURTESIES = """
    thanks thank thx ty cheers hi hello hey bye goodbye ok okay great perfect cool alright welcome
    danke dank dankeschön hallo servus tschüss tschüß moin super prima
    merci bonjour bonsoir salut
    gracias hola adiós adios vale
    grazie ciao buongiorno arrivederci
    obrigado obrigada olá
    bedankt dag
    tack hej takk tak kiitos hei dziękuję dzięki cześć děkuji teşekkürler merhaba спасибо привет شكرا
"""
_COURTESY = frozenset(_COURTESIES.split())
"""Words that thank, greet or agree, and that are no subject of documents."""
_BESIDE_COURTESIES = """
    you so very a for your that it and the to this my me i we was is please sorry oh ah well then
    lot lots much kind kindly all everyone everybody folks again good morning afternoon evening night day nice
    helpful help one works got
    vielen schön schöne sehr herzlichen besten tausend dir ihnen euch guten gut tag morgen abend für die hilfe
    beaucoup mille bien bon bonne au revoir pour votre ton aide vous à tous d'accord
    muchas muchísimas buenos buenas días tardes noches por la ayuda todo
    mille tante molto muito muita bom dia je wel u zeer hartelijk så mycket
"""
_BESIDE = frozenset(_BESIDE_COURTESIES.split())
"""Words that may stand beside one of courtesy."""
_UNSPACED_COURTESY = re.compile(
    r"(?:(?:非常|十分|太)?(?:谢谢|多谢|感谢)|你好|您好|再见|好的|早上好|晚上好|ありがとう(?:ございます)?|こんにちは)"
    r"(?:你们?|您|了|啦|大家|啊|呀|帮助|的|ございました)*"
)
_MAX_WORDS = 8


def is_courtesy(text: str) -> bool:
    """Whether a message is nothing but a courtesy, as "thanks a lot!" and "merci beaucoup" are.

    With a question mark it is none: "ok, and this one?".
    """
    if "?" in text or "？" in text:
        return False
    words = WORD_PATTERN.findall(text)
    if words and all(_UNSPACED_COURTESY.fullmatch(word) for word in words):
        return True
    low = [folded(word) for word in words]
    return 0 < len(low) <= _MAX_WORDS and not _COURTESY.isdisjoint(low) and set(low) <= _COURTESY | _BESIDE
