"""Parts of an arena for tests and measurements: PostgreSQL and HAProxy, started and stopped here.

Both run on 127.0.0.1 from a scratch folder. PostgreSQL does not run as root, so root starts it as
the user `nobody`.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path


def program(name: str) -> str | None:
    """Find a program, also where Debian keeps PostgreSQL's and HAProxy's."""
    kept = [*Path("/usr/lib/postgresql").glob("*/bin"), Path("/usr/sbin")]
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(map(str, kept)))


def free_port() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return int(line.getsockname()[1])


class Postgres:
    """A private cluster. With `fsync`, commits reach the disk, as in production."""

    def __init__(self, *, fsync: bool = True) -> None:
        self.fsync = "on" if fsync else "off"
        self._folder = tempfile.TemporaryDirectory(prefix="whybench-pg-")
        folder = Path(self._folder.name)
        self.data, self.port = folder / "data", free_port()
        self.url = f"postgresql://whybench@127.0.0.1:{self.port}/postgres"
        self._as: list[str] = []
        if os.geteuid() == 0:
            self._as = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            os.chown(folder, 65534, 65534)
        words = ["--pgdata", self.data, "--username", "whybench", "--auth", "trust", "--no-sync"]
        subprocess.run(
            [*self._as, program("initdb"), *words, "--encoding", "UTF8", "--locale", "C"],
            check=True, capture_output=True, cwd=folder,
        )  # fmt: skip
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it answers.

        It refuses to start while a process of a killed server is still alive, so it is tried again.
        """
        settings = {
            "listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": "",
            "max_connections": 100, "fsync": self.fsync,
        }  # fmt: skip
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        command = [*self._as, program("postgres"), "-D", self.data, *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, **quiet, cwd=self.data.parent)
        ready = [program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        until = time.monotonic() + 120
        while subprocess.run(ready, check=False).returncode:
            if time.monotonic() > until:
                raise SystemExit("PostgreSQL did not start")
            time.sleep(0.05)
            if self.process.poll() is not None:
                self.process = subprocess.Popen(command, **quiet, cwd=self.data.parent)

    def kill(self) -> None:
        """Kill the server with all its processes, and start it again: it recovers from its log."""
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.process.pid)],
            check=False, capture_output=True, text=True,
        ).stdout.split()  # fmt: skip
        for pid in (self.process.pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        self.start()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGQUIT)  # nothing is kept, so nothing is written back
        self.process.wait(30)
        self._folder.cleanup()


class Proxy:
    """HAProxy with the configuration in `examples/arena`, before servers on given ports."""

    def __init__(self, folder: Path, ports: list[int]) -> None:
        self.port = free_port()
        given = Path(__file__).parents[1] / "examples" / "arena" / "haproxy.cfg"
        text = given.read_text("utf-8").replace("bind :8443 ssl crt /etc/whybench/arena.pem",
                                                f"bind 127.0.0.1:{self.port}")  # fmt: skip
        for number, port in enumerate(ports, 1):
            text = text.replace(f"127.0.0.1:876{number}", f"127.0.0.1:{port}")
        file = folder / "haproxy.cfg"
        file.write_text(text, "utf-8")
        words = [program("haproxy"), "-f", file]
        subprocess.run([*words, "-c", "-q"], check=True)
        self.process = subprocess.Popen([*words, "-db", "-q"])
        time.sleep(0.3)
        if self.process.poll() is not None:
            raise SystemExit("HAProxy did not start")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)
