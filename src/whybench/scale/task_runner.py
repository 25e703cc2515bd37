"""Run one function for many numbers, in a loop in this process or as tasks on Ray.

The order is not fixed, and a number can run more than once: a task whose worker or node dies is
tried again elsewhere. So the function must be idempotent. At most a few tasks per processor are
queued at a time, so memory does not grow with the number of tasks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")

RETRIES = 20
"""Number of retries for a task whose worker or node died."""
WAITING = 3
"""Tasks queued per processor: one runs, and the next can start when it ends."""
TRANSIENT: list[type[Exception]] = [ConnectionError, TimeoutError]
"""Errors of the function after which it is tried again, such as a failing object store."""
PATIENCE = 30.0
"""Seconds without a result after which a cluster without processors is mentioned."""
OBJECTS = 128 * 2**20
"""Bytes of Ray's object store on this machine. The results are small."""


def carried_out(
    function: Callable[..., T],
    fixed: tuple[Any, ...],
    numbers: Iterable[int],
    *,
    workers: int | None = None,
    address: str | None = None,
) -> Iterator[T]:
    """Yield `function(*fixed, number)` for each number, in the order in which results arrive.

    With `workers=0` it runs in this process, and with `address` on that Ray cluster. Otherwise it
    runs on this machine with `workers` workers, by default one per processor.
    """
    if workers == 0:
        yield from (function(*fixed, number) for number in numbers)
        return
    import ray

    started = not ray.is_initialized()
    if started:
        try:
            start(workers, address)
        except Exception as error:
            if address is not None:
                raise ValueError(
                    f"Cannot join the Ray cluster {address}: {_first(error)}"
                ) from error
            ray.shutdown()
            print(  # noqa: T201
                f"Ray cannot start ({_first(error)}), so one process does all the work. "
                "Use --workers 0 to skip Ray.",
                file=sys.stderr,
            )
            yield from (function(*fixed, number) for number in numbers)
            return
    try:
        yield from _on_ray(function, fixed, iter(numbers))
    finally:
        if started:
            ray.shutdown()


def _first(error: Exception) -> str:
    """Return the first line of an error."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


def default_workers() -> int | None:
    """Return the default number of workers: all processors with Ray, 0 without it."""
    try:
        import ray  # noqa: F401
    except ImportError:
        return 0
    return None


def start(workers: int | None, address: str | None) -> None:
    """Start Ray on this machine, or join a running cluster."""
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
                print("The Ray cluster has no processors yet. Waiting.", file=sys.stderr)  # noqa: T201
            yield from ray.get(ready)
    except RayTaskError as error:  # raise the cause, without Ray's own traceback
        raise error.cause from error
    finally:
        for task_left in waiting:
            ray.cancel(task_left)
