"""The limits of one sample's sandbox."""

from pydantic import BaseModel, ConfigDict, Field

MIB = 1024**2

GRACE_SECONDS = 5
"""Extra time after a program's limit for the supervisor inside to end it."""


class Limits(BaseModel):
    """Limits of the sandbox's programs; also the configuration of the provider `bwrap`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: int = Field(default=60, ge=1, le=3600)
    """Wall time of one command or program."""
    memory: int = Field(default=1024 * MIB, ge=128 * MIB)
    """Bytes that a sample holds in all: processes, files, and buffers of the kernel. Also the bytes
    of address space of one process."""
    processes: int = Field(default=64, ge=8, le=4096)
    """Processes and threads of one command at once."""
    file: int = Field(default=32 * MIB, ge=MIB)
    """Bytes of one file."""
    disk: int = Field(default=64 * MIB, ge=MIB)
    """Bytes of all files of a sample: work directory, `/tmp` and `/dev/shm` together."""
    inodes: int = Field(default=4096, ge=64)
    """Files and folders of a sample."""
    output: int = Field(default=64 * 1024, ge=1024)
    """Bytes that a program may print; a program that prints more is stopped."""
