"""``localcrag chat`` and ``threads``: real documents and models, and scripted where it is quicker."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, cast

import pytest

from localcrag.cli.chat import Chat, Conversation
from localcrag.conversations import SqliteThreads
from localcrag.errors import ContextOverflow, LocalCragError
from localcrag.events import Decided, Delta, Event, Finished
from localcrag.knowledge_base import AskOptions, KnowledgeBase
from localcrag.settings import Settings
from localcrag.types import Action, Answer, Citation, Mode, Origin, Policy, Status, Thread, Turn, WebPolicy
from tests.cli.conftest import Run
from tests.fakes.threads import MemoryThreads

QUESTION = "What is the usual dose of Zeldrine?"
FOLLOW_UP = "Who makes it?"
UNKNOWN = "How many moons does Jupiter have?"


def typed(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


class TestPiped:
    """Lines from a pipe, so that a chat can be scripted."""

    def test_answers_go_to_stdout_and_a_follow_up_is_understood(self, run: Run) -> None:
        done = run("chat", stdin=typed(QUESTION, FOLLOW_UP))
        assert done.code == 0, done.err
        assert "35 mg once a day" in done.out and "Orlan" in done.out
        assert "searched" not in done.out and "›" not in done.out
        assert "understood as: Who makes Zeldrine?" in done.err
        assert "leaflet.pdf, page 2" in done.err
        assert "Error" not in done.err

    def test_without_a_name_nothing_is_kept(self, fresh: Run, fresh_home: Path, documents: Path) -> None:
        fresh("ingest", str(documents / "notes.md"))
        before = sorted(path.name for path in fresh_home.iterdir())
        done = fresh("chat", stdin=typed("When does the garden club meet?"))
        assert "Tuesday" in done.out, done.err
        assert sorted(path.name for path in fresh_home.iterdir()) in (before, sorted({*before, "cache"}))
        assert b"second Tuesday" not in b"".join(
            file.read_bytes()
            for file in (fresh_home / "cache").rglob("*")
            if file.is_file() and file.suffix != ".gguf"
        )

    def test_a_named_conversation_goes_on_where_it_ended(self, run: Run) -> None:
        first = run("chat", "--thread", "goes on", stdin=typed(QUESTION))
        assert first.code == 0, first.err
        done = run("chat", "--thread", "goes on", stdin=typed("/sources", FOLLOW_UP, "/quit", "never asked"))
        shown, asked = done.err.split("understood as:")
        assert f"› {QUESTION}" in shown and "35 mg once a day" in shown
        assert "leaflet.pdf, page 2" in shown, "the sources of the answer before"
        assert asked.startswith(" Who makes Zeldrine?")
        assert "Orlan" in done.out and "35 mg" not in done.out
        assert run("threads", "show", "goes on", "--json").json["turns"][2]["text"] == FOLLOW_UP
        assert "never asked" not in run("threads", "show", "goes on").out

    def test_what_cannot_be_asked_costs_its_line_only(self, run: Run) -> None:
        lines = typed(
            "",
            "   ",
            "x" * 2_000_000,
            "Quelle est la dose habituelle ?",
            "用量是多少？",
            "\x00\x1b[31m",
            QUESTION,
        )
        done = run("chat", "--thread", "bad lines", stdin=lines)
        assert done.code == 0
        assert done.err.count("Error: ") == 1 and "2,000,000 characters" in done.err
        assert "put long text into a file" in done.err
        assert "35 mg once a day" in done.out
        turns = run("threads", "show", "bad lines", "--json").json["turns"]
        assert [turn["text"] for turn in turns[::2]] == [
            "Quelle est la dose habituelle ?",
            "用量是多少？",
            "\x00\x1b[31m",
            QUESTION,
        ]

    def test_a_filter_is_tried_kept_and_taken_away(self, run: Run) -> None:
        done = run(
            "chat", "--thread", "filtered",
            stdin=typed("/filter colour = 1", "/filter nonsense", "/filter page = 1", QUESTION, "/filter"),
        )  # fmt: skip
        assert "no field 'colour'" in done.err and "fields here: " in done.err
        assert done.err.count("Error: ") == 2
        assert done.err.rstrip().endswith("filter: page = 1")
        assert "35 mg" not in done.out, "the dose is on page 2"
        again = run("chat", "--thread", "filtered", stdin=typed("/filter off", QUESTION))
        assert "only where page = 1" in again.err and "35 mg once a day" in again.out
        assert run("threads", "list", "--json").json[0]["filter"] is None

    def test_the_filter_option_is_kept_with_the_thread(self, run: Run) -> None:
        run("chat", "--thread", "by option", "--filter", 'team = "x"', stdin="")
        assert run("threads", "list", "--json").json[0]["filter"] == 'team = "x"'
        done = run("chat", "--thread", "by option", "--filter", "colour = 1", stdin=typed(QUESTION))
        assert (done.code, done.out) == (2, "")
        assert "no field 'colour'" in done.err
        assert run("threads", "list", "--json").json[0]["filter"] == 'team = "x"'

    def test_a_filter_that_no_document_passes_is_said(self, run: Run) -> None:
        done = run("chat", stdin=typed('/filter team = "y"', "/filter"))
        assert "No document is like this now." in done.err
        assert done.err.rstrip().endswith('filter: team = "y"')

    def test_the_trace_of_the_last_question_is_shown_again_with_its_grades(self, run: Run) -> None:
        done = run("chat", stdin=typed("/trace", QUESTION, "/trace"))
        assert "Nothing was asked yet" in done.err
        live, again = done.err.split("35 mg once a day", 1)
        assert "P=" not in live
        assert re.search(r"yes +P=0\.\d+ .*leaflet\.pdf, page 2", again)
        assert "correct (crag): best grade" in again and "tokens read" in again
        assert done.out.count("35 mg once a day") == 1

    def test_new_forgets_the_turns_and_keeps_the_settings(self, run: Run) -> None:
        lines = typed("/filter page = 2", QUESTION, "/new", "/sources", FOLLOW_UP, "/filter")
        done = run("chat", "--thread", "anew", stdin=lines)
        assert "Forgot 2 turns" in done.err and "There is no answer yet." in done.err
        assert "understood as" not in done.err
        assert done.err.rstrip().endswith("filter: page = 2")
        turns = run("threads", "show", "anew", "--json").json["turns"]
        assert turns[0]["text"] == FOLLOW_UP

    def test_commands_that_cannot_be_obeyed(self, run: Run) -> None:
        done = run(
            "chat", stdin=typed("/nonsense x", "/web perhaps", "/web auto", "/web", "/help", "/sources")
        )
        assert (done.code, done.out) == (0, "")
        assert "there is no command /nonsense" in done.err
        assert "/web takes never, ask, auto" in done.err
        assert "no SearXNG is configured" in done.err
        assert "web: never" in done.err
        for command in ("/help", "/sources", "/trace", "/web", "/filter", "/new", "/quit"):
            assert re.search(rf"^{command} .*\w", done.err, re.M)

    @pytest.mark.parametrize("name", ["a/b", "../x", "", "a\nb", "x" * 200])
    def test_a_name_that_is_no_name(self, run: Run, name: str) -> None:
        done = run("chat", "--thread", name, stdin=typed(QUESTION))
        assert (done.code, done.out) == (2, "")
        assert "cannot name a conversation" in done.err and "Hint: use up to" in done.err

    def test_an_unknown_knowledge_base_begins_no_conversation(self, fresh: Run, fresh_home: Path) -> None:
        done = fresh("chat", "--thread", "a", "--kb", "nowhere", stdin=typed(QUESTION))
        assert (done.code, done.out) == (1, "")
        assert "nowhere" in done.err
        assert fresh("threads", "list", "--json").json == []


class TestThreads:
    """A conversation listed, shown, exported and deleted."""

    @pytest.fixture
    def thread(self, fresh_home: Path) -> str:
        store = SqliteThreads(fresh_home / "threads.db")
        conversation = Conversation(store, "Dose & maker")
        conversation.begin("default", "page < 9")
        citation = Citation(1, "/docs/leaflet.pdf", 2, 17, 62, "The usual dose is\n35 mg.", Origin.DOCUMENTS)
        found = Answer(QUESTION, Status.ANSWERED, "35 mg [1]", Mode.QUOTE, Policy.CRAG, Action.CORRECT)
        conversation.add(replace(found, citations=(citation,)))
        conversation.add(replace(found, question=UNKNOWN, status=Status.NOT_FOUND, text="They do not say."))
        return "Dose & maker"

    def test_listed_and_shown(self, fresh: Run, thread: str) -> None:
        assert re.search(
            r"^Dose & maker\t4 turns\t\d{4}-.*\tdefault\tpage < 9$", fresh("threads", "list").out, re.M
        )
        [listed] = [t for t in fresh("threads", "list", "--json").json if t["name"] == thread]
        assert (listed["kb"], listed["filter"], listed["turns"]) == ("default", "page < 9", 4)
        shown = fresh("threads", "show", thread).out
        assert shown.index(f"> {QUESTION}") < shown.index("35 mg [1]") < shown.index(f"> {UNKNOWN}")

    def test_exported_with_its_sources(self, fresh: Run, thread: str) -> None:
        text = fresh("threads", "export", thread).out
        assert text.startswith("# Dose & maker\n\nFrom ")
        assert f"## {QUESTION}\n\n" in text and "only where `page < 9`" in text
        source = r"^- \[1\] \[/docs/leaflet\.pdf, page 2\]\(file:///docs/leaflet\.pdf#page=2\)"
        assert re.search(source + ", characters 17–62: “The usual dose is 35 mg.”$", text, re.M)
        found = fresh("threads", "export", thread, "--json").json
        assert found == fresh("threads", "show", thread, "--json").json
        assert [turn["role"] for turn in found["turns"]] == ["user", "assistant"] * 2
        assert found["turns"][1]["answer"]["citations"][0]["page"] == 2
        assert found["turns"][0]["answer"] is None

    def test_deleted_for_good_when_that_is_confirmed(self, fresh: Run, fresh_home: Path, thread: str) -> None:
        refused = fresh("threads", "delete", thread, stdin="n\n")
        assert refused.code == 1 and "4 turns for good?" in refused.err
        assert "Nothing was changed." in refused.err and "nterrupted" not in refused.err
        unanswered = fresh("threads", "delete", thread)
        assert unanswered.code == 2 and "say --yes" in unanswered.err
        assert fresh("threads", "show", thread).code == 0
        assert fresh("threads", "delete", thread, stdin="y\n").code == 0
        done = fresh("threads", "show", thread)
        assert done.code == 1 and "there is no conversation 'Dose & maker'" in done.err
        assert b"Dose & maker" not in b"".join(path.read_bytes() for path in fresh_home.glob("threads.db*"))

    def test_what_is_not_there(self, fresh: Run, fresh_home: Path) -> None:
        assert "localcrag chat --thread NAME begins one" in fresh("threads", "list").err
        for command in (["show"], ["export"], ["delete", "--yes"]):
            done = fresh("threads", *command, "a/b")
            assert done.code == 1 and "there is no conversation 'a/b'" in done.err
        assert not (fresh_home / "threads.db").exists()

    def test_a_damaged_file_is_one_clear_line(self, fresh: Run, fresh_home: Path) -> None:
        fresh_home.mkdir()
        (fresh_home / "threads.db").write_bytes(b"no conversations " * 500)
        done = fresh("threads", "list")
        assert done.code == 1 and "threads.db is damaged" in done.err and "Hint: move it away" in done.err


# ------------------------------------------------------------------------------ scripted


class ScriptedBase:
    """Answers with what a rule says of the question, and keeps what it was asked with."""

    name = "scripted"

    def __init__(self, home: Path, rule: Callable[[str], str | BaseException]) -> None:
        self.settings = Settings(home)
        self.resets = 0
        self.asked: list[tuple[str, AskOptions]] = []
        self._rule = rule

    def reset_models(self) -> None:
        self.resets += 1

    def stream(self, question: str, options: AskOptions) -> Iterator[Event]:
        self.asked.append((question, options))
        yield Decided(Action.CORRECT, Policy.CRAG, "a reason")
        yield Delta("It is")
        said = self._rule(question)
        if isinstance(said, BaseException):
            raise said
        yield Delta(f" {said}")
        yield Finished(
            Answer(question, Status.ANSWERED, f"It is {said}", Mode.QUOTE, Policy.CRAG, Action.CORRECT)
        )


class ScriptedLines:
    """Lines, and what happens instead of one."""

    def __init__(self, *lines: str | BaseException, interactive: bool = True) -> None:
        self.interactive = interactive
        self._lines = [*lines, EOFError()]

    def read(self) -> str:
        line = self._lines.pop(0)
        if isinstance(line, BaseException):
            raise line
        return line


def scripted(
    home: Path,
    rule: Callable[[str], str | BaseException] = lambda _: "so",
    store: MemoryThreads | None = None,
) -> tuple[Chat, ScriptedBase]:
    base = ScriptedBase(home, rule)
    conversation = Conversation(store, "t") if store else Conversation()
    conversation.begin("scripted", None)
    return Chat(cast(KnowledgeBase, base), AskOptions(), conversation), base


def texts(turns: Sequence[Turn]) -> list[str]:
    return [turn.text for turn in turns]


def test_every_question_is_asked_with_the_turns_before_it(tmp_path: Path) -> None:
    chat, base = scripted(tmp_path, store=MemoryThreads())
    chat.run(ScriptedLines("one?", "two?", " /three?"))
    assert [question for question, _ in base.asked] == ["one?", "two?", "/three?"]
    assert texts(base.asked[0][1].history) == []
    assert texts(base.asked[2][1].history) == ["one?", "It is so", "two?", "It is so"]


def test_ctrl_c_stops_the_answer_and_returns_to_the_prompt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = MemoryThreads()
    chat, base = scripted(tmp_path, lambda q: KeyboardInterrupt() if q == "long?" else "so", store)
    chat.run(ScriptedLines("long?", KeyboardInterrupt(), "/trace", "short?"))
    shown = capsys.readouterr()
    assert shown.out == "It is\nIt is so\n"
    assert "Stopped" in shown.err and "a reason" in shown.err.split("Stopped")[1]
    assert texts(store.turns("t")) == ["short?", "It is so"]
    assert base.asked[1][1].history == ()
    assert base.resets == 1


def test_ctrl_c_ends_a_chat_that_nobody_types(tmp_path: Path) -> None:
    chat, base = scripted(tmp_path, lambda _: KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        chat.run(ScriptedLines("long?", "never asked", interactive=False))
    assert len(base.asked) == 1


def test_a_question_that_fails_says_why_and_the_chat_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def rule(question: str) -> str | LocalCragError:
        return ContextOverflow("too long", hint="ask less") if question == "bad?" else "so"

    chat, base = scripted(tmp_path, rule)
    chat.run(ScriptedLines("one?", "bad?", "two?"))
    shown = capsys.readouterr()
    assert "Error: too long\nHint: ask less" in shown.err
    assert texts(base.asked[2][1].history) == ["one?", "It is so"]
    assert shown.out.endswith("It is so\n")


def test_turns_that_cannot_be_kept_are_said_and_the_conversation_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = MemoryThreads()
    chat, base = scripted(tmp_path, store=store)
    store.broken = True
    chat.run(ScriptedLines("one?", "two?"))
    shown = capsys.readouterr()
    assert shown.out == "It is so\nIt is so\n" and "Error: the turns cannot be kept" in shown.err
    assert texts(base.asked[1][1].history) == ["one?", "It is so"]


def test_a_broken_record_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = MemoryThreads()
    store.open("t")
    store.append("t", [Turn("user", "q"), Turn("assistant", "a", '{"answer": 1}')])
    chat, _ = scripted(tmp_path, store=store)
    chat.run(ScriptedLines("/sources", "one?"))
    shown = capsys.readouterr()
    assert "Error: the sources of an answer in this conversation cannot be read" in shown.err
    assert shown.out == "It is so\n"


def test_the_web_is_switched_for_the_questions_that_follow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat, base = scripted(tmp_path)
    base.settings = base.settings.with_values("web", url="http://localhost:8888")
    chat.run(ScriptedLines("one?", "/web auto", "two?", "/web never", "three?"))
    assert [options.web for _, options in base.asked] == [None, WebPolicy.AUTO, WebPolicy.NEVER]
    assert "web: auto" in capsys.readouterr().err


def test_a_conversation_remembers_its_knowledge_base() -> None:
    store = MemoryThreads()
    Conversation(store, "t").begin("papers", None)
    [thread] = store.threads()
    assert isinstance(thread, Thread) and thread.kb == "papers"
    Conversation(store, "t").begin("letters", "page = 1")
    [thread] = store.threads()
    assert (thread.kb, thread.filter) == ("letters", "page = 1")


# ------------------------------------------------------------------------------ a terminal


PATIENCE = 240.0
"""Seconds for whatever is waited for: against a hang, and nothing about speed."""
EDITING = "\x1b[?2004h"
"""Bracketed paste is switched on: sent once for each line that is to be typed, and in no redraw of it."""
LABOURING = f"""if True:
    import sys
    from localcrag.knowledge_base import KnowledgeBase
    from localcrag.cli.main import main

    real = KnowledgeBase.stream

    def stream(base, question, options=None):
        for event in real(base, question, options):
            yield event
            while question == {UNKNOWN!r}:
                for _ in real(base, question, options):
                    pass

    KnowledgeBase.stream = stream
    sys.exit(main(sys.argv[1:]))
