"""What the sandbox says about its limits, where they come from, and that docker gets the same."""

import platform
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from tests.interfaces.sandboxes import SMALL, needs_bwrap, sample

from whybench.sandbox import cgroup, seccomp
from whybench.sandbox.bubblewrap import Bubblewrap
from whybench.sandbox.limits import MIB, Limits


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_the_profile_for_docker_is_the_same_list() -> None:
    stored = files("whybench.sandbox").joinpath("seccomp.json").read_text("utf-8")
    assert stored == seccomp.profile()


def test_every_rule_is_for_a_call_of_every_machine() -> None:
    for machine in ("x86_64", "aarch64"):
        assert set(seccomp.RULES) <= set(seccomp.calls(machine))
        numbers = list(seccomp.calls(machine).values())
        assert len(numbers) == len(set(numbers)) > 100


def test_the_list_names_nothing_that_holds_uncounted_memory() -> None:
    never = {
        "memfd_create", "memfd_secret", "shmget", "msgget", "semget", "mq_open", "vmsplice",
        "splice", "tee", "sendfile", "sendmsg", "socket", "setsockopt", "flock", "inotify_init1",
        "io_setup",
        "io_uring_setup", "userfaultfd", "bpf", "keyctl", "add_key", "setxattr", "ptrace", "clone3",
        "unshare", "setns", "mount", "pidfd_getfd", "process_vm_writev", "sched_setaffinity",
    }  # fmt: skip
    assert not never & set(seccomp.calls("x86_64"))


def test_an_unknown_machine_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert seccomp.program() is None


def test_the_compose_file_has_the_same_limits() -> None:
    text = files("whybench.sandbox").joinpath("compose.yaml").read_text("utf-8")
    service = yaml.safe_load(text)["services"]["default"]
    limits = Limits()
    assert service["mem_limit"] == service["memswap_limit"] == f"{limits.memory // MIB // 1024}g"
    assert service["pids_limit"] == limits.processes
    assert service["ulimits"]["fsize"] == limits.file
    assert service["cpus"] == 1.0
    assert "seccomp:./seccomp.json" in service["security_opt"]
    sizes = [int(part.split("size=")[1].split("m")[0]) for part in service["tmpfs"]]
    shared = int(service["shm_size"].removesuffix("m"))
    assert sum(sizes[:2]) + shared == limits.disk // MIB
    assert sizes[2] == 16  # of the service


def test_a_delegated_group_gets_the_limits_and_its_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(cgroup.VARIABLE, str(tmp_path))
    assert cgroup.open_group(SMALL) is None  # it offers no controllers
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")
    group = cgroup.open_group(SMALL)
    assert group is not None
    written = {path.name: path.read_text() for path in group.folder.iterdir()}
    assert written == {
        "memory.max": str(SMALL.memory),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": str(4 * SMALL.processes),
    }
    assert group.entry()[-1] == str(group.folder)
    assert not group.stopped()
    (group.folder / "memory.events").write_text("oom 1\noom_kill 0\n")
    assert not group.stopped()
    (group.folder / "memory.events").write_text("oom 1\noom_kill 2\n")
    assert group.stopped()


def test_a_folder_that_is_not_there_is_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cgroup.VARIABLE, "/no/such/folder")
    assert cgroup.delegated() is None


@pytest.mark.sandbox
@needs_bwrap
@pytest.mark.anyio
async def test_a_run_prints_the_limits_in_force(capsys: pytest.CaptureFixture[str]) -> None:
    await Bubblewrap.task_init("test", SMALL)
    said = capsys.readouterr().err
    assert "memory 384 MiB in all, files and buffers included (watched, no control group)" in said
    assert "system calls: a list of" in said
    assert "folders of the host: overlays" in said


@pytest.mark.sandbox
@needs_bwrap
@pytest.mark.anyio
async def test_commands_start_in_the_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cgroup.subtree_control").write_text("memory pids")
    monkeypatch.setenv(cgroup.VARIABLE, str(tmp_path))
    async with sample() as box:
        assert box.room.group is not None
        assert (await box.exec(["echo", "in"])).stdout == "in\n"
        assert (box.room.group.folder / "cgroup.procs").read_text().strip().isdecimal()
