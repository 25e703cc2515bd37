"""The laboratory: experiments of the agent's own choosing."""

import json

import pytest

from whybench.causal.graph import members
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.proof.certify import covering_rows
from whybench.families.replayscm.rules import ReplayEpisode

SUITE = FAMILY.suite("lab")


def opened(index: int = 0) -> ReplayEpisode:
    episode = FAMILY.open(SUITE[index])
    assert isinstance(episode, ReplayEpisode)
    return episode


def test_an_experiment_shows_a_true_world_with_the_targets_as_set() -> None:
    episode = opened()
    view = episode.view
    rows = view.train[0].size
    pattern = ("01" * rows)[:rows]
    shown = episode.step(
        Action.of("experiment", setting=json.dumps({view.names[0]: 1, view.names[1]: pattern}))
    )
    assert shown.code == "ok"
    (table,) = episode.seen
    assert table.targets == 0b11
    assert table.columns[0] == (1 << rows) - 1
    assert [table.columns[1] >> r & 1 for r in range(rows)] == [int(digit) for digit in pattern]
    gold = episode.world.gold
    for row in table.rows():
        for v in members(gold.own & ~table.targets):
            assert (gold.tables[v] >> row ^ row >> v) & 1 == 0


def test_the_same_experiment_at_another_time_meets_other_roots() -> None:
    episode = opened()
    for _ in range(6):
        episode.step(Action.of("experiment", setting="{}"))
    roots = list(members(episode.world.gold.roots))
    seen = {tuple(table.columns[v] for v in roots) for table in episode.seen}
    assert len(seen) > 1


@pytest.mark.parametrize(
    "setting",
    ["", "[]", "{", '{"X99": 1}', '{"X1": 2}', '{"X1": "01"}', '{"X1": null}', '{"X1": [1]}',
     '{"X1": 1, "X2": 0, "X3": 1, "X4": 0}', "[" * 100_000, 7, None],
)  # fmt: skip
def test_what_cannot_be_run_costs_nothing(setting: object) -> None:
    episode = opened()
    refused = episode.step(Action.of("experiment", setting=setting))
    assert refused.code == "invalid_action"
    assert episode.left == 24
    assert episode.seen == ()


def test_after_the_last_experiment_another_one_ends_the_episode() -> None:
    suite = FAMILY.suite("lab", parameters={"budget": 1})
    episode = FAMILY.open(suite[0])
    episode.step(Action.of("experiment", setting="{}"))
    assert "No experiments are left" in episode.instructions("plain")
    assert episode.step(Action.of("experiment", setting="{}")).code == "timeout"
    assert FAMILY.score(suite[0], episode.trace).outcome == "timeout"


@pytest.mark.slow
def test_the_exact_experimenter_identifies_within_the_budget() -> None:
    for index in range(0, 100, 10):
        instance = SUITE[index]
        trace = play(FAMILY.open(instance), FAMILY.agent("exact", instance))
        score = FAMILY.score(instance, trace)
        assert score.values["evidence_unique"] == 1.0
        assert score.values["latent_match"] == score.values["heldout_exact"] == 1.0
        assert score.values["regret"] == 0.0
        certificate = FAMILY.certify(instance)
        assert certificate.identified
        assert certificate.fewest <= certificate.exact_steps == score.values["experiments"]
        assert len(certificate.facts["exact_worlds"]) == certificate.exact_steps


def test_handing_in_early_is_seen() -> None:
    instance = SUITE[0]
    early = FAMILY.open(instance, evidence="yoked", given=())
    trace = play(early, FAMILY.agent("exact", instance, early.evidence_given))
    score = FAMILY.score(instance, trace)
    assert score.values["train_exact"] == 1.0
    assert score.values["evidence_unique"] == 0.0
    assert score.values["solved"] == score.values["heldout_exact"] == 0.0


def test_without_experiments_nothing_is_certified() -> None:
    certificate = FAMILY.certify(FAMILY.suite("lab", parameters={"budget": 0})[0])
    assert not certificate.identified
    assert certificate.bits > 10
    assert "the exact agent does not reach the best score" in certificate.defects()


def test_the_last_object_of_a_reply_says_whether_it_is_an_experiment_or_the_answer() -> None:
    instance = SUITE[0]
    gold = {"mechanisms": FAMILY.truth(instance)["mechanisms"]}
    quoted = 'I thought of {"experiment": {"X1": 1}} before.'
    episode = opened()
    FAMILY.conversation(episode, "plain").reply(f"{quoted} Now I know: {json.dumps(gold)}")
    assert episode.outcome == "answered"
    assert episode.seen == ()
    episode = opened()
    FAMILY.conversation(episode, "plain").reply(f"Not {json.dumps(gold)} yet. {quoted}")
    assert episode.outcome is None
    assert len(episode.seen) == 1


def test_the_laboratory_has_no_released_form() -> None:
    released = FAMILY.suite("lab", profile="published")[0]
    assert FAMILY.world(released).view == FAMILY.world(SUITE[0]).view


def test_yoked_experiments_are_shown_and_only_the_answer_is_left() -> None:
    instance = SUITE[2]
    exact = play(FAMILY.open(instance), FAMILY.agent("exact", instance))
    given = FAMILY.experiments(exact)
    episode = FAMILY.open(instance, evidence="yoked", given=given)
    assert [spec.name for spec in episode.actions] == ["submit"]
    assert episode.instructions("plain").count("\nWorld ") == len(given) + 1
    refused = episode.step(Action.of("experiment", setting="{}"))
    assert refused.code == "invalid_action"
    trace = play(episode, FAMILY.agent("exact", instance, episode.evidence_given))
    assert FAMILY.score(instance, trace).values["latent_match"] == 1.0
    assert FAMILY.score(instance, trace).values["experiments"] == 0.0


def test_covering_rows_are_those_of_known_covering_arrays() -> None:
    """Sizes of the smallest binary covering arrays of strength 2 (Colbourn's tables)."""
    known = {2: 4, 3: 4, 4: 5, 5: 6, 10: 6, 11: 7, 15: 7}
    assert {k: covering_rows(2, k) for k in known} == known
    assert covering_rows(0, 5) == 1
    assert covering_rows(1, 5) == 2
