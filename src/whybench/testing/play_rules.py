"""Rules about play: certificates, floors, determinism, evidence and errors."""

from __future__ import annotations

from typing import Any

from whybench import CANARY
from whybench.causal.canonical import canonical_json
from whybench.causal.seeds import Stream
from whybench.episode.episode import play
from whybench.episode.family import Family, Suite
from whybench.episode.score import Score
from whybench.testing.samples import (
    bad_actions,
    certified,
    certified_only,
    contents,
    fuzzed,
    headline,
    instructions,
    made,
    more_alike_than_chance,
    played,
    spread,
)

AGENTS = ("null", "random", "exact", "oracle")


class PlayRules:
    """Rules that play episodes."""

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
        family, template = suite.family, suite.family.template_for(suite.profile)
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
