"""What was made fast for training loops says what the slow way says."""

from pathlib import Path
from string import Template

import pytest

import whybench.families
from whybench.causal.seeds import Stream
from whybench.episode.prompts.template import PromptTemplate
from whybench.episode.registry import load_suite
from whybench.families.causallink.failure_patterns import Change
from whybench.families.causallink.proof.evidence import EvidenceLog
from whybench.families.causallink.score import _verdicts

TEMPLATES = sorted(Path(whybench.families.__file__).parent.glob("*/prompts/templates/*.md"))


@pytest.mark.parametrize("text", ["$a and ${b}, $$5 $a.", "$$", "", "no names", "${a}${a}b"])
def test_passages_are_filled_as_templates_are(text: str) -> None:
    words = {"a": "$b", "b": 3}
    assert PromptTemplate("x", {"p": text}).say("p", **words) == Template(text).substitute(words)


def test_every_template_is_filled_as_a_template_is() -> None:
    assert len(TEMPLATES) > 8
    for path in TEMPLATES:
        text = path.read_text("utf-8")
        names = {name for match in Template.pattern.finditer(text) for name in match.groups()}
        words = {name: f"<{name}>" for name in names if name}
        assert PromptTemplate("x", {"p": text}).say("p", **words) == Template(text).substitute(
            words
        )


def test_a_lone_dollar_is_an_error() -> None:
    with pytest.raises(ValueError, match="without a name"):
        PromptTemplate("x", {"p": "5 $ each"}).say("p")


@pytest.mark.parametrize("name", ["core", "collider"])
def test_kept_verdicts_are_those_of_the_whole_history(name: str) -> None:
    suite = load_suite(f"causallink/{name}")
    stream = Stream("test", "verdicts", name)
    for _ in range(400):
        world = suite.family.world(stream.choice(suite))
        log, state, changes = EvidenceLog(world.view), world.view.start, []
        verdicts = [log.verdict()]
        for _ in range(stream.below(8)):
            starts, v = bool(stream.below(2)), stream.below(world.view.n)
            after = world.after_start(state, v) if starts else world.after_stop(state, v)
            log.add(starts, v, after)
            changes.append(Change(starts, v, state, after))
            verdicts.append(log.verdict())
            state = after
        assert list(_verdicts(world.view, tuple(changes))) == verdicts
