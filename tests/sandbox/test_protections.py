"""Each protection is needed: without it, at least one hostile program gets through.

`REMOVALS` is the table: the protection, how it is removed, the program that notices. Where two
protections hold the same program, both are removed together, and the name says so.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import anyio
import pytest
from tests.interfaces.sandboxes import needs_bwrap
from tests.sandbox.attacks import ATTACKS, SECRET, TRUTH, Host, through

from whybench.sandbox import bubblewrap, code_execution, room, seccomp, system
from whybench.sandbox.bubblewrap import Bubblewrap
from whybench.sandbox.code_execution import CodeRunner

pytestmark = [pytest.mark.sandbox, needs_bwrap, pytest.mark.anyio]

Patch = pytest.MonkeyPatch
Removal = Callable[[Patch], None]


def no_filter(patch: Patch) -> None:
    patch.setattr(seccomp, "program", lambda: None)


def no_rule(name: str, patch: Patch) -> None:
    patch.delitem(seccomp.RULES, name)


def allowed(name: str, patch: Patch) -> None:
    """Add a call to the list, with the numbers that a hostile program has for it."""
    numbers = next(attack.calls[name] for attack in ATTACKS.values() if name in attack.calls)
    known = seccomp.calls.__wrapped__
    column = {"x86_64": 0, "aarch64": 1}
    patch.setattr(seccomp, "calls", lambda m: {**known(m), name: numbers[column[m]]})


def any_machine(patch: Patch) -> None:
    whole = seccomp.program() or b""
    patch.setattr(seccomp, "program", lambda: whole[3 * 8 :])


def watch(old: str, new: str, patch: Patch) -> None:
    """Change the text of the process that watches."""
    replaced(room, "_watch", old, new, patch)


def inside(old: str, new: str, patch: Patch) -> None:
    """Change the text of the supervisor."""
    replaced(code_execution, "_inside", old, new, patch)


def replaced(module: Any, name: str, old: str, new: str, patch: Patch) -> None:
    text = getattr(module, name)()
    assert old in text
    patch.setattr(module, name, lambda: text.replace(old, new))


def build(old: str, new: str, patch: Patch) -> None:
    """Change how the file system is built."""
    assert old in room._BUILD
    patch.setattr(room, "_BUILD", room._BUILD.replace(old, new))


def walls(*without: str, patch: Patch) -> None:
    """Leave out options of bubblewrap; one that ends with `=` is left out with its value."""
    given = Bubblewrap._walls

    def fewer(box: Bubblewrap) -> list[str]:
        words = given(box)
        for option in without:
            at = words.index(option.rstrip("="))
            del words[at : at + 1 + option.endswith("=")]
        return words

    patch.setattr(Bubblewrap, "_walls", fewer)


def more_rights(patch: Patch) -> None:
    given = Bubblewrap._walls
    patch.setattr(Bubblewrap, "_walls", lambda box: [*given(box), "--cap-add", "ALL"])


def bounds(name: str, patch: Patch) -> None:
    """Leave out one limit that the kernel keeps for each process."""
    given = Bubblewrap._bounds
    patch.setattr(
        Bubblewrap,
        "_bounds",
        lambda box, seconds: [word for word in given(box, seconds) if not word.startswith(name)],
    )


def writable(patch: Patch) -> None:
    given = Bubblewrap._walls
    rooted = {"--ro-bind": "--bind"}
    patch.setattr(Bubblewrap, "_walls", lambda box: [rooted.get(w, w) for w in given(box)])


def zero_device(patch: Patch) -> None:
    for module in (bubblewrap, room, system):
        patch.setattr(module, "DEVICES", ("null", "random", "urandom", "zero"))


def host_environment(patch: Patch) -> None:
    start = anyio.open_process

    async def inherits(words: Any, **options: Any) -> Any:
        return await start(words, **{**options, "env": None})

    patch.setattr(anyio, "open_process", inherits)


def not_first(patch: Patch) -> None:
    given = Bubblewrap._run
    patch.setattr(Bubblewrap, "_run", lambda *a, **k: given(*a, **{**k, "alone": False}))


def no_token(patch: Patch) -> None:
    patch.setattr(secrets, "token_hex", lambda _: "")


async def _nothing(_: CodeRunner) -> None:
    return


def not_cleared(patch: Patch) -> None:
    patch.setattr(CodeRunner, "_clear", _nothing)


def both(*removals: Removal) -> Removal:
    def remove(patch: Patch) -> None:
        for removal in removals:
            removal(patch)

    return remove


AS_USER = {"a root that cannot be written"}
"""For root, the owner of files protects as well; only an ordinary user needs these."""

REMOVALS: dict[str, tuple[Removal, str]] = {
    "the list of calls": (no_filter, "memfd"),
    "its check of the machine": (any_machine, "old_calls"),
    "its rule for clone": (partial(no_rule, "clone"), "namespaces_by_clone"),
    "its rule for fcntl: pipes": (partial(no_rule, "fcntl"), "larger_pipes"),
    "its rule for fcntl: locks": (partial(no_rule, "fcntl"), "locks_by_descriptor"),
    "its rule for ioctl": (partial(no_rule, "ioctl"), "controls_of_devices"),
    "its rule for madvise": (partial(no_rule, "madvise"), "huge_pages"),
    "its rule for mmap": (partial(no_rule, "mmap"), "shared_without_a_file"),
    "its rule for prctl": (partial(no_rule, "prctl"), "attributes_of_processes"),
    "its rule for prlimit64": (partial(no_rule, "prlimit64"), "starved_supervisor"),
    "its rule for socketpair": (partial(no_rule, "socketpair"), "families_of_sockets"),
    "the absence of memfd_create": (partial(allowed, "memfd_create"), "memfd"),
    "the absence of flock": (partial(allowed, "flock"), "locks_of_others"),
    "the absence of inotify": (partial(allowed, "inotify_init1"), "notices"),
    "the absence of splice": (partial(allowed, "vmsplice"), "splice"),
    "the absence of pidfd_getfd": (partial(allowed, "pidfd_getfd"), "other_memory"),
    "the absence of sysinfo": (partial(allowed, "sysinfo"), "figures_by_call"),
    "the watch of memory": (partial(watch, '.stop("memory")', ".first"), "burst"),
    "the count of sockets": (partial(watch, "= SOCKET", "= 0"), "socket_buffers"),
    "the count of pipes": (partial(watch, "= PIPE", "= 0"), "pipe_buffers"),
    "the count of descriptors": (partial(watch, "+= WATCHED", "+= 0"), "watching_descriptors"),
    "the count of mappings": (partial(watch, "MAPPING *", "0 *"), "many_mappings"),
    "the count of files": (
        partial(watch, "disks = sum(disk(path) for path in self.disks)", "disks = 0"),
        "files_and_memory",
    ),
    "one core": (partial(watch, "os.sched_setaffinity(first, {int(given[2])})", "0"), "spinning"),
    "the kernel's and our limit of processes": (
        both(partial(bounds, "--nproc"), partial(watch, '.stop("processes")', ".first")),
        "fork_bomb",
    ),
    "the limit of open files": (partial(bounds, "--nofile"), "descriptors"),
    "the size of the disk": (partial(build, "size=$disk,", ""), "deleted_files"),
    "the number of files": (partial(build, "nr_inodes=$inodes,", ""), "disk_many_files"),
    "the size of the service's disk": (partial(build, "size=$post,", ""), "full_mailbox"),
    "overlays": (partial(build, "mount -t overlay", "false"), "mount_lines"),
    "covers of the host's figures": (
        lambda patch: patch.setattr(Bubblewrap, "_covers", lambda _: []),
        "host_figures",
    ),
    "a root that cannot be written": (writable, "disk_elsewhere"),
    "few devices": (zero_device, "zero_device"),
    "an empty environment": (host_environment, "environment"),
    "its own network": (lambda patch: walls("--unshare-net", patch=patch), "network_devices"),
    "its own IPC": (lambda patch: walls("--unshare-ipc", patch=patch), "same_namespaces"),
    "its own host name": (
        lambda patch: walls("--unshare-uts", "--hostname=", patch=patch),
        "host_name",
    ),
    "its own list of groups": (
        lambda patch: walls("--unshare-cgroup-try", patch=patch),
        "same_namespaces",
    ),
    "its own session": (lambda patch: walls("--new-session", patch=patch), "terminal"),
    "no capabilities": (more_rights, "become_root"),
    "no user namespaces, with the list of calls": (
        both(no_filter, lambda patch: walls("--disable-userns", patch=patch)),
        "user_namespaces",
    ),
    "an unreadable supervisor": (
        partial(inside, "    readable(False)\n", ""),
        "opened_descriptors",
    ),
    "a supervisor that is the first process": (not_first, "kill_everyone"),
    "outcomes that no program can claim": (
        partial(inside, "for name in RAISED", "for name in CODES"),
        "claimed_timeout",
    ),
    "clean output": (
        lambda patch: patch.setattr(code_execution, "visible", lambda text: text),
        "escapes",
    ),
    "a token for every program": (no_token, "forged_requests"),
    "no requests left behind": (not_cleared, "left_behind"),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("host"))
    with host.stack:
        yield host


@pytest.mark.parametrize("protection", REMOVALS)
async def test_without_a_protection_a_program_gets_through(
    protection: str, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    if protection in AS_USER and os.geteuid() == 0:
        pytest.skip("noticed only by an ordinary user")
    monkeypatch.setenv(SECRET, TRUTH)
    remove, name = REMOVALS[protection]
    remove(monkeypatch)
    try:
        found = await through(ATTACKS[name], host)
    except AssertionError as error:
        found = [str(error)]
    print(f"{protection} | {name} | {str(found[:1])[:100]}")  # noqa: T201 - the table, with -rA
    assert found
