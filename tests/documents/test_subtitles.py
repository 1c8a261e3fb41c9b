"""Subtitles: what is said, in paragraphs below the times, without numbers and markup."""

from __future__ import annotations

import random
import time

import pytest

from localcrag.documents import LocalCorpus
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.readers.subtitles import read_subtitles
from localcrag.errors import UnreadableError
from localcrag.plain_answer import place_of
from localcrag.types import BlockKind
from tests.documents.conftest import ReadFunction

FERRY = """1
00:00:12,500 --> 00:00:14,900
The ferry to Tidemouth
leaves at <i>seven</i>,

2
00:00:15,000 --> 00:00:17,000
{\\an8}and it takes two hours.

3
00:00:19,500 --> 00:00:21,000
<font color="#ff0000">- Who steers it?</font>
- Ada does.

4
00:01:13,000 --> 00:01:15,000
Bring
42
"""
WEB = """WEBVTT - The old mill
Kind: captions

NOTE
Written by a friend --
of the mill.

STYLE
::cue { color: papayawhip; }

opening
00:01.000 --> 00:03.000 align:start position:0%
<v.loud Ada Lund>The kiln &amp; the mill</v>

00:03.000 --> 00:05.000
<v Ada Lund>are <c.blue>from</c> 1841.

NOTE of the second reel

00:05.000 --> 00:07.500
<v Ben>Are<00:05.500><c> they</c><00:06.000><c> open?</c>

1:00:00.000 --> 1:00:02.000
On Sundays
7
"""
SCRIPT = """[Script Info]
Title: The Lighthouse
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Main,Nonsense,no number,&Hzz

[Fonts]
fontname: a.ttf
-'(+6)8:;

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:12:40.00,0:12:43.00,Main,,0,0,0,,It was {\\b1}lit{\\b0}\\Nin March, I think.
Dialogue: 0,0:00:05.00,0:00:08.00,Main,Keeper,0,0,0,,Mind\\hthe stairs, all of them.
Comment: 0,0:00:06.00,0:00:08.00,Main,,0,0,0,,to be checked
Dialogue: 0,0:00:06.00,0:00:08.00,Main,,0,0,0,,{\\p1}m 0 0 l 9 9{\\p0}
Dialogue: 0,0:00:0
"""


def read(text: str, limits: Limits = Limits()) -> ExtractedText:  # noqa: B008
    return read_subtitles(text.encode(), limits)


def told(text: str) -> list[str]:
    """The blocks of subtitles, and in front of those of each page its number with a mark."""
    found = read(text)
    assert found.media_type == "text/x-subtitles"
    lines: list[str] = []
    for page in found.pages:
        assert {block.kind for block in page.blocks} == {BlockKind.PARAGRAPH}
        lines += [f"# {page.number}", *(page.text[block.start : block.end] for block in page.blocks)]
    return lines


def cues(*said: tuple[float, float, str]) -> str:
    """SubRip with cues of (start, end, text), in seconds."""

    def clock(seconds: float) -> str:
        return f"00:{int(seconds) // 60:02}:{int(seconds) % 60:02},{round(seconds % 1 * 1000):03}"

    return "\n".join(
        f"{number}\n{clock(start)} --> {clock(end)}\n{text}\n"
        for number, (start, end, text) in enumerate(said, 1)
    )


def test_cues_are_joined_up_to_a_pause_or_a_line_of_dialogue() -> None:
    assert told(FERRY) == [
        "# 1",
        "The ferry to Tidemouth leaves at seven, and it takes two hours.",
        "- Who steers it?",
        "- Ada does.",
        "# 2",
        "Bring 42",
    ]


def test_notes_styles_and_names_of_cues_are_left_out_and_speakers_named() -> None:
    assert told(WEB) == [
        "# 1",
        "Ada Lund: The kiln & the mill are from 1841.",
        "Ben: Are they open?",
        "# 61",
        "On Sundays 7",
    ]


def test_lines_of_a_script_are_in_the_order_of_their_times() -> None:
    assert read(SCRIPT).title == "The Lighthouse"
    assert told(SCRIPT) == [
        "# 1",
        "Keeper: Mind the stairs, all of them.",
        "# 13",
        "It was lit in March, I think.",
    ]


def test_the_older_script_is_read_too() -> None:
    old = SCRIPT.replace("V4+", "V4").replace("Dialogue: 0,", "Dialogue: Marked=0,")
    assert told(old) == told(SCRIPT)
    assert read(old.replace("The Lighthouse", "Untitled")).title == ""


