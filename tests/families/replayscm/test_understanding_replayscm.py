"""Labels of answers: understood, lucky, premature, contradicted; recomputed by enumeration."""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import count, product
from typing import get_args

import pytest
from tests.twins import replayscm_twin as twin

from whybench.causal.seeds import Stream
from whybench.episode.episode import ANSWERED, play
from whybench.families.replayscm import FAMILY
from whybench.families.replayscm.score import PROOF, Handed, values
from whybench.families.replayscm.submission import judge
from whybench.families.replayscm.world.world import Disclosure, Table, Told, View, World, names

EPISODES = 1_000
N = 4


def formula(parents: Sequence[int], table: Sequence[int], spare: int) -> str:
    """Return a function as a disjunction of its rows; `spare` is mentioned by constants."""
    called = names(N)
    cases = []
    for bits, value in zip(product((0, 1), repeat=len(parents)), table, strict=True):
        if value and parents:
            given = [
                called[u] if bit else f"(not {called[u]})"
                for u, bit in zip(parents, bits, strict=True)
            ]
            cases.append(given[0] if len(given) == 1 else f"(and {' '.join(given)})")
    if not cases:
        name = called[spare]
        return f"(or {name} (not {name}))" if any(table) else f"(and {name} (not {name}))"
    return cases[0] if len(cases) == 1 else f"(or {' '.join(cases)})"


def spelled(scm: twin.Scm) -> dict[str, str]:
    spare = min(scm.roots)
    return {f"X{v + 1}": formula(*mechanism, spare) for v, mechanism in scm.items}


def random_scm(luck: Stream, order: Sequence[int], roots: frozenset[int], k: int) -> twin.Scm:
    items = []
    for at, v in enumerate(order):
        if v not in roots:
            parents = tuple(sorted(luck.sample(order[:at], 1 + luck.below(min(k, at)))))
            table = luck.choice(twin.essential_tables(len(parents)))
            items.append((v, (parents, table)))
    return twin.Scm(roots, tuple(sorted(items)))


def shown(luck: Stream, scm: twin.Scm, rows: int) -> tuple[frozenset[int], list[twin.Row]]:
    targets = frozenset(luck.sample(range(N), luck.below(3)))
    free = [tuple(luck.below(2) for _ in range(N)) for _ in range(rows)]
    return targets, [twin.replay(scm, N, targets, row) for row in free]


def mask(variables: Sequence[int] | frozenset[int]) -> int:
    return sum(1 << v for v in variables)


def table_of(world: tuple[frozenset[int], list[twin.Row]]) -> Table:
    targets, rows = world
    listed = [mask([v for v in range(N) if row[v]]) for row in rows]
    return Table.of(N, mask(targets), "hard_assigned" if targets else "none", listed)


Seen = Sequence[tuple[frozenset[int], list[twin.Row]]]


def label_of(fitting: Sequence[twin.Scm], said: twin.Scm, train: Seen, held: Seen) -> str:
    """Return the label from its definition: look at every SCM that fits."""

    def replays(scm: twin.Scm, worlds: Seen) -> bool:
        return all(twin.replay(scm, N, aims, row) == row for aims, rows in worlds for row in rows)

    if not replays(said, train):
        return "contradicted"
    if not replays(said, held):
        return "premature"
    return "understood" if all(replays(scm, held) for scm in fitting) else "lucky"


@pytest.mark.slow
def test_labels_of_random_episodes_are_those_of_plain_enumeration() -> None:
    seen: Counter[str] = Counter()
    for number in count():
        if seen.total() == EPISODES:
            break
        luck = Stream("labels", number)
        disclosure: Disclosure = luck.choice(get_args(Disclosure))
        k, order = 1 + luck.below(2), tuple(luck.shuffled(range(N)))
        roots = frozenset(order[: 2 + luck.below(2)])
        blocks = (order[: N - 1], order[N - 1 :])
        gold = random_scm(luck, order, roots, k)
        train = [shown(luck, gold, 2 + luck.below(6)) for _ in range(1 + luck.below(4))]
        held = [shown(luck, gold, 3)]
        given = {"roots": roots, "root_count": len(roots), "order": order, "blocks": blocks}
        fitting = list(twin.consistent(N, k, train, disclosure, **given))
        said = luck.choice((gold, luck.choice(fitting), random_scm(luck, order, roots, k)))
        if not any(v not in aims | said.roots for aims, _ in train for v in range(N)):
            continue  # no cell is scored, so no answer counts as fitting
        if not any(v not in aims | said.roots for aims, _ in held for v in range(N)):
            continue
        allowed = tuple(
            mask(twin.allowed_parents(N, v, disclosure, order, blocks)) for v in range(N)
        )
        known = None if disclosure == "roots" else mask(roots)
        told = Told(N, k, len(roots), known, allowed, disclosure == "ordered")
        view = View(
            "induce", disclosure, told, order,
            order if disclosure == "ordered" else (), blocks if disclosure == "block" else (),
            tuple(map(table_of, train)), len(held),
        )  # fmt: skip
        texts = spelled(gold)
        world = World(
            view, tuple(texts.get(name, "") for name in names(N)), tuple(map(table_of, held)), ""
        )
        answer: dict[str, object] = {"mechanisms": spelled(said)}
        if disclosure == "roots":
            answer["roots"] = [f"X{v + 1}" for v in sorted(said.roots)]
        judged = judge(view, json.dumps(answer))
        assert judged.failed is None, judged.reason
        laboratory = {"experiments": 1.0} if luck.below(2) else {}
        found, labels = values(world, ANSWERED, Handed(judged, 1, True, True), laboratory)
        expected = label_of(fitting, said, train, held)
        assert labels["proof"] == expected
        assert [name for name in PROOF if found[name]] == [expected]
        assert found["right"] == float(expected in ("understood", "lucky"))
        assert FAMILY.understood(found) == float(expected == "understood")
        seen[expected] += 1
    assert min(seen[name] for name in PROOF) > 50


@pytest.mark.parametrize(
    ("suite", "agent", "label"),
    [
        ("hid_cert", "exact", "understood"),
        ("hid_cert", "null", "contradicted"),
        ("alt_hid", "exact", "understood"),
        ("alt_hid", "null", "contradicted"),
        ("bits_32", "oracle", "lucky"),
        ("bits_32", "exact", "premature"),
        ("lab", "null", "contradicted"),
    ],
)
def test_labels_of_agents(suite: str, agent: str, label: str) -> None:
    instance = FAMILY.suite(suite)[3]
    trace = play(FAMILY.open(instance), FAMILY.agent(agent, instance))
    score = FAMILY.score(instance, trace)
    assert score.labels["proof"] == label
    assert sum(score.values[name] for name in PROOF) == 1.0
    assert FAMILY.understood(score.values) == float(label == "understood")


def test_an_episode_without_a_valid_answer_has_no_label() -> None:
    instance = FAMILY.suite("hid_cert", parameters={"max_errors": 1})[0]
    episode = FAMILY.open(instance)
    episode.step(*FAMILY.submission("no JSON at all"))
    score = FAMILY.score(instance, episode.trace)
    assert score.labels["proof"] is None
    assert [score.values[name] for name in PROOF] == [0.0] * 4
