"""Problems of every kind, drawn without the search for triples, for tests of words and checks."""

from fractions import Fraction

from whybench.causal.seeds import Stream
from whybench.causal.version_space import Design, Space, System, bits_of, outcome
from whybench.episode.instance import Instance
from whybench.families.prism.world.world import KINDS, Kind, Question, Trial, World

TRIALS = {4: 5, 5: 6, 6: 8, 7: 10, 8: 13}


def placed(index: int, **parameters: bool) -> Instance:
    """Return coordinates of an instance."""
    from whybench.causal.canonical import Record

    told = Record(parameters.items())
    return Instance("prism", "1", "main", "certified", "public", index, told, id=f"main-{index}")


def drawn(
    seed: int, n: int | None = None, kind: Kind | None = None, hidden: int = 0, cls: str = ""
) -> World:
    """Draw a system, trials and a question; answer and posterior are not computed."""
    stream = Stream("drawn worlds", seed)
    n = n or 4 + stream.below(5)
    space = Space(n, 2 if n <= 5 else 3, cls or stream.choice(["any", "mono", "mono3"]), hidden)
    system = _system(stream, space)
    designs = space.tables.designs
    trials = tuple(
        trial(space, system, stream.choice(designs), stream.below(1 + hidden))
        for _ in range(TRIALS[n])
    )
    kind = kind or stream.choice([one for one in KINDS if one != "had" or hidden])
    question = _question(stream, space, system, kind, trials)
    return World(
        n, space.roots, space.cls, hidden, trials, question, system, "cannot", Fraction(1, 2), "b"
    )


def trial(space: Space, system: System, design: Design, hidden: int) -> Trial:
    """Run a trial."""
    values = bits_of(outcome(space, system, design, hidden).values, space.n)
    held = tuple((v, values[v]) for v in range(space.n) if design.targets >> v & 1)
    return Trial(values[: space.roots], held, values)


def _system(stream: Stream, space: Space) -> System:
    order = stream.shuffled(range(space.roots, space.n))
    rules, users = {}, 0
    for place, v in enumerate(order):
        below = {*range(space.roots), *order[:place]} | ({space.n} if users < 2 else set())
        fine = [
            rule
            for rule, of in zip(space.tables.rules, space.tables.of, strict=True)
            if of == v and {*rule.arguments} <= below
        ]
        rules[v] = stream.choice(fine)
        users += space.n in rules[v].arguments
    return tuple(rules[v] for v in range(space.roots, space.n))


def _question(
    stream: Stream, space: Space, system: System, kind: Kind, trials: tuple[Trial, ...]
) -> Question:
    driven = range(space.roots, space.n)
    y, value = stream.choice(driven), stream.below(2)
    others = [v for v in driven if v != y]
    inputs = tuple(stream.below(2) for _ in range(space.roots))
    x = stream.choice(others)
    if kind in ("direct", "ancestor"):
        return Question(kind, y, x=stream.choice([v for v in range(space.n) if v != y]))
    if kind == "do":
        some = sorted(stream.sample(others, stream.below(min(2, len(others)) + 1)))
        return Question(
            kind, y, value, inputs=inputs, held=tuple((v, stream.below(2)) for v in some)
        )
    if kind == "goal":
        some = sorted(stream.sample(others, min(2, len(others))))
        most = 1 + stream.below(len(some))
        return Question(kind, y, value, inputs=inputs, holdable=tuple(some), most=most)
    if kind == "had":
        free = [t for t, one in enumerate(trials) if not {x, y} & {*dict(one.held)}] or [0]
        t = stream.choice(free)
        return Question(kind, y, value, x, held=((x, 1 - trials[t].values[x]),), trial=t)
    seen = trial(space, system, Design(0, stream.below(1 << space.roots)), 0).values
    pool = [v for v in range(space.n) if v != y]
    noted = {*stream.sample(pool, 1 + stream.below(3))} | ({x} if kind == "case" else set())
    told = tuple((v, seen[v]) for v in sorted(noted))
    if kind == "see":
        return Question(kind, y, value, noted=told)
    return Question(kind, y, value, x, held=((x, 1 - seen[x]),), noted=told)
