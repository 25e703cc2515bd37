"""A perfect reader who does as the prompt says, beside the exact agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whybench.episode.action import Action
from whybench.episode.family import Suite
from whybench.episode.instance import Instance
from whybench.families.recite.agents.strategies import answer_text
from whybench.families.recite.proof.document_parser import read
from whybench.families.recite.world.world import World

DOCUMENTS = 15
"""Documents of each suite that are read."""


def discrepancies(suites: Sequence[Suite]) -> Iterator[str]:
    """Say where a perfect reader who lists unnamed factors scores less than the exact agent.

    The prompt asks for a name for every quantity, close to the words of the document. The reader
    names an unnamed factor as the document does: by its kind.
    """
    for suite in suites:
        family, headline = suite.family, suite.family.headline
        instances = [suite.row(number) for number in range(DOCUMENTS)]
        worlds = [family.world(instance) for instance in instances]
        free = [
            pair for pair in zip(instances, worlds, strict=True) if pair[1].view.names == "free"
        ]
        told = [_obedient(suite, *pair) for pair in free]
        exact = [family.score(one, family.exact_run(one)).values[headline] for one, _ in free]
        less = sum(a < b for a, b in zip(told, exact, strict=True))
        if less:
            yield (
                f"with seed {suite.seed}, a perfect reader who lists unnamed factors scores "
                f"{sum(told) / len(told):.3f}, exact {sum(exact) / len(exact):.3f} "
                f"(less in {less} of {len(told)} documents)"
            )


def _obedient(suite: Suite, instance: Instance, world: World) -> float:
    found = read(world.view.text)

    def name(concept: str) -> str:
        return found.forms.get(concept) or f"unnamed factor, {concept}"

    episode = suite.family.open(instance)
    pairs = [(name(cause), name(effect)) for cause, effect in found.edges]
    episode.step(Action.of("submit", answer=answer_text(world.view, pairs)))
    return float(suite.family.score_episode(episode).values[suite.family.headline])
