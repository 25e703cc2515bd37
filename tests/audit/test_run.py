"""Audits of small size: what they print, that they resume, and that they can fail."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.audit.toy import Toy, toys
from typer.testing import CliRunner

from whybench.audit import run
from whybench.audit.certificates import checked
from whybench.audit.obedient import discrepancies
from whybench.audit.plays import Sizes, battery, played, spread
from whybench.audit.run import Order, audit
from whybench.causal.canonical import Record
from whybench.cli import app
from whybench.episode.guesser import Guesser, unlearned
from whybench.episode.score import Metric
from whybench.interfaces.solve import metric_interval

KEYS = {
    "suite",
    "profile",
    "status",
    "verdict",
    "best_guesser",
    "guesser",
    "guesser_interval",
    "exact",
    "exact_interval",
    "limits",
}
SIZES = Sizes(200, 100, 40, 4)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Toy:
    """A family that the audit finds by name."""
    family = Toy()
    monkeypatch.setattr(run, "families", lambda: {"toy": family})
    monkeypatch.setattr(
        run,
        "load_suite",
        lambda path, profile, seed: family.suite(path[4:], profile=profile, seed=seed),
    )
    return family


def order(path: str = "toy/one") -> Order:
    return Order(path, sizes=SIZES, logs=False)


def one(folder: Path, path: str = "toy/one") -> dict[str, Any]:
    (found,) = audit([order(path)], folder)
    return json.loads(json.dumps(found.to_json(), allow_nan=False))


def guessing(name: str, **values: Any) -> Guesser:
    return Guesser(name, "says so", 0, unlearned(name), **values)


def declare(monkeypatch: pytest.MonkeyPatch, *guessers: Guesser) -> None:
    """Let the toy family declare a battery."""
    monkeypatch.setattr(Toy, "capability", lambda _, name: guessers if name == "battery" else None)


@pytest.mark.usefixtures("toy")
def test_a_suite_without_flaws_keeps_all_but_the_bounds_of_few_instances(tmp_path: Path) -> None:
    told = one(tmp_path)
    assert told.keys() >= KEYS
    assert told["best_guesser"] in ("null", "random")
    low, high = told["guesser_interval"]
    assert low < told["guesser"] < high
    assert told["exact"] == 1.0
    assert told["verdict"] == "WEAK"
    assert "the family declares no battery, so only its simplest agents guessed" in told["reasons"]
    assert set(told["leak_tests"].values()) <= {"clean", "not tested"}


@pytest.mark.usefixtures("toy")
def test_another_metric_has_its_own_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, guessing("null"))
    monkeypatch.setattr(Toy, "metrics", (*Toy.metrics, Metric("also", "the same")))
    real = Toy.score_episode

    def scored(self: Toy, episode: Any) -> Any:
        score = real(self, episode)
        return replace(score, values=Record.of(**score.values.asdict(), also=1.0))

    monkeypatch.setattr(Toy, "score_episode", scored)
    monkeypatch.setattr(Toy, "audit", {**Toy.audit, "zero": 0.9, "also": {"also": 0.35}})
    assert "null (also) reaches 1.000, limit 0.350" in one(tmp_path)["reasons"]


def test_a_finished_part_is_not_done_again(
    tmp_path: Path, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    real = run.do_part
    monkeypatch.setattr(
        run, "do_part", lambda work, number: done.append(work[number][1]) or real(work, number)
    )
    first = one(tmp_path)
    assert done == ["exact", "null", "random", "claims", "leaks"]
    (tmp_path / order().file("null")).unlink()
    assert one(tmp_path) == first
    assert done[5:] == ["null"]
    monkeypatch.setattr(type(toy), "version", "2")
    one(tmp_path)
    assert len(done) == 11


@pytest.mark.parametrize(
    ("leak", "reason"),
    [("ids", "leak: ids"), ("order", "leak: order"), ("deaf", "prompt and ceiling disagree")],
)
def test_what_leaks_or_misleads_fails(tmp_path: Path, toy: Toy, leak: str, reason: str) -> None:
    toy.leak = leak
    told = one(tmp_path)
    assert told["verdict"] == "FAIL"
    assert any(text.startswith(reason) for text in told["reasons"])


@pytest.mark.usefixtures("toy")
def test_a_guesser_above_exact_fails_only_if_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weak = Guesser("exact", "is poor", None, unlearned("null"))
    monkeypatch.setattr(run, "exact_agent", lambda: weak)
    for counts in (True, False):
        declare(monkeypatch, guessing("random"), guessing("oracle", counts=counts))
        told = one(tmp_path / str(counts))
        assert ("oracle scores higher than exact" in told["reasons"]) is counts
        assert told["best_guesser"] == ("oracle" if counts else "random")
        assert "oracle" in {listed["name"] for listed in told["guessers"]}


@pytest.mark.usefixtures("toy")
def test_memory_is_compared_with_the_prior(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declare(
        monkeypatch,
        Guesser("memory", "knows", 0, unlearned("oracle")),
        Guesser("prior_only", "says yes", 0, unlearned("null")),
    )
    told = one(tmp_path)
    assert told["verdict"] == "FAIL"
    assert any(text.startswith("memory gains") for text in told["reasons"])


def test_a_wrong_certificate_is_found() -> None:
    assert checked(toys(), 4)[1] == []
    found = checked(toys("certificate"), 4)[1]
    assert len({line.partition(":")[0] for line in found}) == 4
    assert all("best_score" in line for line in found)


def test_an_agent_that_the_dialogue_misunderstands_is_found() -> None:
    assert list(discrepancies(toys(), 10)) == []
    assert list(discrepancies(toys("deaf"), 10))


def test_a_guesser_never_learns_on_an_audited_seed() -> None:
    suites = toys()
    with pytest.raises(ValueError, match="training"):
        played(suites, suites[0], guessing("null"), SIZES)


def test_two_guessers_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, guessing("null"), guessing("null"))
    with pytest.raises(ValueError, match="two guessers"):
        battery(Toy())


def test_an_interval_has_the_level_that_is_asked() -> None:
    metric, values, clusters = Toy.metrics[0], [0.0, 1.0] * 20, list("ab" * 20)
    usual = metric_interval(metric, values, clusters)
    assert usual == metric_interval(metric, values, clusters, level=0.95)
    assert metric_interval(metric, values, clusters, level=0.99).high > usual.high


@pytest.mark.slow
def test_the_command_prints_the_keys_and_writes_a_page(tmp_path: Path) -> None:
    words = "audit causallink/advanced --quick 20 --slow 10 --exact 10 --certificates 2 --no-logs"
    page = tmp_path / "page.html"
    where = ["--out", str(tmp_path / "parts"), "--workers", "0", "--page", str(page)]
    shown = CliRunner().invoke(app, [*words.split(), *where, "--json"])
    (told,) = json.loads(shown.stdout)
    assert told.keys() >= KEYS
    assert told["suite"] == "causallink/advanced"
    text = page.read_text("utf-8")
    assert "<svg" in text
    assert told["best_guesser"] in text
    again = CliRunner().invoke(app, [*words.split(), *where])
    assert told["verdict"] in again.stdout


@pytest.mark.parametrize("count", [1, 3, 30, 120, 300])
def test_instances_are_spread_over_a_suite(count: int) -> None:
    suite = toys()[0]
    chosen = list(spread(suite, count))
    assert len({one.id for one in chosen}) == count
    rows = [one.index for one in chosen[: len(suite)]]
    assert len(set(rows)) == len(rows)
    assert sum(2 * row < len(suite) for row in rows) == pytest.approx(len(rows) / 2, abs=2)


def test_a_slow_guesser_stops_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    suites, train = toys(), toys()[0].family.suite("one", seed="three")
    clock = iter(range(10_000))
    monkeypatch.setattr("whybench.audit.plays.time.process_time", lambda: 2 * next(clock))
    null = guessing("null")
    assert len(played(suites, train, null, Sizes(50, 20, 10, seconds=1000))) == 20
    rows = played(suites, train, null, Sizes(50, 20, 10, seconds=9))
    assert len(rows) == 5
    assert {name.partition("/")[0] for name, _, _ in rows} == {"one", "two"}
    assert len(played(suites, train, guessing("exact"), Sizes(50, 5, 10, seconds=1000))) == 10
