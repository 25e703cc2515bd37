"""The episode: what is shown of flights, what is refused, and what a fleet leads to."""

import json

import numpy as np
import pytest
from tests.tables import sampled, together

from whybench.causal.canonical import canonical_json, thaw
from whybench.causal.seeds import Stream
from whybench.episode.action import Action
from whybench.episode.episode import play
from whybench.families.causalgame import FAMILY
from whybench.families.causalgame.agents.agent_state import rows_of
from whybench.families.causalgame.episode import DroneEpisode
from whybench.families.causalgame.parameters import MOST_LOOKS
from whybench.families.causalgame.prompts.action_specs import QUESTIONS
from whybench.families.causalgame.proof.certify import default_design
from whybench.families.causalgame.world.design import SUFFIX
from whybench.families.causalgame.world.drawn.draw import stories
from whybench.families.causalgame.world.records import SAMPLE, measured
from whybench.families.causalgame.world.variables import asked_for, variables

REPORT = dict.fromkeys(QUESTIONS, "text")
PARTS = [f"{name}_def" for name in ("vane", "spar", "mast", "aileron", "rotor", "louvre", "shroud")]
"""Keys of the first instance of `antenna`."""


def opened(suite: str = "antenna", index: int = 0, profile: str = "certified", **parameters):
    return FAMILY.open(FAMILY.suite(suite, profile=profile, parameters=parameters)[index])


def deploy(episode: DroneEpisode, count: object = "10", **more: object):
    args = {"design": "{}", "count": count} | more
    return episode.step(Action.of("deploy", **args))


def finish(episode: DroneEpisode, **design: int):
    episode.step(Action.of("submit", design=json.dumps(design)))
    return episode.step(Action.of("report", **REPORT))


def seen(observation) -> dict:
    assert not observation.is_error, observation.data
    return thaw(observation.data)


@together(
    ("args", "word"),
    [
        ({"design": '{"wheel_def": 3}'}, "no component"),
        ({"design": '{"vane_def": 21}'}, "give 0 to 20"),
        ({"design": json.dumps(dict.fromkeys(PARTS, 20))}, "take away 49"),
        ({"design": "[1]"}, "an object"),
        ({"design": "{" * 5000}, "an object"),
        ({"equipment": '{"hat": "red"}'}, "no slot"),
        ({"equipment": '{"resin": "red"}'}, "choose one of"),
        ({"count": "51"}, "1 to 50"),
        ({"count": "0"}, "1 to 50"),
        ({"count": True}, "1 to 50"),
        ({"count": "9" * 5000}, "1 to 50"),
        ({"count": "1_0"}, "1 to 50"),
        ({"count": 2.5}, "1 to 50"),
        ({"design": '{"\\ud800": "x"}'}, "characters that are none"),
        ({"equipment": '{"\\ud800": "x"}'}, "characters that are none"),
        (
            {
                "beliefs": '[{"cause": "a", "effect": "survival", "sign": "raises"},'
                '{"cause": "a", "effect": "survival", "sign": "lowers"}]'
            },
            "contradicts",
        ),
        ({"beliefs": '[{"cause": 1}]'}, "lacks effect, sign"),
        ({"beliefs": "{"}, "not JSON"),
    ],
)
def test_a_bad_deployment_is_refused_and_costs_nothing(args: dict, word: str) -> None:
    episode = opened()
    observation = deploy(episode, **args)
    assert word in observation.data["reason"]
    assert (episode.drones, episode.deploys) == (episode.view.drones, episode.view.deploys)


def test_the_released_server_took_any_design() -> None:
    episode = opened("antenna_trap", profile="published")
    heavy = json.dumps({"engine_def": 500, "cockpit_def": 500})
    assert not deploy(episode, design=heavy, equipment='{"hat": "red"}').is_error


def test_arguments_may_be_values_or_their_text() -> None:
    one, two = opened(), opened()
    a = deploy(one, design='{"vane_def": 0}', count="12", equipment='{"resin": "dune"}')
    b = deploy(two, design={"vane_def": 0}, count=12, equipment={"resin": "dune"})
    assert a == b


def test_budgets_end() -> None:
    episode = opened(drones=25, deploys=2)
    assert seen(deploy(episode, count="20"))["drones_remaining"] == 5
    assert "only 5 drones" in deploy(episode, count="6").data["reason"]
    seen(deploy(episode, count="5"))
    assert "no deployment is left" in deploy(episode, count="1").data["reason"]


