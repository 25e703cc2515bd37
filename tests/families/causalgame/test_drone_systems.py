"""What counts as the same physics and the same problem, and what was thrown away on the way."""

from dataclasses import replace

from whybench.causal.canonical import canonical_json
from whybench.episode.registry import families
from whybench.families.causalgame.world.scenario import scenarios

FAMILY = families()["causalgame"]


def code(value: object) -> str:
    return canonical_json(value)


def test_a_scenario_has_one_system_and_as_many_problems_as_seeds() -> None:
    for name in list(scenarios())[:3]:
        worlds = [
            FAMILY.world(FAMILY.suite(name, profile="published")[index]) for index in range(3)
        ]
        assert len({code(FAMILY.system(world)) for world in worlds}) == 1
        assert len({code(FAMILY.problem(world)) for world in worlds}) == 3


def test_the_call_sign_is_no_part_of_a_problem_and_the_records_are() -> None:
    world = FAMILY.world(FAMILY.suite("antenna")[0])
    other = replace(world, call_sign="auk-1")
    assert code(FAMILY.fingerprint(other).content) != code(FAMILY.fingerprint(world).content)
    assert code(FAMILY.problem(other)) == code(FAMILY.problem(world))
    fewer = replace(world, history=replace(world.history, kept=~world.history.kept))
    assert code(FAMILY.problem(fewer)) != code(FAMILY.problem(world))


def test_a_drawn_system_is_its_pattern_of_roles() -> None:
    worlds = [FAMILY.world(instance) for instance in FAMILY.suite("antenna")]
    patterns = {code(FAMILY.system(world)) for world in worlds}
    assert len(patterns) > 95
    assert len({code(FAMILY.problem(world)) for world in worlds}) == 100
    control = FAMILY.world(FAMILY.suite("antenna_no_history")[0])
    assert FAMILY.system(control) == FAMILY.system(worlds[0])
    assert FAMILY.fingerprint(control).cluster == FAMILY.fingerprint(worlds[0]).cluster
