"""A system-call filter that is an allow-list: what analysis does not need is refused.

`calls.csv` lists the calls. Some are allowed for some arguments only. What could hold memory that
nobody counts is absent: anonymous shared memory in each of its forms, sockets with a chosen buffer,
splicing, locks. Other calls are absent because they show what other samples do.
"""

import csv
import json
import platform
import struct
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Rule:
    """A call is allowed if these bits of one argument have one of these values."""

    argument: int
    values: tuple[int, ...]
    bits: int = 0xFFFFFFFF


RULES = {
    # No new namespace of any kind.
    "clone": Rule(0, (0,), 0x7E020000),
    # Descriptors and their flags; no locks, leases or notices, no larger pipes.
    "fcntl": Rule(1, (0, 1, 2, 3, 4, 1030, 1032)),
    # Is it a terminal, how much can be read, and the flags of a descriptor.
    "ioctl": Rule(1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    # No huge pages, which would let memory grow too fast to be watched.
    "madvise": Rule(2, (0, 1, 2, 3, 4, 8, 10, 11, 15, 16, 17, 18, 19)),
    # Private, or shared and of a file: never shared without a file, never of huge pages.
    "mmap": Rule(3, (0x00, 0x01, 0x20), 0x40021),
    # Names, signals at a parent's end, adoption of orphans, readability, no new privileges.
    "prctl": Rule(0, (1, 2, 3, 4, 15, 16, 23, 36, 38, 39, 0x53564D41)),
    # A process's own limits.
    "prlimit64": Rule(0, (0,)),
    # Local pairs: nothing can be reached with them.
    "socketpair": Rule(0, (1,)),
}
"""Calls that depend on an argument."""

_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""Machine, with its name in audit records."""
_NEWER = 424
"""From here on, a call has the same number on every machine, and libraries know a way without."""

_LOAD, _AND, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
_ALLOW, _REFUSE, _UNKNOWN, _KILL = 0x7FFF0000, 0x00050001, 0x00050026, 0x80000000

Step = tuple[int, int, int, int]


@cache
def calls(machine: str) -> dict[str, int]:
    """Return the allowed calls with their numbers on a machine."""
    with files("whybench.sandbox").joinpath("calls.csv").open(encoding="utf-8") as lines:
        return {row["call"]: int(row[machine]) for row in csv.DictReader(lines) if row[machine]}


def program() -> bytes | None:
    """Return the filter for this machine, or nothing if its call numbers are unknown."""
    machine = platform.machine()
    if machine not in _MACHINES:
        return None
    steps: list[Step] = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, _MACHINES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for name, number in calls(machine).items():
        inner = _checked(RULES[name]) if name in RULES else [(_RETURN, 0, 0, _ALLOW)]
        steps += [(_EQUAL, 0, len(inner), number), *inner]
    steps += [
        (_AT_LEAST, 0, 1, _NEWER),
        (_RETURN, 0, 0, _UNKNOWN),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _checked(rule: Rule) -> list[Step]:
    most = len(rule.values)
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * rule.argument),
        (_AND, 0, 0, rule.bits),
        *((_EQUAL, most - place, 0, value) for place, value in enumerate(rule.values)),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]


def profile() -> str:
    """Return the same filter as a profile for docker: the file `seccomp.json`."""
    rows: list[dict[str, object]] = [
        {"names": sorted(set(calls("x86_64")) - set(RULES)), "action": "SCMP_ACT_ALLOW"}
    ]
    for name, rule in RULES.items():
        for value in rule.values:
            test: dict[str, object] = {"index": rule.argument, "op": "SCMP_CMP_MASKED_EQ"}
            test |= {"value": rule.bits, "valueTwo": value}
            rows.append({"names": [name], "action": "SCMP_ACT_ALLOW", "args": [test]})
    rows.append({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": 38})
    whole = {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": 1,
        "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"],
        "syscalls": rows,
    }
    return json.dumps(whole, indent=1) + "\n"
