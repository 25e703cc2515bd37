"""The rules of an episode: actions and observations."""

from __future__ import annotations

from functools import lru_cache

from whybench.causal.canonical import Json, Record
from whybench.episode.action import Action, ActionSpec, Argument
from whybench.episode.episode import ANSWERED, INVALID_ACTION, INVALID_ANSWER, Episode
from whybench.episode.instance import Instance
from whybench.episode.observation import OK, Observation
from whybench.families.causalab.hypothesis import (
    Guess,
    HypothesisError,
    hypothesis_schema,
    node,
    read,
)
from whybench.families.causalab.numbers import number, setting_of
from whybench.families.causalab.parameters import Parameters
from whybench.families.causalab.world.world import (
    DECIMALS,
    FREQUENCY,
    Readings,
    Solver,
    View,
    World,
    moved_base,
)

INVALID_HYPOTHESIS = "invalid_hypothesis"
"""A hypothesis was rejected; this never ends an episode."""

SENT_BACK = 2
"""Number of rejections of a step's hypothesis before it counts as a parse failure."""

LARGEST = 1e12
"""Largest setting without another limit; beyond it, squares of squares overflow."""

MOST_HYPOTHESES = 200
"""Maximum number of recorded hypotheses; further `propose` actions are rejected."""

TRIES = 2
"""Number of predictions that the released reactor accepts, with feedback on each."""

CEILING = 10_000
"""Upper end of the released reactor's dial, in Hz."""


class LabRules(Episode):
    """Set properties of one crystal, record hypotheses, open the reactor, predict another."""

    __slots__ = (
        "_patience",
        "_solver",
        "_values",
        "bases",
        "guesses",
        "now",
        "opened",
        "parameters",
        "parse_failures",
        "prediction",
        "right",
        "sent_back",
        "shifted",
        "tries",
        "used",
        "verified",
        "world",
    )

    def __init__(
        self, instance: Instance, world: World, solver: Solver, parameters: Parameters
    ) -> None:
        super().__init__(instance, parameters.max_errors)
        self.world = world
        self.parameters = parameters
        self._solver = solver
        self.bases = world.bases
        self.now = world.view.baseline.values
        self._values = solver.values(world.bases)
        self.used = 0
        """Interventions made."""
        self.opened = False
        """Whether the reactor is open and the manipulator locked."""
        self.verified = not parameters.verify
        """Whether the explicit check was already requested, or is not needed."""
        self.guesses: list[tuple[int, Guess | None]] = []
        """Hypotheses, each with the interventions made before; None is a parse failure."""
        self.sent_back = 0
        self.parse_failures = 0
        self.prediction: float | None = None
        self.right = False
        self.tries = 0
        self._patience = SENT_BACK
        self.shifted = 0
        """Quantities that interventions have moved; the released code reveals them."""

    @property
    def view(self) -> View:
        """What the agent sees before it acts."""
        return self.world.view

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all quantities in their order of display, the frequency last."""
        return tuple(self.view.names[v] for v in (*self.view.display, FREQUENCY))

    @property
    def left(self) -> int:
        """Number of interventions that are left."""
        return self.view.budget - self.used

    @property
    def in_reactor(self) -> bool:
        """Whether the reactor is open; with given evidence it is open from the start."""
        return self.opened or self.evidence != "own"

    @property
    def guess(self) -> Guess | None:
        """The last hypothesis that could be read."""
        return next((guess for _, guess in reversed(self.guesses) if guess is not None), None)

    @property
    def actions(self) -> tuple[ActionSpec, ...]:
        """The available actions: no `intervene` without a budget, only `submit` with evidence."""
        view = self.view
        settable = tuple(view.names[v] for v in view.targets())
        specs = action_specs(self.names, settable, self.parameters.candidates)
        if self.evidence != "own":
            return specs[-1:]
        return specs if view.budget else specs[1:]

    def _carry_out(self, action: Action) -> Observation:
        if action.name == "intervene":
            return self._intervene(action)
        if action.name == "propose":
            return self._propose(action)
        if action.name == "open_reactor":
            return self._open(action)
        if action.name == "submit":
            return self._submit(action)
        return Observation.refused(INVALID_ACTION, f"there is no action {action.name[:40]!r}")

    def _is_fatal(self, error: Observation) -> bool:
        """Return False for a rejected hypothesis, which never ends an episode."""
        if error.code == INVALID_HYPOTHESIS:
            self.errors -= 1
            self.sent_back += 1
            return False
        return super()._is_fatal(error)

    # Interventions.

    def _intervene(self, action: Action) -> Observation:
        v = node(self.view, action.args.get("property"))
        setting = setting_of(action)
        reason = self._objection(v, setting, action.args.get("property"))
        if reason is not None or v is None or setting is None:
            return Observation.refused(INVALID_ACTION, reason or "")
        noted = self._note(action.args.get("hypothesis"))
        if noted is not None:
            return noted
        bases = list(self.bases)
        bases[v] = moved_base(self._solver, self.view.semantics, v, setting, self._values)
        self.bases = tuple(bases)
        self.used += 1
        if self.view.released:
            self.shifted |= 1 << v | self.world.law.graph.reach()[v]
        disturbance = self.world.disturbance
        if disturbance is None:
            self._values = self._solver.values(bases)
        else:
            by = disturbance.after(self.used)
            self._values = self._solver.values(bases, disturbance.affected, by)
        self.now = tuple(round(x, DECIMALS) for x in self._values)
        return Observation(OK, Record(zip(self.view.names, self.now, strict=True)))

    def _objection(self, v: int | None, setting: float | None, named: Json) -> str | None:
        view = self.view
        if self.in_reactor:
            return "the reactor is open, so the manipulator is locked for good"
        if v is None:
            return f"there is no property {str(named)[:40]!r}"
        if v == FREQUENCY or not view.controllable >> v & 1:
            return f"{view.names[v]} cannot be set"
        if setting is None:
            return "the value must be a number"
        if view.limit is not None and not 0 <= setting <= view.limit:
            return f"the value must lie between 0 and {view.limit:g}"
        if abs(setting) > LARGEST:
            return f"the value must lie between {-LARGEST:g} and {LARGEST:g}"
        if self.left <= 0:
            return f"all {view.budget} interventions are used up: open the reactor"
        return None

    # Hypotheses.

    def _propose(self, action: Action) -> Observation:
        text = action.args.get("hypothesis")
        if text is None:
            return Observation.refused(INVALID_ACTION, "there is no hypothesis to record")
        if len(self.guesses) >= MOST_HYPOTHESES:
            return Observation.refused(INVALID_ACTION, "too many hypotheses are recorded already")
        return self._note(text) or Observation(OK)

    def _note(self, text: Json, *, final: bool = False) -> Observation | None:
        """Record a hypothesis; return the error if it is rejected."""
        if text is None or text == "":
            self._patience = SENT_BACK
            return None
        try:
            guess = read(self.view, text, final=final, candidates=self.parameters.candidates)
        except HypothesisError as error:
            return self._spoilt(str(error))
        self._patience = SENT_BACK
        self.guesses.append((self.used, guess))
        return None

    def _spoilt(self, reason: str) -> Observation | None:
        if self._patience > 0:
            self._patience -= 1
            return Observation.refused(INVALID_HYPOTHESIS, reason)
        self._patience = SENT_BACK
        self.parse_failures += 1
        self.guesses.append((self.used, None))
        return None

    # The reactor.

    def _open(self, action: Action) -> Observation:
        if self.in_reactor:
            return Observation.refused(INVALID_ACTION, "the reactor is open already")
        noted = self._note(action.args.get("hypothesis"))
        if noted is not None:
            return noted
        if not self.verified:
            self.verified = True
            return Observation(OK, Record.of(check=True))
        self.opened = True
        return Observation(OK, Record.of(reactor=self.crystal(self.world.shown())))

    def _submit(self, action: Action) -> Observation:
        if not self.in_reactor:
            return Observation.refused(INVALID_ACTION, "open the reactor first to see its crystal")
        prediction = number(action.args.get("frequency"))
        if prediction is None:
            return Observation.refused(INVALID_ANSWER, "the frequency must be a number")
        noted = self._finish(action.args.get("hypothesis"))
        if noted is not None:
            return noted
        self.tries += 1
        self.prediction = prediction
        self.right = activates(self.world, prediction)
        tries = TRIES if self.view.released and self.evidence == "own" else 1
        if not self.right and self.tries < tries:
            return Observation(OK, Record.of(activated=False))
        self.outcome = ANSWERED
        return Observation(OK)

    def _finish(self, text: Json) -> Observation | None:
        """Check that the final hypothesis exists and has a number for every coefficient."""
        if self.view.released:
            return self._note(text)
        if text is not None and text != "":
            return self._note(text, final=True)
        last = self.guess
        if last is None:
            return self._spoilt("there is no hypothesis yet: hand one in with the prediction")
        if last.base is None or any(w is None for _, w in (*last.linear, *last.square)):
            return self._spoilt("the final hypothesis needs a number for every coefficient")
        return None

    def crystal(self, values: Readings) -> Record:
        """Return a crystal's properties by name."""
        return Record((self.view.names[v], values[v]) for v in self.view.display)


