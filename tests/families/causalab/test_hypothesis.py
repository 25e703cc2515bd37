"""The hypothesis language: what is read, what is sent back and why, and what that costs."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import together

from whybench.causal.canonical import freeze
from whybench.causal.graph import Graph
from whybench.episode.action import Action
from whybench.episode.registry import families
from whybench.families.causalab.hypothesis import Guess, HypothesisError, read, written

FAMILY = families()["causalab"]

NAMES = ("frequency", "temperature", "ph", "size")


def told(suite: str = "main_4", **changes: object):
    view = FAMILY.world(FAMILY.suite(suite)[0]).view
    return replace(view, names=NAMES, **changes)


LINEAR, QUADRATIC, RELEASED = told(), told("quad_hard"), told(released=True)


def said(edges: object, coefficients: object = None, **more: object) -> str:
    return json.dumps({"edges": edges, "coefficients": coefficients, **more})


def edge(cause: object, effect: object, **more: object) -> dict[str, object]:
    return {"from": cause, "to": effect, **more}


def refused(view, text: object, *, final: bool = False, candidates: bool = False) -> str:
    with pytest.raises(HypothesisError) as caught:
        read(view, text, final=final, candidates=candidates)
    return str(caught.value)


# Reading.


@pytest.mark.parametrize(
    ("spelling", "node"),
    [
        ("pH", 2), ("ph", 2), ("PH value", 2), ("Temperature (°C)", 1), ("temperatureC", 1),
        ("TEMP", 1), ("Quantum Size", 3), ("quantum_size", 3), (" size ", 3),
    ],
)  # fmt: skip
def test_spellings_of_a_property(spelling: str, node: int) -> None:
    for frequency in ("frequency", "freq", "Resonance Frequency (Hz)", "resonanceFreq"):
        text = said([edge(spelling, frequency)], {"base": 1, f"c_{spelling}": 2})
        guess = read(LINEAR, text, final=True)
        assert guess == Guess(frozenset({(node, 0)}), 1, ((node, 2),))
        text = said(
            [edge(spelling, frequency)], {"base": 1, f"c_{spelling}_1": 2, f"c_{spelling}_2": 3}
        )
        assert read(QUADRATIC, text, final=True).square == ((node, 2),)


def test_text_or_object_and_pairs_are_the_same() -> None:
    data = {"edges": [["ph", "frequency"], ["size", "ph"]], "coefficients": {"base": 3, "c_ph": 1}}
    expected = Guess(frozenset({(2, 0), (3, 2)}), 3, ((2, 1),))
    for form in (data, json.dumps(data), freeze(data), "  " + json.dumps(data, indent=3)):
        assert read(LINEAR, form, final=True) == expected


@together(("text", "reason"), [
        (said([edge("colour", "frequency")], {}), "no quantity 'colour'"),
        (said([edge("ph", "viscosity")], {}), "no quantity 'viscosity'"),
        (said([edge(7, "ph")], {}), "no quantity of type int"),
        (said([], {"c_colour": 1}), "no quantity 'colour'"),
        (said([], {"c_frequency": 1}), "its own equation"),
        (said([], {"ph": 1}), "neither base nor c_NAME"),
        (said([edge("ph", "frequency")], {"c_ph": "2"}), "'c_ph' is not a number"),
        (said([edge("ph", "frequency")], {"c_ph": True}), "'c_ph' is not a number"),
        (said([edge("ph", "frequency")], {"c_ph": [2]}), "'c_ph' is not a number"),
        ('{"edges": [], "coefficients": {"base": NaN}}', "'base' is not a number"),
        ('{"edges": [], "coefficients": {"base": 1e999}}', "'base' is not a number"),
        ('{"edges": [], "coefficients": {"base": 1%s}}' % ("0" * 400), "'base' is not a number"),
        (said([edge("ph", "frequency")], {}), "ph has an edge but no coefficient"),
        (said([], {"c_ph": 1}), "ph has a coefficient but no edge to frequency"),
        (said([edge("ph", "frequency")], {"c_size": 1}), "ph has an edge but no coefficient"),
        (said([edge("ph", "pH")], {}), "ph cannot be its own cause"),
        (said([edge("ph", "size"), edge("size", "ph")], {}), "go round in a circle"),
        (said([{"from": "ph"}], {}), "`from` and `to`"),
        (said("ph>size", {}), "`edges` is a list"),
        (said([], None), "`coefficients` is an object"),
        ("[]", "not a JSON object"),
        ("edges: none", "not a JSON object"),
        ("[" * 15_000, "not a JSON object"),
        (5, "not a JSON object"),
        ('{"edges": []' + " " * 40_000, "longer than"),
    ])  # fmt: skip
def test_what_is_wrong_is_said(text: object, reason: str) -> None:
    assert reason in refused(LINEAR, text)


def test_null_is_legal_until_the_end() -> None:
    text = said([edge("ph", "frequency")], {"base": None, "c_ph": None})
    assert read(LINEAR, text, final=False) == Guess(frozenset({(2, 0)}), None, ((2, None),))
    assert "needs a number for 'base'" in refused(LINEAR, text, final=True)
    text = said([edge("ph", "frequency")], {"base": 1, "c_ph": None})
    assert "needs a number for 'c_ph'" in refused(LINEAR, text, final=True)
    assert "a number for base" in refused(LINEAR, said([], {}), final=True)


def test_quadratic_terms_come_in_pairs_the_square_first() -> None:
    edges = [edge("ph", "frequency")]
    guess = read(QUADRATIC, said(edges, {"base": 1, "c_ph_1": 0.5, "c_ph_2": 3}), final=True)
    assert (guess.square, guess.linear) == (((2, 0.5),), ((2, 3),))
    assert guess.frequency((0, 0, 2.0, 0)) == 1 + 0.5 * 4 + 3 * 2
    assert "both" in refused(QUADRATIC, said(edges, {"base": 1, "c_ph_1": 0.5}))
    assert "c_NAME_1" in refused(QUADRATIC, said(edges, {"base": 1, "c_ph": 0.5}))
    assert "no quantity 'ph_1'" in refused(LINEAR, said(edges, {"base": 1, "c_ph_1": 1}))


def test_candidates_are_graphs_and_counted_once() -> None:
    graphs = [[edge("ph", "size")], [["pH", "Quantum Size"]], []]
    text = said([], {"base": 1}, candidates=graphs)
    assert read(LINEAR, text, final=True).candidates is None
    listed = read(LINEAR, text, final=True, candidates=True).candidates
    assert listed == (frozenset({(2, 3)}), frozenset())
    assert read(LINEAR, said([], {"base": 1}), final=True, candidates=True).candidates is None
    for bad in ([], {}, ["ph"], [[edge("ph", "ph")]], [[["ph", "size"], ["size", "ph"]]], None):
        assert refused(LINEAR, said([], {}, candidates=bad), candidates=True)


def test_undetermined_edges_are_not_claimed() -> None:
    edges = [edge("ph", "size", undetermined=True), edge("size", "temperature")]
    guess = read(LINEAR, said(edges, {}), final=False)
    assert (guess.edges, guess.undetermined) == (frozenset({(3, 1)}), frozenset({(2, 3)}))
    circle = [edge("ph", "size", undetermined=True), edge("size", "ph")]
    assert read(LINEAR, said(circle, {}), final=False).edges == {(3, 2)}


numbers = st.one_of(
    st.none(), st.integers(-(10**9), 10**9), st.floats(-1e9, 1e9, allow_nan=False)
)  # fmt: skip


@st.composite
def guesses(draw: st.DrawFn, quadratic: bool) -> Guess:
    order = draw(st.permutations(range(4)))
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    edges = frozenset(draw(st.sets(st.sampled_from(pairs))))
    parents = sorted(a for a, b in edges if b == 0)
    linear = tuple((p, draw(numbers)) for p in parents)
    square = tuple((p, draw(numbers)) for p in parents) if quadratic else ()
    graphs = st.sets(st.sampled_from(pairs)).map(frozenset)
    listed = draw(st.none() | st.lists(graphs, min_size=1, max_size=3, unique=True).map(tuple))
    return Guess(edges, draw(numbers), linear, square, listed)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.booleans().flatmap(lambda q: st.tuples(st.just(q), guesses(q))))
def test_reading_what_was_written_gives_it_back(case: tuple[bool, Guess]) -> None:
    quadratic, guess = case
    view = QUADRATIC if quadratic else LINEAR
    assert Graph.from_edges(4, guess.edges).is_acyclic()
    assert read(view, json.dumps(written(view, guess)), final=False, candidates=True) == guess


words = st.sampled_from(
    [*NAMES, "pH", "edges", "from", "to", "base", "c_ph", "c_size_1", "candidates"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | words | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
near_misses = st.fixed_dictionaries(
    {},
    optional={
        "edges": json_values | st.lists(st.lists(words, min_size=2, max_size=2), max_size=4),
        "coefficients": json_values | st.dictionaries(words, json_values, max_size=3),
        "candidates": json_values,
    },
)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(near_misses | json_values, st.booleans(), st.sampled_from([LINEAR, QUADRATIC, RELEASED]))
def test_arbitrary_data_is_read_or_refused_never_more(data: object, final: bool, view) -> None:
    for form in (data, json.dumps(data)):
        try:
            guess = read(view, form, final=final, candidates=True)
        except HypothesisError:
            continue
        assert view.released or Graph.from_edges(4, guess.edges).is_acyclic()
        guess.frequency((1e80,) * 4)


def test_what_is_too_deep_to_be_quoted_is_refused_all_the_same() -> None:
    for depth in range(100, 1000, 7):
        text = '{"edges": [[%s, "ph"]], "coefficients": {}}' % ("[" * depth + "]" * depth)
        assert refused(LINEAR, text) in (
            "there is no quantity of type list",
            "the hypothesis is not a JSON object",
        )


# Sending back.


BAD = said([edge("colour", "frequency")], {})


def opened(profile: str = "certified", **parameters: object):
    instance = FAMILY.suite("main_4", profile=profile, parameters=parameters)[0]
    return instance, FAMILY.open(instance)


def good(view, cause: int = 1) -> str:
    name = view.names[cause]
    return said([edge(name, "frequency")], {"base": 1, f"c_{name}": 2})


def test_a_bad_hypothesis_is_sent_back_twice_and_then_the_action_is_carried_out() -> None:
    instance, episode = opened(max_errors=1)
    action = Action.of("intervene", property=episode.view.names[1], value=5, hypothesis=BAD)
    for _ in range(2):
        observation = episode.step(action)
        assert observation.code == "invalid_hypothesis"
        assert "no quantity 'colour'" in episode.describe(observation, "plain")
        assert (episode.used, episode.parse_failures) == (0, 0)
    assert episode.step(action).code == "ok"
    assert (episode.used, episode.parse_failures, episode.sent_back) == (1, 1, 2)
    assert episode.guesses == [(0, None)]
    assert [episode.step(action).code for _ in range(3)] == ["invalid_hypothesis"] * 2 + ["ok"]
    assert not episode.done
    values = FAMILY.score(instance, episode.trace).values
    assert (values["sent_back"], values["parse_failures"], values["interventions"]) == (4, 2, 2)


def test_patience_is_new_with_every_step() -> None:
    _, episode = opened()
    for between in (good(episode.view), None):
        bad = Action.of("intervene", property=episode.view.names[1], value=5, hypothesis=BAD)
        assert episode.step(bad).is_error
        more = {} if between is None else {"hypothesis": between}
        fine = Action.of("intervene", property=episode.view.names[1], value=5, **more)
        assert not episode.step(fine).is_error
        assert [episode.step(bad).is_error for _ in range(3)] == [True, True, False]


def test_an_illegal_request_is_refused_before_its_hypothesis_is_read() -> None:
    _, episode = opened()
    bad = Action.of("intervene", property="colour", value=5, hypothesis=good(episode.view))
    assert episode.step(bad).code == "invalid_action"
    assert episode.guesses == []


@pytest.mark.parametrize("name", ["propose", "open_reactor", "submit"])
def test_every_action_sends_back(name: str) -> None:
    instance, episode = opened(max_errors=1)
    if name == "submit":
        episode.step(Action.of("open_reactor"))
    args = {"frequency": 5} if name == "submit" else {}
    action = Action.of(name, hypothesis=BAD, **args)
    assert [episode.step(action).is_error for _ in range(3)] == [True, True, False]
    assert episode.done == (name == "submit")
    score = FAMILY.score(instance, episode.trace)
    assert score.outcome == ("answered" if name == "submit" else "unfinished")
    assert score.values["parse_failures"] == 1


def test_the_end_needs_a_hypothesis_with_all_its_numbers() -> None:
    _, episode = opened()
    name = episode.view.names[1]
    half = said([edge(name, "frequency")], {"base": None, f"c_{name}": 2})
    episode.step(Action.of("open_reactor"))
    bare = Action.of("submit", frequency=5)
    assert "no hypothesis yet" in episode.step(bare).data["reason"]
    assert not episode.step(Action.of("propose", hypothesis=half)).is_error
    assert "every coefficient" in episode.step(bare).data["reason"]
    assert (
        "'base'" in episode.step(Action.of("submit", frequency=5, hypothesis=half)).data["reason"]
    )
    episode.step(Action.of("propose", hypothesis=good(episode.view)))
    assert episode.step(bare).code == "ok"
    assert (episode.outcome, episode.errors, episode.sent_back) == ("answered", 0, 3)


def test_a_failure_keeps_the_last_hypothesis_that_could_be_read() -> None:
    _, episode = opened()
    episode.step(Action.of("propose", hypothesis=good(episode.view)))
    for _ in range(3):
        episode.step(Action.of("propose", hypothesis=BAD))
    assert [guess is None for _, guess in episode.guesses] == [False, True]
    assert episode.guess.edges == {(1, 0)}


def test_without_candidates_the_exact_agent_still_answers() -> None:
    """The list may be left out: then there is none, but a bad one is sent back."""
    from whybench.episode.episode import play

    instance, episode = opened(candidates=True)
    score = FAMILY.score(instance, play(episode, FAMILY.agent("exact", instance)))
    assert (score.values["accuracy"], score.values["candidates"]) == (1, None)
    assert FAMILY.certify(instance).defects() == []


# The released rules.


def test_the_release_reads_with_good_will_and_compares_names_as_they_stand() -> None:
    text = said([edge("pH", "size"), edge("ph", "freq"), edge("size", "size"), edge("x", "y")], {})
    guess = read(RELEASED, text, final=True)
    assert (2, 0) in guess.edges
    assert (2, 3) not in guess.edges
    assert (3, 3) in guess.edges
    assert len(guess.edges) == 4
    assert read(LINEAR, said([edge("pH", "size")], {}), final=False).edges == {(2, 3)}
    assert read(RELEASED, "{}", final=True).edges == frozenset()
    assert read(RELEASED, said([["a", "b"], ["a", "c"], "?"], {}), final=True).edges == {
        (4, 5),
        (4, 6),
    }


def test_the_release_looks_coefficients_up_under_four_names() -> None:
    for key in ("c_ph", "C_PH", "coeff_ph_freq", "coeff_ph_frequency", "ph"):
        guess = read(RELEASED, said([], {key: 2, "c_other": "?", "base": 4}), final=True)
        assert (guess.linear, guess.base) == (((2, 2),), 4)
        assert guess.keys == (1 if key == "ph" else 2)
