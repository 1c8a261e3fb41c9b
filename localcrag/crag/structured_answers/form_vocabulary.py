"""Other words for the fields of letters and forms: what stands behind "Bill to:" fills a field "customer".

The words around a value are compared with those of a field by their embeddings, which know little of labels
of one or two words. So the usual labels of letters, invoices, minutes and reports stand here, and the words
that announce a value within a sentence ("made by …", "no later than …").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from localcrag.crag.structured_answers.field_wording import FieldWording
from localcrag.crag.table_answers.table_values import word_list


@dataclass(frozen=True, slots=True)
class FieldSynonyms:
    """What says the same as a field.

    ``fields`` are the words by which a field asks for it. ``labels`` are whole labels, in small letters.
    ``announcing`` stands directly before a value within a sentence.
    """

    fields: frozenset[str]
    labels: frozenset[str]
    announcing: re.Pattern[str] | None = None


def _synonyms(fields: str, labels: str, announcing: str = "") -> FieldSynonyms:
    """Synonyms from words, from labels with commas between them, and from a pattern of what announces."""
    pattern = re.compile(rf"\b(?:{announcing}) $", re.IGNORECASE) if announcing else None
    return FieldSynonyms(
        frozenset(word_list(fields)), frozenset(label.strip() for label in labels.split(",")), pattern
    )


_SYNONYMS = (
    _synonyms(
        "customer buyer client billed", "bill to, billed to, invoice to, sold to, buyer, customer, client"
    ),
    _synonyms("supplier seller vendor", "supplier, seller, vendor, sold by, supplied by"),
    _synonyms("recipient addressee addressed", "to, attention, attn, addressee, recipient"),
    _synonyms("sender", "from, sender, sent by"),
    _synonyms("subject", "subject, re, regarding, concerning, concerns"),
    _synonyms("reference", "ref, our ref, our reference, your ref, your reference, reference no"),
    _synonyms("serial", "s/n, sn, serial no, serial number, serial"),
    _synonyms("machine equipment device appliance", "machine, equipment, device, appliance, unit"),
    _synonyms(
        "technician engineer mechanic",
        "technician, engineer, mechanic, done by, carried out by, performed by, repaired by",
        r"(?:repaired|carried out|performed) by",
    ),
    _synonyms(
        "maker manufacturer producer",
        "maker, manufacturer, producer, made by, manufactured by, produced by",
        r"(?:made|manufactured|produced) by",
    ),
    _synonyms("author writer", "author, writer, written by", r"written by(?: the)?"),
    _synonyms("owner", "owner, owned by, property of", r"belong(?:s|ed)? to(?: the)?"),
    _synonyms(
        "tenant lessee", "tenant, lessee, let to, leased to, rented to", r"(?:let|leased|rented) to(?: the)?"
    ),
    _synonyms("sponsor", "sponsor, sponsored by, supported by", r"(?:paid for|funded|supported) by(?: the)?"),
    _synonyms("chair chaired chairperson", "chair, chairs, chairperson, chairman, chairwoman, in the chair"),
    _synonyms("present attendees participants", "present, attending, attendees, participants, in attendance"),
    _synonyms("apologies absent excused", "apologies, absent, excused, absent with apologies"),
    _synonyms("venue place location held", "venue, place, location, where"),
    _synonyms("born birth", "born, date of birth, born on", r"born(?: on)?"),
    _synonyms(
        "due deadline until latest",
        "due, due date, due on, due by, payable by, pay by, apply by, reply by, deadline",
        r"due(?: on| by)?|by|until|before|(?:no|not) later than|at the latest on",
    ),
    _synonyms(
        "start starting begin beginning",
        "start, starting, begin, beginning, commencement",
        r"(?:begin|start|commenc)(?:s|es|ing)?(?: work)? on",
    ),
)
_DOCUMENT = "(?:invoice|letter|bill|document|issue)"
_OF_DOCUMENT = re.compile(rf"(?:{_DOCUMENT} )?date(?: of (?:the |this )?{_DOCUMENT})?")
"""The names of a field for the day on which a document was written."""
_ITS_DATE = _synonyms("", "date, dated, issued, issued on, issue date, date of issue", r"dated|issued on")
_SCHEDULED = frozenset({"due", "deadline", "until", "latest", "start", "starting", "begin", "beginning"})
"""Words of fields whose announcing words mean a day, and nothing else."""


def asks_document_date(asked: FieldWording) -> bool:
    """Whether a field asks for the day on which a document was written."""
    return _OF_DOCUMENT.fullmatch(asked.name) is not None


_COPULA = r"(?: (?:of|for) [^.,;:]{1,40}?)? (?:is|are|was|were|amounts? to|will be) $"
_PLAIN = r"(?:^|\b(?:the|a|an|your|our|its|this) )(?:(?:usual|normal|current) )?"
"""What may stand before a subject: nothing that makes it another one, as "the highest" does."""


def _is_subject(asked: FieldWording, before: str) -> bool:
    """Whether the words before a value say that it is what the field is called ("The dose of … is")."""
    subject = rf"{_PLAIN}{re.escape(asked.name)}{_COPULA}"
    return bool(asked.name) and re.search(subject, before, re.IGNORECASE) is not None


def names_field(asked: FieldWording, label: str, before: str, *, is_date: bool) -> bool:
    """Whether a value is announced by another word for a field.

    Args:
        asked: the words of the field.
        label: the label that the value stands behind, "" if there is none.
        before: the words before the value.
        is_date: whether the value is a day.
    """
    if _is_subject(asked, before):
        return True
    plain_label = " ".join(label.lower().strip(" *_.").split())
    for synonyms in _SYNONYMS if not asks_document_date(asked) else (_ITS_DATE,):
        if synonyms.fields and not synonyms.fields & asked.words:
            continue
        if plain_label and plain_label in synonyms.labels:
            return True
        if synonyms.fields & _SCHEDULED and not is_date:
            continue
        if not plain_label and synonyms.announcing and synonyms.announcing.search(before):
            return True
    return False
