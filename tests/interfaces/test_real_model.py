"""A real model, for real: a small local one through Inspect's OpenAI-compatible provider.

It proves the plumbing, not the model: it hardly ever answers. Every sample must end with an answer
or a named error mode, and the figures are printed whatever the verbosity.
"""

import json
import math
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, read_eval_log

from whybench.episode.registry import families
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.submission import STAGES
from whybench.interfaces import local_model
from whybench.interfaces.inspectai.record import EPISODE
from whybench.sandbox.episode_programs import PROGRAMS

pytestmark = pytest.mark.real_model

SHORT = ("-T", "suite=core", "-T", "max_errors=1", "-T", "budget=1")
"""The model reads some 90 tokens a second on two cores: one error or intervention is enough."""

PROBLEMS = int(os.environ.get("WHYBENCH_REAL_PROBLEMS", "1"))
"""Problems of each ReplaySCM suite and CausaLab protocol: their prompts are long, so one by default
(docs/benchmarks.md has a run with ten)."""

LONG = 8192
"""Tokens of the longest conversation: tables of zeros and ones take about one for a character."""

NAMED = {
    "answered", "invalid_format", "invalid_action", "invalid_answer", "timeout",
    "cut_off", "empty", "unread_call",
}  # fmt: skip
LIMITS = {"message_limit", "token_limit", "time_limit", "working_limit"}


@pytest.fixture(scope="module")
def server() -> Iterator[local_model.LocalModel]:
    try:
        local_model.weights()
        if find_spec("xllamacpp") is None:
            raise RuntimeError("the extra `local` is not installed")
    except RuntimeError as missing:
        if os.environ.get("WHYBENCH_REQUIRE_MODEL"):
            raise
        pytest.skip(str(missing))
    with local_model.serve(context=LONG) as running:
        yield running