"""
"""``localcrag`` that answers one question over and over after its first event, until it is interrupted."""


class TerminalChat:
    """``localcrag chat`` at a pseudo-terminal: typed at, and read until something is shown."""

    def __init__(self, home: Path, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 100))
        self.process = subprocess.Popen(
            [sys.executable, "-c", LABOURING, "--home", str(home), "chat", *arguments],
            stdin=slave,
            stderr=slave,
            stdout=subprocess.PIPE,
            env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "PYTHONFAULTHANDLER": "1"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self._seen = ""
        self._text = codecs.getincrementaldecoder("utf-8")("replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE)
        os.close(self._master)

    def until(self, text: str) -> str:
        """What was shown up to the text, which is then behind us."""
        end = time.monotonic() + PATIENCE
        while text not in self._seen:
            left = end - time.monotonic()
            assert left > 0, f"{text!r} did not come; shown: {self._seen[-2000:]!r}"
            if select.select([self._master], [], [], left)[0]:
                self._seen += self._read()
        before, self._seen = self._seen.split(text, 1)
        return before

    def prompted(self, prompt: str) -> None:
        """Wait until a new line can be typed: what is typed before would go to the line before it."""
        self.until(EDITING)
        self.until(prompt)

    def _read(self) -> str:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the process has ended, and with it its terminal
            data = b""
        if not data:
            code = self.process.wait(PATIENCE)
            raise AssertionError(f"the chat ended with {code}; shown: {self._seen[-4000:]!r}")
        return self._text.decode(data)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def ended(self) -> tuple[int, str]:
        """The exit code, and all of stdout."""
        try:
            out, _ = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            pytest.fail(f"the chat did not end; shown: {self._seen[-2000:]!r}")
        return self.process.returncode, out.decode()


def test_at_a_terminal_lines_are_edited_answers_stopped_and_ctrl_d_ends(home: Path) -> None:
    with TerminalChat(home, "--thread", "typed") as chat:
        chat.prompted("typed ›")
        chat.type("/so")
        chat.until("what the last answer rests on")
        chat.type("\t")
        chat.until("urces")
        chat.type("\r")
        chat.until("There is no answer yet.")
        chat.prompted("typed ›")
        chat.type("a line that is given up\x03")
        chat.prompted("typed ›")
        chat.type(f"{UNKNOWN}\r")
        chat.until("searched your documents")
        chat.type("\x03")
        chat.until("Stopped")
        chat.prompted("typed ›")
        chat.type(f"{QUESTION}\r")
        chat.until("leaflet.pdf, page 2")
        chat.prompted("typed ›")
        chat.type("\x1b[A")
        chat.until(QUESTION)
        chat.type("\x03")
        chat.prompted("typed ›")
        chat.type("\x04")
        code, out = chat.ended()
    assert code == 0
    assert "35 mg once a day" in out and "›" not in out and "given up" not in out
