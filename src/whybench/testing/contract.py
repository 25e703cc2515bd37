"""What every family must pass, whoever wrote it. A test is a rule: its docstring says why."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from inspect import getdoc
from typing import Any, ClassVar, TypeVar

import pytest

from whybench import CANARY
from whybench.causal.canonical import Record, canonical_json
from whybench.causal.seeds import Stream
from whybench.episode.annotated import AnnotatedEpisode
from whybench.episode.declaration import profiles_of
from whybench.episode.episode import play
from whybench.episode.family import Family, Suite
from whybench.episode.instance import PROFILES
from whybench.episode.registry import families, load_suite
from whybench.episode.score import Score
from whybench.episode.trace import EVIDENCE
from whybench.testing.samples import (
    bad_actions,
    certified,
    contents,
    fuzzed,
    headline,
    instructions,
    made,
    more_alike_than_chance,
    played,
    spread,
)

Rule = TypeVar("Rule", bound=Callable[..., None])

HEADINGS = ("## What it measures", "## Known defects", "## Scores")
AGENTS = ("null", "random", "exact", "oracle")


def certified_only(rule: Rule) -> Rule:
    """Apply a rule to suites in profile `certified` alone."""
    setattr(rule, "certified_only", True)  # noqa: B010 - functions have no such attribute
    return rule


def rules() -> dict[str, tuple[str, str]]:
    """Return every rule: the name of its test → what must hold, and why."""
    found = {}
    for name, test in vars(Contract).items():
        if name.startswith("test_"):
            what, why = re.sub(r"\s+", " ", getdoc(test) or "").split(" Why: ")
            found[name] = (what, why)
    return found


class Contract:
    """The rules as tests; a subclass names the families that are tested."""

    families: ClassVar[Sequence[str]] = ()
    """The names of their entry points in the group `whybench.families`."""
    fuzzed_episodes: ClassVar[Sequence[Any]] = (1_000,)
    """How many episodes are fuzzed; each number is a test."""

    def marks(self, family: str, suite: str, profile: str) -> Sequence[pytest.MarkDecorator]:
        """Return the marks of all tests of a suite; a subclass may divide them into tiers."""
        return ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Repeat a rule for every family, and where it asks for a suite for every suite."""
        if absent := [name for name in self.families if name not in families()]:
            pytest.fail(
                f"No family {absent[0]!r} is installed. Install its package "
                '(`uv pip install -e .`) and check the name in [project.entry-points."whybench.'
                'families"].',
                pytrace=False,
            )
        if "path" in metafunc.fixturenames:
            only_certified = hasattr(metafunc.function, "certified_only")
            paths = self.suites(PROFILES[:1] if only_certified else PROFILES)
            # Grouped by suite (the scope does it), so that systems and traces are made once.
            metafunc.parametrize("path", paths, scope="class")
        if "name" in metafunc.fixturenames:
            metafunc.parametrize("name", self.families)
        if "episodes" in metafunc.fixturenames:
            metafunc.parametrize("episodes", self.fuzzed_episodes)

    def suites(self, profiles: Sequence[str]) -> list[Any]:
        """Return all suites of these profiles as parameters of tests."""
        return [
            pytest.param(f"{name}/{suite}/{profile}", marks=self.marks(name, suite, profile))
            for profile in profiles
            for name in self.families
            for suite in families().declared(name)["suites"]
            if profile in profiles_of(families().declared(name), suite)
        ]

    @pytest.fixture
    def suite(self, path: str) -> Suite:
        """Open the suite at `family/suite/profile`."""
        path, _, profile = path.rpartition("/")
        return load_suite(path, profile=profile)

    @pytest.fixture
    def family(self, name: str) -> Family[Any]:
        """Import a family."""
        return families()[name]

    # Certificates, floors and ceiling.

    def test_the_exact_agent_reaches_the_certificate(self, suite: Suite) -> None:
        """The agent `exact` reaches `best_score`, within the certificate's worst case.

        Why: reports place every score between a floor and this ceiling, so somebody must reach it.
        """
        for instance in spread(suite, 8):
            certificate = certified(instance)
            assert not certificate.defects(), (
                f"{instance.id}: {'; '.join(certificate.defects())}. Correct `certify`, or the "
                f"agent `exact`; claim no more than is proven. Bits left open: {certificate.bits}, "
                f"witness: {certificate.witness}. If no experiment distinguishes these, raise the "
                "budget or add an experiment."
            )
            reached = headline(suite, "exact", instance)
            best = certificate.best_score
            proven = certificate.status == "proven"
            assert best is None or (reached == best if proven else reached <= best), (
                f"{instance.id}: `exact` scores {reached} and `best_score` is {best}. Correct the "
                "agent, or `best_score`; set it to None if no upper bound is known."
            )
            assert certificate.exact_steps is not None, (
                "Set `exact_steps` to the number of experiments that `exact` made: "
                "len(self.experiments(self.exact_run(instance)))."
            )

    @certified_only
    def test_guessers_stay_below_their_ceiling(self, suite: Suite) -> None:
        """Every agent in `[floor_ceiling]` scores below its figure there, or in `[ceilings.SUITE]`.

        Why: if an agent that knows nothing scores high, a high score shows nothing.
        """
        instances = list(spread(suite, 60))
        family = suite.family
        own = family.ceilings.get(suite.name, {})
        for agent, ceiling in {**family.floor_ceiling, **own}.items():
            mean = sum(headline(suite, agent, instance) for instance in instances) / len(instances)
            assert mean < ceiling, (
                f"`{agent}` scores {mean:.3f} on {suite.path}, not below {ceiling}. Make the "
                "question harder to guess, or state an honest higher figure in `[floor_ceiling]`."
            )

    def test_every_family_has_floors_and_a_ceiling(self, family: Family[Any]) -> None:
        """Agents `null`, `random`, `exact` and `oracle` exist; the first two have a ceiling.

        Why: every report compares a model with these agents on the same instances.
        """
        missing = [name for name in AGENTS if name not in family.agents]
        assert not missing, f"Add {', '.join(missing)} to `[agents]` and to `moves`."
        missing = [name for name in AGENTS[:2] if name not in family.floor_ceiling]
        assert not missing, f"Add {', '.join(missing)} to `[floor_ceiling]`."
        named = [metric.name for metric in family.metrics]
        assert family.headline in named, f"Set `headline` to one of the metrics {named}."

    def test_every_metric_is_scored_and_declared(self, suite: Suite) -> None:
        """A score has exactly the declared metrics, in their order and in the range of their kind.

        Why: tables, intervals and tests are chosen from the declaration, before any score exists.
        """
        family = suite.family
        for agent in family.agents:
            for instance in spread(suite, 3):
                values = family.score(instance, played(agent, instance)).values.asdict()
                declared = [metric.name for metric in family.metrics]
                assert list(values) == declared, (
                    f"`score_episode` returns {list(values)} and `metrics` declares {declared}. "
                    "Make them equal, in this order; use None for a value that does not apply."
                )
                for metric in family.metrics:
                    value, (least, most) = values[metric.name], metric.range
                    inside = value is None or least <= value <= most
                    assert inside and (not metric.rate or value in (None, 0, 1)), (
                        f"`{metric.name}` is {value}, which its kind {metric.kind!r} excludes. "
                        "Choose another kind: rate (0 or 1), share (0 to 1), amount, number."
                    )

    # Determinism.

    def test_other_seeds_share_nothing(self, suite: Suite) -> None:
        """Two seeds give different systems, and different instructions if instructions vary.

        Agreement by chance is allowed, so a family with few systems, or with the same instructions
        for all instances, passes.

        Why: a private or training seed is of no use if it gives the public instances.
        """
        other = suite.family.suite(suite.name, profile=suite.profile, seed="fresh")
        here, there = list(spread(suite, 24)), list(spread(other, 24))
        assert not {instance.id for instance in here} & {instance.id for instance in there}
        systems = [contents(suite.family, side) for side in (here, there)]
        assert len({*systems[0], *systems[1]}) > 1, (
            f"{suite.path}: all instances hide the same system. Draw it in `build`, and put "
            "everything that was drawn into the `content` of `fingerprint`."
        )
        words = [instructions(suite.family, side) for side in (here, there)]
        for drawn in (systems, words):
            assert not more_alike_than_chance(*drawn), (
                f"{suite.path}: two seeds give the same at the same index. Draw from "
                "wb.Stream(family, instance.stream_seed, instance.suite, instance.index) only."
            )

    def test_replaying_a_trace_gives_the_same_trace_and_score(self, suite: Suite) -> None:
        """The same actions give the same observations and the same score.

        Why: logs hold actions only. Scores are computed again from them, in other processes.
        """
        family = suite.family
        for agent in ("exact", "random"):
            for instance in spread(suite, 6):
                trace = played(agent, instance)
                again = family.replay(instance, trace)
                same = canonical_json(again.to_json()) == canonical_json(trace.to_json())
                assert same and again == trace, (
                    f"{instance.id}: a replay differs. An episode may depend on its system and "
                    "the actions alone: no clock, no global state, no generator without a seed."
                )
                assert family.score(instance, again) == family.score(instance, trace)

    # Evidence.

    def test_optimal_evidence_suffices_and_only_the_end_is_left(self, suite: Suite) -> None:
        """With given evidence only final actions are left, and `exact` still reaches `best_score`.

        Why: a run with `evidence=optimal` separates reasoning from the choice of experiments.
        """
        family = suite.family
        for instance in spread(suite, 4):
            final = {spec.name for spec in family.open(instance, evidence="optimal").actions}
            for agent in family.agents:
                episode = family.open(instance, evidence="optimal")
                assert all(spec.final for spec in episode.actions), (
                    "`actions` must list only final actions when `evidence` is not 'own'."
                )
                left = play(episode, family.agent(agent, instance, episode.evidence_given))
                tried = {step.action.name for step in left.steps[left.given :]}
                assert tried <= final and left.outcome == "answered", (
                    f"`{agent}` does {sorted(tried)} and ends with {left.outcome!r}. If `given` is "
                    "not None, an agent must answer from it at once."
                )
                if agent == "exact":
                    assert left.evidence == "optimal"
                    assert family.replay(instance, left) == left
                    reached = family.score(instance, left).values[family.headline]
                    assert reached == headline(suite, "exact", instance), (
                        f"{instance.id}: `exact` scores {reached} from given evidence. It must "
                        "draw the same conclusion from `given` as from its own experiments."
                    )

    # Errors.

    @certified_only
    def test_bad_actions_cost_nothing_and_never_raise(self, suite: Suite) -> None:
        """A bad action is answered with an error, changes nothing, and leaves `best_score` open.

        Why: a slip in the form of a reply is not a lack of causal reasoning.
        """
        family, template = suite.family, suite.family.templates[0]
        for instance in spread(suite, 4):
            bads = bad_actions(family.open(instance))
            for bad in bads:
                episode = family.open(instance)
                before = episode.instructions(template)
                observation = episode.step(bad)
                assert observation.is_error, (
                    f"{str(bad.to_json())[:200]} was taken. Return wb.Observation.refused(code, "
                    "reason) for every argument that is not legal, whatever its type."
                )
                assert CANARY not in episode.describe(observation, template)
                assert episode.instructions(template) == before, "An error must change nothing."
            episode = family.open(instance)
            for bad in bads[: episode.max_errors - 1]:
                episode.step(bad)
            for action in played("exact", instance).actions:
                episode.step(action)
            reached = family.score(instance, episode.trace).values[family.headline]
            assert reached == headline(suite, "exact", instance), (
                f"{instance.id}: after {episode.max_errors - 1} errors `exact` scores {reached}. "
                "An error must not use up the budget."
            )

    def test_nothing_counts_after_the_end(self, suite: Suite) -> None:
        """After the end every action is answered with the code `over` and leaves no trace.

        Why: otherwise an agent could change an answer that was already scored.
        """
        family, instance = suite.family, made(suite, 0)
        trace = played("exact", instance)
        episode = family.replay_episode(instance, trace.actions, 0, "own")
        assert episode.done, "Set `outcome` when the final action is taken."
        assert episode.step(trace.actions[-1]).code == "over", "Do not override `step`."
        assert episode.trace == trace

    def test_scoring_survives_fuzzed_submissions(self, family: Family[Any], episodes: int) -> None:
        """Random actions, legal and illegal, never raise, and always get a score.

        Why: one exception in one sample can stop the evaluation of a model.
        """
        stream = Stream("fuzz", family.name)
        instances = list(spread(family.suite(next(iter(family.suites))), 20))
        outcomes = set()
        for _ in range(episodes):
            instance = stream.choice(instances)
            episode = family.open(instance)
            for _ in range(stream.below(6)):
                episode.step(fuzzed(stream, episode))
            score = family.score(instance, episode.trace)
            assert isinstance(score, Score), "`score_episode` must return a wb.Score."
            outcomes.add(score.outcome)
        assert len(outcomes) > 2, (
            f"Fuzzed episodes end only as {sorted(outcomes)}. Use different codes for errors, and "
            "'unfinished' for an episode that was left open."
        )

    # Leaks.

    @certified_only
    def test_instructions_reveal_nothing_of_the_truth(self, suite: Suite) -> None:
        """Systems with another truth behind the same view have the same prompts, word for word.

        Why: a prompt that depends on the truth can be solved without any causal reasoning.
        """
        family = suite.family
        for instance in spread(suite, 12):
            episode = family.open(instance)
            look_alikes = list(family.look_alikes(instance))
            if not look_alikes:
                pytest.skip(f"{family.name} opens no `look_alikes`, so leaks are not tested.")
            for template in family.templates:
                shown = episode.instructions(template)
                talk = family.conversation(episode, template)
                assert instance.id not in shown, "Instructions must not hold the instance's id."
                assert instance.cluster not in shown, "Instructions must not hold the cluster."
                for look_alike in look_alikes:
                    other = family.conversation(look_alike, template)
                    assert (
                        look_alike.instructions(template) == shown
                        and (other.system, other.turn()) == (talk.system, talk.turn())
                        and look_alike.actions == episode.actions
                    ), (
                        f"{instance.id}: another truth has other words in template {template!r}. "
                        "Fill the template with what is displayed only, drawn apart from the truth."
                    )

    def test_every_prompt_carries_the_canary(self, suite: Suite) -> None:
        """Instructions and system prompts have `wb.CANARY` once.

        Why: training data can be searched for this text, so contamination can be found.
        """
        family = suite.family
        for instance in spread(suite, 3):
            for evidence in EVIDENCE[:2]:
                for template in family.templates:
                    episode = family.open(instance, evidence=evidence)
                    told = (
                        episode.instructions(template),
                        family.conversation(episode, template).system,
                    )
                    for what, text in zip(("instructions", "system"), told, strict=True):
                        assert text.count(CANARY) == 1, (
                            f"`{what}` has the canary {text.count(CANARY)} times, evidence "
                            f"{evidence!r}, template {template!r}. Put wb.CANARY into it once."
                        )

    # Data.

    def test_every_value_survives_json(self, suite: Suite) -> None:
        """Instances, traces, scores and certificates are the same after a round trip as JSON.

        Why: they travel through logs, servers and stored sets.
        """
        family = suite.family
        for instance in spread(suite, 4):
            trace = played("random", instance)
            score = family.score(instance, trace)
            values: tuple[Any, ...] = (instance, trace, score, certified(instance))
            for value in values:
                text = json.dumps(value.to_json(), allow_nan=False)
                again = type(value).from_json(json.loads(text))
                assert again == value and hash(again) == hash(value), (
                    f"{type(value).__name__} changes in JSON: use texts, numbers, True, False, "
                    "None, tuples and wb.Record only, and no NaN."
                )
            assert family.rebuilt(json.loads(json.dumps(instance.to_json()))) == instance
            json.dumps(family.truth(instance), allow_nan=False)

    def test_covariates_are_plain_scalars(self, suite: Suite) -> None:
        """`covariates` returns a `Record` of texts, numbers and None, the same names everywhere.

        Why: a report makes a column of each.
        """
        found = [suite.family.covariates(instance) for instance in spread(suite, 4)]
        for covariates in found:
            assert isinstance(covariates, Record), "Return wb.Record.of(name=value, …)."
            names = [name for name, _ in covariates]
            assert names == [name for name, _ in found[0]], "Return the same names everywhere."
            plain = all(isinstance(value, str | int | float | None) for _, value in covariates)
            assert plain, f"Use texts, numbers and None only, not {covariates.asdict()}."
            json.dumps(covariates.asdict(), allow_nan=False)

    def test_a_log_of_another_version_is_rejected(self, suite: Suite) -> None:
        """Coordinates with another version, id, index or seed are not rebuilt as this instance.

        Why: an old log must not be scored on a different system without notice.
        """
        data = made(suite, 0).to_json()
        changes: dict[str, Any] = {"version": "0", "id": f"{data['id']}0", "index": 1, "seed": "s"}
        for name, value in changes.items():
            with pytest.raises(ValueError, match="score it with the WhyBench that made it"):
                suite.family.rebuilt(data | {name: value})

    # Words for people.

    def test_an_episode_can_be_annotated(self, family: Family[Any]) -> None:
        """Any trace has an annotated episode, with one moment for each step.

        Why: the report shows episodes beside the truth, also unfinished ones.
        """
        for profile in family.profiles:
            name = next(name for name in family.suites if profile in family.profiles_of(name))
            instance = made(family.suite(name, profile=profile), 0)
            traces = [played(agent, instance) for agent in ("null", "random", "exact")]
            for trace in (family.open(instance).trace, *traces):
                told = family.annotate(instance, trace)
                assert isinstance(told, AnnotatedEpisode), "Return a wb.AnnotatedEpisode."
                errors = [step.observation.is_error for step in trace.steps]
                assert [moment.error for moment in told.moments] == errors, (
                    "Make one Moment for each step; its `error` is that of the observation."
                )
                assert told.verdict, "Say in `verdict` how the episode ended."
                data = told.to_json()
                assert json.loads(json.dumps(data, allow_nan=False)) == data

    def test_a_card_and_a_summary(self, family: Family[Any]) -> None:
        """`card.md` has its headings and names every metric, suite and parameter in backticks.

        Why: nobody should have to read code to learn what a figure means.
        """
        assert family.summary, "Write `summary` in family.toml."
        card = family.card()
        missing = [heading for heading in HEADINGS if heading not in card]
        assert not missing, f"Add to card.md the headings {', '.join(missing)}."
        metrics = [metric.name for metric in family.metrics]
        names = (*metrics, *family.suites, *family.parameters)
        missing = [f"`{name}`" for name in names if f"`{name}`" not in card]
        assert not missing, f"Explain in card.md, in backticks: {', '.join(missing)}."

    def test_a_wrong_name_is_answered_with_the_right_ones(self, family: Family[Any]) -> None:
        """A wrong suite, profile, parameter, agent or index raises at once and says what exists.

        Why: a slip of a user should cost seconds and need no traceback.
        """
        suite = next(iter(family.suites))
        with pytest.raises(ValueError, match="try "):
            family.suite("no_such_suite")
        with pytest.raises(ValueError, match="try certified"):
            family.suite(suite, profile="imaginary")
        with pytest.raises(ValueError, match="has no parameter"):
            family.suite(suite, parameters={"no_such_parameter": 1})
        with pytest.raises(ValueError, match="try "):
            family.agent("nobody", family.suite(suite)[0])
        with pytest.raises(IndexError, match="has instances"):
            family.suite(suite)[10**9]
