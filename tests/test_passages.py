"""What judges and the search read of a passage beside its text."""

from __future__ import annotations

from dataclasses import replace

from localcrag.types import Block, BlockKind
from tests.crag.values import passage

BELOW = replace(passage("Children\n\nHalf a tablet.", start=5), title="Leaflet", heading="Dosage > Children")


def test_a_passage_is_read_below_its_headings_and_searched_with_its_title() -> None:
    assert BELOW.in_context == f"Dosage > Children\n{BELOW.text}"
    structured = replace(BELOW, blocks=(Block(BlockKind.HEADING, 5, 13, 2),))
    assert structured.in_context == f"Dosage\n{BELOW.text}", "a heading of its own is not repeated"
    assert structured.searchable == f"Leaflet\nDosage\n{BELOW.text}"
    plain = replace(BELOW, heading="", title="")
    assert plain.in_context == plain.searchable == BELOW.text


def test_a_passage_of_a_mail_is_read_as_what_its_sender_says() -> None:
    mail = replace(
        passage("I look after the servers."), title="Hello", meta={"from": "Ann Lee <ann@example.org>"}
    )
    assert mail.judged == mail.searchable == "Hello\nAnn Lee: I look after the servers."
    for other in (
        replace(mail, heading="On Monday, Huw Bevan wrote:"),
        replace(mail, text="From: Ann Lee · Subject: Hello"),
        replace(mail, meta={"from": "ann@example.org"}),
        replace(mail, meta={"from": 3}),
    ):
        assert "Ann Lee: " not in other.judged and other.judged.endswith(other.text)
