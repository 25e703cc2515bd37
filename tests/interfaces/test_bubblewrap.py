"""The sandbox `bwrap` and the workshop on it: what they offer, bound and clear away."""

import os
import signal
import subprocess
import sys
import sysconfig
import textwrap
import time
from pathlib import Path

import anyio
import pytest
from inspect_ai import Task, eval, task  # noqa: A004 - Inspect's own name
from inspect_ai.dataset import Sample
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import (
    OutputLimitExceededError,
    SandboxEnvironmentSpec,
    SandboxUserUnsupportedError,
    sandbox,
)
from tests.interfaces.sandboxes import (
    SMALL,
    descendants,
    in_space,
    mount_space,
    needs_bwrap,
    sample,
)

from whybench.sandbox import room as rooms
from whybench.sandbox import system as systems
from whybench.sandbox.bubblewrap import STOPPED, Bubblewrap
from whybench.sandbox.code_execution import ClientError, CodeRunner, Ran
from whybench.sandbox.limits import Limits
from whybench.sandbox.watch import inside

pytestmark = [pytest.mark.sandbox, needs_bwrap, pytest.mark.anyio]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_files_last_from_command_to_command_and_processes_do_not() -> None:
    async with sample() as box:
        await box.write_file("deep/er/note.txt", "line\r\nπ\n")
        assert await box.read_file("deep/er/note.txt") == "line\r\nπ\n"
        await box.write_file("bytes", b"\xff\x00")
        assert await box.read_file("bytes", text=False) == b"\xff\x00"
        shown = await box.exec(["sh", "-c", "pwd; cat; ls; sleep 60 & exit 7"], input="given ")
        assert (shown.returncode, shown.stdout) == (7, "/desk\ngiven bytes\ndeep\n")
        alive = await box.exec(["sh", "-c", "cat /proc/[0-9]*/cmdline"], cwd="deep")
        assert "sleep" not in alive.stdout
        with pytest.raises(FileNotFoundError):
            await box.read_file("missing")
        with pytest.raises(IsADirectoryError):
            await box.write_file("deep", "x")
        with pytest.raises(SandboxUserUnsupportedError):
            await box.exec(["id"], user="root")


async def test_the_system_is_read_only_and_the_environment_our_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WHYBENCH_TEST_SECRET", "open")
    async with sample() as box:
        shown = await box.exec(["env"], env={"EXTRA": "1"})
        names = {line.partition("=")[0] for line in shown.stdout.splitlines()}
        assert names - {"LD_LIBRARY_PATH", "PWD", "OLDPWD", "SHLVL", "_"} == {
            "EXTRA", "HOME", "LANG", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH",
            "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "USER",
        }  # fmt: skip
        for path in ("/x", "/etc/x", "/usr/bin/x", "/opt/site/x", "/dev/x", "/mnt/x"):
            tried = await box.exec(["touch", path])
            assert not tried.success, path
        with pytest.raises(PermissionError):
            await box.write_file("/etc/passwd", "root::0:0::/:/bin/sh")
        assert (await box.exec(["id", "-un"])).stdout == "agent\n"


async def test_commands_are_bounded() -> None:
    async with sample(SMALL.model_copy(update={"seconds": 1})) as box:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            await box.exec(["sleep", "30"])
        assert time.monotonic() - began < 10
        with pytest.raises(OutputLimitExceededError):
            await box.exec(["yes"], timeout=5)
        with pytest.raises(OSError, match=r"disk is full|too large"):
            await box.write_file("big", bytes(SMALL.disk + 1))
    async with sample() as box:
        greedy = (
            "h = []\nimport os\nos.fork(); os.fork()\nwhile len(h) < 15: h.append(bytes(1)*9**7*2)"
        )
        greedy += "\nimport time; time.sleep(20)"
        stopped = await box.exec(["python3", "-c", greedy])
        assert stopped.stderr.startswith(f"{STOPPED}memory")


