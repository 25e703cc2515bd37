"""The examples run as their own first lines say, and do what the docs say of them."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

from whybench.episode.registry import load_suite
from whybench.interfaces.sampling import Choice
from whybench.interfaces.session import Session

pytestmark = pytest.mark.wire

EXAMPLES = Path(__file__).parents[2] / "examples"
INSPECT = "import sys; from inspect_ai._cli.main import main; sys.argv[0] = 'inspect'; main()"


def said(*command: str) -> str:
    run = [sys.executable, *command]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def code(name: str) -> list[str]:
    """Return an example's lines without blank ones and docstrings."""
    text = (EXAMPLES / name).read_text("utf-8")
    lines = dict(enumerate(text.splitlines(), 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                del lines[number]
    return [line for line in lines.values() if line.strip()]


def system_ids(suite: str, part: str | None) -> set[str]:
    found = load_suite(suite)
    return {repr(found.family.system(found.family.world(i))) for i in Choice(found, part).once()}


def test_one_agent_gets_the_same_accuracy_from_the_plain_loop_and_as_a_solver() -> None:
    plain = re.findall(r"accuracy (\S+) on 84 instances", said(str(EXAMPLES), "plain_loop"))
    own = ["--solver", str(EXAMPLES / "inspect_agent.py"), "--model", "none/none"]
    told = said("-c", INSPECT, "eval", "whybench/causallink", *own, "--display", "plain")
    assert plain == re.findall(r"^accuracy +(\S+)", told, re.MULTILINE) == ["0.798"]


def test_the_mcp_client_plays_on_a_real_server_and_prints_the_score(tmp_path: Path) -> None:
    serve = ["arena", "serve", "--http", "--port", "0", "--store", str(tmp_path / "store.sqlite")]
    command = [sys.executable, "-m", "whybench", *serve]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().strip()
            told = said(str(EXAMPLES / "mcp_client.py"), address, "causallink/core", "30")
        finally:
            server.terminate()
            server.wait(20)
    outcome, values, receipt = told.splitlines()
    session = Session(load_suite("causallink/core")[30])
    cause, effect = re.findall(r"movement of the (\w+) make the (\w+) move", session.instructions)[
        0
    ]
    seen = session.call("move", {"shape": cause}).text
    session.call("answer", {"answer": "yes" if f"{effect} moving" in seen else "no"})
    assert (outcome, ast.literal_eval(values)) == ("answered", session.score().values.asdict())
    assert receipt


def test_the_mcp_client_and_its_agent_are_thirty_lines() -> None:
    client, agent = code("mcp_client.py"), code("agent.py")
    assert any("call_tool" in line for line in client)
    assert len(client) + len(agent) <= 30


@pytest.mark.parametrize("name", ["mcp_client", "plain_loop"])
def test_the_page_shows_an_example_as_it_is(name: str) -> None:
    page = EXAMPLES.parent / "docs" / "how-to" / "own-agent.md"
    assert (EXAMPLES / f"{name}.py").read_text("utf-8") in page.read_text("utf-8")


def test_the_policy_gradient_learns_and_draws_its_curve(tmp_path: Path) -> None:
    plot = tmp_path / "curve.svg"
    small = ["--seeds", "1", "--episodes", "1500", "--points", "1", "--plot", str(plot)]
    told = said(str(EXAMPLES / "policy_gradient.py"), *small)
    [row] = [line for line in told.splitlines() if line.startswith("seed 0")]
    before, after = re.findall(r"(\S+) \[(\S+), (\S+)\]", row)[:2]
    assert float(after[1]) > float(before[2]) + 0.1, row
    drawn = ElementTree.parse(plot).getroot()
    paths = drawn.findall("{http://www.w3.org/2000/svg}path")
    assert [path.get("class") for path in paths] == ["seed", "mean"]


def test_the_policy_gradient_looks_at_nothing_but_observations() -> None:
    lines = "\n".join(code("policy_gradient.py"))
    assert "env.step(" in lines
    for hidden in ("unwrapped", "session", "trace", "world", "episode.", 'info["score"]'):
        assert hidden not in lines


def test_no_system_that_the_policy_gradient_trains_on_is_evaluated() -> None:
    trained = system_ids("causallink/collider", "train")
    trained |= system_ids("causallink/advanced", "train")
    evaluated = system_ids("causallink/core", None) | system_ids("causallink/advanced", "eval")
    assert len(evaluated) > 10 < len(trained)
    assert not trained & evaluated


@pytest.mark.parametrize("interface", ["openenv_episode", "verifiers_rollout"])
def test_a_separate_distributions_example_runs_where_that_is_installed(interface: str) -> None:
    lines = code(f"{interface}.py")
    package = f"whybench_{interface.partition('_')[0]}"
    assert any(line.startswith(f"from {package}") for line in lines)
    if find_spec(package) is None:
        pytest.skip(f"{package} has an environment of its own")
    assert "1.0" in said(str(EXAMPLES / f"{interface}.py"))


def test_the_wheel_has_the_examples() -> None:
    """`scripts/smoke_interfaces` tries `python -m whybench.examples` on an installed wheel."""
    built = tomllib.loads((EXAMPLES.parent / "pyproject.toml").read_text("utf-8"))
    wheel = built["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"examples": "whybench/examples"}
