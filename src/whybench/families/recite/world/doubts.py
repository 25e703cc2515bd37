"""What a document says about pairs without an arrow: doubts, denials, and correlations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from whybench.families.recite.world.author import Author
from whybench.families.recite.world.drawing import IMPLAUSIBLE, Link
from whybench.families.recite.world.say import COUNT, Paragraph, Say, Table, r_of, regression_table
from whybench.families.recite.world.simulate import Floats, printed
from whybench.families.recite.world.world import Correlation

SHARES = {"lure": 0.7, "null": 0.1, "hedged": 0.1, "elsewhere": 0.1}
"""How statements about pairs without an arrow are divided; lures are told like arrows."""
OVERTURNED, REVISED = 0.06, 0.06
"""Arrows, as a share of all, that a cited study or a first version of the model denies."""
MOST = 4
"""An arrow is told no more often."""
REGRESSORS = 5
"""Rows of a table in the appendix."""
CORRELATED = 0.3
"""Correlations in words, per arrow."""
TABLES = (
    ("table_reg", "table_lead"), ("table_lead", "table_small"), ("table_reg", "table_same"),
    ("table_lead", "table_small"),
)  # fmt: skip
"""The kinds of regressions that the parts of the results print, in turn."""
SHOWN_RATIO = 2.2
"""Estimate divided by standard error that all causes in a full regression have."""


class Doubts:
    """Chooses pairs without an arrow, and says why they have none."""

    def __init__(self, author: Author, share: float) -> None:
        self.author = author
        self.reported: dict[Link, Correlation] = {}
        """Correlations without an arrow that the text reports."""
        self._correlated = list(author.findings.correlated())
        self._doubted: list[Link] = []
        self._regressed: set[tuple[str, int]] = set()
        total = share * len(author.arrows)
        self._due = {role: round(total * part) for role, part in SHARES.items()}
        self._pool = self._tempting()

    def _tempting(self) -> list[Link]:
        """Return pairs without an arrow, those first that a reader might believe."""
        system = self.author.findings.study.system
        arrows, n = set(system.arrows), system.n
        place = {concept.key: v for v, concept in enumerate(system.concepts)}
        admitted = [
            (place[a], place[b]) for (a, b), pair in sorted(system.field.pairs.items())
            if pair.admissible and a in place and b in place
        ]  # fmt: skip
        turned = [(b, a) for a, b in system.arrows]
        stream = self.author.stream
        first = [*stream.shuffled(admitted), *stream.shuffled(turned)]
        others = stream.shuffled([(a, b) for a in range(n) for b in range(n) if a != b])
        return [
            link for link in dict.fromkeys([*first, *others[: 4 * n]])
            if link not in arrows and min(link) < n
        ]  # fmt: skip

    def lures(self) -> dict[Link, int]:
        """Choose pairs that are told like arrows, and as often plausible; return their signs."""
        system = self.author.findings.study.system
        inside = [link for link in self._pool if max(link) < system.n]
        good = [link for link in inside if system.plausible(link)]
        odd = [link for link in inside if not system.plausible(link)]
        order = []
        while good or odd:
            order.append(
                (
                    good
                    if good and (not odd or self.author.stream.uniform() > IMPLAUSIBLE)
                    else odd
                ).pop(0)
            )
        self._pool, rest = order, self._pool
        found = self._take("lure", absent=True)
        self._pool = rest
        return {link: self._sign(link) for link in found}

    def _sign(self, link: Link) -> int:
        system = self.author.findings.study.system
        pair = system.field.pairs.get(system.keys(link))
        return pair.sign if pair else (1 if self.author.stream.below(2) else -1)

    def _take(self, role: str, *, absent: bool) -> list[Link]:
        """Take pairs for a role; if `absent`, only ones whose coefficient is near 0."""
        found: list[Link] = []
        used, findings = self.author.used, self.author.findings
        for link in self._pool:
            if len(found) == self._due[role]:
                break
            effect_inside = link[1] < findings.study.system.n
            if link in used or (absent and not (effect_inside and findings.without(link))):
                continue
            used.add(link)
            found.append(link)
        self._due[role] -= len(found)
        return found

    def _say(self, role: str, link: Link, **more: object) -> Say:
        return Say(
            role,
            {"a": link[0], "b": link[1]},
            {"y": self._sign(link)},
            **more,  # type: ignore[arg-type]
        )

    def elsewhere(self) -> list[Say]:
        """Report effects in other places."""
        return [self._say("elsewhere", link) for link in self._take("elsewhere", absent=False)]

    def hedges(self, most: int | None = None) -> list[Say]:
        """Mention effects as possible only."""
        due = self._due["hedged"]
        if most is not None:
            self._due["hedged"] = min(due, most)
        return [self._say("hedged", link) for link in self._take("hedged", absent=False)]

    def nulls(self) -> list[Say]:
        """Deny effects by own results."""
        return [
            self._say("null", link, phrases=self.author.findings.without(link), denied=(link,))
            for link in self._take("null", absent=True)
        ]

    def first_doubts(self) -> list[Say]:
        """Leave out arrows that the discussion adds."""
        return [self._say("doubted", link) for link in self._doubted]

    def contrasts(self) -> list[Say]:
        """Contradict null results of others, revise first doubts, and deny effects."""
        author = self.author
        secure = [link for link in author.due("stated") if author.findings.figures(link)]
        overturned = secure[: round(OVERTURNED * len(author.arrows) + author.stream.uniform())]
        said = [author.claim(link, "overturn") for link in overturned]
        rest = secure[len(overturned) :]
        self._doubted = rest[: round(REVISED * len(author.arrows) + author.stream.uniform())]
        said += [author.claim(link, "revised") for link in self._doubted]
        return author.stream.shuffled([*said, *self.nulls()])

    # Correlations.

    def correlations(self, links: Sequence[Link]) -> list[Say]:
        """Report clear correlations among the quantities of some links."""
        ends = {v for link in links for v in link}
        wanted = max(1, round(CORRELATED * len(links)))
        near = [one for one in self._correlated if ends.issuperset((one.first, one.second))]
        chosen = [one for one in near if (one.first, one.second) not in self.reported][:wanted]
        return [self._report(one) for one in chosen]

    def _report(self, one: Correlation) -> Say:
        """Report a correlation: alone, with its common cause, or as an indirect connection."""
        author, pair = self.author, (one.first, one.second)
        self.reported[pair] = one
        study = author.findings.study
        value = float(study.correlations[pair])
        phrases = r_of(value, len(study.values))
        concepts = {"a": one.first, "b": one.second}
        signs = {"!y": 1 if value > 0 else -1}
        shared = [
            c for c in range(study.system.n)
            if all(author.level.get((c, v)) == "stated" for v in pair)
            and not {(c, v) for v in pair} & author.places.keys()
        ]  # fmt: skip
        draw = author.stream.uniform()
        if shared and draw < 0.5 and all(author.told[shared[0], v] < MOST for v in pair):
            cause = shared[0]
            links = [(cause, v) for v in pair]
            return author.tell("common", links, concepts={**concepts, "c": cause}, phrases=phrases)
        free = not {pair, pair[::-1]} & author.used
        if free and draw < 0.7:
            author.used |= {pair, pair[::-1]}
            return Say("route", concepts, signs, phrases, denied=(pair, pair[::-1]))
        return Say("corr", concepts, signs, phrases)

    # Regressions.

    def _regression(self, role: str, v: int, others: Sequence[int]) -> tuple[Say, Table]:
        """Print a regression of a quantity on others, in words and as a table."""
        study = self.author.findings.study
        fit = {"table_same": study.same_period, "table_lead": study.leads}
        estimates, share = fit.get(role, study.regression)(v, others)
        phrases = {"#T": str(len(study.values)), "#r2": printed(share, 2), "#t": "?"}
        if role == "table_same":
            phrases["k"] = COUNT[len(others)]
        own = () if role == "table_same" else ("own value, lagged",)
        return (
            Say(role, {"b": v}, phrases=phrases),
            regression_table(v, (*own, *others), estimates),
        )

    def regressions(self, links: Sequence[Link]) -> Iterator[Paragraph]:
        """Print regressions of a part; in most of them a clear coefficient is not an arrow.

        They have a quantity's effects on the right side, one period later, or leave out its causes,
        or take all values from one period.
        """
        author = self.author
        for role in TABLES[author.shown % len(TABLES)] if links else ():
            v, others = getattr(self, f"_{role}")(links)
            if len(others) > 1:
                self._regressed.add((role, v))
                said, shown = self._regression(role, v, author.stream.shuffled(others))
                yield [said]
                yield shown

    def _table_reg(self, links: Sequence[Link]) -> tuple[int, list[int]]:
        """Choose a quantity of which all causes have clear coefficients, and two other ones."""
        findings, stream = self.author.findings, self.author.stream
        clear = [
            b for b in self._free("table_reg", (b for _, b in links))
            if all(abs(findings.estimates[a, b].ratio) > SHOWN_RATIO for a in findings.causes[b])
        ]  # fmt: skip
        if not clear:
            return 0, []
        effect = stream.choice(clear)
        causes = findings.causes[effect]
        others = [v for v in range(findings.study.system.n) if v != effect and v not in causes]
        weak = [v for v in stream.shuffled(others) if findings.without((v, effect))]
        return effect, [*causes, *weak[:2]]

    def _table_lead(self, links: Sequence[Link]) -> tuple[int, list[int]]:
        """Choose the quantity with most effects, its effects, and what follows it besides."""
        arrows = self.author.arrows
        free = self._free("table_lead", (v for link in links for v in link))
        effects = {v: [b for a, b in arrows if a == v and (b, a) not in arrows] for v in free}
        if not effects:
            return 0, []
        v = max(effects, key=lambda a: len(effects[a]))
        return v, self._near(v, effects[v], later=True)

    def _table_small(self, links: Sequence[Link]) -> tuple[int, list[int]]:
        """Choose the quantity with most causes, and others that go before it."""
        causes = self.author.findings.causes
        effects = self._free("table_small", (b for _, b in links))
        if not effects:
            return 0, []
        v = max(effects, key=lambda b: len(causes[b]))
        return v, self._near(v, [])

    def _table_same(self, links: Sequence[Link]) -> tuple[int, list[int]]:
        """Choose a quantity, and those that are most correlated with it."""
        ends = self._free("table_same", (v for link in links for v in link))
        if not ends:
            return 0, []
        v = self.author.stream.choice(ends)
        table = self.author.findings.study.correlations[v]
        return v, self._largest(table, {v})[:REGRESSORS]

    def _free(self, role: str, nodes: Iterable[int]) -> list[int]:
        """Return the quantities that have no table of a kind yet."""
        return sorted({v for v in nodes if (role, v) not in self._regressed})

    def _near(self, v: int, first: Sequence[int], later: bool = False) -> list[int]:
        """Return given quantities and those, not causes, that go before or after one most."""
        values, causes = self.author.findings.study.values, self.author.findings.causes[v]
        ends = (values[:-1, v], values[1:]) if later else (values[1:, v], values[:-1])
        found = self._largest(ends[0] @ ends[1], {v, *causes, *first})
        return [*first, *found][:REGRESSORS]

    def _largest(self, size: Floats, without: set[int]) -> list[int]:
        """Return the quantities with the largest absolute values."""
        order = sorted(range(self.author.findings.study.system.n),
                       key=lambda w: (-round(abs(float(size[w])), 6), w))  # fmt: skip
        return [w for w in order if w not in without]

    def appendix(self) -> Iterator[list[Paragraph]]:
        """Print regressions on the same period, in which effects explain their causes, too."""
        study = self.author.findings.study
        n, table = study.system.n, study.correlations
        opening = [Say("appendix_open")]
        for first in (0, REGRESSORS):
            for v in range(n):
                others = self._largest(table[v], {v})[first : first + REGRESSORS]
                if len(others) < REGRESSORS:
                    return
                if not first and ("table_same", v) in self._regressed:
                    continue
                said, shown = self._regression("table_same", v, others)
                yield [[*opening, said], shown]
                opening = []

    def explained(self, nodes: Sequence[int]) -> list[int]:
        """Return quantities whose clear correlations without arrow all have an explanation."""
        findings = self.author.findings
        arrows = set(self.author.arrows)
        kept = list(nodes)
        found: dict[Link, Correlation] = {}
        for a, b in combinations(sorted(nodes), 2):
            table = findings.study.correlations
            if {(a, b), (b, a)} & arrows or abs(table[a, b]) <= findings.clear:
                continue
            one = findings.explained(a, b)
            if one is None:
                kept = [v for v in kept if v != b]
            else:
                found[a, b] = one
        self.reported |= {pair: one for pair, one in found.items() if set(pair) <= set(kept)}
        return kept
