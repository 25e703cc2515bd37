"""A release: nested sets, whole triples, hashes that notice a change, and an honest recipe."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from whybench.cli import app
from whybench.episode.registry import families
from whybench.release import make
from whybench.release.check import differences, rows_of
from whybench.release.data import SETS, in_ranges, load_release
from whybench.release.estimate import Pilot, Price, estimates, total

RELEASE = load_release("1rc")


def test_sets_are_nested_and_every_row_has_a_hash() -> None:
    for part in RELEASE.parts:
        lite, standard, full = (set(part.rows[which]) for which in SETS)
        assert lite <= standard <= full
        assert set(part.hashes) == full
        assert len(set(part.hashes.values())) == len(full), part.path


def test_every_family_is_in_every_set() -> None:
    for which in SETS:
        for family in RELEASE.families:
            assert RELEASE.of(family, which)
    assert set(RELEASE.families) == set(families())


def test_lite_is_a_tenth() -> None:
    for family in RELEASE.families:
        sizes = [len(list(RELEASE.samples(family, which))) for which in ("lite", "standard")]
        assert 0.07 <= sizes[0] / sizes[1] <= 0.13, family


def test_prism_has_whole_triples_on_six_tellings() -> None:
    assert len(RELEASE.families["prism"].templates) == 6
    for which in ("lite", "standard"):
        for part in RELEASE.of("prism", which):
            suite = part.load()
            triples: dict[object, set[object]] = {}
            for row in part.rows[which]:
                known = suite.family.covariates(suite.row(row))
                triples.setdefault(known["base"], set()).add(known["gold"])
            assert len(triples) == len(part.rows[which]) / 3
            assert all(golds == {"yes", "no", "cannot"} for golds in triples.values())


def test_no_hidden_system_is_twice_in_standard() -> None:
    """Only the members of a triple may share one."""
    for part in RELEASE.parts:
        apart = part.clusters["standard"] == len(part.rows["standard"])
        assert apart or part.family == "prism", part.path


def test_every_row_of_standard_has_a_status() -> None:
    for part in RELEASE.parts:
        assert sum(part.statuses.values()) == len(part.rows["standard"])
        assert set(part.statuses) <= {"proven", "statistical"}


def test_the_file_follows_from_the_recipe() -> None:
    given = {one["suite"]: one for one in make.recipe("1rc")["parts"]}
    for path in ("causallink/large", "recite/short"):
        part = RELEASE.part(path)
        assert part is not None
        groups = make.chosen("1rc", part.load(), given[path])
        assert tuple(sorted(row for group in groups for row in group)) == part.rows["standard"]


def test_a_sample_is_rebuilt_without_a_difference() -> None:
    rows = rows_of(RELEASE, "lite", 1)
    assert len(rows) >= len(RELEASE.families)
    assert list(differences(RELEASE, rows)) == [None] * len(rows)


def test_a_changed_prompt_is_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(part, row) for part, row in rows_of(RELEASE, "lite", 1) if part.family == "causallink"]
    before = make.row_hash
    monkeypatch.setattr(
        "whybench.release.check.row_hash",
        lambda suite, instance, protocol, _: before(suite, instance, protocol, ["compact"]),
    )
    assert all(found is not None for found in differences(RELEASE, rows))


def test_the_command_checks_a_release() -> None:
    asked = ["release", "1rc", "--check", "--set", "lite", "--limit", "1", "--json"]
    told = json.loads(CliRunner().invoke(app, asked).stdout)
    assert {"release", "set", "instances", "differences"} <= told.keys()
    assert told["differences"] == 0
    assert told["instances"] == len(rows_of(RELEASE, "lite", 1))


def test_floors_are_below_ceilings() -> None:
    for part in RELEASE.parts:
        if part.rows["standard"]:
            assert part.floor is not None
            assert part.ceiling is not None
            assert part.floor.score < part.ceiling.score - 0.3, part.path


def test_an_estimate_counts_all_samples_and_takes_a_pilot() -> None:
    found = estimates(RELEASE, "lite")
    assert [one.family for one in found] == list(RELEASE.families)
    for one in found:
        assert one.samples == len(list(RELEASE.samples(one.family, "lite")))
        assert one.calls <= one.most_calls
        assert one.input < one.most_input
        assert one.output < one.most_output
    whole = total(found)
    assert whole.input == pytest.approx(sum(one.input for one in found))
    piloted = estimates(RELEASE, "lite", {"recite": Pilot(100.0, 10.0, 2.0)})
    recite = next(one for one in piloted if one.family == "recite")
    assert (recite.input, recite.output) == (100.0 * recite.samples, 10.0 * recite.samples)


def test_standard_keeps_its_limit_of_tokens() -> None:
    for one in estimates(RELEASE, "standard"):
        assert one.input <= 5.1e6, one.family


def test_a_price_is_per_million() -> None:
    assert Price(2.0, 10.0).of(500_000, 100_000) == pytest.approx(2.0)


def test_ranges() -> None:
    assert in_ranges((0, 1, 2, 5, 7, 8)) == "0-2,5,7-8"
    assert in_ranges(()) == ""
