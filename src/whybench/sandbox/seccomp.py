"""A system-call filter: calls that analysis never needs return "not permitted".

Namespaces already limit what these calls could reach. The filter keeps programs away from parts of
the kernel that namespaces do not separate (keyrings, tracing, io_uring) and from typing into a
terminal.
"""

import platform
import struct
from functools import cache

_DENIED: dict[str, tuple[int, int]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "open_by_handle_at": (304, 265),
    "perf_event_open": (298, 241),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "setns": (308, 268),
    "swapon": (167, 224),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
"""Call, with its number on x86_64 and on aarch64."""

_MACHINES = {"x86_64": (0, 0xC000003E, 16), "aarch64": (1, 0xC00000B7, 29)}
"""Machine, with its column above, its name in audit records and the number of `ioctl`."""

_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _ARCH, _SECOND = 0, 4, 24
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000
_X32 = 0x40000000


@cache
def program() -> bytes | None:
    """Return the filter for this machine; empty if its call numbers are unknown."""
    if platform.machine() not in _MACHINES:
        return None
    column, arch, ioctl = _MACHINES[platform.machine()]
    numbers = [calls[column] for calls in _DENIED.values()]
    steps = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    checks = [(_AT_LEAST, _X32), *((_EQUAL, number) for number in numbers)]
    # After the checks: five steps for ioctl, the last two of them "allow" and "refuse".
    for place, (test, value) in enumerate(checks):
        steps.append((test, len(checks) - place + 4, 0, value))
    steps += [
        (_EQUAL, 0, 3, ioctl),
        (_LOAD, 0, 0, _SECOND),
        (_EQUAL, 2, 0, _TIOCSTI),
        (_EQUAL, 1, 0, _TIOCLINUX),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
