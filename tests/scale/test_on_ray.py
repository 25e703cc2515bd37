"""The same sets on Ray: on this machine, and on a simulated cluster that loses a node."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scale.sets import contents, planned, stored

from whybench.interfaces.stored.place import Place
from whybench.scale.recheck import recheck
from whybench.scale.task_runner import carried_out

ray = pytest.importorskip("ray")

pytestmark = [pytest.mark.ray, pytest.mark.xdist_group("ray")]

PLAN = planned("causallink/advanced", n=240, rows=10)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    stored(folder, PLAN, workers=0)
    return folder


@pytest.fixture
def cluster() -> Iterator[Any]:
    from ray.cluster_utils import Cluster

    small = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    made = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "object_store_memory": 80 * 2**20,
            "include_dashboard": False,
        },
    )
    nodes = [made.add_node(**small) for _ in range(3)]
    made.wait_for_nodes()
    yield made, nodes
    ray.shutdown()
    made.shutdown()


def slow(folder: str, number: int) -> int:
    """Leave a mark, and take long enough to be killed in mid-work."""
    import time

    Path(folder, f"{number}.begun").touch()
    time.sleep(0.3)
    return number * number


def test_two_workers_make_what_a_plain_loop_makes(plain: Path, tmp_path: Path) -> None:
    stored(tmp_path, PLAN, workers=2)
    assert contents(tmp_path) == contents(plain)
    found = list(recheck(Place(str(tmp_path)), workers=2))
    assert sum(shard.rows for shard in found) == 240
    assert not [flaw for shard in found for flaw in shard.flaws]
    assert not ray.is_initialized()


def test_a_node_removed_in_mid_run_loses_nothing(cluster: Any, plain: Path, tmp_path: Path) -> None:
    made, nodes = cluster
    ray.init(address=made.address, log_to_driver=False)
    done: list[int] = []

    def removing(shard: Any) -> None:
        done.append(shard.number)
        if len(done) == 4:
            made.remove_node(nodes[0], allow_graceful=False)

    stored(tmp_path, PLAN, workers=None, progress=removing)
    assert sorted(done) == list(range(24))
    assert contents(tmp_path) == contents(plain)


def test_a_task_whose_node_dies_is_carried_out_elsewhere(cluster: Any, tmp_path: Path) -> None:
    made, nodes = cluster
    ray.init(address=made.address, log_to_driver=False)
    results = carried_out(slow, (str(tmp_path),), range(12))
    found = [next(results)]
    made.remove_node(nodes[1], allow_graceful=False)
    found += results
    assert sorted(found) == [number * number for number in range(12)]
    assert len(list(tmp_path.glob("*.begun"))) == 12


def test_an_error_of_the_work_itself_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(carried_out(slow, (str(tmp_path / "nowhere"),), range(3), workers=1))
