"""What counts as the same physics and the same problem, and what was thrown away on the way."""

from dataclasses import replace

from whybench.causal.canonical import EMPTY, canonical_json
from whybench.causal.seeds import Stream
from whybench.episode.registry import families
from whybench.families.causalgame.world import factorial_suite
from whybench.families.causalgame.world.factorial_suite import CELLS, SEEDS
from whybench.families.causalgame.world.physics.generated import Generated, nameless
from whybench.families.causalgame.world.scenario import scenarios

FAMILY = families()["causalgame"]


def code(value: object) -> str:
    return canonical_json(value)


def test_a_scenario_has_one_system_and_as_many_problems_as_seeds() -> None:
    for name in list(scenarios())[:3]:
        worlds = [FAMILY.world(FAMILY.suite(name)[index]) for index in range(3)]
        assert len({code(FAMILY.system(world)) for world in worlds}) == 1
        assert len({code(FAMILY.problem(world)) for world in worlds}) == 3


def test_the_call_sign_is_no_part_of_a_problem_and_the_records_are() -> None:
    world = FAMILY.world(FAMILY.suite("knobs")[0])
    other = replace(world, call_sign="auk-1")
    assert code(FAMILY.fingerprint(other).content) != code(FAMILY.fingerprint(world).content)
    assert code(FAMILY.problem(other)) == code(FAMILY.problem(world))
    fewer = replace(world, history=replace(world.history, kept=~world.history.kept))
    assert code(FAMILY.problem(fewer)) != code(FAMILY.problem(world))


def renamed(physics: Generated, stream: Stream) -> Generated:
    """The same physics with other names of components and options, in another order."""
    sheet = physics.sheet
    parts = {name: f"part {place}" for place, name in enumerate(stream.shuffled(sheet.names))}
    (slot,) = sheet.slots.values()
    offers = {
        name: f"offer {place}" for place, name in enumerate(stream.shuffled(tuple(slot.options)))
    }
    return physics.model_copy(
        update={
            "sheet": sheet.model_copy(
                update={
                    "components": {
                        parts[name]: sheet.components[name] for name in stream.shuffled(sheet.names)
                    },
                    "slots": {
                        "bay": slot.model_copy(
                            update={
                                "default": offers[slot.default],
                                "options": {offers[name]: e for name, e in slot.options.items()},
                            }
                        )
                    },
                }
            ),
            "levers": {parts[name]: lever for name, lever in physics.levers.items()},
            "options": {offers[name]: odds for name, odds in physics.options.items()},
            "roles": {role: parts[name] for role, name in physics.roles.items()},
        }
    )


def test_a_generated_physics_does_not_depend_on_names_and_on_all_else() -> None:
    stream, found = Stream("nameless"), set()
    for seed in range(5):
        physics = FAMILY.world(FAMILY.suite("knobs")[seed]).physics
        assert isinstance(physics, Generated)
        assert code(nameless(renamed(physics, stream))) == code(nameless(physics))
        found.add(code(nameless(physics)))
        one, two = list(physics.levers)[:2]
        swapped = {**physics.levers, one: physics.levers[two], two: physics.levers[one]}
        critical = [physics.sheet.components[name].critical for name in (one, two)]
        same = code(nameless(physics.model_copy(update={"levers": swapped}))) in found
        assert same == (critical[0] == critical[1])
        fewer = {name: lever for name, lever in physics.levers.items() if name != one}
        assert code(nameless(physics.model_copy(update={"levers": fewer}))) not in found
    assert len(found) == 5


def test_a_generated_problem_does_not_depend_on_names_even_where_wrecks_are_concealed() -> None:
    suite, stream = FAMILY.suite("knobs"), Stream("nameless problems")
    worlds = [FAMILY.world(suite[cell * SEEDS]) for cell in range(0, CELLS, 9)]
    assert {world.rules.concealed is None for world in worlds} == {True, False}
    for world in worlds:
        physics, rules = renamed(world.physics, stream), world.rules
        if (hiding := rules.concealed) is not None:
            moved = hiding.model_copy(update={"component": physics.roles["decoy"]})
            rules = rules.model_copy(update={"concealed": moved})
            other = hiding.model_copy(update={"component": world.physics.roles["strong"]})
            changed = replace(world, rules=world.rules.model_copy(update={"concealed": other}))
            assert code(FAMILY.problem(changed)) != code(FAMILY.problem(world))
        same = replace(world, physics=physics, rules=rules)
        assert code(FAMILY.problem(same)) == code(FAMILY.problem(world))


def test_cells_of_one_seed_share_their_system_unless_the_fleet_meets_other_weather() -> None:
    suite = FAMILY.suite("knobs")
    worlds = [FAMILY.world(suite[cell * SEEDS]) for cell in range(0, CELLS, 7)]
    storms = {world.physics.sky.storm_probability["stage2"] for world in worlds}
    assert len({code(FAMILY.system(world)) for world in worlds}) == len(storms) > 1
    assert len({code(FAMILY.problem(world)) for world in worlds}) == len(worlds)


def test_histories_that_were_thrown_away_are_counted_whatever_caches_hold() -> None:
    suite = FAMILY.suite("knobs")
    counts = [FAMILY.discarded(suite[seed]) for seed in range(SEEDS)]
    factorial_suite._designs.cache_clear()
    assert [FAMILY.discarded(suite[seed]) for seed in range(SEEDS)] == counts
    assert {FAMILY.discarded(suite[i]) for i in range(SEEDS, len(suite), 7)} == {EMPTY}
    assert FAMILY.discarded(FAMILY.suite("all")[0]) == EMPTY
    refused = [count["history_above_the_bar"] for count in counts]
    assert min(refused) < 5 < 25 < max(refused)
    luck = factorial_suite.Stream("causalgame", "generated", "public", 0, "history", "designs")
    physics = FAMILY.world(suite[0]).physics
    for _ in range(refused[0]):
        factorial_suite._dealt(physics.sheet, luck)
    kept, _ = factorial_suite._designs(("causalgame", "generated", "public", 0))
    assert factorial_suite._dealt(physics.sheet, luck) == kept
