"""Programs that attack: each is contained, the run goes on, and the outcome has a name."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.interfaces.sandboxes import SMALL, needs_bwrap, sample
from tests.sandbox.attacks import ATTACKS, SECRET, TRUTH, Host, through
from tests.sandbox.outside import looking

from whybench.sandbox.code_execution import CodeRunner, Ran
from whybench.sandbox.limits import MIB

pytestmark = [pytest.mark.sandbox, needs_bwrap, pytest.mark.anyio]


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
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """What nobody may reach."""
    host = Host(tmp_path_factory.mktemp("host"))
    with host.stack:
        yield host


@pytest.mark.parametrize("name", ATTACKS)
async def test_a_hostile_program_is_contained(
    name: str, neighbour: CodeRunner, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET, TRUTH)
    others: list[Ran] = []

    async def meanwhile() -> None:
        others.append(await neighbour.run("print(open('neighbour.txt').read())"))

    assert await through(ATTACKS[name], host, meanwhile) == []
    assert others == [Ran("private\n", "ok")]


@pytest.mark.parametrize("name", ["burst", "files_and_memory", "memory_by_many", "unreadable"])
async def test_memory_seen_from_outside_stays_near_the_limit(name: str, host: Host) -> None:
    seen: list[int] = []
    with looking([], seen):
        assert await through(ATTACKS[name], host) == []
    peak, _ = seen
    assert 20 < peak <= 1.1 * SMALL.memory / MIB


def test_there_are_eighty_programs_of_every_kind() -> None:
    assert len(ATTACKS) >= 80
    assert {attack.kind for attack in ATTACKS.values()} == {
        path.stem for path in (Path(__file__).parent / "hostile").iterdir()
    }
