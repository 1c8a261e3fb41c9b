"""What kind of XML a file is, by how it begins."""

from __future__ import annotations

import re

_MAX_PREAMBLE = 16_384
_PREAMBLE = (
    rb"(?:\xef\xbb\xbf)?\s*+(?:<\?(?:(?!\?>).)*+\?>\s*+|<!--(?:(?!-->).)*+-->\s*+)*+"
    rb"(?P<doctype><!DOCTYPE[^\[>]*+(?:\[(?:(?!\]\s*>).)*+\]\s*)?>\s*+)?(?:<!--(?:(?!-->).)*+-->\s*+)*+"
)
_HELP_ROOTS = rb"article|appendix|book|chapter|glossary|preface|refentry|sect1"
_HELP_START = re.compile(
    _PREAMBLE + rb"(?:<(?:" + _HELP_ROOTS + rb")\b(?=[^>]*>(?:(?!<html).)*?<(?:title|refmeta|refnamediv)\b)"
    rb"|<[\w:]+\b[^>]*\bxmlns(?::\w+)?\s*=\s*[\"'](?:http://docbook\.org/ns/docbook|http://projectmallard\.org/))",
    re.DOTALL,
)
"""How a file of DocBook or Mallard begins: by its root, which has a title, or by the names it declares."""
_JOURNAL_START = re.compile(
    _PREAMBLE + rb"<article\b[^>]*>\s*+<(?:front|journal-meta|processing-meta)\b", re.DOTALL
)
"""How an article of a journal (JATS) begins, which has the root of DocBook."""
_PROGRAM_START = re.compile(
    _PREAMBLE + rb"<(?:[\w.-]+:)?(?:svg|stylesheet|transform|schema|plist|grammar)\b", re.DOTALL
)
"""How a picture, a style sheet, a schema or a list of properties begins."""
_DECLARATION = re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml\s")


def is_help_markup(data: bytes) -> bool:
    """Whether a file is DocBook or Mallard."""
    start = data[:_MAX_PREAMBLE]
    return _HELP_START.match(start) is not None and _JOURNAL_START.match(start) is None


def is_program_markup(data: bytes) -> bool:
    """Whether a file is XML that a program draws or applies, and nobody reads as a text."""
    return _PROGRAM_START.match(data[:_MAX_PREAMBLE]) is not None


def has_xml_declaration(start: bytes) -> bool:
    """Whether a file with these first bytes says that it is XML."""
    return _DECLARATION.match(start) is not None
