"""Fills the disk up at a random byte of what a command writes, then makes room and runs the command again.

The home lies in a small tmpfs, which is mounted in a mount namespace of the campaign's own. Where that is not
allowed, a limit of the size of a file takes its place, which stops fewer writes.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from torturing import forked
from torturing.campaign import Broken, Budget, Campaign, Case, Outcome, run_cases
from torturing.knowledge_state import check_equal, state_of
from torturing.store_scenarios import SCENARIOS, Prepared
from torturing.thread_kills import CHANGED, check_kept, home_with_conversations, turns_of

DISK_BYTES = 8 << 20
PAGE_BYTES = 4096
TURN_CHARACTERS = 3000
_NEW_USERS, _NEW_MOUNTS = 0x10000000, 0x00020000
_RECURSIVE, _PRIVATE = 0x4000, 0x40000
_DETACH = 2


@dataclass(frozen=True)
class FullDisk:
    """A disk that is full at a random write."""

    name: str = "full-disk"
    share: float = 8.0
    unit: str = "full disks"
    holds: str = "one line with a hint, nothing is lost, and with room the same command finishes the job"

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Fill disks until the time is over."""
        mounted = own_mounts()
        forked.preload()
        prepared: dict[str, Prepared] = {}
        met = 0

        def attempt(case: Case) -> None:
            nonlocal met
            case.count = 0
            place = case.number % (len(SCENARIOS) + 1)
            if place == len(SCENARIOS):
                case.count = _conversations(case, mounted)
                return
            scenario = SCENARIOS[place]
            if scenario.name not in prepared:
                random = Random(f"{seed}/{scenario.name}")
                prepared[scenario.name] = Prepared.of(scenario, budget.folder / "prepared", random)
            case.count = 1
            met += _command(prepared[scenario.name], case, mounted)

        outcome = run_cases(self.name, budget, seed, attempt)
        outcome.notes.append(f"{met} commands met it")
        outcome.notes.append(
            "a tmpfs" if mounted else "a limit of the size of a file: no tmpfs may be mounted"
        )
        return outcome


def _command(made: Prepared, case: Case, mounted: bool) -> bool:
    """Run a command of a scenario on a disk that fills up; returns whether it did."""
    home = case.folder / "home"
    room = int(case.random.random() * (max(0, made.grown) * 1.6 + 16 * PAGE_BYTES))
    with_disk = _Disk(home, mounted)
    try:
        _copy(made.folder / "before" / "home", home)
        with_disk.leave(room)
        ended = forked.run(home, *made.arguments, first=with_disk.limit(room))
        with_disk.make_room()
        _check_ending(ended, made.scenario.name)
        if ended.code:
            made.check_cut_off(home, ended.out)
        else:
            check_equal(state_of(home), made.after)
        made.finish(home)
        return bool(ended.code)
    finally:
        with_disk.end()


def _conversations(case: Case, mounted: bool) -> int:
    """Add turns until the disk is full: each pair is kept or not."""
    with_disk = _Disk(case.folder / "home", mounted)
    try:
        _, file = home_with_conversations(case)
        before, room = len(turns_of(file)[CHANGED]), case.random.randrange(40 * PAGE_BYTES)
        with_disk.leave(room)

        def work() -> int:
            from localcrag.conversations import SqliteThreads
            from localcrag.errors import StoreError
            from localcrag.types import Turn

            store = SqliteThreads(file)
            for number in range(60):
                text = "x" * TURN_CHARACTERS
                try:
                    store.append(CHANGED, [Turn("user", text), Turn("assistant", text)])
                except StoreError as error:
                    return 0 if error.hint else 1
                sys.stdout.write(f"{number}\n")
                sys.stdout.flush()
            return 0

        def limited() -> int:
            with_disk.limit(room)()
            return work()

        said = forked.fork(case.folder, limited).wait().checked("adding turns").out.split()
        with_disk.make_room()
        held = len(turns_of(file)[CHANGED]) - before
        if held % 2 or held // 2 not in (len(said), len(said) + 1):
            raise Broken(f"{len(said)} pairs were reported as kept, and {held} turns are there")
        check_kept(file)
        forked.fork(case.folder, work).wait().checked("adding turns with room")
        return 1
    finally:
        with_disk.end()


def _check_ending(ended: forked.Ended, what: str) -> None:
    """Check that a command ended well, or with one line and a hint. Raises Broken."""
    if ended.crashed:
        raise Broken(f"{what}: {ended.crashed}")
    lines = [line for line in ended.err.splitlines() if line.startswith(("Error: ", "Hint: "))]
    if ended.code and [line.split(":")[0] for line in lines] != ["Error", "Hint"]:
        raise Broken(f"{what}: exit code {ended.code} without one error and one hint: {ended.err[-300:]!r}")


@dataclass
class _Disk:
    """The disk of a case at ``folder``: a small tmpfs if ``mounted``."""

    folder: Path
    mounted: bool
    filled: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        if self.mounted:
            _mount("none", self.folder, "tmpfs", 0, f"size={DISK_BYTES}")

    def leave(self, room: int) -> None:
        """Fill the disk up, but for so many bytes."""
        if not self.mounted:
            return
        found = os.statvfs(self.folder)
        self.filled = max(0, found.f_bavail * found.f_bsize - room)
        with (self.folder / "filler").open("wb") as file, suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, max(1, self.filled))

    def limit(self, room: int) -> Callable[[], None]:
        """What limits a process in the place of a tmpfs."""

        def lower() -> None:
            if not self.mounted:
                size = max(PAGE_BYTES, room)
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        return lower

    def make_room(self) -> None:
        """Delete what fills the disk."""
        (self.folder / "filler").unlink(missing_ok=True)

    def end(self) -> None:
        """Unmount the disk."""
        if self.mounted:
            ctypes.CDLL(None).umount2(os.fsencode(self.folder), _DETACH)


def own_mounts() -> bool:
    """Give this process mounts of its own, in which it may mount; False if the system does not allow it.

    It must have one thread only.
    """
    if sys.platform != "linux":
        return False
    system, user, group = ctypes.CDLL(None, use_errno=True), os.getuid(), os.getgid()
    try:
        if system.unshare(_NEW_USERS | _NEW_MOUNTS):
            return False
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
        _mount("none", Path("/"), None, _RECURSIVE | _PRIVATE, None)
    except OSError:
        return False
    return True


def _mount(source: str, target: Path, kind: str | None, flags: int, options: str | None) -> None:
    """Mount a file system. Raises OSError."""
    system = ctypes.CDLL(None, use_errno=True)
    words = [None if word is None else word.encode() for word in (source, str(target), kind, options)]
    if system.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]):
        raise OSError(ctypes.get_errno(), f"cannot mount on {target}")


def _copy(source: Path, target: Path) -> None:
    import shutil

    shutil.copytree(source, target, dirs_exist_ok=True)


CAMPAIGNS: Mapping[str, Campaign] = {"full-disk": FullDisk()}