async def test_too_many_processes_are_ended_also_where_the_kernel_lets_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounds = Bubblewrap._bounds
    unbound = [f"--nproc={SMALL.processes}", "--nproc=60"]
    monkeypatch.setattr(
        Bubblewrap,
        "_bounds",
        lambda box, seconds: [
            unbound[1] if word == unbound[0] else word for word in bounds(box, seconds)
        ],
    )
    async with sample() as box:
        stopped = await box.exec(["sh", "-c", "for n in $(seq 40); do sleep 20 & done; wait"])
        assert stopped.stderr.startswith(f"{STOPPED}processes")


async def test_packages_of_the_base_interpreter_are_hidden() -> None:
    base = sysconfig.get_path("purelib", vars={"base": sys.base_prefix})
    async with sample() as box:
        listed = await box.exec(["sh", "-c", f"ls -A {base} 2>/dev/null; ls /opt/site"])
        names = set(listed.stdout.split())
        assert {"numpy", "pandas"} <= names
        assert names <= {
            "dateutil", "numpy", "numpy.libs", "pandas", "pandas.libs", "pytz", "six.py", "tzdata",
        }  # fmt: skip


async def test_samples_run_side_by_side_each_as_its_own_user() -> None:
    seen: list[tuple[str, str]] = []

    async def one(number: int) -> None:
        async with sample() as box:
            await box.write_file("mine", str(number))
            ran = await CodeRunner(box).run("print(open('mine').read(), end='')")
            uid = box.room.uid.number if box.room.uid else number
            seen.append((ran.output, str(uid)))
            await anyio.sleep(0.3)

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(one, number)
    assert sorted(output for output, _ in seen) == list("012345")
    assert len({uid for _, uid in seen}) == 6


async def test_a_cancelled_program_leaves_no_process() -> None:
    box = (await Bubblewrap.sample_init("test", SMALL, {}))["default"].as_type(Bubblewrap)
    marker = "import time, os\nos.fork()\ntime.sleep(54.321)"
    with mount_space(box.room.keeper.pid) as space:
        with anyio.move_on_after(1) as scope:
            await CodeRunner(box).run(marker)
        assert scope.cancelled_caught
        assert not box.room.running
        assert "bwrap" not in descendants()
        await Bubblewrap.sample_cleanup("test", SMALL, {"default": box}, True)
        assert not in_space(space)


async def test_a_run_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        import anyio
        from whybench.sandbox.bubblewrap import Bubblewrap

        async def main():
            box = (await Bubblewrap.sample_init("test", None, {}))["default"]
            print(box.room.keeper.pid, flush=True)
            await box.exec(["sh", "-c", "echo x >started; sleep 50"])

        anyio.run(main)
    """)
    victim = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert victim.stdout is not None
    keeper = int(await anyio.to_thread.run_sync(victim.stdout.readline))
    with mount_space(keeper) as space:
        await anyio.sleep(0.5)
        assert in_space(space)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        for _ in range(100):
            if not in_space(space) and not Path(f"/proc/{keeper}").exists():
                return
            await anyio.sleep(0.05)
        raise AssertionError(in_space(space))


async def deploy(design: dict[str, float], count: int = 1) -> dict[str, float]:
    """A method such as an episode offers."""
    if count > 5:
        raise ClientError("at most 5 drones")
    return {"count": count, "sum": sum(design.values())}


async def test_a_client_calls_its_methods_and_is_told_why_not() -> None:
    async with sample() as box:
        shop = CodeRunner(box, {"deploy": deploy})
        program = """
            print(client.deploy({"a": np.float64(1.5)}, count=np.int64(2)), data, dir(client))
            for wrong in (dict(design={}, count=6), dict(sketch={})):
                try:
                    client.deploy(**wrong)
                except Exception as problem:
                    print(type(problem).__name__, problem)
            client.fly()
        """
        ran = await shop.run(textwrap.dedent(program), {"rows": [1, None]})
        assert [line for line in ran.output.splitlines() if "^" not in line] == [
            "{'count': 2, 'sum': 1.5} {'rows': [1, None]} ['deploy']",
            "ClientError at most 5 drones",
            "ClientError missing a required argument: 'design'",
            "Traceback (most recent call last):",
            '  File "program.py", line 8, in <module>',
            "    client.fly()",
            "AttributeError: client has no 'fly'; it has deploy",
        ]
        assert ran.outcome == "error"


async def test_without_methods_every_call_redirects() -> None:
    async with sample() as box:
        shop = CodeRunner(box, redirect="use the tool `deploy`")
        ran = await shop.run("client.deploy(design=1)")
        assert ran.outcome == "error"
        assert ran.output.endswith("ClientError: use the tool `deploy`\n")


async def test_what_a_method_raises_ends_the_program_and_reaches_the_caller() -> None:
    async def broken() -> None:
        raise KeyError("a defect of ours")

    async with sample() as box:
        shop = CodeRunner(box, {"broken": broken, "deploy": deploy})
        with pytest.raises(KeyError, match="a defect of ours"):
            await shop.run(
                "try:\n    client.broken()\nexcept BaseException: pass\nwhile True: pass"
            )
        assert (await shop.run("print(client.deploy(design={})['sum'])")) == Ran("0\n", "ok")


async def test_programs_have_numpy_and_pandas_but_not_their_predecessors_variables() -> None:
    async with sample() as box:
        shop = CodeRunner(box)
        frame = (
            "kept = pd.DataFrame({'a': np.arange(4)}); kept.to_csv('kept.csv'); print(kept.a.sum())"
        )
        assert await shop.run(frame) == Ran("6\n", "ok")
        ran = await shop.run("print(len(open('kept.csv').readlines()))\nprint(kept)")
        assert ran.output.startswith("5\nTraceback")
        assert ran.output.endswith("NameError: name 'kept' is not defined\n")


@solver
def build() -> Solver:
    """Run a program and a few calls in a sample's sandbox, without a model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        calls: list[str] = []

        async def note(word: str) -> str:
            calls.append(word)
            return f"{word}!"

        shop = CodeRunner(sandbox(), {"note": note})
        ran = await shop.run(f"print(client.note({state.input_text!r}))")
        state.metadata.update(output=ran.output, outcome=ran.outcome, calls=calls)
        if state.input_text == "two":
            await shop.run("while True: pass")
        return state

    return solve


