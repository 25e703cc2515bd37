"""Programs that attack: each is contained, the run goes on, and the outcome has a name.

The programs lie in `hostile/`, with an ending that nothing imports or collects: a fork bomb must
never run outside the sandbox. What floods has a bound of its own, so that a failing test does
the host no harm. A program prints `LEAK` for whatever it reaches that it must not,
and `done` when it has tried all, unless a bound ends it.
"""

import hashlib
import os
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import anyio
import pytest
from tests.interfaces.sandboxes import SMALL, needs_bwrap, sample

from whybench.sandbox.bubblewrap import Bubblewrap
from whybench.sandbox.code_execution import CodeRunner, Ran

pytestmark = [pytest.mark.sandbox, needs_bwrap, pytest.mark.anyio]

PROGRAMS = Path(__file__).parent / "hostile"
BOUNDED = {
    "disk_many_files": "disk",
    "disk_one_file": "disk",
    "disk_shared_memory": "disk",
    "endless_loop": "timeout",
    "fork_bomb": "processes",
    "fork_bomb_stubborn": "timeout",
    "ignore_signals": "timeout",
    "kill_everyone": "killed",
    "kill_group": "killed",
    "memory_by_many": "memory",
    "memory_flood": "memory",
    "output_flood": "output",
    "output_raw_flood": "output",
    "thread_bomb": "processes",
}
"""Programs that a bound ends, and its name; all others end by themselves."""
CALLING = {"broken_mailbox", "deep_json", "forged_requests", "patched_client", "search_memory"}
"""Programs that are given a client."""

TRUTH = "the-optimum-is-7"
ABSTRACT = f"whybench-hostile-{os.getpid()}"
SECRET = "WHYBENCH_TEST_SECRET"
HARMLESS = "print(sum(range(10)))"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def neighbour() -> AsyncIterator[CodeRunner]:
    """Another sample, open all the while."""
    async with sample() as box:
        await box.write_file("neighbour.txt", "private")
        yield CodeRunner(box)


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    """A port of the host that nobody may reach."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.fixture(scope="module")
def nameless() -> Iterator[socket.socket]:
    """A socket of the host without a file."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{ABSTRACT}")
        server.listen()
        server.setblocking(False)
        yield server


class Episode:
    """Something to call, with a truth that no program may learn."""

    def __init__(self) -> None:
        self.truth = TRUTH
        self.designs: list[object] = []

    async def deploy(self, design: object) -> int:
        self.designs.append(design)
        return len(self.designs)


@pytest.mark.parametrize("name", sorted(path.name.split(".")[0] for path in PROGRAMS.iterdir()))
async def test_a_hostile_program_is_contained(
    name: str,
    neighbour: CodeRunner,
    listener: socket.socket,
    nameless: socket.socket,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SECRET, TRUTH)
    host_file = tmp_path / "host.txt"
    host_file.write_text(TRUTH)
    data = {
        "abstract": ABSTRACT,
        "checkout": str(Path(__file__).parents[2] / "src"),
        "host_file": str(host_file),
        "port": listener.getsockname()[1],
        "secret": SECRET,
        "truth": hashlib.sha256(TRUTH.encode()).hexdigest(),
    }
    expected = BOUNDED.get(name, "ok")
    limits = SMALL.model_copy(update={"seconds": 1}) if expected == "timeout" else SMALL
    episode = Episode()
    methods = {"deploy": episode.deploy} if name in CALLING else {}
    program = (PROGRAMS / f"{name}.py.txt").read_text()
    others: list[Ran] = []

    async def meanwhile() -> None:
        others.append(await neighbour.run("print(open('neighbour.txt').read())"))

    async with sample(limits) as box:
        shop = CodeRunner(box, methods)
        async with anyio.create_task_group() as group:
            group.start_soon(meanwhile)
            ran = await shop.run(program, data)
        assert ran.outcome == expected, ran.output
        assert "LEAK" not in ran.output, ran.output
        assert TRUTH not in ran.output
        assert len(ran.output.encode()) < SMALL.output * 2
        if expected == "ok":
            assert ran.output.splitlines()[-1].startswith("done"), ran.output
            assert "False" not in ran.output.splitlines()[-1], ran.output
        after = await shop.run(f"{HARMLESS}\nclient.deploy(design=0)" if methods else HARMLESS)
        assert after == Ran("45\n", "ok")
        if name in AFTERWARDS:
            await AFTERWARDS[name](box, shop, episode)
        await nothing_came(listener)
        await nothing_came(nameless)
    assert others == [Ran("private\n", "ok")]
    assert host_file.read_text() == TRUTH


async def nothing_came(server: socket.socket) -> None:
    with pytest.raises(BlockingIOError):
        server.accept()


async def links_are_not_followed(box: Bubblewrap, shop: CodeRunner, episode: Episode) -> None:
    for name in ("shadow", "host", "up", "self"):
        with pytest.raises((FileNotFoundError, PermissionError)):
            await box.read_file(name)
    with pytest.raises(IsADirectoryError):
        await box.read_file("root")
    with pytest.raises(PermissionError):
        await box.read_file("pipe")
    with pytest.raises((PermissionError, FileNotFoundError)):
        await box.write_file("host", "overwritten")


async def the_daemon_is_dead(box: Bubblewrap, shop: CodeRunner, episode: Episode) -> None:
    before = await box.read_file("heartbeat")
    await anyio.sleep(0.1)
    assert await box.read_file("heartbeat") == before


async def only_honest_calls_counted(box: Bubblewrap, shop: CodeRunner, episode: Episode) -> None:
    assert episode.designs == [2, 0]


async def the_unknown_did_not_count(box: Bubblewrap, shop: CodeRunner, episode: Episode) -> None:
    assert episode.designs == [3, 0]


async def names_do_no_harm(box: Bubblewrap, shop: CodeRunner, episode: Episode) -> None:
    listed = await shop.run("import os; print('planted' in os.listdir(), len(os.listdir(b'.')))")
    assert listed.output == "False 11\n"


AFTERWARDS = {
    "daemon": the_daemon_is_dead,
    "file_names": names_do_no_harm,
    "forged_requests": only_honest_calls_counted,
    "links": links_are_not_followed,
    "patched_client": the_unknown_did_not_count,
}