def test_a_fleet_needs_a_deployment_first_unless_the_guard_is_off() -> None:
    guarded, free = opened(), opened(guard=False)
    assert "deploy at least one" in guarded.step(Action.of("submit", design="{}")).data["reason"]
    assert seen(free.step(Action.of("submit", design="{}")))["fleet_size"] == 1000


def test_the_report_comes_last_and_ends_the_mission() -> None:
    episode = opened()
    assert episode.step(Action.of("report", **REPORT)).is_error
    deploy(episode)
    flown = seen(episode.step(Action.of("submit", design='{"vane_def": 0}')))
    assert flown["survived"] == round(1000 * flown["survival_rate"])
    assert "only `report`" in deploy(episode).data["reason"]
    assert episode.step(Action.of("report", success="yes")).is_error
    assert not episode.step(Action.of("report", **REPORT)).is_error
    assert episode.outcome == "answered"


def test_what_flew_counts_without_a_report() -> None:
    episode = opened()
    deploy(episode)
    episode.step(Action.of("submit", design="{}"))
    score = FAMILY.score(episode.instance, episode.trace)
    assert score.outcome == "unreported"
    assert score.values["survival_rate"] == episode.survival_rate


def test_just_enough_wins() -> None:
    episode = opened()
    deploy(episode)
    finish(episode)
    rate = episode.survival_rate
    assert opened_with(rate).won
    assert not opened_with(rate + 0.001).won


def opened_with(threshold: float) -> DroneEpisode:
    episode = opened(threshold=threshold)
    deploy(episode)
    finish(episode)
    return episode


def test_looking_for_ever_ends_in_a_timeout() -> None:
    episode = opened("antenna_no_history")
    for _ in range(MOST_LOOKS + 1):
        episode.step(Action.of("get_status"))
    assert episode.outcome == "timeout"


@pytest.mark.parametrize("name", sampled(stories(), 2))
def test_only_a_share_of_failures_is_on_record(name: str) -> None:
    keep = stories()[name].keep_failed
    lost = kept = 0
    for index in range(40):
        world = FAMILY.world(FAMILY.suite(name)[index])
        batch = world.deploy(0, default_design(world.physics), 50)
        failed = ~batch.flights.returned
        lost += int(failed.sum())
        kept += int((failed & batch.kept).sum())
        assert batch.kept[batch.flights.returned].all()
    error = (keep * (1 - keep) / lost) ** 0.5
    assert abs(kept / lost - keep) <= 4 * error


def test_names_of_records_do_not_count_the_hidden_ones() -> None:
    episode = opened()
    deploy(episode, count="50")
    assert "id" not in episode.records().columns
    rows = rows_of(episode.records().frozen)
    assert 0 < sum(row["flown"] == "own" for row in rows) < 50


def test_uncounted_deployments_show_a_sample_of_fixed_size() -> None:
    sizes, rates = set(), set()
    for index in range(12):
        episode = opened(index=index, counts=False)
        data = seen(deploy(episode, count="40"))
        assert not {"survived", "destroyed", "average_hit_count"} & data.keys()
        rows = rows_of(data["results"])
        assert {row["status"] for row in rows} == {"RETURNED"}
        sizes.add(len(rows))
        rates.add(int(episode.batches[0].flights.returned.sum()))
        assert len([r for r in rows_of(episode.records().frozen) if r["flown"] == "own"]) == SAMPLE
    assert sizes == {SAMPLE}
    assert len(rates) > 3


def test_a_sample_says_nothing_of_how_many_came_back() -> None:
    """Also where fewer came back than the sample holds: it is filled up."""
    few = 0
    for index in range(10):
        episode = opened(index=index, counts=False)
        rows = rows_of(seen(deploy(episode, count="3"))["results"])
        assert len(rows) == SAMPLE
        few += int(episode.batches[0].flights.returned[:3].sum()) < 3
    assert few > 3


