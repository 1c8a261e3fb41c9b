"""A report as one HTML file: no script, nothing from outside, and everything from documents escaped."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import TYPE_CHECKING

from localcrag.crag.answering.bracketed_numbers import disarmed
from localcrag.plain_answer import place
from localcrag.printable_text import one_line, plain
from localcrag.report.question_report import AskedQuestion, question_report
from localcrag.settings import Settings
from localcrag.types import Citation, FieldResult, Origin, Passage

if TYPE_CHECKING:
    from jinja2 import Template

    from localcrag.web.ledger import Ledger

_TEMPLATE, _STYLE = "report.html.j2", "report.css"


def report_html(asked: AskedQuestion, settings: Settings, ledger: Ledger) -> str:
    """The report of a question as a self-contained HTML page.

    Parameters:
        asked: the question, how it was asked, and its events.
        settings: the settings that held.
        ledger: the record of what left the machine.

    Raises ModelNotFound, ModelFileError, LedgerError.
    """
    from markupsafe import Markup

    style = _style()
    report = question_report(asked, settings, ledger)
    return _template().render(report=report, style=Markup(style), policy=report_policy())


@cache
def _template() -> Template:
    """The template, which escapes whatever is put into it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("localcrag", "report"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters.update(
        text=_shown, line=_shown_line, place=_place, moment=_moment, field_name=_field_name
    )
    return environment.get_template(_TEMPLATE)


def report_policy() -> str:
    """The content security policy of a report: pictures within the page, its own style, and nothing else."""
    digest = b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


@cache
def _style() -> str:
    return (files(__package__) / _STYLE).read_text("utf-8")


def _shown(text: str) -> str:
    """Text of others as it is shown; nothing in it can be taken for a citation."""
    return disarmed(plain(text), code=True)


def _shown_line(text: str) -> str:
    return disarmed(one_line(text), code=True)


def _place(cited: Citation | Passage) -> str:
    """The name of the file with the page, or the sheet and rows; of a web page its address."""
    rows = cited.rows() if isinstance(cited, Passage) else cited.rows
    name = cited.source if cited.origin is Origin.WEB else PurePath(cited.source).name
    return _shown_line(place(name, cited.page, cited.sheet, rows))


def _field_name(field: FieldResult) -> str:
    """The place of a value in a structured answer: "total", "items, 1, price"."""
    return _shown_line(", ".join(field.place.split("/")[1:])) or "answer"


def _moment(when: datetime) -> str:
    """A point in time in UTC, to the second."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
