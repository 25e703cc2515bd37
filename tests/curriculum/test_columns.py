"""Every instance has the columns of difficulty, and they agree with what they are taken from."""

import json

import pytest

import whybench as wb
from whybench.curriculum.columns import COLUMNS, figure, tokens_in
from whybench.curriculum.levels import levels
from whybench.curriculum.where import Where

SUITES = ("causallink/advanced", "causalab/main_4", "prism/lab", "recite/short", "replayscm/lab")


@pytest.mark.parametrize("path", SUITES)
def test_the_columns_agree_with_certificate_episode_and_text(path: str) -> None:
    suite = wb.load_suite(path)
    instance, family = suite[1], suite.family
    found = {name: one["value"] for name, one in wb.difficulty(instance).items()}
    certificate = family.certify(instance)
    session = wb.Session(instance)
    said = [session.instructions]
    for action in family.exact_run(instance).actions:
        said += [json.dumps(action.to_json(), ensure_ascii=False), session.act(action).text]
    assert list(found) == list(COLUMNS)
    assert found["fewest"] == certificate.fewest
    assert found["worst_case"] == certificate.worst_case
    assert found["exact_steps"] == certificate.exact_steps
    assert found["prompt_characters"] == len(said[0])
    assert found["prompt_tokens"] == tokens_in(said[0])
    assert found["characters"] == len(said[0]) + len("\n".join(said[1:]))
    assert found["size"] in family.covariates(instance).asdict().values()
    assert found["bits"] >= 0


def test_a_figure_is_called_proven_only_if_the_certificate_is() -> None:
    proven = wb.difficulty(wb.load_suite("causallink/advanced")[0])
    game = wb.load_suite("causalgame/antenna")
    assert game.family.certify(game[0]).status == "statistical"
    assert proven["bits"]["how"] == "proven"
    assert wb.difficulty(game[0])["bits"]["how"] == "estimated"
    assert {one["how"] for one in proven.values()} == {"proven", "measured", "estimated"}


def test_levels_partition_the_rows_and_their_filters_select_them() -> None:
    suite = wb.load_suite("causallink/advanced")
    found = levels(suite, 60)
    assert sum(level.instances for level in found) == 60
    for level in found:
        where = Where(level.where)
        passing = [i for i in map(suite.row, range(60)) if where.admits(i)]
        assert len(passing) == level.instances
        bits = [figure(i, "bits") for i in passing]
        assert all(level.bits_above < value <= level.bits_up_to for value in bits)
        assert 1 <= level.systems <= level.instances
