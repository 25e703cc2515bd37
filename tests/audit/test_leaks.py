"""Each leak test finds its own leak in a toy family, and nothing in a clean one."""

import pytest
from tests.audit.toy import Toy, toys

from whybench.audit.leaks import TESTS, leaks
from whybench.audit.logs import told_in, truths_in
from whybench.causal.canonical import canonical_json
from whybench.episode.episode import play

INSTANCES = 150


def test_a_clean_family_leaks_nothing_and_every_test_applies() -> None:
    assert leaks(toys(), INSTANCES) == {name: [] for name in TESTS}


@pytest.mark.parametrize("kind", TESTS)
def test_each_test_finds_its_own_leak_alone(kind: str) -> None:
    found = leaks(toys(kind), INSTANCES)
    assert found[kind], kind
    if kind == "ids":
        del found["sequence"]  # alternate answers predict one another, too
    assert [name for name, told in found.items() if told] == [kind]


def test_a_fixed_list_has_no_test_of_ids() -> None:
    found = leaks(toys(suite="fixed"), INSTANCES)
    assert found["ids"] is None
    assert found["sequence"] is None


def test_few_instances_show_nothing() -> None:
    found = leaks(toys("ids"), 10)
    assert found["ids"] is None
    assert found["formats"] is not None  # six quantities each


@pytest.mark.parametrize("leak", ["", "logs"])
def test_a_log_that_holds_the_hidden_system_is_found(leak: str) -> None:
    suite = toys(leak)[0]
    instance, family = suite[0], Toy(leak)
    trace = play(family.open(instance), family.agent("random", instance))
    text = canonical_json(family.score(instance, trace).to_json())
    assert bool(truths_in(text, suite, instance)) is bool(leak)
    assert bool(told_in({"log": text}, suite, instance, "secret")) is bool(leak)


def test_a_log_that_holds_the_secret_is_found() -> None:
    suite = toys()[0]
    told = told_in({"a": "nothing", "b": "my-secret-seed"}, suite, suite[0], "my-secret-seed")
    assert told == ["the log holds the secret seed (b)"]