def run(
    server: local_model.LocalModel, folder: Path, limit: int, *options: str,
    task: str = "causallink", short: tuple[str, ...] = SHORT, length: int = 32,
    model: str | None = None, keep: bool = False,
) -> EvalLog:  # fmt: skip
    """Run the command that the README shows to users; `keep` its log for the demonstration."""
    chosen = () if "--sample-id" in options else ("--limit", str(limit))
    words = [
        "inspect", "eval", f"whybench/{task}", *options, *short, *chosen,
        "--model", model or server.inspect_model, "--max-tokens", str(length),
        "--temperature", "0", "--max-connections", str(local_model.SLOTS),
        "--log-dir", str(folder), "--display", "none",
    ]  # fmt: skip
    done = subprocess.run(
        words, env=os.environ | server.environment(), capture_output=True, text=True, timeout=1800,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.eval")
    if keep and os.environ.get("WHYBENCH_KEEP_LOGS"):
        shutil.copy(path, os.environ["WHYBENCH_KEEP_LOGS"])
    log = read_eval_log(str(path))
    assert log.status == "success", log.error
    assert len(log.samples) == limit
    return log


def outcomes(log: EvalLog) -> Counter[str]:
    assert all(sample.error is None for sample in log.samples)
    return Counter(sample.scores["episode_score"].answer for sample in log.samples)


def tokens(log: EvalLog) -> int:
    return sum(usage.output_tokens for usage in log.stats.model_usage.values())


def applied(log: EvalLog) -> list[float]:
    return [sample.scores["episode_score"].value["experiments"] for sample in log.samples]


def say(capsys: pytest.CaptureFixture[str], what: str, log: EvalLog) -> None:
    steps = applied(log)
    with capsys.disabled():
        print(  # noqa: T201 - the figures belong in the log of every run
            f"\nreal model, {what}: {len(log.samples)} samples, outcomes {dict(outcomes(log))}, "
            f"{tokens(log)} tokens generated, {sum(steps) / len(steps):.2f} interventions a sample"
        )


def test_free_replies(
    server: local_model.LocalModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = run(server, tmp_path, 8, "-T", "protocol=dialogue", keep=True)
    say(capsys, "dialogue, free replies", log)
    assert set(outcomes(log)) <= NAMED
    assert tokens(log) > 8 * 4


def test_replies_held_to_a_schema(
    server: local_model.LocalModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = run(server, tmp_path, 8, "-T", "protocol=dialogue", "-T", "schema=true", keep=True)
    say(capsys, "dialogue, response schema", log)
    found = outcomes(log)
    assert set(found) <= NAMED - {"invalid_format"}
    assert min(applied(log)) >= 1
    assert tokens(log) > 8 * 4
    for sample in log.samples:
        names = {action["name"] for action in json.loads(sample.store[EPISODE])["actions"]}
        assert "malformed" not in names


def test_tools_that_this_model_cannot_call(
    server: local_model.LocalModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = run(server, tmp_path, 3, "-T", "protocol=tools")
    say(capsys, "tools", log)
    assert set(outcomes(log)) <= NAMED | LIMITS
    assert outcomes(log)["answered"] == 0
    assert tokens(log) > 0


def shortest(suite: str, count: int) -> list[str]:
    """The problems with the shortest prompts: this model reads slowly."""
    instances = list(FAMILY.suite(suite, parameters={"max_errors": 1}))
    instances.sort(key=lambda instance: len(FAMILY.open(instance).instructions("compact")))
    return [instance.id for instance in instances[:count]]


@pytest.mark.parametrize(
    ("suite", "schema"),
    [("ord_cert", "false"), ("block_cert", "true"), ("hid_cert", "false"), ("roots_cert", "true"),
     ("alt_hid", "true")],
)  # fmt: skip
def test_replayscm_ends_scored_or_invalid_at_a_stage_of_the_funnel(
    suite: str,
    schema: str,
    server: local_model.LocalModel,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Free replies and replies held to a schema, on every disclosure and both kinds of task."""
    log = run(
        server, tmp_path, PROBLEMS, "-T", f"suite={suite}", "-T", f"schema={schema}",
        "--sample-id", ",".join(shortest(suite, PROBLEMS)),
        task="replayscm", short=("-T", "max_errors=1", "-T", "template=compact"), length=96,
        keep=suite in ("ord_cert", "hid_cert"),
    )  # fmt: skip
    stages = []
    for sample in log.samples:
        score = sample.scores["episode_score"]
        assert score.answer in NAMED
        valid = score.value["valid"] == 1
        assert valid == (score.answer == "answered")
        stages.append("valid" if valid else score.metadata["failed"] or "no object")
        passed = [score.value[stage] for stage in STAGES]
        assert passed == sorted(passed, reverse=True)
    with capsys.disabled():
        print(  # noqa: T201 - the figures belong in the log of every run
            f"\nreal model, replayscm/{suite} (schema {schema}): {len(stages)} samples, "
            f"{dict(Counter(stages))}, {tokens(log)} tokens generated"
        )
    assert tokens(log) > 0


@pytest.mark.parametrize("template", families()["prism"].templates)
def test_every_surface_of_prism_ends_scored(
    template: str,
    server: local_model.LocalModel,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = run(
        server, tmp_path, PROBLEMS, "-T", "schema=true", "-T", f"template={template}",
        task="prism", short=("-T", "suite=teaching", "-T", "max_errors=1"), length=48,
    )  # fmt: skip
    assert set(outcomes(log)) <= NAMED
    values = [sample.scores["episode_score"].value for sample in log.samples]
    assert all(value["accuracy"] in (0, 1) for value in values)
    with capsys.disabled():
        print(  # noqa: T201 - the figures belong in the log of every run
            f"\nreal model, prism, {template}: {len(values)} samples, {dict(outcomes(log))}, "
            f"{sum(value['accuracy'] for value in values):.0f} right, {tokens(log)} tokens"
        )
    assert tokens(log) > 0


@pytest.mark.parametrize(("protocol", "schema"), [("record", "true"), ("tools", "false")])
def test_causalab_ends_scored_with_its_re_prompts_counted(
    protocol: str,
    schema: str,
    server: local_model.LocalModel,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The smallest worlds under the smallest budget; this model cannot call tools at all."""
    log = run(
        server, tmp_path, PROBLEMS, "-T", f"protocol={protocol}", "-T", f"schema={schema}",
        "-T", "suite=main_3", "-T", "regime=1o1i", "-T", "template=compact",
        task="causalab", short=("-T", "max_errors=1",), length=160, keep=protocol == "record",
    )  # fmt: skip
    assert set(outcomes(log)) <= NAMED
    counts: Counter[str] = Counter()
    for sample in log.samples:
        values = sample.scores["episode_score"].value
        assert all(math.isfinite(values[name]) for name in ("accuracy", "edge_f1", "shd"))
        counts.update({name: values[name] for name in ("sent_back", "parse_failures")})
        record = json.loads(sample.store[EPISODE])
        assert len(record["actions"]) >= 1
    assert counts.keys() == {"sent_back", "parse_failures"}
    with capsys.disabled():
        print(  # noqa: T201 - the figures belong in the log of every run
            f"\nreal model, causalab/main_3 ({protocol}): {len(log.samples)} samples, outcomes "
            f"{dict(outcomes(log))}, {dict(counts)}, {tokens(log)} tokens generated"
        )
    assert tokens(log) > 0


@pytest.mark.parametrize(("protocol", "schema"), [("tools", "false"), ("code", "true")])
def test_causalgame_ends_scored_in_turns_and_in_programs(
    protocol: str,
    schema: str,
    server: local_model.LocalModel,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The smallest budget; this model cannot call tools, and its programs run in the sandbox."""
    log = run(
        server, tmp_path, 1, "-T", f"protocol={protocol}", "-T", f"schema={schema}",
        "-T", "suite=all", "-T", "analysis=false", "-T", "deploys=1", "-T", "template=compact",
        "--message-limit", "16",
        task="causalgame", short=("-T", "max_errors=1"), length=96, keep=protocol == "code",
    )  # fmt: skip
    assert set(outcomes(log)) <= NAMED | LIMITS | {"unfinished", "unreported"}
    (sample,) = log.samples
    with capsys.disabled():
        print(  # noqa: T201 - the figures belong in the log of every run
            f"\nreal model, causalgame ({protocol}): outcomes {dict(outcomes(log))}, programs "
            f"{sample.store.get(PROGRAMS, {})}, {tokens(log)} tokens generated"
        )
    assert tokens(log) > 0


def test_a_real_judge_reads_a_report(
    server: local_model.LocalModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plumbing only: a model of this size judges nothing, and its replies are counted as such."""
    role = json.dumps({"model": server.inspect_model, "max_tokens": 48, "temperature": 0})
    log = run(
        server, tmp_path, 1, "-T", "suite=all", "-T", "analysis=false", "-T", "judge=true",
        "--model-role", f"judge={role}", task="causalgame", short=(), model="whybench/oracle",
    )  # fmt: skip
    (sample,) = log.samples
    verdict = sample.scores["report_judge"]
    assert verdict.metadata["judges"] == [server.inspect_model]
    assert verdict.metadata["self_judged"] is False
    assert verdict.value["judge_unreadable"] + verdict.value["judges"] >= 1
    assert sample.scores["episode_score"].value["win"] == 1
    with capsys.disabled():
        print(  # noqa: T201
            f"\nreal model as judge (plumbing): {verdict.value['judges']:g} verdicts, "
            f"{verdict.value['judge_unreadable']:g} replies unreadable"
        )


def test_recite_ends_scored_on_the_smallest_document(
    server: local_model.LocalModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = run(
        server, tmp_path, 1, "-T", "nodes=5", "-T", "length=700", "-T", "template=compact",
        "-T", "schema=true", task="recite", short=("-T", "max_errors=1"), length=128, keep=True,
    )  # fmt: skip
    assert set(outcomes(log)) <= NAMED | {"context_exceeded"}
    (sample,) = log.samples
    values = sample.scores["episode_score"].value
    assert math.isfinite(values["edge_f1"]) or outcomes(log)["context_exceeded"]
    with capsys.disabled():
        print(  # noqa: T201 - the figures belong in the log of every run
            f"\nreal model, recite/short: outcomes {dict(outcomes(log))}, edge_f1 "
            f"{values['edge_f1']:.3f}, {tokens(log)} tokens generated"
        )
    assert tokens(log) > 0


def test_a_real_judge_of_graphs_sits_the_exam(
    server: local_model.LocalModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All four passes of the smallest paper; replies that cannot be read are counted as such."""
    log = run(
        server, tmp_path, 4, "-T", "papers=1", "-T", "nodes=5", "-T", "length=700",
        "-T", "reasons=false", task="recite_exam", short=(), length=900,
    )  # fmt: skip
    (result,) = log.results.scores
    figures = {name: metric.value for name, metric in result.metrics.items()}
    assert figures["papers"] == 1.0
    assert 0.0 <= figures["unreadable"] <= 1.0
    marks = Counter(sample.scores["exam_mark"].answer for sample in log.samples)
    assert marks.keys() <= {"read", "unreadable"}
    with capsys.disabled():
        print(  # noqa: T201
            f"\nreal model in the judge's exam: passes {dict(marks)}, accuracy "
            f"{figures['accuracy']:.3f}, kappa {figures['kappa']:.3f}, {tokens(log)} tokens"
        )
    assert tokens(log) > 0
