"""Rules about what agents, files and people are told: leaks, data, words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from whybench import CANARY
from whybench.causal.canonical import Record
from whybench.episode.annotated import AnnotatedEpisode
from whybench.episode.family import Family, Suite
from whybench.episode.trace import EVIDENCE
from whybench.testing.samples import (
    certified,
    certified_only,
    made,
    played,
    spread,
)

HEADINGS = ("## What it measures", "## Known defects", "## Scores")


class TextRules:
    """Rules that read what a family writes."""

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
