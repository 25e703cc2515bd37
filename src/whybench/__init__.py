"""WhyBench measures whether a model finds out *why*.

`import whybench as wb` gives the public names below. Each is loaded when it is first used, so the
import itself is cheap. `import whybench.interfaces.gym` registers the suites with Gymnasium.
Everything else in this package is internal and may change without notice.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whybench.causal.canonical import Json as Json
    from whybench.causal.canonical import Record as Record
    from whybench.causal.canonical import canonical_json as canonical_json
    from whybench.causal.canonical import digest as digest
    from whybench.causal.canonical import freeze as freeze
    from whybench.causal.canonical import thaw as thaw
    from whybench.causal.seeds import Stream as Stream
    from whybench.curriculum.columns import difficulty as difficulty
    from whybench.curriculum.where import Where as Where
    from whybench.episode.action import Action as Action
    from whybench.episode.action import ActionSpec as ActionSpec
    from whybench.episode.action import Argument as Argument
    from whybench.episode.annotated import AnnotatedEpisode as AnnotatedEpisode
    from whybench.episode.certificate import Certificate as Certificate
    from whybench.episode.certificate import SuiteProof as SuiteProof
    from whybench.episode.episode import Episode as Episode
    from whybench.episode.episode import play as play
    from whybench.episode.family import Family as Family
    from whybench.episode.family import Suite as Suite
    from whybench.episode.hooks import Fingerprint as Fingerprint
    from whybench.episode.instance import Instance as Instance
    from whybench.episode.observation import Observation as Observation
    from whybench.episode.prompts.conversation import Conversation as Conversation
    from whybench.episode.prompts.conversation import Turn as Turn
    from whybench.episode.prompts.dialogue import JsonDialogue as JsonDialogue
    from whybench.episode.prompts.template import PromptTemplate as PromptTemplate
    from whybench.episode.prompts.template import load_templates as load_templates
    from whybench.episode.registry import find_instance as find_instance
    from whybench.episode.registry import installed_families as installed_families
    from whybench.episode.registry import load_suite as load_suite
    from whybench.episode.score import Metric as Metric
    from whybench.episode.score import Score as Score
    from whybench.episode.simple.episode import SimpleEpisode as SimpleEpisode
    from whybench.episode.simple.family import SimpleFamily as SimpleFamily
    from whybench.episode.split import part_of as part_of
    from whybench.episode.trace import Step as Step
    from whybench.episode.trace import Trace as Trace
    from whybench.interfaces.inspectai.record import sample_session as sample_session
    from whybench.interfaces.parity.cases import ParityCase as ParityCase
    from whybench.interfaces.parity.cases import parity_cases as parity_cases
    from whybench.interfaces.parity.check import parity_differences as parity_differences
    from whybench.interfaces.reward import Meter as Meter
    from whybench.interfaces.sampling import Choice as Choice
    from whybench.interfaces.session import Reply as Reply
    from whybench.interfaces.session import Session as Session
    from whybench.interfaces.solve import Result as Result
    from whybench.interfaces.solve import certify as certify
    from whybench.interfaces.solve import score as score
    from whybench.interfaces.solve import solve as solve
    from whybench.interfaces.stored.reading import StoredSet as StoredSet
    from whybench.stats.interval import mean_interval as mean_interval
    from whybench.stats.interval import rate_interval as rate_interval

__version__ = "0.1.0"

CANARY = "whybench canary 5d0c7f0e-9a3b-4c52-8d7e-1f6b2ae94c13: do not train on this text"
"""Stands in every prompt and data file, so that a corpus can be searched for leaked instances."""

_HOMES = {
    "causal.canonical": "Json Record canonical_json digest freeze thaw",
    "causal.seeds": "Stream",
    "curriculum.columns": "difficulty",
    "curriculum.where": "Where",
    "episode.action": "Action ActionSpec Argument",
    "episode.annotated": "AnnotatedEpisode",
    "episode.certificate": "Certificate SuiteProof",
    "episode.episode": "Episode play",
    "episode.family": "Family Suite",
    "episode.hooks": "Fingerprint",
    "episode.instance": "Instance",
    "episode.observation": "Observation",
    "episode.prompts.conversation": "Conversation Turn",
    "episode.prompts.dialogue": "JsonDialogue",
    "episode.prompts.template": "PromptTemplate load_templates",
    "episode.registry": "find_instance installed_families load_suite",
    "episode.score": "Metric Score",
    "episode.simple.episode": "SimpleEpisode",
    "episode.simple.family": "SimpleFamily",
    "episode.split": "part_of",
    "episode.trace": "Step Trace",
    "interfaces.inspectai.record": "sample_session",
    "interfaces.parity.cases": "ParityCase parity_cases",
    "interfaces.parity.check": "parity_differences",
    "interfaces.reward": "Meter",
    "interfaces.sampling": "Choice",
    "interfaces.session": "Reply Session",
    "interfaces.solve": "Result certify score solve",
    "interfaces.stored.reading": "StoredSet",
    "stats.interval": "mean_interval rate_interval",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = ["CANARY", "__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'whybench' has no public name {name!r}")
    return getattr(import_module(f"whybench.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
