"""Every command does the same with a warm process and without one, whatever becomes of the process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from localcrag.cli.command_state import CommandState
from localcrag.cli.doctor import CHECKS
from tests.forked import Forked
from tests.serve.conftest import DEADLINE, QUESTION, House, Result, until

SAME = [
    ("search", "dose of Zeldrine"),
    ("search", "dose of Zeldrine", "--json", "-k", "1"),
    ("search", "water", "--filter", 'source != "x"'),
    ("search", "water", "--filter", "source ="),
    ("search", "water", "--kb", "nowhere"),
    ("search", " "),
    ("ask", QUESTION),
    ("ask", QUESTION, "--json"),
    ("ask", QUESTION, "--jsonl"),
    ("ask", QUESTION, "--trace", "--show-evidence"),
    ("ask", "Who won the chess championship of 1972?", "--json"),
    ("ask", QUESTION, "--mode", "write"),
    ("ask", QUESTION, "--evaluator", "nothing-of-that-name"),
]
QUICK = ("search", "dose of Zeldrine", "--json")


def finished(process: Forked) -> Result:
    out, err = process.communicate(timeout=DEADLINE)
    return Result(process.wait(), out, err)


@pytest.fixture(autouse=True)
def judged_alone(house: House) -> None:
    """The evaluator grades alone and is soon sure: a chat model reads on from what it read before."""
    house.patch.setenv("LOCALCRAG_LOOP_GRADER", "evaluator")
    house.patch.setenv("LOCALCRAG_LOOP_UPPER", "0.5")


def served(house: House, count: int) -> bool:
    return house.server.answered == count


def test_all_that_is_printed_is_the_same(house: House) -> None:
    cold = [house.run(*arguments) for arguments in SAME]
    house.serve()
    for number, (arguments, before) in enumerate(zip(SAME, cold, strict=True), 1):
        assert house.run(*arguments).timeless == before.timeless, arguments
        until(partial(served, house, number))  # it was the server that answered
    assert [result.code for result in cold] == [0, 0, 0, 2, 1, 2, 0, 0, 0, 0, 3, 0, 1]


def test_a_chat_is_answered_there_too(house: House) -> None:
    lines = f"{QUESTION}\nAnd who makes it?\n"
    cold = house.run("chat", stdin=lines)
    house.serve()
    assert house.run("chat", stdin=lines).timeless == cold.timeless
    assert "35 mg" in cold.out
    assert house.server.answered == 3  # what it holds, and two questions


def test_a_pair_that_was_judged_is_not_read_again(house: House) -> None:
    cold = house.run("ask", QUESTION, "--json")
    house.serve()
    first, again = house.run("ask", QUESTION, "--json"), house.run("ask", QUESTION, "--json")
    assert first.timeless == again.timeless == cold.timeless
    costs = [json.loads(done.out)["usage"]["tokens_evaluated"] for done in (cold, first, again)]
    assert costs[0] == costs[1] > costs[2]


def test_the_first_question_starts_it_and_it_ends_when_idle(house: House) -> None:
    house.patch.setenv("LOCALCRAG_SERVE_WARM", "auto")
    house.patch.setenv("LOCALCRAG_SERVE_IDLE", "0.1")
    assert house.run(*QUICK).code == 0
    assert house.server.answered == 1
    assert house.endpoint.log.stat().st_mode & 0o777 == 0o600
    until(lambda: not house.endpoint.address.exists())
    until(lambda: "ended" in house.endpoint.log.read_text())  # the socket goes first


def test_without_leave_none_is_started(house: House) -> None:
    assert house.run(*QUICK).code == 0
    assert house.served is None


def test_status_and_stop(house: House) -> None:
    assert house.run("serve", "--status") == Result(1, "No warm process runs.\n", "")
    assert json.loads(house.run("serve", "--status", "--json").out) == {"running": False}
    assert "does not run" in next(CHECKS["warm process"](CommandState(house.home, False))).detail
    pid = house.serve().pid
    status = json.loads(house.run("serve", "--status", "--json").out)
    assert (status["running"], status["pid"], status["home"]) == (True, pid, str(house.home))
    assert str(pid) in house.run("serve", "--status").out
    assert str(pid) in next(CHECKS["warm process"](CommandState(house.home, False))).detail
    second = house.run("serve")
    assert second.code == 1 and "runs already" in second.err
    assert house.run("serve", "--stop").code == 0
    until(lambda: house.served is None)
    assert house.run("serve", "--stop").err == "No warm process runs.\n"


# ---------------------------------------------------------------------------------- beginning again


def test_another_configuration_begins_it_again(house: House) -> None:
    house.patch.setenv("LOCALCRAG_SERVE_WARM", "auto")
    house.run(*QUICK)
    before = house.server
    (house.home / "config.toml").write_text("[loop]\npassages = 1\n")
    asked = house.run("ask", QUESTION, "--jsonl", "--trace")
    after = house.server
    assert (after.pid, after.answered) == (before.pid, 1) and after.since > before.since
    grades = json.loads(asked.out.splitlines()[-1])["grades"]
    assert len(grades) == 1 and asked.err == ""

    house.patch.setenv("LOCALCRAG_LOOP_PASSAGES", "2")
    house.run("ask", QUESTION, "--json")
    assert house.server.since > after.since and house.server.answered == 1


def test_an_offline_command_is_answered_by_an_offline_process(house: House) -> None:
    house.serve()
    before = house.server
    done = finished(house.client("--offline", "ask", QUESTION, "--json"))
    assert done.code == 0 and done.err == ""
    assert house.server.offline and house.server.since > before.since and house.server.answered == 1


def test_a_changed_model_file_begins_it_again(house: House, tmp_path: Path) -> None:
    from localcrag.llm.registry import Registry

    copy = tmp_path / "judge.gguf"
    copy.write_bytes(Registry(house.home).resolve("localcrag-evaluator-v6").read_bytes())
    house.patch.chdir(tmp_path)
    house.patch.setenv("LOCALCRAG_SERVE_WARM", "auto")
    house.run(*QUICK, "--evaluator", "judge.gguf")
    house.run(*QUICK, "--evaluator", "judge.gguf")
    before = house.server
    assert before.answered == 2
    until(lambda: not house.server.busy)  # it would not be asked while it still ends its second answer
    os.utime(copy, ns=(1, 1))
    assert house.run(*QUICK, "--evaluator", "judge.gguf").code == 0
    assert house.server.since > before.since and house.server.answered == 1


# ---------------------------------------------------------------------------------- what goes wrong


def test_a_process_that_was_killed_leaves_a_file_that_harms_nobody(house: House) -> None:
    house.patch.setenv("LOCALCRAG_SERVE_WARM", "auto")
    cold = house.run(*QUICK)
    before = house.server.pid
    house.kill()
    assert house.endpoint.address.exists()
    assert house.run(*QUICK) == cold
    assert house.server.pid != before


def test_a_process_killed_in_the_middle_is_made_up_for(house: House, tmp_path: Path) -> None:
    cold = house.run("ask", QUESTION, "--jsonl")
    house.serve_paused(tmp_path / "gate")
    asked = house.client("ask", QUESTION, "--jsonl", "--trace")
    assert asked.stdout is not None
    first = asked.stdout.readline()
    assert json.loads(first)["event"] == "retrieved"
    house.kill()
    done = finished(asked)
    whole = Result(done.code, first + done.out, "")
    assert whole.timeless == cold.timeless
    assert "done without the warm process: it went away" in done.err


def test_a_process_that_hangs_is_not_waited_for(house: House) -> None:
    cold = house.run("ask", QUESTION, "--json")
    server = house.serve().pid
    house.hurry()
    os.kill(server, signal.SIGSTOP)
    try:
        done = house.run("ask", QUESTION, "--json", "--trace")
    finally:
        os.kill(server, signal.SIGCONT)
    assert done.timeless[:2] == cold.timeless[:2]
    assert "done without the warm process: timed out" in done.err


def test_ctrl_c_ends_the_question_there(house: House, tmp_path: Path) -> None:
    cold = house.run("ask", QUESTION, "--json")
    house.serve_paused(tmp_path / "gate")
    asked = house.client("ask", QUESTION, "--jsonl")
    assert asked.stdout is not None and asked.stdout.readline()
    assert house.server.busy
    asked.send_signal(signal.SIGINT)
    assert asked.wait(DEADLINE) == 130
    until(lambda: not house.server.busy)  # though the gate is still closed
    (tmp_path / "gate").touch()
    assert house.run("ask", QUESTION, "--json").timeless == cold.timeless
    until(lambda: house.server.answered == 1)


def test_while_one_question_is_answered_another_command_is_not_held_up(house: House, tmp_path: Path) -> None:
    cold = house.run("ask", QUESTION, "--jsonl")
    house.serve_paused(tmp_path / "gate")
    asked = house.client("ask", QUESTION, "--jsonl")
    assert asked.stdout is not None
    first = asked.stdout.readline()
    house.hurry()
    assert json.loads(house.run(*QUICK).out)["hits"]  # in its own process
    (tmp_path / "gate").touch()
    done = finished(asked)
    assert Result(done.code, first + done.out, "").timeless == cold.timeless


def test_two_at_once_are_never_mixed(house: House) -> None:
    questions = [QUESTION, "Where does the garden club meet?"]
    cold = [house.run("ask", question, "--json").timeless for question in questions]
    house.serve()
    asked = [house.client("ask", question, "--json") for question in questions * 2]
    assert [finished(process).timeless for process in asked] == cold * 2
    until(lambda: house.server.answered == 4)


def test_a_question_that_needs_consent_stays_at_the_terminal(house: House) -> None:
    house.patch.setenv("LOCALCRAG_WEB_URL", "http://127.0.0.1:9")
    house.serve()
    done = house.run("ask", QUESTION, "--web", "ask", "--trace")
    assert "without the warm process: the web query needs your consent" in done.err
    assert done.code == 0 and house.server.answered == 0


# ---------------------------------------------------------------------------------- who may


def test_nobody_else_can_reach_it(house: House) -> None:
    house.serve()
    assert house.endpoint.folder.stat().st_mode & 0o777 == 0o700
    assert house.endpoint.address.stat().st_mode & 0o777 == 0o600


def test_a_process_of_another_user_is_refused(house: House) -> None:
    program = (
        "import sys; from localcrag.serve import endpoint; endpoint.peer = lambda link: 65534;"
        "from localcrag.cli.main import main; main(sys.argv[1:])"
    )
    server = house.begin("-c", program, "--home", str(house.home), "serve", "--background")
    until(house.endpoint.address.exists)
    done = house.run("ask", QUESTION, "--json", "--trace")
    assert done.code == 0 and "done without the warm process" in done.err
    server.kill()
    assert "refused: a process of another user" in finished(server).err


def test_a_folder_that_others_may_enter_is_not_used(house: House) -> None:
    house.endpoint.folder.mkdir(mode=0o755)
    house.endpoint.folder.chmod(0o755)
    refused = house.run("serve")
    assert refused.code == 1 and "permissions are 0755" in refused.err
    house.patch.setenv("LOCALCRAG_SERVE_WARM", "auto")
    done = house.run("ask", QUESTION, "--json", "--trace")
    assert done.code == 0 and "permissions are 0755" in done.err


# ---------------------------------------------------------------------------------- how light


@pytest.mark.parametrize("form", [["--json"], []])
def test_a_warm_search_imports_none_of_what_does_the_work(house: House, form: list[str]) -> None:
    house.serve()
    program = (
        "import sys; from localcrag.cli.main import main; main(sys.argv[1:]);"
        "print([name for name in sys.argv[-1].split(',') if name in sys.modules], file=sys.stderr)"
    )
    heavy = (
        "numpy,torch,lancedb,pyarrow,llama_cpp,outlines_core,transformers,rich,httpx2,"
        "localcrag.knowledge_base,localcrag.events,localcrag.options,localcrag.types.answers,localcrag.types.ingest_report"
    )
    arguments = ["--home", str(house.home), "search", *form, "--", heavy]
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert done.stderr == "[]\n" and (json.loads(done.stdout)["hits"] if form else done.stdout)
