"""A server that is killed loses nothing that it acknowledged, and carries out nothing by half."""

from argparse import Namespace
from pathlib import Path

import pytest

pytest.importorskip("mcp")

from anyio import sleep
from anyio.from_thread import start_blocking_portal

from whybench.causal.canonical import canonical_json
from whybench.episode.action import parse_call
from whybench.episode.registry import load_suite

pytestmark = pytest.mark.wire

SCRIPTS = Path(__file__).parents[3] / "scripts"
PLACE = "suite=causallink/core&index=0"
SUITE = load_suite("causallink/core")
HOLD = ("hold", {"shape": SUITE.family.open(SUITE[0]).world.view.names[0]})


def test_every_session_goes_on_where_it_was_when_the_server_is_killed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    from bench_mcp import Server, loaded
    from mcp_load import Plan, scripts

    server = Server(tmp_path / "store.sqlite", unlimited=False)
    try:
        with start_blocking_portal() as portal:
            odd = Odd(server)
            whole = portal.call(odd.sent, 0)
            half = portal.call(odd.sent, 1)
            closed, score = portal.call(odd.scored)

            prepared = tuple(scripts(1, {"causallink/core": ("random", 4)}))
            asked = Namespace(sessions=20, seconds=4.0, wire="official", kill=True, kills=1)
            plan = Plan(server.address, "official", 20, prepared, 0, 4.0, 40.0, 0, records=True)
            report = loaded(asked, server, [plan])
            assert (report["errors"], report["differences"], report["lost"]) == (0, 0, 0), report
            assert report["calls"] == 160
            assert [kill["open_sessions_that_went_on"] >= 20 for kill in report["kills"]] == [True]
            assert 0 < report["resumed"] < report["records_compared"]

            assert portal.call(odd.record, whole) == played_directly(3)
            assert portal.call(odd.record, half) == played_directly(2)
            assert portal.call(odd.record, closed) == played_directly(1)
            assert portal.call(odd.scored, closed) == (closed, score)
            assert portal.call(odd.record, closed) == played_directly(1)
    finally:
        server.stop()


def played_directly(count):
    """Return the record of some actions, as the plain episode has it."""
    trace = SUITE.family.replay_episode(SUITE[0], [parse_call(*HOLD)] * count, 0, "own").trace
    return canonical_json(trace.to_json())


class Odd:
    """Sessions that are in a special state when the server is killed."""

    def __init__(self, server):
        self.server = server

    def wire(self, session=""):
        from mcp_wires import raw

        return raw(f"{self.server.address}?{PLACE}", session, lambda _: None)

    async def record(self, session):
        async with self.wire(session) as wire:
            return canonical_json(await wire.record())

    async def sent(self, cut):
        """Make two calls, send a third without its last bytes, and never read its answer."""
        async with self.wire() as wire:
            for _ in range(2):
                await wire.call(*HOLD)
            name, arguments = HOLD
            whole = wire.request("tools/call", {"name": name, "arguments": arguments})
            wire.writer.write(whole[: len(whole) - cut])
            await wire.writer.drain()
            while not cut and await self.record(wire.session) == played_directly(2):
                await sleep(0.02)
            return wire.session

    async def scored(self, session=""):
        """Make a call, and end the attempt by asking for its score."""
        async with self.wire(session) as wire:
            await wire.call(*HOLD)
            return wire.session, (await wire.call("episode_score", {}))["score"]