def test_an_evaluation_runs_in_the_sandbox() -> None:
    @task
    def building() -> Task:
        return Task(
            dataset=[Sample(input=word) for word in ("one", "two")],
            solver=build(),
            sandbox=SandboxEnvironmentSpec("bwrap", Limits(seconds=60)),
            time_limit=20,
        )

    (log,) = eval(building(), model="none/none", display="none")
    assert log.status == "success", log.error
    assert log.eval.sandbox is not None
    assert log.eval.sandbox.config == Limits(seconds=60)
    for done in log.samples or ():
        expected = {"output": f"{done.input}!\n", "outcome": "ok", "calls": [done.input]}
        assert {name: done.metadata[name] for name in expected} == expected
    limited = {str(done.input): done.limit is not None for done in log.samples or ()}
    assert limited == {"one": False, "two": True}
    assert "bwrap" not in descendants()
    assert "cat" not in descendants()


def test_a_missing_tool_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "TOOLS", ("bwrap", "no-such-tool"))
    with pytest.raises(RuntimeError, match=r"needs no-such-tool\. Install .*apt-get install"):
        systems.tools.__wrapped__()


async def test_a_system_without_namespaces_is_told_what_to_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusing = ["/bin/sh", "-c", "echo unshare failed: Operation not permitted >&2; exit 1"]
    monkeypatch.setattr(rooms, "_keeping", lambda *_: refusing)
    with pytest.raises(RuntimeError, match=r"not permitted\. It needs user and mount namespaces"):
        await Bubblewrap.task_init("test", None)


async def test_commands_and_stopped_ones_leave_no_zombie() -> None:
    before = orphans()
    async with sample() as box:
        for _ in range(6):
            await box.exec(["true"])
        with pytest.raises(TimeoutError):
            await box.exec(["sleep", "9"], timeout=1)
        assert "bwrap" not in descendants()
    assert orphans() <= before


def orphans() -> set[str]:
    """Zombies of bubblewrap that were left to the host's first process."""
    found = set()
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdecimal() and "(bwrap) Z 1 " in (process / "stat").read_text():
                found.add(process.name)
        except OSError:
            continue
    return found


def test_processes_of_the_host_are_never_counted_while_the_sandbox_is_being_built() -> None:
    assert inside(os.getpid()) == []  # this process sees the host's list, as one half built
