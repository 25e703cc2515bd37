"""Work on many numbers: a plain loop in this process, or tasks on Ray.

One function is carried out for each number, in any order and perhaps more than once: a task whose
worker or node dies is tried again elsewhere. So the function must be idempotent. At most a few
tasks for each processor wait at a time, whatever their number, so memory does not grow with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")

RETRIES = 20
"""How often a task is tried again whose worker or node died."""
WAITING = 3
"""Tasks handed out for each processor: one runs, the next are there when it ends."""
TRANSIENT: list[type[Exception]] = [ConnectionError, TimeoutError]
"""Errors of the work itself after which it is tried again: an object store that hiccups."""
PATIENCE = 30.0
"""Seconds without a result after which a cluster without processors is mentioned."""
OBJECTS = 128 * 2**20
"""Bytes of Ray's own object store here: our results are small."""


def carried_out(
    function: Callable[..., T],
    fixed: tuple[Any, ...],
    numbers: Iterable[int],
    *,
    workers: int | None = None,
    address: str | None = None,
) -> Iterator[T]:
    """Yield `function(*fixed, number)` for each number, as they get ready.

    No workers: in this process. An address: on that running Ray cluster. Else on this machine,
    with as many workers as said or as it has processors.
    """
    if workers == 0:
        yield from (function(*fixed, number) for number in numbers)
        return
    import ray

    started = not ray.is_initialized()
    if started:
        start(workers, address)
    try:
        yield from _on_ray(function, fixed, iter(numbers))
    finally:
        if started:
            ray.shutdown()


def default_workers() -> int | None:
    """Return how to work if nothing is said: on all processors with Ray, alone without it."""
    try:
        import ray  # noqa: F401
    except ImportError:
        return 0
    return None


def start(workers: int | None, address: str | None) -> None:
    """Start Ray on this machine, or join a cluster that runs."""
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "WARNING"}
    if address is not None:
        ray.init(address=address, **quiet)
        return
    ray.init(
        address="local",
        num_cpus=workers,
        include_dashboard=False,
        object_store_memory=OBJECTS,
        _node_ip_address="127.0.0.1",
        **quiet,
    )


def _on_ray(
    function: Callable[..., T], fixed: tuple[Any, ...], numbers: Iterator[int]
) -> Iterator[T]:
    import ray
    from ray.exceptions import RayTaskError

    task = ray.remote(function).options(num_cpus=1, max_retries=RETRIES, retry_exceptions=TRANSIENT)
    given = [ray.put(value) for value in fixed]
    waiting: list[Any] = []
    try:
        while True:
            processors = ray.cluster_resources().get("CPU", 0)  # type: ignore[no-untyped-call]
            room = WAITING * max(1, int(processors)) - len(waiting)
            waiting += [task.remote(*given, number) for number in islice(numbers, max(0, room))]
            if not waiting:
                return
            ready, waiting = ray.wait(waiting, num_returns=1, timeout=PATIENCE)
            if not ready and not processors:
                print("no processor in the cluster yet", file=sys.stderr)  # noqa: T201
            yield from ray.get(ready)
    except RayTaskError as error:  # say what went wrong, not where Ray ran it
        raise error.cause from error
    finally:
        for task_left in waiting:
            ray.cancel(task_left)