def test_a_design_beyond_the_limits_is_not_compared_with_the_best_within_them() -> None:
    episode = opened("deployment_zone_trap_categorical", profile="published")
    heavy = json.dumps({name + SUFFIX: 200 for name in episode.view.components})
    episode.step(Action.of("deploy", design=heavy, count="1"))
    episode.step(Action.of("submit", design=heavy))
    values = FAMILY.score(episode.instance, episode.trace).values
    assert values["win"] == 1
    assert values["survival_regret"] is None


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        ("```json\n{}\n```\nNow I act.\n```python\nprint(1)\n```", "print(1)\n"),
        ("```text\na\n```\n```python\nprint(1)\n```", "print(1)\n"),
        ("```Python\nprint(1)\n```", "print(1)\n"),
        ("```python3\nprint(1)", "print(1)"),
        ("```\nfirst\n```\nor\n```py\r\nlast\n```", "last\n"),
        ('{"program": "first"} then {"program": "last"}', "last"),
        ("```json\n{}\n```", None),
        ("nothing", None),
    ],
)
def test_the_last_program_of_a_reply_counts(reply: str, program: str | None) -> None:
    assert FAMILY.conversation(opened(), "plain").program(reply) == program


def test_what_is_discovered_becomes_a_column_everywhere() -> None:
    episode = opened()
    before = seen(deploy(episode))["results"]["columns"]
    assert "emission" not in before
    answer = seen(episode.step(Action.of("query_environment", question="Did it emit signals?")))
    assert (answer["variable"], answer["new"]) == ("emission", True)
    for observation in (
        deploy(episode),
        episode.step(Action.of("get_history")),
        episode.step(Action.of("get_environments")),
    ):
        data = seen(observation)
        table = data.get("results") or data["records"]
        assert table["columns"][-3] == "emission"
        assert all(isinstance(row[-3], bool) for row in table["rows"])
    truth = episode.batches[0].flights.hidden["active"]
    seen_now = measured(episode.world, episode.batches[0], episode.discovered)
    assert seen_now.columns["emission"] is truth


def test_questions_are_limited_and_a_bad_one_is_free() -> None:
    episode = opened(queries=1)
    assert episode.step(Action.of("query_environment", question="x" * 501)).is_error
    assert seen(episode.step(Action.of("query_environment", question="Bananas?"))) == {
        "variable": None,
        "questions_remaining": 0,
    }
    assert episode.step(Action.of("query_environment", question="storm")).is_error


@pytest.mark.parametrize("suite", ["antenna_trap_local_optima", "deployment_zone_trap_env_shift"])
def test_where_the_release_has_no_questions_there_are_none(suite: str) -> None:
    episode = opened(suite, profile="published")
    assert "query_environment" not in {spec.name for spec in episode.actions}
    assert episode.step(Action.of("query_environment", question="storm")).is_error


@pytest.mark.parametrize("physics", ["antenna", "zone", "weather", "drawn_antenna", "drawn_zone"])
def test_every_variable_can_be_found_by_its_own_name(physics: str) -> None:
    known = variables(physics)
    for name in known:
        assert asked_for(name.replace("_", " "), known) == name


@pytest.mark.parametrize(("suite", "found"), [
    ("antenna_trap", "radio_noise"), ("deployment_zone_trap_categorical", "emi_level"),
])  # fmt: skip
def test_the_question_of_the_papers_example_finds_the_hidden_factor(suite: str, found: str) -> None:
    episode = opened(suite, profile="published")
    question = "What hidden factors affect detection?"
    assert episode.step(Action.of("query_environment", question=question)).data["variable"] == found


def test_radio_noise_is_high_around_a_drone_that_emits() -> None:
    episode = opened("antenna_trap", profile="published")
    for number, armour in enumerate((0, 30)):
        deploy(episode, count="50", design=json.dumps({"antenna_def": armour}))
        seen = measured(episode.world, episode.batches[number], ("radio_noise", "antenna_emitting"))
        emits = seen.columns["antenna_emitting"] == 1
        assert set(seen.columns["radio_noise"][emits] > 40) <= {True}
        assert set(seen.columns["radio_noise"][~emits] > 40) <= {False}
        assert emits.any() if armour else not emits.all()


def test_by_the_papers_rules_only_the_client_that_calls_tools_guards_the_fleet() -> None:
    episode = opened("antenna_trap", profile="published")
    limits = FAMILY.turn_limits(episode, "paper")
    assert "deploy at least one" in limits.guarded("submit")
    assert limits.guarded("deploy") == ""
    assert episode.step(Action.of("submit", design="{}")).code == "ok"
    asked = opened("antenna_trap", profile="published", guard=True)
    assert asked.step(Action.of("submit", design="{}")).is_error
    assert FAMILY.turn_limits(opened(), "plain").guarded("submit") == ""