def test_a_paragraph_ends_with_a_sentence_once_it_is_long_enough() -> None:
    long = "The harbour master counts every boat that comes in between noon and the bell, and each that"
    text = cues(
        (1, 2, "It is so."), (2, 3, long), (3, 4, "leaves it again..."), (4, 5, "at night."), (5, 6, "Then")
    )
    assert told(text)[1:] == [f"It is so. {long} leaves it again... at night.", "Then"]


def test_speech_without_an_end_still_has_a_page_each_minute() -> None:
    text = cues(*((second, second + 1, f"word{second}") for second in range(150)))
    assert [line for line in told(text) if line.startswith("#")] == ["# 1", "# 2", "# 3"]


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (("we row", "we row\nto the", "to the", "to the\nisland"), "we row to the island"),
        (("we", "we row", "we row to", "we row to the island"), "we row to the island"),
        (("a\nb\nc", "b\nc\nd", "c\nd\ne"), "a b c d e"),
        (("we row", "we rowed home"), "we row we rowed home"),
        (("we row to\nthe", "the island"), "we row to the the island"),
    ],
)
def test_captions_that_scroll_tell_each_word_once(shown: tuple[str, ...], said: str) -> None:
    assert told(cues(*((i, i + 1, text) for i, text in enumerate(shown))))[1:] == [said]


def test_what_is_said_again_after_a_pause_stands_again() -> None:
    assert told(cues((1, 2, "Ahoy!"), (5, 6, "Ahoy!")))[1:] == ["Ahoy!", "Ahoy!"]


def test_brackets_begin_the_words_of_another_speaker_and_notes_of_music_say_nothing() -> None:
    assert told(cues((1, 2, "♪♪"), (2, 3, "- - -"), (3, 4, "-40 degrees,"), (4, 5, ">> ADA: No.")))[1:] == [
        "-40 degrees,",
        "ADA: No.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Dear Ada,\n\nthe ferry leaves at seven.",
        "WEBVTT\n\nNOTE nothing here",
        "[Script Info]\nTitle: x",
        "1\n00:00:01,000 --> 00:00:02,000\n♪♪\n",
        '{"a": [1, 2]}',
        "<tt xmlns='http://www.w3.org/ns/ttml'><body/></tt>",
    ],
)
def test_a_file_without_cues_is_plain_text(text: str) -> None:
    found = read(text)
    assert found.media_type == "text/plain" and found.pages[0].text == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_the_encoding_is_found(encoding: str) -> None:
    text = cues((1, 2, "Le café est fermé."), (2, 3, "Où est la clé ?")).replace("\n", "\r\n")
    assert (
        "Le café est fermé. Où est la clé ?" in read_subtitles(text.encode(encoding), Limits()).pages[0].text
    )


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(UnreadableError, match="binary, no text"):
        read_subtitles(b"\x00\x01\x8d\x9d" * 200, Limits())


def test_more_text_than_the_limit_is_refused() -> None:
    with pytest.raises(UnreadableError, match="text"):
        read(FERRY, Limits(text=20))


@pytest.mark.parametrize("text", [FERRY, WEB, SCRIPT])
def test_a_file_that_is_cut_or_spoilt_is_read_or_refused(text: str) -> None:
    rng = random.Random(7)
    whole = text.encode()
    for _ in range(150):
        data = bytearray(whole[: rng.randrange(len(whole))])
        for _ in range(rng.randrange(4)):
            data[rng.randrange(len(data)) if data else 0 : 0] = bytes([rng.randrange(256)])
        try:
            read_subtitles(bytes(data), Limits())
        except UnreadableError as error:
            assert str(error) == "binary, no text"


@pytest.mark.parametrize(
    "part", ["{", "<a", "<v ", "\n", "\n ", "NOTE\n\n", "-", '"', "00:00:01,000 --> ", "a\n"]
)
def test_no_text_takes_time_beyond_its_size(part: str) -> None:
    begun = time.process_time()
    for head in (cues((1, 2, "a")), "WEBVTT\n\n00:01.000 --> 00:02.000\na"):
        read(head + part * 50_000 + "b\n\n00:00:02.000 --> 00:00:03.000\n" + part * 50_000)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(("name", "text"), [("film.srt", FERRY), ("film.vtt", WEB), ("film.ass", SCRIPT)])
def test_a_passage_has_the_minute_in_which_it_is_said(
    read: ReadFunction, corpus: LocalCorpus, name: str, text: str
) -> None:
    document = read(name, text)
    passages = corpus.split(document)
    assert document.media_type == "text/x-subtitles"
    assert all("-->" not in passage.text for passage in passages)
    assert place_of(passages[0]).endswith(f"{name}, minute 1")
