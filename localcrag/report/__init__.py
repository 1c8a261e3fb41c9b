"""The report of one question: a single HTML file with all that an answer rests on, for filing.

::

    events ─► evidence.py         each citation: the page as a picture, or its passage
           ─► loop_path.py        the way of the loop as steps ─► path_drawing.py  the steps as shapes
    models ─► model_files.py      each model with the sha256 of its file
    all    ─► question_report.py  the values of a report  ─► report_page.py  the HTML
"""

from localcrag.report.question_report import AskedQuestion
from localcrag.report.report_page import report_html, report_policy

__all__ = ["AskedQuestion", "report_html", "report_policy"]