def activates(world: World, prediction: float) -> bool:
    """Tell whether a prediction is right."""
    target, tolerance = world.target, world.view.tolerance
    if world.view.released:
        prediction = min(max(prediction, 0.0), float(CEILING))
        if int(prediction) != int(target):
            prediction = float(int(prediction))
    if tolerance == 0:
        return round(prediction, DECIMALS) == target
    return abs(prediction - target) < tolerance


@lru_cache(maxsize=1024)
def action_specs(
    names: tuple[str, ...], settable: tuple[str, ...], candidates: bool
) -> tuple[ActionSpec, ...]:
    """Return the kinds of action; all names come in their order of display."""
    shape, number_of = hypothesis_schema(names, candidates), {"type": "number"}
    which = {"type": "string", "enum": settable}
    present = Argument("hypothesis", "your present hypothesis", True, shape)
    return (
        ActionSpec(
            "intervene",
            "Set one property of the manipulator's crystal and measure everything.",
            (
                Argument("property", "the property to set", schema=which),
                Argument("value", "the number to set it to", schema=number_of),
                present,
            ),
        ),
        ActionSpec(
            "propose",
            "Record a hypothesis without an experiment; this costs nothing.",
            (Argument("hypothesis", "the hypothesis", schema=shape),),
        ),
        ActionSpec(
            "open_reactor",
            "See the reactor's crystal. The manipulator is locked for good.",
            (present,),
        ),
        ActionSpec(
            "submit",
            "Predict the frequency of the reactor's crystal. This ends the task.",
            (
                Argument("frequency", "the predicted frequency, a number", schema=number_of),
                Argument("hypothesis", "your final hypothesis", True, shape),
            ),
            final=True,
        ),
    )