def test_distractors_have_nothing_to_do_with_survival() -> None:
    moon, returned = [], []
    for index in range(30):
        episode = opened(index=index)
        seen(episode.step(Action.of("query_environment", question="moon")))
        deploy(episode, count="50")
        found = measured(episode.world, episode.batches[0], episode.discovered)
        moon.append(found.columns["moon"] == "full")
        returned.append(found.returned)
    r = np.corrcoef(np.concatenate(moon), np.concatenate(returned))[0, 1]
    assert abs(r) < 4 / 1500**0.5


def test_noise_is_only_in_results_as_published() -> None:
    for profile, everywhere in (("published", False),):
        episode = opened("weather_noise", profile=profile)
        deploy(episode, count="50")
        for batch, noisy in ((episode.world.history, everywhere), (episode.batches[0], True)):
            shown = measured(episode.world, batch, (), results=batch in episode.batches)
            exact = batch.flights.environment["wind_speed"]
            off = np.abs(shown.columns["wind_speed"] - exact) / exact
            assert bool(off.max() > 0.05) is noisy
        flips = 0
        for index in range(60):
            world = FAMILY.world(FAMILY.suite("weather_noise", profile=profile)[index])
            flips += int(
                (measured(world, world.history, ()).returned ^ world.history.flights.returned).sum()
            )
        assert (flips > 0) is everywhere


def test_counts_agree_with_what_is_shown() -> None:
    episode = opened("weather")
    data = seen(deploy(episode, count="50"))
    rows = rows_of(data["results"])
    assert data["survived"] == sum(row["status"] == "RETURNED" for row in rows)
    assert data["survived"] <= len(rows) <= 50


def test_the_same_deployment_meets_the_same_drones_whatever_the_design() -> None:
    one, two = opened("antenna"), opened("antenna_no_history")
    deploy(one, count="20")
    deploy(two, design='{"vane_def": 0}', count="20")
    a = one.batches[0].flights.environment["calm"]
    assert (a == two.batches[0].flights.environment["calm"]).all()
    assert one.instance.cluster == two.instance.cluster


@pytest.mark.parametrize("episodes", sampled([60, 1_000]))
def test_interleaved_episodes_never_share_state(episodes: int) -> None:
    """Steps of episodes in random order give the traces of the same episodes in a row."""
    suites = [FAMILY.suite(name) for name in ("antenna", "weather", "zone")]
    instances = [suites[n % 3][(n // 3) % 40] for n in range(episodes)]
    plans = []
    for n in range(len(instances)):
        luck = Stream("interleave", n)
        ask = Action.of("query_environment", question=luck.choice(("storm", "moon", "radar")))
        flights = [
            Action.of("deploy", design="{}", count=str(1 + luck.below(6)))
            for _ in range(1 + luck.below(3))
        ]
        plans.append([ask, *flights, Action.of("get_status")])

    def alone(n: int) -> str:
        episode = FAMILY.open(instances[n])
        for action in plans[n]:
            episode.step(action)
        return canonical_json(episode.trace.to_json())

    open_at_once = [FAMILY.open(instance) for instance in instances]
    order = Stream("interleave").shuffled([n for n, plan in enumerate(plans) for _ in plan])
    left = [list(plan) for plan in plans]
    for n in order:
        open_at_once[n].step(left[n].pop(0))
    for n, episode in enumerate(open_at_once):
        assert canonical_json(episode.trace.to_json()) == alone(n)


@pytest.mark.parametrize("agent", list(FAMILY.agents))
def test_agents_keep_to_the_rules(agent: str) -> None:
    for suite in ("antenna", "zone", "env_shift", "weather"):
        instance = FAMILY.suite(suite)[3]
        trace = play(FAMILY.open(instance), FAMILY.agent(agent, instance))
        assert not [step for step in trace.steps if step.observation.is_error]
        assert trace.outcome == "answered"


def test_regret_is_zero_for_the_oracle_and_one_for_the_default() -> None:
    instance = FAMILY.suite("antenna")[1]
    for agent, regret in (("oracle", 0.0), ("null", 1.0)):
        trace = play(FAMILY.open(instance), FAMILY.agent(agent, instance))
        assert FAMILY.score(instance, trace).values["survival_regret"] == pytest.approx(regret)


def test_nothing_in_the_view_depends_on_the_physics() -> None:
    """The same sheet over another system gives the same words for all that is told at first."""
    instance = FAMILY.suite("zone")[0]
    episode = FAMILY.open(instance)
    for look_alike in FAMILY.look_alikes(instance):
        assert look_alike.view == episode.view
        for action in ("get_action_space", "get_status"):
            assert look_alike.step(Action.of(action)) == episode.step(Action.of(action))
