"""Sheets of Excel before 2007 are read as those of XLSX."""

from __future__ import annotations

import base64
import zlib

import pytest

from localcrag.documents import LocalCorpus
from localcrag.documents.extracted import Limits
from localcrag.documents.readers.xls import read_xls
from localcrag.errors import UnreadableError
from tests.documents.conftest import ReadFunction

PACKED = (
    "eNrtWE1IVFEU/u6b9+Yvf8a/SAMZBK38w2jTRqfMtI1iFlYS1HPmmYM6ytNFtTDLXEUQtDLaKFYEYUXQD/1Q0KIgMGoRBIEW"
    "rVoJBS3U6dzz3pjaBAklaO8M99x7zj33nHPPPfdn3uuJjMmR23lTWAJVcGEu7oN7AU9Q8SWIAKg/HpfNRO2lEndgVYHPSwvp"
    "1vAw9ZVHrqFc7ykouKU+Iwx8pHIYPWjojhnBFYRq9kEX0odKoVLuKbhMJQ257Fcm4zDjLMY3WfYR4x3MOc+4kmQnRQsmQg3F"
    "2+08PqgUcF8aYYF7POY9c7YiBy9kHp+6ICxZDTvNqN655jvy1RSMgZKgzogZpqSzcIVoUYAbwQJUoJxKBfJVH65CBSrKKwrz"
    "1XRcgx84RFBWX19WUzOJbEqiMXyLB4GvidPiadDhryxfgPjfF/M9v+F7aaGT8eVKJ+P7adGX8i8qlBMDiB8VcksNIR3Tquzx"
    "YL9uRtvaeodotw17ZMK5sScaiRixGXQhlURSWQzNRns03Gm4gFrD0IB97brJdTQWNkhXox6N0PHUZHTpZgdJ7dJNuo16DDMY"
    "ix5r7yNOsx4juepuvY/kWmbMaLidGr1G2DT6KNmP++UFxgdeYNGBl8rHQArhCPkt2xl8GAQoMjPXp9/UtzaGjjBngC856yos"
    "lDNGHKflCBqcxj0aElqLeUQJ4zOsdSO38xhnkyTVRY05dqN2kGXOcm8R2dnG8Da0aUF7M7WHvuy9nz/0KbSF2uN1Uyezx9+F"
    "RlBAqxWh8fI3iFJRKi4NS3gQStTCPjQ/MM795QD1KgHb97h936djVm5uggzGFiWjI+YpxY6VRbmIcs1TKlHqPKURpdl2RBI7"
    "gu3IyPUrfp5HJs5lkU6KrDz+s+wo3AlZ/S6K4ehzBZriJUplryw90pLHtqQksaSwJbmSj7GBo56JJo5DCa/M6EuFtEu9CusF"
    "nkC2rRlIrWoSrSpr9dn+qxynfnv2Ko+VUfgMa25Sm4YqJRN3pTt0Zf2ElchTZb5/teapSJqn6xZkmEiaYSnyeSvjjmRxd8AB"
    "BxxwwIH/AIT9FHDxc816vrqt9zh/15mlMud8Jlmz0IRu+vXRn7ndiFFt4sSy8mc9NJHQJf5wTOJ7oYQDZN1EB1rZj45l5y89"
    "FcXC+fzxwMDf20LLtT+3HD//sf0funI/pg=="
)
"""A workbook with a sheet of tariffs and a hidden one, written by xlwt, and compressed."""
TARIFFS = zlib.decompress(base64.b64decode(PACKED))


def test_rows_stand_with_their_headers_and_numbers_as_their_formats_show_them() -> None:
    [page] = read_xls(TARIFFS, Limits()).pages
    assert page.number == 1
    assert page.text.split("\n")[2:] == [
        "Vehicle: Car · Fee: €12.50 · Share: 7.5% · Since: 2024-03-01 · Paid: yes · Remark: per night",
        "Vehicle: Van · Fee: €20.00 · Share: 10.0% · Since: 2025-01-15 · Paid: no · Remark: per night",
        "Vehicle: Boat · Fee: 31 · Remark: Zürich",
    ]


@pytest.mark.parametrize("name", ["fees.xls", "fees", "fees.xlsx"])
def test_a_workbook_is_known_by_its_content(read: ReadFunction, corpus: LocalCorpus, name: str) -> None:
    document = read(name, TARIFFS)
    [passage] = corpus.split(document)
    assert document.media_type == "application/vnd.ms-excel" and "Vehicle: Boat" in passage.text
    assert "secret" not in passage.text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            b"<html><table><tr><th>Item<th>Fee<tr><td>Kayak<td>12<tr><td>Canoe<td>15</table></html>",
            "Item: Kayak · Fee: 12",
        ),
        (b"Item\tFee\nKayak\t12\nCanoe\t15\n", "Item: Kayak · Fee: 12"),
    ],
)
def test_what_a_program_exports_under_the_name_is_read_as_what_it_is(
    read: ReadFunction, data: bytes, text: str
) -> None:
    assert text in read("export.xls", data).pages[0].text


@pytest.mark.parametrize("cut", [600, 2000, 4000])
def test_a_damaged_workbook_says_so(cut: int) -> None:
    with pytest.raises(UnreadableError, match="damaged XLS"):
        read_xls(TARIFFS[:cut], Limits())


def test_an_encrypted_workbook_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import xlrd

    def refused(**_: object) -> None:
        raise xlrd.XLRDError("Workbook is encrypted")

    monkeypatch.setattr(xlrd, "open_workbook", refused)
    with pytest.raises(UnreadableError, match=r"encrypted XLS \(needs a password\)"):
        read_xls(TARIFFS, Limits())


def test_more_text_than_the_limit_is_refused() -> None:
    with pytest.raises(UnreadableError, match="text"):
        read_xls(TARIFFS, Limits(text=20))
